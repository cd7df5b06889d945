"""The sessions of agents that work on a list of findings, one a batch."""

from collections.abc import Mapping
from typing import Final

from msgspec import DecodeError, json

from workbench.agents.reducer import fold_turn
from workbench.changes.digest import action_digest
from workbench.config.keys import RECORDED
from workbench.config.windows import approval_window_minutes
from workbench.domain.events import ActionOpened, Event, IncidentChecked, SessionCreated, SessionStatusChanged
from workbench.domain.incidents import BatchSize, Incident, IncidentOptions
from workbench.domain.machines import TERMINAL_SESSION_STATES, SessionStatus
from workbench.domain.rows import Session
from workbench.domain.values import Actor, Json, JsonObject
from workbench.effects.files import Root
from workbench.formats.findings.place import line_digest, read_lines
from workbench.host import redaction
from workbench.host.driver_context import DriverContext, host_actor
from workbench.host.incident_requests import listed_incidents
from workbench.host.instruction_files import session_instructions
from workbench.host.model_selection import ModelPreference, NoModelSelected, SelectedModel, select_model
from workbench.host.session_provider import usable_providers
from workbench.host.session_requests import SessionRefused
from workbench.host.steps.agent_step import REPEATED_CALL
from workbench.host.undo import plan_undo, request_undo_of_files
from workbench.incidents.comparison import LineCarrier, LineDigests
from workbench.incidents.state import (
    FINDING_CHOICES,
    IncidentWork,
    ListState,
    TurnFacts,
    batch_key,
    fold_list,
    is_list_runnable,
)
from workbench.journal.journal import Journal
from workbench.journal.leases import is_lease_live
from workbench.journal.session_queries import pending_action_ids
from workbench.providers.recording import RecordingBroken, load_recording
from workbench.text.human import MINUTE_MICROS, counted
from workbench.text.safe import one_line

_MOST_LISTS: Final = 50
_NOT_STARTED: Final = "No agent was started."
MOVES_BEFORE_WORK: Final[Mapping[SessionStatus, tuple[SessionStatusChanged, ...]]] = {
    "created": (SessionStatusChanged(status="initializing"), SessionStatusChanged(status="ready")),
    "initializing": (SessionStatusChanged(status="ready"),),
    # Its driver was killed, and a human spoke before anybody had said so.
    "processing": (SessionStatusChanged(status="paused", reason="host lost"),),
}
"""What a list's status goes through before it is `processing`."""


def batch_session(
    context: DriverContext, list_id: str, state: ListState, work: IncidentWork
) -> tuple[str, list[Event]]:
    """Return the session of a batch, and the events that begin one where there is none that goes on.

    Raises SessionRefused: there is no model, or no such recording.
    """
    journal, size = context.journal, state.options.batch
    child_id = state.sessions.get(batch_key(work.incident, size), "")
    session = journal.session(child_id) if child_id else None
    if session is not None and session.status not in TERMINAL_SESSION_STATES:
        return child_id, []
    child_id, actor = journal.clock.new_id(), host_actor()
    selected = incident_model(context, state.options)
    provider, configuration = selected.provider, selected.configuration
    prompt, ref = "", None
    if provider != RECORDED.name:
        names = context.read_settings().config.instruction_files
        instructions = session_instructions(journal, context.workspace, names)
        prompt, ref = redaction.redact_and_seal_text(instructions.system_prompt, journal.blobs)
        configuration = {**instructions.configuration, **configuration}
    created = SessionCreated(
        session_kind="step", parent_id=list_id, workspace=context.workspace, provider=provider,
        model=selected.model,
        system_prompt=prompt, system_prompt_ref=ref, telemetry_id=journal.clock.new_id(),
        title=redaction.redact_line(_batch_title(work.incident, size), 120),
        configuration={**configuration, **_own_configuration(state, work)},
    )  # fmt: skip
    return child_id, [journal.event(created, child_id, actor)]


def _own_configuration(state: ListState, work: IncidentWork) -> Mapping[str, Json]:
    """Return what makes a session one of S2: its incidents, its time, and that every change asks."""
    size = state.options.batch
    key = batch_key(work.incident, size)
    ids: list[Json] = [
        other.incident.id
        for other in state.works.values()
        if other.is_open and batch_key(other.incident, size) == key
    ]
    return {"incident_ids": ids, "timeout": state.options.timeout_s, "enable_tool_interception": True}


def _batch_title(incident: Incident, size: BatchSize) -> str:
    titles = {"one": f"{incident.path}:{incident.line} {incident.rule}", "file": incident.path}
    return titles.get(size, incident.rule)


def incident_model(
    context: DriverContext, options: IncidentOptions, *, checks_model: bool = False
) -> SelectedModel:
    """Return the model that the agents of a list ask, or raise SessionRefused.

    With `checks_model`, a model of the options has to be in its provider's list: that asks a server.
    """
    if options.recording:
        try:
            recording = load_recording(options.recording)
        except RecordingBroken as error:
            raise SessionRefused(_NOT_STARTED, f"{error}.", "Correct it, or name another.") from None
        facts: dict[str, Json] = {"path": str(recording.path), "sha256": recording.sha256}
        model = options.model or recording.model
        return SelectedModel(provider=RECORDED.name, model=model, configuration={"recording": facts})
    preference = ModelPreference(provider=options.provider or None, model=options.model or None)
    config = context.read_settings().config
    if not options.provider and not usable_providers(config):
        remedy = "Add one: workbench providers list says how, 9 on the screen does it."
        raise SessionRefused(_NOT_STARTED, "No provider is set up.", remedy)
    try:
        return select_model(config, preference, checks_model=checks_model)
    except NoModelSelected as error:
        raise SessionRefused(_NOT_STARTED, error.why, error.remedy) from None


def finding_question(
    context: DriverContext, list_id: str, work: IncidentWork, *, has_changed: bool
) -> ActionOpened:
    """Return the row of the queue that asks what to do with what the checker still finds."""
    incident, journal = work.incident, context.journal
    now = journal.now()
    choices = tuple(choice for choice in FINDING_CHOICES if has_changed or choice.key != "undo")
    detail = work.checked.detail if work.checked else ""
    prompt = f"The checker still finds this after {counted(work.round, 'prompt')}: {incident.rule} {detail}"
    subject: JsonObject = {
        "incident": incident.id, "list": list_id, "path": incident.path, "rule": incident.rule,
        "line": work.line, "child": work.child_id,
    }  # fmt: skip
    # It stays as long as a gate: a human started the work, and nothing is at stake while it waits.
    minutes = approval_window_minutes(context.recall_settings().config.approvals, "gate", context.workspace)
    return ActionOpened(
        action_kind="finding", tool=None, verb="check", cwd=context.workspace, prompt=prompt, choices=choices,
        target=one_line(f"{incident.path}:{work.line} {incident.rule}", 200), subject=subject,
        created_at=now, expires_at=now + round(minutes * MINUTE_MICROS),
        digest=action_digest(
            journal.blobs.keyed, kind="finding", parameters=subject, cwd=context.workspace, prompt=prompt,
            choices=choices,
        ),
    )  # fmt: skip


def has_list_work(context: DriverContext, session: Session) -> bool:
    """Return whether a driver of a list has something to do."""
    journal = context.journal
    state = fold_list(listed_incidents(journal, session.id), journal.events(session.id))
    return is_list_runnable(state, len(waiting_ids(context, session.id)))


def undriven_lists(context: DriverContext) -> list[Session]:
    """Return the workspace's lists that nobody drives and that have not ended."""
    lists = context.journal.sessions(
        workspace=context.workspace, kinds=("incidents",), limit=_MOST_LISTS,
        status=("created", "ready", "processing", "paused"),
    )  # fmt: skip
    journal = context.journal
    return [session for session in lists if not is_lease_live(context.home, journal.lease(session.id))]


def answered_lists(context: DriverContext) -> list[Session]:
    """Return the workspace's lists that were given back while they waited and may go on."""
    parked = [session for session in undriven_lists(context) if session.reason == "parked"]
    answered = [session for session in parked if not waiting_ids(context, session.id)]
    return [session for session in answered if has_list_work(context, session)]


def waiting_ids(context: DriverContext, list_id: str) -> tuple[str, ...]:
    """Return the questions that wait in a list and in the sessions of its agents."""
    journal = context.journal
    children = journal.sessions(parent_id=list_id, kinds=("step",))
    ids = (list_id, *(child.id for child in children if child.status not in TERMINAL_SESSION_STATES))
    return tuple(key for session_id in ids for key in pending_action_ids(journal, session_id))


def is_given_up(journal: Journal, work: IncidentWork, facts: TurnFacts) -> bool:
    """Say that a session that stopped repeating itself is over; nobody reads along in a batch."""
    session = journal.session(work.child_id)
    if session is None or session.reason == "loop" or session.status in TERMINAL_SESSION_STATES:
        facts.outcome, facts.detail = "broken", REPEATED_CALL if session else "it was deleted"
        return True
    return False


def checked_output(journal: Journal, checked: IncidentChecked | None) -> str:
    """Return what is kept of what the checker printed, which was scrubbed then."""
    data = journal.blobs.read(checked.output_ref) if checked and checked.output_ref else None
    return data.decode("utf-8", "replace") if data else ""


def is_undo_open(journal: Journal, child_id: str) -> bool:
    """Return whether an undo was asked for in an agent's session and has not ended."""
    return fold_turn(journal.events(child_id)).is_undoing


def request_turn_undo(journal: Journal, child_id: str, turn_id: str) -> str:
    """Ask for what a turn changed to be undone; return why that cannot be, nothing where it can."""
    session = journal.session(child_id)
    if session is None:
        return "its agent's session was deleted"
    try:
        plan = plan_undo(journal, session, turn_id)
        request_undo_of_files(journal, plan, [row.path for row in plan.rows], Actor(kind="user"))
    except SessionRefused as error:
        return error.why
    return ""


def decode_line_digests(data: bytes | None) -> LineDigests:
    """Return what is kept of the files of a list; nothing where that is gone."""
    try:
        return json.decode(data, type=dict[str, list[str]]) if data else {}
    except DecodeError:
        return {}


def line_carrier(root: Root, before: LineDigests) -> LineCarrier:
    """Return what carries lines of a list to the files as they are now."""
    return LineCarrier(before, lambda path: [line_digest(line) for line in read_lines(root, path)])
