"""What is streamed of a command's output, and how many lines it printed."""

import asyncio
import itertools
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.host import command_output
from workbench.host.command_output import CommandOutput


class Deltas:
    def __init__(self, write, **_):
        self.write = write

    def feed(self, text):
        self.write(0, text)

    def close(self):
        pass


@pytest.fixture
def output(monkeypatch):
    monkeypatch.setattr(command_output, "DeltaWriter", Deltas)
    monkeypatch.setattr(command_output, "MAX_STREAMED_CHARACTERS", 10)
    said, clock = [], [0.0]
    made = CommandOutput(lambda offset, text: said.append(text), lambda: clock[0])
    return made, said, clock


def test_lines_are_counted_also_where_they_are_not_kept(output):
    made, _, _ = output
    made.feed(b"a\nb")
    assert made.lines == 2
    made.feed(b"c\n")
    made.feed(b"")
    assert made.lines == 2
    made.feed(b"d")
    assert made.lines == 3


def test_after_the_whole_stream_a_line_a_second_is_streamed(output):
    made, said, clock = output
    made.feed(b"0123456789\n")
    assert said == ["0123456789"]
    made.feed(b"first\nsecond\nthi")
    assert said[1:] == ["\nsecond\n"]
    made.feed(b"rd\nfourth\n")
    assert len(said) == 2, "not twice within a second"
    clock[0] = 1.5
    made.feed(b"fifth\n")
    assert said[2:] == ["fifth\n"]


def test_of_a_line_that_began_before_no_half_is_streamed(output):
    made, said, _ = output
    made.feed(b"0123456789\nhalf a li")
    made.feed(b"ne\n")
    assert said == ["0123456789"]


def test_what_may_be_part_of_a_key_is_not_streamed(output):
    made, said, _ = output
    made.feed(b"0123456789\n")
    made.feed(b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n")
    assert "MIIEv" not in "".join(said)


# --- an output that an earlier driver streamed in part


class Loop:
    """A loop in which each piece is written as soon as it is fed."""

    def time(self):
        return 0.0

    def call_later(self, _seconds, call):
        call()
        return self

    def cancel(self): ...


TEXT = st.text("ab é\U0001f600\n\r=", max_size=60)
PIECES = st.lists(st.integers(0, 90), max_size=6)


def streamed(data, cuts, most, *, before=0, is_closed=True):
    """Return the pieces that are streamed of an output that is read in pieces of drawn sizes."""
    pieces, places = [], sorted({0, *(min(cut, len(data)) for cut in cuts), len(data)})
    with (
        patch.object(asyncio, "get_running_loop", Loop),
        patch.object(command_output, "MAX_STREAMED_CHARACTERS", most),
    ):
        output = CommandOutput(lambda *piece: pieces.append(piece), streamed=before)
        for start, end in itertools.pairwise(places):
            output.feed(data[start:end])
        if is_closed:
            output.close()
    return pieces


@given(TEXT, PIECES, PIECES, st.integers(0, 200), st.integers(1, 90))
def test_an_output_that_is_read_again_continues_where_its_driver_was_killed(text, first, again, cut, most):
    data = text.encode()
    before = streamed(data[:cut], first, most, is_closed=False)
    known = sum(len(piece) for _, piece in before)
    after = streamed(data, again, most, before=known)
    whole = "".join(piece for _, piece in [*before, *after])
    assert whole[:most] == text[:most]
    offset = 0
    for start, piece in [*before, *after]:
        assert start == offset
        offset += len(piece)


@given(PIECES, PIECES, st.integers(0, 200))
def test_a_secret_is_not_streamed_in_two_halves_by_two_drivers(first, again, cut):
    secret = "ghp_" + "a1B2" * 9
    data = f"first line\nthe token is {secret} here\nlast line\n".encode()
    before = streamed(data[:cut], first, 1000, is_closed=False)
    after = streamed(data, again, 1000, before=sum(len(piece) for _, piece in before))
    assert streamed(data, [], 1000) == [(0, "".join(piece for _, piece in [*before, *after]))]
