"""Where files go: asked before the work, whole or not at all, nothing of others overwritten."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from limb_ik.files import opening as files
from limb_ik.files import placing
from limb_ik.rig.errors import LimbIKError

import rigs

LONGEST_NAME = 255
"""Bytes, of most file systems."""


def textured_rig(path: Path, size_px: int) -> Path:
    """A rig with a mesh whose picture is called skin.png, as that of every other."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    arm = rigs.rig("L2B")
    rigs.key_rotation(rigs.bone(arm, "up"), 1)
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    mesh.uv_layers.new()
    material: Any = bpy.data.materials.new("Skin")
    material.use_nodes = True
    picture = material.node_tree.nodes.new('ShaderNodeTexImage')
    picture.image = bpy.data.images.new("skin", size_px, size_px)
    shader = next(node for node in material.node_tree.nodes if node.type == 'BSDF_PRINCIPLED')
    material.node_tree.links.new(picture.outputs["Color"], shader.inputs["Base Color"])
    mesh.materials.append(material)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Skin", mesh))
    files.save_file(path)
    return path


def named_in(path: Path) -> set[str]:
    document = json.loads(path.read_text())
    return {entry["uri"] for entry in (*document["buffers"], *document["images"])}


def test_gltf_files_in_one_folder_keep_their_own_textures(blank: None, tmp_path: Path) -> None:
    for name, size_px in (("one", 4), ("two", 8)):
        textured_rig(tmp_path / f"{name}.blend", size_px)
        files.save_file(tmp_path / f"{name}.gltf")
    assert named_in(tmp_path / "one.gltf") == {"one.bin", "one_textures/skin.png"}
    pictures = [(tmp_path / f"{name}_textures" / "skin.png").read_bytes() for name in ("one", "two")]
    assert pictures[0] != pictures[1]
    files.open_file(tmp_path / "one.gltf")
    assert [tuple(image.size) for image in bpy.data.images if image.size[0]] == [(4, 4)]
    textured_rig(tmp_path / "one.blend", 16)
    files.save_file(tmp_path / "one.gltf")
    assert (tmp_path / "one_textures" / "skin.png").read_bytes() not in pictures, "its own are overwritten"


@pytest.mark.parametrize("name", ["out.bin", "out_textures/skin.png"])
def test_what_lies_there_and_is_not_of_it_is_never_overwritten(blank: None, tmp_path: Path, name: str) -> None:
    foreign = tmp_path / name
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_text("of somebody")
    textured_rig(tmp_path / "rig.blend", 4)
    with pytest.raises(LimbIKError, match=r"out\S* beside it is there already and not of it"):
        files.check_writable(tmp_path / "out.gltf")
    with pytest.raises(LimbIKError, match="beside it is there already"):
        files.save_file(tmp_path / "out.gltf")
    assert foreign.read_text() == "of somebody"
    assert not (tmp_path / "out.gltf").exists()


def test_the_longest_name_can_be_written(blank: None, tmp_path: Path) -> None:
    rigs.rig("L2B")
    longest = tmp_path / ("é" * ((LONGEST_NAME - len(".blend")) // 2) + ".blend")
    files.save_file(longest)
    assert [path.name for path in tmp_path.iterdir()] == [longest.name]
    with pytest.raises(LimbIKError, match="File name too long"):
        files.check_writable(tmp_path / f"xx{longest.name}")


@pytest.mark.skipif(os.name == "nt", reason="Windows lets only some users make links")
def test_a_link_to_itself_leads_nowhere(tmp_path: Path) -> None:
    out = tmp_path / "out.blend"
    out.symlink_to(out)
    with pytest.raises(LimbIKError, match=r"out\.blend leads nowhere: Too many levels of symbolic links"):
        files.check_writable(out)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that is worked in")
def test_a_working_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(LimbIKError, match=r"out\.blend leads nowhere: No such file or directory"):
        files.check_writable(Path("out.blend"))


def test_a_folder_that_cant_be_written_is_said_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(tmp_path))

    monkeypatch.setattr(placing.tempfile, "mkdtemp", refused)
    with pytest.raises(LimbIKError, match=r"out\.blend can't be written: Permission denied"):
        files.check_writable(tmp_path / "out.blend")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_pipes_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.blend"
    os.mkfifo(pipe)
    with pytest.raises(LimbIKError, match="it is a device or a pipe, not a file"):
        files.check_writable(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    placing.write_text(pipe, "said\n")
    assert os.read(reader, 99) == b"said\n"
    os.close(reader)
    assert pipe.is_fifo()
    placing.write_text(Path(os.devnull), "lost")
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize(
    ("problem", "free", "said"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), 2**30, "no space left on device"),
        (
            RuntimeError("Traceback (most recent call last):\nOSError: [Errno 28] No space left on device"),
            2**30,
            "no space",
        ),
        (RuntimeError("Error: unknown"), 0, "no space left on device"),
        (RuntimeError("Error: No such file or directory"), 2**21, "Blender could not write it; 2 MB of space are left"),
        (RuntimeError("Error: odd"), 2**30, "odd"),
    ],
)
def test_a_full_disk_is_said_to_be_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: Exception, free: int, said: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    out = tmp_path / "out.glb"
    with (
        pytest.raises(LimbIKError, match=f"^out can't be written: {said}"),
        placing.sentences("out can't be written"),
        placing.moved_into_place(out),
    ):
        raise problem
    assert not list(tmp_path.iterdir())


def test_what_was_not_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(LimbIKError, match="Blender could not write it"), placing.moved_into_place(tmp_path / "out.glb"):
        pass
