"""Reasoning that stands as `<think>…</think>` in the text of a reply."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.messages import TextPart, ThinkingPart
from workbench.providers.openai_compatible import CompletionReader
from workbench.providers.think_tags import ThinkTagReader

CASES = {
    "<think>why</think>so": ("why", "so"),
    "\n<think>\nwhy\n</think>\n\nso\n": ("why\n", "so\n"),
    "<think>\n\n</think>\n\nso": ("", "so"),
    "<think>a</think>b<think>c</think>": ("a", "b<think>c</think>"),
    "<think>a < b </thin </think>so": ("a < b </thin ", "so"),
    "so <think>not at the start</think>": ("", "so <think>not at the start</think>"),
    "<thinking>another tag</thinking>": ("", "<thinking>another tag</thinking>"),
    "<thi": ("", "<thi"),
    "  plain": ("", "  plain"),
    "<think>never closed </thi": ("never closed </thi", "never closed </thi"),
    "<think>": ("", ""),
    "": ("", ""),
}


def read(pieces, *, has_calls=False):
    reader = ThinkTagReader()
    parts = [part for piece in pieces for part in reader.feed(piece)]
    parts += reader.finish(has_calls=has_calls)
    assert all(part.text for part in parts)
    return tuple("".join(p.text for p in parts if isinstance(p, kind)) for kind in (ThinkingPart, TextPart))


@pytest.mark.parametrize(("text", "expected"), CASES.items())
def test_thoughts_and_answer_are_told_apart(text, expected):
    assert read([text]) == expected


@given(st.sampled_from(list(CASES)), st.lists(st.integers(0, 60), max_size=8))
def test_it_is_the_same_wherever_the_stream_is_cut(text, cuts):
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    assert read([piece for piece in pieces if piece]) == CASES[text]


@given(st.text(alphabet="<think>/ a\n"))
def test_no_word_is_lost(text):
    thought, answer = read([text])
    assert (
        "".join((thought + answer).split()) or not text.replace("<think>", "").replace("</think>", "").strip()
    )
    if not text.lstrip().startswith("<think>"):
        assert (thought, answer) == ("", text)


def test_a_thought_before_a_call_is_no_answer():
    assert read(["<think>I look"], has_calls=True) == ("I look", "")


def test_a_thought_is_shown_as_it_comes():
    reader = ThinkTagReader()
    assert list(reader.feed("<think>one ")) == [ThinkingPart(text="one ")]
    assert list(reader.feed("two</")) == [ThinkingPart(text="two")]
    assert list(reader.feed("think>\nso")) == [TextPart(text="so")]


def chunk(**delta):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def spoken(*chunks):
    reader = CompletionReader()
    parts = [part for one in chunks for part in reader.take(one)]
    return [*parts, *reader.finish()], reader


def test_a_server_that_tells_the_reasoning_itself_is_taken_at_its_word():
    parts, _ = spoken(chunk(reasoning_content="why"), chunk(content="<think>is a tag</think>"))
    assert parts == [ThinkingPart(text="why"), TextPart(text="<think>is a tag</think>")]


def test_a_reply_of_thoughts_alone_is_empty():
    parts, reader = spoken(chunk(content="<thi"), chunk(content="nk>why</think>"))
    assert parts == [ThinkingPart(text="why")] and reader.is_empty
