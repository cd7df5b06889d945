"""`workbench replay --headless`: events with their times, the state at a moment, and every refusal."""

import io
import json
from argparse import ArgumentParser

import pytest

from tests.support import golden
from workbench.cli import replay
from workbench.cli.console import Console
from workbench.cli.errors import Refusal, UsageError


@pytest.fixture
def run(tmp_path, monkeypatch):
    golden.load("rename-handler", tmp_path / "home").close()
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    session = golden.events("rename-handler")
    key = next(event.session_id for event in session if event.kind == "session.created")

    def execute(*words):
        parser = ArgumentParser()
        replay.configure(parser)
        options = parser.parse_args([key[:9] if word == "ID" else word for word in words])
        options.directory = str(tmp_path)
        out = io.StringIO()
        assert replay.execute(options, Console(out, out)) == 0
        return out.getvalue()

    return execute


def test_events_come_in_order_with_their_times(run):
    found = [json.loads(line) for line in run("ID", "--headless", "--json").splitlines()]
    assert [one["index"] for one in found] == list(range(1, len(found) + 1))
    assert [one["after"] for one in found] == sorted(one["after"] for one in found)
    assert found[0]["after"] == 0
    assert found[-1]["played_after"] < found[-1]["after"]
    assert {"session.created", "action.opened", "file.changed"} <= {one["kind"] for one in found}
    assert len(run("ID", "--headless").splitlines()) == len(found)


def test_the_state_at_a_moment_has_what_waited_and_how_long(run):
    events = [json.loads(line) for line in run("ID", "--headless", "--json").splitlines()]
    first = next(one["index"] for one in events if one["kind"] == "action.opened")
    then = json.loads(run("ID", "--headless", "--json", "--at", f"#{first}"))
    assert len(then["waiting"]) == 1
    assert 0 < then["waiting"][0]["left_seconds"] <= 900
    assert json.loads(run("ID", "--headless", "--json", "--at", "#1"))["waiting"] == []
    assert "nothing waited" in run("ID", "--headless", "--at", "100%")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("ID", "--headless", "--at", "soon"), UsageError),
        (("ID", "--headless", "--at", "#100000"), UsageError),
        (("ID", "--json"), UsageError),
        (("ID", "--headless", "--beside", "ID"), UsageError),
        (("ffffffff", "--headless"), Refusal),
        (("--headless",), Refusal),
        (("ID",), Refusal),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_words(words, error, run):
    with pytest.raises(error):
        run(*words)


def test_a_name_that_looks_like_a_file_is_not_taken_for_an_id(run):
    with pytest.raises(Refusal, match="no file of that name"):
        run("nothere.jsonl", "--headless")
