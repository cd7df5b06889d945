"""`sessions import` with nothing else: folders of agents found, asked about once, left out, deleted, kept for days."""

import io
import json
import os
import time
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Stream
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.cli.session_import import read_answer
from workbench.formats import detect
from workbench.formats.agent_folders import AGENT_NAMES, AgentFolder, find_agent_folders
from workbench.host.import_choice import FoundHistory, LeftOut, set_watch
from workbench.journal import imports
from workbench.journal.errors import JournalFull


def claude(session, *texts, folder="/shop"):
    return "".join(
        json.dumps(
            {"type": "user", "uuid": f"{session}{n}", "sessionId": session, "cwd": folder,
             "timestamp": f"2026-11-21T12:00:{n:02}Z", "message": {"role": "user", "content": text}}
        ) + "\n"
        for n, text in enumerate(texts)
    )  # fmt: skip


def codex(session, text, folder="/shop"):
    rows = [
        {"timestamp": "2026-11-21T12:00:00Z", "type": "session_meta",
         "payload": {"id": session, "cwd": folder, "timestamp": "2026-11-21T12:00:00Z", "originator": "codex_cli_rs",
                     "cli_version": "0.104"}},
        {"timestamp": "2026-11-21T12:00:01Z", "type": "response_item",
         "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}},
        {"timestamp": "2026-11-21T12:00:01Z", "type": "event_msg", "payload": {"type": "user_message", "message": text}},
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows)


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def home(tmp_path, monkeypatch):
    place = tmp_path / "user"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    put(place / ".claude/projects/-shop/s1.jsonl", claude("s1", "say one"))
    put(place / ".claude/projects/-client-x/s2.jsonl", claude("s2", "say two", folder="/work/client-x"))
    put(place / ".claude/settings.json", '{"key": "never read"}')
    put(place / ".codex/sessions/2026/11/21/rollout-1.jsonl", codex("c1", "say three"))
    put(place / ".codex/auth.json", '{"type": "user"}')
    return place


def titles(shell):
    return sorted(row["title"] for row in shell.json("sessions", "list", "--all", "--json"))


class Terminal(Stream):
    def isatty(self):
        return True


class Typed(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def answer(monkeypatch):
    def ask(text, *words):
        monkeypatch.setattr("sys.stdin", Typed(text))
        console = Console(Terminal(), Terminal())
        return dispatch(["sessions", "import", *words], console), console.out.getvalue()

    return ask


@pytest.mark.spec(140)
def test_one_enter_imports_what_all_agents_have(shell, home, answer):
    code, said = answer("\n")
    assert (code, titles(shell)) == (0, ["say one", "say three", "say two"])
    assert "a  Claude Code" in said and "b  Codex" in said and "2 files" in said
    assert "3 files to read" in said and "about" in said
    assert shell("sessions", "import") == 0
    assert "Everything is imported already" not in shell.err
    assert "3 files not read again: unchanged." in shell.out


def test_n_imports_nothing_and_what_is_not_understood_is_asked_again(shell, home, answer):
    code, said = answer("what\nn\n")
    assert (code, said.count("Import?"), "Nothing was imported." in said) == (0, 2, True)
    assert "“what” is neither letters of these rows nor a folder" in said
    assert titles(shell) == []
    assert answer("")[0] == 0, "the end of the input is no yes"
    assert titles(shell) == []


def test_a_letter_leaves_out_an_agent_and_a_pattern_a_project_and_both_are_remembered(
    shell, home, answer, tmp_path
):
    put(tmp_path / "home" / "config.json", '{\n  "config_version": 1, "ui": {"theme": "x"}\n}\n')
    code, said = answer("b */client-*\n")
    assert (code, titles(shell)) == (0, ["say one"])
    text = (tmp_path / "home" / "config.json").read_text()
    assert json.loads(text)["sessions"]["leave_out"] == ["codex", "*/client-*"]
    assert text.startswith('{\n  "config_version": 1, "ui": {"theme": "x"}')
    assert "Left out from now on: codex, */client-*" in said
    put(home / ".codex/sessions/2026/11/21/rollout-2.jsonl", codex("c2", "say four"))
    assert shell("sessions", "import", "--yes") == 0
    assert titles(shell) == ["say one"]
    found = shell.json("sessions", "import", "--preview", "--json")
    assert [(row["agent"], row["is_left_out"], row["new_files"]) for row in found["folders"]] == [
        ("claude-code", False, 0), ("codex", True, 0),
    ]  # fmt: skip


def test_without_a_terminal_it_says_so_and_exits_with_2(shell, home):
    assert shell("sessions", "import") == 2
    assert "3 new files of agents would be read, and there is no terminal to ask at" in shell.err.replace(
        "\n", " "
    )
    assert "--yes" in shell.err
    assert shell("sessions", "import", "--json") == 2
    assert titles(shell) == []
    found = shell.json("sessions", "import", "--yes", "--json")
    assert sorted(row["title"] for row in found["sessions"]) == ["say one", "say three", "say two"]
    assert [row["agent"] for row in found["folders"]] == ["claude-code", "codex"]


def test_a_preview_shows_and_imports_nothing(shell, home):
    assert shell("sessions", "import", "--preview") == 0
    assert "Claude Code" in shell.out and "3 files to read" in shell.out
    found = shell.json("sessions", "import", "--dry-run", "--json")
    assert found["dry_run"] and [row["new_files"] for row in found["folders"]] == [2, 1]
    assert titles(shell) == []


def test_nothing_here_is_said(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    assert shell("sessions", "import", "--preview") == 0
    assert "No sessions of other agents were found on this machine." in shell.out
    assert shell("sessions", "import", "--yes") == 0


def test_logs_of_s3_are_found_and_imported_and_stay_as_they_were(shell, home):
    tries = [
        {"feedback": "", "model_input": {"system_prompt": "s", "user_prompt": "list go files"},
         "model_output": {"raw_response": "{}", "command": "fd -e go", "explanation": "Lists."},
         "timestamp": "2026-02-01T10:30:05Z"}
    ]  # fmt: skip
    log = {
        "id": "2026-02-01T10-30-00-abc123", "user_query": "list go files", "context_sources": {}, "iterations": tries,
        "metadata": {"timestamp": "2026-02-01T10:30:00Z", "model": "m", "final_status": "accepted",
                     "iteration_count": 1},
    }  # fmt: skip
    logs = home / ".local/share/cmd/logs"
    path = put(logs / f"{log['id']}.json", json.dumps(log))
    put(logs / "settings.json", json.dumps(log))
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(logs.iterdir()))
    (folder,) = [one for one in find_agent_folders(env={"HOME": str(home)}) if one.agent == "cmd"]
    assert [source.name for source in folder.sources()] == [str(path)]
    assert shell("sessions", "import", "--yes") == 0, shell.err
    (row,) = shell.json("ask", "logs", "--json")
    assert (row["user_query"], row["final_status"], row["command_preview"]) == ("list go files", "accepted", "fd -e go")  # fmt: skip
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(logs.iterdir())) == before


def test_variables_name_other_folders_and_only_sessions_are_listed(home, tmp_path):
    put(tmp_path / "elsewhere/projects/p/s.jsonl", claude("s9", "x"))
    put(home / "p/.aider.chat.history.md", "# aider chat started at 2026-11-21 12:00:00\n")
    put(home / ".local/share/opencode/opencode.db", "x")
    put(home / ".local/share/opencode/auth.json", "x")
    put(
        home / ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json",
        "[]",
    )
    env = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": f"{tmp_path}/elsewhere, ~/.claude",
        "CODEX_HOME": "/nowhere",
    }
    found = find_agent_folders(str(home / "p"), env)
    names = [
        (folder.agent, [source.name.rsplit("/", 1)[1] for source in folder.sources()]) for folder in found
    ]
    assert names == [
        ("claude-code", ["s.jsonl"]), ("claude-code", ["s2.jsonl", "s1.jsonl"]), ("opencode", ["opencode.db"]),
        ("cline", ["api_conversation_history.json"]), ("aider", [".aider.chat.history.md"]),
    ]  # fmt: skip


def test_agents_have_the_names_of_their_readers():
    assert set(AGENT_NAMES) <= set(detect.format_names())
    assert {"claude-code", "codex", "gemini", "opencode", "pi", "aider"} <= set(AGENT_NAMES)


def step(number, kind, **more):
    source = "USER_EXPLICIT" if kind == "USER_INPUT" else "MODEL"
    row = {"step_index": number, "source": source, "type": kind, "status": "DONE", **more}
    return json.dumps({"created_at": f"2026-11-21T12:00:{number:02}Z", **row}) + "\n"


def test_each_conversation_of_antigravity_and_of_hermes_is_found_and_is_one(shell, home):
    for place in ("antigravity/brain/a1", "antigravity/brain/a2", "antigravity-cli/brain/a3"):
        logs = home / ".gemini" / place / ".system_generated/logs"
        asked = f"<USER_REQUEST>do {place}</USER_REQUEST>"
        put(logs / "transcript.jsonl", step(0, "USER_INPUT", content=asked) + step(1, "PLANNER_RESPONSE"))
        put(logs / "transcript_full.jsonl", "never read")
        put(logs.parents[1] / "task.md", "never read")
    hermes = {"session_id": "h1", "session_start": "2026-11-21T12:00:00Z", "platform": "cli",
              "messages": [{"role": "user", "content": "say hermes"}]}  # fmt: skip
    put(home / ".hermes/sessions/session_h1.json", json.dumps(hermes))
    put(home / ".hermes/sessions/sessions.json", "{}")
    put(home / ".hermes/sessions/request_dump_h1.json", "{}")
    found = shell.json("sessions", "import", "--yes", "--json")
    assert [(row["agent"], row["new_files"]) for row in found["folders"]] == [
        ("claude-code", 2), ("codex", 1), ("antigravity", 2), ("antigravity", 1), ("hermes", 1),
    ]  # fmt: skip
    asked = [f"do antigravity{place}" for place in ("-cli/brain/a3", "/brain/a1", "/brain/a2")]
    assert titles(shell) == [*asked, "say hermes", "say one", "say three", "say two"]


@pytest.mark.parametrize(
    ("entries", "folder", "is_out"),
    [
        (["/private"], "/private/shop", True),
        (["/private/"], "/private", True),
        (["/private"], "/privateer", False),
        (["~/a"], "HOME/a/b", True),
        (["*/client-*"], "/work/client-x/src", True),
        (["client-*"], "/work/client-x", True),
        (["*secret*"], "/work/my-secrets", True),
        (["codex"], "/work/codex", False),
        ([], "/work", False),
        (["/"], "/work", True),
    ],
)
def test_what_an_entry_leaves_out(entries, folder, is_out, home):
    assert LeftOut(tuple(entries)).has_folder(folder.replace("HOME", str(home))) is is_out


def test_a_letter_of_two_rows_of_one_agent_names_the_folder():
    rows = [
        FoundHistory(folder=AgentFolder(agent="pi", title="pi", path="/p", files="x")),
        FoundHistory(folder=AgentFolder(agent="pi", title="OpenClaw", path="/o", files="x")),
    ]
    assert read_answer("b", rows).left_out == ("/o",)


@pytest.mark.spec(133)
def test_everything_of_one_origin_is_deleted_by_one_command(shell, home):
    shell("sessions", "import", "--yes")
    assert shell("sessions", "delete", "--origin", "claude-code") == 2
    assert "--yes" in shell.err
    assert shell("sessions", "delete", "--origin", "cursor", "--yes") == 1
    assert "there are some of: claude-code, codex" in shell.err.lower().replace("\n", " ")
    assert shell("sessions", "delete", "--yes") == 2
    gone = shell.json("sessions", "delete", "--origin", "claude-code", "--yes", "--json")
    assert (gone["sessions"], titles(shell)) == (2, ["say three"])
    assert shell("sessions", "import", "--yes") == 0
    assert titles(shell) == ["say three"], "what was deleted stays deleted"
    assert shell("sessions", "import", "--yes", "--again") == 0
    assert titles(shell) == ["say three"]
    assert shell("sessions", "import", str(home / ".claude/projects/-shop/s1.jsonl")) == 0
    assert titles(shell) == ["say one", "say three"], "who names a file wants it"


def test_imported_sessions_are_kept_for_days(shell, home, tmp_path):
    put(tmp_path / "home" / "config.json", '{"config_version": 1, "sessions": {"keep_imported_days": 3}}')
    old = home / ".codex/sessions/2026/11/21/rollout-1.jsonl"
    os.utime(old, (time.time() - 9 * 86_400,) * 2)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    put(
        home / ".claude/projects/-shop/s3.jsonl", claude("s3", "say new").replace("2026-11-21T12:00:00Z", now)
    )
    before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 5 * 86_400))
    path = home / ".claude/projects/-shop/s1.jsonl"
    put(path, path.read_text().replace("2026-11-21T12:00:00Z", before))
    (home / ".claude/projects/-client-x/s2.jsonl").unlink()
    assert shell("sessions", "import", "--yes") == 0
    assert "Deleted 1 imported session older than 3 days (sessions.keep_imported_days)." in shell.out
    assert titles(shell) == ["say new"]
    assert shell("sessions", "import", "--yes") == 0
    assert titles(shell) == ["say new"]
    assert shell("sessions", "import", str(old)) == 0
    assert "1 file left out: older than sessions.keep_imported_days." in shell.out


def test_settings_that_cannot_be_read_import_nothing(shell, home, tmp_path):
    put(tmp_path / "home" / "config.json", '{"config_version": 1, "sessions": {"leave_out": "codex"}}')
    assert shell("sessions", "import", "--yes") == 1
    assert "leave_out" in shell.err
    assert titles(shell) == []


def test_turning_the_watch_on_keeps_every_other_byte(shell, home, tmp_path):
    from workbench.journal.home import Home

    text = '{\r\n\t"config_version": 1,\r\n\t"unknown": [1,  2]\r\n}\r\n'
    put(tmp_path / "home" / "config.json", "")
    (tmp_path / "home" / "config.json").write_bytes(text.encode())
    opened = Home.open(tmp_path / "home")
    set_watch(opened, is_on=True)
    after = (tmp_path / "home" / "config.json").read_bytes().decode()
    assert json.loads(after)["sessions"] == {"watch": True}
    assert after.startswith(text[: text.index("]") + 1])
    set_watch(opened, is_on=False)
    assert json.loads((tmp_path / "home" / "config.json").read_text())["sessions"] == {"watch": False}


def rooted(session, *texts):
    rows = [json.loads(line) for line in claude(session, *texts).splitlines()]
    for number, row in enumerate(rows):
        row["parentUuid"] = rows[number - 1]["uuid"] if number else None
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (rooted("s1", "a1", "a2") + rooted("s2", "b1"), {"a1": 2, "b1": 1}),
        (codex("c1", "a1") + codex("c2", "b1") + codex("c3", "d1"), {"a1": 1, "b1": 1, "d1": 1}),
        # A session that goes on under another id hangs below the first one, and is the same.
        (rooted("s1", "a1", "a2").replace('"sessionId": "s1"', '"sessionId": "s9"', 2).replace("s9", "s1", 1),
         {"a1": 2}),
    ],
)  # fmt: skip
def test_several_sessions_behind_one_another_are_several(shell, home, monkeypatch, stream, expected):
    class Stdin:
        buffer = io.BytesIO(stream.encode())

    monkeypatch.setattr("sys.stdin", Stdin)
    found = shell.json("sessions", "import", "-", "--json")
    assert sorted(row["title"] for row in found["sessions"]) == sorted(expected)
    for row in found["sessions"]:
        shell("sessions", "export", row["id"], "--format", "events")
        assert shell.out.count('"prompt.submitted"') == expected[row["title"]]


def test_what_a_killed_import_left_stands_in_nobodys_way_on_a_full_disk(shell, tmp_path, monkeypatch):
    (tmp_path / "s.jsonl").write_text(claude("s1", "say it"))
    assert shell("sessions", "import", str(tmp_path / "s.jsonl")) == 0
    (Path(os.environ["WORKBENCH_HOME"]) / "run/import-1-1.lock").touch()

    def full(_journal):
        raise JournalFull("nothing was written", "the disk is full", "free some space")

    monkeypatch.setattr(imports, "undo_unfinished_imports", full)
    assert shell("sessions", "list", "--all") == 0
    assert "say it" in shell.out
