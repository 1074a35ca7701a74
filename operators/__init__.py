"""Thin operators; the work is done by plain functions in rig/ and bake/."""

CLASSES: tuple[type, ...] = ()
