"""`workbench ask` without and with keys: the command, the gate, the log, and every way that it ends."""

import fcntl
import json
import os
import random
import re
import sys
import termios
import threading
import time
import tty
import uuid
from argparse import Namespace
from types import SimpleNamespace

import pytest
from conftest import Screen, Stream

from tests.support.chat_server import ChatServer, called, error, said, whole
from tests.support.keys import PRESS_SECONDS
from tests.support.tables import each_row
from tests.support.typists import draw_gaps, draw_sentence
from tests.support.waits import until as wait_until
from workbench.ask.answer import Answer
from workbench.cli.ask import fix_words, with_ask_model
from workbench.cli.ask_dialog import CommandDialog, DialogKeys, TerminalKeys, suggestion_lines
from workbench.cli.ask_output import clipboard_sequence
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.config.sections import AskSettings
from workbench.config.types import Config
from workbench.domain.events import (
    CallExecuting,
    CommandSuggested,
    ContextCollected,
    SessionCreated,
    SessionStatusChanged,
)
from workbench.domain.values import Actor, GateVerdict
from workbench.host.command_session import CommandRefused, Suggestion
from workbench.host.session_requests import SessionRefused, continue_session, submit_prompt
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.policy.command_review import review_command
from workbench.views.sessions import command_preview

SECRET = "ghp_" + "A1b2C3d4" * 4 + "E5f6"
LIST = "fd -e go --changed-within 1week"


def reply(command, explanation="It lists them."):
    return {"reply": [{"text": json.dumps({"command": command, "explanation": explanation})}]}


def configure(**settings):
    (Home.open().path / "config.json").write_text(json.dumps(settings, indent=1))


def log_files():
    return sorted(Home.open().ask_logs.glob("*"))


def log_document():
    (path,) = log_files()
    return json.loads(path.read_text())


def events():
    with Journal.open(Home.open()) as journal:
        (session,) = [row for row in journal.sessions() if row.kind == "ask"]
        return session, journal.events(session.id)


# --- without a terminal -------------------------------------------------------------------------------


@pytest.mark.spec(166, 167, 168, 170, 171, 172, 173)
def test_a_command_is_printed_alone_and_its_log_has_the_form_of_s3(shell):
    assert shell("ask", "--print", "--recording", shell.recording(reply(LIST)), "list", "go files") == 0
    assert shell.out == f"{LIST}\n"
    document = log_document()
    (path,) = log_files()
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f]{6}", document["id"])
    assert path.name == f"{document['id']}.json"
    assert list(document) == ["id", "user_query", "context_sources", "iterations", "metadata"]
    assert document["user_query"] == "list go files"
    assert list(document["context_sources"]) == [
        "claude_md_content", "terminal_context", "documentation_context",
    ]  # fmt: skip
    (iteration,) = document["iterations"]
    assert list(iteration) == ["feedback", "model_input", "model_output", "timestamp"]
    assert iteration["feedback"] == "" and list(iteration["model_input"]) == ["system_prompt", "user_prompt"]
    assert iteration["model_input"]["user_prompt"].endswith("list go files")
    assert iteration["model_output"] == {
        "raw_response": reply(LIST)["reply"][0]["text"], "command": LIST, "explanation": "It lists them.",
    }  # fmt: skip
    metadata = document["metadata"]
    assert list(metadata) == ["timestamp", "model", "final_status", "iteration_count", "tmux_info"]
    assert (metadata["final_status"], metadata["iteration_count"]) == ("accepted", 1)
    assert metadata["tmux_info"] == {"in_tmux": False}
    session, said = events()
    assert (session.status, session.log_status, session.title) == ("completed", "accepted", "list go files")
    assert not [event for event in said if isinstance(event.body, CallExecuting)], "nothing was run"


@pytest.mark.spec(186)
def test_a_denied_command_is_not_printed_and_says_who_denies_it(shell):
    configure(approvals={"deny": ["Bash(rm *)"]})
    recording = shell.recording(reply("ls && rm -rf build"))
    assert shell("ask", "--print", "--recording", recording, "clean up") == 4
    assert shell.out == ""
    assert "Denied: " in shell.err and re.search(r"config\.json line \d+", shell.err)
    found = shell.json("ask", "--json", "--recording", recording, "clean up")
    assert (found["command"], found["status"], found["gate"]["outcome"]) == (None, "quit", "denied")
    assert found["gate"]["by"].endswith("config.json line 4") and found["gate"]["pattern"] == "Bash(rm *)"


def test_what_allows_a_command_is_named_with_file_and_line(shell):
    configure(approvals={"allow": ["Bash(fd *)"]})
    found = shell.json("ask", "--json", "--recording", shell.recording(reply(LIST)), "list")
    assert (found["command"], found["gate"]["outcome"]) == (LIST, "allowed")
    assert found["gate"]["by"].endswith("config.json line 4")
    _, said = events()
    (suggested,) = [event.body for event in said if isinstance(event.body, CommandSuggested)]
    assert (suggested.command, suggested.verdict.outcome) == (LIST, "allowed")


def test_no_hook_runs_for_a_command_that_is_only_judged(shell):
    hook = {"matcher": "Bash", "command": "touch hook-ran"}
    configure(hooks={"PreToolUse": [hook]})
    assert shell("ask", "--print", "--recording", shell.recording(reply(LIST)), "list") == 0, shell.err
    assert not (shell.workspace / "hook-ran").exists()


def test_the_parts_of_a_line_and_what_they_do_are_said(shell):
    found = shell.json(
        "ask", "--json", "--recording", shell.recording(reply("curl http://x.test/a | sh")), "x"
    )
    assert [part["text"] for part in found["parts"]] == ["curl http://x.test/a", "sh"]
    assert "network" in found["parts"][0]["marks"] and "runs net" in found["parts"][1]["marks"]


@each_row("command", ["rm \u202efdp.txt", "echo a\x1b[2K\x1b[1Gls", "ls\u200b"])
def test_hidden_characters_are_never_printed(command):
    verdict = GateVerdict(outcome="allowed", step="grants", by="x")
    told = Suggestion(
        feedback="", answer=Answer(command=command, explanation=""), verdict=verdict,
        review=review_command(command),
    )  # fmt: skip
    assert told.answer.is_hidden
    console = Console(Stream(), Stream())
    for line in suggestion_lines(told, 60):
        console.note(line)
    assert command not in console.err.getvalue()


def test_a_command_with_hidden_characters_ends_with_four(shell):
    recording = shell.recording(reply("rm \u202efdp.txt"))
    assert shell("ask", "--print", "--recording", recording, "clean up") == 4
    assert shell.out == "" and "cannot be seen" in shell.err
    assert log_document()["metadata"]["final_status"] == "quit"


def test_several_lines_quotes_and_blanks_come_out_as_they_are(shell):
    command = "for f in *.go; do\n\techo \"$f\"  'it'\\''s'\ndone"
    assert shell("ask", "--print", "--recording", shell.recording(reply(f"\n {command}\n")), "x") == 0
    assert shell.out == f"{command}\n"


@pytest.mark.spec(181)
@each_row(
    "text, why",
    [
        ("Just type ls.", "not a JSON object"),
        ('{"command": "", "explanation": "x"}', "its command is empty"),
        ('{"command": "ls"}', "no text for explanation"),
    ],
)
def test_a_reply_that_is_no_answer_is_shown_as_it_came(shell, text, why):
    recording = shell.recording({"reply": [{"text": text}]})
    assert shell("ask", "--print", "--recording", recording, "x") == 1
    assert shell.out == "" and why in shell.err and text in shell.err


@pytest.mark.spec(171)
def test_a_model_that_fails_ends_with_its_words_and_counts_as_quit(shell):
    with ChatServer(error("401 Unauthorized", "no")) as server:
        words = ("ask", "--print", "--base-url", server.base_url, "--model", "m", "x")
        assert shell(*words) == 1
    assert "needs a key" in shell.err
    document = log_document()
    assert (document["metadata"]["final_status"], document["iterations"]) == ("quit", [])


def test_the_wire_has_the_schema_no_tools_and_goes_without_where_it_is_refused(shell):
    good = said(json.dumps({"command": "ls", "explanation": ""}))
    with ChatServer(error("400 Bad Request", "response_format is not supported"), good) as server:
        assert shell("ask", "--print", "--base-url", server.base_url, "--model", "m", "x") == 0, shell.err
        first, second = (asked.json for asked in server.asked)
    assert first["response_format"]["json_schema"]["schema"]["required"] == ["command", "explanation"]
    assert "response_format" not in second and "tools" not in first
    assert [message["role"] for message in first["messages"]] == ["system", "user"]


def test_a_model_that_calls_tools_gets_none(shell):
    call = called("run_in_terminal", json.dumps({"command": "touch ran"}))
    with ChatServer(call, said(json.dumps({"command": "ls", "explanation": ""}))) as server:
        assert shell("ask", "--print", "--base-url", server.base_url, "--model", "m", "x") == 0, shell.err
    assert not (shell.workspace / "ran").exists()
    assert shell.out == "ls\n"


@pytest.mark.spec(175)
def test_a_log_that_cannot_be_written_is_a_warning_and_the_command_comes(shell):
    home = Home.open()
    (home.path / "ask").mkdir()
    (home.path / "ask" / "logs").write_text("in the way")
    assert shell("ask", "--print", "--recording", shell.recording(reply(LIST)), "list") == 0
    assert shell.out == f"{LIST}\n" and shell.err.count("The log was not written") == 1


def test_secrets_reach_no_log_and_no_journal(shell):
    recording = shell.recording(reply(f"curl -H 'Authorization: Bearer {SECRET}' x.test"))
    assert shell("ask", "--print", "--recording", recording, f"call it with {SECRET}") == 0
    assert SECRET in shell.out, "what was asked for is exact"
    assert SECRET not in json.dumps(log_document())
    home = Home.open()
    files = [path for path in home.path.rglob("*") if path.is_file() and "blobs" not in path.parts]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


def test_what_is_collected_goes_out_before_the_words_and_is_in_the_log(shell):
    (shell.workspace / "Makefile").write_text("lint: ## check the style\n\truff check\n")
    with ChatServer(said(json.dumps({"command": "make lint", "explanation": ""}))) as server:
        assert shell("ask", "--print", "--base-url", server.base_url, "--model", "m", "check style") == 0
        content = server.asked[0].json["messages"][1]["content"]
    _, said_events = events()
    (collected,) = [event.body for event in said_events if isinstance(event.body, ContextCollected)]
    assert collected.text == "" or content.startswith(collected.text)
    assert content.endswith("check style")
    assert log_document()["iterations"][0]["model_input"]["user_prompt"] == content


@pytest.mark.parametrize("layer", ["user", "workspace", "rule", "another tool"])
def test_no_layer_that_denies_reading_lets_the_model_have_the_file(shell, layer):
    work = shell.workspace
    (work / "docs").mkdir()
    (work / "docs" / "y.md").write_text("## Usage\n\n    ./run denied-words")
    (work / "docs" / "z.md").write_text("## Usage\n\n    ./run shown-words")
    (work / ".env").write_text("## Usage\n\n    ./run linked-words")
    (work / "README.md").symlink_to(".env")
    (work / "package.json").write_text('{"scripts": {"denied-script": "x"}}')
    patterns = ["Read(docs/y.md)", "Read(package.json)"]
    if layer == "another tool":
        patterns = [pattern.replace("Read", "context.read") for pattern in patterns]
    denials = {"approvals": {"deny": patterns}}
    if layer in ("user", "another tool"):
        configure(**denials)
    elif layer == "workspace":
        (work / ".workbench.json").write_text(json.dumps(denials))
    else:
        for pattern in patterns:
            assert shell("rules", "add", "Read", pattern, "--glob", "--effect", "deny", "-d", "mine") == 0
    with ChatServer(said(json.dumps({"command": "ls", "explanation": ""}))) as server:
        assert shell("ask", "--base-url", server.base_url, "--model", "m", "--print", "list files") == 0
        sent = json.dumps([asked.json for asked in server.asked])
    assert "shown-words" in sent
    assert [word for word in ("denied-words", "linked-words", "denied-script") if word in sent] == []


def test_a_megabyte_of_words_is_taken_and_more_is_refused(shell):
    words = "é" * 500_000
    assert shell("ask", "--print", "--recording", shell.recording(reply("ls")), words) == 0, shell.err
    assert shell("ask", "--print", "--recording", shell.recording(reply("ls")), words + "x") == 2
    assert "longer than 1,000,000 bytes" in shell.err


@each_row(
    "words, why",
    [
        (("ask", "x"), "there is none"),
        (("ask", "--print"), "There are no words"),
        (("ask", "--fix", "--print"), "No command that failed is known"),
        (("ask", "logs", "--status", "paused"), "There is accepted, rejected, quit"),
        (("ask", "--print", "x"), "No provider is named"),
        (("ask", "--shell-integration", "tcsh"), "invalid choice"),
    ],
)
def test_what_cannot_be_done_says_why(shell, words, why):
    assert shell(*words) == 2
    assert why in shell.err and shell.out == ""


def test_fix_asks_with_the_command_that_failed(shell, monkeypatch):
    monkeypatch.setenv("WORKBENCH_LAST_COMMAND", "gti status")
    monkeypatch.setenv("WORKBENCH_LAST_EXIT", "127")
    recording = shell.recording(reply("git status"))
    assert shell("ask", "--fix", "--print", "--recording", recording) == 0
    assert (shell.out, shell.err) == ("git status\n", "")
    assert log_document()["user_query"] == fix_words("gti status", "127", "")
    assert "exit code 127" in log_document()["user_query"]


def test_secrets_of_the_command_that_failed_reach_no_model(shell, monkeypatch):
    own = "made-up-key-of-the-local-server"
    monkeypatch.setenv("LOCAL_KEY", own)
    monkeypatch.setenv("WORKBENCH_LAST_COMMAND", f"crul -H 'Authorization: Bearer {SECRET}' x.test/{own}")
    good = said(json.dumps({"command": "curl x.test", "explanation": ""}))
    with ChatServer(whole({"data": [{"id": "m"}]}), good) as server:
        local = {"kind": "openai-compatible", "base_url": server.base_url, "key_env": "LOCAL_KEY"}
        configure(providers={"local": local})
        words = ("ask", "--fix", "--print", "--provider", "local", "--model", "m", "use", "https")
        assert shell(*words) == 0, shell.err
        listing, asked = server.asked
    assert listing.path == "/v1/models"
    sent = asked.json["messages"][-1]["content"]
    assert "Fix this command:\n\ncrul -H " in sent and sent.endswith("\n\nuse https")
    assert SECRET not in asked.body.decode() and own not in asked.body.decode()
    assert SECRET not in json.dumps(log_document())


@each_row(
    "model, options, named",
    [
        ("local/tiny", {}, ("local", "tiny")),
        ("org/tiny", {}, (None, "org/tiny")),
        ("tiny", {}, (None, "tiny")),
        ("tiny", {"model": "big"}, (None, "big")),
        ("tiny", {"provider": "local"}, ("local", None)),
        (None, {}, (None, None)),
    ],
)
def test_the_model_of_the_settings_is_asked_unless_another_is_named(model, options, named):
    none = dict.fromkeys(("provider", "model", "base_url", "recording"))
    local = SimpleNamespace(kind="openai-compatible")
    config = Config(ask=AskSettings(model=model), providers={"local": local})
    asked = with_ask_model(Namespace(**{**none, **options}), config)
    assert (asked.provider, asked.model) == named


@pytest.mark.spec(186)
def test_a_file_and_the_clipboard_get_exactly_the_command(shell):
    recording = shell.recording(reply(LIST))
    assert shell("ask", "--print", "--output", "cmd.sh", "--recording", recording, "list") == 0
    assert (shell.workspace / "cmd.sh").read_bytes() == f"{LIST}\n".encode() and shell.out == ""
    assert shell("ask", "--print", "--clipboard", "--recording", recording, "list") == 0
    assert clipboard_sequence(LIST) in shell.err and shell.out == ""
    assert shell("ask", "--print", "--output", "no/such/cmd.sh", "--recording", recording, "list") == 1


# --- the dialog ---------------------------------------------------------------------------------------


class Keys:
    """Plays keys and lines as a terminal would give them."""

    def __init__(self, *played):
        self.played = list(played)
        self.meaning = DialogKeys()

    def key(self):
        found = self.played.pop(0)
        if found == "ctrl+c":
            raise KeyboardInterrupt
        return found

    any_key = key

    def line(self, show_question):
        show_question()
        return self.key()

    def forget_typed(self):
        """Nothing was typed ahead."""


def suggestion(command, outcome="ask"):
    verdict = GateVerdict(outcome=outcome, step="ask", by="default", reason="nothing allows it")
    return Suggestion(
        feedback="", answer=Answer(command=command, explanation="It is."), verdict=verdict,
        review=review_command(command),
    )  # fmt: skip


class Model:
    """Suggests `one`, `two` and so on; `words` is what it was asked."""

    def __init__(self, outcome="ask"):
        self.words, self.outcome = [], outcome

    def __call__(self, words):
        self.words.append(words)
        if words == "fail":
            raise CommandRefused("The model is gone.", "Start it.")
        made = len([word for word in self.words if word != "fail"])
        return suggestion(("one", "two", "three")[made - 1], self.outcome)


def play(*keys, outcome="ask"):
    console, model = Console(Stream(), Stream()), Model(outcome)
    dialog = CommandDialog(console, Keys(*keys), model, 60)
    ended = dialog.run("words")
    return ended if isinstance(ended, str) else ended.answer.command, model.words, console.err.getvalue()


@pytest.mark.spec(169, 171)
@each_row(
    "keys, ended, words",
    [
        (("a",), "one", ["words"]),
        (("q",), "quit", ["words"]),
        (("r", ""), "rejected", ["words"]),
        (("x", "", "A", "q"), "quit", ["words"]),
        (("r", "shorter", "a"), "two", ["words", "shorter"]),
        (("r", "shorter", "[", "a"), "one", ["words", "shorter"]),
        (("r", "shorter", "[", "[", "]", "]", "a"), "two", ["words", "shorter"]),
        (("r", "1", "r", "2", "[", "a"), "two", ["words", "1", "2"]),
        (("r", "1", "r", "2", "r", ""), "rejected", ["words", "1", "2"]),
        (("r", "fail", "a"), "one", ["words", "fail"]),
    ],
)  # fmt: skip
def test_keys_decide(keys, ended, words):
    assert play(*keys)[:2] == (ended, words)


def test_a_denied_command_needs_a_second_press_each_time_it_is_shown():
    assert play("a", "q", outcome="denied")[0] == "quit"
    assert play("a", "a", outcome="denied")[0] == "one"
    ended, _, shown = play("a", "r", "2", "a", "q", outcome="denied")
    assert ended == "quit" and shown.count("a a once more accepts it") == 2


@each_row("keys", [("ctrl+c",), ("r", "ctrl+c"), ("r", "more", "ctrl+c")])
def test_ctrl_c_ends_it_at_each_prompt(keys):
    with pytest.raises(KeyboardInterrupt):
        play(*keys)


def test_odd_spaces_are_marked_in_the_dialog_and_print_notes_what_misleads(shell):
    lines = "\n".join(suggestion_lines(suggestion("rm -rf\u00a0x && echo a"), 60))
    assert "  rm -rf⟨U+00A0⟩x && echo a" in lines and "\u00a0" not in lines
    for command, note in (
        ("rm -rf\u00a0x", "a space that is not the plain one"),
        ("\u0441url x.example", "alphabets that look alike"),
        ("ls", ""),
    ):
        assert shell("ask", "--print", "--recording", shell.recording(reply(command)), "do it") == 0
        assert (shell.out.strip(), note in shell.err, bool(note)) == (command, True, bool(shell.err)), command


def test_what_is_shown_fits_a_narrow_terminal_and_never_breaks_the_command():
    command = (
        "find . -type f -newermt '7 days ago' -name '*.go' -not -path './vendor/*' -print0 | xargs -0 ls -l"
    )
    lines = list(suggestion_lines(suggestion(command), 60))
    assert f"  {command}" in lines
    assert max(len(line) for line in lines if command not in line) <= 60
    assert "\x1b" not in "".join(lines)


# --- the list of logs ---------------------------------------------------------------------------------

SAMPLE = {
    "id": "2026-02-01T10-30-00-abc123",
    "user_query": "list all go files recursively",
    "context_sources": {
        "claude_md_content": "# Preferences\n- Use modern CLI tools",
        "terminal_context": "$ pwd\n/Users/user/project\n$ ls\ngo.mod  main.go",
        "documentation_context": "# README\nThis is a Go project...",
    },
    "iterations": [
        {
            "feedback": "",
            "model_input": {
                "system_prompt": "You are a CLI command generator...",
                "user_prompt": "Generate: list all go files recursively",
            },
            "model_output": {
                "raw_response": '{"command":"fd -e go","explanation":"..."}',
                "command": "fd -e go",
                "explanation": "Uses fd to find files with .go extension",
            },
            "timestamp": "2026-02-01T10:30:00Z",
        }
    ],
    "metadata": {
        "timestamp": "2026-02-01T10:30:00Z",
        "model": "claude-sonnet-4-20250514",
        "final_status": "accepted",
        "iteration_count": 1,
        "tmux_info": {"in_tmux": True, "session": "dev", "window": "0", "pane": "0"},
    },
}
"""As seed S3 has it."""


def imported(shell, *documents, name="log.json"):
    for number, document in enumerate(documents):
        path = shell.folder / f"{number}-{name}"
        path.write_text(json.dumps(document))
        assert shell("sessions", "import", str(path)) == 0, shell.err


def exported(shell, key):
    assert shell("sessions", "export", key, "--format", "cmd") == 0, shell.err
    return json.loads(shell.out)


@pytest.mark.spec(166, 167, 168, 172)
def test_the_sample_of_the_seed_comes_back_equal(shell):
    imported(shell, SAMPLE)
    (row,) = shell.json("ask", "logs", "--json")
    assert exported(shell, row["session_id"]) == SAMPLE
    assert shell.json("ask", "logs", SAMPLE["id"], "--json") == SAMPLE


def test_a_log_of_several_tries_without_an_id_comes_back_but_for_the_id(shell):
    first = SAMPLE["iterations"][0]
    second = {
        "feedback": "only tests", "timestamp": "2026-02-01T10:31:00.123456789+01:00",
        "model_input": {"system_prompt": "", "user_prompt": "only tests"},
        "model_output": {"raw_response": "```json\n{}\n```", "command": "fd _test.go", "explanation": ""},
    }  # fmt: skip
    document = {key: value for key, value in SAMPLE.items() if key != "id"}
    document["iterations"] = [first, second]
    document["metadata"] = {**SAMPLE["metadata"], "iteration_count": 2, "tmux_info": {"in_tmux": False}}
    imported(shell, document)
    (row,) = shell.json("ask", "logs", "--json")
    assert exported(shell, row["session_id"]) == {"id": "0-log", **document}


def test_other_sessions_have_no_such_log(shell):
    shell("run", "-p", "hi", "--recording", shell.recording({"reply": [{"text": "hello"}]}))
    (row,) = shell.json("sessions", "list", "--json")
    assert shell("sessions", "export", row["id"], "--format", "cmd") == 2
    assert shell("ask", "logs", row["id"]) == 1
    assert "not a command" in shell.err


@pytest.mark.spec(176)
@each_row("length, shown", [(1, 1), (79, 79), (80, 80), (81, 80), (500, 80)])
def test_a_command_of_eighty_characters_is_whole_and_a_longer_one_is_cut(length, shown):
    command = "abcdefghij" * 50
    preview = command_preview(command[:length])
    assert len(preview) == shown
    assert preview == (command[:length] if length <= 80 else f"{command[:77]}...")


@pytest.mark.spec(176, 177)
def test_a_row_has_the_summary_of_s3_and_a_long_command_is_cut(shell):
    long = "echo " + "x" * 90
    shell("ask", "--print", "--recording", shell.recording(reply(long)), "say it")
    (row,) = shell.json("ask", "logs", "--json")
    assert row["command_preview"] == f"{long[:77]}..." and len(row["command_preview"]) == 80
    assert (row["user_query"], row["final_status"], row["iteration_count"]) == ("say it", "accepted", 1)
    assert row["id"] == log_document()["id"] and row["model"] == "m"
    shell("ask", "--print", "--recording", shell.recording(reply("ls")), "newer")
    assert [row["user_query"] for row in shell.json("ask", "logs", "--json")] == ["newer", "say it"]
    assert shell("ask", "logs") == 0
    assert shell.out.index("newer") < shell.out.index("say it")


QUERIES = ("list Go files", "delete old logs", "count lines", "find big files", "show disk usage")


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Return 40 logs of S3, imported once."""
    made = []
    for number in range(40):
        commands = [f"tool{number % 7} --step {step} 'Path {number % 3}'" for step in range(number % 3 + 1)]
        made.append({
            "id": f"log-{number:02}", "user_query": f"{QUERIES[number % 5]} {number}", "context_sources": {},
            "iterations": [
                {"feedback": "", "model_input": {}, "timestamp": f"2026-03-{number % 28 + 1:02}T10:00:00Z",
                 "model_output": {"raw_response": "", "command": command, "explanation": f"Word{number % 4}"}}
                for command in commands
            ],
            "metadata": {"timestamp": f"2026-03-{number % 28 + 1:02}T10:00:00Z", "model": f"m{number % 2}",
                         "final_status": ("accepted", "rejected", "quit")[number % 3],
                         "iteration_count": len(commands)},
        })  # fmt: skip
    return made, tmp_path_factory.mktemp("many")


@pytest.mark.spec(178, 179, 180)
def test_filters_let_through_what_a_naive_count_does(shell, logs, monkeypatch):
    documents, folder = logs
    monkeypatch.setenv("WORKBENCH_HOME", str(folder / "home"))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for document in documents:
        (folder / f"{document['id']}.json").write_text(json.dumps(document))
    assert shell("sessions", "import", *[str(folder / f"{one['id']}.json") for one in documents]) == 0, (
        shell.err
    )

    def found(*words):
        return [row["id"] for row in shell.json("ask", "logs", "--json", *words)]

    def naive(holds):
        return {one["id"] for one in documents if holds(one)}

    def text(one):
        outputs = [iteration["model_output"] for iteration in one["iterations"]]
        return "\n".join(
            [one["user_query"], *(o["command"] + "\n" + o["explanation"] for o in outputs)]
        ).lower()

    def meta(one, key):
        return one["metadata"][key]

    cases = {
        ("--status", "quit"): lambda one: meta(one, "final_status") == "quit",
        ("--model", "m1"): lambda one: meta(one, "model") == "m1",
        ("--search", "GO FILES"): lambda one: "go" in text(one) and "files" in text(one),
        ("--search", "tool3"): lambda one: "tool3" in text(one),
        ("--search", "word2"): lambda one: "word2" in text(one),
        ("--search", "command"): lambda one: "command" in text(one),
        ("--search", '-"tool3"'): lambda one: "tool3" not in text(one),
        ("--search", "--step tool3"): lambda one: "tool3" in text(one),
        ("--search", "--step"): lambda one: True,
        ("--search", "--ste"): lambda one: True,
        ("--search", "-files"): lambda one: False,
        ("--from", "2026-03-10"): lambda one: meta(one, "timestamp") >= "2026-03-10",
        ("--to", "2026-03-10"): lambda one: meta(one, "timestamp") < "2026-03-11",
        ("--status", "accepted", "--model", "m0", "--search", "disk", "--from", "2026-03-05"): lambda one: (
            meta(one, "final_status") == "accepted" and meta(one, "model") == "m0" and "disk" in text(one)
            and meta(one, "timestamp") >= "2026-03-05"
        ),
        ("--origin", "cmd"): lambda one: True,
        ("--kind", "ask"): lambda one: False,
    }  # fmt: skip
    for words, holds in cases.items():
        assert set(found(*words)) == naive(holds), words
    every = found("--sort", "created", "--order", "asc")
    assert len(every) == 40
    times = {one["id"]: meta(one, "timestamp") for one in documents}
    assert [times[key] for key in every] == sorted(times.values())
    assert found("--sort", "created", "--order", "asc", "--limit", "7", "--offset", "5") == every[5:12]
    assert found("--search", "go", "--limit", "3", "--offset", "2") == found("--search", "go")[2:5]
    assert found("--offset", "99") == []
    models = [
        row["model"] for row in shell.json("ask", "logs", "--json", "--sort", "model", "--order", "asc")
    ]
    assert models == sorted(models)


def test_a_log_in_full_has_its_eight_parts(shell):
    imported(shell, SAMPLE)
    assert shell("ask", "logs", SAMPLE["id"]) == 0
    heads = [line for line in shell.out.splitlines() if line and not line.startswith(" ")]
    assert heads == [
        "Words", "Outcome", "Preferences", "Terminal", "Documentation", "tmux", "Try 1",
        "Sent and received, try 1",
    ]  # fmt: skip
    for text in ("fd -e go", "accepted", "Use modern CLI tools", "session dev", "Generate: list", '"..."'):
        assert text in shell.out


def test_a_deleted_session_takes_its_log_along(shell):
    shell("ask", "--print", "--recording", shell.recording(reply("ls")), "x")
    (row,) = shell.json("ask", "logs", "--json")
    assert len(log_files()) == 1
    assert shell("sessions", "delete", row["session_id"], "--yes") == 0, shell.err
    assert log_files() == []


@pytest.mark.parametrize("log", ["../../victim", "/{folder}/victim", "{own}"])
def test_a_log_that_a_file_names_is_no_file_to_delete(shell, log):
    shell("ask", "--print", "--recording", shell.recording(reply("ls")), "x")
    (path,) = log_files()
    (row,) = shell.json("ask", "logs", "--json")
    assert shell("sessions", "export", row["session_id"]) == 0
    victim = Home.open().path.parent / "victim.json"
    for file in (victim, Home.open().path / "victim.json"):
        file.write_text("kept")
    named = log.format(folder=str(victim.parent).lstrip("/"), own=path.stem)
    text = re.sub(r'("log": ?)"[^"]*"', lambda match: match[1] + json.dumps(named), shell.out)
    assert named in text
    for key in set(re.findall(r'"(?:id|session_id)": ?"([0-9a-f-]{36})"', text)):
        text = text.replace(key, str(uuid.uuid4()))
    foreign = shell.workspace / "foreign.jsonl"
    foreign.write_text(text)
    assert shell("sessions", "import", str(foreign)) == 0, shell.err
    with Journal.open(Home.open()) as journal:
        (imported,) = [s.id for s in journal.sessions() if s.id != row["session_id"]]
    assert shell("sessions", "delete", imported, "--yes") == 0, shell.err
    assert victim.exists() and (Home.open().path / "victim.json").exists() and log_files() == [path]


def test_it_is_found_by_its_kind_and_opens_like_any_session(shell):
    shell("ask", "--print", "--recording", shell.recording(reply(LIST)), "list go files")
    (row,) = shell.json("sessions", "list", "--kind", "ask", "--status", "accepted", "--json")
    assert shell("sessions", "export", row["id"], "--format", "markdown") == 0
    assert LIST in shell.out


def test_its_replay_has_the_command_and_nothing_of_it_continues(shell):
    recording = shell.recording({"reply": [{"text": "no JSON"}]})
    assert shell("ask", "--print", "--recording", recording, "x") == 1
    with Journal.open(Home.open()) as journal:
        (killed,) = [row for row in journal.sessions() if row.kind == "ask"]
        created = SessionCreated(session_kind="ask", workspace=str(shell.workspace), provider="p", model="m")
        user = Actor(kind="user", via="cli")
        bodies = [created, SessionStatusChanged(status="initializing"), SessionStatusChanged(status="ready")]
        journal.append([journal.event(body, "left", user) for body in bodies])
        with pytest.raises(SessionRefused, match="nothing of it continues"):
            continue_session(journal, "left", user)
        submit_prompt(journal, "left", "said before its program was killed", user)
        assert [row.id for row in journal.awaiting(str(shell.workspace))] == [], (
            "a background process takes it"
        )
    assert killed.log_status == "quit"
    assert shell("ask", "--print", "--recording", shell.recording(reply(LIST)), "list go files") == 0
    (row,) = shell.json("ask", "logs", "--json", "--status", "accepted")
    assert shell("replay", row["session_id"], "--headless") == 0, shell.err
    assert f"suggests {LIST}" in shell.out


@each_row("key, copies", [("y", True), ("x", False), ("ctrl+c", False)])
def test_y_copies_the_command_of_a_log(shell, monkeypatch, key, copies):
    if not (Home.open().ask_logs).exists():
        shell("ask", "--print", "--recording", shell.recording(reply(LIST)), "list go files")
    monkeypatch.setattr("workbench.cli.ask_logs.terminal_keys", lambda console: Keys(key))
    console = Console(Screen(), Screen())
    assert dispatch(["ask", "logs", log_document()["id"]], console) == 0
    assert (clipboard_sequence(LIST) in console.err.getvalue()) is copies


def test_logs_of_another_folder_are_left_out_where_one_is_named(shell):
    shell("ask", "--print", "--recording", shell.recording(reply(LIST)), "list go files")
    assert len(shell.json("ask", "-C", str(shell.workspace), "--logs", "--json")) == 1
    assert shell.json("ask", "-C", str(shell.folder), "--logs", "--json") == []


# --- keys -----------------------------------------------------------------------------------------------


def pressed(*presses, until=60.0):
    """Read texts at their moments, with what is due done at its time; return what counted, and what was said."""
    keys, said, counted = DialogKeys(), [], []
    keys.say = said.append
    keys.begin(0.0)
    for text, at in (*presses, ("", until)):
        while keys.due is not None and keys.due <= at:
            counted.append(keys.pass_time(keys.due))
        if text:
            counted.append(keys.read(text, at))
    return [key for key in counted if key], said


@each_row("key, does", [("a", "accept"), ("r", "reject"), ("q", "quit")])
def test_a_letter_counts_when_it_is_pressed_twice_and_is_asked_for(key, does):
    assert pressed((key, 10.0), (key, 10.3)) == ([key], [f"{key} again: {does} · esc cancels"])
    assert pressed((key, 10.0))[0] == []
    assert pressed((key, 0.3), (key, 0.4))[0] == [], "it was just shown"
    assert pressed((key, 10.0), (key, 10.3), (key, 10.35))[0] == [], "held down"
    assert pressed((key, 10.0), ("\x1b", 10.2), (key, 10.4))[0] == []
    assert pressed((key * 3, 10.0))[0] == [], "keys that come together"


def test_the_arrows_of_the_list_count_at_once():
    assert pressed(("[", 10.0), ("]", 10.1))[0] == ["[", "]"]


def test_drawn_sentences_accept_reject_and_quit_nothing():
    chance = random.Random(20_261_128)
    for _ in range(400):
        sentence = draw_sentence(chance)
        gaps, at, presses = draw_gaps(chance, len(sentence) + 1), chance.uniform(0.0, 3.0), []
        for letter, gap in zip(f"{sentence}\n", gaps, strict=True):
            at += gap
            presses.append((letter, at))
        counted, said = pressed(*presses, until=at + 30)
        assert counted == [], sentence
        assert any("You typed text" in words for words in said)


# --- keys of a real terminal --------------------------------------------------------------------------


@pytest.fixture
def typed():
    master, slave = os.openpty()
    tty.setraw(slave)
    yield TerminalKeys(slave), lambda data: os.write(master, data)
    os.close(master)
    os.close(slave)


def test_a_key_of_a_terminal_counts_when_it_is_pressed_again_after_it_was_asked_for(typed):
    keys, write = typed
    asked = []

    def say(words):
        asked.append(words)
        # Later than a held key repeats: the moment is that of the read.
        threading.Timer(PRESS_SECONDS, write, (b"a",)).start()

    keys.meaning.say = say
    write(b"a")
    assert keys.key() == "a"
    assert asked == ["a again: accept · esc cancels"]


def test_an_answer_that_is_typed_as_soon_as_the_question_is_shown_is_a_line(typed):
    keys, write = typed
    assert keys.line(lambda: write(b"two words\r")) == "two words"


@each_row("data, key", [(b"y", "y"), (b"\x1b", ""), (b"yes", ""), (b"\x04", "")])
def test_any_key_of_a_terminal_is_one_that_came_alone(data, key):
    master, slave = os.openpty()
    try:
        tty.setraw(slave)
        os.write(master, data)
        wait_until(
            lambda: int.from_bytes(fcntl.ioctl(slave, termios.FIONREAD, bytes(4)), sys.byteorder) == len(data)
        )
        assert TerminalKeys(slave).any_key() == key
    finally:
        os.close(master)
        os.close(slave)
