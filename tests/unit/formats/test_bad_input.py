"""Damaged, hostile and odd files: what is wrong is told with its line, the rest is read."""

import contextlib
import copy
import gzip
import io
import json
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.growth import bounded_work
from tests.support.tables import each_row
from workbench.domain import events as e
from workbench.domain.codec import body_json
from workbench.formats import detect, inspect_log
from workbench.formats.detect import UnknownFormat, open_file

sys.path.insert(0, str(Path(__file__).parent))
from foreign_files import FILES


def line(number, text="hello", **more):
    return {
        "type": "user", "uuid": f"u{number}", "sessionId": "s", "timestamp": f"2026-11-21T12:00:{number:02}Z",
        "message": {"role": "user", "content": text}, **more,
    }  # fmt: skip


def packed(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def read(data, name="x"):
    opened = detect.open_file(
        io.BytesIO(data), name, 0, None, store=lambda _: None, current_id=lambda key: key
    )
    events = list(opened.events)
    prompts = [one.body.text for one in events if isinstance(one.body, e.PromptSubmitted)]
    told = [(one.line, one.message) for summary in opened.summaries for one in summary.problems]
    return prompts, [*told, *((one.line, one.message) for one in opened.strays)]


CUT = json.dumps(line(9))[:40]
NUL = "NUL bytes stand where a crash left nothing; they were left out"
CASES = {
    "cut off in the last line": (packed(line(1), line(2, "two")) + CUT, ["hello", "two"], [(3, "cut off")]),
    "cut off within": (packed(line(1)) + CUT + "\n" + packed(line(2, "two")), ["hello", "two"], [(2, "cut off")]),
    "two objects in a line": (
        json.dumps(line(1)) + " " + json.dumps(line(2, "two")) + "\n" + packed(line(3, "three")),
        ["hello", "two", "three"], [(1, "2 values stand in one line")],
    ),
    "no objects": (
        packed(line(1)) + '[1, 2]\n"text"\n12\nnull\ntrue\n' + packed(line(2, "two")),
        ["hello", "two"], [(number, "it is not an object") for number in range(2, 7)],
    ),
    "words between": (packed(line(1)) + "npm warn\n" + packed(line(2, "two")), ["hello", "two"], [(2, "not JSON")]),
    "a byte order mark": ("\ufeff" + packed(line(1)), ["hello"], []),
    "CRLF": (packed(line(1), line(2, "two")).replace("\n", "\r\n"), ["hello", "two"], []),
    "record separators": ("\x1e" + packed(line(1)) + "\x1e" + packed(line(2, "two")), ["hello", "two"], []),
    "blank lines": ("\n\n" + packed(line(1)) + "\n   \n" + packed(line(2, "two")), ["hello", "two"], []),
    "NUL bytes before": ("\0" * 64 + packed(line(1)), ["hello"], [(1, f"64 {NUL}")]),
    "NUL bytes behind": (packed(line(1)) + "\0" * 64, ["hello"], [(2, f"64 {NUL}")]),
    "nested without end": (
        packed(line(1)) + '{"type":"user","x":' + "[" * 90_000 + "]" * 90_000 + "}\n" + packed(line(2, "two")),
        ["hello", "two"], [(2, "cut off or not JSON")],
    ),
    "numbers that are none": (
        packed(line(1))[:-2] + ', "a": NaN, "b": -Infinity, "c": 1e999, "d": ' + "9" * 5_000 + "}\n", ["hello"], [],
    ),
    "ids twice and missing": (
        packed(line(1), line(1, "again"), {**line(2, "two"), "uuid": None}, {**line(3, "three"), "uuid": 7}),
        ["hello", "two", "three"], [],
    ),
    "times out of order and none": (
        packed(line(5), {**line(6, "two"), "timestamp": "yesterday"}, line(1, "three"), {**line(7, "four"), "timestamp": 99999999999999999999}),
        ["hello", "two", "three", "four"], [(3, "its time is before what stands above")],
    ),
    "turns that do not alternate": (
        json.dumps({"id": "s", "provider": "ollama", "systemPrompt": "be good", "activeTools": [], "pendingApprovals": [],
                    "telemetryId": "t", "messages": [{"role": role, "content": role, "timestamp": f"2026-11-21T12:00:{n:02}Z"}
                                                     for n, role in enumerate(["system", "user", "user"])]}),
        ["user", "user"], [(3, "turns 2 and 3 are both by user")],
    ),
    "an unknown record": (
        packed(line(1), {"type": "novelty", "uuid": "n", "sessionId": "s"}), ["hello"],
        [(2, "not understood, kept as it is: novelty")],
    ),
    "one array of lines": (json.dumps([line(1), line(2, "two")], indent=1), ["hello", "two"], []),
    "objects over several lines": (
        json.dumps(line(1), indent=1) + "\n" + json.dumps(line(2, "two"), indent=1) + "\n{", ["hello", "two"], [(21, "cut off")],
    ),
}  # fmt: skip


@each_row("name", CASES)
def test_what_is_wrong_is_told_with_its_line_and_the_rest_is_read(name):
    data, prompts, told = CASES[name]
    found, problems = read(data.encode())
    assert found == prompts
    assert [number for number, _ in problems] == [number for number, _ in told]
    assert all(part in why for (_, why), (_, part) in zip(problems, told, strict=True))


ODD = (None, True, -1, 1e308, 2**63, "", "\x00\x1b[31m\u202e", "\ud800", [], {}, [[]], [None], ["a", 1], 1.5,
       "2026-13-99T", {"content": [{"type": "text"}]}, [{"type": "text", "text": 5}], {"id": [1]})  # fmt: skip


DATABASES = [name for name in FILES if FILES[name][0].startswith(b"SQLite")]


def places(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def changed(value, path, odd):
    """Return a value with another one at a place."""
    made = copy.deepcopy(value)
    holder = made
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = odd
    return made


@pytest.mark.parametrize(
    "name", [name for name in FILES if not name.startswith("aider") and name not in DATABASES]
)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_value_of_another_type_stops_nothing(name, data):
    source = FILES[name][0].decode()
    try:
        whole, is_document = [json.loads(source)], True
    except ValueError:
        whole, is_document = [json.loads(one) for one in source.splitlines()], False
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1))
        path = data.draw(st.sampled_from(list(places(whole[at]))))
        if path:
            whole[at] = changed(whole[at], path, data.draw(st.sampled_from(ODD)))
    text = "\n".join(json.dumps(one) for one in whole)
    try:
        opened = open_file(
            io.BytesIO(text.encode()), "f", 0, None, store=lambda _: None, current_id=lambda key: key
        )
    except UnknownFormat:
        return
    events = list(opened.events)
    assert len({one.id for one in events}) == len(events), is_document
    assert all(body_json(one).encode() for one in events)


def test_two_sessions_with_one_id_are_both_kept():
    rows = [{"instance_id": "i", "history": [{"id": 0, "source": "user", "action": "message",
                                              "args": {"content": f"attempt {number}"}}]} for number in (1, 2)]  # fmt: skip
    prompts, told = read("".join(json.dumps(one) + "\n" for one in rows).encode())
    assert prompts == ["attempt 1", "attempt 2"]
    assert [(line, why) for line, why in told if "id i" in why] == [
        (2, "another session above has the id i; both are kept")
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_of_two_bytes_a_character_is_read(encoding):
    assert read(packed(line(1, "grüß dich"), line(2, "two")).encode(encoding))[0] == ["grüß dich", "two"]


def test_bytes_that_are_no_characters_are_told_with_their_line():
    data = packed(line(1)).encode() + packed(line(2, "caf@")).encode().replace(b"@", b"\xe9")
    assert read(data) == (
        ["hello", "caf\ufffd"], [(2, "it is not UTF-8: what was no character reads as U+FFFD")],
    )  # fmt: skip


def test_a_first_line_larger_than_what_is_looked_at_first_is_read_whole():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 600_000}}
    prompts, told = read(packed(line(1, [{"type": "text", "text": "look"}, image]), line(2, "two")).encode())
    assert (prompts, told) == (["look\n[image/png, 450000 bytes, not kept]", "two"], [])


def test_a_gigantic_line_is_left_out_with_its_number_and_size():
    huge = b'{"x":"' + b"a" * (17 << 20) + b'"}\n'
    prompts, told = read(packed(line(1)).encode() + huge + packed(line(2, "two")).encode())
    assert prompts == ["hello", "two"]
    assert told == [(2, f"the line has {len(huge)} bytes, over {16 << 20}: it was left out")]


@each_row(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b" \n\n", "it is empty"),
        (b"\0" * 4096, "NUL bytes only"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "neither JSON nor"),
        (gzip.compress(gzip.compress(packed(line(1)).encode())), "compressed twice"),
        (b"PK\x03\x04 and no more", "starts like a zip and is none"),
        (b"SQLite format 3\0" + b"x" * 84, "starts like a database and cannot be read"),
        (b'{"some": "document"}', "keys are those of no format"),
        (b"[" * 200_000, "not JSON"),
        (b'{"a":' * 50_000, "not JSON"),
        (b"just words", "neither JSON nor"),
    ],
    ids=["empty", "blank", "nul", "png", "gzip", "zip", "sqlite", "document", "lists", "objects", "words"],
)
def test_what_holds_no_session_is_refused_with_the_reason(data, why):
    with pytest.raises(UnknownFormat, match=why):
        read(data)


HEADER = {"version": 2, "status": "success", "eval": {"task": "t", "model": "p/m", "eval_id": "ev"}}


def zipped(entries):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content if isinstance(content, bytes | str) else json.dumps(content))
    return whole.getvalue()


def sample(number):
    return {"id": number, "epoch": 1, "messages": [{"role": "user", "content": f"sample {number}"}]}


@pytest.mark.parametrize(
    ("entries", "prompts", "why"),
    [
        ([("samples/1.json", sample(1)), ("samples/../../x.json", sample(2)), ("/etc/x.json", sample(3))], ["sample 1"], "leads out of the zip"),
        ([("samples/1.json", sample(1)), ("samples/2.json", b'{"id":' + b" " * 3_000_000 + b"2}")], ["sample 1"], "unpacked; it was left out"),
        ([("samples/1.json", sample(1)), ("samples/2.json", "{cut")], ["sample 1"], "samples/2.json is damaged"),
        ([("samples/1.json", sample(1)), ("samples/2.json", "[" * 200_000)], ["sample 1"], "samples/2.json is damaged"),
    ],
    ids=["ways out", "a bomb", "cut off", "nested"],
)  # fmt: skip
def test_a_hostile_zip_is_read_as_far_as_it_is_good(monkeypatch, tmp_path, entries, prompts, why):
    monkeypatch.setattr(inspect_log, "MOST_ENTRY", 1 << 20)
    monkeypatch.chdir(tmp_path)
    found, told = read(zipped([("header.json", HEADER), *entries]))
    assert found == prompts
    assert any(why in text for _, text in told)
    assert not list(tmp_path.iterdir())


def test_a_zip_of_many_large_entries_ends_at_its_bound(monkeypatch):
    monkeypatch.setattr(inspect_log, "MOST_UNPACKED", 400)
    entries = [(f"samples/{number:03}.json", sample(number)) for number in range(99)]
    found, told = read(zipped([("header.json", HEADER), *entries]))
    assert 0 < len(found) < 10
    assert any("the rest was left out" in why for _, why in told)


def test_an_entry_that_is_larger_than_its_zip_says_is_no_harm():
    data = bytearray(zipped([("header.json", HEADER), ("samples/1.json", sample(1))]))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = (5).to_bytes(4, "little")
    found, told = read(bytes(data))
    assert found == []
    assert any("samples/1.json is damaged" in why for _, why in told)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":[' * 3_000, b"[1," * 400_000, b'"' + b"\\" * 500_000, b'{"x":"' + b"a,{[" * 300_000,
        packed(line(1)).encode() * 50 + b"{" * 900_000, b"# aider chat started at x\n" + b"<<<<<<< SEARCH\n" * 20_000,
        b"# aider chat started at x\n\n" + b"a.py\n```\n" * 20_000 + b"\n> Applied edit to a.py\n" * 50,
    ],
    ids=range(7),
)  # fmt: skip
def test_nothing_takes_long(data):
    with bounded_work(), contextlib.suppress(UnknownFormat):
        read(data)
