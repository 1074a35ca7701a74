"""What the poses of armatures hang on, and whether that can be read outside of the user's own scene.

Reads only; nothing is evaluated here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import bpy

# They ask the scene for its camera or its motion tracking.
SCENE_CONSTRAINTS = {'CAMERA_SOLVER', 'FOLLOW_TRACK', 'OBJECT_SOLVER'}
SIMULATIONS = {'CLOTH', 'SOFT_BODY', 'FLUID', 'PARTICLE_SYSTEM', 'DYNAMIC_PAINT', 'EXPLODE'}
SIMULATION_NODE = 'SIMULATION_OUTPUT'
# What an expression may name beside its variables without asking for more than the frame.
KNOWN_NAMES = {
    *(name for name in dir(math) if not name.startswith("_")),
    *("frame", "min", "max", "abs", "round", "len", "sum", "int", "float", "bool", "pow", "True", "False", "noise"),
    *("lerp", "clamp", "smoothstep"),
}


@dataclass(frozen=True, slots=True)
class SceneNeed:
    """Why frames have to be read in the user's scene; ``first``: frame from which they must be played, None for any."""

    reason: str
    first: int | None = None


def needed_by(objects: Iterable[bpy.types.Object]) -> list[bpy.types.ID]:
    """Data-blocks that the poses of armature objects may hang on: parents, targets, drivers' variables, and theirs.

    Args:
        objects: original armature objects.
    """
    found: dict[int, bpy.types.ID] = {}
    waiting: list[bpy.types.ID] = list(objects)
    while waiting:
        block = waiting.pop()
        if block.session_uid not in found:
            found[block.session_uid] = block
            waiting += linked_by(block)
    return list(found.values())


def scene_need(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object]) -> SceneNeed | None:
    """Why poses can't be read in a scene of their own; None where they can.

    Args:
        scene: the user's.
        objects: original armature objects.
    """
    for block in needed_by(objects):
        reason = _driver_reason(block)
        if isinstance(block, bpy.types.Object):
            if simulated := _simulation(block):
                return SceneNeed(f"'{block.name}' is moved by {simulated}", _first_simulated(scene, block))
            reason = reason or _constraint_reason(block)
        if reason:
            return SceneNeed(reason)
    return None


def linked_by(block: bpy.types.ID) -> Iterator[bpy.types.ID]:
    """The data-blocks that an object, an armature or their drivers look at themselves."""
    if isinstance(block, bpy.types.Object):
        yield from (
            linked for linked in (block.parent, block.data) if isinstance(linked, bpy.types.Object | bpy.types.Armature)
        )
        yield from targets_of(block.constraints)
        for bone in block.pose.bones if block.pose else ():
            yield from targets_of(bone.constraints)
            chain: Any = bone
            yield from (target for target in (chain.limb_ik_target, chain.limb_ik_pole) if target is not None)
    for curve in drivers_of(block):
        for variable in curve.driver.variables:
            yield from (target.id for target in variable.targets if target.id is not None)


def targets_of(constraints: Iterable[bpy.types.Constraint]) -> Iterator[bpy.types.ID]:
    """The objects that constraints look at."""
    for constraint in constraints:
        for prop in constraint.bl_rna.properties:
            linked = getattr(constraint, prop.identifier) if prop.type == 'POINTER' else None
            if isinstance(linked, bpy.types.Object):
                yield linked
        if isinstance(constraint, bpy.types.ArmatureConstraint):
            yield from (entry.target for entry in constraint.targets if entry.target is not None)


def drivers_of(block: bpy.types.ID) -> Iterable[Any]:
    """The driver curves of a data-block."""
    animation = getattr(block, "animation_data", None)
    return animation.drivers if animation else ()


def _driver_reason(block: bpy.types.ID) -> str:
    for curve in drivers_of(block):
        if curve.mute:
            continue
        driver, name = curve.driver, f"a driver of '{block.name}' ({curve.data_path})"
        if any(variable.type == 'CONTEXT_PROP' for variable in driver.variables):
            return f"{name} reads a property of the scene"
        if any(isinstance(target.id, bpy.types.Scene) for one in driver.variables for target in one.targets):
            return f"{name} reads a scene"
        if driver.type == 'SCRIPTED' and not driver.is_simple_expression and _asks_for_more(driver):
            return f"{name} is a Python expression that may ask for the scene"
    return ""


def _asks_for_more(driver: Any) -> bool:
    """Whether an expression names more than its variables, the frame and mathematics."""
    if driver.use_self:
        return True
    try:
        names = set(compile(driver.expression, "driver", "eval").co_names)
    except (SyntaxError, ValueError):
        return True
    return bool(names - KNOWN_NAMES - {variable.name for variable in driver.variables})


def is_anything_simulated() -> bool:
    """Whether an object of the file has a simulation that isn't baked: it may see any rig, and keeps what it saw."""
    return any(_simulation(obj, is_baked_too=False) for obj in bpy.data.objects)


def _simulation(obj: bpy.types.Object, *, is_baked_too: bool = True) -> str:
    if obj.rigid_body is not None or obj.rigid_body_constraint is not None:
        return "a rigid body simulation"
    for modifier in obj.modifiers if len(obj.modifiers) else ():
        if _simulates(modifier) and (is_baked_too or not _is_baked(modifier)):
            return f"the simulation of its modifier '{modifier.name}'"
    return ""


def _simulates(modifier: Any) -> bool:
    if modifier.type == 'NODES':
        return modifier.node_group is not None and _has_simulation_zone(modifier.node_group, set())
    return modifier.type in SIMULATIONS


def _has_simulation_zone(tree: Any, seen: set[Any]) -> bool:
    """Whether a node tree, or a group in it, has a simulation zone."""
    seen.add(tree)
    groups = {node.node_tree for node in tree.nodes if node.type == 'GROUP'} - {None, *seen}
    return any(node.type == SIMULATION_NODE for node in tree.nodes) or any(
        _has_simulation_zone(group, seen) for group in groups
    )


def _is_baked(modifier: Any) -> bool:
    """Whether a simulation is played from its cache; still hair is none."""
    particles = getattr(modifier, "particle_system", None)
    if particles is not None and particles.settings.type == 'HAIR' and not particles.use_hair_dynamics:
        return True
    cache = getattr(modifier, "point_cache", None) or getattr(particles, "point_cache", None)
    return cache is not None and cache.is_baked


def _first_simulated(scene: bpy.types.Scene, obj: bpy.types.Object) -> int:
    """From where a simulation is played: an unbaked one stands still after a jump."""
    modifiers: Any = obj.modifiers
    caches = [one.point_cache for one in modifiers if getattr(one, "point_cache", None) is not None]
    if obj.rigid_body is not None and scene.rigidbody_world is not None:
        caches.append(scene.rigidbody_world.point_cache)
    return min((cache.frame_start for cache in caches), default=scene.frame_start)


def _constraint_reason(obj: bpy.types.Object) -> str:
    owners = [obj, *(obj.pose.bones if obj.pose else ())]
    for constraint in (one for owner in owners for one in owner.constraints):
        if constraint.type in SCENE_CONSTRAINTS and not constraint.mute:
            return f"constraint '{constraint.name}' of '{obj.name}' asks for the scene's camera"
    return ""
