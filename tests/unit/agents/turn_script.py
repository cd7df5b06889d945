"""Events in a few letters, for scripts of what happened to one session."""

import itertools

from workbench.agents.planner import TurnLimits
from workbench.agents.reducer import fold_turn
from workbench.domain import events
from workbench.domain.values import Actor, GateVerdict, ReplyCall, SelectedHunk, Usage

SESSION = "s"
LIMITS = TurnLimits(max_rounds=3, read_only_tools=frozenset({"read_file"}))
_ids = itertools.count(1)


def event(body, **envelope):
    number = next(_ids)
    envelope.setdefault("id", f"e{number}")
    return events.Event(session_id=SESSION, at=number, actor=Actor(kind="system"), body=body, **envelope)


def created(**facts):
    return event(events.SessionCreated(system_prompt="You help.", **facts))


def status(name, reason=None):
    return event(events.SessionStatusChanged(status=name, reason=reason))


def paused(reason):
    return status("paused", reason)


def lease(epoch, host="h"):
    return event(events.LeaseTaken(host_id=host, epoch=epoch, pid=1))


def released(epoch, host="h"):
    return event(events.LeaseReleased(host_id=host, epoch=epoch))


def prompt(text="go", ref=None):
    return event(events.PromptSubmitted(text=text, text_ref=ref))


def go_on():
    return event(events.ContinueRequested())


def interrupt():
    return event(events.InterruptRequested())


def started(round_=1, turn="t1"):
    return event(events.TurnStarted(provider="recorded", model="m", round=round_), turn_id=turn)


def reply(*calls, round_=1, turn="t1", text="", exchange=None, ref=None):
    """Each call is `id` (a write) or `id:tool`, or a ReplyCall."""
    made = tuple(call if isinstance(call, ReplyCall) else _reply_call(call) for call in calls)
    body = events.ReplyCompleted(
        text=text, text_ref=ref, calls=made, round=round_, exchange=exchange, usage=Usage(output_tokens=1)
    )
    return event(body, turn_id=turn)


def _reply_call(text):
    call_id, _, tool = text.partition(":")
    tool = tool or "create_file"
    return ReplyCall(call_id=call_id, provider_call_id=f"p-{call_id}", tool=tool, arguments={"path": call_id})


def ended(outcome="done", turn="t1"):
    return event(events.TurnEnded(outcome=outcome), turn_id=turn)


def failed_model(exchange=None):
    return event(events.ErrorRaised(code="x", message="no", exchange=exchange))


def verdict(outcome, by="default", reason=""):
    return GateVerdict(outcome=outcome, step="ask", by=by, reason=reason)


def proposed(
    call, outcome="ask", tool="create_file", on=(), replaces=None, by="default", reason="", turn="t1"
):
    said = verdict(outcome, by, reason)
    body = events.CallProposed(tool=tool, verdict=said, on_top_of=tuple(on), replaces=replaces)
    return event(body, call_id=call, turn_id=turn)


def opened(action, call, supersedes=None, warnings=()):
    body = events.ActionOpened(
        action_kind="tool", tool="create_file", target="x", digest="d", created_at=1, expires_at=2,
        supersedes=supersedes, warnings=warnings,
    )  # fmt: skip
    return event(body, action_id=action, call_id=call)


def asked(call, on=(), tool="create_file", replaces=None):
    """Proposed and in the queue, as action `a-<call>`."""
    return [proposed(call, on=on, tool=tool, replaces=replaces), opened(f"a-{call}", call)]


def approved(call, selection=None, edited=None, reason=None, action=None):
    body = events.ActionApproved(
        digest="d", approved_until=9, result_digest="r", selection=selection, edited=edited, reason=reason
    )
    return event(body, action_id=action or f"a-{call}")


def taken(hunk, *lines):
    return SelectedHunk(hunk=hunk, lines=lines or None)


def rejected(call, reason=None):
    return event(events.ActionRejected(reason=reason), action_id=f"a-{call}")


def expired(call):
    return event(events.ActionExpired(), action_id=f"a-{call}")


def superseded(action, successor, why="refreshed", call=None):
    return event(events.ActionSuperseded(successor=successor, why=why), action_id=action, call_id=call)


def stale(action):
    return event(events.ActionBecameStale(paths=("x",)), action_id=action)


def refresh(action):
    return event(events.RefreshRequested(), action_id=action)


def again(action, request):
    """A human asks for what files lack of an approved action."""
    return event(events.RefreshRequested(is_approved=True), action_id=action, id=request)


def reopening(request, action="a-c1", opened_as="r1"):
    """The call that answers such a request, in the queue."""
    body = events.ActionOpened(
        action_kind="tool", tool="create_file", target="x", digest="d", created_at=1, expires_at=2,
        subject={"reopens": action},
    )  # fmt: skip
    asks = proposed(request, turn=None)
    return [asks, event(body, action_id=opened_as, call_id=request)]


def undo(action, request):
    return event(events.UndoRequested(), action_id=action, id=request)


def executing(call):
    return event(events.CallExecuting(), call_id=call)


def finished(call, state="succeeded", **facts):
    return event(events.CallFinished(state=state, **facts), call_id=call)


def repeated(call, times):
    return event(events.CallRepeated(times=times), call_id=call)


def changed_file(call):
    return event(events.FileChanged(path="x", change="modify", before="1", after="2"), call_id=call)


def process(call):
    return event(events.ProcessStarted(pid=1, group=1, start_time="1"), call_id=call)


def done(call):
    return [executing(call), finished(call)]


def flat(*parts):
    return [one for part in parts for one in (part if isinstance(part, list) else [part])]


READY = [created(), status("initializing"), status("ready"), lease(1)]
CALLING = [*READY, prompt(), started(), status("processing")]


def state_of(*parts):
    return fold_turn(flat(*parts))
