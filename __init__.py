"""Limb IK: exact inverse kinematics for armatures, live and baked."""

from . import registration


def register() -> None:
    registration.register()


def unregister() -> None:
    registration.unregister()
