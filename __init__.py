"""Limb IK: exact inverse kinematics for armatures, live and baked."""

from .registration import register, unregister

__all__ = ["register", "unregister"]
