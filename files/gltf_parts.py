"""A glTF file taken apart: its JSON document and its binary chunk, whatever of the two kinds it is.

Must not judge whether the file is whole: what can't be read is left to Blender's importer, which comes next.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, Final

_HEADER_BYTES, _CHUNK_HEADER_BYTES = 12, 8
# The document's number for 32-bit floats.
FLOAT: Final = 5126
# What reading a damaged or compressed file raises.
UNREADABLE: Final = (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError, struct.error)


def parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON document and the binary chunk (empty for a .gltf)."""
    data = path.read_bytes()
    if data[:4] != b"glTF":
        return json.loads(data), b""
    (length,) = struct.unpack_from("<I", data, _HEADER_BYTES)
    start = _HEADER_BYTES + _CHUNK_HEADER_BYTES
    return json.loads(data[start : start + length]), data[start + length + _CHUNK_HEADER_BYTES :]
