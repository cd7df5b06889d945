"""Every foreign format: recognised by content, read, scrubbed, the same each time; and bad input of each kind."""

import io
import json
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from foreign_files import FILES, INSPECT_LOG, KAIAK, document, kaiak, lines

from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.domain.codec import validate_event
from workbench.domain.fold import MemoryTables
from workbench.domain.machines import SETTLED_CALL_STATES
from workbench.formats import detect
from workbench.formats.detect import UnknownFormat, detect_format, format_names
from workbench.formats.input import JsonLine, json_documents, json_values, raw_lines

AT = 1_700_000_000_000_000


def made(data, name="some/file", wanted=None):
    stored = []

    def store(whole):
        stored.append(whole)
        return f"recorded:{len(stored):064x}"

    opened = detect.open_file(io.BytesIO(data), name, AT, wanted, store=store, current_id=lambda key: key)
    return opened, list(opened.events)


def problems(opened):
    return [(one.line, one.message) for summary in opened.summaries for one in summary.problems]


@pytest.mark.spec(1, 2, 11, 12, 13, 70, 212, 218)
@each_row("name", FILES)
def test_a_file_is_recognised_and_becomes_a_session(name):
    data, form, prompt, calls, decisions, changed = FILES[name]
    opened, events = made(data)
    first = opened.summaries[0].session_id
    rows = MemoryTables().fold(event for event in events if event.session_id == first)
    prompts = [one.body.text for one in events if isinstance(one.body, e.PromptSubmitted)]
    assert opened.format == form
    assert (prompts or [None])[0] == prompt
    assert [(call.tool, call.state) for call in rows.calls.values()] == calls
    assert [action.state for action in rows.actions.values()] == decisions
    assert [one.body.path for one in events if isinstance(one.body, e.FileChanged)] == changed
    assert rows.sessions[first].status in ("completed", "failed")
    assert not [call for call in rows.calls.values() if call.state not in SETTLED_CALL_STATES]
    for event in events:
        validate_event(event)


@each_row("name", FILES)
def test_reading_twice_makes_the_same_events_wherever_the_file_lies(name):
    assert made(FILES[name][0])[1] == made(FILES[name][0])[1]
    assert len({event.id for event in made(FILES[name][0])[1]}) == len(made(FILES[name][0])[1])


@each_row("name", FILES)
def test_a_secret_never_gets_in(name):
    token = "ghp_" + "a1B2" * 9
    data = FILES[name][0]
    for word in (b"fix it", b"rename it", b"change it", b"edit it", b"a = 2", b"ls", b"hello", b"done"):
        data = data.replace(word, token.encode())
    assert token not in "\n".join(map(repr, made(data)[1]))


@each_row("name", FILES)
def test_a_file_that_breaks_off_is_read_as_far_as_it_goes(name):
    data, form = FILES[name][:2]
    for share in (0.95, 0.7):
        try:
            opened, events = made(data[: int(len(data) * share)], wanted=form)
        except UnknownFormat:
            continue
        assert opened.format == form
        assert events or opened.strays
        rows = MemoryTables().fold(events)
        assert not [call for call in rows.calls.values() if call.state not in SETTLED_CALL_STATES]


def test_every_format_of_the_table_has_a_file():
    assert {form for _, form, *_ in FILES.values()} | {"claude-code", "workbench"} == set(format_names())


@pytest.mark.spec(141, 144, 148)
def test_messages_of_s2_are_joined_counted_and_end_with_what_cannot_be_mended():
    opened, events = made(KAIAK)
    assert [one.body.text for one in events if isinstance(one.body, e.ReplyCompleted) and one.body.text] == [
        "I look"
    ]
    assert "sequence number 8 follows a gap after 6" in [why for _, why in problems(opened)]
    (session,) = MemoryTables().fold(events).sessions.values()
    assert session.status == "failed"
    (raised,) = [event.body for event in events if isinstance(event.body, e.ErrorRaised)]
    assert (raised.code, raised.message) == ("X", "broke")


@pytest.mark.spec(146)
@pytest.mark.parametrize(
    ("kind", "options", "asked"),
    [
        ("Approval", None, ("tool", None, [])),
        ("Choice", ["keep", "drop"], ("question", "which?", ["keep", "drop"])),
        ("Input", None, ("question", "which?", [])),
    ],
)
def test_each_interaction_of_s2_becomes_its_kind_of_question(kind, options, asked):
    call = {"tool_call_id": "t", "tool_name": "bash", "parameters": {}}
    question = {
        "interaction_id": "q",
        "interaction_type": kind,
        "prompt": "which?",
        "options": options,
        "timeout": 900,
    }
    result = {"success": True, "execution_time_ms": 1}
    data = lines(
        {"session": {"id": "ks", "workspace_path": "/shop", "status": "Completed"}},
        kaiak(1, {"ToolCall": {**call, "operation": "Start"}}),
        kaiak(2, {"UserInteraction": {**question, "tool_call_id": "t"}}),
        kaiak(3, {"ToolCall": {**call, "operation": "Complete", "result": result}}),
    )
    (opened,) = [event.body for event in made(data)[1] if isinstance(event.body, e.ActionOpened)]
    assert (opened.action_kind, opened.prompt, [choice.key for choice in opened.choices]) == asked


@pytest.mark.spec(170, 171)
def test_a_log_of_s3_keeps_every_round_and_flags_a_wrong_count():
    opened, events = made(FILES["cmd"][0])
    rows = MemoryTables().fold(events)
    assert [action.reason for action in rows.actions.values()] == ["hidden too", None]
    assert problems(opened) == [(1, "iteration_count is 3, there are 2 iterations")]
    (session,) = rows.sessions.values()
    assert (session.origin_status, session.title, session.created_at) == (
        "accepted", "list files", 1_769_938_200_000_000,
    )  # fmt: skip


@pytest.mark.spec(170)
@each_row(
    "counted, told",
    [
        (0, ["iteration_count is 0, there are 2 iterations"]),
        (1, ["iteration_count is 1, there are 2 iterations"]),
        (2, []),
        (3, ["iteration_count is 3, there are 2 iterations"]),
        (None, []),
    ],
)
def test_each_count_that_is_not_that_of_the_iterations_is_flagged(counted, told):
    document = json.loads(FILES["cmd"][0])
    document["metadata"]["iteration_count"] = counted
    assert [why for _, why in problems(made(json.dumps(document).encode())[0])] == told


@pytest.mark.spec(216)
def test_times_without_a_zone_are_told():
    opened, _ = made(FILES["openhands"][0])
    assert (1, "times have no zone; they are taken as UTC") in problems(opened)


def test_a_gap_in_steps_is_told():
    assert (4, "step 5 stands where 4 follows") in problems(made(FILES["atif"][0])[0])


def test_a_zip_with_samples_is_read_and_a_zip_that_is_none_is_told():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({**INSPECT_LOG, "samples": []}))
        archive.writestr("samples/7_epoch_1.json", json.dumps(INSPECT_LOG["samples"][0]))
        archive.writestr("samples/8_epoch_1.json", b"{broken")
    opened, events = made(data.getvalue())
    assert [one.body.text for one in events if isinstance(one.body, e.PromptSubmitted)] == ["fix it"]
    assert any("samples/8_epoch_1.json is damaged" in why for _, why in problems(opened))
    for broken in (b"PK\x03\x04 not at all", data.getvalue()[:60]):
        with pytest.raises(UnknownFormat, match="starts like a zip and is none"):
            made(broken)


@pytest.mark.parametrize(
    "data, why",
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"just words", "neither JSON"),
        (b'{"a": 1}', "no format that is known"),
        (b"[1, 2, 3]", "no format that is known"),
        (b"{{{{", "not JSON"),
        (b"\x00\xff\xfe" * 99, "neither JSON"),
    ],
)
def test_what_is_no_session_is_refused_with_the_reason(data, why):
    with pytest.raises(UnknownFormat, match=why):
        made(data)


def claude(number, **more):
    message = {"role": "user", "content": f"prompt {number}"}
    return json.dumps({
        "type": "user", "uuid": f"u{number}", "sessionId": "s", "timestamp": f"2026-11-21T12:00:{number:02}Z",
        "message": message, **more,
    }).encode()  # fmt: skip


def prompts_of(events):
    return [one.body.text for one in events if isinstance(one.body, e.PromptSubmitted)]


@pytest.mark.spec(10, 141)
@each_row(
    "lines, told, read",
    [
        ([claude(1), claude(2)[:-9], claude(3)], (2, "it is cut off or not JSON"), 2),
        ([claude(1), claude(2) + claude(3)], (2, "2 values stand in one line; all of them are read"), 3),
        ([claude(1), b"[1, 2]", claude(3)], (2, "it is not an object"), 2),
        ([claude(1), b"12", claude(3)], (2, "it is not an object"), 2),
        ([claude(1), claude(2).replace(b"prompt 2", b"\xff\xfe"), claude(3)],
         (2, "it is not UTF-8: what was no character reads as U+FFFD"), 3),
        ([claude(5), claude(9), claude(1)], (3, "its time is before what stands above"), 3),
        ([claude(1), claude(1), claude(2)], None, 2),
        ([claude(1), claude(2, uuid=None), claude(3, uuid=None)], None, 3),
        ([claude(1), claude(2, timestamp="yesterday"), claude(3, timestamp=None)], None, 3),
        ([claude(1), b"", b"   ", claude(2)], None, 2),
        ([b"\xef\xbb\xbf" + claude(1), claude(2)], None, 2),
        ([claude(1).replace(b"prompt", b"\\ud800 NaN"), claude(2)], None, 2),
        ([b"garbage first", claude(1)], (1, "it is cut off or not JSON"), 1),
    ],
)  # fmt: skip
def test_damage_is_told_with_its_line_and_the_rest_is_read(lines, told, read):
    opened, events = made(b"\n".join(lines) + b"\n")
    assert len(prompts_of(events)) == read
    assert problems(opened)[: 1 if told else None] == ([told] if told else [])
    for event in events:
        validate_event(event)


def test_nesting_without_end_is_cut():
    deep = json.loads("[" * 900 + "]" * 900)
    _, events = made(b"\n".join([claude(1), claude(2, type="odd", deep=deep)]) + b"\n")
    assert "[…]" in repr(events)


def test_a_gigantic_line_is_left_out_in_bounded_memory(monkeypatch):
    monkeypatch.setattr("workbench.formats.input.MOST_LINE", 1 << 20)

    class Endless(io.RawIOBase):
        """100 MB in one line, never whole in memory."""

        def __init__(self):
            self.left = [claude(1) + b"\n", *[b"x" * (1 << 20)] * 100, b"\n" + claude(2) + b"\n"]

        def readable(self):
            return True

        def readinto(self, buffer):
            if not self.left:
                return 0
            data = self.left[0][: len(buffer)]
            rest = self.left[0][len(buffer) :]
            self.left[:1] = [rest] if rest else []
            buffer[: len(data)] = data
            return len(data)

    tracemalloc.start()
    found = list(json_values(raw_lines(io.BufferedReader(Endless()), 1 << 20)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [one.number if isinstance(one, JsonLine) else one.line for one in found] == [1, 2, 3]
    assert "the line has 104857601 bytes" in found[1].message
    assert peak < 20 << 20


def test_a_document_that_breaks_off_says_where():
    value, found = json_documents(b'{"a": [1, 2,\n {"b": "c", "d": "e')
    assert (value, [(one.line, one.message) for one in found]) == (
        [JsonLine(1, {"a": [1, 2, {"b": "c"}]})], [(2, "the document breaks off here; the rest is read")],
    )  # fmt: skip


def test_the_name_of_a_file_says_nothing():
    for name in ("x.png", "session.jsonl", "a.traj"):
        assert detect_format(io.BytesIO(FILES["gemini"][0]), name).format == "gemini"


def test_an_unknown_version_is_told_and_read():
    data = document({**json.loads(FILES["atif"][0]), "schema_version": "ATIF-v9"})
    opened, events = made(data)
    assert prompts_of(events) == ["fix it"]
    assert (1, "ATIF-v9 is not known; read as ATIF-v1") in problems(opened)


def test_large_outputs_are_kept_whole_beside_the_event():
    long = "word " * 20_000
    data = FILES["atif"][0].replace(b'"content": "a.py"', json.dumps({"content": long}).encode()[1:-1])
    _, events = made(data)
    (finished,) = [one.body for one in events if isinstance(one.body, e.CallFinished)]
    assert finished.output_ref is not None
    assert "characters in all" in finished.preview
    assert len(finished.preview) < 12_000


def test_a_session_of_codex_knows_its_model_and_what_was_asked_in_an_editor():
    asked = b"# Context from my IDE setup:\\n\\n## My request for Codex:\\nrename it"
    _, events = made(FILES["codex"][0].replace(b"rename it", asked))
    (session,) = MemoryTables().fold(events).sessions.values()
    assert (session.model, session.title, session.workspace) == ("gpt-5-codex", "rename it", "/shop")


@pytest.mark.spec(135, 140)
@each_row("name", sorted(FILES))
def test_a_session_is_at_each_moment_what_it_was(name):
    _, events = made(FILES[name][0])
    tables, moves = MemoryTables(), {}
    for event in events:
        session = tables.fold([event]).sessions[event.session_id]
        if isinstance(event.body, e.SessionStatusChanged):
            assert session.status == event.body.status, "a move that no session makes"
        elif not isinstance(event.body, e.SessionCreated | e.TurnStarted | e.TurnEnded):
            wanted = "ready" if event.turn_id is None else "processing"
            assert session.status == wanted, event
        moves.setdefault(session.id, []).append(session.status)
    assert {one[-1] for one in moves.values()} <= {"completed", "failed"}
