"""Skeletons in the naming conventions of the field, as numbers: for tests of the limb finder.

A chain is written from the body outwards; ``*`` marks upper, lower and end, ``>`` parts the
bones. {S} is Left or Right, {s} left or right, {L} L or R, {l} l or r, {J} 左 or 右.
Helpers are written ``name @ parent`` and stand where their parent stands, or ``name @ parent = bone``
and stand where that bone stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from limb_ik.rig.limb_finding.skeleton import Point, RestBone

SIDES = {"L": ("Left", "left", "L", "l", "左"), "R": ("Right", "right", "R", "r", "右")}

SHOULDER, ELBOW, WRIST, FINGERTIP = (0.18, 0.0, 1.45), (0.45, 0.02, 1.42), (0.7, 0.0, 1.4), (0.85, 0.0, 1.38)
HIP, KNEE, ANKLE, TOE = (0.1, 0.0, 0.95), (0.11, -0.02, 0.5), (0.12, 0.0, 0.08), (0.12, -0.2, 0.0)


@dataclass(frozen=True)
class Convention:
    """How one world names arms and legs."""

    name: str
    arm: str
    leg: str
    helpers: tuple[str, ...] = ()
    trunk: tuple[str, ...] = ("Hips", "Spine", "Chest", "Neck", "Head")


def spell(text: str, side: str) -> str:
    """Fill in the side."""
    full, small, letter, little, cjk = SIDES[side]
    return text.format(S=full, s=small, L=letter, l=little, J=cjk)


def _mirror(point: Point, side: str) -> Point:
    return point if side == "L" else (-point[0], point[1], point[2])


def _mix(a: Point, b: Point, part: float) -> Point:
    return (a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part)


def _split(chain: str, side: str) -> tuple[list[str], list[int]]:
    written = [spell(part.strip(), side) for part in chain.split(">")]
    return [name.lstrip("*") for name in written], [at for at, name in enumerate(written) if name.startswith("*")]


def _place(at: int, count: int, marks: list[int], joints: tuple[Point, ...], start: Point) -> Point:
    """Head of a bone of a chain: marked ones on the joints, others evenly between."""
    stops = [(-1, start), *zip(marks, joints, strict=False)]
    stops.append((count, joints[len(marks)] if len(marks) < len(joints) else joints[-1]))
    for (before, a), (after, b) in pairwise(stops):
        if before <= at < after:
            return _mix(a, b, (at - before) / (after - before)) if before != at else a
    raise AssertionError(at)


def _chain(chain: str, side: str, joints: tuple[Point, ...], parent: str, start: Point) -> Iterator[RestBone]:
    names, marks = _split(chain, side)
    heads = [_mirror(_place(at, len(names), marks, joints, start), side) for at in range(len(names))]
    tails = [*heads[1:], _mirror(joints[-1], side)]
    for name, head, tail, above in zip(names, heads, tails, [parent, *names], strict=False):
        yield RestBone(name, above, head, tail)


def trunk(names: tuple[str, ...]) -> list[RestBone]:
    """Pelvis, spine, chest, neck, head."""
    heights = (1.0, 1.1, 1.35, 1.5, 1.6, 1.8)
    parents = (None, *names)
    return [
        RestBone(name, parent, (0.0, 0.0, low), (0.0, 0.0, high))
        for name, parent, low, high in zip(names, parents, heights, heights[1:], strict=False)
    ]


def skeleton(convention: Convention) -> tuple[RestBone, ...]:
    """The convention's skeleton, with its helper bones."""
    bones = trunk(convention.trunk)
    for side in "RL":  # right first: the finder has to sort
        bones += _chain(convention.leg, side, (HIP, KNEE, ANKLE, TOE), convention.trunk[0], (0.0, 0.0, 1.0))
        bones += _chain(convention.arm, side, (SHOULDER, ELBOW, WRIST, FINGERTIP), convention.trunk[2], (0.0, 0.0, 1.4))
    for side in "LR":
        for helper in convention.helpers:
            bones.append(_helper(bones, spell(helper, side)))
    unique = {bone.name: bone for bone in bones}
    return tuple(unique.values())


def _helper(bones: list[RestBone], written: str) -> RestBone:
    name, _, rest = (part.strip() for part in written.partition("@"))
    parent, _, place = (part.strip() for part in rest.partition("="))
    if not parent:
        return RestBone(name, None, (0.0, 0.0, 0.0), (0.0, 0.0, 0.1))
    x, y, z = next(bone.head for bone in bones if bone.name == (place or parent))
    return RestBone(name, parent, (x, y, z), (x, y + 0.05, z))


def expected(convention: Convention) -> list[tuple[str, str, tuple[str, ...]]]:
    """(kind, side, path from upper to end) of the limbs that are there."""
    found = []
    for kind, chain in (("arm", convention.arm), ("leg", convention.leg)):
        for side in "LR":
            names, marks = _split(chain, side)
            found.append((kind, side, tuple(names[marks[0] : marks[2] + 1] if len(marks) > 2 else names[marks[0] :])))
    return found


def triples(convention: Convention) -> list[tuple[str, str, str | None]]:
    """(upper, lower, end) of the limbs that are there."""
    found: list[tuple[str, str, str | None]] = []
    for chain in (convention.arm, convention.leg):
        for side in "LR":
            names, marks = _split(chain, side)
            found.append((names[marks[0]], names[marks[1]], names[marks[2]] if len(marks) > 2 else None))
    return found


CONVENTIONS = (
    Convention(
        "Mixamo",
        "mixamorig:{S}Shoulder > *mixamorig:{S}Arm > *mixamorig:{S}ForeArm > *mixamorig:{S}Hand",
        "*mixamorig:{S}UpLeg > *mixamorig:{S}Leg > *mixamorig:{S}Foot > mixamorig:{S}ToeBase > mixamorig:{S}Toe_End",
        ("mixamorig:{S}HandThumb1 @ mixamorig:{S}Hand", "mixamorig:{S}HandIndex1 @ mixamorig:{S}Hand"),
    ),
    Convention(
        "Mixamo, prefix with a number",
        "mixamorig9_{S}Shoulder > *mixamorig9_{S}Arm > *mixamorig9_{S}ForeArm > *mixamorig9_{S}Hand",
        "*mixamorig9_{S}UpLeg > *mixamorig9_{S}Leg > *mixamorig9_{S}Foot > mixamorig9_{S}ToeBase",
    ),
    Convention(
        "HumanIK",
        "Character1_{S}Shoulder > *Character1_{S}Arm > *Character1_{S}ForeArm > *Character1_{S}Hand",
        "*Character1_{S}UpLeg > *Character1_{S}Leg > *Character1_{S}Foot > Character1_{S}ToeBase",
        ("Character1_{S}ForeArmRoll @ Character1_{S}ForeArm", "Character1_{S}UpLegRoll @ Character1_{S}UpLeg"),
    ),
    Convention(
        "Unreal 4",
        "clavicle_{l} > *upperarm_{l} > *lowerarm_{l} > *hand_{l} > middle_01_{l} > middle_02_{l}",
        "*thigh_{l} > *calf_{l} > *foot_{l} > ball_{l}",
        (
            "upperarm_twist_01_{l} @ upperarm_{l}",
            "lowerarm_twist_01_{l} @ lowerarm_{l}",
            "thigh_twist_01_{l} @ thigh_{l}",
            "calf_twist_01_{l} @ calf_{l}",
            "ik_foot_root",
            "ik_foot_{l} @ ik_foot_root = foot_{l}",
            "ik_hand_root",
            "ik_hand_gun @ ik_hand_root",
            "ik_hand_{l} @ ik_hand_gun = hand_{l}",
        ),
        ("pelvis", "spine_01", "spine_02", "neck_01", "head"),
    ),
    Convention(
        "Unreal 5",
        "clavicle_{l} > *upperarm_{l} > *lowerarm_{l} > *hand_{l} > middle_metacarpal_{l} > middle_01_{l}",
        "*thigh_{l} > *calf_{l} > *foot_{l} > ball_{l}",
        (
            "upperarm_correctiveRoot_{l} @ upperarm_{l}",
            "upperarm_bck_{l} @ upperarm_correctiveRoot_{l}",
            "upperarm_twist_02_{l} @ upperarm_{l}",
            "lowerarm_correctiveRoot_{l} @ lowerarm_{l}",
            "lowerarm_in_{l} @ lowerarm_correctiveRoot_{l}",
            "wrist_inner_{l} @ hand_{l}",
            "wrist_outer_{l} @ hand_{l}",
            "thigh_correctiveRoot_{l} @ thigh_{l}",
            "thigh_fwd_{l} @ thigh_correctiveRoot_{l}",
            "calf_knee_{l} @ calf_{l}",
            "ankle_bck_{l} @ foot_{l}",
        ),
        ("pelvis", "spine_01", "spine_05", "neck_01", "head"),
    ),
    Convention(
        "Unity",
        "{S}Shoulder > *{S}UpperArm > *{S}LowerArm > *{S}Hand > {S}MiddleProximal",
        "*{S}UpperLeg > *{S}LowerLeg > *{S}Foot > {S}Toes",
    ),
    Convention(
        "VRM (VRoid)",
        "J_Bip_{L}_Shoulder > *J_Bip_{L}_UpperArm > *J_Bip_{L}_LowerArm > *J_Bip_{L}_Hand > J_Bip_{L}_Middle1",
        "*J_Bip_{L}_UpperLeg > *J_Bip_{L}_LowerLeg > *J_Bip_{L}_Foot > J_Bip_{L}_ToeBase",
        (
            "J_Sec_{L}_TopsUpperArmInside_01 @ J_Bip_{L}_UpperArm",
            "J_Sec_{L}_SkirtSide1_01 @ J_Bip_C_Hips",
            "J_Sec_{L}_SkirtSide2_01 @ J_Sec_{L}_SkirtSide1_01",
            "J_Sec_{L}_SkirtSide3_01 @ J_Sec_{L}_SkirtSide2_01",
        ),
        ("J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_Neck", "J_Bip_C_Head"),
    ),
    Convention(
        "VRChat",
        "{S} shoulder > *{S} arm > *{S} elbow > *{S} wrist > MiddleFinger1_{L}",
        "*{S} leg > *{S} knee > *{S} ankle > {S} toe",
    ),
    Convention(
        "VRChat, joined",
        "{S}Shoulder > *{S}Arm > *{S}Elbow > *{S}Wrist",
        "*{S}Leg > *{S}Knee > *{S}Ankle > {S}Toe",
    ),
    Convention(
        "Rigify metarig",
        "shoulder.{L} > *upper_arm.{L} > *forearm.{L} > *hand.{L} > palm.02.{L} > f_middle.01.{L}",
        "*thigh.{L} > *shin.{L} > *foot.{L} > toe.{L}",
        ("pelvis.{L} @ spine", "breast.{L} @ spine.003", "heel.02.{L} @ foot.{L}"),
        ("spine", "spine.001", "spine.003", "spine.004", "spine.006"),
    ),
    Convention(
        "Rigify deform bones",
        "DEF-shoulder.{L} > *DEF-upper_arm.{L} > DEF-upper_arm.{L}.001 > *DEF-forearm.{L} > DEF-forearm.{L}.001"
        " > *DEF-hand.{L}",
        "*DEF-thigh.{L} > DEF-thigh.{L}.001 > *DEF-shin.{L} > DEF-shin.{L}.001 > *DEF-foot.{L} > DEF-toe.{L}",
        trunk=("DEF-spine", "DEF-spine.001", "DEF-spine.003", "DEF-spine.004", "DEF-spine.006"),
    ),
    Convention(
        "MakeHuman",
        "clavicle.{L} > shoulder01.{L} > *upperarm01.{L} > upperarm02.{L} > *lowerarm01.{L} > lowerarm02.{L}"
        " > *wrist.{L} > metacarpal1.{L}",
        "pelvis.{L} > *upperleg01.{L} > upperleg02.{L} > *lowerleg01.{L} > lowerleg02.{L} > *foot.{L} > toe1-1.{L}",
        ("breast.{L} @ spine01",),
        ("root", "spine05", "spine01", "neck01", "head"),
    ),
    Convention(
        "MakeHuman, older",
        "Clavicle_{L} > *UpArm_{L} > *LoArm_{L} > *Hand_{L} > Middle1_{L}",
        "__UpLeg_{L} > *UpLeg_{L} > *LoLeg_{L} > *Foot_{L} > Toe_{L}",
    ),
    Convention(
        "CMU",
        "{l}clavicle > *{l}humerus > *{l}radius > *{l}wrist > {l}hand > {l}fingers",
        "{l}hipjoint > *{l}femur > *{l}tibia > *{l}foot > {l}toes",
        ("{l}thumb @ {l}wrist",),
        ("root", "lowerback", "thorax", "lowerneck", "head"),
    ),
    Convention(
        "CMU for MotionBuilder",
        "{S}Shoulder > *{S}Arm > *{S}ForeArm > *{S}Hand > {S}FingerBase",
        "{L}HipJoint > *{S}UpLeg > *{S}Leg > *{S}Foot > {S}ToeBase",
        ("{L}Thumb @ {S}Hand",),
    ),
    Convention(
        "BioVision",
        "{S}Collar > *{S}Shoulder > *{S}Elbow > *{S}Wrist",
        "*{S}Hip > *{S}Knee > *{S}Ankle > {S}Toe",
        trunk=("Hips", "Chest", "Chest2", "Neck", "Head"),
    ),
    Convention(
        "BioVision with hip joints",
        "{S}Collar > *{S}Shoulder > *{S}Elbow > *{S}Wrist > {l}hand > {L}Fingers",
        "{L}HipJoint > *{S}Hip > *{S}Knee > *{S}Ankle > {S}Toe",
    ),
    Convention(
        "Bandai-Namco",
        "Shoulder_{L} > *UpperArm_{L} > *LowerArm_{L} > *Hand_{L}",
        "*UpperLeg_{L} > *LowerLeg_{L} > *Foot_{L} > Toes_{L}",
    ),
    Convention(
        "Poser",
        "{l}Collar > *{l}Shldr > *{l}ForeArm > *{l}Hand > {l}Mid1",
        "{l}Buttock > *{l}Thigh > *{l}Shin > *{l}Foot > {l}Toe",
        trunk=("hip", "abdomen", "chest", "neck", "head"),
    ),
    Convention(
        "Poser, words",
        "{S} Collar > *{S} Shoulder > *{S} Forearm > *{S} Hand > {S} Mid 1",
        "*{S} Thigh > *{S} Shin > *{S} Foot > {S} Toe",
        trunk=("Hip", "Abdomen", "Chest", "Neck", "Head"),
    ),
    Convention(
        "Daz Genesis 8",
        "{l}Collar > *{l}ShldrBend > {l}ShldrTwist > *{l}ForearmBend > {l}ForearmTwist > *{l}Hand > {l}Carpal2",
        "*{l}ThighBend > {l}ThighTwist > *{l}Shin > *{l}Foot > {l}Metatarsals > {l}Toe",
        ("{l}Pectoral @ chestUpper", "{l}Heel @ {l}Foot", "{l}Ear @ head"),
        ("hip", "abdomenLower", "chestUpper", "neckLower", "head"),
    ),
    Convention(
        "Daz Genesis 9",
        "{l}_shoulder > *{l}_upperarm > *{l}_forearm > *{l}_hand > {l}_midmetacarpal",
        "*{l}_thigh > *{l}_shin > *{l}_foot > {l}_metatarsals > {l}_toes",
        (
            "{l}_upperarmtwist1 @ {l}_upperarm",
            "{l}_forearmtwist1 @ {l}_forearm",
            "{l}_thightwist1 @ {l}_thigh",
            "{l}_pectoral @ spine3",
        ),
        ("hip", "spine1", "spine3", "neck1", "head"),
    ),
    Convention(
        "Character Creator",
        "CC_Base_{L}_Clavicle > *CC_Base_{L}_Upperarm > *CC_Base_{L}_Forearm > *CC_Base_{L}_Hand > CC_Base_{L}_Mid1",
        "*CC_Base_{L}_Thigh > *CC_Base_{L}_Calf > *CC_Base_{L}_Foot > CC_Base_{L}_ToeBase > CC_Base_{L}_Mid_Toe1",
        (
            "CC_Base_{L}_UpperarmTwist01 @ CC_Base_{L}_Upperarm",
            "CC_Base_{L}_ElbowShareBone @ CC_Base_{L}_Forearm",
            "CC_Base_{L}_ForearmTwist01 @ CC_Base_{L}_Forearm",
            "CC_Base_{L}_ThighTwist01 @ CC_Base_{L}_Thigh",
            "CC_Base_{L}_KneeShareBone @ CC_Base_{L}_Calf",
            "CC_Base_{L}_CalfTwist01 @ CC_Base_{L}_Calf",
            "CC_Base_{L}_ToeBaseShareBone @ CC_Base_{L}_Foot",
        ),
        ("CC_Base_Hip", "CC_Base_Waist", "CC_Base_Spine02", "CC_Base_NeckTwist01", "CC_Base_Head"),
    ),
    Convention(
        "Biped",
        "Bip01 {L} Clavicle > *Bip01 {L} UpperArm > *Bip01 {L} Forearm > *Bip01 {L} Hand > Bip01 {L} Finger0",
        "*Bip01 {L} Thigh > *Bip01 {L} Calf > *Bip01 {L} Foot > Bip01 {L} Toe0 > Bip01 {L} Toe0Nub",
        (
            "Bip01 {L} ForeTwist @ Bip01 {L} Forearm",
            "Bip01 {L}UpArmTwist @ Bip01 {L} UpperArm",
            "Bip01 {L} ThighTwist @ Bip01 {L} Thigh",
        ),
        ("Bip01 Pelvis", "Bip01 Spine", "Bip01 Spine1", "Bip01 Neck", "Bip01 Head"),
    ),
    Convention(
        "Source",
        "ValveBiped.Bip01_{L}_Clavicle > *ValveBiped.Bip01_{L}_UpperArm > *ValveBiped.Bip01_{L}_Forearm"
        " > *ValveBiped.Bip01_{L}_Hand > ValveBiped.Bip01_{L}_Finger2",
        "*ValveBiped.Bip01_{L}_Thigh > *ValveBiped.Bip01_{L}_Calf > *ValveBiped.Bip01_{L}_Foot"
        " > ValveBiped.Bip01_{L}_Toe0",
        (
            "ValveBiped.Bip01_{L}_Bicep @ ValveBiped.Bip01_{L}_UpperArm",
            "ValveBiped.Bip01_{L}_Shoulder @ ValveBiped.Bip01_{L}_UpperArm",
            "ValveBiped.Bip01_{L}_Elbow @ ValveBiped.Bip01_{L}_UpperArm",
            "ValveBiped.Bip01_{L}_Ulna @ ValveBiped.Bip01_{L}_Forearm",
            "ValveBiped.Bip01_{L}_Wrist @ ValveBiped.Bip01_{L}_Forearm",
            "ValveBiped.Anim_Attachment_{L}H @ ValveBiped.Bip01_{L}_Hand",
        ),
        (
            "ValveBiped.Bip01_Pelvis",
            "ValveBiped.Bip01_Spine",
            "ValveBiped.Bip01_Spine4",
            "ValveBiped.Bip01_Neck1",
            "ValveBiped.Bip01_Head1",
        ),
    ),
    Convention(
        "MMD",
        "{J}肩P > {J}肩 > {J}肩C > *{J}腕 > {J}腕捩 > *{J}ひじ > {J}手捩 > *{J}手首 > {J}中指１",
        "*{J}足 > *{J}ひざ > *{J}足首 > {J}つま先",
        (
            "{J}腕捩1 @ {J}腕",
            "{J}足IK親",
            "{J}足ＩＫ @ {J}足IK親",
            "{J}つま先ＩＫ @ {J}足ＩＫ",
            "{J}足D @ 下半身 = {J}足",
            "{J}ひざD @ {J}足D = {J}ひざ",
            "{J}足首D @ {J}ひざD = {J}足首",
            "{J}足先EX @ {J}足首D",
            "{J}袖 @ {J}ひじ",
        ),
        ("下半身", "上半身", "上半身2", "首", "頭"),
    ),
    Convention(
        "MMD in Blender",
        "肩.{L} > *腕.{L} > 腕捩.{L} > *ひじ.{L} > 手捩.{L} > *手首.{L} > 中指１.{L}",
        "*足.{L} > *ひざ.{L} > *足首.{L} > つま先.{L}",
        (
            "足ＩＫ.{L}",
            "_dummy_足D.{L} @ 足.{L}",
            "_shadow_足D.{L} @ 下半身",
            "足D.{L} @ 下半身 = 足.{L}",
            "ひざD.{L} @ 足D.{L} = ひざ.{L}",
            "足首D.{L} @ ひざD.{L} = 足首.{L}",
        ),
        ("下半身", "上半身", "上半身2", "首", "頭"),
    ),
    Convention(
        "Synty",
        "Clavicle_{L} > *Shoulder_{L} > *Elbow_{L} > *Hand_{L} > Finger_01",
        "*UpperLeg_{L} > *LowerLeg_{L} > *Ankle_{L} > Ball_{L} > Toes_{L}",
    ),
    Convention(
        "SMPL",
        "{L}_Collar > *{L}_Shoulder > *{L}_Elbow > *{L}_Wrist > {L}_Hand",
        "*{L}_Hip > *{L}_Knee > *{L}_Ankle > {L}_Foot",
        trunk=("Pelvis", "Spine1", "Spine3", "Neck", "Head"),
    ),
    Convention(
        "Advanced Skeleton",
        "Scapula_{L} > *Shoulder_{L} > ShoulderPart1_{L} > *Elbow_{L} > ElbowPart1_{L} > *Wrist_{L}"
        " > MiddleFinger1_{L}",
        "*Hip_{L} > HipPart1_{L} > *Knee_{L} > *Ankle_{L} > Toes_{L} > ToesEnd_{L}",
        trunk=("Root_M", "Spine1_M", "Chest_M", "Neck_M", "Head_M"),
    ),
    Convention(
        "CAT",
        "{L}ArmCollarbone > *{L}Arm1 > *{L}Arm2 > *{L}ArmPalm > {L}ArmDigit21",
        "*{L}Leg1 > *{L}Leg2 > *{L}LegAnkle > {L}LegDigit11",
        trunk=("Pelvis", "Spine1", "Ribcage", "Neck", "Head"),
    ),
    Convention(
        "Numbered joints",
        "*Skeleton_arm_joint_{L}__4_ > *Skeleton_arm_joint_{L}__3_ > *Skeleton_arm_joint_{L}__2_",
        "*leg_joint_{L}_1 > *leg_joint_{L}_2 > *leg_joint_{L}_3 > leg_joint_{L}_5",
        trunk=(
            "Skeleton_torso_joint_1",
            "Skeleton_torso_joint_2",
            "torso_joint_3",
            "Skeleton_neck_joint_1",
            "Skeleton_neck_joint_2",
        ),
    ),
    Convention(
        "No ends", "*arm_{L} > *arm_{L}.001", "*leg_{L} > *leg_{L}.001", trunk=("root", "body", "chest", "neck", "head")
    ),
    Convention(
        "Control rig with a prefix",
        "CTRL_hero_{s}_clavicle > *CTRL_hero_{s}_upper_arm > *CTRL_hero_{s}_fore_arm > *CTRL_hero_{s}_hand",
        "*CTRL_hero_{s}_thigh > *CTRL_hero_{s}_shin > *CTRL_hero_{s}_foot",
        trunk=("CTRL_hero_hips", "CTRL_hero_spine", "CTRL_hero_chest", "CTRL_hero_neck", "CTRL_hero_head"),
    ),
    Convention(
        "Suffix of an importer",
        "shoulder.{l}_Armature > *upper_arm.{l}_Armature > *lowerarm.{l}_Armature > *hand.{l}_Armature"
        " > Finger.{l}_Armature",
        "*thigh.{l}_Armature > *shin.{l}_Armature > *foot.{l}_Armature > toes.{l}_Armature",
        trunk=("pelvis_Armature", "tummy_Armature", "chest_Armature", "neck_Armature", "head_Armature"),
    ),
    Convention(
        "Second Life",
        "mCollar{S} > *mShoulder{S} > *mElbow{S} > *mWrist{S} > mHandMiddle1{S}",
        "*mHip{S} > *mKnee{S} > *mAnkle{S} > mFoot{S} > mToe{S}",
        ("mWing1{S} @ mChest", "mWing2{S} @ mWing1{S}", "mWing3{S} @ mWing2{S}"),
        ("mPelvis", "mTorso", "mChest", "mNeck", "mHead"),
    ),
    Convention(
        "Auto-Rig Pro, exported",
        "shoulder.{l} > *arm_stretch.{l} > *forearm_stretch.{l} > *hand.{l} > c_middle1.{l}",
        "*thigh_stretch.{l} > *leg_stretch.{l} > *foot.{l} > toes_01.{l}",
        ("arm_twist.{l} @ arm_stretch.{l}", "thigh_twist.{l} @ thigh_stretch.{l}", "leg_twist.{l} @ leg_stretch.{l}"),
        ("root.x", "spine_01.x", "spine_03.x", "neck.x", "head.x"),
    ),
    Convention(
        "Fallout",
        "{L}Arm_Collarbone > *{L}Arm_UpperArm > *{L}Arm_ForeArm1 > {L}Arm_ForeArm2 > *{L}Arm_Hand > {L}Arm_Finger11",
        "*{L}Leg_Thigh > *{L}Leg_Calf > *{L}Leg_Foot > {L}Leg_Toe1",
        ("{L}Arm_UpperTwist1 @ {L}Arm_UpperArm", "{L}Arm_UpperArm_skin @ {L}Arm_UpperArm"),
        ("COM", "SPINE1", "Chest", "Neck", "HEAD"),
    ),
    Convention(
        "Skyrim",
        "NPC {L} Clavicle [{L}Clv] > *NPC {L} UpperArm [{L}Uar] > *NPC {L} Forearm [{L}Lar] > *NPC {L} Hand [{L}Hnd]",
        "*NPC {L} Thigh [{L}Thg] > *NPC {L} Calf [{L}Clf] > *NPC {L} Foot [{L}ft ] > NPC {L} Toe0 [{L}Toe]",
        ("NPC {L} UpperarmTwist1 [{L}Ut1] @ NPC {L} UpperArm [{L}Uar]", "NPC {L} Pauldron @ NPC {L} UpperArm [{L}Uar]"),
        ("NPC Pelvis [Pelv]", "NPC Spine [Spn0]", "NPC Spine2 [Spn2]", "NPC Neck [Neck]", "NPC Head [Head]"),
    ),
    Convention(
        "Joints of a Maya rig",
        "{L}_arm_clavicle_JNT > *{L}_arm_shoulder_JNT > *{L}_arm_elbow_JNT > *{L}_arm_wrist_JNT",
        "*{L}_leg_hip_JNT > *{L}_leg_knee_JNT > *{L}_leg_ankle_JNT > {L}_leg_ball_JNT",
        trunk=("C_root_JNT", "C_spine_01_JNT", "C_chest_JNT", "C_neck_JNT", "C_head_JNT"),
    ),
    Convention(
        "Capitals",
        "{L}_CLAVICLE > *{L}_UPPERARM > *{L}_FOREARM > *{L}_HAND",
        "*{L}_THIGH > *{L}_SHIN > *{L}_FOOT > {L}_TOE",
        trunk=("PELVIS", "SPINE", "CHEST", "NECK", "HEAD"),
    ),
    Convention(
        "Words in lower case",
        "{s}collar > *{s}arm > *{s}forearm > *{s}hand",
        "*{s}thigh > *{s}leg > *{s}foot > {s}toe",
    ),
)
