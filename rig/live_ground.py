"""Live ground: the end of a chain kept above a surface while it is solved, without moving the hips.

A pure function of the frame: heights step where the ground does; the bake (``bake/grounding``)
smooths them and moves the hips. Must not write to Blender's data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..solvers import rotations
from ..solvers.chain import Goal
from ..solvers.rotations import Quat
from .chains import ChainSetup
from .ground import ABOVE, GROUND_TYPES, UP, Hit, cast_live
from .posed_chain import world_scale
from .spaces import to_armature

if TYPE_CHECKING:
    from .evaluate import Evaluation, Rig


@dataclass(frozen=True, slots=True)
class Grounded:
    """A goal put above the ground, how its end is tilted (armature space), and what went wrong in words."""

    goal: Goal
    tilt: Quat = rotations.IDENTITY
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Surface:
    """An object to cast rays on at this moment. Space: world."""

    evaluated: Any
    matrix: Matrix
    top: float

    def below(self, point: Vector, from_height: float) -> Hit | None:
        """The ground below a point as seen from a height; from above everything where that sees none."""
        hit = cast_live(self.evaluated, self.matrix, point, min(from_height, self.top))
        return hit if hit is not None else cast_live(self.evaluated, self.matrix, point, self.top)


def grounded(run: Evaluation, rig: Rig, chain: ChainSetup, goal: Goal, wanted: Quat | None) -> Grounded:
    """Lift or lower a goal by the ground below it, so that its height above the floor of the motion is kept.

    Args:
        run: the evaluation.
        rig: the chain's, in FK.
        chain: with a ground.
        goal: armature space.
        wanted: how the end bone is to stand (armature space), None where it isn't turned.
    """
    assert chain.ground_key is not None  # asked for chains with a ground alone
    obj = run.object_of(chain.ground_key[0])
    if obj.type not in GROUND_TYPES:  # Blender prints an error for each ray
        return Grounded(goal, note=f"ground '{obj.name}' has no surface to stand on")
    hidden = Grounded(goal, note=f"ground '{obj.name}' is hidden and has no surface to stand on: show it")
    if not _is_shown(run.depsgraph, obj):
        return hidden
    try:
        return _put_on(run, rig, chain, goal, wanted, _surface(run, obj))
    except RuntimeError:  # Blender's ray cast on what isn't evaluated
        return hidden


def _is_shown(depsgraph: bpy.types.Depsgraph, obj: bpy.types.Object) -> bool:
    """Whether geometry is evaluated: asked first, since Blender prints an error where a ray finds none."""
    return obj.visible_get(view_layer=depsgraph.view_layer) if depsgraph.mode == 'VIEWPORT' else not obj.hide_render


def _surface(run: Evaluation, obj: bpy.types.Object) -> _Surface:
    evaluated: Any = obj.evaluated_get(run.depsgraph)
    matrix = run.world(obj)
    heights = [(matrix @ Vector(corner)).z for corner in evaluated.bound_box]
    return _Surface(evaluated, matrix, max(heights) + ABOVE * (1.0 + max(heights) - min(heights)))


def _put_on(
    run: Evaluation, rig: Rig, chain: ChainSetup, goal: Goal, wanted: Quat | None, surface: _Surface
) -> Grounded:
    world = run.world(rig.obj)
    floor = world.translation.z + chain.ground_floor * world_scale(rig.state)
    point, hip = world @ goal.target, (world @ rig.state.head(chain.turned[0])).z
    hit = surface.below(point, hip)
    if hit is None:
        return Grounded(goal, note="no ground below")
    level = hit.point.z - floor
    tilt = _tilt(world, hit.normal, chain.ground_amount) if wanted is not None else rotations.IDENTITY
    stands = rotations.multiply(tilt, wanted) if wanted is not None else rig.state.rotation(_end_bone(chain))
    for toe in _toes(rig, chain):
        arm = rotations.rotate(rotations.multiply(stands, rotations.conjugate(rig.state.rotation(chain.end))), toe.arm)
        place = world @ (goal.target + Vector(arm))
        below = surface.below(place, hip)
        flat = (world @ (goal.target + Vector(toe.arm))).z - floor
        if below is not None:
            clearance = max(0.0, min(flat, toe.rest_height * world_scale(rig.state)))
            level = max(level, below.point.z + clearance - place.z)
    moved = to_armature(world, point + UP * level) - goal.target
    pole = None if goal.pole is None else goal.pole + moved / 2.0
    return Grounded(replace(goal, target=goal.target + moved, pole=pole), tilt)


def _end_bone(chain: ChainSetup) -> int:
    return chain.end if chain.end >= 0 else chain.bones[-1]


def _tilt(world: Matrix, normal: Vector, amount: float) -> Quat:
    """From level to the slope, in armature space."""
    leaned = (UP + amount * (normal - UP)).normalized()
    turn: Quaternion = UP.rotation_difference(leaned)
    own = rotations.from_matrix(world)
    return rotations.multiply(rotations.multiply(rotations.conjugate(own), rotations.as_quat(turn)), own)


@dataclass(frozen=True, slots=True)
class _Toe:
    """A point of the foot. ``arm``: from the ankle, armature space, FK. ``rest_height``: at rest, armature units."""

    arm: tuple[float, float, float]
    rest_height: float


def _toes(rig: Rig, chain: ChainSetup) -> list[_Toe]:
    """The ball of a foot: the heads of the end bone's children, else its tail."""
    if chain.end < 0:
        return []
    ankle = rig.state.head(chain.end)
    children = rig.setup.children[chain.end]
    points = [(rig.state.head(one), rig.state.bones[one].bone.head_local) for one in children]
    points = points or [(rig.state.tail(chain.end), rig.state.bones[chain.end].bone.tail_local)]
    arms = [(point - ankle, float(rest.z)) for point, rest in points]
    return [_Toe((arm.x, arm.y, arm.z), height) for arm, height in arms]
