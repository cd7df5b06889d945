"""The way out: text is made safe, JSON holds escapes only and means the same."""

import io
import json

import pytest
from rows_cli import HOSTILE, RAW

from workbench.cli.console import Console
from workbench.text.human import error_sentence
from workbench.text.safe import escape_json


class Stream(io.StringIO):
    def __init__(self, encoding="utf-8"):
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self):
        return self._encoding


def test_text_is_made_safe_at_the_door():
    console = Console(Stream(), Stream())
    console.say(HOSTILE)
    console.note(HOSTILE)
    console.write(HOSTILE)
    text = console.out.getvalue() + console.err.getvalue()
    assert "⟨U+202E⟩" in text and not [raw for raw in RAW if raw in text]


@pytest.mark.parametrize("text", [HOSTILE, "\x9b", "\U000e0041", "\ud800", "ü ✓\n\t", "\x7f"])
def test_json_means_the_same_and_steers_no_terminal(text):
    console = Console(Stream(), Stream())
    console.json({"text": [text]})
    shown = console.out.getvalue()
    assert json.loads(shown) == {"text": [text]}
    assert not [raw for raw in (*RAW, "\U000e0041", "\ud800") if raw in shown]


def test_json_without_anything_hidden_is_left_alone():
    assert escape_json('{"a":"ü ✓"}') == '{"a":"ü ✓"}'


@pytest.mark.parametrize(
    "encoding, sign", [("utf-8", "◆"), ("UTF8", "◆"), ("ascii", "*"), ("latin-1", "*"), (None, "*")]
)
def test_signs_follow_the_encoding(encoding, sign):
    assert Console(Stream(encoding), Stream()).signs.of("waiting") == sign


@pytest.mark.parametrize(
    "text, said",
    [
        ("nothing was run", "Nothing was run."),
        ("src/app.py was not read", "src/app.py was not read."),
        ("workbench run was not started", "workbench run was not started."),
        ("Done.", "Done."),
        ("e0c08792-3fc3 replaces it", "e0c08792-3fc3 replaces it."),
        ("two\nlines", "Two lines."),
    ],
)
def test_sentences(text, said):
    assert error_sentence(text) == said
