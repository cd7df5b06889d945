"""A session that grows while its replay is open grows there once, and a file that is written is followed."""

import json
import os
import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.waits import until
from workbench.cli.replay_follower import FileFollower, file_stamp
from workbench.domain.events import PromptSubmitted
from workbench.formats.import_sources import find_sources
from workbench.host.session_import import ImportRequest, SilentProgress, import_sources
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal
from workbench.tui.replay.replay_source import ReplaySource


def lines(*texts, begin):
    return "".join(
        json.dumps(
            {"type": "user", "uuid": f"u{n}", "sessionId": "s1", "cwd": "/shop",
             "timestamp": (begin + timedelta(seconds=n)).isoformat(), "message": {"role": "user", "content": text}}
        ) + "\n"
        for n, text in enumerate(texts)
    )  # fmt: skip


@pytest.fixture
def journal(tmp_path):
    with Journal.open(Home.open(tmp_path / "home")) as opened:
        yield opened


def take(journal, path):
    return import_sources(journal, find_sources([str(path)]), ImportRequest(), SilentProgress())


def session_of(journal):
    return next(session for session in journal.sessions() if session.origin)


def prompts(source):
    found = [source.event_at(index) for index in range(1, len(source.timeline) + 1)]
    return [event.body.text for event in found if event and isinstance(event.body, PromptSubmitted)]


BEGIN = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_an_open_replay_grows_once_and_stays_where_it_is(journal, tmp_path):
    path = tmp_path / "s1.jsonl"
    path.write_text(lines("one", "two", begin=BEGIN))
    take(journal, path)
    before = [event.position for event in journal.events(session_of(journal).id)]
    source = ReplaySource(journal, session_of(journal))
    source.seek(4)
    shown = source.event_at(4)
    path.write_text(lines("one", "two", "three", "four", begin=BEGIN))
    take(journal, path)
    assert source.grow() > 0
    assert prompts(source) == ["one", "two", "three", "four"]
    assert len(source.timeline) == len(journal.events(session_of(journal).id))
    assert source.timeline.went_back == 0
    assert (source.index, source.event_at(4)) == (4, shown)
    assert source.grow() == 0
    after = [event.position for event in journal.events(session_of(journal).id)]
    assert after[: len(before) - 1] == before[:-1], "what was there keeps its place"
    assert index_table_differences(journal) == []


def test_a_session_that_was_told_otherwise_is_read_anew(journal, tmp_path):
    path = tmp_path / "s1.jsonl"
    path.write_text(lines("one", "two", "three", begin=BEGIN))
    take(journal, path)
    source = ReplaySource(journal, session_of(journal))
    source.seek(len(source.timeline))
    path.write_text(lines("one", "otherwise", begin=BEGIN + timedelta(hours=1)))
    take(journal, path)
    source.grow()
    assert prompts(source) == ["one", "otherwise"]
    assert source.index == len(source.timeline)
    assert index_table_differences(journal) == []


def test_a_file_at_work_is_followed_and_stays_open(journal, tmp_path):
    path = tmp_path / "s1.jsonl"
    now = datetime.now(UTC)
    path.write_text(lines("one", begin=now))
    from workbench.cli.console import Console
    from workbench.cli.replay import ReplayFile, _read_file, import_replay_file

    file = ReplayFile(file=str(path))
    opened = import_replay_file(journal, file, Console(), is_lent=True)
    source = ReplaySource(journal, opened.session)
    assert opened.session.status == "ready" and source.may_grow
    follower = FileFollower(
        journal, str(path), opened.stamp, lambda intake: _read_file(file, intake, SilentProgress()), 0.02
    )
    try:
        path.write_text(lines("one", "two", begin=now))
        until(source.grow)
        assert prompts(source) == ["one", "two"]
        assert session_of(journal).status == "ready"
        os.utime(path, (time.time() - 3_600,) * 2)
        until(lambda: session_of(journal).status == "completed")
    finally:
        follower.close()
    assert file_stamp(str(tmp_path / "gone")) is None


def test_what_ended_long_ago_does_not_grow(journal, tmp_path):
    path = tmp_path / "s1.jsonl"
    path.write_text(lines("one", begin=BEGIN - timedelta(days=900)))
    take(journal, path)
    assert not ReplaySource(journal, session_of(journal)).may_grow
