"""`workbench sessions export`, on a real journal."""

import json

import pytest
from conftest import Screen, Stream

from tests.support.stage import Stage, exchange, recording, text
from workbench.cli import session_export
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.domain.codec import EVENT_FORMAT_VERSION, event_from_line
from workbench.formats import seed_files
from workbench.journal.errors import GuardFailed
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock, take_lease
from workbench.tools.registry import tool_descriptors


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
    head, *lines = exported().splitlines()
    assert json.loads(head) == {"workbench_session": 1, "schema": EVENT_FORMAT_VERSION}
    events = [event_from_line(line) for line in lines]
    assert events == exported.stage.journal.events(exported.stage.session_id)


def test_the_formats_of_others(exported):
    assert list(seed_files.wink_violations(json.loads(exported("--format", "wink")))) == []
    (document,) = map(json.loads, exported("--format", "assistant").splitlines())
    assert [turn["role"] for turn in document["messages"]] == ["user", "assistant"], "it has no system prompt"
    assert {tool["id"] for tool in document["activeTools"]} == {tool.id for tool in tool_descriptors()}
    lines = [json.loads(line) for line in exported("--format", "kaiak").splitlines()]
    assert lines[0]["session"]["status"] == "Ready"


def test_no_hidden_character_reaches_a_terminal(exported):
    for form in ("events", "wink", "kaiak", "assistant", "atif", "markdown"):
        assert "\u202e" not in exported("--format", form)


@pytest.mark.spec(213)
def test_an_export_comes_back_as_an_equal_session(exported, tmp_path, monkeypatch, capsys):
    path = tmp_path / "session.jsonl"
    path.write_text(exported(), encoding="utf-8")
    assert dispatch(["sessions", "import", str(path), "--json"]) == 1
    assert "was made here" in json.loads(capsys.readouterr().out)["files"][0]["why_not"]
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "other"))
    for result in ("imported", "unchanged"):
        assert dispatch(["sessions", "import", str(path), "--json"]) == 0
        assert [one["result"] for one in json.loads(capsys.readouterr().out)["sessions"]] == [result]
    again = exported()
    stored = ("recorded_at", "position")

    def plain(text):
        lines = [json.loads(line) for line in text.splitlines()]
        return [{key: value for key, value in line.items() if key not in stored} for line in lines]

    assert plain(again) == plain(path.read_text(encoding="utf-8"))
    assert dispatch(["sessions", "show", exported.stage.session_id, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["status"], shown["kind"]) == ("ready", "chat")


def test_an_imported_session_is_not_driven(exported, tmp_path, monkeypatch, capsys):
    path = tmp_path / "session.jsonl"
    path.write_text(exported(), encoding="utf-8")
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "other"))
    assert dispatch(["sessions", "import", str(path)]) == 0
    with Journal.open(Home.open(tmp_path / "other")) as journal:
        driver = DriverIdentity(host_id="h", pid=7)
        with DriverLock(journal, driver), pytest.raises(GuardFailed, match="imported"):
            take_lease(journal, exported.stage.session_id, driver)
        assert index_table_differences(journal) == []


def test_markdown_is_to_be_read(exported):
    text = exported("--format", "markdown")
    assert text.startswith("# test\n")
    assert "## You\n\nhi" in text
    assert "Hello ⟨U+202E⟩there." in text


def test_atif_numbers_its_steps(exported):
    found = json.loads(exported("--format", "atif"))
    assert [(one["step_id"], one["source"]) for one in found["steps"]] == [(1, "user"), (2, "agent")]
    assert found["schema_version"].startswith("ATIF-v1.")


@pytest.mark.parametrize(
    ("form", "told"),
    [("transcript", "reading the session"), ("events", "B written"), ("cast", "moments drawn")],
)
def test_a_terminal_behind_stderr_shows_how_far_an_export_is(exported, tmp_path, monkeypatch, form, told):
    monkeypatch.setattr(session_export, "_CHARACTERS_PER_STATUS", 1)
    monkeypatch.setenv("TERM", "xterm")
    err, target = Screen(), tmp_path / "out"
    words = ["sessions", "export", exported.stage.session_id, "--format", form, "--output", str(target)]
    assert dispatch(words, Console(Stream(), err)) == 0
    shown = err.getvalue()
    assert told in shown and shown.index(told) < shown.rindex(str(target))
    assert not any(words in shown.rpartition("\r")[2] for words in (told, "reading the session"))
