"""What is streamed of a command's output, and how many lines it printed."""

import pytest

from workbench.host import command_output
from workbench.host.command_output import CommandOutput


class Deltas:
    def __init__(self, write):
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
