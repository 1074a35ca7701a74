"""Arms and legs are found by names, by place in the chain, and by shape where there are no names."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import bpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.rig.limbs import Limb, RestBone, collapsed, find_limbs, rest_skeleton
from mathutils import Euler, Matrix, Vector

from . import naming
from .naming import CONVENTIONS, Convention, skeleton
from .skeletons import DATA, bones, fixture, needs_data

BY_NAME = {convention.name: convention for convention in CONVENTIONS}

Row = tuple[str, str, str, str, str | None, tuple[str, ...], tuple[str, ...]]


def path(limb: Limb) -> tuple[str, ...]:
    """Bones from upper to end."""
    whole = (limb.upper, *limb.between_upper_lower, limb.lower, *limb.between_lower_end)
    return (*whole, limb.end) if limb.end is not None else whole


def row(limb: Limb) -> Row:
    """What a file's answers hold of a limb."""
    return (
        limb.kind,
        limb.side,
        limb.upper,
        limb.lower,
        limb.end,
        limb.between_upper_lower,
        limb.between_lower_end,
    )


@pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda convention: convention.name)
def test_every_naming_convention(convention: Convention) -> None:
    limbs = find_limbs(skeleton(convention))
    assert [(limb.kind, limb.side, path(limb)) for limb in limbs] == naming.expected(convention)
    assert [(limb.upper, limb.lower, limb.end) for limb in limbs] == naming.triples(convention)
    assert all(limb.bones == (limb.upper, *limb.between_upper_lower, limb.lower) for limb in limbs)


@pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda convention: convention.name)
def test_the_order_of_bones_does_not_matter(convention: Convention) -> None:
    forwards = skeleton(convention)
    assert {row(limb) for limb in find_limbs(forwards[::-1])} == {row(limb) for limb in find_limbs(forwards)}


def _answers() -> dict[str, set[Row]]:
    """What is right for each file; sides that nobody knows (``a``, ``b``) are empty."""
    answers: dict[str, set[Row]] = {}
    for file, entry in json.loads((DATA / "limbs.json").read_text(encoding="utf-8")).items():
        answers[file] = {
            (
                limb["kind"],
                limb["side"] if limb["side"] in ("L", "R") else "",
                limb["upper"],
                limb["lower"],
                limb["end"],
                tuple(limb["between_upper_lower"]),
                tuple(limb["between_lower_end"]),
            )
            for armature in entry["armatures"]
            for limb in armature["limbs"]
        }
    return answers


def _unlisted(file: str, found: set[Row]) -> set[Row]:
    """What is right but not in the answers: the Fox's hind legs."""
    return {limb for limb in found if limb[0] == "leg"} if file.endswith("Fox.glb") else set()


@needs_data
def test_every_file_with_a_known_answer() -> None:
    wrong: list[str] = []
    seen = 0
    for file, answer in _answers().items():
        for bodies in _skeletons(file):
            seen += 1
            found = {row(limb) for limb in find_limbs(bodies)}
            if found - _unlisted(file, found) != answer:
                wrong.append(f"{file}: {sorted(map(str, found ^ answer))}")
    assert not wrong, "\n".join(wrong)
    assert seen >= 24  # a file without an armature (a .vrma) has none to look at


def _skeletons(file: str) -> list[tuple[RestBone, ...]]:
    """The armatures of a file: from its fixture, or out of the .blend."""
    written = DATA / "fixtures" / f"{Path(file).name}.json"
    if written.is_file():
        return [fixture(written)]
    if not file.endswith(".blend"):
        return []
    with bpy.data.libraries.load(str(DATA / file)) as (source, target):
        target.armatures = source.armatures
    found = [rest_skeleton(armature) for armature in target.armatures]
    for armature in target.armatures:
        bpy.data.armatures.remove(armature)
    return found


@needs_data
def test_the_fox_has_hind_legs_of_three_bones() -> None:
    legs = [limb for limb in find_limbs(fixture(DATA / "fixtures/Fox.glb.json")) if limb.kind == "leg"]
    assert [limb.bones for limb in legs] == [
        ("b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017"),
        ("b_RightLeg01_019", "b_RightLeg02_020", "b_RightFoot01_021"),
    ]
    assert [limb.end for limb in legs] == ["b_LeftFoot02_018", "b_RightFoot02_022"]


@pytest.mark.parametrize(
    "rows",
    [
        ("root", "bone < root: 0 0 1"),
        (
            "spine",
            "shoulder.L < spine: .1 0 1",
            "side_fin.L < shoulder.L: .3 0 1",
            "side_fin.L.001 < side_fin.L: .6 0 .8",
            "shoulder.R < spine: -.1 0 1",
            "side_fin.R < shoulder.R: -.3 0 1",
            "side_fin.R.001 < side_fin.R: -.6 0 .8",
        ),
        (
            "spine",
            "Wing.L < spine: .1 0 1",
            "Wing.001.L < Wing.L: .4 0 1",
            "Wing.002.L < Wing.001.L: .8 0 1",
            "Wing.R < spine: -.1 0 1",
            "Wing.001.R < Wing.R: -.4 0 1",
            "Wing.002.R < Wing.001.R: -.8 0 1",
        ),
        ("tail", "tail.001 < tail: 0 1 1", "tail.002 < tail.001: 0 2 1", "tail.003 < tail.002: 0 3 1"),
        ("thigh_ik.L", "shin_ik.L < thigh_ik.L: 0 0 .5", "foot_ik.L < shin_ik.L: 0 0 0", "knee_pole.L: 0 -1 .5"),
        ("hand.L", "hand_end.L < hand.L: 0 0 .5", "foot.L: 1 0 0", "foot_end.L < foot.L: 1 0 0"),
        ("car", "wheel_front_l < car: 1 1 0", "wheel_front_r < car: -1 1 0", "door_l < car: 1 0 1"),
    ],
    ids=["prop", "shark", "bird", "tail", "IK bones", "ends alone", "car"],
)
def test_what_has_no_limbs_gets_none(rows: tuple[str, ...]) -> None:
    assert find_limbs(bones(*rows)) == []


def test_no_bones_no_limbs() -> None:
    assert find_limbs(()) == []


@pytest.mark.parametrize("convention", ["Mixamo", "Unreal 5", "VRM (VRoid)", "MMD"])
def test_hair_skirts_tails_and_wings_beside_limbs_are_none(convention: str) -> None:
    body = list(skeleton(BY_NAME[convention]))
    head, hips, chest = (BY_NAME[convention].trunk[at] for at in (4, 0, 2))
    for name, parent, z in (
        ("Hair", head, 1.7),
        ("Skirt", hips, 0.9),
        ("Tail", hips, 1.0),
        ("Wing", chest, 1.4),
        ("Bone", head, 1.8),
    ):
        for side, x in (("L", 0.1), ("R", -0.1)):
            above = parent
            for at in range(4):
                one = RestBone(
                    f"{name}_{at}.{side}",
                    above,
                    (x * (1 + at), 0.1, z - 0.2 * at),
                    (x * (2 + at), 0.1, z - 0.2 * at - 0.2),
                )
                body.append(one)
                above = one.name
    assert find_limbs(body) == find_limbs(skeleton(BY_NAME[convention]))


def test_of_fk_original_and_deform_bones_the_fk_ones_are_taken() -> None:
    rows = ["root: 0 0 1"]
    for mark in ("DEF-{}.L", "{}.L", "ORG-{}.L", "{}_fk.L", "{}_ik.L", "MCH-{}.L"):
        thigh, shin, foot = (mark.format(word) for word in ("thigh", "shin", "foot"))
        rows += [f"{thigh} < root: .1 0 1", f"{shin} < {thigh}: .1 -.03 .5", f"{foot} < {shin}: .1 0 .1"]
    assert [path(limb) for limb in find_limbs(bones(*rows))] == [("thigh_fk.L", "shin_fk.L", "foot_fk.L")]


def test_mechanism_bones_may_stand_between_but_forbid_turning_three() -> None:
    rows = (
        "thigh_fk.L: .1 .3 .74",
        "shin_fk.L < thigh_fk.L: .1 .27 .47",
        "MCH-foot_fk.L < shin_fk.L: .1 .48 .25",
        "foot_fk.L < MCH-foot_fk.L: .1 .48 .25",
        "toe_fk.L < foot_fk.L: .1 .41 .04",
    )
    (limb,) = find_limbs(bones(*rows))
    assert path(limb) == ("thigh_fk.L", "shin_fk.L", "MCH-foot_fk.L", "foot_fk.L")
    assert limb.bones == ("thigh_fk.L", "shin_fk.L") and not limb.is_creature and limb.tip == "shin_fk.L"


def test_a_bone_that_leads_to_the_thigh_is_not_the_thigh() -> None:
    rows = (
        "hips",
        "thigh0.L < hips: 0 0 1",
        "thigh1.L < thigh0.L: .2 0 1",
        "shin.L < thigh1.L: .2 0 .5",
        "foot.L < shin.L: .2 0 0",
    )
    assert [path(limb) for limb in find_limbs(bones(*rows))] == [("thigh1.L", "shin.L", "foot.L")]


def test_words_that_nobody_knows_make_a_bone_no_limb_where_another_is_clear() -> None:
    rows = ["hips: 0 0 1", "thigh_l < hips: .1 0 1", "shin_l < thigh_l: .1 0 .5", "foot_l < shin_l: .1 0 0"]
    rows += ["kilt_thigh_l < hips: .3 0 1", "kilt_shin_l < kilt_thigh_l: .3 0 .5", "kilt_foot_l < kilt_shin_l: .3 0 0"]
    assert [limb.upper for limb in find_limbs(bones(*rows))] == ["thigh_l"]
    assert [limb.upper for limb in find_limbs(bones(rows[0], *rows[4:]))] == ["kilt_thigh_l"]


def test_a_vaguely_named_chain_is_no_second_leg() -> None:
    rows = ["hips: 0 0 1", "thigh_l < hips: .1 0 1", "shin_l < thigh_l: .1 0 .5", "foot_l < shin_l: .1 0 0"]
    rows += ["stool: 2 0 0", "leg_l < stool: 2 0 1", "leg_l.001 < leg_l: 2 0 .5"]
    assert [limb.upper for limb in find_limbs(bones(*rows))] == ["thigh_l"]


def test_bones_too_far_apart_are_no_limb() -> None:
    rows = [
        "thigh_l: 0 0 1",
        *(f"mid{at} < {'mid' + str(at - 1) if at else 'thigh_l'}: 0 0 {0.9 - at * 0.05}" for at in range(7)),
    ]
    assert find_limbs(bones(*rows, "shin_l < mid6: 0 0 .5", "foot_l < shin_l: 0 0 0")) == []
    assert len(find_limbs(bones(*rows[:4], "shin_l < mid2: 0 0 .5", "foot_l < shin_l: 0 0 0"))) == 1


@pytest.mark.parametrize("noise", [0.0, 1e-7, -1e-7])
@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_of_several_palms_the_middle_one_ends_the_arm(spread: float, noise: float) -> None:
    rows = ["UpperArm.L: 0 0 0", "LowerArm.L < UpperArm.L: 1 0 0"]
    for palm, side in (("Palm1.L", 1.0), ("Palm3.L", -1.0), ("Palm2.L", noise)):
        rows += [f"{palm} < LowerArm.L: 2 {side * spread} {noise}", f"Finger{palm} < {palm}: 2.5 {side * 0.2} {noise}"]
    assert [limb.end for limb in find_limbs(bones(*rows))] == ["Palm2.L"]


def test_a_leg_whose_foot_hangs_elsewhere_has_no_end() -> None:
    rows = ("root", "UpperLeg.L < root: .1 0 1", "LowerLeg.L < UpperLeg.L: .1 0 .5", "Foot.L < root: .1 0 0")
    assert [row(limb) for limb in find_limbs(bones(*rows))] == [("leg", "L", "UpperLeg.L", "LowerLeg.L", None, (), ())]


def test_front_and_hind_legs_of_a_wolf() -> None:
    rows = ["spine: 0 .4 .8", "chest < spine: 0 -.1 .8"]
    for side, x in (("R", -0.12), ("L", 0.12)):
        rows += [
            f"thigh.{side} < spine: {x} .34 .74",
            f"shin.{side} < thigh.{side}: {x} .27 .47",
            f"foot.{side} < shin.{side}: {x} .48 .25",
            f"toe.{side} < foot.{side}: {x} .41 .04",
            f"front_thigh.{side} < chest: {x} -.32 .69",
            f"front_shin.{side} < front_thigh.{side}: {x} -.22 .44",
            f"front_foot.{side} < front_shin.{side}: {x} -.21 .17",
            f"front_toe.{side} < front_foot.{side}: {x} -.25 .04",
        ]
    assert [(limb.side, limb.bones, limb.end) for limb in find_limbs(bones(*rows))] == [
        (s, (f"{f}thigh.{s}", f"{f}shin.{s}", f"{f}foot.{s}"), f"{f}toe.{s}") for s in "LR" for f in ("", "front_")
    ]


def test_a_hoof_lengthens_the_leg_to_four_bones() -> None:
    rows = (
        "thigh.L: .2 .62 1.41",
        "lower_leg.L < thigh.L: .2 .56 1.03",
        "hind_foot.L < lower_leg.L: .2 .76 .61",
        "r_toe.L < hind_foot.L: .2 .69 .2",
        "r_hoof.L < r_toe.L: .2 .63 .11",
    )
    (limb,) = find_limbs(bones(*rows))
    assert limb.bones == ("thigh.L", "lower_leg.L", "hind_foot.L", "r_toe.L") and limb.end == "r_hoof.L"
    assert limb.is_creature and limb.tip == "r_toe.L"


def test_eight_legs_are_eight_limbs() -> None:
    rows = ["body: 0 0 1"]
    for at in range(4):
        for side, x in (("L", 1), ("R", -1)):
            y = at * 0.3
            rows += [
                f"thigh{at}.{side} < body: {0.1 * x} {y} 1",
                f"shin{at}.{side} < thigh{at}.{side}: {0.8 * x} {y} 1.4",
                f"foot{at}.{side} < shin{at}.{side}: {1.4 * x} {y} 0",
            ]
    assert [limb.side for limb in find_limbs(bones(*rows))] == ["L"] * 4 + ["R"] * 4


@pytest.mark.parametrize("turn", [0.0, 90.0, 180.0])
def test_sides_that_no_name_says_come_from_where_the_body_faces(turn: float) -> None:
    rows = ["hips: 0 0 1"]
    for mark, x in (("", 0.1), (".001", -0.1)):
        rows += [
            f"thigh{mark} < hips: {x} 0 .9",
            f"shin{mark} < thigh{mark}: {x} -.02 .5",
            f"foot{mark} < shin{mark}: {x} 0 .1",
            f"toe{mark} < foot{mark}: {x} -.15 0",
        ]
    turned = Matrix.Rotation(math.radians(turn), 4, "Z")
    limbs = find_limbs(tuple(replace(b, head=tuple(turned @ Vector(b.head))) for b in bones(*rows)))
    assert [(limb.side, limb.upper) for limb in limbs] == [("L", "thigh"), ("R", "thigh.001")]


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(CONVENTIONS),
    st.tuples(*[st.floats(-3.1, 3.1)] * 3),
    st.floats(-4.0, 4.0),
    st.tuples(*[st.floats(-10.0, 10.0)] * 3),
)
def test_turning_scaling_and_moving_changes_nothing(
    convention: Convention, turn: tuple[float, float, float], power: float, move: tuple[float, float, float]
) -> None:
    place = Matrix.LocRotScale(Vector(move), Euler(turn), Vector((1.0, 1.0, 1.0)) * 10.0**power)
    moved = tuple(
        replace(b, head=tuple(place @ Vector(b.head)), tail=tuple(place @ Vector(b.tail))) for b in skeleton(convention)
    )
    assert find_limbs(moved) == find_limbs(skeleton(convention))


def test_a_prefix_on_every_bone_is_dropped() -> None:
    plain = skeleton(BY_NAME["Unity"])
    named = tuple(replace(b, name=f"Grumpy_{b.name}", parent=f"Grumpy_{b.parent}" if b.parent else None) for b in plain)
    assert [limb.upper for limb in find_limbs(named)] == [f"Grumpy_{limb.upper}" for limb in find_limbs(plain)]


def test_a_collapsed_limb_is_seen_and_a_short_one_is_not() -> None:
    body = skeleton(BY_NAME["Unity"])
    arm = find_limbs(body)[0]
    assert not collapsed(arm, body)
    flat = tuple(
        replace(b, head=next(o.head for o in body if o.name == arm.upper)) if b.name == arm.lower else b for b in body
    )
    assert collapsed(arm, flat)


@needs_data
def test_no_file_rests_collapsed() -> None:
    for file in sorted((DATA / "fixtures").glob("*.json")):
        bodies = fixture(file)
        assert not any(collapsed(limb, bodies) for limb in find_limbs(bodies)), file.name


def test_chains_of_thousands_of_bones_are_read() -> None:
    rope = [
        RestBone(f"arm_L.{at:04}", f"arm_L.{at - 1:04}" if at else None, (0.0, 0.0, at), (0.0, 0.0, at + 1.0))
        for at in range(200)
    ]
    (limb,) = find_limbs(rope)
    assert path(limb) == ("arm_L.0000", "arm_L.0001", "arm_L.0002")
    plain = [
        RestBone(f"Bone.{at:04}", f"Bone.{at - 1:04}" if at else None, (0.0, 0.0, at), (0.0, 0.0, at + 1.0))
        for at in range(2400)
    ]
    assert find_limbs(plain) == []


def test_rest_skeleton_reads_an_armature(empty_file: None) -> None:
    data = bpy.data.armatures.new("rig")
    rig = bpy.data.objects.new("rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in (
        ("thigh.L", None, (0, 0, 1), (0, 0, 0.5)),
        ("shin.L", "thigh.L", (0, 0, 0.5), (0, 0, 0)),
    ):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    thigh, shin = rest_skeleton(data)
    assert (thigh.name, thigh.parent, shin.parent) == ("thigh.L", None, "thigh.L")
    assert shin.head == pytest.approx((0, 0, 0.5)) and shin.tail == pytest.approx((0, 0, 0))
    assert shin.matrix == pytest.approx([n for r in data.bones["shin.L"].matrix_local for n in r])
    assert [limb.upper for limb in find_limbs((thigh, shin))] == ["thigh.L"]
