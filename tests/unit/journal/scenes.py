"""Events and small histories that the journal's tests are written with."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from workbench.domain.events import (
    ActionOpened,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    FileChanged,
    PromptSubmitted,
    ReplyCompleted,
    SessionCreated,
    SessionStatusChanged,
    TextStreamed,
    TurnEnded,
    TurnStarted,
)
from workbench.domain.values import (
    DEFAULT_APPROVAL_MINUTES,
    Actor,
    Body,
    Choice,
    FilePlan,
    GateVerdict,
    ReplyCall,
    Usage,
)
from workbench.effects.clock import ManualClock
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal

USER = Actor(kind="user", pid=41, via="cli")
SCREEN = Actor(kind="user", pid=42, via="screen")
HOST = Actor(kind="host", pid=43)
MINUTE = 60_000_000
WINDOW = DEFAULT_APPROVAL_MINUTES * MINUTE


class SettableClock(ManualClock):
    """A manual clock that can also be set back."""

    def __init__(self, start: int = 1_700_000_000_000_000) -> None:
        super().__init__(start)
        self.offset = 0

    def now(self) -> int:
        return super().now() + self.offset


def open_journal(path: Path, clock: Any = None) -> Journal:
    return Journal.open(Home.open(path), clock)


def status(name: Any, reason: Any = None) -> SessionStatusChanged:
    return SessionStatusChanged(status=name, reason=reason)


def start(journal: Journal, session_id: str = "s", workspace: str = "/w", to: str = "processing") -> None:
    """Create a session and bring it to a status."""
    bodies: list[Body] = [SessionCreated(workspace=workspace, title="a title")]
    for name in ("initializing", "ready", "processing"):
        if to == "created":
            break
        bodies.append(status(name))
        if name == to:
            break
    journal.append([journal.event(body, session_id, USER) for body in bodies])


def reply(*calls: str, text: str = "I'll look.") -> ReplyCompleted:
    listed = tuple(
        ReplyCall(call_id=call, provider_call_id=f"p-{call}", tool="create_file", arguments={"path": "a"})
        for call in calls
    )
    return ReplyCompleted(text=text, calls=listed, usage=Usage(input_tokens=10, output_tokens=3))


ASK = GateVerdict(outcome="ask", step="ask", by="default")
ALLOW = GateVerdict(outcome="allowed", step="grants", by="R1", rule="R1")


def opened(journal: Journal, digest: str = "d", **changes: Any) -> ActionOpened:
    now = journal.now()
    body = ActionOpened(
        action_kind="tool", tool="create_file", target="a.py", digest=digest, created_at=now,
        expires_at=now + WINDOW,
    )  # fmt: skip
    return replace(body, **changes)


def ask(journal: Journal, session_id: str, call: str, action: str, **changes: Any) -> None:
    """Announce a call, propose it, and open its action."""
    journal.append(
        [
            journal.event(reply(call), session_id, HOST, turn_id="t1"),
            journal.event(CallProposed(tool="create_file", verdict=ASK), session_id, HOST, call_id=call),
            journal.event(
                opened(journal, **changes), session_id, HOST, call_id=call, action_id=action, turn_id="t1"
            ),
        ]
    )


def question(journal: Journal, action: str, session_id: str = "system", **changes: Any) -> None:
    """Open an action that belongs to no call."""
    journal.append([journal.event(opened(journal, **changes), session_id, HOST, action_id=action)])


TRUST_CHOICES = tuple(Choice(key=key, label=key) for key in ("trust", "trust_and_read", "not_now"))


def run_call(journal: Journal, session_id: str, call: str) -> None:
    """Execute an approved call to its end."""
    journal.append([journal.event(CallExecuting(digest="d"), session_id, HOST, call_id=call)])
    changed = FileChanged(path="a.py", change="create", before=None, after="k")
    done = CallFinished(state="succeeded", summary="created a.py", duration_ms=3)
    journal.append(
        [
            journal.event(changed, session_id, HOST, call_id=call),
            journal.event(done, session_id, HOST, call_id=call),
        ]
    )


def streamed(journal: Journal, session_id: str, offset: int, text: str = "word ") -> Event:
    body = TextStreamed(block=0, offset=offset, text=text)
    return journal.event(body, session_id, HOST, turn_id="t1")


def history(journal: Journal, session: str = "s") -> Sequence[list[Event]]:
    """Return the appends of one session's life, fast and durable, in order; nothing is appended."""
    seal = journal.blobs.seal(b"after")
    call = "c1" if session == "s" else f"c-{session}"
    plan = FilePlan(path="a.py", base=None, after="k", mode=0o644, after_ref=seal)

    def one(body: Body, **ids: Any) -> Event:
        return journal.event(body, session, HOST, turn_id="t1", **ids)

    return [
        [one(SessionCreated(workspace="/w")), one(status("initializing")), one(status("ready"))],
        [one(PromptSubmitted(text="make a.py")), one(status("processing"))],
        [one(TurnStarted(provider="recorded", model="m"))],
        [streamed(journal, session, 0)],
        [streamed(journal, session, 5, "x" * 3000)],
        [one(reply(call))],
        [
            one(CallProposed(tool="create_file", verdict=ALLOW, files=(plan,)), call_id=call),
        ],
        [one(CallExecuting(digest="d"), call_id=call)],
        [streamed(journal, session, 3005)],
        [
            one(FileChanged(path="a.py", change="create", before=None, after="k", after_ref=seal), call_id=call),
            one(CallFinished(state="succeeded", summary="y" * 9000), call_id=call),
        ],
        [one(TurnEnded(outcome="done")), one(status("ready"))],
    ]  # fmt: skip


def assert_sound(journal: Journal) -> None:
    """The index tables say what the events say, and no number is missing."""
    assert index_table_differences(journal) == []
