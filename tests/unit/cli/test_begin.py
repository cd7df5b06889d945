"""What a run needs before a session exists."""

import json

import pytest

from workbench.cli.main import main
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal.home import Home
from workbench.journal.journal import Journal

RECORDING = {"recording": 1, "model": "m", "exchanges": [{"reply": [{"text": "Hello."}]}]}


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "recording.json"
    path.write_text(json.dumps(RECORDING))
    return str(path)


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    path = tmp_path / "workspace"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


def sessions():
    with Journal.open(Home.open()) as journal:
        return [session for session in journal.sessions() if session.id != SYSTEM_SESSION]


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["run"], 2, "There is no prompt."),
        (["run", "-p", "  "], 2, "The prompt is empty."),
        (["run", "-p", "x"], 2, "Name an address with --base-url URL"),
        (
            ["run", "-p", "x", "--provider", "olama"],
            2,
            "Name one of these: anthropic, azure-openai, ollama, openai-compatible, openai-responses, recorded;",
        ),
        (["run", "-p", "x", "--provider", "recorded"], 2, "Name one with --recording FILE."),
        (["run", "-p", "x", "--recording", "/nowhere.json"], 1, "there is no such file"),
        (["run", "--continue", "--recording", "/x"], 2, "A session keeps what it was started with"),
        (["run", "--continue"], 1, "can continue"),
        (["run", "--session", "abcd"], 1, "There is no session “abcd”."),
        (["-C", "/nowhere", "run", "--continue"], 1, "“/nowhere” is not a workspace."),
    ],
)
def test_what_cannot_begin_begins_nothing(workspace, capsys, words, code, said):
    assert main(words) == code
    shown = capsys.readouterr()
    assert said in shown.err and shown.out == ""
    assert sessions() == []


@pytest.mark.spec(4)
def test_an_empty_model_is_refused(workspace, recording, capsys):
    assert main(["run", "-p", "x", "--recording", recording, "--model", ""]) == 1
    assert "The model is empty." in capsys.readouterr().err
    assert sessions() == []


def test_a_broken_recording_is_refused_before_a_session_exists(workspace, tmp_path, capsys):
    broken = tmp_path / "broken.json"
    broken.write_text('{"recording": 1,\n "exchanges": [{"replies": []}]}')
    assert main(["run", "-p", "x", "--recording", str(broken)]) == 1
    err = capsys.readouterr().err
    assert "line 2" in err and "replies" in err
    assert sessions() == []
