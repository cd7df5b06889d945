"""`workbench replay FILE`: any file that can be imported, and nothing of it left unless it was asked for."""

import io
import json
import os
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

import pytest

from tests.support import golden
from workbench.cli import replay
from workbench.cli.console import Console
from workbench.cli.errors import Refusal, UsageError
from workbench.cli.main import main
from workbench.effects.file_locks import FileLock
from workbench.journal.home import Home
from workbench.journal.journal import Journal

CLAUDE = [
    {"type": "user", "uuid": "u1", "sessionId": "s", "cwd": "/srv/shop", "timestamp": "2026-03-01T10:00:00Z",
     "message": {"role": "user", "content": "Rename the handler."}},
    {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s",
     "timestamp": "2026-03-01T10:00:04Z", "message": {"role": "assistant", "model": "m", "id": "r1",
     "content": [{"type": "text", "text": "Renamed."}]}},
]  # fmt: skip
TRAJECTORY = {
    "environment": "main", "info": {"exit_status": "submitted"},
    "trajectory": [{"action": "ls", "observation": "a.py", "response": "I look.", "thought": "I look."},
                   {"action": "submit", "observation": "", "response": "Done.", "thought": "Done."}],
    "history": [],
}  # fmt: skip


@pytest.fixture
def place(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def replayed(place, *words):
    parser = ArgumentParser()
    replay.configure(parser)
    options = parser.parse_args(list(words))
    options.directory = str(place)
    out, err = io.StringIO(), io.StringIO()
    assert replay.execute(options, Console(out, err)) == 0
    assert list((place / "temporary").iterdir()) == []
    return out.getvalue(), err.getvalue()


def claude(place, *, sessions=1):
    lines = [
        json.dumps({**one, "sessionId": f"s{number}", "uuid": f"{number}{one['uuid']}",
                    "parentUuid": f"{number}{one['parentUuid']}" if "parentUuid" in one else None})
        for number in range(sessions)
        for one in CLAUDE
    ]  # fmt: skip
    path = place / "session.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_foreign_file_is_replayed_and_leaves_nothing(place):
    path = claude(place)
    out, _ = replayed(place, str(path), "--headless", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert "Rename the handler." in [one["words"] for one in found]
    assert found[-1]["after"] == 4.0
    assert not (place / "home").exists()


def test_a_file_without_times_says_that_its_steps_are_steady(place):
    path = place / "one.traj"
    path.write_text(json.dumps(TRAJECTORY))
    out, err = replayed(place, "one.traj", "--headless", "--json")
    found = [json.loads(line)["after"] for line in out.splitlines()]
    assert found == [float(second) for second in range(len(found))]
    assert "No times recorded" in err
    state = json.loads(replayed(place, str(path), "--headless", "--json", "--at", "50%")[0])
    assert state["has_times"] is False
    assert "no times recorded" in replayed(place, str(path), "--headless", "--at", "50%")[0]


def test_our_own_export_is_replayed_as_it_was(place, capsys):
    source = golden.load("rename-handler", place / "source")
    key = next(one.id for one in source.sessions() if one.parent_id is None and one.id != "system")
    source.close()
    os.environ["WORKBENCH_HOME"] = str(place / "source")
    assert main(["sessions", "export", key, "--output", str(place / "own.jsonl")]) == 0
    assert main(["replay", key, "--headless", "--json"]) == 0
    stored = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    os.environ["WORKBENCH_HOME"] = str(place / "home")
    out, _ = replayed(place, str(place / "own.jsonl"), "--headless", "--json")
    facts = ("index", "at", "kind", "words")
    assert [[json.loads(line)[fact] for fact in facts] for line in out.splitlines()] == [
        [one[fact] for fact in facts] for one in stored
    ]


def test_kept_it_is_in_the_library_and_only_once(place):
    path = claude(place)
    for _ in range(2):
        replayed(place, str(path), "--headless", "--keep")
    with Journal.open(Home.open(place / "home")) as journal:
        assert [one.origin for one in journal.sessions()] == ["claude-code"]


def test_of_several_sessions_one_is_named_by_its_number(place):
    path = place / "history.md"
    path.write_text("".join(
        f"# aider chat started at 2026-03-0{number} 10:00:00\n\n#### prompt {number}\n\nAn answer.\n\n"
        for number in (1, 2, 3)
    ))  # fmt: skip
    out, err = replayed(place, str(path), "--headless")
    assert "3 sessions are in it" in err
    assert "prompt 1" in out
    assert "prompt 3" in replayed(place, str(path), "--headless", "--number", "3")[0]


@pytest.mark.parametrize(
    ("content", "words", "error", "why"),
    [
        (None, ("./none.jsonl",), Refusal, "No such file"),
        (b"", ("./f",), Refusal, "empty"),
        (b"\x00\xff\x00", ("./f",), Refusal, ""),
        (b"{}", ("./f",), Refusal, "no format that is known"),
        (b"{}", ("./f", "--keep"), Refusal, "no format that is known"),
        (None, (".//",), Refusal, "not a regular file"),
        (None, ("--keep",), UsageError, "--keep is about a file"),
        (None, ("no-such",), Refusal, "no session"),
    ],
)
def test_what_cannot_be_read_is_refused_and_leaves_nothing(place, content, words, error, why):
    if content is not None:
        (place / "f").write_bytes(content)
    with pytest.raises(error) as refused:
        replayed(place, *words, "--headless")
    assert why in str(refused.value)
    assert list((place / "temporary").iterdir()) == []


def test_a_number_beyond_the_sessions_is_refused(place):
    path = claude(place)
    for number in ("0", "2"):
        with pytest.raises(UsageError, match="name one from 1 to 1"):
            replayed(place, str(path), "--headless", "--number", number)


def test_a_pipe_without_a_writer_is_refused_and_not_waited_for(place):
    os.mkfifo(place / "pipe")
    with pytest.raises(Refusal, match="not a regular file"):
        replayed(place, "./pipe", "--headless")


def test_stdin_is_for_keys_where_there_is_a_screen(place):
    with pytest.raises(UsageError, match="needs stdin for its keys"):
        replayed(place, "-")


def test_folders_of_killed_replays_go_and_those_in_use_stay(place):
    temporary = place / "temporary"
    old = time.time() - 3_600
    left, held, young = (temporary / f"workbench-replay-{name}" for name in ("left", "held", "young"))
    for folder in (left, held, young):
        (folder / "run").mkdir(parents=True)
    for folder in (left, held):
        os.utime(folder, (old, old))
    (temporary / "workbench-replay-link").symlink_to(place)
    with FileLock(held / "run" / "replay.lock") as lock:
        assert lock.try_acquire()
        os.utime(held, (old, old))
        replay._remove_leftover_folders()
        assert sorted(path.name for path in temporary.iterdir()) == [
            "workbench-replay-held", "workbench-replay-link", "workbench-replay-young",
        ]  # fmt: skip
    assert Path(place / "temporary").is_dir()


def test_a_session_goes_before_a_file_of_the_same_name(place):
    journal = golden.load("rename-handler", place / "home")
    key = next(one.id for one in journal.sessions() if one.parent_id is None and one.id != "system")
    journal.close()
    (place / key[:9]).write_text("{}")
    assert "Rename Router.handle" in replayed(place, key[:9], "--headless")[0]
    with pytest.raises(Refusal, match="no format that is known"):
        replayed(place, f"./{key[:9]}", "--headless")


@pytest.fixture
def shown(monkeypatch):
    """Return what a screen would have shown, instead of one: the titles and homes of both recordings."""
    found = []

    def show(one, other, options):
        del options
        assert not (other is not None and other.journal is one.journal and other.is_lent)
        found.append([loan and (loan.session.title, loan.is_lent) for loan in (one, other)])
        return 0

    monkeypatch.setattr(replay, "_show_replay", show)
    monkeypatch.setattr(replay, "require_terminal", lambda: None)
    return found


def test_two_files_stand_side_by_side_and_leave_nothing(place, shown):
    path = claude(place)
    other = place / "other.traj"
    other.write_text(json.dumps(TRAJECTORY))
    replayed(place, str(path), "--beside", str(other))
    ((one, lent), (two, also)) = shown.pop()
    assert one != two
    assert lent
    assert also
    replayed(place, str(path), "--beside", str(path))
    assert shown.pop()[1][1]
    assert not (place / "home").exists()


def test_a_file_stands_beside_a_session_and_the_other_way_round(place, shown):
    with golden.load("rename-handler", place / "home") as journal:
        session = next(one for one in journal.sessions() if one.title == "rename handler")
    path = claude(place)
    replayed(place, session.id, "--beside", str(path))
    replayed(place, str(path), "--beside", session.id)
    assert [[lent for _, lent in pair] for pair in shown] == [[False, True], [True, False]]
    replayed(place, session.id, "--beside", "session.jsonl")
    assert shown[-1][1][1]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--beside", "-"), "stdin"),
        (("--beside", "nothing-here"), "nothing-here"),
        (("--beside", "./gone.jsonl"), "gone"),
    ],
)
def test_a_second_one_that_is_none_is_an_error(place, shown, words, why):
    path = claude(place)
    with pytest.raises((UsageError, Refusal), match=why):
        replayed(place, str(path), *words)
    assert not shown
