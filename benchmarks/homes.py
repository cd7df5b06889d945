"""Homes to measure the screen on: many sessions, many events, one long conversation, one large diff.

Owns what is in them. Everything but the filler of `add_events` goes through the journal's own door; the
filler goes past its checks, because a million events would take minutes through it.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.support.stage import USER, Stage, call, exchange, recording, text
from workbench.domain.codec import actor_json, body_json
from workbench.domain.events import (
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    LeaseReleased,
    PromptSubmitted,
    ReplyCompleted,
    SessionCreated,
    TextStreamed,
    TurnEnded,
    TurnStarted,
)
from workbench.domain.values import Actor, GateVerdict, ReplyCall
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.transaction import TransactionTables

HOST = Actor(kind="host", pid=1)
AGENT = Actor(kind="agent", pid=1)
TITLE = "rename handler"
FIRST_HUNK = "def dispatch"
EVENTS_A_TURN = 10
ALLOWED = GateVerdict(outcome="allowed", step="grants", by="default")
REPLY = (
    "I read the file. It has **three** parts:\n\n- the router\n- its errors\n- `app.py`, which joins them\n"
)


def router(lines: int) -> str:
    """Return a Python file of so many lines."""
    # Short lines: what an agent asks for may have a million characters, the old and the new text together.
    return "".join(f"    v{number} = f({number})\n" for number in range(lines))


def asking(root: Path, *, lines: int = 200, edits: int = 3) -> Stage:
    """Return a stage whose newest session waits with an edit of so many hunks."""
    before = router(lines).splitlines(keepends=True)
    after = list(before)
    for at in range(edits):
        line = (at + 1) * lines // (edits + 1)
        after[line] = f"    {FIRST_HUNK}_{line}(request, environ)\n"
    change = call(
        "c1",
        "replace_string_in_file",
        path="router.py",
        old_string="".join(before),
        new_string="".join(after),
    )
    script = recording(exchange(text("I rename the handler."), change), exchange(text("Done.")))
    patient = {"approvals": {"window_minutes": 1440}}
    return Stage(root, script, files={"router.py": "".join(before)}, config=patient)


CALLS_A_REPLY = 50
"""Fewer than the calls that a reply is cut off after."""


def queued(root: Path, count: int) -> Stage:
    """Return a home in which so many edits wait, each of another file, asked for by sessions of 50 each."""
    stage: Stage | None = None
    for first in range(0, count, CALLS_A_REPLY):
        numbers = range(first, min(first + CALLS_A_REPLY, count))
        files = {f"part_{number}.py": _part(number) for number in numbers}
        changes = [_change(number, _part(number)) for number in numbers]
        script = recording(exchange(text("I change all."), *changes), exchange(text("Done.")))
        if stage is not None:
            stage.journal.close()
        stage = Stage(root, script, files=files, config={"approvals": {"window_minutes": 1440}})
        stage.trust()
        stage.begin(title=TITLE)
        stage.drive(seconds=60.0 + count)
    assert stage is not None
    stage.journal.close()
    return stage


def _part(number: int) -> str:
    """Return a file of 200 lines that no other part has: what was drawn of one is not known of the next."""
    return "".join(f"    v{line} = part_{number}({line})\n" for line in range(200))


def _change(number: int, before: str) -> object:
    """Return a call that changes five lines of a part in four places."""
    after = before.splitlines(keepends=True)
    for line in (10, 20, 21, 90, 150):
        after[line] = f"    v{line} = g{number}({line}, request)  # {FIRST_HUNK}\n"
    parameters = {"path": f"part_{number}.py", "old_string": before, "new_string": "".join(after)}
    return call(f"c{number}", "replace_string_in_file", **parameters)


def begin(stage: Stage) -> None:
    """Let the stage's agent ask."""
    stage.trust()
    stage.begin(title=TITLE)
    stage.drive()


def add_sessions(journal: Journal, workspace: str, count: int) -> list[str]:
    """Add sessions of one finished turn each."""
    keys = [f"old-{number:04d}" for number in range(count)]
    for first in range(0, count, 100):
        found: list[Event] = []
        for key in keys[first : first + 100]:
            body = SessionCreated(
                workspace=workspace, provider="recorded", model="recorded-demo", title=f"older work {key}"
            )
            found.append(journal.event(body, key, USER))
            found += turn(journal, key, 1)
            found.append(journal.event(LeaseReleased(host_id="h", epoch=1), key, HOST))
        journal.append(found, strict=False)
    return keys


def turn(journal: Journal, session_id: str, number: int) -> list[Event]:
    """Return the events of a turn with one call."""
    turn_id, call_id = f"{session_id}-t{number}", f"{session_id}-c{number}"

    def made(body: object, actor: Actor = AGENT, **about: str) -> Event:
        return journal.event(body, session_id, actor, turn_id=turn_id, **about)  # type: ignore[arg-type]

    about = {"path": f"src/part_{number}.py"}
    wanted = ReplyCall(call_id=call_id, provider_call_id=call_id, tool="read_file", arguments=about)
    return [
        journal.event(
            PromptSubmitted(text=f"prompt {number}: what does part {number} do?"), session_id, USER
        ),
        made(TurnStarted(provider="recorded", model="recorded-demo")),
        made(TextStreamed(block=0, offset=0, text=REPLY[:20])),
        made(ReplyCompleted(text=REPLY, calls=(wanted,))),
        made(
            CallProposed(tool="read_file", verdict=ALLOWED, parameters=about),
            call_id=call_id,
        ),
        made(CallExecuting(), HOST, call_id=call_id),
        made(
            CallFinished(state="succeeded", preview="1: import os\n", output_bytes=13, duration_ms=4),
            HOST,
            call_id=call_id,
        ),
        made(TurnStarted(provider="recorded", model="recorded-demo", round=2)),
        made(ReplyCompleted(text=f"answer {number}. {REPLY}", round=2)),
        made(TurnEnded(outcome="done")),
    ]


def add_turns(journal: Journal, session_id: str, events: int, *, start: int = 1) -> None:
    """Add turns to a session, numbered from `start`, of about so many events."""
    end = start + events // EVENTS_A_TURN
    for first in range(start, end, 100):
        numbers = range(first, min(first + 100, end))
        journal.append(
            [event for number in numbers for event in turn(journal, session_id, number)], strict=False
        )


def add_events(journal: Journal, keys: list[str], count: int) -> None:
    """Store events in old sessions, past the door that checks them."""
    sample = journal.event(TextStreamed(block=0, offset=0, text="a few words of a reply "), keys[0], AGENT)
    body, actor, now = body_json(sample), actor_json(AGENT), journal.now()
    insert = (
        "INSERT INTO event (id, session_id, sequence_number, at, actor, turn_id, kind, body)"
        " VALUES (?, ?, ?, ?, ?, 't', 'text.streamed', ?)"
    )
    each = count // len(keys)

    def rows(key: str) -> Iterator[tuple[object, ...]]:
        return ((f"{key}-{n:08d}", key, 100 + n, now, actor, body) for n in range(each))

    for first in range(0, len(keys), 20):

        def work(live: TransactionTables, first: int = first) -> None:
            for key in keys[first : first + 20]:
                live.database.executemany(insert, rows(key))  # type: ignore[attr-defined]

        journal.change(work)


def prepared(root: Path, *, count: int = 1_000, events: int = 0, lines: int = 200, edits: int = 3) -> Stage:
    """Return a home with old sessions, stored events, and one session that waits with a diff."""
    stage = asking(root, lines=lines, edits=edits)
    keys = add_sessions(stage.journal, str(stage.workspace), count - 1)
    if events:
        add_events(stage.journal, keys, events)
    begin(stage)
    stage.journal.close()
    return stage


def conversation(root: Path, events: int, *, is_open: bool = False, others: int = 0) -> Stage:
    """Return a home with one session of so many events, and others that stream beside it.

    Args:
        root: Where it is.
        events: Of the long session.
        is_open: Whether a turn of it is open, so that text can be streamed into it.
        others: How many more sessions have an open turn.
    """
    stage = asking(root)
    with closing(Journal.open(Home.open(root / "home"))) as journal:
        for key in (*(f"other-{number}" for number in range(others)), "long"):
            created = SessionCreated(
                workspace=str(stage.workspace),
                provider="recorded",
                model="recorded-demo",
                title=f"talk {key}",
            )
            journal.append([journal.event(created, key, USER)], strict=False)
            add_turns(journal, key, events if key == "long" else 0)
            last: list[Event] = [journal.event(PromptSubmitted(text="the last prompt"), key, USER)]
            if is_open:
                begun = TurnStarted(provider="recorded", model="recorded-demo")
                last.append(journal.event(begun, key, AGENT, turn_id=f"{key}-open"))
            last.append(journal.event(LeaseReleased(host_id="h", epoch=1), key, HOST))
            journal.append(last, strict=False)
    stage.journal.close()
    return stage
