"""`workbench approvals approve, reject, answer, extend, refresh, undo, reopen`: answers to the queue."""

# An approval from the command line looks at the files first. Where nobody drives, nobody marks a row stale:
# `approve` would be taken and the driver would ask anew. A host whose workspace is gone, or another folder
# now, ends.

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

from msgspec.structs import replace

from workbench.changes.apply import stale_paths
from workbench.changes.decision import action_hunks, seal_decision
from workbench.cli.arguments import add_action_argument, add_actions_argument
from workbench.cli.console import Console
from workbench.cli.context import find_action, is_driven, short_id, user_actor
from workbench.cli.errors import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_UNANSWERED,
    Refusal,
    UsageError,
    report_explained_error,
)
from workbench.cli.journal_access import open_journal
from workbench.cli.rows import action_target, clock_time, seconds_left
from workbench.domain.events import ActionOpened, CallProposed
from workbench.domain.machines import HUMAN_ENDED_PAUSES
from workbench.domain.rows import Action, Session
from workbench.domain.values import SYSTEM_SESSION, Decision, DecisionVerdict, Hunk, Place, SelectedHunk
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.effects.path_files import read_bounded
from workbench.host.host_locks import refuse_inside_agents
from workbench.host.reopening import request_reopening, wait_until_reopened
from workbench.host.session_requests import request_refresh, request_undo
from workbench.host.undo import wait_until_undone
from workbench.journal import decisions
from workbench.journal.decisions import DecisionResult, decide_action, expire_due_actions
from workbench.journal.journal import Journal
from workbench.journal.proposals import proposal_of
from workbench.text.human import spoken_time_left

MakeDecision = Callable[[Action], Decision]
"""Makes the decision about one action."""


class DecisionRefused(Refusal):
    """An answer that did not count."""

    def __init__(self, what: str, why: str, remedy: str, code: int) -> None:
        super().__init__(what, why, remedy)
        self.code = code


def require_person(journal: Journal, what: str) -> None:
    """Make sure that a person acts, and that what is due has expired, before anything is decided."""
    refuse_inside_agents(journal, journal.home, what)
    expire_due_actions(journal)


def for_each_id(ids: Sequence[str], console: Console, answer: Callable[[str], int]) -> int:
    """Answer for each id in turn; one that fails does not stop the others. The highest code counts."""
    codes = [EXIT_OK]
    for word in ids:
        try:
            codes.append(answer(word))
        except Exception as error:  # noqa: BLE001 -- only what explains itself is reported
            codes.append(report_explained_error(error, console))
    return max(codes)


def decide_actions(
    journal: Journal, console: Console, ids: Sequence[str], make: MakeDecision, done: str
) -> int:
    """Decide every named action, then see to it that somebody acts on it."""
    sessions: list[str] = []

    def decide_named(word: str) -> int:
        action = find_action(journal, word)
        decide_or_raise(journal, action, make(action), done)
        sessions.append(action.session_id)
        short = short_id(journal, action.id, "action")
        console.say(f"{done.capitalize()}: {action.verb} {action_target(action)} ({short})")
        return EXIT_OK

    code = for_each_id(ids, console, decide_named)
    start_hosts(journal, console, sessions)
    return code


def decide_or_raise(journal: Journal, action: Action, decision: Decision, done: str) -> DecisionResult:
    """Append the decision about exactly the digest of `action`, and that it was named by its id."""
    seen_decision = replace(decision, seen="by_id") if decision.verdict == "approve" else decision
    result = decide_action(journal, seen_decision, action.digest, user_actor())
    if not result.ok:
        raise answer_refusal(journal, action, result, f"not {done}: {action.verb} {action_target(action)}")
    return result


def answer_refusal(journal: Journal, action: Action, result: DecisionResult, what: str) -> DecisionRefused:
    """Return the error for an answer that the journal refused."""
    why, remedy = _refusal_reasons(journal, action, result)
    return DecisionRefused(what, why, remedy, EXIT_UNANSWERED if result.why == "expired" else EXIT_FAILED)


def _refusal_reasons(journal: Journal, action: Action, result: DecisionResult) -> tuple[str, str]:
    current = journal.action(action.id) or action
    decision_time = clock_time(result.at or current.decided_at, journal.now())
    show, successor = f"workbench approvals show {action.id} shows it", result.successor or current.successor
    paths = ", ".join(current.stale_paths) or "a file"
    limit = "it was extended as often as it may be"
    reasons = {
        "decided": (f"it was {current.state} by {result.by or current.decided_by} at {decision_time}", show),
        "expired": (
            "nobody answered in time, it expired",
            f"workbench approvals propose-again {action.id} asks the agent for it again",
        ),
        "superseded": (
            f"{successor} replaces it",
            f"workbench approvals show {successor} shows that one",
        ),
        "cancelled": (f"it was withdrawn{f' ({current.reason})' if current.reason else ''}", show),
        "stale": (
            f"changed since it was proposed: {paths}",
            f"workbench approvals refresh {action.id} makes the new diff",
        ),
        "digest": ("it is not what was shown", show),
        "limit": (limit, "answer it, or let the agent ask again"),
        "choice": _required_answer(current),
        "unknown": ("there is no such action any more", "workbench approvals list shows what waits"),
    }
    return reasons.get(str(result.why), ("the journal refused it", show))


def _required_answer(action: Action) -> tuple[str, str]:
    answer = f"workbench approvals answer {action.id}"
    if action.kind == "files":
        return "files that were found are kept or put back whole", "approve or reject it"
    if not action.choices:
        return "it offers no choice", f"{answer} --text WORDS answers it"
    return f"it offers {', '.join(action.choices)}", f"{answer} --choice {action.choices[0]} answers it"


def start_hosts(journal: Journal, console: Console, session_ids: Iterable[str]) -> None:
    """Start the host of every workspace in which an answer has nobody to act on it."""
    workspaces: dict[str, bool] = {}
    held_sessions: list[Session] = []
    for key in dict.fromkeys(session_ids):
        session = journal.driving_session(key)
        if key != SYSTEM_SESSION and session is not None:
            is_idle = not is_driven(journal, session.id)
            workspaces[session.workspace] = workspaces.get(session.workspace, False) or is_idle
            held_sessions += [session] if is_held(journal, session, is_idle=is_idle) else []
    for workspace, is_idle in workspaces.items():
        _start_host(journal, console, workspace, is_idle=is_idle)
    for session in held_sessions:
        console.note(
            f"Its agent then stays paused: workbench run --session {session.id[:8]} continues it, or c on"
            " the screen."
        )


def is_held(journal: Journal, session: Session, *, is_idle: bool) -> bool:
    """Return whether an answer does not let an agent continue: only a human does, in words or with `c`.

    That is so after a pause of that kind, and where the process that worked on a turn died (`is_idle`: none
    works on it now).
    """
    if not session.takes_prompts or session.open_turn is None:
        return False
    if session.status == "paused" and session.reason in HUMAN_ENDED_PAUSES:
        return True
    lease = journal.lease(session.id)
    return is_idle and lease is not None and not lease.released


def _start_host(journal: Journal, console: Console, workspace: str, *, is_idle: bool) -> None:
    from workbench.host.host_start import ensure_host
    from workbench.host.host_status import host_warnings

    host = ensure_host(journal.home, journal, workspace) if is_idle else None
    remarks = host_warnings(journal.home, journal, workspace)
    if is_idle and host is None:
        console.note(f"It is not carried out yet: no background process could be started for {workspace}.")
        console.note(f"The reason is in {journal.home.logs}. workbench run --continue continues the session.")
    console.note_lines(remarks)
    if host is not None and not remarks:
        console.note(f"The background process of {workspace} carries it out (pid {host.pid}).")


APPROVE_EXAMPLE = """workbench approvals approve 3f2a
workbench approvals approve 3f2a --hunks 1,3 --reason "2 breaks plugins"
workbench approvals approve 3f2a --hunks 1:2-4"""


def configure_approve(parser: ArgumentParser) -> None:
    add_actions_argument(parser)
    part = parser.add_mutually_exclusive_group()
    part.add_argument(
        "--hunks", metavar="1,3", help="approve only these hunks; 1:2-4 is lines 2 to 4 of hunk 1"
    )
    part.add_argument("--file", metavar="PATH", help="approve only the hunks of this file")
    part.add_argument(
        "--edited", metavar="FILE", help="write the content of FILE instead of the proposed one"
    )
    parser.add_argument(
        "--where",
        choices=get_args(Place),
        help="where a command runs: inside the sandbox or outside, as you (default: as the row says)",
    )
    parser.add_argument("--reason", metavar="T", help="a message to the agent")


def execute_approve(options: Namespace, console: Console) -> int:
    if len(options.ids) > 1 and (options.hunks or options.file or options.edited):
        raise UsageError("nothing was approved", "a part belongs to one action", "name one ID")
    selection = parse_hunks(options.hunks) if options.hunks is not None else None
    with open_journal(human_only="approve", expires_due=True) as journal:

        def make(action: Action) -> Decision:
            require_current_base(journal, action)
            _require_offered_place(action, options.where)
            made = approval_decision(journal, action, selection, options.file, options.edited, options.reason)
            return replace(made, place=options.where)

        return decide_actions(journal, console, options.ids, make, "approved")


def require_current_base(journal: Journal, action: Action) -> None:
    """Refuse to approve what could not be carried out because its files have changed."""
    paths = () if action.stale_paths else moved_paths(journal, action)
    if paths:
        why = f"changed since it was proposed: {', '.join(paths)}"
        remedy = f"workbench approvals refresh {action.id} makes the new diff"
        raise DecisionRefused(
            f"not approved: {action.verb} {action_target(action)}", why, remedy, EXIT_FAILED
        )


def approval_decision(
    journal: Journal,
    action: Action,
    selection: Sequence[SelectedHunk] | None = None,
    path: str | None = None,
    edited: str | None = None,
    reason: str | None = None,
) -> Decision:
    """Return the decision that approves an action or a part of it."""
    proposal = proposal_of(journal, action)
    if path is not None:
        selection = hunks_of_file(action_hunks(proposal, journal.blobs), path)
    edits = _edited_files(proposal, edited) if edited is not None else None
    picked = None if selection is None else tuple(selection)
    decision = Decision(action_id=action.id, verdict="approve", selection=picked, reason=reason)
    try:
        return seal_decision(proposal, decision, journal.blobs, edits)
    except ValueError as error:
        remedy = f"workbench approvals show {action.id} numbers the hunks"
        raise Refusal("nothing was approved", str(error), remedy) from None


def _edited_files(proposal: ActionOpened, source: str) -> Mapping[str, bytes]:
    if len(proposal.files) != 1:
        raise UsageError(
            "nothing was approved",
            f"--edited is for an action that changes one file, this one changes {len(proposal.files)}",
            "approve or reject it as it is",
        )
    return {proposal.files[0].path: _read_edited_file(source)}


def _read_edited_file(source: str) -> bytes:
    try:
        data = read_bounded(Path(source))
    except FileRefused as error:
        raise Refusal(f"“{source}” was not read", error.why, error.remedy) from None
    if data is None:
        raise Refusal(f"“{source}” was not read", "there is no such file", "check the path")
    return data


REJECT_EXAMPLE = 'workbench approvals reject 3f2a --reason "keep handle(), plugins call it"'


def configure_reject(parser: ArgumentParser) -> None:
    add_actions_argument(parser)
    parser.add_argument("--reason", metavar="T", help="a message to the agent")


def _require_offered_place(action: Action, where: Place | None) -> None:
    if where in (None, action.place) or (action.place is not None and action.level is not None):
        return
    why = f"it can only run {action.place} the sandbox" if action.place else "it is not a command"
    raise Refusal("nothing was approved", f"{action.id[:8]}: {why}", "leave --where out")


def execute_reject(options: Namespace, console: Console) -> int:
    def make(action: Action) -> Decision:
        return Decision(action_id=action.id, verdict="reject", reason=options.reason)

    with open_journal(human_only="reject", expires_due=True) as journal:
        return decide_actions(journal, console, options.ids, make, "rejected")


ANSWER_EXAMPLE = """workbench approvals answer 3f2a --choice trust_and_read
workbench approvals answer 3f2a --text "use the second one\""""
REJECTING_CHOICES = frozenset({"reject", "not_now"})
"""Choices that say no."""


def configure_answer(parser: ArgumentParser) -> None:
    add_action_argument(parser)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--choice", metavar="KEY", help="one of the choices that it offers")
    group.add_argument("--text", metavar="T", help="the answer to a question")
    parser.add_argument("--reason", metavar="T", help="a reason for the record")


def execute_answer(options: Namespace, console: Console) -> int:
    with open_journal(human_only="answer", expires_due=True) as journal:

        def make(action: Action) -> Decision:
            shown = proposal_of(journal, action)
            return answer_decision(action, shown, options.choice, options.text, options.reason)

        return decide_actions(journal, console, [options.id], make, "answered")


def answer_decision(
    action: Action, shown: ActionOpened, choice: str | None, text: str | None, reason: str | None = None
) -> Decision:
    if action.kind == "tool":
        raise UsageError("not answered", "it asks for approval, not for an answer", "approve or reject it")
    keys = [offered.key for offered in shown.choices]
    if choice is not None and keys and choice not in keys:
        raise UsageError("not answered", f"it offers {', '.join(keys)}", "name one of these with --choice")
    verdict: DecisionVerdict = "reject" if choice in REJECTING_CHOICES else "approve"
    return Decision(action_id=action.id, verdict=verdict, choice=choice, text=text, reason=reason)


EXTEND_EXAMPLE = "workbench approvals extend 3f2a"
configure_extend = add_actions_argument


def execute_extend(options: Namespace, console: Console) -> int:
    with open_journal(human_only="extend", expires_due=True) as journal:

        def extend_named(word: str) -> int:
            console.say(extend_action(journal, find_action(journal, word)))
            return EXIT_OK

        return for_each_id(options.ids, console, extend_named)


def extend_action(journal: Journal, action: Action) -> str:
    """Extend an action and return what to say about it."""
    result = decisions.extend_action(journal, action.id, user_actor())
    if not result.ok:
        raise answer_refusal(journal, action, result, f"not extended: {action.verb} {action_target(action)}")
    row = journal.action(result.successor or "")
    if row is None:
        return f"Extended: {action.verb} {action_target(action)}"
    seconds = seconds_left(row, journal.now())
    ask = f", {spoken_time_left(seconds)} left" if seconds is not None else ""
    return f"Extended: {action.verb} {action_target(action)}{ask}. It is {row.id} now."


REFRESH_EXAMPLE = "workbench approvals refresh 3f2a"
configure_refresh = add_actions_argument


def execute_refresh(options: Namespace, console: Console) -> int:
    sessions: list[str] = []
    with open_journal(human_only="refresh", expires_due=True) as journal:

        def refresh_named(word: str) -> int:
            action = find_action(journal, word)
            require_stale(journal, action)
            request_refresh(journal, action.id, user_actor())
            sessions.append(action.session_id)
            short = short_id(journal, action.id, "action")
            console.say(
                f"Proposed again: {action.verb} {action_target(action)}. Another id replaces {short}."
            )
            return EXIT_OK

        code = for_each_id(options.ids, console, refresh_named)
        start_hosts(journal, console, sessions)
    return code


def require_stale(journal: Journal, action: Action) -> None:
    """Refuse what does not wait, or is not stale."""
    what = f"not refreshed: {action.verb} {action_target(action)}"
    if action.state != "pending":
        code = EXIT_UNANSWERED if action.state == "expired" else EXIT_FAILED
        successor = f"; {action.successor} replaces it" if action.successor else ""
        why = f"it does not wait any more, it is {action.state}{successor}"
        raise DecisionRefused(
            what, why, f"workbench approvals show {action.successor or action.id} shows it", code
        )
    if not action.stale_paths and not moved_paths(journal, action):
        raise DecisionRefused(what, "its files are as they were", "approve or reject it", EXIT_FAILED)


UNDO_EXAMPLE = "workbench approvals undo 3f2a"
configure_undo = add_actions_argument


def execute_undo(options: Namespace, console: Console) -> int:
    with open_journal(human_only="undo", expires_due=True) as journal:

        def undo_named(word: str) -> int:
            action = find_action(journal, word)
            require_applied(journal, action)
            start = journal.last_position()
            request = request_undo(journal, action.id, user_actor())
            start_hosts(journal, console, [action.session_id])
            what = f"not undone: {action.verb} {action_target(action)}"
            wait_until_undone(journal, action.session_id, request, start, what)
            short = short_id(journal, action.id, "action")
            console.say(f"Undone: {action.verb} {action_target(action)} ({short})")
            return EXIT_OK

        return for_each_id(options.ids, console, undo_named)


REOPEN_EXAMPLE = "workbench approvals reopen 3f2a"
configure_reopen = add_actions_argument


def execute_reopen(options: Namespace, console: Console) -> int:
    with open_journal(human_only="reopen", expires_due=True) as journal:

        def reopen_named(word: str) -> int:
            action = find_action(journal, word)
            what = f"not proposed: {action.verb} {action_target(action)}"
            request = request_reopening(journal, action.id, user_actor())
            start_hosts(journal, console, [action.session_id])
            row = wait_until_reopened(journal, request, what)
            short = short_id(journal, action.id, "action")
            console.say(f"Proposed: {row.verb} {action_target(row)}, what {short} left. It is {row.id}.")
            return EXIT_OK

        return for_each_id(options.ids, console, reopen_named)


def require_applied(journal: Journal, action: Action) -> None:
    """Refuse what wrote nothing."""
    call = journal.call(action.call_id) if action.call_id else None
    what = f"not undone: {action.verb} {action_target(action)}"
    if not action.files:
        raise DecisionRefused(what, "it changed no file", "undo is for edits and new files", EXIT_FAILED)
    if call is None or call.state != "succeeded":
        state = call.state if call else action.state
        why, remedy = f"it was not applied, it is {state}", f"workbench approvals show {action.id} shows it"
        raise DecisionRefused(what, why, remedy, EXIT_FAILED)


_HUNK_PART: Final = re.compile(r"(\d{1,6})(?::([\d+-]{1,200}))?", re.ASCII)
_LINE_RANGE: Final = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?", re.ASCII)
_MOST_LINES: Final = 100_000


def parse_hunks(text: str) -> tuple[SelectedHunk, ...]:
    """Read a list of hunks: `1,3`, and `1:2-4` or `1:2+5-7` for lines of a hunk."""
    parts = [part.strip() for part in text.split(",")]
    if not text.strip() or not all(_HUNK_PART.fullmatch(part) for part in parts):
        raise _unreadable_hunks(text)
    return tuple(_parse_part(part, text) for part in parts)


def hunks_of_file(hunks: Sequence[Hunk], path: str) -> tuple[SelectedHunk, ...]:
    """Take all hunks of one file of an action."""
    selected = tuple(SelectedHunk(hunk=hunk.index) for hunk in hunks if hunk.path == path)
    if not selected:
        paths = ", ".join(dict.fromkeys(hunk.path for hunk in hunks)) or "no line of any file"
        raise UsageError(f"nothing of {path} was taken", f"the action changes {paths}", "name one of these")
    return selected


def _parse_part(part: str, text: str) -> SelectedHunk:
    match = _HUNK_PART.fullmatch(part)
    if match is None:
        raise _unreadable_hunks(text)
    lines = _parse_lines(match[2], text) if match[2] else None
    return SelectedHunk(hunk=int(match[1]), lines=lines)


def _parse_lines(text: str, whole: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for piece in text.split("+"):
        match = _LINE_RANGE.fullmatch(piece)
        if match is None:
            raise _unreadable_hunks(whole)
        first, last = int(match[1]), int(match[2] or match[1])
        if not 0 < first <= last <= _MOST_LINES:
            raise _unreadable_hunks(whole)
        numbers += range(first, last + 1)
    return tuple(numbers)


def _unreadable_hunks(text: str) -> UsageError:
    return UsageError(
        "nothing was approved",
        f"“{text[:80]}” names no hunks; hunks are numbers such as 1,3, with lines such as 1:2-4",
        "see workbench approvals show ID",
    )


def moved_paths(journal: Journal, action: Action) -> tuple[str, ...]:
    """Return the paths that changed since an action was proposed; all of them where the workspace is gone."""
    session = journal.session(action.session_id)
    if (
        session is None
        or not action.files
        or action.kind == "files"
        or action.state != "pending"
        or _builds_on_another(journal, action)
    ):
        return ()
    try:
        with Root(session.workspace) as root:
            return stale_paths(root, action.files, journal.blobs.keyed)
    except FileRefused:
        return tuple(plan.path for plan in action.files)


def _builds_on_another(journal: Journal, action: Action) -> bool:
    """Return whether its base is what an earlier change will leave behind, which is not on the disk yet."""
    events = journal.call_events(action.call_id) if action.call_id else []
    bodies = [event.body for event in events if isinstance(event.body, CallProposed)]
    return bool(bodies and bodies[-1].on_top_of)
