"""Every figure that Limb IK promises, beside native Blender IK in one run: a table, JSON and drawings of growth.

    PYTHONPATH=.typecheck python bench/table.py [--only speed] [--folder artefacts]

Sections: accuracy, speed, idle, bake, growth. Times are those of the fastest tenth of the runs.
"""

from __future__ import annotations

import bpy  # isort: skip  (first: mathutils is part of it)

import argparse
from collections.abc import Callable
from pathlib import Path

import _accuracy
import _scenes
import _speed
from _ending import end
from _plot import plot
from _report import Row, Series, heading, line, write_json

SECTIONS: dict[str, list[Callable[[], list[Row]]]] = {
    "accuracy": [_accuracy.tip_error, _accuracy.pose_change, _accuracy.fabrik, _accuracy.limits],
    "speed": [_speed.crowd],
    "idle": [_speed.idle],
    "bake": [_speed.bakes],
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Limb IK beside native IK")
    parser.add_argument("--only", choices=[*SECTIONS, "growth"], help="one section")
    parser.add_argument("--folder", type=Path, default=Path("artefacts"), help="where JSON and drawings go")
    options = parser.parse_args()
    rows: list[Row] = []
    series: dict[str, Series] = {}
    print(f"Blender {bpy.app.version_string}", heading(), sep="\n", flush=True)
    with _scenes.registered():
        for name, measures in SECTIONS.items():
            for measure in measures if options.only in (None, name) else ():
                rows += _told(measure())
        if options.only in (None, "growth"):
            found, series = _speed.growth()
            rows += _told(found)
    for name, curves in series.items():
        plot(options.folder / f"{name}.svg", *_speed.WORDS[name], curves)
    write_json(options.folder / "bench.json", bpy.app.version_string, rows, series)
    goals = [row.is_met for row in rows if row.goal is not None]
    print(f"{sum(goals)} of {len(goals)} figures met; written to {options.folder}")
    return 0


def _told(rows: list[Row]) -> list[Row]:
    for row in rows:
        print(line(row), flush=True)
    return rows


if __name__ == "__main__":
    end(main)
