"""What operators share: how they name armature and chains, and how they report.

Everything works without a window and without an active object where ``armature`` and
``tips`` are given. This module must not change a pose or a setting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..rig.chains import tips as tips_of_rig
from ..rig.errors import LimbIKError
from ..rig.sentences import sentence
from ..rig.setting_up import active, setup

NO_ARMATURE_IN_FILE = "There is no armature in this file"
NOT_AN_ARMATURE = "Make an armature active, or a target of one"


def split_names(text: str, known: Iterable[str], kind: str = "bone") -> list[str]:
    """Names out of a text: one, or several with commas between.

    Names that have commas themselves are found, too: of all readings the one with the longest names first.
    A name that comes twice counts once.

    Raises:
        LimbIKError: a part of the text is no known name.
    """
    names, parts, found = set(known), text.split(","), []
    while parts:
        for count in range(len(parts), 0, -1):
            name = ",".join(parts[:count])
            match = next((one for one in (name, name.strip()) if one in names), None)
            if match is not None:
                found.append(match)
                parts = parts[count:]
                break
        else:
            raise LimbIKError(f"there is no {kind} '{parts[0].strip()}'")
    return list(dict.fromkeys(found))


class Reporting:
    """An operator whose ``work`` does everything and says what it did."""

    def work(self, context: Any) -> str:
        """Do it and say in one sentence what was done."""
        raise NotImplementedError

    def execute(self, context: Any) -> Any:
        """Blender's entry: errors of plain functions become one report."""
        operator: Any = self
        try:
            done = self.work(context)
        except LimbIKError as problem:
            operator.report({'ERROR'}, sentence(str(problem)))
            return {'CANCELLED'}
        operator.report({'INFO'}, sentence(done))
        return {'FINISHED'}


class OnArmature(Reporting):
    """An operator on one armature: the one named, else the active one."""

    if TYPE_CHECKING:
        armature: str
    else:
        armature: StringProperty(
            name="Armature",
            description="Name of the armature object; the active one where empty",
            options={'SKIP_SAVE', 'HIDDEN'},
        )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Scripts name an armature, which a poll can't see: only the 3D View asks for an active one."""
        if not any(obj.type == 'ARMATURE' for obj in bpy.data.objects):
            return cls.refuse(NO_ARMATURE_IN_FILE)
        return not is_in_view(context) or cls.poll_in_view(context)

    @classmethod
    def poll_in_view(cls, context: Any) -> bool:
        """Whether a click in the 3D View would find what it needs; says what is missing."""
        obj = active.active_armature(context)
        if obj is None or obj.type != 'ARMATURE':
            return cls.refuse(NOT_AN_ARMATURE)
        try:
            setup.check_armature(obj)
        except LimbIKError as problem:
            return cls.refuse(sentence(str(problem)))
        return True

    @classmethod
    def refuse(cls, message: str) -> bool:
        """False, with the reason that Blender shows."""
        operator: Any = cls
        operator.poll_message_set(message)
        return False

    def rig(self, context: Any) -> Any:
        """The armature object.

        Raises:
            LimbIKError: there is none, or it can't be changed.
        """
        obj = bpy.data.objects.get(self.armature) if self.armature else active.active_armature(context)
        if self.armature and obj is None:
            raise LimbIKError(f"there is no armature '{self.armature}'")
        setup.check_armature(obj)
        assert obj is not None  # checked above
        return obj


class TipsArgument:
    """Which chains a script means."""

    if TYPE_CHECKING:
        tips: str
    else:
        tips: StringProperty(
            name="Tips",
            description="Names of the bones at which the chains end, with commas between",
            options={'SKIP_SAVE', 'HIDDEN'},
        )


class WithChains(OnArmature):
    """An operator on an armature that has chains; ``NO_CHAIN`` says what is missing in the view."""

    NO_CHAIN = "The armature has no IK chain"

    @classmethod
    def poll_in_view(cls, context: Any) -> bool:
        if not super().poll_in_view(context):
            return False
        if not any(active.tip_names(obj) for obj in cls.armatures_meant(context)):
            return cls.refuse(cls.NO_CHAIN)
        return True

    @staticmethod
    def armatures_meant(context: Any) -> list[Any]:
        """Of which armatures one has to have a chain: the active one."""
        obj = active.active_armature(context)
        return [obj] if obj is not None else []


class OnChains(TipsArgument, WithChains):
    """An operator on chains: those named, else the active one or all of the armature."""

    if TYPE_CHECKING:
        only_active: bool
    else:
        only_active: BoolProperty(
            name="Only Active",
            description="Only the chain of the active bone, not all chains of the armature",
            default=True,
        )

    def chosen(self, context: Any, obj: Any) -> list[str]:
        """Tips of the chains to work on, at least one.

        An armature that a script names without tips means all its chains, unless ``only_active`` is given, too.

        Raises:
            LimbIKError: there is no such chain.
        """
        if self.tips:
            return split_names(self.tips, obj.pose.bones.keys())
        found = tips_of_rig(obj)
        if not found:
            raise LimbIKError(f"'{obj.name}' has no IK chain")
        operator: Any = self
        if not self.only_active or (self.armature and not operator.properties.is_property_set("only_active")):
            return found
        tip = active.active_tip(context, obj)
        if not tip:
            raise LimbIKError(f"no chain of '{obj.name}' is active: make one of its bones active, or name its tip")
        return [tip]


def check_tips(obj: Any, tips: Iterable[str]) -> None:
    """Raises a LimbIKError where no chain ends at one of these bones; broken chains count."""
    for tip in tips:
        active.tip_named(obj, tip)


def for_each(items: Iterable[Any], work: Callable[[Any], Any]) -> tuple[list[Any], list[str]]:
    """What ``work`` gives for each item, and why it failed for others: one failure doesn't undo the rest.

    Raises:
        LimbIKError: it failed for all of them.
    """
    done, problems = [], []
    for item in items:
        try:
            done.append(work(item))
        except LimbIKError as problem:
            problems.append(str(problem))
    if not done:
        raise LimbIKError("; ".join(problems))
    return done, problems


def is_in_view(context: Any) -> bool:
    """Whether the operator is offered in a 3D View."""
    area = getattr(context, "area", None)
    return area is not None and area.type == 'VIEW_3D'
