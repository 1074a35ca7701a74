"""Every property that Limb IK registers: one table, registered in a loop.

The settings of a chain lie flat on the pose bone of its tip, those of a joint on
the bone they bind (flat ones key, drive and follow renames). Callbacks only mark;
those of what a chain hangs on also keep the dependency number up to date.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .property_specs import (
    ANIMATABLE,
    NOT_ANIMATABLE,
    NOT_OVERRIDABLE,
    OVERRIDABLE,
    Spec,
    angle,
    enum,
    number,
    object_link,
    shown,
    store,
    switch,
    text,
)
from .rig import dependency, fk_pose, marks, readouts

PREFIX = "limb_ik_"

SOLVERS = (
    ('NONE', "None", "No chain ends at this bone"),
    ('TWO_BONE', "Two Bones", "Exact solution for arms and legs"),
    ('LEG', "Leg", "Zig-zag legs of creatures, with three and more bones"),
    ('FABRIK', "FABRIK", "Chains of any length, such as tails and spines"),
    ('LOOK_AT', "Look At", "Turns a head or an eye toward the target"),
)
TARGET_SPACES = (
    ('WORLD', "World", "The end goes where the target is"),
    ('FK', "FK Offset", "What target and pole have moved since set-up is added to the animated pose"),
)
END_ROTATIONS = (
    ('KEEP_LOCAL', "Keep Local", "The end bone keeps its rotation relative to its parent"),
    ('KEEP_FK', "Keep FK", "The end bone keeps the orientation that the animation gives it"),
    ('TARGET', "Target", "The end bone turns with the target"),
)
AXES = tuple(
    (name, label, f"{label} axis of the bone")
    for name, label in (('X', "X"), ('Y', "Y"), ('Z', "Z"), ('NEG_X', "-X"), ('NEG_Y', "-Y"), ('NEG_Z', "-Z"))
)
STATUSES = (
    ('IDLE', "Idle", "Nothing to solve: off, muted or without weight"),
    ('REACHED', "Reached", "The end is on the target"),
    ('TOO_FAR', "Too Far", "The target is out of reach"),
    ('TOO_NEAR', "Too Near", "The target is nearer than the limb can fold"),
    ('LIMITED', "Limited", "A joint limit keeps the end from the target"),
    ('INVALID', "Invalid", "The chain cannot be solved; the message says why"),
)
JOINT_KINDS = (
    ('FREE', "Free", "No limits"),
    ('HINGE', "Hinge", "Turns about one axis, as knees and elbows do"),
    ('BALL', "Ball", "Swing and twist limits, as for hips and shoulders"),
)

IDENTITY_4X4 = tuple(float(row == column) for row in range(4) for column in range(4))

CHAIN_SPECS = (
    enum("solver", "Solver", SOLVERS, 'NONE', update=dependency.link_changed),
    Spec(
        "chain_length",
        IntProperty,
        {
            "name": "Chain Length",
            "default": 2,
            "min": 0,
            "max": 255,
            "description": "How many bones are included in the chain, up to all parents where it is 0",
        },
        update=dependency.link_changed,
    ),
    text("end_bone", "End Bone", "Bone whose head has to reach the target; the tail of the tip where empty"),
    object_link("target", "Target", "Object that the end of the chain reaches for"),
    text("target_bone", "Target Bone", "Bone of the target armature whose head is the target"),
    object_link("pole", "Pole Target", "Object that the elbow or knee bends toward"),
    text("pole_bone", "Pole Bone", "Bone of the pole armature whose head is the pole"),
    enum("target_space", "Target Space", TARGET_SPACES, 'WORLD'),
    Spec("target_rest", FloatVectorProperty, {"size": 16, "default": IDENTITY_4X4, "name": "Target at Set-Up"}),
    Spec("pole_rest", FloatVectorProperty, {"size": 16, "default": IDENTITY_4X4, "name": "Pole at Set-Up"}),
    Spec(
        "pole_angle",
        FloatProperty,
        {"name": "Pole Angle", "subtype": 'ANGLE', "description": "Extra turn of the bend about the limb's line"},
        is_animatable=True,
    ),
    Spec(
        "bend_axis",
        FloatVectorProperty,
        {"name": "Bend Axis", "size": 3, "subtype": 'XYZ', "description": "Hinge of the limb in its root bone's space"},
    ),
    switch("use_ik", "Use IK", True, "IK on or off; a keyed switch is eased over the blend time", is_animatable=True),
    number("weight", "Weight", 1.0, 0.0, 1.0, "How much of IK is used", subtype='FACTOR', is_animatable=True),
    number(
        "blend_time",
        "Blend Time",
        0.15,
        0.0,
        1000.0,
        "Seconds over which a keyed switch is eased",
        soft_max=2.0,
        subtype='TIME_ABSOLUTE',
    ),
    switch("mute", "Mute", False, "Take the chain out of play"),
    number(
        "softness",
        "Softness",
        0.0,
        0.0,
        0.2,
        "Part of the length over which the limb eases into full reach",
        subtype='FACTOR',
        is_animatable=True,
    ),
    number(
        "max_reach",
        "Max Reach",
        1.0,
        0.0,
        1.0,
        "Largest part of the limb's length that is used",
        subtype='FACTOR',
        is_animatable=True,
    ),
    enum("end_rotation", "End Rotation", END_ROTATIONS, 'KEEP_LOCAL'),
    Spec(
        "end_offset",
        FloatVectorProperty,
        {"name": "End Offset", "size": 4, "subtype": 'QUATERNION', "default": (1.0, 0.0, 0.0, 0.0)},
    ),
    Spec(
        "iterations",
        IntProperty,
        {"name": "Iterations", "default": 10, "min": 1, "max": 10000, "description": "Maximum number of iterations"},
    ),
    number("tolerance", "Tolerance", 0.001, 0.0, 1e6, "Distance in the world at which solving stops", precision=5),
    switch("use_warm_start", "Warm Start", False, "Start from the pose solved for the frame before"),
    switch("use_limits", "Limits", True, "Keep joints within their limits"),
    object_link(
        "ground", "Ground", "Surface that the end is kept above, at the height that the motion has over its floor"
    ),
    number("ground_amount", "Slope", 1.0, 0.0, 1.0, "How much the end bone is turned to the ground", subtype='FACTOR'),
    number(
        "ground_floor",
        "Floor",
        0.0,
        -1e6,
        1e6,
        "Height of the motion's floor above the armature's origin",
        subtype='DISTANCE',
    ),
    enum("look_axis", "Look Axis", AXES, 'Y'),
    enum("up_axis", "Up Axis", AXES, 'Z'),
    shown("status", EnumProperty, "Status", items=STATUSES, get=readouts.get_status),
    shown("error", FloatProperty, "Error", subtype='DISTANCE', description="Length missed", get=readouts.get_error),
    shown("message", StringProperty, "Message", get=readouts.get_message),
)

JOINT_SPECS = (
    enum("joint_kind", "Joint", JOINT_KINDS, 'FREE'),
    Spec(
        "joint_hinge_axis",
        FloatVectorProperty,
        {"name": "Hinge Axis", "size": 3, "subtype": 'XYZ', "default": (1.0, 0.0, 0.0)},
    ),
    angle("joint_min_angle", "Min", -math.pi, "Smallest angle of the hinge, from rest"),
    angle("joint_max_angle", "Max", math.pi, "Largest angle of the hinge, from rest"),
    angle("joint_swing_x_min", "Swing X Min", -math.pi, "Smallest swing about X"),
    angle("joint_swing_x_max", "Swing X Max", math.pi, "Largest swing about X"),
    angle("joint_swing_z_min", "Swing Z Min", -math.pi, "Smallest swing about Z"),
    angle("joint_swing_z_max", "Swing Z Max", math.pi, "Largest swing about Z"),
    angle("joint_twist_min", "Twist Min", -math.pi, "Smallest twist about the bone"),
    angle("joint_twist_max", "Twist Max", math.pi, "Largest twist about the bone"),
    number("joint_share", "Share", 1.0, 0.0, 1e6, "Part that this joint takes of the turn or the bend", soft_max=1.0),
)

STORE_SPECS = (
    store("root", StringProperty),
    # What set-up made as target and pole, whatever the chain reaches for now.
    store("own_target", PointerProperty, type=bpy.types.Object),
    store("own_target_bone", StringProperty),
    store("own_pole", PointerProperty, type=bpy.types.Object),
    store("own_pole_bone", StringProperty),
    # What earlier set-ups keep instead: that the target was made, whichever it is now.
    store("made_target", BoolProperty),
    store("made_pole", BoolProperty),
    store("store", FloatVectorProperty, size=fk_pose.STORE_SIZE),
    # What set-ups of form 1 keep instead, to be read once; an override's values are lost where nobody registers them.
    store("store_mode", IntProperty, default=0),
    store("fk", FloatVectorProperty, size=4),
    store("written", FloatVectorProperty, size=4),
)

SPECS = CHAIN_SPECS + JOINT_SPECS + STORE_SPECS


class LimbIKObject(bpy.types.PropertyGroup):
    """What an armature object, or a control that set-up made, holds of Limb IK."""

    if TYPE_CHECKING:
        is_live: bool
        is_control: bool
        version: int
    else:
        is_live: BoolProperty(
            name="Live",
            default=True,
            description="Evaluate IK in the viewport and in renders; off shows FK everywhere",
            options=NOT_ANIMATABLE,
            override=OVERRIDABLE,
            update=marks.object_setting_changed,
        )
        is_control: BoolProperty(options=NOT_ANIMATABLE, override=OVERRIDABLE)
        version: IntProperty(options=NOT_ANIMATABLE, override=OVERRIDABLE)


class LimbIKBone(bpy.types.PropertyGroup):
    """What an armature's first bone holds: the two numbers that ``rig/dependency`` drives."""

    if TYPE_CHECKING:
        dependency: float
        names: float
    else:
        dependency: FloatProperty(options=ANIMATABLE)
        names: FloatProperty(options=ANIMATABLE)


GROUPS = ((bpy.types.Object, LimbIKObject, OVERRIDABLE), (bpy.types.PoseBone, LimbIKBone, NOT_OVERRIDABLE))
"""What gets a group named ``limb_ik``, and which; drivers alone write that of bones."""


def register() -> None:
    """Register every property; called once by the extension."""
    pointer = cast(Any, PointerProperty)  # no stubs of what an extension adds
    for owner, group, override in GROUPS:
        bpy.utils.register_class(group)
        cast(Any, owner).limb_ik = pointer(type=group, name="Limb IK", override=override)
    for spec in SPECS:
        setattr(bpy.types.PoseBone, PREFIX + spec.name, spec.build())


def unregister() -> None:
    """Take every property away again; the values stay in the file."""
    for spec in reversed(SPECS):
        delattr(bpy.types.PoseBone, PREFIX + spec.name)
    for owner, group, _ in reversed(GROUPS):
        del cast(Any, owner).limb_ik
        bpy.utils.unregister_class(group)
