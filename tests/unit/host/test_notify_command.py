"""The command that carries notices: once for each event of its folder, bounded, and never for what is over."""

import json
import logging
import os
import threading

import msgspec
import pytest

from tests.support.stage import call, exchange, recording, result, text
from tests.support.supervised_place import SERVE
from tests.support.waits import PATIENCE, until
from tests.unit.journal import scenes
from workbench.config.sections import NoticeCommandSettings
from workbench.config.types import Config
from workbench.domain.events import (
    ActionCancelled,
    ActionSuperseded,
    RunChanged,
    RunRequested,
    SessionCreated,
    TurnEnded,
    TurnStarted,
)
from workbench.effects.clock import ManualClock
from workbench.host import notify_command
from workbench.host.notify_command import CommandNotices, NoticeNotDelivered, deliver_notice
from workbench.journal.errors import JournalError
from workbench.views.command_notices import sample_notice

HERE = "/src/shop"
WINDOW = scenes.WINDOW // 1_000_000


class Place:
    """A journal with a clock that moves when told, and the thread that watches it."""

    def __init__(self, folder):
        self.clock = ManualClock()
        self.journal = scenes.open_journal(folder / "home", self.clock)
        self.received = folder / "received"
        self.command = f"cat >> {self.received}"
        self.watch = None

    def begin(self):
        self.watch = CommandNotices(self.journal, HERE, self.config)

    def config(self):
        return Config(notify=NoticeCommandSettings(command=self.command))

    def session(self, key="s", **facts):
        body = SessionCreated(**{"workspace": HERE, "title": "rename", **facts})
        self.append(body, key)
        for status in ("initializing", "ready", "processing"):
            self.append(scenes.status(status), key)

    def append(self, body, key="s", **more):
        self.journal.append([self.journal.event(body, key, scenes.HOST, **more)])

    def pass_time(self, seconds):
        self.clock.advance(seconds)
        self.journal.notifier.wake()

    def notices(self):
        lines = self.received.read_text().splitlines() if self.received.exists() else []
        return [json.loads(line) for line in lines]

    def said(self):
        return [(notice["event"], notice["target"] or notice["title"]) for notice in self.notices()]

    def end_turn(self, key="s", outcome="done"):
        """End a turn: its notice comes after those of all that was due before."""
        self.append(TurnStarted(provider="p", model="m"), key, turn_id=f"t-{key}")
        self.append(TurnEnded(outcome=outcome), key, turn_id=f"t-{key}")

    def close(self):
        if self.watch is not None:
            self.watch.close()
        self.journal.close()


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.close()


def test_a_row_is_reported_when_it_has_waited_a_second_and_two_minutes_before_its_end(place):
    place.session()
    place.begin()
    scenes.question(place.journal, "a1", "s", target="src/a.py", verb="edit", warnings=("deletes",))
    place.pass_time(1)
    (notice,) = until(place.notices)
    assert notice == {
        "event": "row_opened", "text": "Waits for you: edit src/a.py (workbench, shop)",
        "at": "2023-11-14T22:13:21.000000Z", "session": "s", "title": "rename", "agent": "workbench",
        "folder": HERE, "row": "a1", "kind": "edit", "target": "src/a.py", "risks": ["deletes"],
        "expires_at": "2023-11-14T22:28:20.000000Z", "outcome": None,
    }  # fmt: skip
    place.pass_time(WINDOW - 121)
    until(lambda: len(place.notices()) == 2)
    assert place.notices()[1]["text"] == "Expires in 2 minutes: edit src/a.py (workbench, shop)"


def test_what_is_answered_within_a_second_or_belongs_elsewhere_is_not_reported(place):
    scenes.question(place.journal, "before", "system", subject={"workspace": HERE})
    place.session()
    place.session("other", workspace="/src/other")
    place.begin()
    scenes.question(place.journal, "quick", "s")
    scenes.question(place.journal, "elsewhere", "other")
    scenes.question(place.journal, "trust", "system", subject={"workspace": "/src/other"})
    scenes.question(place.journal, "kept", "system", subject={"workspace": HERE}, target="kept")
    place.append(ActionCancelled(), action_id="quick")
    place.pass_time(1)
    assert until(place.said) == [("row_opened", "kept")]
    assert [place.notices()[0][name] for name in ("session", "title", "agent")] == ["", "", ""]
    place.end_turn("other")
    place.end_turn("s")
    until(lambda: len(place.notices()) == 2)
    assert place.said()[1] == ("turn_ended", "rename")


def test_a_row_that_stands_in_for_another_is_the_same_notice_with_a_new_end(place):
    place.session()
    place.begin()
    scenes.question(place.journal, "old", "s")
    place.append(ActionSuperseded(successor="new", why="restacked"), action_id="old")
    scenes.question(place.journal, "new", "s", supersedes="old", target="b.py")
    place.pass_time(1)
    assert until(place.said) == [("row_opened", "b.py")]
    place.pass_time(WINDOW - 121)
    until(lambda: len(place.notices()) == 2)
    assert place.said()[1] == ("row_expiring", "b.py")


def test_a_row_with_less_than_two_minutes_at_the_start_or_without_an_end_is_not_about_to_expire(place):
    place.session()
    place.session("other", workspace="/src/other")
    now = place.clock.now()
    for session, key, end in (
        ("s", "known", now + 200_000_000),
        ("s", "late", now + 100_000_000),
        ("s", "for ever", None),
        ("other", "elsewhere", now + 200_000_000),
    ):
        scenes.question(place.journal, key, session, target=key, expires_at=end)
    place.begin()
    place.pass_time(81)
    until(place.said)
    place.end_turn()
    until(lambda: len(place.notices()) == 2)
    assert place.said() == [("row_expiring", "known"), ("turn_ended", "rename")]


def test_a_row_that_ended_before_its_turn_came_is_not_about_to_expire(place):
    place.session()
    for key, seconds in (("slept", 130), ("known", 200)):
        end = place.clock.now() + seconds * 1_000_000
        scenes.question(place.journal, key, "s", target=key, expires_at=end)
    place.begin()
    place.pass_time(150)
    assert until(place.said) == [("row_expiring", "known")]


def test_a_turn_says_how_it_ended_and_a_run_that_it_failed(place):
    place.session("a", title="a")
    place.session("b", title="b")
    place.session("c", title="c")
    place.session("i", title="i", origin="codex")
    place.begin()
    place.end_turn("i")
    place.end_turn("a", "interrupted")
    place.end_turn("b", "unattended")
    place.end_turn("c", "error")
    run = {"session_kind": "pipeline", "workspace": HERE}
    for key, parent, status in (("r1", None, "completed"), ("r2", "r3", "failed"), ("r3", None, "failed")):
        place.append(SessionCreated(title=key, parent_id=parent, **run), key)
        place.append(RunRequested(pipeline="nightly"), key)
        place.append(RunChanged(status="running"), key)
        place.append(RunChanged(status=status), key)
    until(lambda: len(place.notices()) == 3)
    assert [(notice["event"], notice["title"], notice["outcome"]) for notice in place.notices()] == [
        ("turn_ended", "b", "paused"), ("turn_ended", "c", "failed"), ("run_failed", "r3", "failed"),
    ]  # fmt: skip
    assert place.notices()[2]["text"] == "Run failed: r3 (workbench, shop)"


def test_nothing_is_sent_for_what_happened_while_no_command_was_set(place):
    command, place.command = place.command, None
    place.session()
    place.begin()
    place.end_turn()
    place.command = command
    place.watch._look()
    place.session("s2", title="later")
    place.end_turn("s2")
    assert until(place.said) == [("turn_ended", "later")]


def test_the_queue_is_bounded_and_what_fails_only_logs(place, caplog, monkeypatch):
    monkeypatch.setattr(notify_command, "MAX_QUEUED", 1)
    place.command = f"cat >> {place.received}; echo sk-ant-api03-{'a1B2' * 24} >&2; exit 3"
    looks = []
    look = CommandNotices._look

    def failing_once(watch):
        looks.append(1)
        if len(looks) == 2:
            raise JournalError("the journal was not read", "the disk failed", "try again")
        look(watch)

    monkeypatch.setattr(CommandNotices, "_look", failing_once)
    with caplog.at_level(logging.WARNING, "workbench.host"):
        for key in ("s1", "s2", "s3"):
            place.session(key, title=key)
        place.begin()
        until(lambda: "the disk failed" in caplog.text)
        events = [
            place.journal.event(body, key, scenes.HOST, turn_id=f"t-{key}")
            for key in ("s1", "s2", "s3")
            for body in (TurnStarted(provider="p", model="m"), TurnEnded(outcome="done"))
        ]
        place.journal.append(events)
        until(lambda: "it ended with 3" in caplog.text)
    assert place.said() == [("turn_ended", "s1")]
    assert caplog.text.count("a notice was dropped") == 2
    assert "sk-ant" not in caplog.text


def test_closing_ends_a_command_that_runs(place, monkeypatch, caplog):
    monkeypatch.setattr(notify_command, "COMMAND_SECONDS", 2 * PATIENCE)
    place.command = f"cat >> {place.received}; echo $$ > {place.received}.pid; exec sleep {2 * int(PATIENCE)}"
    place.session()
    place.begin()
    place.end_turn()
    told = place.received.with_suffix(".pid")
    until(lambda: told.exists() and told.read_text().strip())
    watch, place.watch = place.watch, None
    closing = threading.Thread(target=watch.close, daemon=True)
    closing.start()
    until(lambda: not closing.is_alive())
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)
    assert "notify.command" not in caplog.text


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("./notify.sh", "the hook names {home}/notify.sh, which is not there"),
        ("kill -KILL $$", "a signal ended it"),
        ("sleep 60", "it was ended after 0 s"),
        ("echo no; false", "it ended with 1: no"),
    ],
)
def test_why_a_notice_was_not_delivered(tmp_path, monkeypatch, command, why):
    monkeypatch.setattr(notify_command, "COMMAND_SECONDS", 0.2 if command == "sleep 60" else PATIENCE)
    with pytest.raises(NoticeNotDelivered, match=why.format(home=tmp_path)):
        deliver_notice(tmp_path, Config(), command, sample_notice(HERE, 0))


def test_the_command_has_no_secret_and_no_relative_path_and_works_in_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SERVICE_TOKEN", "x")
    monkeypatch.setenv("PATH", f"bin:{os.environ['PATH']}")
    deliver_notice(tmp_path, Config(), "{ pwd; env; } > seen", sample_notice(HERE, 0))
    first, *variables = (tmp_path / "seen").read_text().splitlines()
    assert first == str(tmp_path)
    assert not [line for line in variables if line.startswith(("SERVICE_TOKEN", "PATH=bin"))]
    assert "WORKBENCH_AGENT=1" in variables


def test_the_command_looks_for_no_program_in_the_workspace(tmp_path, monkeypatch):
    tools = tmp_path / "project/bin"
    tools.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    deliver_notice(tmp_path, Config(), "echo $PATH > seen", sample_notice(str(tmp_path / "project"), 0))
    assert str(tools) not in (tmp_path / "seen").read_text()


def test_a_command_that_cannot_be_started_is_said(tmp_path):
    with pytest.raises(NoticeNotDelivered, match="it was not run"):
        deliver_notice(tmp_path / "gone", Config(), "true", sample_notice(HERE, 0))


def test_the_background_process_sends_each_notice_once(staged, hosted):
    create = call("c1", "create_file", path="n.txt", content="secret of the file\n")
    stage = staged(recording(exchange(create), exchange(text("ok"), expect=result("c1", "succeeded"))))
    received = stage.root / "received"
    command = {"config_version": 1, "notify": {"command": f"cat >> {received}"}}
    (stage.home.path / "config.json").write_text(json.dumps(command))
    for _ in range(2):
        hosted(stage)
    stage.begin()
    (action,) = until(stage.waiting)
    until(received.exists)
    assert stage.approve(action).ok
    until(lambda: received.read_text().count("\n") >= 2)
    notices = [msgspec.json.decode(line) for line in received.read_text().splitlines()]
    assert [(notice["event"], notice["target"], notice["outcome"]) for notice in notices] == [
        ("row_opened", "n.txt", None),
        ("turn_ended", None, "ended"),
    ]
    assert "secret of the file" not in received.read_text()


@pytest.fixture
def hosted():
    """Start background processes, which end with the test."""
    import subprocess
    import sys

    started = []

    def start(stage):
        words = [sys.executable, "-c", SERVE, str(stage.home.path), str(stage.workspace), "30"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen(words, **quiet))

    yield start
    for process in started:
        process.kill()
        process.wait()
