"""The helper that starts another Blender."""

from __future__ import annotations

import children


def test_a_child_has_blender_and_its_arguments() -> None:
    done = children.run("import bpy, sys; print('child', bpy.app.version[0] > 3, sys.argv[1:])", "a b", "-c")
    assert done.returncode == 0, done.stderr
    assert "child True ['a b', '-c']" in done.stdout


def test_a_child_that_fails_says_so() -> None:
    done = children.run("raise ValueError('no')")
    assert done.returncode == 1
    assert "ValueError: no" in done.stderr + done.stdout
