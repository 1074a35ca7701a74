"""The words that the world names arms and legs with, and the places in a limb they stand for.

Facts alone, nothing is decided: what a name says as a whole is read by ``names``.
"""

from __future__ import annotations

Slots = dict[int, float]

GIRDLE, UPPER, LOWER, END, TOE = range(5)
"""Places in a limb, from the body outwards."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


LEFT = _set("left l lft lt 左 links gauche izquierda izquierdo izq")
RIGHT = _set("right r rgt rt 右 rechts droite droit derecha derecho")
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
BARE_WORDS = frozenset(word for word, slots in (ARM_WORDS | LEG_WORDS).items() if slots is _BARE)
LIMB_WORDS = frozenset(ARM_WORDS) | frozenset(LEG_WORDS)

HELPER_WORDS = _set(
    "ik mch pole poletarget target twist tw twst roll tweak vis parent helper hlp corrective correctiveroot correct "
    "corr share sharebone muscle bulge nub end endsite site tip effector goal spin heel slot socket weapon prop holder "
    "attach attachment mount sleeve skirt cloth clothes armor armour pad bck fwd inner outer in out jiggle phys "
    "physics spring dummy shadow pivot offset locator sec str gizmo bicep biceps ulna trapezius pectoral deltoid part "
    "捩 捩り ねじり 親 ex"
)
OTHER_WORDS = _set(
    "spine chest neck head hair wing fin tail feather ear eye jaw tongue finger fingers thumb index middle ring "
    "pinky little breast bust belly tentacle torso body abdomen root cog bangs ponytail mane beak skull face lip brow "
    "lid nose cheek teeth metacarpal wheel suspension door whisker antenna cape ribbon rope trunk 指 髪 尾 頭 首 胸"
)
REGION_WORDS = _set("front hind rear back")
FILLER_WORDS = _set(
    "mixamorig bip valve biped cc base character bone bones bn jnt joint sk skel skeleton armature rig def org "
    "fk ctrl control ctl con bend stretch node rootjoint object obj deform skin"
)
LAYER_PREFERENCE = {"fk": 0.5, "def": -0.3, "org": -0.4, "d": -0.3}
"""Which copy of a limb the animator keys: FK controls before plain bones before deform,
and original bones (Rigify), and MMD's leg before its deforming copy (足D)."""
