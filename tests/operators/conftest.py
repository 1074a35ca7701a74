"""A body with arms and legs, as operators meet it."""

from __future__ import annotations

import bpy
import pytest

import rigs
from body import body_bones


@pytest.fixture
def body(blank: None) -> bpy.types.Object:
    """An armature object "Body" with two arms and two legs."""
    return rigs.build(body_bones(), "Body")
