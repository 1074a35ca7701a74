"""Words of the panels."""

from __future__ import annotations

import pytest
from limb_ik.ui.words import own_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("mixamorig:LeftArm", "LeftArm"),
        ("a:b:hand.L", "hand.L"),
        ("forearm.L", "forearm.L"),
        ("odd:", "odd:"),
        (":", ":"),
    ],
)
def test_a_list_shows_what_tells_bones_apart(name: str, shown: str) -> None:
    assert own_name(name) == shown
