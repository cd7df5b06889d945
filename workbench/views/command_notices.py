"""The notices that the user's `notify.command` gets, as JSON."""

from pathlib import PurePath
from typing import Final, Literal

import msgspec
from msgspec import Struct

from workbench.domain.rows import Action, Session
from workbench.domain.values import SYSTEM_SESSION
from workbench.text.human import iso_time
from workbench.text.safe import one_line
from workbench.views.approvals import NO_FOLDER, action_words
from workbench.views.supervised import agent_name
from workbench.views.unseen_ends import UnseenEnd

RowEvent = Literal["row_opened", "row_expiring"]
NoticeEvent = Literal["row_opened", "row_expiring", "turn_ended", "run_failed"]
_MAX_TITLE: Final = 200
_MAX_PATH: Final = 400


class CommandNotice(Struct, frozen=True, kw_only=True):
    """One notice; `notice_json` documents its members."""

    event: NoticeEvent
    text: str
    at: str
    session: str = ""
    title: str = ""
    agent: str = ""
    folder: str = ""
    row: str | None = None
    kind: str | None = None
    target: str | None = None
    risks: tuple[str, ...] = ()
    expires_at: str | None = None
    outcome: str | None = None


def notice_json(notice: CommandNotice) -> bytes:
    """Return a notice as one line of JSON: every member is always there, and texts are scrubbed.

    event: `row_opened` (a row waits in the queue), `row_expiring` (it expires in two minutes), `turn_ended`
        (an agent came to its end, failed or paused) or `run_failed` (a pipeline failed).
    text: The notice as one sentence.
    at: When it happened, as all times: `2026-11-21T12:00:00.123456Z`.
    session: The id of the session or run; empty for a question about a folder, as are title and agent.
    title: Its title.
    agent: Who asks: `workbench`, `Claude Code`, `Codex` and so on.
    folder: The workspace, an absolute path.
    row: The id of the row, as `workbench approvals show` takes it; null for ends, as are kind, target and
        expires_at, and null in the sample.
    kind: What would be done: `edit`, `write`, `move`, `del`, `run`, `read`, `fetch`, `gate`, `ask`, `trust`.
    target: What it would be done to: a path, a command, an address, a question.
    risks: What the row is marked with, such as `deletes`; a list, empty for none.
    expires_at: When the row expires; null where it does not.
    outcome: How it came to its end: `ended`, `paused` or `failed`; null for rows.
    """
    return msgspec.json.encode(notice) + b"\n"


def row_notice(
    event: RowEvent, action: Action, session: Session | None, folder: str, at: int
) -> CommandNotice:
    """Return the notice of a row that waits; `session` is None for a question about a folder."""
    verb, target = action_words(action, NO_FOLDER)
    agent = _agent_of(session)
    lead = "Expires in 2 minutes" if event == "row_expiring" else "Waits for you"
    return CommandNotice(
        event=event, text=f"{lead}: {verb} {target} ({_place(agent, folder)})", at=iso_time(at),
        session="" if session is None else session.id,
        title="" if session is None else one_line(session.title, _MAX_TITLE),
        agent=agent, folder=one_line(folder, _MAX_PATH), row=action.id, kind=verb, target=target,
        risks=tuple(one_line(warning, 40) for warning in action.warnings),
        expires_at=None if action.expires_at is None else iso_time(action.expires_at),
    )  # fmt: skip


def end_notice(end: UnseenEnd, session: Session) -> CommandNotice | None:
    """Return the notice of a turn that came to its end or a run that failed; None for any other end."""
    if end.what == "run" and (end.state != "failed" or session.parent_id):
        return None  # a run below another one fails with it
    agent = _agent_of(session)
    title = one_line(session.title, _MAX_TITLE)
    words = f"{end.what.capitalize()} {end.state}: {title or agent} ({_place(agent, session.workspace)})"
    return CommandNotice(
        event="turn_ended" if end.what == "turn" else "run_failed", text=words, at=iso_time(end.at),
        session=session.id, title=title, agent=agent, folder=one_line(session.workspace, _MAX_PATH),
        outcome=end.state,
    )  # fmt: skip


def sample_notice(folder: str, at: int) -> CommandNotice:
    """Return a notice to try the command with; it is about no row."""
    return CommandNotice(
        event="row_opened", text=f"Notices of workbench arrive here ({_place('', folder)})", at=iso_time(at),
        title="a test of notify.command", agent="workbench", folder=one_line(folder, _MAX_PATH),
        kind="run", target="workbench notify test",
    )  # fmt: skip


def _agent_of(session: Session | None) -> str:
    if session is None or session.id == SYSTEM_SESSION:
        return ""
    return agent_name(session) or session.agent


def _place(agent: str, folder: str) -> str:
    name = one_line(PurePath(folder).name, _MAX_TITLE) or "/"
    return f"{agent}, {name}" if agent else name
