"""What a model thought goes with its session: no file of the data folder holds a word of it."""

import pytest

from tests.support.stage import exchange, recording, text
from workbench.cli.main import main
from workbench.journal.journal import Journal

MARKER = "zq7-marker-of-a-thought"
KEY = "sk_live_" + "9aK2mQ7xW4tR8vB1nC5z"


def holding(folder, *words):
    """Return the files that hold a word."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(
        str(path.relative_to(folder))
        for path in files
        if any(word.encode() in path.read_bytes() for word in words)
    )


@pytest.mark.parametrize(
    "thought", [f"{MARKER} and the key {KEY}", f"{MARKER} " + "x" * 300_000], ids=["a key", "long"]
)
def test_thinking_leaves_with_its_session(staged, monkeypatch, thought):
    stage = staged(recording(exchange({"thinking": thought}, text("done"))))
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))
    stage.recording.rename(stage.root.parent / "recording-elsewhere.json")
    stage.recording.symlink_to(stage.root.parent / "recording-elsewhere.json")
    stage.begin().drive()
    stage.say("nothing")
    stage.drive()
    assert holding(stage.home.path, MARKER)
    assert holding(stage.home.path, KEY) == []
    stage.journal.close()
    assert main(["sessions", "delete", stage.session_id, "--yes"]) == 0
    stage.journal = Journal.open(stage.home)
    assert holding(stage.home.path, MARKER, KEY) == []
