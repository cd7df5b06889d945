"""How a run tells what happens: for a person as it comes, as one JSON object, or as one event a line.

Owns the three shapes. A printer sees each event once, in order, after it was read back from the journal.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from workbench.cli.console import Console
from workbench.cli.errors import sentence
from workbench.cli.queue import asked
from workbench.cli.render.facts import Facts
from workbench.cli.render.rows import action_row, call_row, waiting_row
from workbench.domain import events as e
from workbench.domain.codec import to_line
from workbench.domain.events import Event
from workbench.domain.rows import Action
from workbench.journal.journal import Journal
from workbench.text.safe import one_line


class Printer(Protocol):
    """One way to tell a run."""

    def see(self, events: Iterable[Event]) -> None:
        """Tell events."""
        ...

    def end(self, facts: Facts, waiting: list[Action]) -> None:
        """Tell how it ended."""
        ...


class StreamPrinter:
    """One event a line."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def see(self, events: Iterable[Event]) -> None:
        """Print events as lines of JSON."""
        for event in events:
            self._console.json_line(to_line(event))

    def end(self, facts: Facts, waiting: list[Action]) -> None:
        """Print nothing: the events said it."""
        del facts, waiting


class JsonPrinter:
    """One object at the end; errors go to stderr as they come."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def see(self, events: Iterable[Event]) -> None:
        """Tell errors only."""
        for event in events:
            if isinstance(event.body, e.ErrorRaised):
                tell_error(self._console, event.body)

    def end(self, facts: Facts, waiting: list[Action]) -> None:
        """Print the object."""
        del waiting
        self._console.json(facts)


class HumanPrinter:
    """Text as it comes, a line for every call that ends and for every action that waits."""

    def __init__(self, journal: Journal, console: Console, *, says_how: bool = True) -> None:
        self._journal, self._console, self._says_how = journal, console, says_how
        self._text = _StreamedText(console)
        self._told: set[str] = set()

    def see(self, events: Iterable[Event]) -> None:
        """Tell events."""
        for event in events:
            tell = _TELLERS.get(type(event.body))
            if tell is not None:
                tell(self, event)

    def end(self, facts: Facts, waiting: list[Action]) -> None:
        """Tell what is left to answer."""
        del facts
        self._text.close()
        for action in waiting:
            if action.id not in self._told:
                self._waits(action)

    def streamed(self, event: Event) -> None:
        """Print what is new of a piece of text."""
        body = event.body
        assert isinstance(body, e.TextStreamed)
        self._text.piece(body.block, body.offset, body.text)

    def replied(self, event: Event) -> None:
        """Print what of a reply was not streamed."""
        body = event.body
        assert isinstance(body, e.ReplyCompleted)
        self._text.whole(body.text)

    def opened(self, event: Event) -> None:
        """Print what waits, with the command that answers it."""
        action = self._journal.action(event.action_id or "")
        if action is not None and self._says_how:
            self._waits(action)

    def answered(self, event: Event) -> None:
        """Print how an action was decided."""
        action = self._journal.action(event.action_id or "")
        if action is not None and self._says_how:
            self._text.close()
            self._console.say(action_row(asked(self._journal, action), self._console.signs, event.at))

    def proposed(self, event: Event) -> None:
        """Print a call that the gate turned down."""
        body = event.body
        if isinstance(body, e.CallProposed) and body.verdict.outcome in ("denied", "refused"):
            self.ended(event)

    def ended(self, event: Event) -> None:
        """Print how a call ended."""
        call = self._journal.call(event.call_id or "")
        if call is not None:
            self._text.close()
            self._console.say(call_row(call, self._console.signs))

    def failed(self, event: Event) -> None:
        """Print an error on stderr."""
        assert isinstance(event.body, e.ErrorRaised)
        self._text.close()
        tell_error(self._console, event.body)

    def _waits(self, action: Action) -> None:
        self._told.add(action.id)
        self._text.close()
        self._console.say(waiting_row(action, self._console.signs, self._journal.now()))


_TELLERS: Mapping[type[e.Body], Callable[[HumanPrinter, Event], None]] = {
    e.TextStreamed: HumanPrinter.streamed,
    e.ReplyCompleted: HumanPrinter.replied,
    e.ActionOpened: HumanPrinter.opened,
    e.ActionApproved: HumanPrinter.answered,
    e.ActionRejected: HumanPrinter.answered,
    e.ActionExpired: HumanPrinter.answered,
    e.ActionSuperseded: HumanPrinter.answered,
    e.ActionCancelled: HumanPrinter.answered,
    e.ActionBecameStale: HumanPrinter.answered,
    e.CallProposed: HumanPrinter.proposed,
    e.CallFinished: HumanPrinter.ended,
    e.ErrorRaised: HumanPrinter.failed,
}


class _StreamedText:
    """The reply on the screen so far: prints only what is not there yet."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._blocks: dict[int, str] = {}
        self._is_open = False

    def piece(self, block: int, offset: int, text: str) -> None:
        shown = self._blocks.get(block, "")
        fresh = text[max(0, len(shown) - offset) :]
        if block not in self._blocks:
            self.close()
        self._blocks[block] = shown + fresh
        self._write(fresh)

    def whole(self, text: str) -> None:
        """Print what is missing of the whole reply, and end its line."""
        shown = "".join(self._blocks[block] for block in sorted(self._blocks))
        if not shown:
            self._write(text)
        elif text.startswith(shown):
            self._write(text[len(shown) :])
        self._blocks.clear()
        self.close()

    def close(self) -> None:
        """End the line if one is open."""
        if self._is_open:
            self._console.say()
            self._is_open = False

    def _write(self, text: str) -> None:
        if text:
            self._console.write(text)
            self._is_open = not text.endswith("\n")


def tell_error(console: Console, body: e.ErrorRaised) -> None:
    """Print an error of a session on stderr: what, why, what to do."""
    for text in (body.message, body.details, body.remedy):
        if text:
            console.note(sentence(one_line(text, 400)))
