"""How Blender's own importers and exporters are called so that a motion goes through them unchanged.

Must not know chains or the command line, and must not decide where a file is
written. Frames map one to one and every frame is written, without simplification.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import addon_utils
import bpy

from ..rig import compat, nla
from ..rig.errors import LimbIKError
from ..rig.made import COLLECTION
from ..rig.session import armature_data, current_scene
from ..rig.setting_up.controls import edit_mode
from ..rig.setting_up.uses import still_used
from . import gltf_clips
from .bvh_export import write_bvh
from .clip import Clip, animation_of
from .clips import clips_of, owners_of
from .gltf_alone import with_lone_clips
from .gltf_rate import frame_rate
from .placing import texture_folder
from .shift import shift_animation

_ADD_ONS = {".bvh": "io_anim_bvh", ".fbx": "io_scene_fbx"}
_GLTF_ADD_ON = "io_scene_gltf2"
# Frame rates that a BVH's rounded frame time gives are this near to the rate that was meant.
NEARLY_WHOLE_RATE = 0.01


def import_file(path: Path, suffix: str) -> None:
    """Adds what a file of another format holds to the current, empty file."""
    _enable_add_on(suffix)
    READERS[suffix](path)


def export_file(path: Path, suffix: str, only: bpy.types.Object | None = None) -> Sequence[Clip]:
    """Writes the scene's armatures, without the controls of set-up, over the scene's frame range.

    The controls are removed from the session for it. ``only`` is the armature of a file that holds one.

    Returns:
        The clips that aren't in the file.
    """
    _enable_add_on(suffix)
    _remove_controls()
    playing, others = clips_of(current_scene().objects)
    return WRITERS[suffix](path, playing, others, only)


def _enable_add_on(suffix: str) -> None:
    name = _ADD_ONS.get(suffix, _GLTF_ADD_ON)
    if not addon_utils.check(name)[1] and cast(Any, addon_utils).enable(name, default_set=False) is None:
        raise LimbIKError(f"Blender's add-on {name}, which knows {suffix} files, can't be enabled")


def _import_bvh(path: Path) -> None:
    _refuse_cut_bvh(path)
    bpy.ops.import_anim.bvh(filepath=str(path), use_fps_scale=False, update_scene_fps=True, update_scene_duration=True)


def _refuse_cut_bvh(path: Path) -> None:
    """Blender's importer takes a file whose end is missing for a shorter motion."""
    _, _, motion = path.read_text(encoding="utf-8", errors="replace").partition("MOTION")
    lines = [line.split() for line in motion.splitlines() if line.strip()]
    counts = (words[1] for words in lines if words[0] == "Frames:" and words[1:2])
    promised = next((int(count) for count in counts if count.isdecimal()), 0)
    there = sum(words[0] not in {"Frames:", "Frame"} for words in lines)
    if there < promised:
        raise LimbIKError(f"its end is missing: it holds {there} of {promised} frames")


def _import_fbx(path: Path) -> None:
    bpy.ops.import_scene.fbx(filepath=str(path))


def _import_gltf(path: Path) -> None:
    current_scene().render.fps = frame_rate(path)
    with tempfile.TemporaryDirectory(prefix="limb_ik_") as folder:
        # Else bones get a shape, and the file an icosphere.
        bpy.ops.import_scene.gltf(filepath=str(with_lone_clips(path, Path(folder))), disable_bone_shape=True)


def _import_vrm(path: Path) -> None:
    """A .vrm or .vrma is a .glb by another name, and the importer goes by the name."""
    with tempfile.TemporaryDirectory(prefix="limb_ik_") as folder:
        renamed = Path(folder) / f"{path.stem}.glb"
        try:
            os.link(path, renamed)
        except OSError:  # another file system, or one without links
            shutil.copyfile(path, renamed)
        _import_gltf(renamed)


def _export_bvh(path: Path, _playing: Clip, others: Sequence[Clip], only: bpy.types.Object | None) -> Sequence[Clip]:
    armatures = [o for o in current_scene().objects if o.type == 'ARMATURE' and only in {None, o}]
    if len(armatures) != 1:
        raise LimbIKError(f"a .bvh file holds one armature, and here are {len(armatures)}: name one with --armature")
    scene = current_scene()
    write_bvh(path, armatures[0], range(scene.frame_start, scene.frame_end + 1))
    return others


def _export_fbx(path: Path, playing: Clip, others: Sequence[Clip], _only: bpy.types.Object | None) -> Sequence[Clip]:
    """Blender's importer takes the first moment for frame 1, its exporter writes frame 1 one frame after it.

    Of all actions the exporter would make clips of every action with every object that has its channels: one clip is
    written, which bears the scene's name.
    """
    scene = current_scene()
    scene.name = playing.name
    first, last = scene.frame_start, scene.frame_end
    shift = -min(1, first)
    shift_animation(shift)
    scene.frame_start, scene.frame_end = first + shift, last + shift
    bpy.ops.export_scene.fbx(
        filepath=str(path),
        check_existing=False,
        add_leaf_bones=False,
        bake_anim=True,
        bake_anim_use_all_bones=True,
        bake_anim_use_nla_strips=False,
        bake_anim_use_all_actions=False,
        bake_anim_force_startend_keying=True,
        bake_anim_step=1.0,
        bake_anim_simplify_factor=0.0,
    )
    return others


def _export_gltf(path: Path, playing: Clip, others: Sequence[Clip], _only: bpy.types.Object | None) -> Sequence[Clip]:
    owners = owners_of(current_scene().objects)
    is_mixed = any(nla.uses_strips(animation_of(owner)) for owner in owners)
    written = [clip for clip in others if not clip.is_under_ik]
    can_all = not any(compat.why_not_editable(owner) for owner in owners)
    if can_all and (written or is_mixed):
        gltf_clips.make_tracks(owners, playing, written)
        _write_gltf(path, export_animation_mode='NLA_TRACKS')
        return [clip for clip in others if clip not in written]
    _write_gltf(
        path,
        export_animation_mode='ACTIVE_ACTIONS',
        export_frame_range=True,
        export_nla_strips_merged_animation_name=playing.name,
    )
    return others


def _write_gltf(path: Path, **animation: Any) -> None:
    render = current_scene().render
    before = render.fps, render.fps_base
    rate = render.fps / render.fps_base
    whole = round(rate)
    if abs(rate - whole) < NEARLY_WHOLE_RATE:
        # glTF stores seconds and no rate: 30.00003 of a BVH would put every key beside its frame at 30.
        render.fps, render.fps_base = whole, 1.0
    else:
        # Blender's exporter takes fps * fps_base for the frame rate, which is fps / fps_base.
        render.fps_base = 1.0 / render.fps_base
    try:
        _call_gltf_exporter(path, **animation)
    finally:
        render.fps, render.fps_base = before


def _call_gltf_exporter(path: Path, **animation: Any) -> None:
    bpy.ops.export_scene.gltf(
        filepath=str(path),
        check_existing=False,
        export_format='GLB' if path.suffix.lower() == ".glb" else 'GLTF_SEPARATE',
        export_texture_dir=texture_folder(path),
        export_cameras=True,
        export_lights=True,
        export_animations=True,
        export_frame_step=1,
        export_force_sampling=True,
        export_optimize_animation_size=False,
        **animation,
    )


def _remove_controls() -> None:
    """What set-up made; not what something hangs on that is exported."""
    rigs = [obj for obj in current_scene().objects if obj.type == 'ARMATURE']
    bones = [(obj, name) for obj in rigs for name in _control_bones(obj)]
    made = [*((obj, "") for obj in bpy.data.objects if _is_control(obj)), *bones]
    used = still_used(made, by_chains=False)
    for obj in [obj for obj, name in made if not name and (obj, "") not in used]:
        bpy.data.objects.remove(obj)
    for rig in rigs:
        names = [name for obj, name in bones if obj == rig and (obj, name) not in used]
        if names:
            _remove_bones(rig, names)


def _is_control(obj: bpy.types.Object) -> bool:
    return bool(getattr(getattr(obj, "limb_ik", None), "is_control", False))


def _control_bones(obj: bpy.types.Object) -> list[str]:
    made = armature_data(obj).collections_all.get(COLLECTION)
    return [bone.name for bone in made.bones] if made else []


def _remove_bones(obj: bpy.types.Object, names: list[str]) -> None:
    with edit_mode(bpy.context, obj):
        for name in names:
            armature_data(obj).edit_bones.remove(armature_data(obj).edit_bones[name])


READERS: dict[str, Callable[[Path], None]] = {
    ".bvh": _import_bvh,
    ".fbx": _import_fbx,
    ".glb": _import_gltf,
    ".gltf": _import_gltf,
    ".vrm": _import_vrm,
    ".vrma": _import_vrm,
}
WRITERS: dict[str, Callable[[Path, Clip, Sequence[Clip], bpy.types.Object | None], Sequence[Clip]]] = {
    ".bvh": _export_bvh,
    ".fbx": _export_fbx,
    ".glb": _export_gltf,
    ".gltf": _export_gltf,
}
