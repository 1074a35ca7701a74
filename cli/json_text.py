"""Values as JSON that every reader takes: numbers that JSON has, letters that the output has.

Must not know what the values are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def json_text(value: Any, encoding: str = "utf-8") -> str:
    """The text of a value; a number that is none is null, and letters that the encoding has not are escaped."""
    finite = _finite(value)
    text = json.dumps(finite, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:  # also names of files that are no text
        return json.dumps(finite, indent=2, allow_nan=False)
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value
