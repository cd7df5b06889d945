"""Boxes in tests: whether there are any here, and commands in them."""

import asyncio
import os
from functools import cache

import pytest

from tests.conftest import NO_SANDBOX
from workbench.effects.command_execution import prepare_command
from workbench.effects.folder_index import FolderIndex
from workbench.effects.sandbox import boxed_argv, boxed_environment
from workbench.effects.sandbox_proof import prove_sandbox
from workbench.host.closed_names import _WorkspaceReader
from workbench.host.command_box import NO_DENIALS, BoxPlaces, plan_box

SECONDS = 60


@cache
def sandbox(choice="auto"):
    """Return the sandbox of this machine; the test is skipped where it has none of that kind."""
    found = prove_sandbox(choice)
    wanted = "bubblewrap" if choice == "auto" else choice
    if "does not hold" in found.problem or found.is_unsure:
        pytest.fail(f"this machine can make boxes, and ours does not hold: {found.problem}")
    if found.backend != wanted:
        pytest.skip(f"{NO_SANDBOX}: {found.problem}")
    return found


def places(folder, workspace=None, **more):
    """Return places below a folder; the workspace and the home folder are made."""
    workspace = workspace or folder / "project"
    home = folder / "home"
    for path in (workspace, home, folder / "data"):
        path.mkdir(parents=True, exist_ok=True)
    facts = {
        "data": str(folder / "data"), "storage": str(folder / "data/sandbox/sessions/s"),
        "caches": str(folder / "data/sandbox/caches/c"), "workspace": str(workspace), "folder": str(workspace),
        "home": str(home), "search_path": os.environ["PATH"],
    }  # fmt: skip
    return BoxPlaces(**(facts | more))


def plan(folder, level="workspace", denials=NO_DENIALS, **more):
    return plan_box(places(folder, **more), level, denials)


def prepare(planned, *words, choice="auto", env=None, **more):
    """Return a command in its box."""
    words = ("sh", "-c", *words) if len(words) == 1 else words
    environment = boxed_environment({"PATH": os.environ["PATH"], **(env or {})}, planned.box)
    argv = boxed_argv(sandbox(choice), planned.box, words)
    return prepare_command(
        argv, planned.box.folder, environment, f"test-{os.getpid()}", is_boxed=True, **more
    )


def run(planned, *words, stop=None, grace=0.1, timeout=SECONDS, **more):
    """Run a command in a box; return how it ended and what it printed."""
    output = bytearray()
    done = asyncio.run(
        prepare(planned, *words, **more).go(output.extend, timeout, stop, 1_000_000, grace=grace)
    )
    return done, output.decode("utf-8", "replace")


def says(planned, *words, **more):
    """Return what a command prints in a box; it has to end with 0."""
    done, output = run(planned, *words, **more)
    assert done.code == 0, (done, output)
    return output


def limit_names(monkeypatch, most):
    """Let the indexes of workspaces hold few names; those of other folders hold as many as ever."""
    plain = FolderIndex.__init__

    def limited(self, root, read, unreadable):
        limit = (most,) if isinstance(read, _WorkspaceReader) else ()
        plain(self, root, read, unreadable, *limit)

    monkeypatch.setattr(FolderIndex, "__init__", limited)
