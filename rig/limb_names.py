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

from .limb_skeleton import Kind

Slots = dict[int, float]

GIRDLE, UPPER, LOWER, END, TOE = range(5)

NOISE_SHARE = 0.5
"""A word in more than this part of all names is a prefix of the rig, not of the bone."""
NOISE_MIN_BONES = 8
"""Fewer names than this can't tell a prefix from a bone's own word."""

LEFT = frozenset("left l lft lt 左 links gauche izquierda izquierdo izq".split())
RIGHT = frozenset("right r rgt rt 右 rechts droite droit derecha derecho".split())
SIDES = LEFT | RIGHT

_BARE = {UPPER: 0.9, LOWER: 0.8, END: 0.3}
"""``arm`` and ``leg`` alone: the first of them is the upper bone, the next the lower one."""
_JOINT_OR_GIRDLE = {GIRDLE: 0.6, UPPER: 0.5}
"""``shoulder`` and ``hip``: a girdle where another upper bone follows, else the upper bone."""


def _table(*rows: tuple[str, Slots]) -> dict[str, Slots]:
    return {word: slots for words, slots in rows for word in words.split()}


ARM_WORDS = _table(
    ("clavicle collar collarbone scapula scap 鎖骨", {GIRDLE: 1.0}),
    ("shoulder shldr shoulderjoint 肩", _JOINT_OR_GIRDLE),
    ("upperarm uparm uprarm upparm uarm armupper armup humerus upperarmbone 腕 上腕 上臂 大臂", {UPPER: 1.0}),
    ("oberarm brazosuperior", {UPPER: 1.0}),
    ("arm bras brazo", _BARE),
    ("forearm lowerarm loarm lowarm lwrarm armlower armlow armfore elbow radius", {LOWER: 1.0}),
    ("ひじ 肘 前腕 前臂 小臂 unterarm avantbras antebrazo", {LOWER: 1.0}),
    ("hand 手首 hand手首", {END: 1.0}),
    ("wrist wristjoint handjoint", {END: 0.95}),
    ("palm 手 手掌 main mano", {END: 0.9}),
    ("forefoot", {END: 1.0}),
    ("foot ankle paw", {END: 0.4}),
    ("hoof toe", {TOE: 0.5}),
)
LEG_WORDS = _table(
    ("pelvis buttock hips", {GIRDLE: 0.8}),
    ("hip", _JOINT_OR_GIRDLE),
    ("hipjoint", {GIRDLE: 0.7, UPPER: 0.4}),
    ("thigh upperleg upleg uprleg uleg upperthigh thighbone femur legupper legup", {UPPER: 1.0}),
    ("足 太もも 大腿 もも 腿 oberschenkel cuisse muslo", {UPPER: 1.0}),
    ("leg jambe pierna foreleg", _BARE),
    ("shin calf lowerleg loleg lowleg lwrleg leglower leglow tibia knee crus shank", {LOWER: 1.0}),
    ("ひざ 膝 すね 脛 下腿 小腿 unterschenkel", {LOWER: 1.0}),
    ("foot 足首 hindfoot forefoot horselink fuss pied pie 脚", {END: 1.0}),
    ("ankle 脚踝", {END: 0.95}),
    ("feet paw", {END: 0.9}),
    ("toe toes toebase toejoint ball hoof metatarsal metatarsals つま先 爪先 足先", {TOE: 1.0}),
)
LIMB_WORDS = frozenset(ARM_WORDS) | frozenset(LEG_WORDS)

HELPER_WORDS = frozenset(
    (
        "ik mch pole poletarget target twist tw twst roll tweak vis parent helper hlp corrective correctiveroot correct corr share "
        "sharebone muscle bulge nub end endsite site tip effector goal spin heel slot socket weapon prop holder attach "
        "attachment mount sleeve skirt cloth clothes armor armour pad bck fwd inner outer in out jiggle phys "
        "physics spring dummy shadow pivot offset locator sec stretch str gizmo bicep biceps ulna trapezius pectoral "
        "deltoid part 捩 捩り ねじり 親 ex"
    ).split()
)
OTHER_WORDS = frozenset(
    (
        "spine chest neck head hair wing fin tail feather ear eye jaw tongue finger fingers thumb index middle ring "
        "pinky little breast bust belly tentacle torso body abdomen root cog bangs ponytail mane beak skull face lip brow "
        "lid nose cheek teeth metacarpal wheel suspension door whisker antenna cape ribbon rope trunk 指 髪 尾 頭 首 胸"
    ).split()
)
REGION_WORDS = frozenset("front hind rear back".split())
FILLER_WORDS = frozenset(
    (
        "mixamorig bip valve biped cc base character bone bones bn jnt joint sk skel skeleton armature rig def org "
        "fk ctrl control ctl con bend node rootjoint object obj deform skin"
    ).split()
)
LAYER_PREFERENCE = {"fk": 0.5, "def": -0.3, "org": -0.4, "d": -0.3}
"""Which copy of a limb the animator keys: FK controls before plain bones before deform,
and original bones (Rigify), and MMD's leg before its deforming copy (足D)."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
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
    """Lower-case words of a name: namespaces off, split at case, digits, script and separators."""
    plain = unicodedata.normalize("NFKC", name)
    last = re.split(r"[:|]", plain)[-1] or plain
    return tuple(part for word in _WORD.findall(last) for part in _without_side(word.lower()))


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
    limb = [word for word in found if word in LIMB_WORDS] if not is_helper else []
    if any(word in OTHER_WORDS for word in found):
        limb = []
    return Reading(
        side=_side(split),
        arm=ARM_WORDS.get(limb[-1], {}) if limb else {},
        leg=LEG_WORDS.get(limb[-1], {}) if limb else {},
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
