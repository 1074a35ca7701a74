"""What to bake, and what was baked: values that go into a bake and come out of it. Nothing is checked here."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..rig.sentences import counted


@dataclass(frozen=True, slots=True)
class BakeOptions:
    """What to bake.

    Units: frames. ``frame_start``, ``frame_end`` None: the action's range, else the scene's. ``tips`` by armature
    name; an armature that is not named bakes all its chains. ``after``: what becomes of the chains.
    ``reduce``: metres (units of the world times the scene's unit scale) by which few keys may miss; 0: every frame.
    """

    frame_start: float | None = None
    frame_end: float | None = None
    step: int = 1
    tips: dict[str, tuple[str, ...]] = field(default_factory=dict)
    after: str = 'MUTE'
    reduce: float = 0.0


@dataclass(frozen=True, slots=True)
class BakeReport:
    """What was baked.

    Attributes:
        keys: written; ``keys_before``: those of a bake with a key on every frame.
        error: metres that few keys miss a joint or a tip by at most, at frames and halves; 0 without ``reduce``.
        error_part: the same as a part of the chain's length; ``error_words``: as the scene shows lengths.
        skipped: chains that can't be solved, with the reason.
        notes: what to know.
    """

    armatures: int
    chains: int
    frames: int
    keys: int
    seconds: float
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    keys_before: int = 0
    error: float = 0.0
    error_part: float = 0.0
    error_words: str = ""

    def sentence(self) -> str:
        """The report in one line for people."""
        chains, frames = counted(self.chains, "chain"), counted(self.frames, "frame")
        chains += f" of {self.armatures} armatures" if self.armatures > 1 else ""
        text = f"Baked {chains} over {frames}: {self.keys} keys in {self.seconds:.2f} s"
        if self.keys_before > self.keys:
            text += f", {self.keys_before} before reducing, joints off by {self.error_words} at most"
            text += f" ({100.0 * self.error_part:.2g} % of the chain)"
        return "; ".join((text, *self.skipped, *self.notes))
