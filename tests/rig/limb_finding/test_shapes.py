"""Where names say nothing, the shape of a skeleton shows its limbs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.rig.limb_finding.shapes import is_steep_foot
from limb_ik.rig.limb_finding.skeleton import RestBone
from limb_ik.rig.limbs import find_limbs
from mathutils import Euler, Matrix, Vector

from .. import naming
from ..naming import CONVENTIONS, skeleton
from ..skeletons import DATA, bones, fixture, nameless, needs_data

BY_NAME = {convention.name: convention for convention in CONVENTIONS}

NAMELESS = (
    "CesiumMan.glb",
    "Godette_vrm_v4.vrm",
    "cmu1_jumping_jacks.bvh",
    "fair1_dab.bvh",
    "kaykit_Med_MovementBasic.glb",
    "makehuman_walk1.bvh",
    "mpfb_game_engine.blend",
    "mpfb_mixamo.blend",
    "olafhaag_walk01.bvh",
    "ozz_pab_walk.fbx",
    "raylib_guy.blend",
)
"""Files whose shape alone shows their limbs. Not there: RobotExpressive and MakeHuman's default rig (halves of
bones look like bones), Rokoko (its rest pose lays all bones along one line), the Fox (its arms are legs)."""


@needs_data
@pytest.mark.parametrize("file", NAMELESS)
def test_shape_finds_the_same_limbs_without_names(file: str) -> None:
    named = fixture(DATA / "fixtures" / f"{file}.json")
    plain, back = nameless(named)
    found = {
        (limb.kind, back[limb.upper], back[limb.lower], back[limb.end] if limb.end else None)
        for limb in find_limbs(plain)
    }
    assert found == {(limb.kind, limb.upper, limb.lower, limb.end) for limb in find_limbs(named)}
    assert all(limb.side == "" for limb in find_limbs(plain))


def test_shape_finds_a_nameless_human_and_takes_sides_from_suffixes() -> None:
    plain, back = nameless(skeleton(BY_NAME["Unity"]))
    limbs = find_limbs(plain)
    assert {(limb.kind, back[limb.upper], back[limb.lower], back[str(limb.end)]) for limb in limbs} == {
        (kind, whole[0], whole[1], whole[2]) for kind, _, whole in naming.expected(BY_NAME["Unity"])
    }
    suffix = {
        bone.name: f"{bone.name}.{back[bone.name][0]}" if back[bone.name][0] in "LR" else bone.name for bone in plain
    }
    sided = tuple(replace(b, name=suffix[b.name], parent=suffix.get(b.parent or "")) for b in plain)
    assert [(limb.kind, limb.side) for limb in find_limbs(sided)] == [
        ("arm", "L"),
        ("arm", "R"),
        ("leg", "L"),
        ("leg", "R"),
    ]


def chain(
    name: str, parent: str, *heads: tuple[float, float, float], tail: tuple[float, float, float]
) -> list[RestBone]:
    """A row of bones and its mirror image."""
    found = []
    for side, sign in (("p", 1.0), ("q", -1.0)):
        above = parent
        for at, (x, y, z) in enumerate(heads):
            x_tail, y_tail, z_tail = heads[at + 1] if at + 1 < len(heads) else tail
            one = RestBone(f"{name}{side}{at}", above, (sign * x, y, z), (sign * x_tail, y_tail, z_tail))
            found.append(one)
            above = one.name
    return found


def test_strands_that_nothing_ends_and_further_pairs_are_no_arms() -> None:
    plain, back = nameless(skeleton(BY_NAME["Unity"]))
    head, chest = (next(new for new, old in back.items() if old == name) for name in ("Head", "Chest"))
    strands = chain("u", head, (0.1, 0.1, 1.8), (0.7, 0.1, 1.8), tail=(1.4, 0.1, 1.8))
    wings = chain("v", chest, (0.1, 0.1, 1.4), (0.3, 0.2, 1.5), (0.5, 0.3, 1.5), tail=(0.6, 0.3, 1.5))
    assert find_limbs([*plain, *strands, *wings]) == find_limbs(plain)


TRUNK = ("b0: 0 0 1", "b1 < b0: 0 0 1.3", "b2 < b1: 0 0 1.6", "b3 < b2: 0 0 1.8")


def test_one_pair_alone_is_told_by_the_rest_of_the_body() -> None:
    legs = chain("u", "b0", (0.1, 0.0, 0.9), (0.1, 0.0, 0.5), (0.1, 0.0, 0.1), tail=(0.1, -0.1, 0.0))
    arms = chain("u", "b2", (0.2, 0.0, 1.5), (0.5, 0.0, 1.5), (0.8, 0.0, 1.5), tail=(0.9, 0.0, 1.5))
    ears = chain("v", "b3", (0.05, 0.0, 1.8), (0.07, 0.0, 1.85), (0.07, 0.0, 1.9), tail=(0.07, 0.0, 1.92))
    assert [(limb.kind, limb.upper) for limb in find_limbs([*bones(*TRUNK), *legs, *ears])] == [
        ("leg", "up0"),
        ("leg", "uq0"),
    ]
    assert [(limb.kind, limb.upper) for limb in find_limbs([*bones(*TRUNK), *arms, *ears])] == [
        ("arm", "up0"),
        ("arm", "uq0"),
    ]


def test_two_chains_that_are_no_mirror_images_are_no_limbs() -> None:
    bent_and_straight = ("b0: 0 0 0", "u0 < b0: 0 0 .1", "u1 < u0: 0 0 .5", "u2 < u1: 0 .4 .5",
                    "v0 < b0: .1 0 0", "v1 < v0: .5 0 0", "v2 < v1: .9 0 0")  # fmt: skip
    assert find_limbs(bones(*bent_and_straight)) == []
    leg = ("b0: 0 0 1", "u0 < b0: .1 0 .9", "u1 < u0: .1 0 .5", "u2 < u1: .1 0 .1")
    tail = [f"v{at} < {'v' + str(at - 1) if at else 'b0'}: -.1 0 {0.9 - 0.4 * at}" for at in range(9)]
    assert find_limbs(bones(*leg, *tail)) == []


def _quadruped() -> tuple[RestBone, ...]:
    rows = [
        "b0: 0 0.5 1",
        "b1 < b0: 0 0.2 1",
        "b2 < b1: 0 -0.3 1",
        "b3 < b2: 0 -0.6 1.2",
        "t1 < b0: 0 0.8 0.9",
        "t2 < t1: 0 1.1 0.8",
    ]
    for side, x in (("p", 0.12), ("q", -0.12)):
        for mark, parent, y in (("h", "b0", 0.5), ("f", "b2", -0.3)):
            rows += [
                f"{mark}{side}1 < {parent}: {x} {y} 0.9",
                f"{mark}{side}2 < {mark}{side}1: {x} {y - 0.08} 0.6",
                f"{mark}{side}3 < {mark}{side}2: {x} {y + 0.08} 0.3",
                f"{mark}{side}4 < {mark}{side}3: {x} {y} 0.03",
            ]
    return bones(*rows)


def test_a_nameless_creature_has_four_legs_and_no_tail() -> None:
    limbs = find_limbs(_quadruped())
    assert {limb.kind for limb in limbs} == {"leg"}
    assert {limb.bones for limb in limbs} == {(f"{m}{s}1", f"{m}{s}2", f"{m}{s}3") for m in "hf" for s in "pq"}
    assert {limb.end for limb in limbs} == {f"{m}{s}4" for m in "hf" for s in "pq"}


@settings(max_examples=15, deadline=None)
@given(st.tuples(*[st.floats(-3.1, 3.1)] * 3), st.floats(-3.0, 3.0))
def test_shape_does_not_depend_on_the_axes_of_the_armature(turn: tuple[float, float, float], power: float) -> None:
    place = Matrix.LocRotScale(None, Euler(turn), Vector((1.0, 1.0, 1.0)) * 10.0**power)
    plain, _ = nameless(skeleton(BY_NAME["Unity"]))
    moved = tuple(replace(b, head=tuple(place @ Vector(b.head)), tail=tuple(place @ Vector(b.tail))) for b in plain)
    assert set(find_limbs(moved)) == set(find_limbs(plain))


@pytest.mark.parametrize(
    ("degrees", "length", "is_steep"),
    [
        (10.0, 0.4, True),
        (30.0, 0.4, True),
        (45.0, 0.4, False),
        (60.0, 0.4, False),
        (0.0, 0.15, False),
        (90.0, 0.4, False),
    ],
)
def test_which_feet_are_one_more_bone(degrees: float, length: float, is_steep: bool) -> None:
    angle = math.radians(degrees)
    foot = Vector((0.0, -math.sin(angle), -math.cos(angle))) * length
    assert is_steep_foot(Vector((0.0, 0.0, 1.0)), Vector((0.0, 0.0, 0.5)), Vector(), foot) is is_steep
