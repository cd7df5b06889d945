"""Rows of actions, calls and sessions as one line each, and the sentences of line mode (UX section 9).

Pure. Every untrusted part is cut and made safe here; the console makes the whole line safe once more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.cli.signs import Signs, action_meaning, call_meaning
from workbench.domain.rows import Action, Call, Session
from workbench.text.human import countdown, duration, spoken
from workbench.text.safe import one_line

TARGET_CELLS = 72
TITLE_CELLS = 40
MICROS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
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


def target_of(action: Action) -> str:
    """Return what an action is about, on one safe line."""
    return one_line(action.target, TARGET_CELLS)


def changed(action: Action, signs: Signs) -> str:
    """Return how many lines an action adds and removes: `+9 −4`, empty for none."""
    parts = [f"+{action.added}"] if action.added else []
    parts += [f"{signs.minus}{action.removed}"] if action.removed else []
    return " ".join(parts)


def left(action: Action, now: int) -> float | None:
    """Return the seconds until an action expires, None if it does not."""
    return None if action.expires_at is None else max(0.0, (action.expires_at - now) / MICROS)


def clock_time(micros: int | None, now: int) -> str:
    """Return a time of day in local time, with the date if it is another day."""
    if micros is None:
        return ""
    then, today = datetime.fromtimestamp(micros / MICROS), datetime.fromtimestamp(now / MICROS)
    return then.strftime("%H:%M:%S" if then.date() == today.date() else "%Y-%m-%d %H:%M")


def action_row(asked: Asked, signs: Signs, now: int) -> str:
    """Return one line of a list: sign, word, id, verb, target, lines, session, time."""
    action = asked.action
    meaning, word = action_meaning(action, asked.call)
    seconds = left(action, now)
    end = countdown(seconds) if action.state == "pending" and seconds is not None else ""
    end = end or (clock_time(action.decided_at, now) if action.state != "pending" else "")
    risks = f"! {', '.join(action.warnings)}" if action.warnings else ""
    facts = (target_of(action), changed(action, signs), risks, one_line(asked.title, TITLE_CELLS), end)
    tail = "  ".join(fact for fact in facts if fact)
    return f"{signs.of(meaning)} {word:<8} {asked.key or action.id[:8]}  {action.verb:<5} {tail}"


def sentence(number: int, asked: Asked, now: int) -> str:
    """Return an action as line mode speaks it, without signs."""
    action = asked.action
    parts = [f"{number} {action.verb} {target_of(action)}"]
    if asked.lines > 1:
        parts.append(f"{asked.lines} lines")
    if asked.hunks:
        parts.append(f"{asked.hunks} hunk{'s' if asked.hunks != 1 else ''}")
    if action.added or action.removed:
        parts.append(f"plus {action.added} minus {action.removed}")
    if action.stale_paths:
        parts.append("stale")
    if action.warnings:
        parts.append(f"risk {' and '.join(action.warnings)}")
    if asked.title:
        parts.append(f"session {one_line(asked.title, TITLE_CELLS).rstrip('.')}")
    seconds = left(action, now)
    if seconds is not None:
        parts.append(f"{spoken(seconds)} left")
    return ", ".join(parts) + "."


def waiting_row(action: Action, signs: Signs, now: int) -> str:
    """Return the lines that tell a run's reader what waits and how to answer."""
    seconds = left(action, now)
    facts = (action.verb, target_of(action), changed(action, signs))
    line = f"{signs.of('waiting')} waiting  {' '.join(fact for fact in facts if fact)}"
    ask = f", {spoken(seconds)} left" if seconds is not None else ""
    answer = "approve" if action.kind == "tool" else "answer"
    return f"{line}{ask}\n  workbench approvals {answer} {action.id}"


def call_target(call: Call) -> str:
    """Return what a call is about; the gate names it, but not for what it turned down."""
    texts = (value for value in call.parameters.values() if isinstance(value, str))
    return call.target or next(texts, "")


def call_row(call: Call, signs: Signs) -> str:
    """Return one line of a call: sign, word, tool, target, exit code, time, why."""
    meaning, word = call_meaning(call)
    parts = [f"{signs.of(meaning)} {word}", one_line(call.tool, TITLE_CELLS)]
    target = call_target(call)
    parts += [one_line(target, TARGET_CELLS)] if target else []
    parts += [f"exit {call.exit_code}"] if call.exit_code is not None else []
    parts += [duration(call.duration_ms / 1000)] if call.duration_ms is not None else []
    why = "" if call.state == "succeeded" and call.detail != "recovered" else call.error or call.detail
    return "  ".join(parts) + (f": {one_line(why, 160)}" if why else "")


def session_row(session: Session, key: str, waiting: int, signs: Signs, now: int) -> str:
    """Return one line of a list of sessions; `key` is as much of its id as is shown."""
    status = session.status if session.reason is None else f"{session.status} ({session.reason})"
    sign = signs.of("waiting") if waiting else " "
    asks = f"{waiting} waiting" if waiting else ""
    facts = (one_line(session.title, TARGET_CELLS), asks, one_line(session.model, 32))
    tail = "  ".join(fact for fact in facts if fact)
    return f"{sign} {key}  {status:<22} {clock_time(session.updated_at, now):<16}  {tail}"


def table(rows: Sequence[str], empty: str) -> str:
    """Return rows as lines, or the sentence for none."""
    return "\n".join(rows) if rows else empty
