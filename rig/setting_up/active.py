"""Which armature and which chain the user means: the active object, the active bone.

Panels and polls ask here at every redraw: nothing is written, no depsgraph is asked, and
the bones are not walked where the rig's set-up is known.
"""

from __future__ import annotations

from typing import Any

from .. import chains, dependency, marks
from ..bone_rows import row_of
from ..chains import RigSetup
from ..errors import LimbIKError
from ..session import is_in_edit_mode


def active_armature(context: Any) -> Any:
    """The active armature, or the one whose chain reaches for the active object; None where there is none."""
    layer = getattr(context, "view_layer", None)
    obj = layer.objects.active if layer is not None else None
    return _armature_of(obj) if obj is not None else None


def armatures(context: Any) -> list[Any]:
    """Every armature that the user means, the active one first: those in pose mode, else those selected.

    A selected target or pole stands for the armature whose chain reaches for it, as an active one does.
    """
    first = active_armature(context)
    layer = getattr(context, "view_layer", None)
    selected = list(layer.objects.selected) if layer is not None else []
    if first is not None and first.mode == 'POSE':
        others = [obj for obj in (*(getattr(context, "objects_in_mode", None) or ()), *selected) if obj.mode == 'POSE']
    else:
        others = [_armature_of(obj) for obj in selected]
    found = dict.fromkeys([first, *others])
    return [obj for obj in found if obj is not None and obj.type == 'ARMATURE']


def _armature_of(obj: Any) -> Any:
    if obj.type == 'ARMATURE':
        return obj
    if obj.parent is not None and obj.parent.type == 'ARMATURE' and obj.limb_ik.is_control:
        return obj.parent
    return next((rig for rig in marks.rigs() if _reaching(rig, marks.key_of(obj), "")), None)


def active_tip(context: Any, obj: Any) -> str:
    """Tip of the active chain of an armature; empty where there is none.

    The nearest tip at or below the active bone, else the chain that ends at that bone or reaches for it. With
    a target or pole object active: the chain that reaches for it.
    """
    active = context.view_layer.objects.active
    if active is not None and active != obj:
        return _reaching(obj, marks.key_of(active), "") or tip_at(obj, active_bone_name(obj))
    return tip_at(obj, active_bone_name(obj))


def active_bone_name(obj: Any) -> str:
    """Name of the armature's active bone, empty where there is none."""
    bone = obj.data.bones.active if not is_in_edit_mode(obj) else None
    return bone.name if bone is not None else ""


def tip_at(obj: Any, bone_name: str) -> str:
    """Tip of the chain that a bone stands for; empty where there is none."""
    if not bone_name or not marks.may_have_chains(obj):
        return ""
    setup = chains.known_setup(obj)
    below = _below(setup, bone_name) if setup is not None else _below_unread(obj, bone_name)
    return below or _ending_at(obj, bone_name) or _reaching(obj, marks.key_of(obj), bone_name)


def tip_named(obj: Any, name: str) -> Any:
    """The pose bone at which a chain ends, one that can't be solved, too.

    Raises:
        LimbIKError: no chain ends there.
    """
    bone = obj.pose.bones.get(name)
    if bone is None or bone.limb_ik_solver == 'NONE':
        raise LimbIKError(f"no chain ends at '{name}' of '{obj.name}'")
    return bone


def tip_names(obj: Any) -> list[str]:
    """Tips of an armature's chains in the order of its bones, read the cheapest way."""
    if not marks.may_have_chains(obj):
        return []
    setup = chains.known_setup(obj)
    if setup is not None:
        return [chain.tip for chain in setup.chains]
    return [bone.name for bone in dependency.tips_of(obj)]


def _below(setup: RigSetup, bone_name: str) -> str:
    tips = {chain.bones[-1]: chain.tip for chain in setup.chains}
    level = [setup.index[bone_name]] if bone_name in setup.index else []
    while level:
        found = next((tips[bone] for bone in level if bone in tips), "")
        if found:
            return found
        level = [child for bone in level for child in setup.children[bone]]
    return ""


def _below_unread(obj: Any, bone_name: str) -> str:
    """The same from the tips upward: few chains, where nothing is known of the rig yet."""
    found = {}
    for tip in dependency.tips_of(obj):
        row = [tip.name, *(bone.name for bone in tip.parent_recursive)]
        if bone_name in row:
            found[row.index(bone_name)] = tip.name
    return str(found[min(found)]) if found else ""


def _ending_at(obj: Any, bone_name: str) -> str:
    bones: Any = obj.pose.bones
    return next((tip for tip in tip_names(obj) if bones[tip].limb_ik_end_bone == bone_name), "")


def _reaching(obj: Any, key: marks.Key, bone_name: str) -> str:
    """Tip of the chain whose target or pole is this object or bone."""
    setup = chains.known_setup(obj)
    if setup is not None:
        link = key, bone_name
        return next((one.tip for one in setup.chains if link in (one.target_key, one.pole_key)), "")
    bones: Any = obj.pose.bones
    for tip in tip_names(obj):
        for role in ("target", "pole"):
            linked = getattr(bones[tip], f"limb_ik_{role}")
            is_bone = getattr(bones[tip], f"limb_ik_{role}_bone") == bone_name
            if linked is not None and is_bone and marks.key_of(linked) == key:
                return tip
    return ""


def reaching(keys: set[marks.Key]) -> list[Any]:
    """Rigs whose chains reach for one of these objects, or for a bone of it, as far as their set-up is known."""
    found = []
    for rig in marks.rigs():
        setup = chains.known_setup(rig)
        links = [link for one in setup.chains for link in (one.target_key, one.pole_key)] if setup else []
        if any(link is not None and link[0] in keys for link in links):
            found.append(rig)
    return found


def turned_bones(tip: Any) -> list[Any]:
    """The pose bones that the chain of a tip bone turns, root first, read the cheapest way."""
    bones = tip.id_data.pose.bones
    setup = chains.known_setup(tip.id_data)
    if setup is not None:
        chain = next((one for one in setup.chains if one.tip == tip.name), None)
        return [bones[bone] for bone in chain.turned] if chain is not None else []
    row = row_of(tip)
    return [row[-1], tip] if tip.limb_ik_solver == 'TWO_BONE' and len(row) > 1 else row[::-1]
