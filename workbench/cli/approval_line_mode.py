"""`workbench approvals watch`: follow the queue, answer by typed lines, or print JSON lines for a program."""

# Line mode approves nothing that it did not show: a first `a` on a change, or on a target that the line
# cut, shows it and asks again. `approvals approve ID` does not ask: it is for scripts, and names one
# action.

import codecs
import json
import os
import queue as queues
import sys
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.cli import approval_display, approvals
from workbench.cli.approval_display import (
    ProposalDetail,
    hunk_headings,
    proposal_detail,
    proposal_lines,
    selection_text,
)
from workbench.cli.console import Console
from workbench.cli.context import user_actor
from workbench.cli.errors import EXIT_OK, error_lines
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import action_json, iso_time
from workbench.cli.rows import action_target, seconds_left, spoken_action
from workbench.config.layers import load_config
from workbench.domain.events import Event
from workbench.domain.rows import Action
from workbench.domain.values import Decision, Json
from workbench.effects.files import workspace_path
from workbench.host.session_requests import request_refresh
from workbench.journal.decisions import decide_action, expire_due_actions
from workbench.journal.journal import Journal
from workbench.journal.proposals import proposal_of
from workbench.text.human import spoken_time_left

_ANNOUNCED_SECONDS = (300, 60)
"""Seconds left at which the time is said, and no more often."""
_NO_ANNOUNCEMENT = 1 << 30
OnAnswered = Callable[[Action], None]
LineVerb = Literal["approve", "reject", "show", "hunks", "extend", "skip", "list", "help", "quit"]


class LineCommand(Struct, frozen=True, kw_only=True):
    """A line that was understood."""

    verb: LineVerb
    number: int = 0
    rest: str = ""


class NumberedAction(Struct, frozen=True, kw_only=True):
    """What a number stands for."""

    number: int
    action_id: str
    digest: str


class LineMode:
    """One conversation about the queue."""

    def __init__(
        self,
        journal: Journal,
        console: Console,
        on_answered: OnAnswered = lambda _action: None,
        workspace: str | None = None,
        *,
        require_seen: bool = True,
    ) -> None:
        """Begin a conversation about what waits in a workspace, or everywhere; `on_answered` follows answers.

        `require_seen`: whether what a line cannot say whole is shown before it can be approved.
        """
        self._journal, self._console, self._on_answered = journal, console, on_answered
        self._workspace = workspace
        self._numbers = ActionNumbers()
        self._said: dict[str, str] = {}
        self._times: dict[str, int] = {}
        self._skipped: set[str] = set()
        self._is_strict, self._seen = require_seen, set[str]()

    # --- what is said ---------------------------------------------------------------------------

    def look(self) -> bool:
        """Say what changed since the last look; True if anything was said."""
        expire_due_actions(self._journal)
        pending = approval_display.waiting_actions(self._journal, self._workspace)
        fresh = [action for action in pending if not self._numbers.knows(action.id)]
        lines = [line for numbered in self._numbers.all() for line in self._changes(numbered)]
        lines += self._opened(fresh, len(pending))
        self._console.say_lines(lines)
        if lines and pending:
            self._console.say(LINE_PROMPT)
        return bool(lines)

    def say_all(self) -> None:
        """Say everything that waits and was not skipped."""
        pending = approval_display.waiting_actions(self._journal, self._workspace)
        self._console.say(
            self._summary([action for action in pending if action.id not in self._skipped], len(pending))
        )

    def _opened(self, fresh: list[Action], total: int) -> list[str]:
        for action in fresh:
            numbered = self._numbers.bind(action)
            self._said[numbered.action_id] = _state_word(action)
            self._times[numbered.action_id] = self._mark(action)
        return [self._summary(fresh, total)] if fresh else []

    def _summary(self, actions: list[Action], total: int) -> str:
        if not total:
            return "Nothing waits."
        now = self._journal.now()
        sentences = [
            spoken_action(
                self._numbers.bind(action).number,
                approval_display.read_action_row(self._journal, action, with_hunks=True),
                now,
            )
            for action in actions
        ]
        return " ".join([f"{total} waiting.", *sentences])

    def _changes(self, numbered: NumberedAction) -> list[str]:
        action = self._journal.action(numbered.action_id)
        if action is None:
            return []
        word, before = _state_word(action), self._said.get(action.id)
        if word == before:
            return self._time(numbered, action)
        self._said[action.id] = word
        by = f" by {action.decided_by}" if word in ("approved", "rejected") else ""
        return [f"{numbered.number} {word}{by}, {action.verb} {action_target(action)}."]

    def _time(self, numbered: NumberedAction, action: Action) -> list[str]:
        mark = self._mark(action)
        if mark >= self._times.get(action.id, mark) or action.id in self._skipped:
            return []
        self._times[action.id] = mark
        return [f"{numbered.number} {spoken_time_left(mark)} left."]

    def _mark(self, action: Action) -> int:
        seconds = seconds_left(action, self._journal.now()) if action.state == "pending" else None
        return min(
            (mark for mark in _ANNOUNCED_SECONDS if seconds is not None and seconds <= mark),
            default=_NO_ANNOUNCEMENT,
        )

    # --- what is answered -------------------------------------------------------------------------

    def answer(self, line: str) -> bool:
        """Do what a line asks for; False when it asks to leave."""
        if not line.strip():
            return True
        command = parse_line(line)
        if isinstance(command, str):
            self._console.say(command)
            return True
        if command.verb == "quit":
            return False
        try:
            self._do(command)
        except Exception as error:
            explained = error_lines(error)
            if explained is None:
                raise
            self._console.say(" ".join(explained))
        return True

    def _do(self, command: LineCommand) -> None:
        if command.verb == "help":
            self._console.say(LINE_HELP)
            return
        if command.verb == "list":
            self.say_all()
            return
        numbered = self._numbers.at(command.number)
        action = self._journal.action(numbered.action_id) if numbered else None
        if numbered is None or action is None:
            self._console.say(f"There is no {command.number}. l lists what waits.")
            return
        self._about(command, numbered, action)

    def _about(self, command: LineCommand, numbered: NumberedAction, action: Action) -> None:
        match command.verb:
            case "approve" | "reject":
                self._decide(command, numbered, action)
            case "show":
                self._show(action)
            case "hunks":
                headings = hunk_headings(proposal_detail(self._journal, action).hunks)
                self._console.say("\n".join(headings) or "It has no hunks: it is taken whole or not at all.")
            case "extend":
                self._console.say(approvals.extend_action(self._journal, action))
            case _:
                self._skipped.add(action.id)
                self._console.say(f"{numbered.number} skipped, it keeps waiting.")

    def _decide(self, command: LineCommand, numbered: NumberedAction, action: Action) -> None:
        is_stale = bool(action.stale_paths or approvals.moved_paths(self._journal, action))
        if is_stale and action.state == "pending" and command.verb == "approve":
            self._refresh(numbered, action)
            return
        is_unseen = command.verb == "approve" and self._is_unseen(action)
        if is_unseen and self._is_strict:
            self._show(action)
            repeated = f"a {numbered.number} {command.rest}".rstrip()
            self._console.say(
                f"{numbered.number} was not shown before, so it still waits. {repeated} approves it."
            )
            return
        verdict_word = "approved" if command.verb == "approve" else "rejected"
        decision = replace(self._decision(command, action), seen="part" if is_unseen else "all")
        result = decide_action(self._journal, decision, numbered.digest, user_actor())
        if not result.ok:
            raise approvals.answer_refusal(
                self._journal, action, result, f"{numbered.number} not {verdict_word}"
            )
        self._said[action.id] = "rejected" if decision.verdict == "reject" else "approved"
        part = "" if decision.selection is None else f" {selection_text(decision.selection)} of"
        self._console.say(
            f"{numbered.number} {self._said[action.id]},{part} {action.verb} {action_target(action)}."
        )
        self._on_answered(action)

    def _show(self, action: Action) -> None:
        detail = proposal_detail(self._journal, action)
        whole = proposal_lines(self._journal, action, self._console, detail, is_whole=True)
        self._console.say("\n".join(whole))
        self._seen.add(action.id)

    def _is_unseen(self, action: Action) -> bool:
        """Return whether a line said less than what would be approved, and nobody asked to see the rest."""
        if action.state != "pending" or action.id in self._seen:
            return False
        return not is_fully_said(action, proposal_detail(self._journal, action))

    def _refresh(self, numbered: NumberedAction, action: Action) -> None:
        request_refresh(self._journal, action.id, user_actor())
        self._console.say(
            f"{numbered.number} was not approved, for its files have changed;"
            " it is proposed again under a new number."
        )
        self._on_answered(action)

    def _decision(self, command: LineCommand, action: Action) -> Decision:
        if command.verb == "reject":
            choice = next((key for key in action.choices if key in ("reject", "not_now")), None)
            return Decision(action_id=action.id, verdict="reject", reason=command.rest or None, choice=choice)
        if action.kind == "tool":
            return approvals.approval_decision(
                self._journal, action, approvals.parse_hunks(command.rest) if command.rest else None
            )
        opened = proposal_of(self._journal, action)
        if action.choices:
            return approvals.answer_decision(action, opened, command.rest or action.choices[0], None)
        return approvals.answer_decision(action, opened, None, command.rest)


def is_fully_said(action: Action, detail: ProposalDetail) -> bool:
    """Return whether one line says all that an approval lets happen.

    It never does for a change of files, for what has several lines, for a target that was cut, for a call
    with more texts than its target, for what the record leaves out, and for a question whose words are
    more than its target.
    """
    if action.files or action_target(action) != action.target:
        return False
    if action.verb == "run" and detail.parameters.get("command", action.target) != action.target:
        return False
    prompt, values = detail.opened.prompt, [*detail.parameters.values()]
    texts = [value for value in values if isinstance(value, str)]
    is_nested = any(isinstance(value, dict | list) for value in values)
    if is_nested or len(texts) > 1 or any("\n" in value for value in texts):
        return False
    return prompt is None or prompt.strip() == action.target


def _state_word(action: Action) -> str:
    return "stale" if action.state == "pending" and action.stale_paths else {
        "pending": "waiting", "cancelled": "withdrawn", "superseded": "replaced",
    }.get(action.state, action.state)  # fmt: skip


_LINE_VERBS: Mapping[str, LineVerb] = {
    "a": "approve", "approve": "approve", "r": "reject", "reject": "reject", "s": "show", "show": "show",
    "h": "hunks", "hunks": "hunks", "x": "extend", "extend": "extend", "k": "skip", "skip": "skip",
    "l": "list", "list": "list", "?": "help", "help": "help", "q": "quit", "quit": "quit",
}  # fmt: skip
_VERBS_WITHOUT_NUMBER = frozenset({"list", "help", "quit"})
LINE_PROMPT = "approve, reject, show, hunks, skip, help?"
LINE_HELP = """a 1             approve 1 as shown
a 1 1,3         approve hunks 1 and 3 of it; 1:2-4 is lines 2 to 4 of hunk 1
a 1 KEY         answer a question, a gate or the trust question with one of its choices, or with words
r 1 too wide    reject 1, the agent reads the reason
s 1             show 1: the diff or the command, and its risks
h 1             the hunks of 1, one line each
x 1             extend: give 1 another window, it gets a new number
k 1             skip 1: it keeps waiting, silently
l               list what waits
q               leave; what waits keeps waiting"""


def parse_line(line: str) -> LineCommand | str:
    """Return what a line asks for, or the sentence that says why it asks for nothing."""
    word, _, after = line.strip().partition(" ")
    verb = _LINE_VERBS.get(word.lower())
    if verb is None:
        return f"“{word[:40]}” is not a command. a 1 approves number 1, r 1 rejects it, ? lists all commands."
    if verb in _VERBS_WITHOUT_NUMBER:
        return LineCommand(verb=verb)
    number, _, rest = after.strip().partition(" ")
    if not (number.isascii() and number.isdigit() and len(number) <= 6):
        return f"{verb.capitalize()} which one? Say its number, for example {word} 1."
    return LineCommand(verb=verb, number=int(number), rest=rest.strip())


class ActionNumbers:
    """Gives numbers from 1 and remembers what each stands for."""

    def __init__(self) -> None:
        self._by_number: dict[int, NumberedAction] = {}
        self._by_id: dict[str, NumberedAction] = {}

    def bind(self, action: Action) -> NumberedAction:
        """Return the number of an action, a new one if it has none."""
        if action.id not in self._by_id:
            bound = NumberedAction(number=len(self._by_number) + 1, action_id=action.id, digest=action.digest)
            self._by_number[bound.number] = self._by_id[action.id] = bound
        return self._by_id[action.id]

    def knows(self, action_id: str) -> bool:
        return action_id in self._by_id

    def at(self, number: int) -> NumberedAction | None:
        """Return what a number stands for; None for a number that was not given."""
        return self._by_number.get(number)

    def all(self) -> tuple[NumberedAction, ...]:
        """Return everything that has a number, by number."""
        return tuple(self._by_number.values())


WATCH_EXAMPLE = """workbench approvals watch
workbench approvals watch --json | jq -r .action.target"""
WATCH_TICK_SECONDS = 1.0
CHANGE_NAMES = {
    "action.opened": "opened",
    "action.became_stale": "stale",
    "action.superseded": "superseded",
    "action.approved": "approved",
    "action.rejected": "rejected",
    "action.expired": "expired",
    "action.cancelled": "cancelled",
}
"""Kinds of events and what a line calls them."""
_WatchMessage = tuple[str, str | None]


def configure_watch(parser: ArgumentParser) -> None:
    parser.add_argument("--here", action="store_true", help="only of this workspace")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object a line and read no answers; typed at a terminal, so does watch | PROGRAM",
    )


def execute_watch(options: Namespace, console: Console) -> int:
    workspace = workspace_path(options.directory) if options.here or options.directory else None
    is_typed = sys.stdin is not None and sys.stdin.isatty()
    with open_journal() as journal:
        if options.json or (is_typed and not console.is_terminal):
            _print_changes(journal, console, workspace)
        approvals.require_person(journal, "watch and answer")
        _run_line_mode(journal, console, workspace, is_typed=is_typed)
    return EXIT_OK


# --- for programs ---------------------------------------------------------------------------------


def _print_changes(journal: Journal, console: Console, workspace: str | None) -> None:
    cursor = journal.last_position()
    for action in approval_display.waiting_actions(journal, workspace):
        console.json_line(change_line("opened", action.created_at, action))
    while True:
        expire_due_actions(journal)
        for event in journal.events(after=cursor, limit=1_000):
            cursor = event.position
            action = _changed_action(journal, event, workspace)
            if action is not None:
                console.json_line(change_line(CHANGE_NAMES[event.kind], event.at, action))
        journal.wait(cursor, WATCH_TICK_SECONDS)


def _changed_action(journal: Journal, event: Event, workspace: str | None) -> Action | None:
    if event.kind not in CHANGE_NAMES or event.action_id is None:
        return None
    action = journal.action(event.action_id)
    if action is None or (
        workspace is not None and approval_display.action_workspace(journal, action) != workspace
    ):
        return None
    return action


def change_line(change: str, at: int, action: Action) -> str:
    """Return one change as a line of JSON."""
    line: dict[str, Json] = {"change": change, "at": iso_time(at), "action": action_json(action)}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


# --- for people -----------------------------------------------------------------------------------


def _run_line_mode(journal: Journal, console: Console, workspace: str | None, *, is_typed: bool) -> None:
    """Say what waits and do what lines ask for, until `q` or the end of standard input."""
    config = load_config(journal.home.path, None, trusted=False, env=os.environ, options={}).config
    mode = LineMode(
        journal,
        console,
        lambda action: approvals.start_hosts(journal, console, [action.session_id]),
        workspace,
        require_seen=config.approvals.require_seen,
    )
    if not mode.look():
        more = " What comes is said here; ? for help, ctrl+c to leave." if is_typed else ""
        console.say(f"Nothing waits.{more}")
    with _watch_messages(journal) as messages:
        for kind, line in messages:
            if kind == "line" and (line is None or not mode.answer(line)):
                return
            mode.look()


@contextmanager
def _watch_messages(journal: Journal) -> Generator[Iterator[_WatchMessage], None, None]:
    """Yield what happens: a line typed, a ring of the journal, or a second that passed."""
    inbox: queues.SimpleQueue[_WatchMessage] = queues.SimpleQueue()
    silence = journal.on_change(lambda: inbox.put(("ring", None)))
    read_lines(-1 if sys.stdin is None else sys.stdin.fileno(), lambda line: inbox.put(("line", line)))
    try:
        yield _next_messages(inbox)
    finally:
        silence()


def _next_messages(inbox: "queues.SimpleQueue[_WatchMessage]") -> Iterator[_WatchMessage]:
    while True:
        try:
            yield inbox.get(timeout=WATCH_TICK_SECONDS)
        except queues.Empty:
            yield "tick", None


OnLine = Callable[[str | None], None]
"""Gets each line without its end, and None once when there is no more. Called in another thread."""
_LONGEST_LINE = 65_536


def read_lines(descriptor: int, on_line: OnLine) -> threading.Thread:
    """Start to read lines of a descriptor and return the thread that does it."""
    thread = threading.Thread(target=_read_until_end, args=(descriptor, on_line), name="typed", daemon=True)
    thread.start()
    return thread


def _read_until_end(descriptor: int, on_line: OnLine) -> None:
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    rest = ""
    while data := _read_chunk(descriptor):
        *lines, rest = (rest + decode(data)).split("\n")
        for line in lines:
            on_line(line.rstrip("\r"))
        rest = rest[-_LONGEST_LINE:]
    if rest:
        on_line(rest)
    on_line(None)


def _read_chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
