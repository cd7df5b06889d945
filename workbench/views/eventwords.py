"""What an event was, in one safe line: for the next mark of a replay, and for the lines that it prints.

Pure. Every kind has words of its own here; one that this program does not know is named as it was recorded.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from workbench.domain import events as e
from workbench.domain import runs as r
from workbench.domain.body import Body
from workbench.domain.events import Event
from workbench.domain.rows import Action, Call
from workbench.text.human import duration
from workbench.text.safe import one_line

_WIDEST: Final = 200


def words(event: Event | None, action: Action | None, call: Call | None) -> str:
    """Return what an event was, in one safe line.

    Args:
        event: what happened; None when it is not there any more.
        action: the row it is about, where it is about one.
        call: likewise.
    """
    return "" if event is None else one_line(_words(event, action, call).strip(), _WIDEST)


def _words(event: Event, action: Action | None, call: Call | None) -> str:
    body = event.body
    kind = type(body)
    if kind in _PLAIN:
        return _PLAIN[kind](body)
    if kind in _OF_ACTION:
        about = f"{action.verb} {action.target}" if action is not None else ""
        return f"{_OF_ACTION[kind]}: {about}" if about else _OF_ACTION[kind]
    if kind in _OF_CALL:
        about = f"{call.tool} {call.target}".strip() if call is not None else "a call"
        return _OF_CALL[kind](about, body)
    if kind in _OF_STEP:
        return f"{event.step or ''} {_OF_STEP[kind](body)}"
    return event.kind.replace(".", " ")


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _status(body: e.SessionStatusChanged) -> str:
    reason = f" ({body.reason})" if body.reason else ""
    return f"the session is {_STATUS.get(body.status, body.status)}{reason}"


_STATUS: Final[Mapping[str, str]] = {"processing": "at work"}


_READS: Final[dict[object, str]] = {
    "every": "from here on it asks before every tool",
    "reads": "from here on it asks before all but reads",
    None: "from here on it asks as the settings say",
}


def _filed(body: e.SessionChanged) -> str:
    title = "" if body.title is None else f"renamed: {body.title}"
    tags = "" if body.tags is None else f"tags: {' '.join(body.tags) or 'none'}"
    where = "" if body.archived is None else "archived" if body.archived else "taken out of the archive"
    return _joined(title, tags, where, steered(body)) or "filed"


def steered(body: e.SessionChanged) -> str:
    """Return how a session goes on from here: its model, what it asks about; empty if as before."""
    model = "" if body.model is None else f"from here on {body.model} answers"
    members = body.configuration or {}
    reads = _READS.get(members["reads"], "") if "reads" in members else ""
    return _joined(model, reads)


def _replied(body: e.ReplyCompleted) -> str:
    asked = " ".join(call.tool for call in body.calls)
    return body.text or (f"asks for {asked}" if asked else "a reply without words")


def _ended(body: e.TurnEnded) -> str:
    return f"the turn ended: {body.detail or body.outcome}"


def _progress(body: e.ProgressReported) -> str:
    return body.message if body.percentage is None else f"{body.percentage:g} %: {body.message}"


def _hook(body: e.HookRan) -> str:
    return f"hook {body.event} {'blocked: ' if body.blocked else ''}{body.command}"


def _finished(about: str, body: e.CallFinished) -> str:
    code = "" if body.exit_code in (None, 0) else f"exit {body.exit_code}"
    took = duration(body.duration_ms / 1000) if body.duration_ms else ""
    return f"{about}: {_joined(body.state, code, took)}"


def _run(body: r.RunChanged) -> str:
    return f"the run is {_STATUS.get(body.status, body.status)}"


def _step(body: r.StepChanged) -> str:
    return f"{body.state}: {body.detail}" if body.state == "failed" and body.detail else body.state


_PLAIN: Final[Mapping[type[Body], Callable[[Any], str]]] = {
    e.SessionCreated: lambda body: f"begun: {body.title}" if body.title else "the session begins",
    e.SessionStatusChanged: _status,
    e.SessionChanged: _filed,
    e.SessionDeleted: lambda _: "a session was deleted",
    e.LeaseTaken: lambda body: f"driven by {'a host' if body.driver == 'host' else 'workbench run'}",
    e.LeaseReleased: lambda _: "given back by its driver",
    e.PromptSubmitted: lambda body: body.text,
    e.InterruptRequested: lambda body: f"to be stopped: {body.why}" if body.why else "asked to stop",
    e.ContinueRequested: lambda _: "asked to go on",
    e.ForkRequested: lambda body: _joined(f"forked from event {body.at_sequence}", body.folder),
    e.MarkAdded: lambda body: body.label or "a mark",
    e.TurnStarted: lambda body: f"asks {body.model}" + (f", round {body.round}" if body.round > 1 else ""),
    e.TextStreamed: lambda body: body.text,
    e.ThinkingStreamed: lambda body: f"thinks: {body.text}",
    e.ReplyCompleted: _replied,
    e.TurnEnded: _ended,
    e.ProgressReported: _progress,
    e.ErrorRaised: lambda body: body.message,
    e.HookRan: _hook,
    e.FileChanged: lambda body: f"{body.change} {body.path}",
    e.ActionOpened: lambda body: f"{body.verb} {body.target}",
    e.RuleAdded: lambda body: f"rule {body.rule}: {body.effect} {body.tool} {body.pattern}",
    e.RuleUsed: lambda body: f"rule {body.rule} used",
    e.RuleRevoked: lambda body: f"rule {body.rule} taken back",
    e.WorkspaceTrusted: lambda body: f"trusted: {body.workspace}",
    e.WorkspaceTrustRevoked: lambda body: f"not trusted any more: {body.workspace}",
    e.SecurityNoted: lambda body: _joined(body.what, body.detail),
    r.RunRequested: lambda _: "a run was asked for",
    r.RunCancelRequested: lambda _: "the run is to be ended",
    r.RunStarted: lambda body: f"round {body.round} begins" if body.round > 1 else "the run begins",
    r.RunChanged: _run,
}

_OF_ACTION: Final[Mapping[type[Body], str]] = {
    e.ActionApproved: "approved",
    e.ActionRejected: "rejected",
    e.ActionExpired: "expired",
    e.ActionSuperseded: "replaced",
    e.ActionCancelled: "withdrawn",
    e.ActionBecameStale: "out of date",
    e.AnswerRefused: "an answer was refused",
    e.RefreshRequested: "to be proposed anew",
    e.UndoRequested: "to be taken back",
}

_OF_CALL: Final[Mapping[type[Body], Callable[[str, Any], str]]] = {
    e.CallProposed: lambda about, _: f"wants {about}",
    e.CallExecuting: lambda about, _: f"runs {about}",
    e.ProcessStarted: lambda about, body: f"process {body.pid} of {about}",
    e.OutputStreamed: lambda about, body: body.text or f"output of {about}",
    e.CallFinished: _finished,
}

_OF_STEP: Final[Mapping[type[Body], Callable[[Any], str]]] = {
    r.StepRetryRequested: lambda _: "is to be done again",
    r.StepChanged: _step,
    r.ContractChecked: lambda body: f"contract {body.contract}: {body.outcome}",
    r.ArtifactStored: lambda body: f"stored {body.name}",
}
