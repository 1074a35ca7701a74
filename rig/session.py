"""What is open in Blender, typed as the command line has it: there is a scene, and armatures have poses.

Must not change anything. (The stubs allow for contexts without a scene and objects without a pose.)
"""

from __future__ import annotations

from typing import Any, cast

import bpy


def current_scene() -> bpy.types.Scene:
    """The scene that is open."""
    return cast(bpy.types.Scene, bpy.context.scene)


def current_view_layer() -> bpy.types.ViewLayer:
    """The view layer that is open."""
    return cast(bpy.types.ViewLayer, bpy.context.view_layer)


def frames_per_second(scene: bpy.types.Scene) -> float:
    """The frame rate of a scene."""
    return scene.render.fps / scene.render.fps_base


def timeline_frame(scene: bpy.types.Scene, frame: float) -> float:
    """Where the timeline has a frame of the animation: with time stretching it has another number there."""
    return frame * scene.render.frame_map_new / scene.render.frame_map_old


def pose_bones(obj: bpy.types.Object) -> Any:
    """The pose bones of an armature object; Any, since Limb IK's own properties lie on them."""
    return cast(bpy.types.Pose, obj.pose).bones


def armature_data(obj: bpy.types.Object) -> bpy.types.Armature:
    """The bones at rest of an armature object."""
    return cast(bpy.types.Armature, obj.data)


def is_in_edit_mode(obj: bpy.types.Object) -> bool:
    """Whether the bones of an armature object are being edited: by itself, or by another object of the same armature.

    Until edit mode is left, bones of the pose and bones at rest don't fit each other.
    """
    return armature_data(obj).is_editmode


def object_at(key: tuple[str, str | None]) -> bpy.types.Object:
    """The object of a name and its library's path (None: of this file); the stubs know names only.

    Raises:
        KeyError: there is none.
    """
    objects: Any = bpy.data.objects
    found: bpy.types.Object = objects[key]
    return found


def evaluated(obj: bpy.types.Object) -> bpy.types.Object:
    """The object as the dependency graph has it now."""
    return obj.evaluated_get(bpy.context.evaluated_depsgraph_get())


def object_settings(obj: bpy.types.Object) -> Any:
    """What an object holds of Limb IK (``Object.limb_ik``)."""
    return cast(Any, obj).limb_ik
