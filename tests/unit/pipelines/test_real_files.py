"""Every real pipeline file that is here, run from its beginning to its end with a stand-in for its agent."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import stand_in_agent
from tests.support.runs import Runs
from workbench.pipelines.load import load_pipeline

WAVE = Path(__file__).resolve().parents[3].parent / "shared/data/wave"
FILES = sorted([*WAVE.glob(".wave/pipelines/*.yaml"), *WAVE.glob("examples/*.yaml")])
NO_PROMPTS = ("auditor", "craftsman", "debugger")
"""Personas whose prompts their repository kept elsewhere."""
INPUT = "https://github.com/example/shop/issues/1 add a login page"
CANNOT = {"speckit-flow.yaml", "code-review.yaml"}
"""A schema is not there for either, and for the first neither is a folder that it mounts."""

pytestmark = pytest.mark.skipif(not FILES, reason="the real files are not here")


@pytest.fixture
def here(tmp_path):
    root = tmp_path / "r"
    shutil.copytree(WAVE, root / "project")
    # Two steps of docs-to-impl.yaml run side by side in the project itself, and write one file there.
    manifest = (
        (WAVE / "wave.yaml").read_text().replace("max_concurrent_workers: 5", "max_concurrent_workers: 1")
    )
    assert "max_concurrent_workers: 1" in manifest
    made = Runs(root, manifest=manifest, trust=False)
    for name in NO_PROMPTS:
        (made.root / f".wave/personas/{name}.md").write_text("You do it.\n")
    for name in ("go.mod", "Makefile", "package.json"):
        (made.root / name).write_text("{}\n")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"),
    ):
        subprocess.run(("git", *words), cwd=made.root, check=True)
    made.trust()
    yield made
    made.close()


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_a_real_pipeline_begins_and_completes(here, tmp_path, monkeypatch, file):
    path = str(here.root / file.relative_to(WAVE))
    tools = stand_in_agent.write_program(tmp_path / "bin", here.root, Path(path))
    for name in ("go", "npm", "make", "gh", "pytest", "node"):
        (tools / name).write_text("#!/bin/sh\nexit 0\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    loaded = load_pipeline(path)
    assert loaded.report.is_ok, list(map(str, loaded.report.errors))
    assert loaded.report.is_runnable is (file.name not in CANNOT), list(map(str, loaded.report.stopping))
    if file.name in CANNOT:
        return
    words = '{"repo": "example/shop"}' if file.name == "github-issue-enhancer.yaml" else INPUT
    row = here.drive(here.request(path, input=words))
    assert row.error_message == ""
    assert (row.status, row.error_message) == ("completed", "")
    assert all(re.fullmatch("completed|skipped", state) for state in here.states(row.pipeline_id).values())
