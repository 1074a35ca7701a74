"""The frame rate that a glTF file was sampled at, read from its keys' times.

glTF stores seconds and no frame rate, and Blender's importer takes the scene's,
24: a clip of 30 frames a second then has its keys between frames. Must not import
anything into Blender and must not judge whether the file is whole: what it can't
read it leaves to the importer.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from .gltf_parts import FLOAT, UNREADABLE, parts

DEFAULT_RATE: Final = 24
# In the order of preference: where the keys fit several, it is Blender's own, else the slowest.
RATES: Final = (DEFAULT_RATE, 25, 30, 50, 60, 100, 120, 240)
# Of a frame: seconds are float32, and some exporters write them with few digits.
NEAR_FRAME: Final = 0.02


def frame_rate(path: Path) -> int:
    """The slowest common frame rate at which all keys lie on whole frames; 24 where there is none."""
    try:
        document, binary = parts(path)
        times = sorted(set(_times(document, binary, path.parent)))
    except UNREADABLE:
        return DEFAULT_RATE
    return next((rate for rate in RATES if all(_is_whole(time * rate) for time in times)), DEFAULT_RATE)


def _is_whole(frame: float) -> bool:
    return math.isfinite(frame) and abs(frame - round(frame)) < NEAR_FRAME


def _times(document: Mapping[str, Any], binary: bytes, folder: Path) -> Iterator[float]:
    inputs = {s["input"] for animation in document.get("animations", ()) for s in animation["samplers"]}
    for accessor in (document["accessors"][index] for index in sorted(inputs)):
        if accessor["componentType"] != FLOAT or "bufferView" not in accessor:
            continue
        view = document["bufferViews"][accessor["bufferView"]]
        data = _buffer(document["buffers"][view["buffer"]], binary, folder)
        offset = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        yield from struct.unpack_from(f"<{accessor['count']}f", data, offset)


def _buffer(buffer: Mapping[str, Any], binary: bytes, folder: Path) -> bytes:
    uri = buffer.get("uri")
    if uri is None:
        return binary
    if uri.startswith("data:"):
        return base64.b64decode(uri.partition(",")[2])
    return (folder / unquote(uri)).read_bytes()
