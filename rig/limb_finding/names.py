"""What a bone's name says: its side, and the places in a limb that it may stand for.

Names alone decide nothing here: the same word names different bones (``LeftLeg`` is
a shin in Mixamo and a thigh in VRChat), so a name gives every place it may have, with
a weight, and ``limbs`` settles them along the chain. No bpy, no geometry, no bones.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from .skeleton import Kind
from .words import (
    ARM_WORDS,
    BARE_WORDS,
    FILLER_WORDS,
    HELPER_WORDS,
    LAYER_PREFERENCE,
    LEFT,
    LEG_WORDS,
    LIMB_WORDS,
    OTHER_WORDS,
    REGION_WORDS,
    SIDES,
    Slots,
)

NOISE_SHARE = 0.5
"""A word in more than this part of all names is a prefix of the rig, not of the bone."""
NOISE_MIN_BONES = 8
"""Fewer names than this can't tell a prefix from a bone's own word."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_REMARK = re.compile(r"\[.*?\]|\(.*?\)")
_LONGEST_COMPOUND = 3
"""Words joined into one at most (``hip joint bone``)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one name says.

    ``arm``, ``leg``: weight of each place the bone may have. ``is_exact``: no word was
    left over. ``is_silent``: no known word at all. ``preference``: see LAYER_PREFERENCE.
    """

    side: str = ""
    arm: Slots = field(default_factory=dict)
    leg: Slots = field(default_factory=dict)
    is_exact: bool = True
    is_silent: bool = False
    preference: float = 0.0

    def slots(self, kind: Kind) -> Slots:
        """Weights of the places in a limb of this kind."""
        return self.arm if kind == "arm" else self.leg


def words(name: str) -> tuple[str, ...]:
    """Lower-case words of a name: namespaces and remarks off, split at case, digits, script and separators."""
    plain = unicodedata.normalize("NFKC", name)
    last = re.split(r"[:|]", plain)[-1] or plain
    bare = _REMARK.sub("", last) or last
    return tuple(part for word in _WORD.findall(bare) for part in _without_side(word.lower()))


def _without_side(word: str) -> tuple[str, ...]:
    """A side written onto a word comes off: ``lefthand``, ``lhand``, ``左腕``."""
    if word in LIMB_WORDS or word in OTHER_WORDS or word in SIDES:
        return (word,)
    for side in ("left", "right", "左", "右", "l", "r"):
        if word.startswith(side) and (len(side) > 1 or side in "左右" or word[1:] in LIMB_WORDS):
            return (side, word[len(side) :])
        if word.endswith(side) and word[: -len(side)] in LIMB_WORDS:
            return (word[: -len(side)], side)
    return (word,)


def noise(names: Iterable[str]) -> frozenset[str]:
    """Words of so many names that they name the rig (``Armature``, a character's name)."""
    split = [frozenset(words(name)) for name in names]
    if len(split) < NOISE_MIN_BONES:
        return frozenset()
    count = Counter(word for one in split for word in one)
    return frozenset(w for w, n in count.items() if n > NOISE_SHARE * len(split)) - LIMB_WORDS - SIDES


def read(name: str, ignored: frozenset[str] = frozenset()) -> Reading:
    """Read one name.

    Args:
        name: the bone's name, in any convention.
        ignored: words to drop, see ``noise``.
    """
    split = [word for word in words(name) if word not in ignored]
    core = [word for word in split if not _is_filler(word)]
    found, unknown = _segment(core)
    is_helper = _is_helper(name, core)
    word = "" if is_helper else _limb_word(found)
    return Reading(
        side=_side(split),
        arm=ARM_WORDS.get(word, {}),
        leg=LEG_WORDS.get(word, {}),
        is_exact=not unknown,
        is_silent=not found and not is_helper,
        preference=_preference(name, split),
    )


def _is_filler(word: str) -> bool:
    is_letter = len(word) == 1 and word.isascii()
    return word.isdigit() or is_letter or word in FILLER_WORDS or word in REGION_WORDS or word in SIDES


def _is_helper(name: str, core: list[str]) -> bool:
    """Twist, IK, tweak and dummy bones have no place in a limb, but may stand between."""
    return name.startswith("__") or any(word in HELPER_WORDS or "捩" in word for word in core)


def _limb_word(found: list[str]) -> str:
    """The word that places a bone: the last one, but ``arm`` and ``leg`` only where they stand alone."""
    limb = [word for word in found if word in LIMB_WORDS]
    if not limb or any(word in OTHER_WORDS for word in found):
        return ""
    return ([word for word in limb if word not in BARE_WORDS] or limb)[-1]


def _segment(core: list[str]) -> tuple[list[str], list[str]]:
    """Split words into the longest known compounds; what is left over is unknown."""
    found: list[str] = []
    unknown: list[str] = []
    at = 0
    while at < len(core):
        size = next((n for n in range(_LONGEST_COMPOUND, 0, -1) if "".join(core[at : at + n]) in _KNOWN), 0)
        (found if size else unknown).append("".join(core[at : at + max(size, 1)]))
        at += max(size, 1)
    return found, unknown


_KNOWN = LIMB_WORDS | OTHER_WORDS | HELPER_WORDS


def _side(split: list[str]) -> str:
    """The last side a name has: Rigify's ``r_toe.L`` is a left rear toe."""
    for word in reversed(split):
        if word in SIDES:
            return "L" if word in LEFT else "R"
    return ""


def _preference(name: str, split: list[str]) -> float:
    words_that_count = [word for word in split if word != "d" or not name.isascii()]
    return sum(LAYER_PREFERENCE.get(word, 0.0) for word in words_that_count)
