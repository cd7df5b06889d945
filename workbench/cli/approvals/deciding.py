"""The way every answer takes: checked, decided against the digest that was shown, told in words.

Owns what an answer's result is called and its exit code, and that somebody acts on it afterwards. It never
decides by itself and never answers for an action that was not shown.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED, UNANSWERED, Refusal, report, words
from workbench.cli.lookup import action_named, short
from workbench.cli.place import person
from workbench.cli.render.rows import clock_time, target_of
from workbench.domain.rows import Action
from workbench.domain.values import SYSTEM_SESSION, Decision
from workbench.host.ancestry import refuse_inside_agents
from workbench.journal.decide import DecisionResult, decide, expire_due
from workbench.journal.home import Home
from workbench.journal.journal import Journal

Answer = Callable[[Action], Decision]
"""Makes the decision about one action."""


class NotAnswered(Refusal):
    """An answer that did not count."""

    def __init__(self, what: str, why: str, remedy: str, code: int) -> None:
        super().__init__(what, why, remedy)
        self.code = code


def ready(home: Home, journal: Journal, what: str) -> None:
    """Make sure that a person acts, and that what is due has expired, before anything is decided.

    Raises:
        InsideAgent: This process was started for an agent.
    """
    refuse_inside_agents(journal, home, what)
    expire_due(journal)


def each(ids: Sequence[str], console: Console, answer: Callable[[str], int]) -> int:
    """Answer for each id in turn; one that fails does not stop the others. The highest code counts."""
    codes = [DONE]
    for given in ids:
        try:
            codes.append(answer(given))
        except Exception as error:
            if words(error) is None:
                raise
            codes.append(report(error, console))
    return max(codes)


def answer_all(
    home: Home, journal: Journal, console: Console, ids: Sequence[str], make: Answer, done: str
) -> int:
    """Decide every named action, then see to it that somebody acts on it.

    Args:
        home: The data folder.
        journal: Its journal.
        console: Where it is told.
        ids: As typed.
        make: The decision about each.
        done: The word for what was done, such as `approved`.
    """
    sessions: list[str] = []

    def one(given: str) -> int:
        action = action_named(journal, given)
        require_decided(journal, action, make(action), done)
        sessions.append(action.session_id)
        key = short(journal, action.id, "action")
        console.say(f"{done.capitalize()}: {action.verb} {target_of(action)} ({key})")
        return DONE

    code = each(ids, console, one)
    wake(home, journal, console, sessions)
    return code


def require_decided(journal: Journal, action: Action, decision: Decision, done: str) -> DecisionResult:
    """Append the decision about exactly the digest of `action`, and that it was named by its id.

    Raises:
        NotAnswered: It did not count; says by whom and when, or what to do instead.
    """
    named = replace(decision, seen="by_id") if decision.verdict == "approve" else decision
    result = decide(journal, named, action.digest, person())
    if not result.ok:
        raise refused(journal, action, result, f"not {done}: {action.verb} {target_of(action)}")
    return result


def refused(journal: Journal, action: Action, result: DecisionResult, what: str) -> NotAnswered:
    """Return the error for an answer that the journal refused."""
    why, remedy = _reasons(journal, action, result)
    return NotAnswered(what, why, remedy, UNANSWERED if result.why == "expired" else FAILED)


def _reasons(journal: Journal, action: Action, result: DecisionResult) -> tuple[str, str]:
    now = journal.action(action.id) or action
    at = clock_time(result.at or now.decided_at, journal.now())
    show, successor = f"workbench approvals show {action.id} shows it", result.successor or now.successor
    paths = ", ".join(now.stale_paths) or "a file"
    limit = "it was extended as often as it may be"
    table = {
        "decided": (f"it was {now.state} by {result.by or now.decided_by} at {at}", show),
        "expired": ("nobody answered in time, it expired", "let the agent ask again"),
        "superseded": (
            f"{successor} stands in for it",
            f"workbench approvals show {successor} shows that one",
        ),
        "cancelled": ("it was withdrawn", show),
        "stale": (
            f"changed since it was proposed: {paths}",
            f"workbench approvals refresh {action.id} makes the new diff",
        ),
        "digest": ("it is not what was shown", show),
        "limit": (limit, "answer it, or let the agent ask again"),
        "choice": _offered(now),
        "unknown": ("there is no such action any more", "workbench approvals list shows what waits"),
    }
    return table.get(str(result.why), ("the journal refused it", show))


def _offered(action: Action) -> tuple[str, str]:
    """Return why a plain yes or no answers nothing here, and the command that does."""
    answer = f"workbench approvals answer {action.id}"
    if not action.choices:
        return "it offers no choice", f"{answer} --text WORDS answers it"
    return f"it offers {', '.join(action.choices)}", f"{answer} --choice {action.choices[0]} answers it"


def wake(home: Home, journal: Journal, console: Console, session_ids: Iterable[str]) -> None:
    """Start the host of every workspace in which an answer has nobody to act on it."""
    workspaces: dict[str, bool] = {}
    for key in dict.fromkeys(session_ids):
        session = journal.session(key)
        while session is not None and session.kind == "step" and session.parent_id:
            # A step works in a folder of its own; who drives its run acts on the answer.
            session = journal.session(session.parent_id)
        if key != SYSTEM_SESSION and session is not None:
            is_idle = not is_driven(home, journal, session.id)
            workspaces[session.workspace] = workspaces.get(session.workspace, False) or is_idle
    for workspace, is_idle in workspaces.items():
        _see_to(home, journal, console, workspace, is_idle=is_idle)


def is_driven(home: Home, journal: Journal, session_id: str) -> bool:
    """Return whether a live process drives a session."""
    from workbench.journal.lease import is_live

    return is_live(home, journal.lease(session_id))


def _see_to(home: Home, journal: Journal, console: Console, workspace: str, *, is_idle: bool) -> None:
    from workbench.cli.host.remarks import found_remarks
    from workbench.host.ensure import ensure_host

    host = ensure_host(home, journal, workspace) if is_idle else None
    remarks = found_remarks(home, journal, workspace)
    if is_idle and host is None:
        console.note(f"Nothing acts on it yet: no host could be started for {workspace}.")
        console.note(f"The reason is in {home.logs}. workbench run --continue lets the session go on.")
    for line in remarks:
        console.note(line)
    if host is not None and not remarks:
        console.note(f"The host of {workspace} acts on it (pid {host.pid}).")
