"""Pipelines of whole projects, our own and real ones, run from beginning to end with a stand-in for their agent."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import stand_in_agent
from tests.support.runs import Runs
from tests.support.wave_files import CANNOT_RUN, FILES, NAMES, NO_PROMPTS, PROJECTS
from workbench.pipelines.load import load_pipeline

INPUT = "https://github.com/example/shop/issues/1 add a login page"


@pytest.fixture
def here(tmp_path, project):
    root = tmp_path / "r"
    shutil.copytree(PROJECTS[project], root / "project")
    # Two steps of docs-to-impl.yaml run side by side in the project itself, and write one file there.
    manifest = (
        (PROJECTS[project] / "wave.yaml")
        .read_text()
        .replace("max_concurrent_workers: 5", "max_concurrent_workers: 1")
    )
    assert "max_concurrent_workers: 1" in manifest
    made = Runs(root, manifest=manifest, trust=False)
    for name in NO_PROMPTS[project]:
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


@pytest.mark.parametrize(("project", "file"), FILES, ids=NAMES)
def test_a_pipeline_of_a_project_begins_and_completes(here, tmp_path, monkeypatch, project, file):
    path = str(here.root / file.relative_to(PROJECTS[project]))
    tools = stand_in_agent.write_program(tmp_path / "bin", here.root, Path(path))
    for name in ("go", "npm", "make", "gh", "pytest", "node"):
        (tools / name).write_text("#!/bin/sh\nexit 0\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    loaded = load_pipeline(path)
    assert loaded.report.is_ok, list(map(str, loaded.report.errors))
    assert loaded.report.is_runnable is (file.name not in CANNOT_RUN), list(map(str, loaded.report.stopping))
    if file.name in CANNOT_RUN:
        return
    words = '{"repo": "example/shop"}' if file.name == "github-issue-enhancer.yaml" else INPUT
    row = here.drive(here.request(path, input=words))
    assert row.error_message == ""
    assert (row.status, row.error_message) == ("completed", "")
    assert all(re.fullmatch("completed|skipped", state) for state in here.states(row.pipeline_id).values())
