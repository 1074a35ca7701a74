"""What single names say; the same word may name several places of a limb."""

from __future__ import annotations

import pytest
from limb_ik.rig.limb_finding.names import noise, read, words
from limb_ik.rig.limb_finding.words import END, GIRDLE, LOWER, UPPER


@pytest.mark.parametrize(
    "name",
    [
        "LeftHand",
        "left_hand",
        "hand.L",
        "hand_l",
        "L_hand",
        "l_hand",
        "lHand",
        "lhand",
        "Bip01 L Hand",
        "Left hand",
        "hand_left",
        "lefthand",
        "HandL",
        "rig:hand_L",
        "Armature|hand.L.001",
        "hand_L_012",
        "左手首",
        "手首.L",
        "hand.Left",
        "HAND_L",
    ],
)
def test_ways_to_write_a_left_hand(name: str) -> None:
    reading = read(name)
    assert reading.side == "L"
    assert END in reading.arm and not reading.leg


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("r_toe.L", "L"),
        ("l_toe.R", "R"),
        ("ball_l", "L"),
        ("heel", ""),
        ("Collar", ""),
        ("lowerarm", ""),
        ("Rear", ""),
        ("Ulna", ""),
    ],
)
def test_letters_that_are_no_side(name: str, side: str) -> None:
    assert read(name).side == side


@pytest.mark.parametrize(
    "name",
    [
        "upperarm_twist_01_l",
        "hand_ik.L",
        "knee_pole.L",
        "MCH-foot_fk.L",
        "upper_arm_tweak.L",
        "thigh_parent.L",
        "LeftHandThumb1",
        "RightHandEnd",
        "腕捩.L",
        "__UpLeg_L",
        "handslot.l",
        "hand slot l",
        "calf_correctiveRoot_l",
        "LeftInHandIndex",
        "shoulderpad_l",
    ],
)
def test_helpers_and_fingers_have_no_place_in_a_limb(name: str) -> None:
    reading = read(name)
    assert not reading.is_exact or not (reading.arm or reading.leg)


def test_the_same_word_has_several_places() -> None:
    assert read("LeftLeg").leg.keys() == {UPPER, LOWER, END}
    assert read("LeftShoulder").arm.keys() == {GIRDLE, UPPER}


def test_arm_and_leg_before_another_word_only_say_which_limb() -> None:
    assert read("LArm_ForeArm1").arm.keys() == {LOWER}
    assert read("L_leg_hip_JNT").leg == read("hip_L").leg
    assert read("LLegAnkle").leg.keys() == {END}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mixamorig:LeftUpLeg", ("left", "up", "leg")),
        ("ValveBiped.Bip01_L_UpperArm", ("valve", "biped", "bip", "01", "l", "upper", "arm")),
        ("lShldrBend", ("l", "shldr", "bend")),
        ("LHipJoint", ("l", "hip", "joint")),
        ("lefthand", ("left", "hand")),
        ("左足ＩＫ", ("左", "足", "ik")),
        ("NPC L Foot [Lft ]", ("npc", "l", "foot")),
        ("[hand]", ("hand",)),
        ("", ()),
    ],
)
def test_words(name: str, expected: tuple[str, ...]) -> None:
    assert words(name) == expected


def test_noise_is_what_most_names_share_but_no_limb_and_no_side() -> None:
    names = [f"Grumpy_{word}_L" for word in ("arm", "arm1", "arm2", "arm3", "spine", "head", "hand", "foot")]
    assert noise(names) == {"grumpy"}
    assert noise(names[:3]) == frozenset()


@pytest.mark.parametrize("name", ["Node_13", "Bone.001", "joint5", "Bone.L", "b_12_R", "Object_7"])
def test_names_that_say_nothing(name: str) -> None:
    assert read(name).is_silent


@pytest.mark.parametrize("name", ["spine.003", "side_fin.L", "hand_ik", "thigh.L", "HairBall_L"])
def test_names_that_say_something(name: str) -> None:
    assert not read(name).is_silent
