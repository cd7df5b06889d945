"""What an import reads: files, folders of files, and stores that keep a session in many pieces."""

import io
import json
import os
import subprocess
import sys

import apsw
import pytest

from tests.support.waits import PATIENCE, until
from workbench.formats.import_sources import find_sources
from workbench.host.session_import import ImportCancelled, ImportRequest, SilentProgress, import_sources
from workbench.journal.home import Home
from workbench.journal.imported_files import forget_missing_files
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))


def put(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def claude(session, *texts, **more):
    lines = [
        {"type": "user", "uuid": f"{session}{n}", "sessionId": session, "cwd": "/shop", **more,
         "timestamp": f"2026-11-21T12:00:{n:02}Z", "message": {"role": "user", "content": text}}
        for n, text in enumerate(texts)
    ]  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines)


def opencode(root):
    info = {"id": "ses_1", "title": "Rename", "directory": "/shop", "time": {"created": 1764000000000}}
    put(root / "session" / "p" / "ses_1.json", info)
    put(root / "message" / "ses_1" / "msg_2.json", {"id": "msg_2", "role": "assistant", "modelID": "m"})
    put(root / "message" / "ses_1" / "msg_1.json", {"id": "msg_1", "role": "user"})
    put(root / "part" / "msg_1" / "prt_1.json", {"id": "prt_1", "type": "text", "text": "rename it"})
    put(root / "part" / "msg_2" / "prt_3.json", {"id": "prt_3", "type": "text", "text": "done"})
    put(root / "part" / "msg_2" / "prt_2.json", '{"type": "text", "te')
    put(root / "project" / "p.json", {"id": "p"})
    return root


@pytest.mark.parametrize("named", ["", "storage", "storage/session/p/ses_1.json"])
def test_a_storage_folder_of_opencode_is_its_sessions(shell, tmp_path, named):
    opencode(tmp_path / "data" / "storage")
    found = shell.json("sessions", "import", str(tmp_path / "data" / named), "--json")
    (session,) = found["sessions"]
    assert (session["title"], session["result"], session["format"]) == ("Rename", "imported", "opencode")
    assert [problem["why"] for problem in session["problems"]] == [
        "not understood, kept as it is: part.damaged"
    ]
    assert len(found["files"]) == 1
    assert "rename it" in shell.json("sessions", "search", "rename", "--json")[0]["matches"][0]["text"]


@pytest.mark.parametrize("name", ["{}.json", "event-0000{}-ab12cd.json"])
def test_a_folder_of_events_is_one_session_in_the_order_of_its_numbers(shell, tmp_path, name):
    words = ["first", "second", "third"]
    for at, word in enumerate(words):
        event = {
            "id": at,
            "source": "user",
            "action": "message",
            "args": {"content": word},
            "timestamp": "2026-11-21T12:00:00",
        }
        path = put(tmp_path / "run" / "events" / name.format(at), json.dumps(event, indent=2))
        os.utime(path, (0, 0))
    put(tmp_path / "run" / "base_state.json", {"agent": {}})
    found = shell.json("sessions", "import", str(tmp_path / "run"), "--json")
    assert [one["title"] for one in found["sessions"]] == ["first"]
    shell("sessions", "show", found["sessions"][0]["id"], "--json")
    assert [shell.out.index(word) for word in words] == sorted(shell.out.index(word) for word in words)


def test_a_whole_folder_of_projects_has_one_summary(shell, tmp_path):
    root = tmp_path / "projects"
    put(root / "-shop" / "s1.jsonl", claude("s1", "one"))
    put(
        root / "-shop" / "s1" / "subagents" / "agent-a1.jsonl",
        claude("s1", "below", isSidechain=True, agentId="a1"),
    )
    put(root / "-shop" / "s2.jsonl", claude("s2", "two"))
    put(root / "-shop" / "s3.jsonl", "")
    for at in range(7):
        put(root / "-shop" / "memory" / f"note{at}.md", "words")
    assert shell("sessions", "import", str(root)) == 0
    assert shell.out.endswith("3 sessions in 11 files.\n")
    assert shell.err.count("Not imported: ") == 6
    assert "Not imported: 3 more files of the folder; --json names them." in shell.err
    rows = {row["title"]: row for row in shell.json("sessions", "list", "--all", "--json")}
    assert rows["below"]["parent_id"] == rows["one"]["id"]
    assert shell("sessions", "import", str(root)) == 0
    assert shell.out == "11 files not read again: unchanged. --again reads all.\n"
    assert shell("sessions", "import", "--again", str(root)) == 0
    assert shell.out.count("unchanged  ") == 3


def test_what_is_no_file_is_said_and_nothing_waits_for_it(shell, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert shell("sessions", "import", str(tmp_path / "pipe")) == 1
    assert "it is not a regular file" in shell.err
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to("/etc/hostname")
    assert (shell("sessions", "import", str(tmp_path / "folder")), shell.out) == (
        0,
        "0 sessions in 0 files.\n",
    )


def test_a_file_without_a_session_says_so(shell, tmp_path):
    path = put(tmp_path / "only.jsonl", '{"type":"summary","summary":"x","leafUuid":"u"}\n')
    assert shell("sessions", "import", str(path)) == 1
    assert "it looks like claude-code, but no session starts in it" in shell.err


def test_standard_input_is_read_once(shell, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(claude("s9", "from a pipe").encode())))
    found = shell.json("sessions", "import", "-", "--json")
    assert [(one["title"], one["file"]) for one in found["sessions"]] == [("from a pipe", "-")]


def test_a_killed_import_leaves_nothing(shell, tmp_path):
    assert shell.json("sessions", "list", "--all", "--json") == []
    running = subprocess.Popen(
        [sys.executable, "-m", "workbench", "sessions", "import", "-"], stdin=subprocess.PIPE, env=dict(os.environ),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    running.stdin.write(
        claude("s1", *(f"{number} " + "word " * 300 for number in range(60) for _ in range(20))).encode()
    )
    running.stdin.flush()
    until(lambda: stored(tmp_path))
    running.kill()
    running.wait()
    running.stdin.close()
    assert shell.json("sessions", "list", "--all", "--json") == []
    assert stored(tmp_path) == 0
    assert shell.json("doctor", "--json")["ok"]


def stored(tmp_path):
    database = apsw.Connection(str(tmp_path / "home" / "journal.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return database.execute("SELECT count(*) FROM event WHERE recorded_at IS NOT NULL").get
    finally:
        database.close()


def test_a_session_that_went_on_is_grown_and_one_that_was_told_anew_follows(shell, tmp_path):
    path = put(tmp_path / "s1.jsonl", claude("s1", "one"))
    assert shell("sessions", "import", str(path)) == 0
    put(path, claude("s1", "one", "two"))
    (grown,) = shell.json("sessions", "import", str(path), "--json")["sessions"]
    assert (grown["result"], grown["added"]) == ("grown", 1)
    put(path, claude("s1", "one", "otherwise"))
    (told,) = shell.json("sessions", "import", str(path), "--json")["sessions"]
    assert told["result"] == "grown"
    assert shell.json("sessions", "search", "otherwise", "--json") != []
    assert shell.json("sessions", "search", "two", "--json") == []
    assert len(shell.json("sessions", "list", "--all", "--json")) == 1
    assert shell.json("doctor", "--json")["ok"]


def test_an_import_that_is_stopped_keeps_the_files_that_it_had_finished(tmp_path):
    class StopsAtTheThird(SilentProgress):
        def counted(self, stream, name):
            if name.endswith("2.jsonl"):
                raise ImportCancelled
            return stream

    for number in range(4):
        said = {"role": "user", "content": f"say {number}"}
        row = {"type": "user", "sessionId": f"s{number}", "uuid": f"u{number}", "message": said}
        put(tmp_path / "in" / f"{number}.jsonl", row)
    with Journal.open(Home.open(tmp_path / "home")) as journal:
        sources = find_sources([str(tmp_path / "in")])
        assert import_sources(journal, sources, ImportRequest(), StopsAtTheThird()).is_cancelled
        assert sorted(one.title for one in journal.sessions() if one.origin) == ["say 0", "say 1"]
        assert not list(journal.home.run.glob("import-*.lock"))


def test_two_imports_at_once_lose_nothing_and_store_nothing_twice(tmp_path):
    for number in range(12):
        rows = [
            {"type": "user", "sessionId": f"s{number}", "uuid": f"u{number}.{line}",
             "message": {"role": "user", "content": f"say {number} {line}"}}
            for line in range(120)
        ]  # fmt: skip
        put(tmp_path / "in" / f"{number}.jsonl", "\n".join(map(json.dumps, rows)))
    home = tmp_path / "home"
    command = [sys.executable, "-m", "workbench", "sessions", "import", str(tmp_path / "in"), "--json"]
    environment = {**os.environ, "WORKBENCH_HOME": str(home)}
    both = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    ended = [(process.communicate(timeout=PATIENCE), process.returncode) for process in both]
    assert [code for _, code in ended] == [0, 0], ended
    with Journal.open(Home.open(home)) as journal:
        sessions = [one for one in journal.sessions() if one.origin]
        assert len(sessions) == 12
        assert {len(journal.events(one.id)) for one in sessions} == {len(journal.events(sessions[0].id))}
        assert not index_table_differences(journal)


def test_another_session_of_the_same_id_is_a_second_one_and_both_grow(shell, tmp_path):
    first = put(tmp_path / "a" / "s1.jsonl", claude("s1", "one"))
    second = put(tmp_path / "b" / "s1.jsonl", claude("s1", "another"))
    shell("sessions", "import", str(first))
    found = shell.json("sessions", "import", str(second), "--json")
    assert [(row["title"], row["result"]) for row in found["sessions"]] == [("another", "imported")]
    assert (
        "another session here has its id and says something else; both stay" in found["files"][0]["kept"][0]
    )

    def titles():
        return sorted(row["title"] for row in shell.json("sessions", "list", "--all", "--json"))

    assert titles() == ["another", "one"]
    put(second, claude("s1", "another", "and more"))
    put(first, claude("s1", "one", "and less"))
    found = shell.json("sessions", "import", str(tmp_path / "a"), str(tmp_path / "b"), "--json")
    assert [(row["title"], row["result"]) for row in found["sessions"]] == [
        ("one", "grown"),
        ("another", "grown"),
    ]
    shell("sessions", "import", str(tmp_path), "--again")
    assert titles() == ["another", "one"]
    put(first, claude("s1", "a third story"))
    assert shell("sessions", "import", str(first)) == 0
    assert "another session here has its id" in shell.err
    assert titles() == ["a third story", "another", "one"]
    assert shell.json("doctor", "--json")["ok"]


def test_two_files_that_part_later_are_two_sessions(shell, tmp_path):
    first = put(tmp_path / "a" / "s1.jsonl", claude("s1", "one", "left"))
    second = put(tmp_path / "b" / "s1.jsonl", claude("s1", "one", "right"))
    shell("sessions", "import", str(first))
    shell("sessions", "import", str(second))
    assert len(shell.json("sessions", "list", "--all", "--json")) == 2
    for word in ("left", "right"):
        assert shell.json("sessions", "search", word, "--json") != []
    shell("sessions", "import", str(tmp_path), "--again")
    assert len(shell.json("sessions", "list", "--all", "--json")) == 2
    assert shell.json("doctor", "--json")["ok"]


def test_what_parts_later_is_a_second_session_where_the_first_file_is_gone(shell, tmp_path):
    first = put(tmp_path / "a" / "s1.jsonl", claude("s1", "one", "left"))
    second = put(tmp_path / "b" / "s1.jsonl", claude("s1", "one", "right", "more"))
    shell("sessions", "import", str(first))
    first.unlink()
    found = shell.json("sessions", "import", str(second), "--json")
    assert "both stay" in found["files"][0]["kept"][0]
    assert len(shell.json("sessions", "list", "--all", "--json")) == 2
    moved = tmp_path / "c" / "s1.jsonl"
    put(moved, claude("s1", "one", "left", "and on"))
    (grown,) = shell.json("sessions", "import", str(moved), "--json")["sessions"]
    assert grown["result"] == "grown"
    assert len(shell.json("sessions", "list", "--all", "--json")) == 2
    assert shell.json("doctor", "--json")["ok"]


def test_what_replaces_a_session_of_a_file_that_is_forgotten_is_said(shell, tmp_path):
    first = put(tmp_path / "a" / "s1.jsonl", claude("s1", "one", "left"))
    shell("sessions", "import", str(first))
    first.unlink()
    with Journal.open(Home.open(tmp_path / "home")) as journal:
        assert forget_missing_files(journal) == 1
    second = put(tmp_path / "b" / "s1.jsonl", claude("s1", "one", "right", "more"))
    found = shell.json("sessions", "import", str(second), "--json")
    assert "says something else than what was here" in found["files"][0]["kept"][0]
    assert len(shell.json("sessions", "list", "--all", "--json")) == 1


def test_what_lies_beside_a_session_is_read_with_it_and_is_no_file_of_its_own(shell, tmp_path):
    folder = tmp_path / "vibe" / "session_1"
    folder.mkdir(parents=True)
    message = {"role": "user", "content": "sort it", "message_id": "m1"}
    (folder / "messages.jsonl").write_text(json.dumps(message) + "\n")
    (folder / "meta.json").write_text(json.dumps({"session_id": "v1", "title": "A title", "model": "m"}))
    found = shell.json("sessions", "import", str(tmp_path / "vibe"), "--json")
    assert [one["file"].rpartition("/")[2] for one in found["files"]] == ["messages.jsonl"]
    (session,) = found["sessions"]
    assert (session["title"], session["foreign_id"], session["result"]) == ("A title", "v1", "imported")
    (folder / "meta.json").unlink()
    secret = tmp_path / "elsewhere.json"
    secret.write_text(json.dumps({"session_id": "x", "title": "not beside it"}))
    (folder / "meta.json").symlink_to(secret)
    (session,) = shell.json("sessions", "import", str(folder / "messages.jsonl"), "--dry-run", "--json")[
        "sessions"
    ]
    assert (session["title"], session["foreign_id"]) == ("sort it", "session_1")


def test_the_screen_of_a_task_is_no_session_beside_its_conversation(shell, tmp_path):
    task = tmp_path / "tasks" / "1795262400000"
    task.mkdir(parents=True)
    said = [{"role": "user", "content": [{"type": "text", "text": "<task>\nfix it\n</task>"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}]  # fmt: skip
    shown = [{"ts": 1795262400000, "type": "say", "say": "text", "text": "fix it"},
             {"ts": 1795262405000, "type": "say", "say": "api_req_started", "text": json.dumps({"tokensIn": 7, "tokensOut": 2})}]  # fmt: skip
    (task / "api_conversation_history.json").write_text(json.dumps(said))
    (task / "ui_messages.json").write_text(json.dumps(shown))
    (task / "task_metadata.json").write_text("{}")
    found = shell.json("sessions", "import", str(tmp_path / "tasks"), "--json")
    assert [one["format"] for one in found["sessions"]] == ["cline"]
    shown_session = shell.json("sessions", "show", found["sessions"][0]["id"], "--json")
    assert (shown_session["usage"]["input_tokens"], shown_session["usage"]["output_tokens"]) == (7, 2)
