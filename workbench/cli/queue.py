"""The queue as the command line reads it: which actions, in which order, with what their rows say beside.

Owns filters and order (least time first). Reads the index tables and the proposals; changes nothing.
"""

from collections.abc import Iterable
from dataclasses import replace

from workbench.cli.errors import Refusal
from workbench.cli.lookup import proposal_of, recorded_hunks, short
from workbench.cli.render.rows import Asked
from workbench.domain.rows import Action
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal.journal import Journal
from workbench.text.safe import LINE_END

_NEVER = 1 << 62


def waiting(journal: Journal, workspace: str | None = None) -> list[Action]:
    """Return what waits, least time first; of one workspace if one is named."""
    pending = journal.actions(states=("pending",))
    return [
        with_line_ends(journal, action)
        for action in sorted(
            _of(journal, pending, workspace),
            key=lambda action: (action.expires_at or _NEVER, action.opened_at),
        )
    ]


def with_line_ends(journal: Journal, action: Action) -> Action:
    """Return a command that waits with `⏎` where its lines end; older versions recorded a blank there."""
    if action.state != "pending" or action.verb != "run" or LINE_END in action.target:
        return action
    try:
        command = proposal_of(journal, action).parameters.get("command")
    except Refusal:
        return action
    if not isinstance(command, str) or "\n" not in command:
        return action
    return replace(action, target=command.replace("\n", LINE_END))


def decided(journal: Journal, workspace: str | None = None) -> list[Action]:
    """Return what does not wait any more, newest decision first."""
    others = (action for action in journal.actions() if action.state != "pending")
    return sorted(_of(journal, others, workspace), key=lambda action: -(action.decided_at or 0))


def asked(journal: Journal, action: Action, *, with_hunks: bool = False) -> Asked:
    """Return an action with its session's title, its call and, if wanted, how many hunks it has."""
    session = journal.session(action.session_id) if action.session_id != SYSTEM_SESSION else None
    return Asked(
        action=action,
        lines=action.target.rstrip(LINE_END).count(LINE_END) + 1 if action.verb == "run" else 1,
        title=session.title if session else "",
        hunks=_hunk_count(journal, action) if with_hunks and action.files else 0,
        call=journal.call(action.call_id) if action.call_id else None,
        key=short(journal, action.id, "action"),
    )


def workspace_of_action(journal: Journal, action: Action) -> str:
    """Return the workspace that an action is about."""
    named = action.subject.get("workspace")
    if isinstance(named, str):
        return named
    session = journal.session(action.session_id)
    return session.workspace if session else ""


def _of(journal: Journal, actions: Iterable[Action], workspace: str | None) -> Iterable[Action]:
    if workspace is None:
        return actions
    return (action for action in actions if workspace_of_action(journal, action) == workspace)


def _hunk_count(journal: Journal, action: Action) -> int:
    try:
        return len(recorded_hunks(journal, proposal_of(journal, action)))
    except Refusal:
        return 0
