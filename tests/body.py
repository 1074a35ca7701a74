"""A figure with arms and legs, as operators meet it."""

from __future__ import annotations

import rigs

S = rigs.BoneSpec


def body_bones() -> list[rigs.BoneSpec]:
    """A figure that faces -Y with two slightly bent arms and legs."""
    bones = [
        S("root", (0, 0, 0), (0, 0.2, 0)),
        S("hips", (0, 0, 1), (0, 0, 1.2), "root"),
        S("spine", (0, 0, 1.2), (0, 0, 1.5), "hips", True),
        S("head", (0, 0, 1.5), (0, 0, 1.75), "spine", True),
    ]
    for side, x in (("L", 1.0), ("R", -1.0)):
        bones += [
            S(f"thigh.{side}", (0.1 * x, 0, 1), (0.1 * x, -0.03, 0.55), "hips"),
            S(f"shin.{side}", (0.1 * x, -0.03, 0.55), (0.1 * x, 0, 0.1), f"thigh.{side}", True),
            S(f"foot.{side}", (0.1 * x, 0, 0.1), (0.1 * x, -0.2, 0.02), f"shin.{side}", True),
            S(f"upper_arm.{side}", (0.2 * x, 0, 1.45), (0.5 * x, 0.02, 1.45), "spine"),
            S(f"forearm.{side}", (0.5 * x, 0.02, 1.45), (0.8 * x, 0, 1.45), f"upper_arm.{side}", True),
            S(f"hand.{side}", (0.8 * x, 0, 1.45), (0.95 * x, 0, 1.45), f"forearm.{side}", True),
        ]
    return bones
