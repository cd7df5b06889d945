"""Notices outside of the terminal: texts stay texts, and the program is not taken from the workspace."""

import os
from types import SimpleNamespace

import pytest

from workbench.backend.local_backend import LocalBackend


def program(folder, mark):
    folder.mkdir(exist_ok=True)
    path = folder / "notify-send"
    path.write_text(f'#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done > {mark}\n')
    path.chmod(0o755)


@pytest.mark.parametrize("before", ["", ".", "./bin"])
def test_a_notice_is_text_and_no_option(tmp_path, monkeypatch, before):
    program(tmp_path / "system", tmp_path / "said")
    workspace = tmp_path / "workspace"
    program(workspace, tmp_path / "foreign")
    program(workspace / "bin", tmp_path / "foreign")
    monkeypatch.setenv("PATH", os.pathsep.join([before, str(tmp_path / "system"), os.environ["PATH"]]))
    monkeypatch.chdir(workspace)
    wiring = LocalBackend(SimpleNamespace(path=tmp_path), None, str(workspace))
    wiring.notify_desktop("--help", '<a href="x">run</a> a && b')
    said = (tmp_path / "said").read_text().splitlines()
    assert said == ["--app-name=workbench", "--", "--help", '&lt;a href="x"&gt;run&lt;/a&gt; a &amp;&amp; b']
    assert not (tmp_path / "foreign").exists()
