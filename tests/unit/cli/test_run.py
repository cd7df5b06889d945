"""`run` from end to end in this process: outputs, exit codes, and what is left of a session."""

import io
import json

import pytest
from rows_cli import HOSTILE, RAW

from workbench.cli.console import Console
from workbench.cli.headless_run import MessagePrinter
from workbench.cli.journal_access import open_journal
from workbench.cli.run_session import tool_names
from workbench.domain.events import LeaseTaken
from workbench.domain.tools import BuiltInTool
from workbench.domain.values import SYSTEM_SESSION
from workbench.host.host_locks import driver_identity
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock, take_lease

SAY = {"reply": [{"text": "Hel"}, {"text": "lo."}]}


def ask(name="c1", path="new.txt", content="one\n"):
    call = {"id": name, "name": "create_file", "arguments": {"path": path, "content": content}}
    return {"tool_call": call}


def sessions(shell):
    return shell.json("sessions", "list", "--json")


def waiting(shell):
    return [row for row in shell.json("approvals", "list", "--json") if row["kind"] == "tool"]


def test_text_comes_once_and_the_session_rests(shell):
    assert shell("run", "-p", "Say hello", "--recording", shell.recording(SAY)) == 0
    assert shell.out == "Hello.\n"
    assert shell.err.startswith("Not trusted: ")
    (session,) = sessions(shell)
    assert (session["status"], session["reason"], session["title"]) == ("paused", "run ended", "Say hello")


def test_the_recording_is_part_of_the_session(shell):
    path = shell.recording(SAY)
    shell("run", "-p", "x", "--recording", path)
    shown = shell.json("sessions", "show", sessions(shell)[0]["id"], "--json")
    assert shown["configuration"]["recording"]["path"] == path
    assert len(shown["configuration"]["recording"]["sha256"]) == 64
    assert [(m["role"], m["content"]) for m in shown["messages"]] == [("user", "x"), ("assistant", "Hello.")]


def test_park_ends_at_the_question_with_its_id_on_stdout(shell):
    recording = shell.recording({"reply": [ask("c1"), ask("c2", "b.txt")]}, SAY)
    assert shell("run", "-p", "x", "--recording", recording, "--on-approval", "park") == 3
    said = shell.out
    rows = waiting(shell)
    assert [row["target"] for row in rows] == ["new.txt", "b.txt"]
    assert all(row["id"] in said for row in rows)
    assert sessions(shell)[0]["reason"] == "parked"


def test_what_was_answered_goes_on_with_continue(shell, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    recording = shell.recording({"reply": [ask()]}, SAY)
    shell("run", "-p", "x", "--recording", recording, "--on-approval", "park")
    (row,) = waiting(shell)
    assert shell("approvals", "approve", row["id"][:8]) == 0
    assert "no background process could be started" in shell.err
    assert "stays paused" not in shell.err, "the last answer lets a parked session continue"
    assert not (shell.workspace / "new.txt").exists()
    result = shell.json("run", "--continue", "--output-format", "json")
    assert (shell.workspace / "new.txt").read_text() == "one\n"
    assert (result["exit"], result["reply"], result["reason"]) == (0, "Hello.", "run ended")
    assert [(a["id"], a["state"]) for a in result["actions"]] == [(row["id"], "approved")]
    assert result["files"] == [{"path": "new.txt", "change": "create", "added": 1, "removed": 0}]


def test_deny_says_no_and_is_four(shell):
    recording = shell.recording({"reply": [ask()]}, SAY)
    words = ("run", "-p", "x", "--recording", recording, "--on-approval", "deny", "--output-format", "json")
    result = shell.json(*words)
    assert (result["exit"], result["reply"]) == (4, "Hello.")
    assert [(a["id"], a["state"], a["target"]) for a in result["actions"]] == [(None, "denied", "new.txt")]
    assert not (shell.workspace / "new.txt").exists()


def test_deny_answers_questions_from_before(shell):
    shell("run", "-p", "x", "--recording", shell.recording({"reply": [ask()]}, SAY), "--on-approval", "park")
    assert shell("run", "--continue", "--on-approval", "deny") == 4
    (row,) = [a for a in shell.json("approvals", "list", "--decided", "--json") if a["kind"] == "tool"]
    assert row["state"] == "rejected"


def test_the_list_of_what_waits_is_filtered_as_the_queue_of_the_screen(shell):
    shell("run", "-p", "x", "--recording", shell.recording({"reply": [ask()]}, SAY), "--on-approval", "park")
    (row,) = waiting(shell)

    def kept(words):
        return row["id"] in [
            one["id"] for one in shell.json("approvals", "list", "--json", "--filter", words)
        ]

    folder = shell.workspace.name
    assert kept(f"agent:workbench folder:{folder} new.txt") and kept("-risk:any")
    assert not kept("risk:any") and not kept(f"-folder:{folder}") and not kept("agent:codex")
    assert shell("approvals", "list", "--filter", "agent:codex") == 0
    assert shell.out == "Nothing that waits matches.\n"


def test_stream_json_is_every_event_of_the_session_and_nothing_else(shell):
    assert shell("run", "-p", "x", "--recording", shell.recording(SAY), "--output-format", "stream-json") == 0
    events = [json.loads(line) for line in shell.out.splitlines()]
    assert [event["sequence_number"] for event in events] == list(range(1, len(events) + 1))
    kinds = [event["kind"] for event in events]
    assert kinds[:3] == ["session.created", "lease.taken", "prompt.submitted"] and "reply.completed" in kinds
    assert kinds[-1] == "session.status_changed" and events[-1]["body"]["reason"] == "run ended"


@pytest.mark.spec(136, 140, 141, 150, 228)
def test_s2_is_every_message_between_two_lines_of_the_session_with_its_stream(shell):
    recording = shell.recording({"reply": [ask()]}, SAY)
    words = ("run", "-p", "x", "--recording", recording, "--on-approval", "deny", "--output-format", "s2")
    assert shell(*words) == 4
    first, *messages, last = [json.loads(line) for line in shell.out.splitlines()]
    assert first["session"]["id"] == last["session"]["id"] == sessions(shell)[0]["id"]
    streams = [line["session"]["stream_connection"] for line in (first, last)]
    assert streams[0]["last_message_at"] is None
    assert {one["connection_id"] for one in streams} == {streams[0]["connection_id"]}
    assert streams[0]["established_at"] <= streams[1]["last_message_at"]
    numbers = [message["sequence_number"] for message in messages]
    assert numbers == list(range(1, len(messages) + 1))
    assert len({message["id"] for message in messages}) == len(messages)
    told = first["session"]["configuration"]
    assert (told["timeout"], told["max_turns"]) == (4_294_967_295, 50), "S2 has no word for none"
    kinds = [next(iter(message["content"])) for message in messages]
    assert {"System", "AiResponse"} <= set(kinds) and kinds.count("AiResponse") >= 2
    assert last["session"]["status"] == "Ready"


@pytest.mark.spec(150)
def test_messages_are_printed_as_events_come_and_each_event_once(shell):
    assert shell("run", "-p", "Grüße", "--recording", shell.recording(SAY)) == 0
    printed = []
    with open_journal() as journal:
        (row,) = journal.sessions()
        events = journal.events(row.id)
        console = Console(io.StringIO(), io.StringIO())
        printer = MessagePrinter(journal, console)
        for first, last in ((0, 4), (2, 6), (0, 6), (5, len(events)), (0, len(events))):
            printer.see(events[first:last])
            printed.append(len(console.out.getvalue().splitlines()))
        printer.end()
    rows = [json.loads(line) for line in console.out.getvalue().splitlines()]
    numbers = [row["sequence_number"] for row in rows if "content" in row]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len({row["id"] for row in rows if "content" in row}) == len(numbers)
    assert printed[0] < printed[1] == printed[2] < printed[3] == printed[4] == len(rows) - 1
    assert "Grüße" in console.out.getvalue()


@pytest.mark.spec(140, 141)
def test_a_stream_of_a_session_that_is_continued_goes_on_counting_as_its_export_does(shell):
    numbers, ids = [], []
    first = ("-p", "x", "--recording", shell.recording(SAY, SAY))
    for words in (first, ("--continue", "-p", "y")):
        assert shell("run", *words, "--output-format", "s2") == 0, shell.err
        messages = [json.loads(line) for line in shell.out.splitlines()][1:-1]
        numbers += [message["sequence_number"] for message in messages]
        ids += [message["id"] for message in messages]
    assert numbers == list(range(1, len(numbers) + 1))
    assert shell("sessions", "export", sessions(shell)[0]["id"], "--format", "kaiak") == 0
    rows = [json.loads(line) for line in shell.out.splitlines()]
    exported = [(row["sequence_number"], row["id"]) for row in rows if "content" in row]
    assert [row for row in exported if row[1] in ids] == list(zip(numbers, ids, strict=True))


def test_s2_shows_hidden_characters_as_escapes(shell):
    shell(
        "run", "-p", HOSTILE.replace("\x9b", ""), "--recording", shell.recording(SAY), "--output-format", "s2"
    )
    assert not any(mark in shell.out for mark in RAW)
    assert any("AiResponse" in line for line in shell.out.splitlines())


def test_an_exhausted_recording_is_an_error_on_stderr_and_one(shell):
    assert (
        shell("run", "-p", "x", "--recording", shell.recording({"reply": [ask()]}), "--on-approval", "deny")
        == 4
    )
    assert shell("run", "-p", "x", "--recording", shell.recording()) == 1
    assert "Recording exhausted (0 of 0)" in shell.err and "Traceback" not in shell.err


def test_what_an_agent_writes_does_not_steer_the_terminal(shell):
    hostile = HOSTILE.replace("\x9b", "")
    recording = shell.recording(
        {"reply": [{"text": hostile}, ask(path=f"a{hostile[1:4]}.txt", content=hostile)]}, SAY
    )
    shell("run", "-p", hostile, "--recording", recording, "--on-approval", "park")
    said = shell.out + shell.err
    for row in waiting(shell):
        shell("approvals", "show", row["id"])
        said += shell.out
    shell("sessions", "list")
    said += shell.out
    assert "⟨U+202E⟩" in said and not [raw for raw in RAW if raw in said]


@pytest.mark.spec(215)
def test_a_run_that_cannot_record_names_the_run_that_drives_the_session(shell):
    shell("run", "-p", "x", "--recording", shell.recording(SAY, SAY))
    key = sessions(shell)[0]["id"]
    with Journal.open(Home.open()) as journal:
        driver = driver_identity(journal, str(shell.workspace), "run")
        with DriverLock(journal, driver):
            take_lease(journal, key, driver)
            assert shell("run", "--session", key[:6], "-p", "more", "--record", "more.json") == 1
            assert f"pid {driver.pid}" in shell.err
            assert sum(isinstance(e.body, LeaseTaken) for e in journal.events(key)) == 2


def test_continue_looks_at_exactly_this_workspace(shell, monkeypatch):
    shell("run", "-p", "x", "--recording", shell.recording(SAY, SAY))
    below = shell.workspace / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert shell("run", "--continue", "-p", "y") == 1
    assert sessions(shell) == []
    assert shell.json("sessions", "list", "--all", "--json")[0]["id"] != SYSTEM_SESSION
    monkeypatch.chdir(shell.workspace)
    assert shell("run", "--continue", "-p", "y") == 0
    assert shell.out == "Hello.\n"


@pytest.mark.spec(209)
def test_a_second_answer_has_no_effect_and_says_who_was_first(shell, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    shell("run", "-p", "x", "--recording", shell.recording({"reply": [ask()]}), "--on-approval", "park")
    (row,) = waiting(shell)
    assert shell("approvals", "reject", row["id"], "--reason", "no") == 0
    assert shell("approvals", "approve", row["id"]) == 1
    assert "It was rejected by user (cli, pid" in shell.err
    shown = shell.json("approvals", "show", row["id"], "--json")
    assert (shown["state"], shown["decision"]["reason"], shown["outcome"]["state"]) == (
        "rejected",
        "no",
        "rejected",
    )


def test_answers_are_refused_inside_an_agent(shell, monkeypatch):
    shell("run", "-p", "x", "--recording", shell.recording({"reply": [ask()]}), "--on-approval", "park")
    (row,) = waiting(shell)
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    for words in (
        ["approve", row["id"]],
        ["reject", row["id"]],
        ["extend", row["id"]],
        ["undo", row["id"]],
        ["refresh", row["id"]],
    ):
        assert shell("approvals", *words) == 1, words
        assert "agents cannot answer for a human" in shell.err
    assert shell("trust", "--yes") == 1
    assert [found["state"] for found in waiting(shell)] == ["pending"]


def test_several_ids_and_the_highest_code(shell, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    shell("run", "-p", "x", "--recording", shell.recording({"reply": [ask()]}), "--on-approval", "park")
    (row,) = waiting(shell)
    assert shell("approvals", "approve", "ffffffff", row["id"]) == 1
    assert shell.out.startswith("Approved: write new.txt")


def test_extending_gives_a_new_id(shell):
    shell("run", "-p", "x", "--recording", shell.recording({"reply": [ask()]}), "--on-approval", "park")
    (row,) = waiting(shell)
    assert shell("approvals", "extend", row["id"]) == 0
    (after,) = waiting(shell)
    assert (
        after["supersedes"] == row["id"]
        and after["id"] in (shell("approvals", "list", "--json"), shell.out)[1]
    )
    assert shell("approvals", "approve", row["id"]) == 1
    assert after["id"] in shell.err


def test_the_proposal_can_be_written_differently(shell, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    shell("run", "-p", "x", "--recording", shell.recording({"reply": [ask()]}, SAY), "--on-approval", "park")
    (row,) = waiting(shell)
    mine = shell.folder / "mine.txt"
    mine.write_bytes(b"mine\r\n\xff")
    assert shell("approvals", "approve", row["id"], "--edited", str(shell.folder / "gone")) == 1
    assert shell("approvals", "approve", row["id"], "--edited", str(mine)) == 0
    assert shell("run", "--continue") == 0
    assert (shell.workspace / "new.txt").read_bytes() == b"mine\r\n\xff"


# --- how it ended ----------------------------------------------------------------------------------


def test_what_was_denied_is_named_on_stderr(shell):
    calls = [ask(f"c{n}", f"{n}.txt") for n in range(5)]
    recording = shell.recording({"reply": calls}, SAY)
    assert shell("run", "-p", "x", "--recording", recording, "--on-approval", "deny") == 4
    said = shell.err.splitlines()[-1]
    assert said == (
        "Denied 5 calls, because nobody could be asked (--on-approval deny):"
        " create_file 0.txt, create_file 1.txt, create_file 2.txt, 2 more."
    )


def test_deny_is_zero_where_nothing_was_denied(shell):
    assert shell("run", "-p", "x", "--recording", shell.recording(SAY), "--on-approval", "deny") == 0
    assert "Denied" not in shell.err
    # Refused for what it asks, not because nobody could be asked.
    outside = shell.recording({"reply": [ask(path="../out.txt")]}, SAY)
    assert shell("run", "-p", "x", "--recording", outside, "--on-approval", "deny") == 0


def test_a_last_reply_that_was_cut_is_a_failure(shell):
    cut = {"reply": [{"text": "Half a sen"}, {"stop": "length"}]}
    result = shell.json("run", "-p", "x", "--recording", shell.recording(cut), "--output-format", "json")
    assert (result["exit"], result["reply"], result["error"]["code"]) == (1, "Half a sen", "reply_length")
    assert "The last reply was cut, so this run failed. workbench run --session " in shell.err


def test_continuing_a_session_that_has_ended_its_turn_says_so(shell):
    result = shell.json("run", "-p", "x", "--recording", shell.recording(SAY), "--json")
    assert shell("run", "--session", result["session_id"]) == 0
    assert f"Nothing was left to do. workbench run --session {result['session_id']} -p TEXT" in shell.err


def test_a_reply_that_was_cut_and_followed_by_a_whole_one_is_none(shell):
    cut = {"reply": [ask(path="../out.txt"), {"stop": "length"}]}
    result = shell.json("run", "-p", "x", "--recording", shell.recording(cut, SAY), "--output-format", "json")
    assert (result["exit"], result["reply"], result["error"]) == (0, "Hello.", None)


def test_a_quiet_run_says_nothing_but_how_it_ended(shell):
    assert shell("run", "-p", "x", "--recording", shell.recording(SAY), "--quiet") == 0
    assert (shell.out, shell.err) == ("Hello.\n", "")
    recording = shell.recording({"reply": [ask()]}, SAY)
    shell("run", "-p", "x", "--recording", recording, "--quiet", "--on-approval", "park")
    assert shell.err == "Parked. It continues after the last answer.\n"


@pytest.mark.spec(187, 195)
def test_an_agent_has_the_tools_that_were_named_and_a_call_to_another_is_refused_and_recorded(shell):
    told = {"tool_result": {"id": "c1", "outcome": "refused", "contains": "not active in this session"}}
    recording = shell.recording({"reply": [ask()]}, {"expect": told, **SAY})
    words = ("-p", "x", "--recording", recording, "--tools", "read_file, context_read,read_file")
    result = shell.json("run", *words, "--output-format", "json")
    assert (result["exit"], result["reply"], result["actions"]) == (0, "Hello.", [])
    (session,) = sessions(shell)
    shown = shell.json("sessions", "show", session["id"], "--json")
    assert {*shown["active_tools"]} == {"read_file", "context.read"}
    (call,) = shown["calls"]
    assert (call["tool"], call["state"]) == ("create_file", "rejected")
    shell("sessions", "show", session["id"])
    assert "  tools: context.read, read_file\n" in shell.out
    assert not (shell.workspace / "new.txt").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-p", "x", "--tools", "read_fil"), "there is no tool read_fil; did you mean read_file?"),
        (("-p", "x", "--tools", " , "), "it names no tool"),
        (("-p", "x", "--tools", "red"), "there is no tool red; did you mean reads?"),
        (("--continue", "--tools", "read_file"), "so --tools has no place here"),
    ],
)
def test_tools_that_are_none_start_nothing(shell, words, said):
    assert shell("run", *words) == 2
    assert said in shell.err
    assert shell.json("sessions", "list", "--json") == []


def test_tools_are_named_as_in_a_session_by_id_wire_name_and_group():
    reads = {tool.id for tool in BuiltInTool if tool.verb == "read"}
    assert {*tool_names("reads")} == reads
    assert {*tool_names("reads, create_file context_read")} == {*reads, "create_file"}
    assert tool_names("all") == ()


@pytest.mark.spec(193, 195)
def test_a_tool_that_the_settings_keep_from_a_provider_is_refused_to_it(shell):
    told = {
        "tool_result": {
            "id": "c1", "outcome": "refused", "contains": "create_file: not offered to recorded, only to ollama",
        }
    }  # fmt: skip
    (shell.workspace / ".workbench.json").write_text('{"tools": {"create_file": {"providers": ["ollama"]}}}')
    recording = shell.recording({"reply": [ask()]}, {"expect": told, **SAY})
    result = shell.json("run", "-p", "x", "--recording", recording, "--output-format", "json")
    assert (result["exit"], result["reply"], result["actions"]) == (0, "Hello.", [])


def test_a_run_chooses_the_sandbox_of_its_session(shell):
    words = ("run", "-p", "x", "--recording", shell.recording(SAY))
    assert shell(*words, "--sandbox", "read-only", "--sandboxed", "auto") == 0
    found = shell.json("sessions", "show", sessions(shell)[0]["id"], "--json")["configuration"]
    assert (found["sandbox"], found["sandboxed"]) == ("read-only", "auto")
    assert shell(*words, "--sandbox", "all") == 2
    assert shell("run", "-p", "y", "--continue", "--sandbox", "outside") != 0, "it is chosen at the start"


def test_an_agent_cannot_choose_the_sandbox_of_a_session(shell, monkeypatch):
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    recording = shell.recording(SAY)
    assert shell("run", "-p", "x", "--recording", recording, "--sandbox", "outside") != 0
    monkeypatch.delenv("WORKBENCH_AGENT")
    assert sessions(shell) == []
