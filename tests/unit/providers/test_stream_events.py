"""Events of a stream, however its bytes are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.providers.event_streams import EventReader, EventTooLarge, ServerEvent


def read(data, cuts=(), most=1_000_000):
    reader, found, at = EventReader(most), [], 0
    for cut in [*sorted(cuts), len(data)]:
        found += reader.feed(data[at:cut])
        at = cut
    return [*found, *reader.finish()]


def message(data):
    return ServerEvent(kind="", data=data)


TABLE = [
    (b"data: a\n\n", [message("a")]),
    (b"data:a\r\n\r\ndata: b\r\rdata:  c\n\n", [message("a"), message("b"), message(" c")]),
    (b": ping\n\n:\n\ndata: a\n: within\n\n", [message("a")]),
    (b"data: a\ndata: b\ndata\n\n", [message("a\nb\n")]),
    (b"\xef\xbb\xbfdata: a\n\n", [message("a")]),
    (b"event: error\ndata: {}\n\ndata: x\n\n", [ServerEvent(kind="error", data="{}"), message("x")]),
    (b'error: {"code":500}\n\n', [ServerEvent(kind="error", data='{"code":500}')]),
    (b"id: 1\nretry: 5\nunknown: z\n\n", []),
    (b"data: [DONE]", [message("[DONE]")]),
    (b"data: a\n", [message("a")]),
    ("data: grün 🙂\n\n".encode(), [message("grün 🙂")]),
    (b"data: \xff\n\n", [message("\ufffd")]),
    (b"\n\n\n", []),
]


@each_row(("data", "wanted"), TABLE)
def test_events(data, wanted):
    assert read(data) == wanted
    assert read(data, range(1, len(data))) == wanted


@given(st.data())
def test_borders_of_pieces_change_nothing(data):
    stream = b"".join(one for one, _ in data.draw(st.lists(st.sampled_from(TABLE), max_size=6)))
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=12))
    assert read(stream, cuts) == read(stream)


@pytest.mark.parametrize("data", [b"data: " + b"x" * 200, b"data: xxxxxxxxx\n" * 30])
def test_an_event_without_end_is_refused(data):
    with pytest.raises(EventTooLarge):
        read(data, range(0, len(data), 7), most=100)


def test_a_long_line_in_small_pieces_is_read_once():
    data = b"data: " + b"x" * 400_000 + b"\n\n"
    assert read(data, range(0, len(data), 50)) == [message("x" * 400_000)]
