"""`workbench sessions export`, on a real journal."""

import json

import pytest

from tests.support.stage import Stage, exchange, recording, text
from workbench.cli.dispatch import dispatch
from workbench.domain.codec import parse_line
from workbench.formats import wink


@pytest.fixture
def exported(tmp_path, monkeypatch, capsys):
    stage = Stage(tmp_path, recording(exchange(text("Hello \u202ethere."))))
    stage.begin("hi").drive()
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))

    def export(*words):
        assert dispatch(["sessions", "export", stage.session_id, *words]) == 0
        return capsys.readouterr().out

    export.stage = stage
    yield export
    stage.close()


@pytest.mark.spec(213)
def test_events_come_out_as_they_are_stored(exported):
    events = [parse_line(line) for line in exported().splitlines()]
    assert events == exported.stage.journal.events(exported.stage.session_id)


def test_the_formats_of_others(exported):
    assert wink.read(exported("--format", "wink")).problems == ()
    assert [m["role"] for m in json.loads(exported("--format", "assistant").splitlines()[0])["messages"]] == [
        "system",
        "user",
        "assistant",
    ]
    lines = [json.loads(line) for line in exported("--format", "kaiak").splitlines()]
    assert lines[0]["session"]["status"] == "Ready"


def test_no_hidden_character_reaches_a_terminal(exported):
    for form in ("events", "wink", "kaiak", "assistant"):
        assert "\u202e" not in exported("--format", form)
