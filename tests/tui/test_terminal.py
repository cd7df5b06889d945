"""Texts reach the terminal in their order, a frame in one piece, and the loop does not wait for a slow terminal."""

import io
import select

from hypothesis import given
from hypothesis import strategies as st
from textual._ansi_sequences import SYNC_END, SYNC_START

from workbench.tui.driver import TerminalWriter


class Stage:
    """A terminal with room or without, and a thread that writes when it is told to."""

    def __init__(self):
        self.file, self.queue, self.has_room, self.flags = io.StringIO(), [], True, select.POLLOUT
        self.terminal = TerminalWriter(self.file, self)
        self.pieces = []
        self.file.write = lambda text: self.pieces.append(text)

    def poll(self, _timeout):
        return [(1, self.flags)] if self.has_room else []

    def send(self, *texts):
        for text in texts:
            self.terminal.send(text, self.queue.append)

    def run_thread(self):
        while self.queue:
            self.terminal.write(self.queue.pop(0))


def test_a_frame_is_one_piece_written_at_once():
    stage = Stage()
    stage.send("title", SYNC_START, "rows", "cursor", SYNC_END)
    assert (stage.pieces, stage.queue) == (["title", f"{SYNC_START}rowscursor{SYNC_END}"], [])


def test_a_terminal_that_is_behind_and_a_large_frame_are_left_to_the_thread():
    stage = Stage()
    stage.has_room = False
    stage.send("a")
    stage.has_room = True
    stage.send("x" * 100_000)
    assert (stage.pieces, len(stage.queue)) == ([], 2)
    stage.run_thread()
    stage.send("b")
    assert [piece[0] for piece in stage.pieces] == ["a", "x", "b"]


def test_a_terminal_that_is_gone_is_left_to_the_thread():
    stage = Stage()
    stage.flags |= select.POLLHUP
    stage.send("a")
    assert (stage.pieces, stage.queue) == ([], ["a"])


@given(st.lists(st.sampled_from(["write", "write", "frame", "large", "full", "free", "thread"]), max_size=40))
def test_nothing_overtakes_and_nothing_is_lost(steps):
    stage, wanted = Stage(), []
    for number, step in enumerate(steps):
        if step == "thread":
            stage.run_thread()
        elif step in ("full", "free"):
            stage.has_room = step == "free"
        else:
            text = f"{number};" * (20_000 if step == "large" else 1)
            wanted.append(text)
            stage.send(*([SYNC_START, text, SYNC_END] if step == "frame" else [text]))
    stage.run_thread()
    assert "".join(stage.pieces).replace(SYNC_START, "").replace(SYNC_END, "") == "".join(wanted)
