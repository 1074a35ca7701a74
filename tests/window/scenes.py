"""What the cases in the window and the pictures of the documentation look at."""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Quaternion

import rigs
from body import body_bones

# From the front, a little from the left and above.
VIEW = Quaternion((0.8, 0.47, 0.19, 0.33)).normalized()


def fresh() -> Any:
    """An empty scene with a body, active, in pose mode."""
    if bpy.context.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    body = rigs.build(body_bones(), "Body")
    bpy.context.view_layer.objects.active = body
    body.select_set(True)
    bpy.context.scene.frame_set(1)
    bpy.ops.object.mode_set(mode='POSE')
    return body


def limits(body: Any) -> None:
    """A knee as a hinge, a hip with swing and twist."""
    knee, hip = body.pose.bones["shin.L"], body.pose.bones["thigh.L"]
    knee.limb_ik_joint_kind, knee.limb_ik_joint_min_angle, knee.limb_ik_joint_max_angle = 'HINGE', 0.0, 2.4
    hip.limb_ik_joint_kind = 'BALL'
    bounds = {"swing_x_min": -1.2, "swing_x_max": 0.7, "swing_z_min": -0.6, "swing_z_max": 0.6}
    for name, value in {**bounds, "twist_min": -0.5, "twist_max": 0.5}.items():
        setattr(hip, f"limb_ik_joint_{name}", value)


def make_active(body: Any, bone: str) -> None:
    """One bone selected and active."""
    for one in body.pose.bones:
        (one if hasattr(one, "select") else one.bone).select = one.name == bone
    body.data.bones.active = body.data.bones[bone]


def stretch(body: Any) -> None:
    """A bent leg with its target reached, and an arm whose target is out of reach; both selected."""
    leg, arm = body.pose.bones["shin.L"], body.pose.bones["forearm.L"]
    leg.limb_ik_target.location.z += 0.2
    leg.limb_ik_target.location.y -= 0.2
    arm.limb_ik_target.location.x += 0.3
    (arm if hasattr(arm, "select") else arm.bone).select = True


def stepping(body: Any) -> None:
    """A foot's target goes up and down over 20 frames."""
    target = body.pose.bones["shin.L"].limb_ik_target
    z = target.location.z
    for frame, up in ((1, 0.0), (10, 0.3), (20, 0.0)):
        target.location.z = z + up
        target.keyframe_insert("location", frame=frame)


def camera_and_skin(body: Any) -> None:
    """A camera, and a box that the knee carries."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -5.0, 1.0), (1.5708, 0.0, 0.0)
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata([(-0.1, 0, 0), (0.1, 0, 0), (0.1, 0, 0.3), (-0.1, 0, 0.3)], [], [(0, 1, 2, 3)])
    box = bpy.data.objects.new("Box", mesh)
    box.parent, box.parent_type, box.parent_bone = body, 'BONE', "shin.L"
    for obj in (camera, box):
        scene.collection.objects.link(obj)
    scene.camera = camera


def many_bones(count: int) -> Any:
    """An armature of rows of five bones below a root."""
    bones = [rigs.BoneSpec("root", (0, 0, 0), (0, 0.1, 0))]
    for number in range(count - 1):
        row, link = divmod(number, 5)
        x, z = 0.1 * row, 0.2 * link
        bend = 0.01 * (link % 2)
        parent = f"b{number - 1}" if link else "root"
        bones.append(rigs.BoneSpec(f"b{number}", (x, bend, z), (x, 0.01 - bend, z + 0.2), parent))
    if bpy.context.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    arm = rigs.build(bones, "Many")
    bpy.context.view_layer.objects.active = arm
    return arm
