"""Rows of actions, calls and sessions as one line of text each."""

from datetime import datetime

from msgspec import Struct

from workbench.cli.console import StatusIcons
from workbench.domain.rows import Action, Call, Session
from workbench.text.human import SECOND_MICROS, countdown_text, duration_text, spoken_time_left
from workbench.text.safe import one_line
from workbench.views.status_icons import action_status, call_status, session_status
from workbench.views.supervised import agent_title

TARGET_CELLS = 72
TITLE_CELLS = 40


class ActionRow(Struct, frozen=True, kw_only=True):
    """An action with what its row says beside it."""

    action: Action
    title: str = ""
    """Of its session."""
    hunks: int = 0
    lines: int = 1
    """Of its command."""
    call: Call | None = None
    key: str = ""
    """As much of its id as names it alone; empty shows its beginning."""


def action_target(action: Action) -> str:
    """Return what an action is about, on one safe line."""
    return one_line(action.target, TARGET_CELLS)


def changed_lines_text(action: Action, signs: StatusIcons) -> str:
    """Return how many lines an action adds and removes: `+9 −4`, empty for none."""
    parts = [f"+{action.added}"] if action.added else []
    parts += [f"{signs.minus}{action.removed}"] if action.removed else []
    return " ".join(parts)


def seconds_left(action: Action, now: int) -> float | None:
    """Return the seconds until an action expires, None if it does not."""
    return None if action.expires_at is None else max(0.0, (action.expires_at - now) / SECOND_MICROS)


def clock_time(micros: int | None, now: int) -> str:
    """Return a time of day in local time, with the date if it is another day."""
    if micros is None:
        return ""
    then, today = (
        datetime.fromtimestamp(micros / SECOND_MICROS),
        datetime.fromtimestamp(now / SECOND_MICROS),
    )
    return then.strftime("%H:%M:%S" if then.date() == today.date() else "%Y-%m-%d %H:%M")


def action_line(row: ActionRow, signs: StatusIcons, now: int, *, is_alone: bool = True) -> str:
    """Return one line of a list: sign, word, id, verb, target, lines, session, time.

    Where it is not alone it stands among the lines of its session, which has title and time already.
    """
    action = row.action
    meaning, word = action_status(action, row.call)
    seconds = seconds_left(action, now)
    end = countdown_text(seconds) if action.state == "pending" and seconds is not None else ""
    end = end or (clock_time(action.decided_at, now) if action.state != "pending" and is_alone else "")
    risks = f"! {', '.join(action.warnings)}" if action.warnings else ""
    facts = (
        action_target(action),
        action.place or "",
        changed_lines_text(action, signs),
        risks,
        one_line(row.title, TITLE_CELLS) if is_alone else "",
        end,
    )
    tail = "  ".join(fact for fact in facts if fact)
    return f"{signs.of(meaning)} {word:<8} {row.key or action.id[:8]}  {action.verb:<5} {tail}"


def spoken_action(number: int, row: ActionRow, now: int) -> str:
    """Return an action as line mode speaks it, without signs."""
    action = row.action
    parts = [f"{number} {action.verb} {action_target(action)}"]
    parts += [f"{action.place} the sandbox"] if action.place else []
    if row.lines > 1:
        parts.append(f"{row.lines} lines")
    if row.hunks:
        parts.append(f"{row.hunks} hunk{'s' if row.hunks != 1 else ''}")
    if action.added or action.removed:
        parts.append(f"plus {action.added} minus {action.removed}")
    if action.stale_paths:
        parts.append("stale")
    if action.warnings:
        parts.append(f"risk {' and '.join(action.warnings)}")
    if row.title:
        parts.append(f"session {one_line(row.title, TITLE_CELLS).rstrip('.')}")
    seconds = seconds_left(action, now)
    if seconds is not None:
        parts.append(f"{spoken_time_left(seconds)} left")
    return ", ".join(parts) + "."


def waiting_lines(action: Action, signs: StatusIcons, now: int) -> str:
    """Return the lines that tell a run's reader what waits and how to answer."""
    seconds = seconds_left(action, now)
    facts = (action.verb, action_target(action), changed_lines_text(action, signs))
    line = f"{signs.of('waiting')} waiting  {' '.join(fact for fact in facts if fact)}"
    time_left = f", {spoken_time_left(seconds)} left" if seconds is not None else ""
    answer = "approve" if action.kind == "tool" else "answer"
    return f"{line}{time_left}\n  workbench approvals {answer} {action.id}"


def call_target(call: Call) -> str:
    """Return what a call is about; the gate names it, but not for what it turned down."""
    texts = (value for value in call.parameters.values() if isinstance(value, str))
    return call.target or next(texts, "")


def call_line(call: Call, signs: StatusIcons) -> str:
    """Return one line of a call: sign, word, tool, target, exit code, time, why."""
    meaning, word = call_status(call)
    parts = [f"{signs.of(meaning)} {word}", one_line(call.tool, TITLE_CELLS)]
    target = call_target(call)
    parts += [one_line(target, TARGET_CELLS)] if target else []
    parts += [call.place] if call.place else []
    parts += [f"exit {call.exit_code}"] if call.exit_code is not None else []
    parts += [duration_text(call.duration_ms / 1000)] if call.duration_ms is not None else []
    why = "" if call.state == "succeeded" and call.detail != "recovered" else call.error or call.detail
    return "  ".join(parts) + (f": {one_line(why, 160)}" if why else "")


def session_line(session: Session, key: str, waiting: int, signs: StatusIcons, now: int) -> str:
    """Return one line of a list of sessions; `key` is as much of its id as is shown."""
    meaning, word = session_status(session, waiting)
    is_explained = session.status == "paused" and meaning == "cancelled" and session.reason is not None
    status = f"{word} ({session.reason})" if is_explained else word
    sign = signs.of(meaning)
    asks = f"{waiting} waiting" if waiting else ""
    facts = (agent_title(session, one_line(session.title, TARGET_CELLS)), asks, one_line(session.model, 32))
    tail = "  ".join(fact for fact in facts if fact)
    return f"{sign} {key}  {status:<22} {clock_time(session.updated_at, now):<16}  {tail}"
