"""Line mode: says what waits in words, takes answers by line; UX section 9.

Owns what was said and under which number, so that an answer counts for exactly that. No cursor movement,
no colour, no signs. Where answers go to work is the caller's business.
"""

from collections.abc import Callable
from dataclasses import replace

from workbench.cli import queue
from workbench.cli.approvals.answer import chosen
from workbench.cli.approvals.approve import approval
from workbench.cli.approvals.commands import HELP, PROMPT, Typed, understood
from workbench.cli.approvals.deciding import refused
from workbench.cli.approvals.extend import extended
from workbench.cli.approvals.numbers import Bound, Numbers
from workbench.cli.approvals.present import moved_now
from workbench.cli.approvals.selecting import taken_of
from workbench.cli.approvals.show import Shown, lines, shown
from workbench.cli.console import Console
from workbench.cli.errors import words
from workbench.cli.lookup import proposal_of
from workbench.cli.place import person
from workbench.cli.render.details import taken_words
from workbench.cli.render.diff import hunk_heads
from workbench.cli.render.rows import left, sentence, target_of
from workbench.domain.rows import Action
from workbench.domain.values import Decision
from workbench.host.sessions import refresh
from workbench.journal.decide import decide, expire_due
from workbench.journal.journal import Journal
from workbench.text.human import spoken

_SPOKEN_AT = (300, 60)
"""Seconds left at which the time is said, and no more often."""

_FAR = 1 << 30

OnAnswered = Callable[[Action], None]


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
        """Begin a conversation.

        Args:
            journal: An open journal.
            console: Where it is held.
            on_answered: Called after an answer that counted.
            workspace: Only what waits there; None for everywhere.
            require_seen: Whether what a line cannot say whole is shown before it can be approved
                (`approvals.require_seen`).
        """
        self._journal, self._console, self._on_answered = journal, console, on_answered
        self._workspace = workspace
        self._numbers = Numbers()
        self._said: dict[str, str] = {}
        self._times: dict[str, int] = {}
        self._skipped: set[str] = set()
        self._is_strict, self._seen = require_seen, set[str]()

    # --- what is said ---------------------------------------------------------------------------

    def look(self) -> bool:
        """Say what changed since the last look; True if anything was said."""
        expire_due(self._journal)
        pending = queue.waiting(self._journal, self._workspace)
        fresh = [action for action in pending if not self._numbers.knows(action.id)]
        lines = [line for bound in self._numbers.all() for line in self._changes(bound)]
        lines += self._opened(fresh, len(pending))
        for line in lines:
            self._console.say(line)
        if lines and pending:
            self._console.say(PROMPT)
        return bool(lines)

    def say_all(self) -> None:
        """Say everything that waits and was not skipped."""
        pending = queue.waiting(self._journal, self._workspace)
        self._console.say(
            self._summary([action for action in pending if action.id not in self._skipped], len(pending))
        )

    def _opened(self, fresh: list[Action], total: int) -> list[str]:
        for action in fresh:
            bound = self._numbers.bind(action)
            self._said[bound.action_id] = _word(action)
            self._times[bound.action_id] = self._mark(action)
        return [self._summary(fresh, total)] if fresh else []

    def _summary(self, actions: list[Action], total: int) -> str:
        if not total:
            return "Nothing waits."
        now = self._journal.now()
        said = [
            sentence(
                self._numbers.bind(action).number, queue.asked(self._journal, action, with_hunks=True), now
            )
            for action in actions
        ]
        return " ".join([f"{total} waiting.", *said])

    def _changes(self, bound: Bound) -> list[str]:
        action = self._journal.action(bound.action_id)
        if action is None:
            return []
        word, before = _word(action), self._said.get(action.id)
        if word == before:
            return self._time(bound, action)
        self._said[action.id] = word
        by = f" by {action.decided_by}" if word in ("approved", "rejected") else ""
        return [f"{bound.number} {word}{by}, {action.verb} {target_of(action)}."]

    def _time(self, bound: Bound, action: Action) -> list[str]:
        mark = self._mark(action)
        if mark >= self._times.get(action.id, mark) or action.id in self._skipped:
            return []
        self._times[action.id] = mark
        return [f"{bound.number} {spoken(mark)} left."]

    def _mark(self, action: Action) -> int:
        """Return the least of the spoken times that is not over yet, a large number before the first."""
        seconds = left(action, self._journal.now()) if action.state == "pending" else None
        return min((mark for mark in _SPOKEN_AT if seconds is not None and seconds <= mark), default=_FAR)

    # --- what is answered -------------------------------------------------------------------------

    def answer(self, line: str) -> bool:
        """Do what a line asks for; False when it asks to leave."""
        if not line.strip():
            return True
        typed = understood(line)
        if isinstance(typed, str):
            self._console.say(typed)
            return True
        if typed.verb == "quit":
            return False
        try:
            self._do(typed)
        except Exception as error:
            explained = words(error)
            if explained is None:
                raise
            self._console.say(" ".join(explained))
        return True

    def _do(self, typed: Typed) -> None:
        if typed.verb == "help":
            self._console.say(HELP)
            return
        if typed.verb == "list":
            self.say_all()
            return
        bound = self._numbers.at(typed.number)
        action = self._journal.action(bound.action_id) if bound else None
        if bound is None or action is None:
            self._console.say(f"There is no {typed.number}. l lists what waits.")
            return
        self._about(typed, bound, action)

    def _about(self, typed: Typed, bound: Bound, action: Action) -> None:
        match typed.verb:
            case "approve" | "reject":
                self._decide(typed, bound, action)
            case "show":
                self._show(action)
            case "hunks":
                heads = hunk_heads(shown(self._journal, action).hunks)
                self._console.say("\n".join(heads) or "It has no hunks: it is taken whole or not at all.")
            case "extend":
                self._console.say(extended(self._journal, action))
            case _:
                self._skipped.add(action.id)
                self._console.say(f"{bound.number} skipped, it goes on waiting.")

    def _decide(self, typed: Typed, bound: Bound, action: Action) -> None:
        is_stale = bool(action.stale_paths or moved_now(self._journal, action))
        if is_stale and action.state == "pending" and typed.verb == "approve":
            self._refresh(bound, action)
            return
        is_unseen = typed.verb == "approve" and self._is_unseen(action)
        if is_unseen and self._is_strict:
            self._show(action)
            again = f"a {bound.number} {typed.rest}".rstrip()
            self._console.say(f"{bound.number} was not shown before, so it still waits. {again} approves it.")
            return
        word = "approved" if typed.verb == "approve" else "rejected"
        decision = replace(self._decision(typed, action), seen="part" if is_unseen else "all")
        result = decide(self._journal, decision, bound.digest, person())
        if not result.ok:
            raise refused(self._journal, action, result, f"{bound.number} not {word}")
        self._said[action.id] = "rejected" if decision.verdict == "reject" else "approved"
        part = "" if decision.selection is None else f" {taken_words(decision.selection)} of"
        self._console.say(f"{bound.number} {self._said[action.id]},{part} {action.verb} {target_of(action)}.")
        self._on_answered(action)

    def _show(self, action: Action) -> None:
        found = shown(self._journal, action)
        whole = lines(self._journal, action, self._console, found, is_whole=True)
        self._console.say("\n".join(whole))
        self._seen.add(action.id)

    def _is_unseen(self, action: Action) -> bool:
        """Return whether a line said less than what would be approved, and nobody asked to see the rest."""
        if action.state != "pending" or action.id in self._seen:
            return False
        return not is_said(action, shown(self._journal, action))

    def _refresh(self, bound: Bound, action: Action) -> None:
        """Ask for the new diff instead of approving one that was made for the old text."""
        refresh(self._journal, action.id, person())
        self._console.say(
            f"{bound.number} is stale and was not approved; it is asked anew under a new number."
        )
        self._on_answered(action)

    def _decision(self, typed: Typed, action: Action) -> Decision:
        if typed.verb == "reject":
            choice = next((key for key in action.choices if key in ("reject", "not_now")), None)
            return Decision(action_id=action.id, verdict="reject", reason=typed.rest or None, choice=choice)
        if action.kind == "tool":
            return approval(self._journal, action, taken_of(typed.rest) if typed.rest else None)
        opened = proposal_of(self._journal, action)
        if action.choices:
            return chosen(action, opened, typed.rest or action.choices[0], None)
        return chosen(action, opened, None, typed.rest)


def is_said(action: Action, found: Shown) -> bool:
    """Return whether one line says all that an approval lets happen.

    It never does for a change of files, for what has several lines, for a target that was cut, for a call
    with more texts than its target, for what the record leaves out, and for a question whose words are
    more than its target.
    """
    if action.files or target_of(action) != action.target:
        return False
    if action.verb == "run" and found.parameters.get("command", action.target) != action.target:
        return False
    prompt, texts = found.opened.prompt, [*found.parameters.values()]
    said = [value for value in texts if isinstance(value, str)]
    is_nested = any(isinstance(value, dict | list) for value in texts)
    if is_nested or len(said) > 1 or any("\n" in value for value in said):
        return False
    return prompt is None or prompt.strip() == action.target


def _word(action: Action) -> str:
    return "stale" if action.state == "pending" and action.stale_paths else {
        "pending": "waiting", "cancelled": "withdrawn", "superseded": "replaced",
    }.get(action.state, action.state)  # fmt: skip
