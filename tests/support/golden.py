"""Read golden sessions: their events and blobs, or a journal that holds one.

Owns the reading of the files below `tests/golden`. It never makes or changes them; `tests.golden.make` does.
"""

import hashlib
import json
from pathlib import Path

from tests.support.sizes import rarely
from workbench.domain.codec import event_from_line
from workbench.effects.clock import ManualClock
from workbench.journal.home import Home
from workbench.journal.journal import Journal

FOLDER = Path(__file__).resolve().parents[1] / "golden"

KEY = hashlib.sha256(b"golden sessions: fabricated, protects nothing").digest()
"""The home's key in every golden session: with it digests and names of blobs can be made again."""


def names():
    """Return the names of all golden sessions, sorted."""
    return sorted(path.parent.name for path in FOLDER.glob("*/session.jsonl"))


SAMPLE = (
    "release-run", "lint-fixes", "supervised", "meta-run", "commands", "trust-question", "hotfix-run", "busy-queue",
    "provider-errors", "hostile-text", "long-session", "stale-file", "bump-deps",
)  # fmt: skip
"""Sessions that hold events of every kind that a golden session has; a commit shows these on whole screens."""


def sampled_names():
    """Return the names as rows of `parametrize`: those of the sample at each commit, all in the campaign."""
    return [name if name in SAMPLE else rarely(name, name=name) for name in names()]


def lines(name):
    """Yield the lines of a session file after its header, as text."""
    text = (FOLDER / name / "session.jsonl").read_text(encoding="utf-8")
    # Not splitlines: what a tool printed may hold other line ends.
    yield from text.removesuffix("\n").split("\n")[1:]


def header(name):
    """Return the first line: format and schema."""
    with (FOLDER / name / "session.jsonl").open(encoding="utf-8") as file:
        return json.loads(file.readline())


def events(name):
    """Yield the events of a golden session in order."""
    return (event_from_line(line) for line in lines(name) if not _is_blob(line))


def blobs(name):
    """Return the recorded blobs of a golden session: reference -> bytes. Sealed ones are never in a file."""
    found = (json.loads(line) for line in lines(name) if _is_blob(line))
    return {line["blob"]: line["text"].encode() for line in found}


def load(name, path, clock=None):
    """Return an open journal in a fresh home that holds a golden session.

    Args:
        name: Which.
        path: A folder that does not exist yet; it becomes the home.
        clock: Of the journal; unless given it stands still at the last event.
    """
    path.mkdir(mode=0o700, parents=True)
    (path / "key").write_bytes(KEY)
    (path / "key").chmod(0o600)
    every = list(events(name))
    journal = Journal.open(Home.open(path), clock or ManualClock(max(event.at for event in every)))
    for ref, data in blobs(name).items():
        assert journal.blobs.record(data) == ref
    journal.append(every, strict=False)
    return journal


def _is_blob(line):
    return line.startswith('{"blob":')
