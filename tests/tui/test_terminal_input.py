"""Input of a terminal, read by read: what is pasted is never a key, and what cannot be read is dropped."""

import itertools
import random

import pytest
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser

from tests.support.sizes import size
from tests.support.tables import each_row
from workbench.tui.conversation.composer import MAX_PASTE_LETTERS
from workbench.tui.terminal_input import PasteStalled, TerminalInput
from workbench.tui.terminal_tokens import MAX_PASTE_CHARACTERS

DELAY = 0.1
SOON = 0.001
START, END = "\x1b[200~", "\x1b[201~"
SEEDS = 7


def play(*steps, then=5.0):
    """Return the events of reads and of the pauses between them (numbers, in seconds)."""
    reader, at, found = TerminalInput(DELAY), 100.0, []
    for step in (*steps, then):
        if isinstance(step, str):
            found += reader.feed(step, at)
        else:
            at = pause(reader, at, step, found)
    return found


def pause(reader, at, seconds, found):
    """Let time pass as the driver does: what is due is done at its moment."""
    end = at + seconds
    while reader.due is not None and reader.due <= end:
        found += reader.elapse(reader.due)
    return end


def short(found):
    """Return events in short: a key by its name, a paste as a tuple, anything else by its class."""
    return [
        event.key if isinstance(event, events.Key)
        else (event.text,) if isinstance(event, events.Paste)
        else type(event).__name__
        for event in found
        if not isinstance(event, PasteStalled)
    ]  # fmt: skip


def read(*steps, **more):
    return short(play(*steps, **more))


def keys(found):
    return [event.key for event in found if isinstance(event, events.Key)]


def pastes(found):
    return [event.text for event in found if isinstance(event, events.Paste)]


# --- bracketed pastes -----------------------------------------------------------------------------------

WITH_COLORS = " fix this: \x1b[31mERROR \x1b[0m in a.py\r\nsecond line of the log \x1b"
CONTENTS = (
    "",
    "one",
    WITH_COLORS,
    "a\ra\r\x19\x14\x03\x11\x1b",
    "\x1b\x1b\x1b[A\x1bOA\x1b[97;5u\x1b[<0;5;5M\x1b[I\x1b[13u",
    "\x1b[201\x1b[20\x1b[2\x1b[200~\x1b[201",
    "ü漢👩‍💻\x9b\x7f" * 20,
)


@pytest.mark.parametrize("pauses", [SOON, 0.05, 3 * DELAY, 30.0])
@pytest.mark.parametrize("content", CONTENTS)
def test_a_paste_is_one_event_wherever_it_is_split_and_however_long_that_takes(content, pauses):
    whole = START + content + END
    for at in range(len(START), len(whole)):
        found = read(whole[:at], pauses, whole[at:], pauses, "x")
        if pauses > 1.0 and whole[at:].startswith(START):  # a start mark after a pause begins another paste
            assert found == [(whole[len(START) : at],), (whole[at + len(START) : -len(END)],), "x"]
        else:
            assert found == [(content,), "x"], at


@pytest.mark.parametrize("content", CONTENTS)
def test_a_paste_that_comes_letter_by_letter_is_one_event(content):
    whole = START + content + END
    assert read(*itertools.chain.from_iterable((letter, 0.09) for letter in whole)) == [(content,)]


@pytest.mark.parametrize("pauses", [0.001, 0.15, 0.3, 0.9])
@pytest.mark.parametrize("at", range(1, len(START)))
def test_a_start_mark_that_is_split_makes_no_key_of_the_text(at, pauses):
    found = read(START[:at], pauses, START[at:] + "qone\rqtwo\r" + END, pauses, "x")
    assert ("qone\rqtwo\r",) in found
    rest = [event for event in found if event != ("qone\rqtwo\r",)]
    assert rest == (["escape", "x"] if at == 1 and pauses > DELAY else ["x"])


def test_a_start_mark_that_is_split_twice_makes_no_key_of_the_text():
    found = read("\x1b", 0.3, "[", 0.3, "2", 0.3, "00~", 0.3, "qone\rqtwo\r", 0.3, END)
    assert found == ["escape", "left_square_bracket", "2", ("qone\rqtwo\r",)]


LOST = START + "alpha\r\nbeta"
WAYS_OUT = [
    ("\x03", "\x03"), ("\x1b", "\x1b"), ("\x1b", "\x03"), ("\x03", "\x11"), ("\x1b[99;5u", "\x1b[27u"),
]  # fmt: skip


@pytest.mark.parametrize("first, second", WAYS_OUT)
def test_two_keys_that_leave_end_a_paste_without_an_end_mark_and_then_keys_work(first, second):
    moved = "\x1b[<35;4;4M\x1b[<35;5;4M"
    found = read(
        LOST, 0.4, "hello", 0.4, "\r", 0.4, moved, 0.4, first, 0.3, moved, second, 0.4, "x", 0.3, "\r"
    )
    assert found == [("alpha\r\nbetahello\r",), "x", "enter"]


def test_a_key_that_leaves_and_is_held_down_ends_such_a_paste():
    held = itertools.chain.from_iterable(("\x03", 0.03) for _ in range(20))
    assert read(LOST, 0.4, *held, 0.4, "x") == [("alpha\r\nbeta",), "x"]


@pytest.mark.parametrize("keys", ["hello", "\r", "\x1b", "\x03", "q", "\x10", "\x1b[A"])
def test_one_key_alone_leaves_a_paste_open_that_may_only_be_slow(keys):
    found = read(LOST, 3.0, keys, 3.0, "more" + END, 1.0, "x")
    assert found == [("alpha\r\nbeta" + keys + "more",), "x"]


def test_keys_that_leave_are_pasted_text_where_they_come_right_behind_pasted_text():
    assert read(START + "a", SOON, "\x03", SOON, "\x03", 0.3, "b" + END, "x") == [("a\x03\x03b",), "x"]
    assert read(START + "a", 0.3, "\x03", 0.3, "\x03", 0.05, "b" + END, "x") == [("a\x03\x03b",), "x"]


def test_an_end_mark_that_comes_after_the_way_out_is_dropped():
    assert read(LOST, 1.0, "\x1b", 0.3, "\x1b", 0.3, "[201~", 0.3, "x") == [("alpha\r\nbeta",), "x"]


def test_the_next_paste_after_a_pause_ends_one_without_an_end_mark():
    assert read(LOST, 2.0, START + "gamma" + END, "x") == [("alpha\r\nbeta",), ("gamma",), "x"]


def test_a_paste_that_rests_is_reported_once():
    stalled = [type(event) for event in play(LOST, 3.0, "more", 9.0, END)]
    assert stalled == [PasteStalled, events.Paste]
    assert not [event for event in play(LOST, 0.5, END) if isinstance(event, PasteStalled)]


def test_what_an_open_paste_has_received_is_not_lost_at_the_end():
    reader = TerminalInput(DELAY)
    reader.feed(LOST, 1.0)
    assert short(reader.close()) == [("alpha\r\nbeta",)]


@pytest.mark.parametrize("begin, end", [(START, END), ("a\r", "")])
def test_a_paste_is_bounded_and_too_long_for_the_composer_then(begin, end):
    block = "x" * 1_000_000
    reader, found = TerminalInput(DELAY), []
    for piece in (begin, *[block] * 10, end):
        found += reader.feed(piece, 1.0, is_joined=True)
    found += reader.elapse(2.0)
    (text,) = pastes(found)
    assert MAX_PASTE_LETTERS < len(text) == MAX_PASTE_CHARACTERS
    assert keys(found) == []


# --- pastes without brackets ----------------------------------------------------------------------------

THIRTY = "".join(f"line {number}\r" for number in range(30))


def test_thirty_lines_at_once_are_one_paste():
    assert read(THIRTY) == [(THIRTY,)]


@pytest.mark.parametrize("length", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("gap", [0.0, 0.002, 0.009])
def test_thirty_lines_in_pieces_send_nothing(length, gap):
    pieces = [THIRTY[at : at + length] for at in range(0, len(THIRTY), length)]
    found = read(*itertools.chain.from_iterable((piece, gap) for piece in pieces), 1.0, "\r")
    # Letters that come one by one are keys until the first line break; none of the line breaks is a key.
    assert "".join(event[0] if isinstance(event, tuple) else "" for event in found[:-1]).count("\r") == 30
    assert found.count("enter") == 1 and found[-1] == "enter"
    typed = [event if isinstance(event, tuple) else (event,) for event in found[:-1]]
    assert "".join(text for (text,) in typed).replace("space", " ") == THIRTY


@pytest.mark.parametrize("gap", [0.002, 0.009])
def test_a_line_in_each_read_is_one_paste(gap):
    lines = THIRTY.splitlines(keepends=True)
    assert read(*itertools.chain.from_iterable((line, gap) for line in lines)) == [(THIRTY,)]


def test_a_busy_machine_that_pauses_within_pasted_lines_sends_nothing():
    assert read(THIRTY, 0.08, "the last", 0.3, " line\r") == [(THIRTY + "the last",), (" line\r",)]


def test_reads_that_waited_for_the_reader_are_together_however_long_it_took():
    reader = TerminalInput(DELAY)
    found = [*reader.feed("one\r", 1.0), *reader.feed("two\r", 1.7, is_joined=True), *reader.elapse(2.0)]
    assert short(found) == [("one\rtwo\r",)]


@pytest.mark.parametrize(
    "steps, wanted",
    [
        (["hi\r"], ["h", "i", "enter"]),
        (["hi", SOON, "\r"], ["h", "i", "enter"]),
        (["hi", 0.3, "\r", SOON, "x"], ["h", "i", "enter", "x"]),
        (["\raT\x14\x14"], ["enter", "a", "T", "ctrl+t", "ctrl+t"]),
        (["\r\r"], ["enter", "enter"]),
        (["hi\r\x14"], ["h", "i", "enter", "ctrl+t"]),
        (["hi\r", 0.05, "ho\r"], ["h", "i", "enter", "h", "o", "enter"]),
        (["hi\x1b[A\rho"], ["h", "i", "up", "enter", "h", "o"]),
        (["hi\r", SOON, "\x1b[<35;2;2M"], ["MouseMove", "h", "i", "enter"]),
        (["hi\n"], ["h", "i", "ctrl+j"]),
        ([THIRTY, 0.3, "\r"], [(THIRTY,), "enter"]),
    ],
)  # fmt: skip
def test_typing_and_scripts_that_press_enter_go_on_working(steps, wanted):
    assert read(*steps) == wanted


@pytest.mark.parametrize("between", ["\x1b[31m", "\x1b[<35;2;2M", "\x1b[I", "\x1b[1;1:3A"])
def test_what_is_no_key_between_pasted_lines_does_not_divide_them(between):
    found = play(f"one\r{between}two\rthree\r")
    assert (keys(found), pastes(found)) == ([], ["one\rtwo\rthree\r"])


def test_a_control_character_in_pasted_lines_is_no_key():
    assert read("one\rtwo\x03\x14\r\x11three\r") == [("one\rtwo\x03\x14\r\x11three\r",)]


def test_a_key_that_was_held_back_has_the_time_at_which_it_came():
    assert [event.time for event in play("hi\r")] == [100.0] * 3


# --- sequences ------------------------------------------------------------------------------------------

ODD = (
    "\x1b[1;1:3A", "\x1b[97;1:3u", "\x1b[97:65;2u", "\x1b[1114112u", f"\x1b[{'9' * 30}u", "\x1b[55296u",
    "\x1b[97;;55296u", f"\x1b[<0;{'9' * 50};5M", "\x1b[48;0;0;0;0t", "\x1b[48;60000;60000;1;1t",
    "\x1b[3$y", "\x1b[" + "1;" * 500 + "A", "\x1b]11;rgb:aa/bb\x07", "\x1bP>|name\x1b\\", "\x1b_Gi=1;OK\x1b\\",
    "\x1b[Ma\r\x14", "\x1b[[Z", "\x1b[201~", "\x1b[?1;2c", "\x1b[zzz"[:3],
)  # fmt: skip


@pytest.mark.parametrize("sequence", ODD)
def test_an_odd_sequence_is_dropped_and_what_follows_is_read(sequence):
    if sequence == "\x1b[Ma\r\x14":  # broken off by a control character, which is a key
        assert read(sequence, 2.0, "x") == ["enter", "ctrl+t", "x"]
    else:
        assert read(sequence, 2.0, "x", "\x1b[A", "\x1b[<0;3;4M") == ["x", "up", "MouseDown"]


def test_a_terminal_that_does_not_know_its_size_in_pixels_reports_the_mouse_in_cells():
    resize, down = play("\x1b[48;36;120;0;0t", "\x1b[<0;11;6M")
    assert (resize.size, (down.x, down.y)) == ((120, 36), (10, 5))


def test_a_size_in_pixels_is_kept_over_an_odd_sequence():
    *_, down = play("\x1b[48;36;120;720;1200t", "\x1b[1;1:3A", "\x1b[<0;101;41M")
    assert (down.x, down.y) == (10, 2)


@pytest.mark.parametrize("sequence", ["[A", "OA", "[1;5C", "[<35;5;5M", "[I", "[[A", "[201~"])
@pytest.mark.parametrize("seconds", [0.15, 0.9])
def test_a_sequence_whose_rest_comes_late_presses_no_letter(sequence, seconds):
    assert read("\x1b", seconds, sequence, 0.3, "x") == ["escape", "x"]
    assert read("\x1b" + sequence[0], seconds, sequence[1:], 2.0, "x")[-1] == "x"
    assert set(keys(play("\x1b" + sequence[0], seconds, sequence[1:]))) <= {"up", "ctrl+right", "f1"}


def test_what_is_typed_after_esc_is_typed():
    assert read("\x1b", 0.3, "[", 0.2, "A", 0.2, "O", 0.2, "k") == [
        "escape",
        "left_square_bracket",
        "A",
        "O",
        "k",
    ]
    assert read("\x1b", 0.3, "Open it\r") == ["escape", *"Open", "space", *"it", "enter"]
    assert read("\x1b", 0.3, "[draft] x")[1:] == [
        "left_square_bracket", *"draft", "right_square_bracket", "space", "x",
    ]  # fmt: skip
    assert read("\x1b", 5.0, "[A")[1:] == ["left_square_bracket", "A"]


def test_a_sequence_that_never_ends_is_dropped():
    assert read("\x1b[", 1.5, "x") == ["x"]
    assert read("\x1b[12", 1.5, "x") == ["x"]
    assert read("\x1b]0;title", 1.5, "x") == ["x"]
    assert read("\x1b]0;" + "t" * 10_000, "t" * 10_000, "\x1b", "\\", "x") == ["x"]


@pytest.mark.parametrize("begin", ["\x1b[", "\x1b]0;"])
def test_a_sequence_without_an_end_is_not_kept_whole(begin):
    reader = TerminalInput(DELAY)
    for piece in (begin, *["1" * 10_000] * 3):
        reader.feed(piece, 1.0, is_joined=True)
        assert len(reader._tokens._pending) < 1_000


def framework(data):
    """Return what the framework's own parser makes of input that comes at once, and then of a pause."""
    parser = XTermParser()
    found = list(parser.feed(data))
    parser._timeout_time = parser._timeout_time and 0.0
    return short([*found, *parser.tick()])


BEGINNINGS = ("\x1b\x1b", "\x1b[", "\x1bO")
"""Keys that our reader treats differently: a double esc, and the first bytes of a sequence."""
WITH_ALT = [f"\x1b{chr(code)}" for code in range(32, 127)]


@each_row("sequence", sorted({*ANSI_SEQUENCES_KEYS, *WITH_ALT} - {*BEGINNINGS}))
def test_every_known_key_is_read_as_the_framework_reads_it(sequence):
    assert read(sequence) == framework(sequence)


@each_row(
    "sequence",
    [
        "\x1b[97u", "\x1b[97;5u", "\x1b[27u", "\x1b[13u", "\x1b[97;2;65u", "\x1b[1;5A", "\x1b[57376u", "\x1b[5;7R",
        "\x1b[<0;5;5M", "\x1b[<0;5;5m", "\x1b[<35;9;9M", "\x1b[<64;1;1M", "\x1b[I", "\x1b[O", "\x1b[?2026;2$y",
        "\x1b[?2048;1$y", "\x1b[48;24;80;480;800t", "\x1b[32;5;5M", "ü", "漢", "\x00", "\x7f", "\x1b[<0;-1;4M",
    ],
)  # fmt: skip
def test_reports_and_keys_of_other_protocols_are_read_as_the_framework_reads_them(sequence):
    assert read(sequence) == framework(sequence)
    assert read(*sequence) == framework(sequence)


# --- by chance ------------------------------------------------------------------------------------------

PIECES = (
    "\x1b", "\x1b[", "[A", "[", "200~", START, END, "\x1b[201", "\r", "\n", "\t", "\x03", "\x14", "\x19", "\x00",
    "a", "aa", "x\ry", "é", "漢", "\x9b", "\x1bO", "\x1b]0;", "\x07", "\x1b\\", "\x1b[<0;1;1M", "\x1b[97;5u",
)  # fmt: skip


def csi(chance):
    """Return a random control sequence, sound or not."""
    letters = "0123456789;:<=>?" if chance.random() < 0.9 else "".join(map(chr, range(32, 64)))
    head = "".join(chance.choice(letters) for _ in range(chance.choice((0, 1, 3, 6, 9, 40))))
    middle = chance.choice(("", "", "", "$", " ", "!", '"'))
    return f"\x1b[{head}{middle}{chr(chance.randrange(64, 127))}"


def split(chance, text):
    """Return a text in pieces, each with the pause behind it."""
    steps = []
    while text:
        length = chance.choice((1, 2, 5, 50))
        steps.append((text[:length], chance.choice((0.0, SOON, 0.03, 0.099, 0.15, 0.5, 0.999))))
        text = text[length:]
    return steps


def is_exit(read):
    """Return whether a read is a key by which people leave: twice, with pauses, it is the way out of a paste."""
    return read in ("\x1b", "\x03", "\x11")


def test_random_sequences_raise_nothing_and_press_only_keys_that_they_are():
    chance = random.Random(SEEDS)
    for _ in range(size("WORKBENCH_INPUT_RUNS", 3_000, 60_000)):
        sequence = csi(chance)
        if sequence == START:
            continue
        found = play(sequence, 3.0, "x")
        assert keys(found)[-1:] == ["x"], sequence
        # A key is that of the whole sequence: nothing within it is read as a letter typed.
        assert len(keys(found)) - 1 <= sequence.count(":") + 1 and pastes(found) == []
        if sequence[-1] not in "u~ABCDEFHPQRS":
            assert not any(len(key) == 1 for key in keys(found)[:-1]), sequence


def test_random_pastes_press_nothing_however_they_are_split():
    chance = random.Random(SEEDS)
    for _ in range(size("WORKBENCH_INPUT_RUNS", 3_000, 60_000)):
        content = "".join(chance.choice(PIECES) for _ in range(chance.randrange(12))).replace(END, "")
        if END in content + END[:-1]:
            continue
        steps = [step for pair in split(chance, content) if not is_exit(pair[0]) for step in pair]
        content = "".join(step for step in steps if isinstance(step, str))
        if END in content:
            continue
        found = play(START, *steps, END, 0.3, "x")
        assert (keys(found), pastes(found)) == (["x"], [content.replace("\x00", "")]), steps


def test_random_input_raises_nothing_and_leaves_the_keys_working():
    chance = random.Random(SEEDS)
    for _ in range(size("WORKBENCH_INPUT_RUNS", 3_000, 60_000)):
        pieces = "".join(chance.choice((*PIECES, csi(chance))) for _ in range(chance.randrange(12)))
        found = play(*itertools.chain(*split(chance, pieces)), 3.0, "\x03", 0.3, "\x03", 0.3, "x", 0.3, "\r")
        assert keys(found)[-2:] == ["x", "enter"], repr(pieces)
