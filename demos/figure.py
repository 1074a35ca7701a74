"""The demo's figure and its stage: spindles hung on bones, balls, a floor, sun and sky.

Adds objects to the scene that is open. Must not pose anything and knows no IK.
"""

from __future__ import annotations

import math
from typing import Any, cast

import bpy
import numpy as np

from ..rig.session import current_scene, pose_bones

RINGS, SEGMENTS = 24, 32
# Thickness of the figure by the first part of a bone's name, metres.
THICKNESS = {
    "spine": 0.135, "spine.001": 0.12, "spine.002": 0.13, "spine.003": 0.15,
    "spine.004": 0.05, "spine.005": 0.05, "spine.006": 0.098,
    "shoulder": 0.055, "upper_arm": 0.048, "forearm": 0.04, "hand": 0.042,
    "thigh": 0.078, "shin": 0.054, "foot": 0.042, "toe": 0.036,
}  # fmt: skip
Colour = tuple[float, float, float, float]
BODY: Colour = (0.36, 0.38, 0.42, 1.0)
LIMB: Colour = (0.02, 0.16, 0.28, 1.0)
REACHING: Colour = (0.9, 0.2, 0.02, 1.0)
BALL: Colour = (0.9, 0.62, 0.02, 1.0)
FLOOR: Colour = (0.78, 0.8, 0.83, 1.0)


def dress(
    obj: bpy.types.Object,
    reaching: frozenset[str],
    ball: bpy.types.Object | None = None,
    *,
    has_floor: bool = True,
) -> None:
    """Hangs a jointed figure on the bones, gives a ball a body, and lights the stage."""
    body, limb, hot = material_of("Body", BODY), material_of("Limb", LIMB), material_of("Reach", REACHING)
    for bone in pose_bones(obj):
        kind = bone.name.removesuffix(".L").removesuffix(".R")
        if kind in THICKNESS:
            material = hot if bone.name in reaching else body if kind.startswith(("spine", "shoulder")) else limb
            hang(obj, bone, THICKNESS[kind], material)
    if ball is not None:
        sphere("Ball", 0.075, material_of("Ball", BALL), ball)
    if has_floor:
        floor()
    light_stage()


def paint(obj: bpy.types.Object, colour: Colour) -> None:
    """Gives a mesh object one colour."""
    cast(bpy.types.Mesh, obj.data).materials.append(material_of(obj.name, colour))


def hang(obj: bpy.types.Object, bone: bpy.types.PoseBone, radius: float, material: bpy.types.Material) -> None:
    """A spindle from the bone's head to its tail; bone children have their origin at the tail."""
    length = bone.bone.length
    verts, faces = _spindle(radius, length)
    mesh = bpy.data.meshes.new(bone.name)
    mesh.from_pydata(verts, [], faces)
    part = add_part(bpy.data.objects.new(f"Figure {bone.name}", mesh), material)
    part.parent, part.parent_type, part.parent_bone = obj, 'BONE', bone.name


def _spindle(radius: float, length: float) -> tuple[list[tuple[float, float, float]], list[tuple[int, ...]]]:
    """An ellipsoid along Y, its far end at the origin, a little longer than the bone so that parts overlap."""
    half = length / 2.0 + 0.3 * radius
    verts: list[tuple[float, float, float]] = []
    for ring in range(RINGS + 1):
        polar = math.pi * ring / RINGS
        wide, along = radius * math.sin(polar) ** 0.75, half * math.cos(polar) - length / 2.0
        verts += [(wide * math.cos(a), along, wide * math.sin(a)) for a in np.linspace(0.0, math.tau, SEGMENTS, False)]
    faces: list[tuple[int, ...]] = []
    for ring in range(RINGS):
        for k in range(SEGMENTS):
            here, there = ring * SEGMENTS, (ring + 1) * SEGMENTS
            faces.append((here + k, here + (k + 1) % SEGMENTS, there + (k + 1) % SEGMENTS, there + k))
    return verts, faces


def sphere(name: str, radius: float, material: bpy.types.Material, parent: bpy.types.Object) -> bpy.types.Object:
    """A ball about the origin of its parent."""
    verts, faces = _spindle(radius, 1.4 * radius)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(x, y + 0.7 * radius, z) for x, y, z in verts], [], faces)
    ball = add_part(bpy.data.objects.new(name, mesh), material)
    ball.parent = parent
    return ball


def add_part(part: bpy.types.Object, material: bpy.types.Material) -> bpy.types.Object:
    """Puts a mesh object into the scene, smooth and of one material."""
    mesh = cast(bpy.types.Mesh, part.data)
    mesh.materials.append(material)
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    current_scene().collection.objects.link(part)
    return part


def material_of(name: str, colour: Colour) -> bpy.types.Material:
    """A material of one colour."""
    material = bpy.data.materials.new(name)
    if material.node_tree is None:  # up to Blender 4.5; later ones have nodes always
        material.use_nodes = True
    inputs = cast(Any, material.node_tree).nodes["Principled BSDF"].inputs
    inputs["Base Color"].default_value = colour
    inputs["Roughness"].default_value = 0.45
    return material


def floor() -> None:
    """A wide, light floor at height 0."""
    mesh = bpy.data.meshes.new("Floor")
    mesh.from_pydata([(-60, -60, 0), (60, -60, 0), (60, 60, 0), (-60, 60, 0)], [], [(0, 1, 2, 3)])
    add_part(bpy.data.objects.new("Floor", mesh), material_of("Floor", FLOOR))


def light_stage() -> None:
    """Sun and sky."""
    light: Any = bpy.data.lights.new("Sun", 'SUN')
    light.energy, light.angle = 1.9, 0.3
    sun = bpy.data.objects.new("Sun", light)
    sun.rotation_euler = (math.radians(24.0), math.radians(-14.0), math.radians(-75.0))
    current_scene().collection.objects.link(sun)
    world = current_scene().world or bpy.data.worlds.new("World")
    if world.node_tree is None:
        world.use_nodes = True
    cast(Any, world.node_tree).nodes["Background"].inputs[0].default_value = (0.9, 0.94, 1.0, 1.0)
    cast(Any, world.node_tree).nodes["Background"].inputs[1].default_value = 0.5
    current_scene().world = world
