"""What a replay prints without a screen: every event with its time, or the state at a moment.

Owns the words and the JSON of both. Texts are the record's, where secrets are scrubbed.
"""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Final

from workbench.cli.console import Console
from workbench.cli.errors import sentence
from workbench.cli.render.facts import Facts, action_facts, call_facts, moment, session_facts
from workbench.domain.codec import to_object
from workbench.domain.rows import Action, Session
from workbench.draw.words import clock_exact
from workbench.text.human import countdown
from workbench.tui.replay_source import ReplaySource
from workbench.views.transport import went_back

NO_TIMES: Final = "no times recorded: events are a second apart"
_MICROS = 1_000_000
_MANY = 40


def tell(
    source: ReplaySource, session: Session, index: int | None, console: Console, *, is_json: bool
) -> None:
    """Print all events, or with a moment what was then."""
    if index is not None:
        source.seek(index)
        if is_json:
            console.json(state(source, session))
        else:
            for line in state_lines(source, session):
                console.say(line)
        return
    if source.reel.is_steady:
        console.note(sentence(NO_TIMES))
    elif back := went_back(source.reel):
        console.note(f"{back}: such events stand at the time before them.")
    for event in events(source):
        if is_json:
            console.json_line(json.dumps(event, ensure_ascii=False))
        else:
            console.say(
                f"{event['after']:>10.3f} s  #{event['index']:<6} {event['kind']:<22} {event['words']}"
            )


def events(source: ReplaySource) -> Iterable[Facts]:
    """Yield the events of a recording, each with its times in seconds from the start."""
    reel = source.reel
    for index in range(1, len(reel) + 1):
        event = source.event_at(index)
        if event is not None:
            yield {
                "index": index,
                "at": moment(reel.time(index)),
                "after": (reel.time(index) - reel.time(0)) / _MICROS,
                "played_after": reel.played(index) / _MICROS,
                "kind": event.kind,
                "words": source.words_at(index),
                "event": to_object(event),
            }


def state(source: ReplaySource, session: Session) -> Facts:
    """Return what was at the moment as JSON."""
    waiting = _waiting(source)
    counts = Counter(action.session_id for action in waiting)
    return {
        "session": session.id,
        "index": source.index,
        "events": len(source.reel),
        "at": moment(source.now()),
        "has_times": not source.reel.is_steady,
        "times_back": source.reel.went_back,
        "sessions": [session_facts(one, counts[one.id]) for one in source.sessions(_MANY)],
        "waiting": [{**action_facts(one), "left_seconds": _left(one, source.now())} for one in waiting],
        "calls": [call_facts(one) for one in source.calls(session.id)],
    }


def _waiting(source: ReplaySource) -> list[Action]:
    return [one for one in source.actions(0) if one.state == "pending"]


def _left(action: Action, now: int) -> float | None:
    return None if action.expires_at is None else max(0, action.expires_at - now) / _MICROS


def state_lines(source: ReplaySource, session: Session) -> Iterable[str]:
    """Yield what was at the moment as lines."""
    title, at = session.title or session.id[:8], clock_exact(source.now())
    yield f"{title}  event {source.index} of {len(source.reel)}  at {at}"
    if source.reel.is_steady:
        yield NO_TIMES
    elif back := went_back(source.reel):
        yield f"{back}: such events stand at the time before them"
    yield "sessions"
    for one in source.sessions(_MANY):
        yield f"  {one.id[:8]}  {one.status:<12} {one.title}"
    waiting = _waiting(source)
    yield "waiting" if waiting else "nothing waited"
    for action in waiting:
        left = _left(action, source.now())
        words = "" if left is None else countdown(left)
        yield f"  {action.id[:8]}  {words:>8}  {action.verb} {action.target}"
    calls = source.calls(session.id)
    yield "calls" if calls else "no tool was called"
    for call in calls:
        yield f"  {call.id[:8]}  {call.state:<12} {call.tool} {call.target}"
