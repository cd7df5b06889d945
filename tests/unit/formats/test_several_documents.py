"""More, less or something else than one clean document in a file: read as far as it goes, and told."""

import io
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from foreign_files import FILES

from tests.support.tables import each_row
from workbench.formats import detect
from workbench.formats.detect import UnknownFormat

OF_DOCUMENTS = (
    "gemini", "gemini-checkpoint", "gemini-log", "swe", "mini", "mini-bare", "openhands", "opencode", "atif",
    "inspect", "wink", "cmd", "assistant",
)  # fmt: skip
AT = 1_700_000_000_000_000


def _made(data):
    opened = detect.open_file(
        io.BytesIO(data), "some/file", AT, None, store=lambda _: None, current_id=lambda key: key
    )
    events = list(opened.events)
    told = [(one.line, one.message) for summary in opened.summaries for one in summary.problems]
    return opened, events, told


@each_row("name", OF_DOCUMENTS)
def test_the_same_document_twice_is_one_session_and_told(name):
    data = FILES[name][0].strip()
    _, alone, before = _made(data)
    opened, events, told = _made(data + b"\n" + data)
    assert (opened.format, [one.id for one in events]) == (FILES[name][1], [one.id for one in alone])
    line = data.count(b"\n") + 2
    assert set(told) - set(before) == {
        (1, "2 documents stand in one file; all of them are read"),
        (line, "the same document again, which is taken once"),
    }


def test_every_document_of_a_file_is_a_session():
    one = json.loads(FILES["atif"][0])
    some = [{**one, "session_id": key} for key in ("a", "b", "c")]
    opened, _, told = _made("\n".join(map(json.dumps, some)).encode())
    assert [summary.key for summary in opened.summaries] == ["a", "b", "c"]
    assert told[0] == (1, "3 documents stand in one file; all of them are read")


def test_a_document_of_another_format_is_left_out_and_told():
    _, _, told = _made(FILES["atif"][0].strip() + b'\n{"x": 1}')
    line = FILES["atif"][0].strip().count(b"\n") + 2
    assert (line, "a document that is not of the format atif: left out") in told


@each_row("name", OF_DOCUMENTS)
def test_words_before_a_document_are_left_out_and_told(name):
    data = FILES[name][0]
    opened, events, told = _made(b"Exporting session: it takes [a while]\n{done}\n" + data)
    assert (opened.format, len(events)) == (FILES[name][1], len(_made(data)[1]))
    assert (1, "words stand before the document; they were left out") in told


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"# a page\n\nsome words {and} [more]\n", "neither JSON nor"),
        (b'# a page\n\n```json\n{"name": "x"}\n```\n', "neither JSON nor"),
        (b'{"a": 1, "b', "its keys are those of no format"),
        (b"{broken", "it is not JSON"),
    ],
)
def test_what_is_none_is_refused_with_the_reason(data, why):
    with pytest.raises(UnknownFormat, match=why):
        _made(data)


@pytest.mark.parametrize(
    ("name", "kept"), [("openhands-rows", 0.9), ("claude-history", 0.9), ("codex-history", 0.95)]
)
def test_a_single_line_that_breaks_off_is_read_as_far_as_it_goes(name, kept):
    data = json.dumps({**json.loads(FILES[name][0]), "last": ["x" * 200]}).encode()
    opened, events, told = _made(data[: -int(len(data) * (1 - kept))])
    assert (opened.format, bool(events)) == (FILES[name][1], True)
    assert [why for _, why in told if "breaks off" in why]


@pytest.mark.parametrize("name", ["aider", "aider-input", "aider-llm"])
def test_a_text_with_a_byte_order_mark_and_damaged_bytes_is_read_and_told(name):
    data = FILES[name][0].lstrip()
    opened, events, told = _made(b"\xef\xbb\xbf" + data)
    assert (opened.format, told) == (FILES[name][1], [])
    assert len(events) == len(_made(data)[1])
    damaged = data.rstrip() + b" \xff\xfe\n"
    (line,) = [line for line, why in _made(damaged)[2] if "U+FFFD" in why]
    assert line == damaged.count(b"\n")
