"""A workspace on a disk that takes no write: it is read, its host starts, and each write says what is wrong."""

import os
import subprocess

import pytest

from tests.support.hostile_git import plain
from tests.support.stage import call, exchange, recording, text
from workbench.backend.local_backend import LocalBackend
from workbench.domain.events import CallFinished
from workbench.host.host_start import ensure_host, start_failure_reason
from workbench.host.host_stop import stop_host
from workbench.host.session_requests import SessionRefused


@pytest.fixture
def read_only():
    """Make a folder read-only until the end: as root by a mount, else by its permissions."""
    mounted = []

    def make(folder):
        if os.geteuid() != 0:
            folder.chmod(0o555)
            mounted.append(lambda: folder.chmod(0o755))
            return
        bound = subprocess.run(
            ["mount", "--bind", folder, folder], capture_output=True, text=True, check=False
        )
        if bound.returncode:
            pytest.skip(f"root may not mount here: {bound.stderr.strip()}")
        mounted.append(lambda: subprocess.run(["umount", "-l", folder], check=True))
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)

    yield make
    for undo in mounted:
        undo()


def test_writes_fail_with_the_reason_and_all_else_goes_on(staged, read_only):
    script = recording(
        exchange(
            call("c1", "create_file", path="new.txt", content="n\n"),
            call("c2", "create_directory", path="deep/er"),
            call("c3", "replace_string_in_file", path="a.txt", old_string="old", new_string="new"),
            call("c4", "read_file", path="a.txt"),
            call("c5", "run_in_terminal", command="git status --porcelain"),
        ),
        exchange(text("done")),
    )
    allow = ["Write(**)", "Edit(**)", "Read(**)", "Bash(git status *)"]
    stage = staged(script, files={"a.txt": "old\n"}, config={"approvals": {"allow": allow}})
    plain(stage.workspace, "init", "-q")
    plain(stage.workspace, "add", "-A")
    stage.begin()
    read_only(stage.workspace)
    stage.drive()
    ends = [e.body for e in stage.journal.events(stage.session_id) if isinstance(e.body, CallFinished)]
    states = {"failed": [], "succeeded": []}
    for end in ends:
        states[end.state].append(end.error)
    assert len(states["succeeded"]) == 2
    assert all("read-only" in why or "this user may not" in why for why in states["failed"])
    assert len(states["failed"]) == 3
    assert sorted(path.name for path in stage.workspace.iterdir()) == [".git", "a.txt"]
    assert (stage.workspace / "a.txt").read_text() == "old\n"
    assert LocalBackend(stage.home, stage.journal, str(stage.workspace)).list_files() == ["a.txt"]


def test_no_session_begins_there_and_the_reason_is_said(staged, read_only):
    stage = staged(recording(exchange(text("done"))))
    read_only(stage.workspace)
    with pytest.raises(SessionRefused, match=r"is on a disk that is read-only|not accessible for writing"):
        stage.begin()


def test_a_host_starts_there(staged, read_only):
    stage = staged(recording(exchange(text("done"))), files={"a.txt": "old\n"})
    read_only(stage.workspace)
    host = ensure_host(stage.home, stage.journal, str(stage.workspace))
    try:
        assert host is not None, start_failure_reason(stage.home)
    finally:
        stop_host(stage.home, str(stage.workspace))
