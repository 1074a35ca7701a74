"""The FK pose, kept apart from what IK wrote; raw rotation values in every rotation mode.

Raw values are the numbers of a bone's own rotation channel: four for quaternion and
axis-angle (angle first), three for Euler, padded to four in the store. That is one
property: Blender copies every one of them in each evaluation. This module must not
solve anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ..solvers import rotations, vectors
from ..solvers.rotations import Quat
from . import channels, history

Raw = tuple[float, ...]

MODES = ('QUATERNION', 'AXIS_ANGLE', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX')
# What the store's mode number says: 0 is "nothing stored", else 1 + index into MODES.
MODE_NUMBERS = {mode: number for number, mode in enumerate(MODES, start=1)}
STORE = "limb_ik_store"
STORE_SIZE = 9
CHANNELS = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}
WIDTHS = {"rotation_quaternion": 4, "rotation_axis_angle": 4, "rotation_euler": 3}
# Raw values nearer than this count as the same write: two float32 steps at 1.
SAME_RAW = 2.5e-7
# Rotations that went through a change of rotation mode agree to float32 trigonometry.
SAME_AFTER_CONVERSION = 1e-4


class Store(NamedTuple):
    """What is kept beside a bone. ``number``: of the mode of the raw values, see ``MODE_NUMBERS``; 0: nothing is."""

    number: int
    fk: Raw
    written: Raw


class Stores(NamedTuple):
    """``Store`` of many bones, one row each."""

    numbers: NDArray[np.float32]
    fk: NDArray[np.float32]
    written: NDArray[np.float32]

    def of(self, bones: NDArray[np.intp]) -> Stores:
        """Those of some bones, by number."""
        return Stores(*(column[bones] for column in self))

    def rows(self) -> NDArray[np.float32]:
        """The property's values, one row for each bone."""
        return np.column_stack(self)


def store_of(bone: Any) -> Store:
    """What is kept beside an original pose bone."""
    values = tuple(bone.limb_ik_store)
    return Store(int(values[0]), values[1:5], values[5:9])


def has_store(bone: Any) -> bool:
    """Whether FK is kept beside an original pose bone."""
    return bool(bone.limb_ik_store[0])


def read_stores(bones: Any) -> Stores:
    """What is kept beside all pose bones of an armature object."""
    found = np.empty((len(bones), STORE_SIZE), np.float32)
    bones.foreach_get(STORE, found.reshape(-1))
    return Stores(found[:, 0], found[:, 1:5], found[:, 5:9])


def channel(mode: str) -> str:
    """Name of the rotation channel that a rotation mode uses."""
    return CHANNELS.get(mode, "rotation_euler")


def read_raw(bone: Any) -> Raw:
    """Raw rotation values of a pose bone, original or evaluated, in its own rotation mode."""
    return tuple(getattr(bone, channel(bone.rotation_mode)))


def to_quat(raw: Iterable[float], mode: str) -> Quat:
    """Unit quaternion (w, x, y, z) of raw values; those of F-curves, axes too, need not be unit length."""
    values = tuple(raw)
    if mode == 'QUATERNION':
        return rotations.normalized(rotations.as_quat(values))
    if mode == 'AXIS_ANGLE':
        axis = vectors.unit((values[1], values[2], values[3]))
        return rotations.from_axis_angle(axis, values[0]) if axis != vectors.ZERO else rotations.IDENTITY
    return rotations.from_euler(mode, values[:3])


def to_raw(rotation: Quat, mode: str, near: Raw) -> Raw:
    """Raw values of a rotation in a mode, continuous with ``near`` (raw values in the same mode)."""
    if mode == 'QUATERNION':
        return rotations.on_hemisphere_of(rotation, rotations.as_quat(near))
    if mode == 'AXIS_ANGLE':
        return rotations.to_axis_angle(rotation, near)
    return rotations.to_euler(rotation, mode, near)


def is_same(a: Iterable[float], b: Iterable[float]) -> bool:
    """Whether two raw values are the same write."""
    for x, y in zip(a, b, strict=False):  # noqa: SIM110  (a third of the time that a generator takes)
        if abs(x - y) > SAME_RAW:
            return False
    return True


def fk_raw(bone: Any, frame: float | None = None) -> Raw:
    """The FK value of an original pose bone: the stored one while the bone holds what IK wrote, else its own.

    A value that is not what was written is the user's, as a whole, and is FK from now on; but where
    animation or a driver gave what is new of it, the other components keep their FK.
    A change of rotation mode converts the stored value.

    Args:
        bone: the original pose bone.
        frame: the one that animation was evaluated for since IK wrote; None: it was not.
    """
    return _fk_beside(bone, read_raw(bone), frame)


def _fk_beside(bone: Any, raw: Raw, frame: float | None = None) -> Raw:
    mode, (number, stored, written) = bone.rotation_mode, store_of(bone)
    if not number:
        return raw
    before = MODES[number - 1]
    if channel(before) == channel(mode):  # from one Euler order to another Blender keeps the three numbers
        return stored[: len(raw)] if is_same(raw, written) else _fk_of_other(bone, raw, frame)
    if rotations.angle_between(to_quat(raw, mode), to_quat(written, before)) > SAME_AFTER_CONVERSION:
        return raw
    return to_raw(to_quat(stored, before), mode, raw)


def fresh_fk_raw(bone: Any, evaluated: Any, is_overwritten: Callable[[], bool]) -> Raw:
    """The FK value after a frame change: what Blender evaluated, but for what still is what IK wrote.

    Args:
        bone: the original pose bone.
        evaluated: the evaluated one.
        is_overwritten: whether animation gives every component, asked where one is what IK wrote.
    """
    raw, (number, fk, written) = read_raw(evaluated), store_of(bone)
    if not number or channel(MODES[number - 1]) != channel(bone.rotation_mode):
        return raw
    found = fk[: len(raw)] if is_same(raw, written) else tuple(
        own if now == then else now for now, then, own in zip(raw, written, fk, strict=False)
    )  # fmt: skip
    return raw if found != raw and is_overwritten() else found


def _fk_of_other(bone: Any, raw: Raw, frame: float | None) -> Raw:
    """FK where a bone does not hold what was written last.

    That of an earlier write on this frame if the value came from it; else animation's or a driver's components in the
    stored FK if they are all that is new; else the value is the user's.
    """
    for fk, written in history.past(place_of(bone)):
        if is_same(raw, written):
            return fk
    store, given = store_of(bone), set[int]() if frame is None else _given(bone, raw, frame)
    expected = tuple(now if index in given else store.written[index] for index, now in enumerate(raw))
    if not is_same(raw, expected):
        return raw
    return tuple(now if index in given else store.fk[index] for index, now in enumerate(raw))


def _given(bone: Any, raw: Raw, frame: float) -> set[int]:
    """Which components hold what animation or a driver gives them."""
    path = bone.path_from_id(channel(bone.rotation_mode))
    values = channels.given_values(bone.id_data, path, len(raw), frame)
    return {index for index, value in values.items() if value is None or is_same((value,), raw[index:])}


def place_of(bone: Any) -> history.Place:
    """Under which key the history keeps a bone's writes."""
    return bone.id_data.session_uid, bone.name, bone.rotation_mode


# Session numbers of rigs whose bones were given other FK to keep one by one, see ``crowd/stored``.
touched: set[int] = set()


def put_store(bone: Any, place: history.Place, fk: Raw, written: Raw) -> None:
    """Keep FK and written raw values beside the bone; ``place``: as ``place_of`` gives it."""
    history.remember(place, fk, written)
    touched.add(place[0])
    padding = (0.0,) * (4 - len(fk))
    bone.limb_ik_store = (MODE_NUMBERS[place[2]], *fk, *padding, *written, *padding)


def clear_store(bone: Any) -> None:
    """Say that the bone's own value is FK."""
    if has_store(bone):
        touched.add(bone.id_data.session_uid)
        bone.limb_ik_store[0] = 0.0


def stored_bones(bones: Any) -> list[int]:
    """Numbers of the pose bones beside which FK is kept."""
    return np.flatnonzero(read_stores(bones).numbers).tolist()


def _integers(bones: Any, name: str) -> NDArray[np.int32]:
    found = np.empty(len(bones), np.int32)
    bones.foreach_get(name, found)
    return found


def restore(obj: bpy.types.Object) -> bool:
    """Put the FK pose back into the original bones of a rig and clear its store.

    Returns whether a bone changed. The object is tagged then.
    """
    bones = cast(Any, obj.pose).bones
    stores = read_stores(bones)
    stored = np.flatnonzero(stores.numbers)
    if not stored.size:
        return False
    touched.add(obj.session_uid)
    is_quaternion = not (stores.numbers[stored] != MODE_NUMBERS['QUATERNION']).any()
    is_quaternion = is_quaternion and not _integers(bones, "rotation_mode")[stored].any()
    is_override = obj.override_library is not None  # bulk writes may be lost there, see raw_pose
    has_changed = (
        _restore_quaternions(bones, stored, stores)
        if is_quaternion and not is_override
        else _restore_each(bones, stored.tolist(), is_override)
    )
    for number in stored.tolist():
        bones[number].limb_ik_store[0] = 0.0
    if has_changed:
        obj.update_tag(refresh={'OBJECT'})
    return has_changed


def _restore_quaternions(bones: Any, stored: NDArray[np.intp], stores: Stores) -> bool:
    """As ``_restore_each``, in bulk; what is not what was written is told bone by bone."""
    raw, fk, written = read_quads(bones, "rotation_quaternion"), stores.fk, stores.written
    is_written = (np.abs(raw[stored] - written[stored]) <= SAME_RAW).all(axis=1)
    others = stored[~is_written].tolist()
    fk[others] = [_fk_beside(bones[number], tuple(raw[number].tolist())) for number in others] or fk[others]
    has_changed = not np.array_equal(fk[stored], raw[stored])
    if has_changed:
        raw[stored] = fk[stored]
        bones.foreach_set("rotation_quaternion", raw.reshape(-1))
    return has_changed


def read_quads(bones: Any, name: str) -> NDArray[np.float32]:
    """Four numbers of every pose bone."""
    found = np.empty((len(bones), 4), np.float32)
    bones.foreach_get(name, found.reshape(-1))
    return found


def _restore_each(bones: Any, stored: list[int], is_override: bool) -> bool:
    """In bulk, too, but for overrides: what is set on one bone is an edit of the armature for Blender's graph."""
    wanted: dict[str, dict[int, Raw]] = {}
    for number in stored:
        bone = bones[number]
        raw = read_raw(bone)
        fk = _fk_beside(bone, raw)
        if fk != raw:
            wanted.setdefault(channel(bone.rotation_mode), {})[number] = fk
    for name, values in wanted.items():
        if is_override:
            for number, fk in values.items():
                setattr(bones[number], name, fk)
        else:
            whole = np.empty((len(bones), WIDTHS[name]), np.float32)
            bones.foreach_get(name, whole.reshape(-1))
            whole[list(values)] = list(values.values())
            bones.foreach_set(name, whole.reshape(-1))
    return bool(wanted)
