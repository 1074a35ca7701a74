"""Words of reports and errors: names in a list, numbers with what they count.

Must not know what is reported.
"""

from __future__ import annotations

from collections.abc import Iterable

# So many names are said; of more, how many there are.
MOST_NAMES = 4


def sentence(text: str) -> str:
    """The text as a sentence begins."""
    return text[:1].upper() + text[1:]


def listed(names: Iterable[str]) -> str:
    """Names for a report: the first few and how many more."""
    every = list(names)
    shown = ", ".join(f"'{name}'" for name in every[:MOST_NAMES])
    return f"{shown} and {len(every) - MOST_NAMES} more" if len(every) > MOST_NAMES else shown


def counted(number: int, what: str) -> str:
    """A number of things in words: "1 chain", "3 chains"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
