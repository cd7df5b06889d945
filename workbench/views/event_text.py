"""What an event was, in one safe line: for a list, a log, a replay."""

from collections.abc import Mapping
from typing import Final, assert_never

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import Action, Call
from workbench.text.human import duration_text
from workbench.text.safe import one_line
from workbench.views.call_summary import repeated_text
from workbench.views.sandbox import refusals_text
from workbench.views.status_icons import ACTION_STATUSES
from workbench.views.tools import shown_tool

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
            return _call_words(f"{shown_tool(call.tool)} {call.target}".strip() if call else "a call", body)
        case e.ActionOpened() as body:
            return f"{body.verb} {body.target}"
        case (
            e.ActionApproved() | e.ActionRejected() | e.ActionExpired() | e.ActionSuperseded()
            | e.ActionCancelled() | e.ActionBecameStale() | e.AnswerRefused() | e.RefreshRequested()
            | e.UndoRequested()
        ) as body:  # fmt: skip
            words = _undo_words(body) or _ACTION_WORDS[body.KIND]
            words += f" {body.place}" if isinstance(body, e.ActionApproved) and body.place else ""
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
    e.PromptSubmitted | e.PromptWithdrawn | e.PromptsReordered | e.InterruptRequested | e.ContinueRequested
    | e.CompactionRequested | e.PatchRequested | e.ForkRequested | e.MarkAdded | e.ContextCollected
)  # fmt: skip


def _request_words(body: _Request) -> str:
    match body:
        case e.PromptSubmitted():
            return f"edited: {body.text}" if body.replaces_id else body.text
        case e.PromptWithdrawn() | e.PromptsReordered() | e.ContinueRequested():
            return _REQUEST_WORDS[body.KIND]
        case e.InterruptRequested():
            return f"to be stopped: {body.why}" if body.why else "asked to stop"
        case e.CompactionRequested():
            return "to be compacted" + (f": {body.words}" if body.words else "")
        case e.PatchRequested():
            return f"the patch {body.name} to be applied" if body.name else "a patch to be applied"
        case e.ForkRequested():
            return _comma_joined(f"forked from event {body.at_sequence}", body.folder)
        case e.MarkAdded():
            return body.label or "a mark"
        case e.ContextCollected():
            return _comma_joined("what the model is told beside it", *body.notes)
        case _:
            assert_never(body)


def _comma_joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


_ACTION_WORDS: Final = {
    **{f"action.{state}": word for state, (_, word) in ACTION_STATUSES.items()},
    "action.became_stale": "out of date",
    "answer.refused": "an answer was refused",
    "refresh.requested": "to be proposed again",
    "undo.requested": "to be undone",
}
_REQUEST_WORDS: Final = {
    "prompt.withdrawn": "took a queued message back",
    "prompts.reordered": "reordered the queued messages",
    "continue.requested": "asked to continue",
}
_STATUS_WORDS: Final[Mapping[str, str]] = {"processing": "at work"}
_ASKING_WORDS: Final[dict[object, str]] = {
    "every": "mode: it asks before every call",
    "reads": "mode: it asks before all except reads",
    None: "mode: it follows the settings",
}
_SANDBOX_WORDS: Final[dict[object, str]] = {
    "read-only": "sandbox: commands can write nothing",
    "workspace": "sandbox: commands can write the workspace",
    "outside": "sandbox: off, commands run as you",
    None: "sandbox: as set",
}
_SANDBOXED_WORDS: Final[dict[object, str]] = {
    "auto": "commands inside the sandbox run without asking",
    "ask": "commands inside the sandbox ask",
    None: "commands inside the sandbox ask as set",
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
        case e.AgentConnected():
            return "the agent is connected again"
        case e.AgentGone():
            return "the agent has ended or lost its connection"
        case _:
            assert_never(body)


def session_settings_text(body: e.SessionChanged) -> str:
    """Return how a session goes on from here: its model, what it asks about; empty if as before."""
    model = "" if body.model is None else f"model changed to {body.model}"
    members = body.configuration or {}
    reads = _ASKING_WORDS.get(members["reads"], "") if "reads" in members else ""
    tools = "" if body.active_tools is None else f"tools: {', '.join(body.active_tools) or 'all'}"
    box = _SANDBOX_WORDS.get(members["sandbox"], "") if "sandbox" in members else ""
    asks = _SANDBOXED_WORDS.get(members["sandboxed"], "") if "sandboxed" in members else ""
    return _comma_joined(model, reads, box, asks, tools)


def _turn_words(body: e.TurnBody) -> str:
    match body:
        case e.TurnStarted():
            return f"asks {body.model}" + (f", round {body.round}" if body.round > 1 else "")
        case e.TextStreamed():
            return body.text
        case e.ThinkingStreamed():
            return f"thinks: {body.text}"
        case e.ReplyCompleted():
            asked = " ".join(shown_tool(call.tool) for call in body.calls)
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
        case _:
            assert_never(body)


def _outcome_words(body: e.ConversationCompacted | e.CommandSuggested) -> str:
    if isinstance(body, e.CommandSuggested):
        return f"suggests {body.command}"
    return f"compacted: {body.summary}"


def _call_words(about: str, body: e.CallBody) -> str:
    match body:
        case e.CallProposed():
            return f"wants {about}"
        case e.CallExecuting(sandbox=use):
            return f"runs {about}" + (f", {use.place} the sandbox" if use else "")
        case e.ProcessStarted():
            return f"process {body.pid} of {about}"
        case e.OutputStreamed():
            return body.text or f"output of {about}"
        case e.FileChanged():
            moved = f", moved from {body.moved_from}" if body.moved_from is not None else ""
            return f"{body.change} {body.path}{moved}"
        case e.CallFinished():
            code = "" if body.exit_code in (None, 0) else f"exit {body.exit_code}"
            took = duration_text(body.duration_ms / 1000) if body.duration_ms else ""
            return f"{about}: {_comma_joined(body.state, code, took)}"
        case e.CallRepeated():
            return f"{about}: {repeated_text(body.times)}"
        case e.SandboxRefused():
            return f"the sandbox refused {about}: {refusals_text(body.refusals)}"
        case _:
            assert_never(body)


def _rule_words(body: e.RuleBody) -> str:
    match body:
        case e.RuleAdded():
            end = " until the turn ends" if body.scope == "turn" else ""
            place = ", outside the sandbox" if body.place == "outside" else ""
            return f"rule {body.rule}: {body.effect} {body.tool} {body.pattern}{place}{end}"
        case e.RulePlaced():
            return f"rule {body.rule}: its commands run {body.place} the sandbox"
        case e.RuleUsed():
            return f"rule {body.rule} used"
        case e.RuleRevoked():
            return f"rule {body.rule} revoked"
        case e.WorkspaceTrusted():
            return f"trusted: {body.workspace}"
        case e.WorkspaceTrustRevoked():
            return f"no longer trusted: {body.workspace}"
        case e.AgentsHeld():
            return "all agents held: every call asks"
        case e.AgentsReleased():
            return "agents released: rules and trust count again"
        case e.SecurityNoted():
            return _comma_joined(body.what, body.detail)
        case _:
            assert_never(body)


def _work_words(step: str, body: e.RunBody | e.IncidentBody) -> str:
    return _run_words(step, body) if isinstance(body, e.RunEvent) else incident_text(body)


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
            return f"{step} runs again"
        case e.StepChanged():
            failure = f": {body.detail}" if body.state == "failed" and body.detail else ""
            return f"{step} {body.state}{failure}"
        case e.ContractChecked():
            repaired = f", repaired: {', '.join(body.repairs)}" if body.repairs else ""
            summary = f". {body.summary}" if body.summary else ""
            return f"{step} contract {body.contract}: {body.outcome}{repaired}{summary}"
        case e.ArtifactStored():
            return f"{step} stored {body.name}"
        case _:
            assert_never(body)


def incident_text(body: e.IncidentBody) -> str:
    """Return what an event of a list of findings was; not yet safe to draw."""
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
        case _:
            assert_never(body)
