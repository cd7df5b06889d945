"""The output of a run: lines for a person, or JSON objects."""

from collections.abc import Callable, Iterable, Mapping

from workbench.cli.approval_display import read_action_row
from workbench.cli.console import Console
from workbench.cli.row_json import JsonFields
from workbench.cli.rows import action_line, call_line, waiting_lines
from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import Action
from workbench.journal.journal import Journal
from workbench.text.human import error_sentence
from workbench.text.safe import one_line
from workbench.views.sandbox import refusals_sentence


class JsonPrinter:
    """One object at the end; errors go to stderr as they come."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def see(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event.body, e.ErrorRaised):
                print_error(self._console, event.body)

    def end(self, facts: JsonFields, waiting: list[Action]) -> None:
        del waiting
        self._console.json(facts)


class HumanPrinter:
    """Text as it comes, a line for every call that ends and for every action that waits."""

    def __init__(self, journal: Journal, console: Console, *, says_how: bool = True) -> None:
        self._journal, self._console, self._says_how = journal, console, says_how
        self._text = _StreamedText(console)
        self._printed_actions: set[str] = set()

    def see(self, events: Iterable[Event]) -> None:
        for event in events:
            print_event = PRINTERS_BY_EVENT.get(type(event.body))
            if print_event is not None:
                print_event(self, event)

    def end(self, facts: JsonFields, waiting: list[Action]) -> None:
        del facts
        self._text.close()
        for action in waiting:
            if action.id not in self._printed_actions:
                self._waits(action)

    def streamed(self, event: Event) -> None:
        body = event.body
        assert isinstance(body, e.TextStreamed)
        self._text.piece(body.block, body.offset, body.text)

    def replied(self, event: Event) -> None:
        body = event.body
        assert isinstance(body, e.ReplyCompleted)
        self._text.whole(body.text)

    def opened(self, event: Event) -> None:
        action = self._journal.action(event.action_id or "")
        if action is not None and self._says_how:
            self._waits(action)

    def answered(self, event: Event) -> None:
        action = self._journal.action(event.action_id or "")
        if action is not None and self._says_how:
            self._text.close()
            self._console.say(
                action_line(read_action_row(self._journal, action), self._console.signs, event.at)
            )

    def proposed(self, event: Event) -> None:
        body = event.body
        if isinstance(body, e.CallProposed) and body.verdict.outcome in ("denied", "refused"):
            self.ended(event)

    def ended(self, event: Event) -> None:
        call = self._journal.call(event.call_id or "")
        if call is not None:
            self._text.close()
            self._console.say(call_line(call, self._console.signs))
            if refused := refusals_sentence(call):
                self._console.say(f"  {refused}")

    def failed(self, event: Event) -> None:
        assert isinstance(event.body, e.ErrorRaised)
        self._text.close()
        print_error(self._console, event.body)

    def _waits(self, action: Action) -> None:
        self._printed_actions.add(action.id)
        self._text.close()
        self._console.say(waiting_lines(action, self._console.signs, self._journal.now()))


PRINTERS_BY_EVENT: Mapping[type[e.Body], Callable[[HumanPrinter, Event], None]] = {
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
        printed = self._blocks.get(block, "")
        new_text = text[max(0, len(printed) - offset) :]
        if block not in self._blocks:
            self.close()
        self._blocks[block] = printed + new_text
        self._write(new_text)

    def whole(self, text: str) -> None:
        printed = "".join(self._blocks[block] for block in sorted(self._blocks))
        if not printed:
            self._write(text)
        elif text.startswith(printed):
            self._write(text[len(printed) :])
        self._blocks.clear()
        self.close()

    def close(self) -> None:
        if self._is_open:
            self._console.say()
            self._is_open = False

    def _write(self, text: str) -> None:
        if text:
            self._console.write(text)
            self._is_open = not text.endswith("\n")


def print_error(console: Console, body: e.ErrorRaised) -> None:
    """Print an error of a session on stderr: what, why, what to do."""
    for text in (body.message, body.details, body.remedy):
        if text:
            console.note(error_sentence(one_line(text, 400)))
