"""A rig's bones at rest: names, parents, how they inherit, where they lie; read in bulk, since rigs have thousands.

Everything is in the order of the pose. This module must not read a pose, nor change anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..solvers import rows
from ..solvers.arrays import Floats
from .session import armature_data, pose_bones


class RestOffsets(Sequence[Matrix]):
    """Rest matrix of each bone in its parent's rest space (of roots: armature space); made when first asked for."""

    def __init__(self, rest: Floats, parents: Sequence[int]) -> None:
        self._rest, self._parents = rest, parents
        self._made: dict[int, Matrix] = {}

    def __len__(self) -> int:
        return len(self._parents)

    @overload
    def __getitem__(self, bone: int) -> Matrix: ...
    @overload
    def __getitem__(self, bone: slice) -> Sequence[Matrix]: ...
    def __getitem__(self, bone: int | slice) -> Matrix | Sequence[Matrix]:
        if isinstance(bone, slice):
            return [self[number] for number in range(len(self))[bone]]
        found = self._made.get(bone)
        if found is None:
            found = self._made[bone] = Matrix(self._offset(bone).tolist())
        return found

    def __iter__(self) -> Iterator[Matrix]:
        return (self[number] for number in range(len(self)))

    def _offset(self, bone: int) -> Floats:
        parent = self._parents[bone]
        found: Floats = self._rest[bone] if parent < 0 else _inverse(self._rest[parent]) @ self._rest[bone]
        return found


def _inverse(rest: Floats) -> Floats:
    """Of a bone without length, which 5.3 keeps, the nearest thing to an inverse: its axes can be zero."""
    if np.linalg.det(rest) == 0.0:
        return np.linalg.pinv(rest).astype(np.float64)
    found: Floats = rows.inverse_affine(rest[None])[0]
    return found


@dataclass(frozen=True, slots=True)
class RestBones:
    """See ``chain_setup.RigSetup``."""

    names: tuple[str, ...]
    index: dict[str, int]
    parents: tuple[int, ...]
    offsets: RestOffsets
    is_plain: tuple[bool, ...]
    is_connected: tuple[bool, ...]


def rest_bones(obj: bpy.types.Object) -> RestBones:
    """Read the bones of an armature object at rest."""
    posed, bones = pose_bones(obj), armature_data(obj).bones
    names = tuple(bone.name for bone in posed)
    index = {name: number for number, name in enumerate(names)}
    parents = tuple(-1 if bone.parent is None else index[bone.parent.name] for bone in posed)
    places = {bone.name: place for place, bone in enumerate(bones)}
    order = np.array([places[name] for name in names], dtype=np.intp)
    rest = _bulk(bones, "matrix_local", 16, np.float32)[order].reshape(-1, 4, 4).transpose(0, 2, 1)
    inherit_scale: Any = bpy.types.Bone.bl_rna.properties["inherit_scale"]
    full = inherit_scale.enum_items['FULL'].value
    is_plain = _flags(bones, "use_inherit_rotation") & _flags(bones, "use_local_location")
    is_plain &= _bulk(bones, "inherit_scale", 1, np.int32)[:, 0] == full
    is_connected = _flags(bones, "use_connect")[order] & (np.array(parents, dtype=np.intp) >= 0)
    return RestBones(
        names=names,
        index=index,
        parents=parents,
        offsets=RestOffsets(rest.astype(np.float64), parents),
        is_plain=tuple(is_plain[order].tolist()),
        is_connected=tuple(is_connected.tolist()),
    )


def _flags(bones: Any, name: str) -> NDArray[np.bool_]:
    return _bulk(bones, name, 1, np.bool_)[:, 0]


def _bulk(bones: Any, name: str, width: int, kind: type[np.generic]) -> NDArray[Any]:
    values = np.empty(width * len(bones), kind)
    bones.foreach_get(name, values)
    return values.reshape(-1, width)
