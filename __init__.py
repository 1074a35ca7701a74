"""Limb IK: exact inverse kinematics for armatures, live and baked."""

try:
    from .registration import register, unregister
except ModuleNotFoundError as missing:
    if missing.name != "bpy":
        raise
    # Installed without Blender: there is nothing to register with, and the command line says what is missing.

__all__ = ["register", "unregister"]
