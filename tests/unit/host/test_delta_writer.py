"""Streamed text: what comes after a pause is written at once, what comes quickly in one piece an interval."""

import asyncio
import itertools

import pytest

from workbench.host.stream_scrubber import DELTA_INTERVAL_SECONDS, DeltaWriter


class Loop:
    """A clock that a test moves, and the one call that is due."""

    def __init__(self):
        self.at, self.due, self.call = 1000.0, None, None

    def time(self):
        return self.at

    def call_later(self, seconds, call):
        assert self.call is None, "one call at a time"
        self.due, self.call = self.at + seconds, call
        return call

    def go_to(self, at):
        if self.call is not None and self.due <= at:
            self.at, call, self.call = self.due, self.call, None
            call()
        self.at = at


@pytest.fixture
def loop(monkeypatch):
    made = Loop()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: made)
    return made


def test_a_piece_after_a_pause_is_written_at_once(loop):
    written = []
    writer = DeltaWriter(lambda offset, text: written.append((loop.at, offset, text)))
    for number in range(3):
        begun = loop.at
        writer.feed(f"word{number}\n")
        loop.go_to(begun)
        assert written[-1] == (begun, 6 * number, f"word{number}\n")
        loop.go_to(begun + DELTA_INTERVAL_SECONDS + 0.01)


def test_pieces_that_come_quickly_are_written_once_an_interval(loop):
    written = []
    writer = DeltaWriter(lambda offset, text: written.append((loop.at, offset, text)))
    begun = loop.at
    for number in range(40):
        loop.go_to(begun + number * 0.005)
        writer.feed("x\n")
    loop.go_to(loop.at + 1)
    moments = [at for at, _, _ in written]
    gaps = [after - before for before, after in itertools.pairwise(moments)]
    assert min(gaps) >= DELTA_INTERVAL_SECONDS - 1e-6
    assert len(written) == 5
    assert "".join(text for _, _, text in written) == "x\n" * 40
    assert [offset for _, offset, _ in written] == [
        sum(len(text) for _, _, text in written[:number]) for number in range(len(written))
    ]


def test_a_secret_that_comes_in_pieces_is_not_written_in_halves(loop):
    written = []
    writer = DeltaWriter(lambda offset, text: written.append(text))
    secret = "ghp_" + "a1B2c3D4e5" * 4
    for letter in f"token {secret} end\n":
        writer.feed(letter)
        loop.go_to(loop.at + DELTA_INTERVAL_SECONDS)
    loop.go_to(loop.at + 1)
    assert "token" in "".join(written) and "end" in "".join(written)
    assert not any(secret[:length] in text for text in written for length in (8, 20, len(secret)))
