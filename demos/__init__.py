"""Scenes that show what Limb IK does: made by code, solved, measured and rendered."""
