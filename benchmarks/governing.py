"""Measure what the governing files of a trusted folder cost a driver: a prompt and its reply, an edit.

    python -m benchmarks.governing [--files N] [--times N]

Processor time of a driver that is already open, with a recorded agent: in a folder with `--files` governing
files, in one that has a settings file too, and in one with none, in turn. A prompt and its reply with
governing files: ≤ 1.1 × that with none; the rest is reported. Exits with 1 if it is more.
"""

import argparse
import asyncio
import hashlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from workbench.domain.rows import Action
from workbench.domain.values import WORKSPACE_CONFIG_FILE, Actor, Decision
from workbench.host import session_requests, workspace_trust
from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.session_driver import SessionProgress, drive_session
from workbench.host.session_provider import provider_of
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.decisions import decide_action
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock

USER = Actor(kind="user", pid=1, via="cli")
MOST_RATIO = 1.1
FILE_BYTES = 2_000
EDIT = {"path": "a.txt", "old_string": "a", "new_string": "b"}
REPLIES: dict[str, list[dict[str, object]]] = {
    "a prompt and its reply": [{"text": "hello"}],
    "an approved edit": [
        {"tool_call": {"id": "c1", "name": "replace_string_in_file", "arguments": EDIT}},
        {"text": "done"},
    ],
}


class Folder:
    """A trusted workspace, its home and its driver, open for all prompts as in a background process."""

    def __init__(self, top: Path, files: int, opened: ExitStack, settings: str = "") -> None:
        self.workspace, self.top = top / "project", top
        self.workspace.mkdir(parents=True)
        if settings:
            (self.workspace / WORKSPACE_CONFIG_FILE).write_text(settings)
        for number in range(files):
            path = self.workspace / f".agents/skills/s{number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x" * FILE_BYTES)
        self.home = Home.open(top / "home")
        self.journal = Journal.open(self.home)
        opened.callback(self.journal.close)
        workspace_trust.grant_trust(self.journal, str(self.workspace), read=False, actor=USER)
        self.context = open_driver_context(
            self.home, self.journal, str(self.workspace), provider=provider_of,
            pipelines=SessionPipelineStarter,
        )  # fmt: skip
        self.lock = DriverLock(self.journal, driver_identity(self.journal, str(self.workspace), "run"))
        opened.callback(self.lock.close)

    def drive(self, replies: list[dict[str, object]]) -> float:
        """Drive a session for one prompt, approve what waits, and return the processor seconds."""
        (self.workspace / "a.txt").write_text("a\n")
        exchanges = [{"reply": [part]} for part in replies]
        recording = self.top / "recording.json"
        recording.write_text(json.dumps({"recording": 1, "model": "recorded", "exchanges": exchanges}))
        facts = {"path": str(recording), "sha256": hashlib.sha256(recording.read_bytes()).hexdigest()}
        session_id = session_requests.create_session(
            self.journal, workspace=str(self.workspace), provider="recorded", model="recorded", actor=USER,
            title="measured", configuration={"recording": facts},
        )  # fmt: skip
        session_requests.submit_prompt(self.journal, session_id, "do it", USER)
        answered: set[str] = set()

        def until(progress: SessionProgress) -> bool:
            for action in progress.waiting:
                if action.id not in answered:
                    answered.add(action.id)
                    self._approve(action)
            return progress.is_idle

        before = time.process_time()
        progress = asyncio.run(drive_session(self.context, self.lock.driver, session_id, until=until))
        seconds = time.process_time() - before
        if progress.last_outcome != "done":
            raise SystemExit(f"the turn ended as {progress.last_outcome}")
        return seconds

    def _approve(self, action: Action) -> None:
        decision = Decision(action_id=action.id, verdict="approve")
        assert decide_action(self.journal, decision, action.digest, USER).ok


def measure(name: str, folders: Sequence[Folder], times: int) -> float:
    """Print the processor time in each of the three folders; return the ratio of the second."""
    rounds = [[folder.drive(REPLIES[name]) for folder in folders] for _ in range(times)]
    empty, full, own = (statistics.median(found) * 1000 for found in zip(*rounds, strict=True))
    full_ratio = statistics.median(seconds[1] / seconds[0] for seconds in rounds)
    own_ratio = statistics.median(seconds[2] / seconds[0] for seconds in rounds)
    print(
        f"{name}: {full:.1f} ms ({full_ratio:.2f} x), with a settings file {own:.1f} ms ({own_ratio:.2f} x)"
    )
    print(f"  in an empty folder: {empty:.1f} ms")
    return full_ratio


def main() -> int:
    """Measure both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--times", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as top, ExitStack() as opened:
        folders = [
            Folder(Path(top, "empty"), 0, opened),
            Folder(Path(top, "full"), options.files, opened),
            Folder(Path(top, "own"), options.files, opened, '{"config_version": 1}'),
        ]
        for folder in folders:
            folder.drive(REPLIES["an approved edit"])  # loads what is imported late
        ratio = measure("a prompt and its reply", folders, options.times)
        measure("an approved edit", folders, options.times)
    return int(ratio > MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
