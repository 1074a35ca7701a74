"""Makes each clip of a glTF file stand alone before Blender reads it.

What a clip doesn't move stands where its node does, by the standard. Blender's importer knows the nodes' places only
until it shows the first clip; the others would inherit what that one makes of them. So every clip but the first gets a
key, at its node's place, for what another clip moves. Must not import anything into Blender, and must not judge
whether the file is whole: what it can't read it leaves to the importer.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from .gltf_parts import FLOAT, UNREADABLE, parts

_PLACE: Final = {
    "translation": ((0.0, 0.0, 0.0), "VEC3"),
    "rotation": ((0.0, 0.0, 0.0, 1.0), "VEC4"),
    "scale": ((1.0, 1.0, 1.0), "VEC3"),
}
_JSON_CHUNK, _BINARY_CHUNK = b"JSON", b"BIN\0"
# Chunks of a .glb are filled up to a multiple of so many bytes.
_ALIGNED = 4

Target = tuple[int, str]


def with_lone_clips(path: Path, folder: Path) -> Path:
    """The file itself where its clips stand alone, or one in ``folder`` in which they do."""
    try:
        document, binary = parts(path)
        data = bytearray()
        clips = document.get("animations", ())
        every = {target for clip in clips for target in _targets(clip)}
        for clip in clips[1:]:
            for target in sorted(every - set(_targets(clip))):
                _add_key(document, clip, target, data)
        if not data:
            return path
        uri = f"data:application/octet-stream;base64,{base64.b64encode(data).decode()}"
        document["buffers"].append({"byteLength": len(data), "uri": uri})
        return _written(document, binary, path, folder)
    except UNREADABLE:
        return path


def _targets(clip: dict[str, Any]) -> Iterator[Target]:
    """The places of nodes that a clip moves."""
    for channel in clip["channels"]:
        target = channel["target"]
        if "node" in target and target["path"] in _PLACE:
            yield target["node"], target["path"]


def _add_key(document: dict[str, Any], clip: dict[str, Any], target: Target, data: bytearray) -> None:
    """One key at the clip's start; its bytes go to ``data``, which becomes the last buffer."""
    node, path = target
    default, kind = _PLACE[path]
    value = document["nodes"][node].get(path, default)
    start = min(document["accessors"][sampler["input"]].get("min", [0.0])[0] for sampler in clip["samplers"])
    time = _add_accessor(document, data, [start], "SCALAR") | {"min": [start], "max": [start]}
    document["accessors"] += [time, _add_accessor(document, data, value, kind)]
    count = len(document["accessors"])
    clip["samplers"].append({"input": count - 2, "output": count - 1, "interpolation": "LINEAR"})
    clip["channels"].append({"sampler": len(clip["samplers"]) - 1, "target": {"node": node, "path": path}})


def _add_accessor(document: dict[str, Any], data: bytearray, values: list[float], kind: str) -> dict[str, Any]:
    floats = struct.pack(f"<{len(values)}f", *values)
    view = {"buffer": len(document["buffers"]), "byteOffset": len(data), "byteLength": len(floats)}
    document["bufferViews"].append(view)
    data += floats
    return {
        "bufferView": len(document["bufferViews"]) - 1,
        "componentType": FLOAT,
        "count": 1,
        "type": kind,
    }


def _written(document: dict[str, Any], binary: bytes, path: Path, folder: Path) -> Path:
    """The document as a file of the same name and kind; what it refers to stays where it is."""
    for entry in (*document["buffers"], *document.get("images", ())):
        uri = entry.get("uri", "")
        if uri and not uri.startswith("data:"):
            entry["uri"] = quote(str((path.parent / unquote(uri)).resolve()))
    text = json.dumps(document).encode()
    out = folder / path.name
    if path.read_bytes()[:4] != b"glTF":
        out.write_bytes(text)
        return out
    chunks = _chunk(_JSON_CHUNK, text, b" ") + (_chunk(_BINARY_CHUNK, binary, b"\0") if binary else b"")
    out.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    return out


def _chunk(kind: bytes, content: bytes, filler: bytes) -> bytes:
    content += filler * (-len(content) % _ALIGNED)
    return struct.pack("<I4s", len(content), kind) + content
