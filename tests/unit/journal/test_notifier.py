"""The change notifier: it tells of every commit of any process, wakes whoever waits, and is silent otherwise."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.support.waits import PATIENCE
from tests.unit.journal.scenes import USER, open_journal, start
from workbench.domain.events import PromptSubmitted
from workbench.journal import journal as journal_journal
from workbench.journal.journal import Journal

ROOT = Path(__file__).parents[3]
CHILD = """
import sys
from pathlib import Path
from tests.unit.journal.scenes import USER, open_journal
from workbench.domain.events import PromptSubmitted
journal = open_journal(Path(sys.argv[1]))
print("ready", flush=True)
for line in sys.stdin:
    journal.append([journal.event(PromptSubmitted(text=line), "s", USER)])
    print("done", flush=True)
"""


def prompt(journal: Journal) -> None:
    journal.append([journal.event(PromptSubmitted(text="x"), "s", USER)])


def test_waiting_ends_at_once_when_something_is_there(journal: Journal) -> None:
    start(journal)
    assert journal.wait(3, timeout=PATIENCE)
    assert not journal.wait(4, timeout=0)


def test_waiting_ends_when_something_comes(journal: Journal) -> None:
    start(journal)
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(journal.wait(4, timeout=PATIENCE)))
    thread.start()
    prompt(journal)
    thread.join()
    assert found == [True]


def test_waiting_ends_with_its_time(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    start(journal)
    assert not journal.notifier.wait(journal.notifier.changes, 0)
    asked: list[float] = []

    def ends(changes: int, timeout: float) -> bool:
        assert not asked, "waited again when the time was over"
        asked.append(timeout)
        return False

    monkeypatch.setattr(journal.notifier, "wait", ends)
    assert not journal.wait(4, timeout=PATIENCE)
    assert len(asked) == 1 and 0 < asked[0] <= PATIENCE


def test_a_listener_is_called_until_it_leaves_and_harms_no_other(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    start(journal)
    rung = threading.Semaphore(0)

    def broken() -> None:
        raise LookupError("mine")

    journal.on_change(broken)
    leave = journal.on_change(lambda: rung.release())
    prompt(journal)
    assert rung.acquire(timeout=PATIENCE)
    prompt(journal)
    assert rung.acquire(timeout=PATIENCE)
    leave()
    leave()
    assert "listener" in caplog.text


@pytest.mark.parametrize("has_watch", [True, False])
def test_a_commit_of_another_process_rings_here(
    journal: Journal, has_watch: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(journal)
    monkeypatch.setattr(journal_journal, "POLL_SECONDS", 600.0)
    if not has_watch:
        monkeypatch.setattr(journal_journal, "_watch_database", lambda *_: None)
    command = [sys.executable, "-c", CHILD, str(journal.home.path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        for number in range(3):
            cursor = journal.last_position()
            assert cursor == 4 + number
            child.stdin.write(b"go\n")
            child.stdin.flush()
            assert journal.wait(cursor, timeout=PATIENCE)
            assert child.stdout.readline() == b"done\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing watches")
def test_a_commit_is_announced_after_it_can_be_seen(journal: Journal) -> None:
    start(journal)
    rung = threading.Event()
    stop = journal_journal._watch_database(journal.home, rung.set)
    assert stop is not None
    try:
        rung.clear()
        journal.notifier.announce()
        assert rung.wait(PATIENCE)
    finally:
        stop()


QUIET = """
import sys, time, threading
from pathlib import Path
from tests.unit.journal.scenes import open_journal
journal = open_journal(Path(sys.argv[1]))
rings, first = [], threading.Event()
journal.on_change(lambda: (rings.append(1), first.set()))
first.wait(30)
journal.wait(journal.last_position(), 0.3)
def switches():
    total = 0
    for task in Path("/proc/self/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                total += int(line.split()[1])
    return total
files = {path: path.stat().st_mtime_ns for path in journal.home.path.rglob("*")}
before, rung = switches(), len(rings)
journal.wait(journal.last_position(), 1.0)
woken = switches() - before
changed = [str(p) for p in journal.home.path.rglob("*") if files.get(p) != p.stat().st_mtime_ns]
print(woken, len(rings) - rung, changed)
journal.close()
"""


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="counts context switches as Linux tells them"
)
def test_an_idle_listener_sleeps_and_writes_nothing(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        start(journal)
    found = subprocess.run(
        [sys.executable, "-c", QUIET, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split(maxsplit=2)
    assert float(found[0]) <= 16
    assert found[1:] == ["0", "[]\n"]


def test_closing_lets_whoever_waits_go(journal: Journal) -> None:
    start(journal)
    notifier = journal.notifier
    found: list[bool] = []
    began = time.monotonic()
    thread = threading.Thread(target=lambda: found.append(notifier.wait(10**9, 60)))
    notifier.on_change(lambda: None)
    rings = notifier.changes
    thread = threading.Thread(target=lambda: found.append(notifier.wait(rings + 10**9, 10 * PATIENCE)))
    thread.start()
    notifier.close()
    thread.join()
    assert found == [True]
    assert time.monotonic() - began < PATIENCE


def test_drivers_are_woken_without_a_commit(journal: Journal) -> None:
    start(journal)
    rung = threading.Event()
    stop = journal.on_change(rung.set)
    try:
        assert rung.wait(PATIENCE)
        rung.clear()
        journal.notifier.wake()
        assert rung.wait(PATIENCE)
    finally:
        stop()
