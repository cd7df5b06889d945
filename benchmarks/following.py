"""Measure following a session file: processor time against that of importing the same file.

    python benchmarks/following.py [--mb N]

The lines are made up in the shape of Claude Code's (`importing.py`). The file is followed in pieces of 64 KB,
as it grows, and at once, as when an older import is taken over. Each is held to 1.2 times the import. Exits
with 1 if one is above.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from benchmarks.importing import write
from workbench.formats import detect
from workbench.host.driver_context import SessionWriter, open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.session_provider import make_provider
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.supervised_session import require_supervised_session
from workbench.host.transcript_follower import OpenTurn, TranscriptFollower
from workbench.journal.home import Home
from workbench.journal.imports import SessionImport
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock, lease_guard, take_lease
from workbench.supervised.messages import Hello
from workbench.supervised.tools import SessionTools

PIECE = 1 << 16


def import_seconds(folder, path):
    """Import a file into a home of its own; returns seconds of processor time."""
    with Journal.open(Home.open(folder / "import-home")) as journal, path.open("rb") as stream:
        begin = time.process_time()
        intake = SessionImport(journal)
        opened = detect.open_file(
            stream, "x", 0, None, store=intake.store, current_id=intake.current_id, recorded_at=intake.now,
            seal=intake.seal, is_paid=intake.is_paid,
        )  # fmt: skip
        for event in opened.events:
            intake.add(event)
        intake.finish()
        return time.process_time() - begin


def follow_seconds(folder, name, path, piece):
    """Follow a copy of a file that grows by pieces; returns seconds of processor time and events."""
    home, workspace, grown = folder / f"{name}-home", folder / name, folder / f"{name}.jsonl"
    workspace.mkdir()
    grown.touch()
    with Journal.open(Home.open(home)) as journal:
        identity = driver_identity(journal, str(workspace), "run")
        with DriverLock(journal, identity) as lock:
            hello = Hello(
                agent="claude", session="s", cwd=str(workspace), format="claude-code", transcript=str(grown)
            )
            session = require_supervised_session(journal, hello, str(workspace), lock.driver)
            context = open_driver_context(
                Home.open(home),
                journal,
                str(workspace),
                provider=make_provider,
                pipelines=SessionPipelineStarter,
            )
            context = replace(context, tools=SessionTools(context.tools))
            writer = SessionWriter(
                context, session.id, lease_guard(take_lease(journal, session.id, lock.driver))
            )
            follower = TranscriptFollower(writer, context.tools)
            follower.follow(hello)
            begin = time.process_time()
            asyncio.run(grow(follower, journal, session.id, path, grown, piece))
            return time.process_time() - begin, len(list(journal.events(session.id)))


async def grow(follower, journal, session_id, path, grown, piece):
    """Add a file's bytes piece by piece to another one, and look at that each time."""
    turn, cursor = OpenTurn(), 0
    with path.open("rb") as source, grown.open("ab", buffering=0) as target:
        while data := source.read(piece):
            target.write(data)
            follower.has_more = True
            while follower.has_more:
                turn = await follower.look(turn)
                events = journal.events(session_id, after=cursor)
                for event in events:
                    follower.note(event)
                    cursor = event.position


def main():
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=20)
    options = parser.parse_args()
    random.seed(1)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        path = folder / "lines.jsonl"
        write(path, options.mb * 1_000_000)
        imported = import_seconds(folder, path)
        is_held = True
        print(f"imported           {imported:6.2f} s of processor time for {options.mb} MB")
        for words, piece in (("in pieces", PIECE), ("at once", options.mb * 2_000_000)):
            seconds, events = follow_seconds(folder, words.replace(" ", "-"), path, piece)
            print(
                f"followed {words:<9} {seconds:6.2f} s, {seconds / imported:.2f} times (≤ 1.2),"
                f" {events} events"
            )
            is_held &= seconds <= 1.2 * imported
    return 0 if is_held else 1


if __name__ == "__main__":
    sys.exit(main())
