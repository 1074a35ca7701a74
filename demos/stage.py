"""How demos begin, and what their scenes are made of: figures on Rigify's metarigs, balls that move, chains on names.

Must not know a scene, and not render.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
from mathutils import Vector

from ..files.placing import make_folder
from ..rig.bone_rows import row_of
from ..rig.posed_chain import length_along
from ..rig.session import current_scene, evaluated, pose_bones
from ..rig.setting_up.setup import ChainPlan, add_chain
from .figure import BALL, Colour, hang, material_of, sphere
from .picture import View

# Of a chain's length: what Limb IK promises for the evaluated pose.
MAX_ERROR = 1e-5
# Metres: what a hand reaches for.
BALL_RADIUS = 0.06
Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene as it is shown. ``captions``: by frame of each panel; ``told``: tips whose message stands below it;
    ``lengths``: chain length by tip; ``missed``: metres by which a chain misses its target now."""

    obj: bpy.types.Object
    last_frame: int
    captions: Mapping[int, str]
    view: View
    centre: Vector
    lengths: Mapping[str, float]
    missed: Callable[[str], float]
    told: Sequence[str] = ()


def begin(folder: Path) -> None:
    """An empty file, and a folder for what comes of it."""
    make_folder(folder)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)


def figure(obj: bpy.types.Object, parts: Mapping[str, tuple[float, Colour]]) -> None:
    """Hangs a spindle on each bone named, by name without side: radius in metres and colour."""
    materials: dict[Colour, bpy.types.Material] = {}
    for bone in pose_bones(obj):
        part = parts.get(bone.name) or parts.get(bone.name.removesuffix(".L").removesuffix(".R"))
        if part is not None:
            radius, colour = part
            hang(obj, bone, radius, materials.setdefault(colour, material_of("Figure", colour)))


def moving_ball(places: Mapping[int, Point], radius: float) -> bpy.types.Object:
    """An empty with a ball on it that is at a place on each of some frames and moves smoothly between."""
    empty = bpy.data.objects.new("Ball Target", None)
    empty.empty_display_size = radius
    current_scene().collection.objects.link(empty)
    sphere("Ball", radius, material_of("Ball", BALL), empty)
    for frame, place in places.items():
        empty.location = place
        empty.keyframe_insert("location", frame=frame)
    return empty


def chain_on(obj: bpy.types.Object, plan: ChainPlan, target: bpy.types.Object) -> Any:
    """A chain that reaches for ``target`` instead of the target that set-up makes; its tip bone."""
    add_chain(bpy.context, obj, plan)
    tip: Any = pose_bones(obj)[plan.tip]
    made = tip.limb_ik_target
    tip.limb_ik_target = target
    bpy.data.objects.remove(made)
    return tip


def length_of(obj: bpy.types.Object, tip: str) -> float:
    """From the root's head through all heads to the end of a chain, at rest; metres."""
    bone: Any = pose_bones(obj)[tip]
    heads = [one.bone.head_local for one in row_of(bone)[::-1]]
    end = bone.limb_ik_end_bone
    heads.append(pose_bones(obj)[end].bone.head_local if end else bone.bone.tail_local)
    return length_along(heads)


def end_missed(obj: bpy.types.Object, tip: str) -> float:
    """Metres between a chain's end and its target now."""
    now, bone = evaluated(obj), pose_bones(obj)[tip]
    end: Any = bone.limb_ik_end_bone
    point = pose_bones(now)[end].head if end else pose_bones(now)[tip].tail
    target: Any = bone.limb_ik_target
    return float((now.matrix_world @ point - evaluated(target).matrix_world.translation).length)
