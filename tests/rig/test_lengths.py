"""Lengths in messages are those that Blender shows beside them."""

from __future__ import annotations

import math

import bpy
import pytest
from limb_ik.bake.baking import bake
from limb_ik.bake.options import BakeOptions
from limb_ik.rig.lengths import in_words

import rigs

pytestmark = pytest.mark.usefixtures("blank")

# Unit system, unit scale, and how half a unit of the world is shown.
SHOWN = [
    ("METRIC", 1.0, "50 cm"),
    ("METRIC", 0.01, "5 mm"),
    ("METRIC", 1000.0, "500 m"),
    ("IMPERIAL", 0.3048, "6\""),
    ("NONE", 1.0, "0.5"),
    ("NONE", 0.01, "0.5"),
]


@pytest.mark.parametrize(("system", "scale", "words"), SHOWN)
def test_a_length_is_shown_in_the_units_of_the_scene(system: str, scale: float, words: str) -> None:
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = system, scale
    assert in_words(0.5) == words


@pytest.mark.parametrize(("system", "scale"), [row[:2] for row in SHOWN])
def test_a_chain_says_what_it_is_short_by_in_them(system: str, scale: float) -> None:
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = system, scale
    obj = rigs.l2b()
    tip = rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.0, 0.0, 5.0)))
    rigs.update()
    assert tip.limb_ik_message == f"short by {in_words(tip.limb_ik_error)}: target out of reach"


@pytest.mark.parametrize(("system", "scale"), [("METRIC", 0.01), ("IMPERIAL", 1.0), ("NONE", 1.0), ("NONE", 0.01)])
def test_a_bake_says_what_few_keys_miss_in_them(system: str, scale: float) -> None:
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = system, scale
    obj, target = rigs.l2b(), rigs.empty("T")
    for frame in range(1, 31):
        rigs.key_location(target, frame, (0.3, -0.4, 1.1 + 0.2 * math.sin(frame / 4)))
    rigs.add_chain_by_properties(obj, "lo", target)
    report = bake(bpy.context, [obj], BakeOptions(1, 30, reduce=0.05 * scale))
    missed = report.error if system != "NONE" else report.error / scale
    assert missed > 0.0
    words = bpy.utils.units.to_string(system, "LENGTH", missed, precision=3).strip()
    assert f"before reducing, joints off by {words} at most" in report.sentence()
