"""What events say in words: one line for a list or a log, notices, steps of a run, toasts."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, assert_never, cast

from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.machines import COMPLETED_STEP_STATES, ENDED_RUN_STATES, PauseReason
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Body, StepKind, StepPlan
from workbench.text.human import duration_text, spoken_duration
from workbench.text.safe import one_line, reason_line
from workbench.views.conversation_blocks import NoticeBlock, NoticeKind, PromptBlock, StepBlock, TextBlock
from workbench.views.status_icons import (
    ACTION_STATUSES,
    RUN_STATUSES,
    STEP_STATUSES,
    StatusName,
    StepStatus,
    step_status_name,
)
from workbench.views.tools import repeated_text, shown_tool

if TYPE_CHECKING:
    from workbench.views.pipeline import ItemTally

_MAX_LINE_CELLS: Final = 200


def event_line(event: Event | None, action: Action | None, call: Call | None) -> str:
    """Return what an event was, in one safe line; `action` and `call` are the rows it is about."""
    return "" if event is None else one_line(_event_words(event, action, call).strip(), _MAX_LINE_CELLS)


def _event_words(event: Event, action: Action | None, call: Call | None) -> str:
    match event.body:
        case e.SessionEvent() as body:
            return _session_words(body)
        case e.TurnEvent() as body:
            return _turn_words(body)
        case e.RuleEvent() as body:
            return _rule_words(body)
        case e.RunEvent() | e.IncidentEvent() as body:
            return _work_words(event.step or "", body)
        case e.CallEvent() as body:
            return _call_words(f"{call.tool} {call.target}".strip() if call else "a call", body)
        case e.ActionOpened() as body:
            return f"{body.verb} {body.target}"
        case e.ActionEvent() | e.RefreshRequested() | e.UndoRequested() as body:
            words = _undo_words(body) or _ACTION_WORDS[body.KIND]
            return f"{words}: {action.verb} {action.target}" if action is not None else words
        case e.RequestEvent() as body:
            return _request_words(body)
        case e.Unknown():
            return event.kind.replace(".", " ")
        case _:
            assert_never(event.body)


def _undo_words(body: e.Body) -> str:
    """Return how much was asked to be undone, where it is more than the change of one action."""
    if not isinstance(body, e.UndoRequested) or not body.files:
        return ""
    count = "1 file" if len(body.files) == 1 else f"{len(body.files)} files"
    return f"{count} to be {'restored' if body.is_redo else 'undone'} in one step"


_Request = (
    e.PromptSubmitted | e.InterruptRequested | e.ContinueRequested | e.CompactionRequested | e.ForkRequested
    | e.MarkAdded | e.ContextCollected
)  # fmt: skip


def _request_words(body: _Request) -> str:
    match body:
        case e.PromptSubmitted():
            return body.text
        case e.InterruptRequested():
            return f"to be stopped: {body.why}" if body.why else "asked to stop"
        case e.ContinueRequested():
            return "asked to continue"
        case e.CompactionRequested():
            return "to be compacted" + (f": {body.words}" if body.words else "")
        case e.ForkRequested():
            return _comma_joined(f"forked from event {body.at_sequence}", body.folder)
        case e.MarkAdded():
            return body.label or "a mark"
        case e.ContextCollected():
            return _comma_joined("what the model is told beside it", *body.notes)


def _comma_joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


_ACTION_WORDS: Final = {
    **{f"action.{state}": word for state, (_, word) in ACTION_STATUSES.items()},
    "action.became_stale": "out of date",
    "answer.refused": "an answer was refused",
    "refresh.requested": "to be proposed again",
    "undo.requested": "to be undone",
}
_STATUS_WORDS: Final[Mapping[str, str]] = {"processing": "at work"}
_ASKING_WORDS: Final[dict[object, str]] = {
    "every": "mode: it asks before every tool",
    "reads": "mode: it asks before all except reads",
    None: "mode: it follows the settings",
}


def _session_words(body: e.SessionBody) -> str:
    match body:
        case e.SessionCreated():
            return f"started: {body.title}" if body.title else "the session starts"
        case e.SessionStatusChanged():
            reason = f" ({body.reason})" if body.reason else ""
            return f"the session is {_STATUS_WORDS.get(body.status, body.status)}{reason}"
        case e.SessionChanged():
            title = "" if body.title is None else f"renamed: {body.title}"
            tags = "" if body.tags is None else f"tags: {' '.join(body.tags) or 'none'}"
            where = (
                "" if body.archived is None else "archived" if body.archived else "taken out of the archive"
            )
            return _comma_joined(title, tags, where, session_settings_text(body)) or "filed"
        case e.SessionDeleted():
            return "a session was deleted"
        case e.LeaseTaken():
            return f"run by {'a background process' if body.driver == 'host' else 'workbench run'}"
        case e.LeaseReleased():
            return "given back by its driver"


def session_settings_text(body: e.SessionChanged) -> str:
    """Return how a session goes on from here: its model, what it asks about; empty if as before."""
    model = "" if body.model is None else f"model changed to {body.model}"
    members = body.configuration or {}
    reads = _ASKING_WORDS.get(members["reads"], "") if "reads" in members else ""
    return _comma_joined(model, reads)


def _turn_words(body: e.TurnBody) -> str:
    match body:
        case e.TurnStarted():
            return f"asks {body.model}" + (f", round {body.round}" if body.round > 1 else "")
        case e.TextStreamed():
            return body.text
        case e.ThinkingStreamed():
            return f"thinks: {body.text}"
        case e.ReplyCompleted():
            asked = " ".join(call.tool for call in body.calls)
            return body.text or (f"asks for {asked}" if asked else "a reply without words")
        case e.ConversationCompacted() | e.CommandSuggested():
            return _outcome_words(body)
        case e.TurnEnded():
            return f"the turn ended: {body.detail or body.outcome}"
        case e.ProgressReported():
            return body.message if body.percentage is None else f"{body.percentage:g} %: {body.message}"
        case e.ErrorRaised():
            return body.message
        case e.HookRan():
            return f"hook {body.event} {'blocked: ' if body.blocked else ''}{body.command}"


def _outcome_words(body: e.ConversationCompacted | e.CommandSuggested) -> str:
    if isinstance(body, e.CommandSuggested):
        return f"suggests {body.command}"
    return f"compacted: {body.summary}"


def _call_words(about: str, body: e.CallBody) -> str:
    match body:
        case e.CallProposed():
            return f"wants {about}"
        case e.CallExecuting():
            return f"runs {about}"
        case e.ProcessStarted():
            return f"process {body.pid} of {about}"
        case e.OutputStreamed():
            return body.text or f"output of {about}"
        case e.FileChanged():
            return f"{body.change} {body.path}"
        case e.CallFinished():
            code = "" if body.exit_code in (None, 0) else f"exit {body.exit_code}"
            took = duration_text(body.duration_ms / 1000) if body.duration_ms else ""
            return f"{about}: {_comma_joined(body.state, code, took)}"
        case e.CallRepeated():
            return f"{about}: {repeated_text(body.times)}"


def _rule_words(body: e.RuleBody) -> str:
    match body:
        case e.RuleAdded():
            return f"rule {body.rule}: {body.effect} {body.tool} {body.pattern}"
        case e.RuleUsed():
            return f"rule {body.rule} used"
        case e.RuleRevoked():
            return f"rule {body.rule} revoked"
        case e.WorkspaceTrusted():
            return f"trusted: {body.workspace}"
        case e.WorkspaceTrustRevoked():
            return f"no longer trusted: {body.workspace}"
        case e.SecurityNoted():
            return _comma_joined(body.what, body.detail)


def _work_words(step: str, body: e.RunBody | e.IncidentBody) -> str:
    return _run_words(step, body) if isinstance(body, e.RunEvent) else _incident_words(body)


def _run_words(step: str, body: e.RunBody) -> str:
    match body:
        case e.RunRequested():
            return "a run was asked for"
        case e.RunCancelRequested():
            return "the run was asked to stop"
        case e.RunStarted():
            return f"round {body.round} starts" if body.round > 1 else "the run starts"
        case e.RunChanged():
            return f"the run is {_STATUS_WORDS.get(body.status, body.status)}"
        case e.StepRetryRequested():
            return f"{step} is to be done again"
        case e.StepChanged():
            failure = f": {body.detail}" if body.state == "failed" and body.detail else ""
            return f"{step} {body.state}{failure}"
        case e.ContractChecked():
            repaired = f", repaired: {', '.join(body.repairs)}" if body.repairs else ""
            summary = f". {body.summary}" if body.summary else ""
            return f"{step} contract {body.contract}: {body.outcome}{repaired}{summary}"
        case e.ArtifactStored():
            return f"{step} stored {body.name}"


def _incident_words(body: e.IncidentBody) -> str:
    match body:
        case e.IncidentsListed():
            return f"{body.count} incident{'' if body.count == 1 else 's'} from {body.source}"
        case e.IncidentsRequested():
            return f"{len(body.ids)} incident{'' if len(body.ids) == 1 else 's'} to be worked off"
        case e.IncidentsCancelRequested():
            return "the work on these findings was asked to stop"
        case e.IncidentDismissed():
            return f"will not be fixed: {body.reason}" if body.reason else "is to be fixed again"
        case e.IncidentStarted():
            return f"{body.incident}: an agent is asked"
        case e.IncidentChecked():
            return _comma_joined(f"{body.incident}: {body.outcome}", body.detail)
        case e.IncidentEnded():
            return _comma_joined(f"{body.incident}: {body.outcome}", body.detail)


KeyHints = tuple[tuple[str, str], ...]
PAUSE_KEYS: Final[KeyHints] = (("c", "continue"), ("i", "say something first"))
LOOP_KEYS: Final[KeyHints] = (("c", "continue"), ("x", "stop"), ("i", "say something first"))
ERROR_KEYS: Final[KeyHints] = (("r", "ask again"), ("p", "other model"), ("l", "the log"))
_PAUSE_SENTENCES: Final[Mapping[PauseReason, str]] = {
    "user": "You stopped the agent.",
    "parked": "The background process has ended. It continues when you have answered everything.",
    "run ended": "The command that ran this session has ended.",
    "host lost": "The background process stopped here. Nothing was repeated.",
    "unattended": "Nobody answered in time. Nothing was done.",
    "limit reached": "The limit of this session is reached.",
    "loop": "The agent repeats the same call and gets the same result. It is paused.",
    "failed": "It ended with an error.",
}
_SESSION_END_SENTENCES: Final[Mapping[str, str]] = {
    "completed": "The session is completed.",
    "failed": "The session failed and cannot continue.",
    "terminated": "The session was ended.",
}


def is_bookkeeping(event: Event) -> bool:
    """Return whether an event is a record of another agent that was understood and says nothing here."""
    return (
        isinstance(event.body, e.Unknown)
        and event.recorded_at is not None
        and f".{e.NOT_UNDERSTOOD}." not in event.body.original_kind
    )


def _conversation_change(body: e.SessionCreated | e.CompactionRequested | e.ConversationCompacted) -> str:
    match body:
        case e.SessionCreated(configuration={"instructions": [*names]}) if names:
            files = ", ".join(one_line(str(name), 100) for name in names[:_MOST_NAMED])
            return f"It started with the instructions of {files}."
        case e.SessionCreated():
            return ""
        case e.CompactionRequested():
            return "You asked for a summary of the conversation."
        case e.ConversationCompacted():
            why = "" if body.is_asked else "The context was nearly full. "
            size = f"{body.tokens:,} tokens" if body.tokens else "The conversation"
            return (
                f"{why}{size} became this summary by {one_line(body.model, 80)}. The model gets it instead."
            )


_MOST_NAMED: Final = 12
"""Instruction files that are named."""
_INCIDENT_KEYS: Final = (("8", "findings"),)
_LIST_PAUSE_KEYS: Final = (("c", "continue"), *_INCIDENT_KEYS)


def _incident_notice(body: e.IncidentBody) -> str:
    """Return what a list of incidents says in its conversation; of work in between, its agents' say more."""
    if isinstance(body, e.IncidentStarted | e.IncidentChecked):
        return ""
    words = _incident_words(body)
    return f"Ended: {words}." if isinstance(body, e.IncidentEnded) else f"{words[:1].upper()}{words[1:]}."


def notice_of(
    body: Body, *, was_stopped: bool, window_seconds: float | None = None, is_list: bool = False
) -> tuple[NoticeKind, str, KeyHints] | None:
    """Return the notice that an event is, None if it is none.

    `was_stopped`: the last block tells of the stop. `window_seconds`: how long the last expired one waited.
    `is_list`: it is of a list of findings, which reads no messages.
    """
    match body:
        case e.SessionStatusChanged(status="paused", reason=reason):
            keys = _LIST_PAUSE_KEYS if is_list else LOOP_KEYS if reason == "loop" else PAUSE_KEYS
            words = _pause_words(reason, window_seconds)
            return None if reason == "user" and was_stopped else ("paused", words, keys)
        case e.SessionStatusChanged(status=status) if status in _SESSION_END_SENTENCES:
            return ("ended", _SESSION_END_SENTENCES[status], ())
        case e.ContinueRequested():
            return ("continued", "You resumed it.", ())
        case e.MarkAdded(label=label):
            return ("mark", one_line(label, 200), ())
        case e.SessionCreated() | e.CompactionRequested() | e.ConversationCompacted():
            words = _conversation_change(body)
            return ("changed", words, ()) if words else None
        case e.SessionChanged() as changed if words := session_settings_text(changed):
            return ("changed", one_line(f"{words[:1].upper()}{words[1:]}.", 200), ())
        case e.IncidentEvent():
            words = _incident_notice(cast("e.IncidentBody", body))
            return ("changed", one_line(words, 200), _INCIDENT_KEYS) if words else None
        case e.WorkspaceTrusted():
            return ("trust", "You trusted this workspace.", ())
        case e.Unknown(original_kind=kind):
            return ("unknown", f"Something that this version does not know: {one_line(kind, 80)}", ())
        case _:
            return None


def _pause_words(reason: PauseReason | None, window: float | None) -> str:
    if reason == "unattended" and window:
        return f"Nobody answered for {spoken_duration(window)}. Nothing was done."
    return _PAUSE_SENTENCES.get(reason, "It is paused.") if reason else "It is paused."


RunBlock = PromptBlock | NoticeBlock | StepBlock | TextBlock
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
        self._items: dict[str, ItemTally] = {}
        self._matrix: dict[str, str] = {}
        self._lines: dict[str, StepBlock] = {}
        self._round = 1
        self.sessions: dict[str, str] = {}
        """The sessions that agents lead in its steps, each with its step."""

    def agent_blocks(self, event: Event) -> Iterator[RunBlock]:
        """Yield what an event of a step's session adds: words of the agent, and what it does now."""
        step, body = self.sessions[event.session_id], event.body
        line = self._lines.get(step)
        if isinstance(body, e.ReplyCompleted) and body.text.strip():
            is_alone = sum(known.sign == "running" for known in self._lines.values()) < 2
            name = one_line(step, 60).replace("`", "'")
            text = body.text if is_alone else f"`{name}` {body.text}"
            yield TextBlock(id=f"said:{event.id}", at=event.at, text=text)
        elif isinstance(body, e.CallProposed) and line is not None and line.sign == "running":
            note = f"{one_line(shown_tool(body.tool), 40)} {one_line(body.target, 200)}".rstrip()
            yield self._keep(step, line.with_note(note))

    def blocks(self, event: Event) -> Iterator[RunBlock]:
        match event.body:
            case e.RunRequested() as body:
                input_text = f": {body.input}" if body.input else ""
                yield PromptBlock(id=f"run:{event.id}", at=event.at, text=f"Run {body.pipeline}{input_text}")
            case e.RunStarted() as body:
                yield from self._started(event, body)
            case e.StepChanged() as body if event.step:
                yield from self._changed(event, event.step, body)
            case e.RunChanged() as body if body.status in ENDED_RUN_STATES:
                yield self._ended(event, body)
            case _:
                pass

    def _started(self, event: Event, body: e.RunStarted) -> Iterator[RunBlock]:
        self._plans = {plan.id: plan for plan in body.steps}
        self._round = body.round
        for step in body.reset:
            self._lines.pop(step, None)
            self._items.pop(step, None)
        if body.round > 1:
            named = ", ".join(one_line(step, 60) for step in body.reset)
            which = named if len(body.reset) <= _MAX_NAMED_STEPS else f"{len(body.reset)} steps"
            text = f"Round {body.round}: {which or 'only unfinished steps'}."
            yield NoticeBlock(id=f"round:{event.id}", at=event.at, kind="continued", text=text)

    def _changed(self, event: Event, step: str, body: e.StepChanged) -> Iterator[StepBlock]:
        from workbench.views.pipeline import ItemTally

        matrix = body.matrix or self._matrix.get(step, "")
        if matrix:
            self._matrix[step] = matrix
            self._items.setdefault(matrix, ItemTally()).note(step, _step_status(body))
            if (line := self._lines.get(matrix)) is not None:
                yield self._keep(matrix, self._counted(matrix, line))
            return
        if count := len(body.items or ()) or body.item_count:
            self._items.setdefault(step, ItemTally()).total = count
        yield self._keep(step, self._counted(step, self._line(event, step, body)))

    def _keep(self, step: str, line: StepBlock) -> StepBlock:
        self._lines[step] = line
        return line

    def _line(self, event: Event, step: str, body: e.StepChanged) -> StepBlock:
        if body.session_id and body.state == "running":
            self.sessions[body.session_id] = step
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
        return line.with_items(items.words) if items is not None and items.words else line

    def _ended(self, event: Event, body: e.RunChanged) -> StepBlock:
        took = f", {duration_text(body.duration_ms / 1000)} of work" if body.duration_ms else ""
        sign, word = RUN_STATUSES[body.status]
        failed = sum(line.sign == "failed" for line in self._lines.values())
        if sign == "ok" and failed:
            took = f"{took}, {failed} step{'s' * (failed != 1)} failed"
        return StepBlock(
            id=f"run-end:{event.id}", at=event.at, step="", name="the run", what="", sign=sign,
            right=f"{word}{took}", right_meaning="failed" if failed or sign == "failed" else None,
            note=_detail_line(_run_detail(body.detail)),
        )  # fmt: skip


def _run_detail(detail: str) -> str:
    """Return why a run ended; why its step failed stands in the line of the step."""
    step, has_failed, _ = detail.partition(" failed: ")
    return f"{step} failed" if has_failed else detail


def _detail_line(detail: str) -> str:
    return reason_line(detail, _MAX_DETAIL_CELLS)


def _step_kind_text(plan: StepPlan | None) -> str:
    if plan is None:
        return ""
    persona = f" {one_line(plan.persona, 60)}" if plan.persona and plan.kind == "prompt" else ""
    return f"{_STEP_KIND_WORDS[plan.kind]}{persona}"


def _step_status(body: e.StepChanged) -> StepStatus:
    return step_status_name(body.state, is_warned=body.is_warned or body.has_failed)


def _step_right_text(body: e.StepChanged) -> str:
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
        case e.ErrorRaised():
            return _error_toast(event.body, session, is_current=is_current)
        case e.CallFinished(state="failed") if action is not None and action.verb in _WRITE_VERBS:
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
    if not isinstance(event.body, e.ActionApproved | e.ActionRejected):
        return ""
    word = "approved" if isinstance(event.body, e.ActionApproved) else "rejected"
    where = "on another screen" if actor.via == "screen" else "by workbench approvals"
    return one_line(f"{action.verb} {action.target} was {word} {where}.", _MAX_TOAST_CELLS)


def _error_toast(body: e.ErrorRaised, session: Session | None, *, is_current: bool) -> Toast:
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
