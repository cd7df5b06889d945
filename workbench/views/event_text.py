"""What events say in words: one line for a list or a log, notices, steps of a run, toasts."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from workbench.domain import events
from workbench.domain.events import (
    ActionApproved,
    ActionRejected,
    CallFinished,
    ContinueRequested,
    ErrorRaised,
    Event,
    MarkAdded,
    RunChanged,
    RunRequested,
    RunStarted,
    SessionChanged,
    SessionStatusChanged,
    StepChanged,
    Unknown,
    WorkspaceTrusted,
)
from workbench.domain.machines import COMPLETED_STEP_STATES, ENDED_RUN_STATES, PauseReason
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Body, StepKind, StepPlan
from workbench.text.human import duration_text, spoken_duration
from workbench.text.safe import one_line
from workbench.views.conversation_blocks import NoticeBlock, NoticeKind, PromptBlock, StepBlock
from workbench.views.status_icons import RUN_STATUSES, STEP_STATUSES, StatusName, StepStatus, step_status_name

_MAX_LINE_CELLS: Final = 200


def event_line(event: Event | None, action: Action | None, call: Call | None) -> str:
    """Return what an event was, in one safe line; `action` and `call` are the rows it is about."""
    return "" if event is None else one_line(_event_words(event, action, call).strip(), _MAX_LINE_CELLS)


def _event_words(event: Event, action: Action | None, call: Call | None) -> str:
    body = event.body
    kind = type(body)
    if kind in _TEXT_OF_EVENT:
        return _TEXT_OF_EVENT[kind](body)
    if kind in _TEXT_OF_ACTION_EVENT:
        about = f"{action.verb} {action.target}" if action is not None else ""
        return f"{_TEXT_OF_ACTION_EVENT[kind]}: {about}" if about else _TEXT_OF_ACTION_EVENT[kind]
    if kind in _TEXT_OF_CALL_EVENT:
        about = f"{call.tool} {call.target}".strip() if call is not None else "a call"
        return _TEXT_OF_CALL_EVENT[kind](about, body)
    if kind in _TEXT_OF_STEP_EVENT:
        return f"{event.step or ''} {_TEXT_OF_STEP_EVENT[kind](body)}"
    return event.kind.replace(".", " ")


def _comma_joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _status_text(body: events.SessionStatusChanged) -> str:
    reason = f" ({body.reason})" if body.reason else ""
    return f"the session is {_STATUS_WORDS.get(body.status, body.status)}{reason}"


_STATUS_WORDS: Final[Mapping[str, str]] = {"processing": "at work"}
_ASKING_WORDS: Final[dict[object, str]] = {
    "every": "from here on it asks before every tool",
    "reads": "from here on it asks before all but reads",
    None: "from here on it asks as the settings say",
}


def _session_changed_text(body: events.SessionChanged) -> str:
    title = "" if body.title is None else f"renamed: {body.title}"
    tags = "" if body.tags is None else f"tags: {' '.join(body.tags) or 'none'}"
    where = "" if body.archived is None else "archived" if body.archived else "taken out of the archive"
    return _comma_joined(title, tags, where, session_settings_text(body)) or "filed"


def session_settings_text(body: events.SessionChanged) -> str:
    """Return how a session goes on from here: its model, what it asks about; empty if as before."""
    model = "" if body.model is None else f"from here on {body.model} answers"
    members = body.configuration or {}
    reads = _ASKING_WORDS.get(members["reads"], "") if "reads" in members else ""
    return _comma_joined(model, reads)


def _reply_text(body: events.ReplyCompleted) -> str:
    asked = " ".join(call.tool for call in body.calls)
    return body.text or (f"asks for {asked}" if asked else "a reply without words")


def _turn_ended_text(body: events.TurnEnded) -> str:
    return f"the turn ended: {body.detail or body.outcome}"


def _progress_text(body: events.ProgressReported) -> str:
    return body.message if body.percentage is None else f"{body.percentage:g} %: {body.message}"


def _hook_text(body: events.HookRan) -> str:
    return f"hook {body.event} {'blocked: ' if body.blocked else ''}{body.command}"


def _call_finished_text(about: str, body: events.CallFinished) -> str:
    code = "" if body.exit_code in (None, 0) else f"exit {body.exit_code}"
    took = duration_text(body.duration_ms / 1000) if body.duration_ms else ""
    return f"{about}: {_comma_joined(body.state, code, took)}"


def _run_changed_text(body: events.RunChanged) -> str:
    return f"the run is {_STATUS_WORDS.get(body.status, body.status)}"


def _step_changed_text(body: events.StepChanged) -> str:
    return f"{body.state}: {body.detail}" if body.state == "failed" and body.detail else body.state


_TEXT_OF_EVENT: Final[Mapping[type[Body], Callable[[Any], str]]] = {
    events.SessionCreated: lambda body: f"begun: {body.title}" if body.title else "the session begins",
    events.SessionStatusChanged: _status_text,
    events.SessionChanged: _session_changed_text,
    events.SessionDeleted: lambda _: "a session was deleted",
    events.LeaseTaken: lambda body: f"driven by {'a host' if body.driver == 'host' else 'workbench run'}",
    events.LeaseReleased: lambda _: "given back by its driver",
    events.PromptSubmitted: lambda body: body.text,
    events.InterruptRequested: lambda body: f"to be stopped: {body.why}" if body.why else "asked to stop",
    events.ContinueRequested: lambda _: "asked to go on",
    events.ForkRequested: lambda body: _comma_joined(f"forked from event {body.at_sequence}", body.folder),
    events.MarkAdded: lambda body: body.label or "a mark",
    events.TurnStarted: lambda body: (
        f"asks {body.model}" + (f", round {body.round}" if body.round > 1 else "")
    ),
    events.TextStreamed: lambda body: body.text,
    events.ThinkingStreamed: lambda body: f"thinks: {body.text}",
    events.ReplyCompleted: _reply_text,
    events.TurnEnded: _turn_ended_text,
    events.ProgressReported: _progress_text,
    events.ErrorRaised: lambda body: body.message,
    events.HookRan: _hook_text,
    events.FileChanged: lambda body: f"{body.change} {body.path}",
    events.ActionOpened: lambda body: f"{body.verb} {body.target}",
    events.RuleAdded: lambda body: f"rule {body.rule}: {body.effect} {body.tool} {body.pattern}",
    events.RuleUsed: lambda body: f"rule {body.rule} used",
    events.RuleRevoked: lambda body: f"rule {body.rule} taken back",
    events.WorkspaceTrusted: lambda body: f"trusted: {body.workspace}",
    events.WorkspaceTrustRevoked: lambda body: f"not trusted any more: {body.workspace}",
    events.SecurityNoted: lambda body: _comma_joined(body.what, body.detail),
    events.RunRequested: lambda _: "a run was asked for",
    events.RunCancelRequested: lambda _: "the run is to be ended",
    events.RunStarted: lambda body: f"round {body.round} begins" if body.round > 1 else "the run begins",
    events.RunChanged: _run_changed_text,
}
_TEXT_OF_ACTION_EVENT: Final[Mapping[type[Body], str]] = {
    events.ActionApproved: "approved",
    events.ActionRejected: "rejected",
    events.ActionExpired: "expired",
    events.ActionSuperseded: "replaced",
    events.ActionCancelled: "withdrawn",
    events.ActionBecameStale: "out of date",
    events.AnswerRefused: "an answer was refused",
    events.RefreshRequested: "to be proposed anew",
    events.UndoRequested: "to be taken back",
}
_TEXT_OF_CALL_EVENT: Final[Mapping[type[Body], Callable[[str, Any], str]]] = {
    events.CallProposed: lambda about, _: f"wants {about}",
    events.CallExecuting: lambda about, _: f"runs {about}",
    events.ProcessStarted: lambda about, body: f"process {body.pid} of {about}",
    events.OutputStreamed: lambda about, body: body.text or f"output of {about}",
    events.CallFinished: _call_finished_text,
}
_TEXT_OF_STEP_EVENT: Final[Mapping[type[Body], Callable[[Any], str]]] = {
    events.StepRetryRequested: lambda _: "is to be done again",
    events.StepChanged: _step_changed_text,
    events.ContractChecked: lambda body: f"contract {body.contract}: {body.outcome}",
    events.ArtifactStored: lambda body: f"stored {body.name}",
}
KeyHints = tuple[tuple[str, str], ...]
PAUSE_KEYS: Final[KeyHints] = (("c", "go on"), ("i", "say something first"))
ERROR_KEYS: Final[KeyHints] = (("r", "ask again"), ("p", "other model"), ("l", "the log"))
_PAUSE_SENTENCES: Final[Mapping[PauseReason, str]] = {
    "user": "You stopped the agent.",
    "parked": "The host has ended. It waits for your answers and goes on after the last of them.",
    "run ended": "The run that drove it has ended.",
    "host lost": "The host ended in the middle of it. Nothing was run again.",
    "unattended": "Nobody answered in time. Nothing was done.",
    "limit reached": "The limit of this session is reached.",
}
_SESSION_END_SENTENCES: Final[Mapping[str, str]] = {
    "completed": "The session is completed.",
    "failed": "The session failed and cannot go on.",
    "terminated": "The session was ended.",
}


def notice_of(
    body: Body, *, was_stopped: bool, window_seconds: float | None = None
) -> tuple[NoticeKind, str, KeyHints] | None:
    """Return the notice that an event is, None if it is none.

    `was_stopped` says that the last block already tells of the stop; `window_seconds` how long the last
    question that expired had waited.
    """
    match body:
        case SessionStatusChanged(status="paused", reason=reason):
            return None if reason == "user" and was_stopped else _pause_notice(reason, window_seconds)
        case SessionStatusChanged(status=status) if status in _SESSION_END_SENTENCES:
            return ("ended", _SESSION_END_SENTENCES[status], ())
        case ContinueRequested():
            return ("continued", "You let it go on.", ())
        case MarkAdded(label=label):
            return ("mark", one_line(label, 200), ())
        case SessionChanged() as changed if words := session_settings_text(changed):
            return ("changed", one_line(f"{words[:1].upper()}{words[1:]}.", 200), ())
        case WorkspaceTrusted():
            return ("trust", "You trusted this workspace.", ())
        case Unknown(original_kind=kind):
            return ("unknown", f"Something that this version does not know: {one_line(kind, 80)}", ())
        case _:
            return None


def _pause_notice(reason: PauseReason | None, window: float | None) -> tuple[NoticeKind, str, KeyHints]:
    if reason == "unattended" and window:
        return ("paused", f"Nobody answered for {spoken_duration(window)}. Nothing was done.", PAUSE_KEYS)
    return (
        "paused",
        _PAUSE_SENTENCES.get(reason, "It is paused.") if reason else "It is paused.",
        PAUSE_KEYS,
    )


RunBlock = PromptBlock | NoticeBlock | StepBlock
_STEP_KIND_WORDS: Final[dict[StepKind, str]] = {
    "prompt": "agent", "command": "command", "gate": "gate", "pipeline": "pipeline",
    "route": "choice of the way", "aggregate": "puts files together",
}  # fmt: skip
_MAX_DETAIL_CELLS: Final = 300
_MAX_NAMED_STEPS: Final = 6


class RunStepLog:
    """The lines of one run: its events in order go in, new and changed blocks come out."""

    def __init__(self) -> None:
        self._plans: dict[str, StepPlan] = {}
        self._items: dict[str, dict[str, str]] = {}
        self._matrix: dict[str, str] = {}
        self._lines: dict[str, StepBlock] = {}
        self._round = 1

    def blocks(self, event: Event) -> Iterator[RunBlock]:
        """Fold one event."""
        match event.body:
            case RunRequested() as body:
                input_text = f": {body.input}" if body.input else ""
                yield PromptBlock(id=f"run:{event.id}", at=event.at, text=f"Run {body.pipeline}{input_text}")
            case RunStarted() as body:
                yield from self._started(event, body)
            case StepChanged() as body if event.step:
                yield from self._changed(event, event.step, body)
            case RunChanged() as body if body.status in ENDED_RUN_STATES:
                yield self._ended(event, body)
            case _:
                pass

    def _started(self, event: Event, body: RunStarted) -> Iterator[RunBlock]:
        self._plans = {plan.id: plan for plan in body.steps}
        self._round = body.round
        for step in body.reset:
            self._lines.pop(step, None)
            self._items.pop(step, None)
        if body.round > 1:
            named = ", ".join(one_line(step, 60) for step in body.reset)
            which = named if len(body.reset) <= _MAX_NAMED_STEPS else f"{len(body.reset)} steps"
            text = f"Round {body.round} begins: {which or 'what is left'}."
            yield NoticeBlock(id=f"round:{event.id}", at=event.at, kind="continued", text=text)

    def _changed(self, event: Event, step: str, body: StepChanged) -> Iterator[StepBlock]:
        matrix = body.matrix or self._matrix.get(step, "")
        if matrix:
            self._matrix[step] = matrix
            self._items.setdefault(matrix, {})[step] = _step_status(body)
            if (line := self._lines.get(matrix)) is not None:
                yield self._keep(matrix, self._counted(matrix, line))
            return
        if body.items is not None:
            known = self._items.get(step, {})
            self._items[step] = {item: known.get(item, "pending") for item in body.items}
        yield self._keep(step, self._counted(step, self._line(event, step, body)))

    def _keep(self, step: str, line: StepBlock) -> StepBlock:
        self._lines[step] = line
        return line

    def _line(self, event: Event, step: str, body: StepChanged) -> StepBlock:
        plan, before = self._plans.get(step), self._lines.get(step)
        meaning: StatusName = STEP_STATUSES[_step_status(body)][0]
        again = f"attempt {body.attempt}   " if body.attempt > 1 else ""
        return StepBlock(
            id=f"step:{self._round}:{step}", at=before.at if before else event.at, step=step,
            name=one_line(step, 100), what=_step_kind_text(plan), sign=meaning,
            right=f"{again}{_step_right_text(body)}",
            right_meaning=meaning if meaning in ("waiting", "failed", "risk") else None,
            note=_detail_line(body.detail),
        )  # fmt: skip

    def _counted(self, step: str, line: StepBlock) -> StepBlock:
        items = self._items.get(step)
        if not items:
            return line
        done = sum(state in COMPLETED_STEP_STATES for state in items.values())
        failed = sum(state in ("failed", "warned") for state in items.values())
        words = f"{done} of {len(items)} items" + (f", {failed} failed" if failed else "")
        return line.with_items(words)

    def _ended(self, event: Event, body: RunChanged) -> StepBlock:
        took = f", {duration_text(body.duration_ms / 1000)} of work" if body.duration_ms else ""
        sign, word = RUN_STATUSES[body.status]
        failed = sum(line.sign == "failed" for line in self._lines.values())
        if sign == "ok" and failed:
            took = f"{took}, {failed} step{'s' * (failed != 1)} failed"
        return StepBlock(
            id=f"run-end:{event.id}", at=event.at, step="", name="the run", what="", sign=sign,
            right=f"{word}{took}", right_meaning="failed" if failed or sign == "failed" else None,
            note=_detail_line(body.detail),
        )  # fmt: skip


def _detail_line(detail: str) -> str:
    return one_line(" ".join(detail.split()), _MAX_DETAIL_CELLS)


def _step_kind_text(plan: StepPlan | None) -> str:
    if plan is None:
        return ""
    persona = f" {one_line(plan.persona, 60)}" if plan.persona and plan.kind == "prompt" else ""
    return f"{_STEP_KIND_WORDS[plan.kind]}{persona}"


def _step_status(body: StepChanged) -> StepStatus:
    return step_status_name(body.state, is_warned=body.is_warned or body.has_failed)


def _step_right_text(body: StepChanged) -> str:
    took = duration_text(body.duration_ms / 1000) if body.duration_ms else ""
    status = _step_status(body)
    word = STEP_STATUSES[status][1]
    if status == "warned":
        return f"{word}   {took}".rstrip()
    if status in COMPLETED_STEP_STATES:
        return took or ("empty" if status == "completed_empty" else "done")
    return "asks you" if status == "waiting" else word


SESSIONS_PANE, CONVERSATION_PANE, APPROVALS_PANE = 0, 1, 2
"""Places, as the titles of their panes number them."""
_MAX_TOAST_CELLS: Final = 400
_WRITE_VERBS: Final = ("edit", "write")


class Toast(Struct, frozen=True, kw_only=True):
    """What did not happen, why, and where to look."""

    what: str
    why: str = ""
    place: int | None = None
    """0 to 2: the pane that shows it; None if no pane does."""
    row_id: str = ""

    @property
    def words(self) -> str:
        """Return all of it as one line, as it is kept among the messages."""
        return f"{self.what} {self.why}".rstrip()


def toast_of(
    event: Event, session: Session | None, action: Action | None, *, is_current: bool
) -> Toast | None:
    """Return what is told of an event; None when it is no trouble, or nobody here asked for it."""
    match event.body:
        case ErrorRaised():
            return _error_toast(event.body, session, is_current=is_current)
        case CallFinished(state="failed") if action is not None and action.verb in _WRITE_VERBS:
            return Toast(
                what=one_line(f"Not written: {action.target}", _MAX_TOAST_CELLS),
                why=_toast_line(event.body.error),
                place=APPROVALS_PANE, row_id=action.id,
            )  # fmt: skip
        case _:
            return None


def answered_elsewhere_text(event: Event, action: Action | None, pid: int) -> str:
    """Return what is said of an answer that came from another screen or a command; else empty."""
    actor = event.actor
    if action is None or actor.kind != "user" or actor.pid == pid:
        return ""
    if not isinstance(event.body, ActionApproved | ActionRejected):
        return ""
    word = "approved" if isinstance(event.body, ActionApproved) else "rejected"
    where = "on another screen" if actor.via == "screen" else "by workbench approvals"
    return one_line(f"{action.verb} {action.target} was {word} {where}.", _MAX_TOAST_CELLS)


def _error_toast(body: ErrorRaised, session: Session | None, *, is_current: bool) -> Toast:
    why = _toast_line(body.details or body.remedy)
    if is_current:
        return Toast(what=_toast_line(body.message), why=why, place=CONVERSATION_PANE)
    if session is None:
        return Toast(what=_toast_line(body.message), why=why)
    return Toast(
        what=one_line(f"{session.title}: {body.message}", _MAX_TOAST_CELLS), why=why, place=SESSIONS_PANE
    )


def _toast_line(text: str) -> str:
    return one_line(text.strip(), _MAX_TOAST_CELLS)
