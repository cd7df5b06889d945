"""Streamed text is shown once, whatever came as pieces and whatever only with the whole reply."""

import pytest
from conftest import Stream
from msgspec.structs import replace
from rows_cli import NOW

from tests.support.tables import each_row
from workbench.cli.console import Console
from workbench.cli.run import EventConsumer
from workbench.cli.run_printers import HumanPrinter, JsonPrinter
from workbench.domain.events import CallFinished, ErrorRaised, Event, ReplyCompleted, TextStreamed
from workbench.domain.rows import Call
from workbench.domain.values import Actor, SandboxRefusal


def event(body, position=0):
    return Event(
        id=str(position), session_id="s", at=NOW, actor=Actor(kind="host"), body=body, position=position
    )


def piece(text, offset=0, block=0):
    return event(TextStreamed(block=block, offset=offset, text=text))


def whole(text):
    return event(ReplyCompleted(text=text))


def printed(*events):
    console = Console(Stream(), Stream())
    HumanPrinter(None, console).see(events)
    return console.out.getvalue()


@each_row(
    "events, text",
    [
        ([piece("Hel"), piece("lo", 3), whole("Hello")], "Hello\n"),
        ([whole("Hello")], "Hello\n"),
        ([piece("Hel"), whole("Hello")], "Hello\n"),
        ([piece("Hel"), piece("ello", 1), whole("Hello")], "Hello\n"),
        ([piece("Hel"), piece("Hel"), whole("Hello")], "Hello\n"),
        ([piece("one"), piece("two", block=1), whole("onetwo")], "one\ntwo\n"),
        ([piece("a\n"), whole("a\n"), piece("b"), whole("b")], "a\nb\n"),
        ([whole("")], ""),
    ],
)
def test_text_is_shown_once(events, text):
    assert printed(*events) == text


def test_errors_go_to_stderr_in_short_lines():
    console = Console(Stream(), Stream())
    body = ErrorRaised(code="x", message="the model stopped\x1b", details="after 1 KB", remedy="ask again")
    for printer in (HumanPrinter(None, console), JsonPrinter(console)):
        printer.see([event(body)])
    assert console.out.getvalue() == ""
    assert console.err.getvalue() == "The model stopped⟨U+001B⟩.\nAfter 1 KB.\nAsk again.\n" * 2


class Deaf:
    def see(self, events):
        raise BrokenPipeError

    def end(self, facts, waiting):
        raise AssertionError


def test_a_reader_that_went_away_is_remembered_and_not_raised_into_the_driver():
    consumer = EventConsumer(None, "s", Deaf(), 3)
    consumer.see([event(ReplyCompleted(text="x"), 4)])
    consumer.see([event(ReplyCompleted(text="y"), 5)])
    assert consumer.tally.reply == "y"
    with pytest.raises(BrokenPipeError):
        consumer.require_listener()


def test_events_from_before_and_events_twice_are_left_out():
    console = Console(Stream(), Stream())
    consumer = EventConsumer(None, "s", HumanPrinter(None, console), 3)
    for position in (2, 3, 4, 4, 3, 5):
        consumer.see([event(ReplyCompleted(text=str(position)), position)])
    assert console.out.getvalue() == "4\n5\n"


class CallsOnly:
    """A journal that knows one call."""

    def __init__(self, call):
        self._call = call

    def call(self, call_id):
        return self._call if call_id == self._call.id else None


def test_what_the_sandbox_refused_is_a_line_below_its_call():
    call = Call(
        id="c", session_id="s", turn_id="t", ordinal=1, provider_call_id="p", tool="run_in_terminal",
        state="failed", requested_at=NOW, target="make", place="inside",
        refusals=(SandboxRefusal(kind="write", target="/etc/hosts\x1b"),),
    )  # fmt: skip
    console = Console(Stream(), Stream())
    ended = replace(event(CallFinished(state="failed", exit_code=1)), call_id="c")
    HumanPrinter(CallsOnly(call), console).see([ended])
    first, second = console.out.getvalue().splitlines()
    assert "make" in first and "inside" in first
    assert second == "  the sandbox refused to write /etc/hosts⟨U+001B⟩, according to the command"
