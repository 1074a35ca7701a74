"""The links of chains in the variables of a rig's two drivers: written there, read back as Blender has followed them.

Blender renames bones in drivers and not in texts. It copies about 1 KB for each variable whenever a rig is
evaluated, so there are few: those of the number name targets, poles and grounds anyway, and one of the muted
twin names two bones. This module must not change a setting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import bpy

from .session import pose_bones

Place = tuple[bpy.types.Object | None, str]
"""An object, or a bone of an armature object (empty: the object itself)."""
# The links of a chain, and what was made for it: role -> (setting that names the object or None for the rig itself,
# setting that names the bone).
ROLES: dict[str, tuple[str | None, str | None]] = {
    "root": (None, "root"),
    "end": (None, "end_bone"),
    "target": ("target", "target_bone"),
    "pole": ("pole", "pole_bone"),
    "ground": ("ground", None),
    "owntarget": ("own_target", "own_target_bone"),
    "ownpole": ("own_pole", "own_pole_bone"),
}
EVALUATED = ("target", "pole", "ground")
"""What Blender has to evaluate for a chain: in the number, numbered by chain."""
MADE = {"target": "owntarget", "pole": "ownpole"}
"""What was made for a chain, which most often is what it reaches for: then the variable of that says so."""
BONES, ENDS, OWN = "bones", "ends", "own"
ABOVE = "above"
"""What the chains of other rigs need, on whose bones those of this rig hang."""


class Named(NamedTuple):
    """One link of a chain as a driver names it now. ``tip``: the chain's, a pose bone."""

    tip: Any
    role: str
    target: bpy.types.Object | None
    bone_name: str


def place_of(tip: Any, role: str) -> Place:
    """What a chain's settings name in a role."""
    object_setting, bone_setting = ROLES[role]
    target = getattr(tip, f"limb_ik_{object_setting}") if object_setting else tip.id_data
    return target, getattr(tip, f"limb_ik_{bone_setting}") if bone_setting else ""


def write(tips: Sequence[Any], number: Any, names: Any) -> None:
    """Name the links of all chains of a rig in its two drivers, which have no variables."""
    for count, tip in enumerate(tips):
        for role in EVALUATED:
            is_made = role in MADE and place_of(tip, role) == place_of(tip, MADE[role])
            _add_place(number, f"{role}_{count}" + f"_{OWN}" * is_made, place_of(tip, role))
            if role in MADE and not is_made:
                _add_place(names, f"{MADE[role]}_{count}", place_of(tip, MADE[role]))
        _add_two(names, f"{BONES}_{count}", tip.id_data, (tip.name, tip.limb_ik_root))
    ends = [(count, tip.limb_ik_end_bone) for count, tip in enumerate(tips) if tip.limb_ik_end_bone]
    for first, second in zip(ends[::2], [*ends[1::2], (0, "")], strict=False):
        _add_two(names, f"{ENDS}_{first[0]}_{second[0]}", tips[0].id_data, (first[1], second[1]))


def write_above(number: Any, places: Iterable[Place]) -> bool:
    """Name in a rig's number what is needed for those that it hangs on; returns whether something else was named."""
    found, wanted = [one for one in number.driver.variables if one.name.startswith(ABOVE)], list(places)
    if [(one.targets[0].id, one.targets[0].bone_target) for one in found] == wanted:
        return False
    for one in found[::-1]:
        number.driver.variables.remove(one)
    for count, place in enumerate(wanted):
        _add_place(number, f"{ABOVE}_{count}", place)
    return True


def _add_place(curve: Any, name: str, place: Place) -> None:
    target, bone_name = place
    if target is not None:
        variable = _add(curve, name, 'TRANSFORMS')
        variable.targets[0].id = target
        variable.targets[0].bone_target = bone_name
        variable.targets[0].transform_space = 'WORLD_SPACE'


def _add_two(curve: Any, name: str, obj: bpy.types.Object, bones: tuple[str, str]) -> None:
    """A distance, which has two targets; nobody reads it."""
    variable = _add(curve, name, 'LOC_DIFF')
    for target, bone_name in zip(variable.targets, bones, strict=True):
        if bone_name:
            target.id, target.bone_target = obj, bone_name


def _add(curve: Any, name: str, kind: str) -> Any:
    variable = curve.driver.variables.new()
    variable.name, variable.type = name, kind
    return variable


def read(obj: bpy.types.Object, names: Any, number: Any) -> Iterator[Named]:
    """The links of the chains as the two drivers name them now; ``number``: None where it is gone."""
    tips = dict(_tips(obj, names))
    if not tips:
        yield from _read_form_2(obj, names)
        return
    for variable in [*names.driver.variables, *(number.driver.variables if number is not None else ())]:
        kind, *rest = variable.name.split("_")
        first = variable.targets[0]
        if kind == BONES:
            second = variable.targets[1]
            yield from _named(tips, rest[0], "root", second)
        elif kind == ENDS:
            for count, target in zip(rest, variable.targets, strict=True):
                yield from _named(tips, count, "end", target)
        elif kind in ROLES:
            yield from _named(tips, rest[0], kind, first)
            if OWN in rest:
                yield from _named(tips, rest[0], MADE[kind], first)


def _named(tips: dict[str, Any], count: str, role: str, target: Any) -> Iterator[Named]:
    if tips.get(count) is not None and (target.bone_target or ROLES[role][0]):
        yield Named(tips[count], role, target.id, target.bone_target)


def _tips(obj: bpy.types.Object, names: Any) -> Iterator[tuple[str, Any]]:
    """The tips by the numbers of their chains; None for one that isn't there."""
    for variable in names.driver.variables:
        kind, _, count = variable.name.partition("_")
        if kind == BONES:
            tip = variable.targets[0]
            yield count, pose_bones(obj).get(tip.bone_target) if tip.id == obj else None


def _read_form_2(obj: bpy.types.Object, names: Any) -> Iterator[Named]:
    """Up to form 2 the twin had a variable for each link, those of a chain after the one of its tip."""
    tip: Any = None
    for variable in names.driver.variables:
        role, target = variable.name.split("_")[0], variable.targets[0]
        if role == "tip":
            tip = pose_bones(obj).get(target.bone_target) if target.id == obj else None
        elif tip is not None and role in ROLES:
            yield Named(tip, role, target.id, target.bone_target)


def tips_named(obj: bpy.types.Object, names: Any) -> set[str]:
    """The tips that were set up, by the names that Blender has followed."""
    tips = [one.targets[0] for one in names.driver.variables if one.name.split("_")[0] in ("tip", BONES)]
    return {tip.bone_target for tip in tips if tip.id == obj}
