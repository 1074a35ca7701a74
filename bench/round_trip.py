"""The main job on real files: set-up with IK, bake, and how far the motion that comes out is from what went in.

    python tools/dev.py bench round_trip FILE...

Runs the command line for each file, as a person would: ``add --motion keys``, ``bake`` to .blend and .glb,
and ``add --motion fk`` without a bake. Prints one table row per file and way; exit status 1 where a figure is
over what is promised: 1e-5 of a limb's length and 1e-4 rad (fk: 1e-5 rad). A .glb is compared with what Blender's
own glTF exporter and importer make of the same file without IK; how far those are from the file itself is shown.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MOST_POSITION, MOST_ANGLE, MOST_ANGLE_LIVE = 1e-5, 1e-4, 1e-5
# A reader of one file in a process of its own: Blender holds one file at a time.
READER = Path(__file__).with_name("_read_motion.py")
CONVERTER = Path(__file__).with_name("_convert.py")
PLAIN = "without IK, .glb"


@dataclass(frozen=True)
class Row:
    """One line of the table. ``position``: part of a limb's length; ``angle``: rad; both the worst of all frames."""

    name: str
    way: str
    frames: int
    position: float
    angle: float

    @property
    def is_good(self) -> bool:
        if self.way == PLAIN:
            return True
        most = MOST_ANGLE_LIVE if self.way == "fk, live" else MOST_ANGLE
        return self.position <= MOST_POSITION and self.angle <= most


def run_cli(*words: str) -> None:
    """One call of the command line; ends this program with its message where it fails."""
    done = subprocess.run([sys.executable, "-m", "limb_ik", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"limb-ik {' '.join(words)}: status {done.returncode}\n{done.stderr}")


def motion(path: Path, folder: Path) -> dict[str, np.ndarray]:
    """Joints and turns of every bone on every frame, as Blender evaluates the file."""
    out = folder / f"{path.name}.npz"
    subprocess.run([sys.executable, str(READER), str(path), str(out)], check=True, capture_output=True)
    with np.load(out) as data:
        return dict(data)


def compare(name: str, way: str, came: dict[str, np.ndarray], went: dict[str, np.ndarray]) -> Row:
    """The worst distance of any joint and the worst turn of any bone between two motions."""
    bones = [bone for bone in came["bones"].tolist() if bone in went["bones"].tolist()]
    a = [came["bones"].tolist().index(bone) for bone in bones]
    b = [went["bones"].tolist().index(bone) for bone in bones]
    frames = min(len(came["heads"]), len(went["heads"]))
    if frames != len(came["heads"]):
        raise SystemExit(f"{name}, {way}: {len(came['heads'])} frames came in, {len(went['heads'])} went out")
    apart = np.linalg.norm(came["heads"][:, a] - went["heads"][:frames, b], axis=-1).max()
    turned = np.linalg.norm(came["turns"][:, a] - went["turns"][:frames, b], axis=(-2, -1)).max() / math.sqrt(2.0)
    return Row(name, way, frames, float(apart / came["limb"]), float(turned))


def rows_of(path: Path, folder: Path) -> list[Row]:
    """All ways of one file."""
    keyed, live = folder / f"{path.stem}_keys.blend", folder / f"{path.stem}_fk.blend"
    baked = [folder / f"{path.stem}_baked{ending}" for ending in (".blend", ".glb")]
    came = motion(path, folder)
    run_cli("add", str(path), "-o", str(keyed), "--motion", "keys" if int(came["animated"]) else "still")
    rows = [compare(path.name, "keys, live", came, motion(keyed, folder))]
    through_gltf = folder / f"{path.stem}_plain.glb"
    subprocess.run([sys.executable, str(CONVERTER), str(path), str(through_gltf)], check=True, capture_output=True)
    plain = motion(through_gltf, folder)
    rows.append(compare(path.name, PLAIN, came, plain))
    for out, against in zip(baked, (came, plain), strict=True):
        run_cli("bake", str(keyed), "-o", str(out))
        rows.append(compare(path.name, f"keys, baked {out.suffix}", against, motion(out, folder)))
    run_cli("add", str(path), "-o", str(live), "--motion", "fk")
    rows.append(compare(path.name, "fk, live", came, motion(live, folder)))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    files = parser.parse_args().files
    print("| file | way | frames | joints, part of a limb | rotations, rad |\n| --- | --- | --- | --- | --- |")
    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            for row in rows_of(path, Path(folder)):
                print(f"| {row.name} | {row.way} | {row.frames} | {row.position:.1e} | {row.angle:.1e} |", flush=True)
                is_good = is_good and row.is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    raise SystemExit(main())
