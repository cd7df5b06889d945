"""Drive one list of incidents: one session of an agent a batch, one turn an incident, and a check after it.

The list's session asks no model. It stays `processing` while it is worked on, and its lease fences the work.
Everything that was done is an event before the next thing begins, so that a driver that takes over repeats
nothing; what an agent was in the middle of goes on in the agent's own session, by that one's rules.
"""

# A killed list waits for a human (`paused (host lost)`), as a killed session does: no model is called because
# a process came back.
#
# A batch's session takes no later incident once a turn of it ran out of time or lost its provider: it is
# failed (S2), and the next incident of the batch begins another.

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct, field, json
from msgspec.structs import replace

from workbench.domain.events import (
    ActionCancelled,
    ContinueRequested,
    ErrorRaised,
    Event,
    IncidentChecked,
    IncidentEnded,
    IncidentStarted,
    InterruptRequested,
    PromptSubmitted,
    SessionStatusChanged,
)
from workbench.domain.incidents import Incident
from workbench.domain.machines import PauseReason
from workbench.domain.values import BlobRef, Body
from workbench.effects.fault_points import fault_point
from workbench.formats.findings.place import Locator
from workbench.host import redaction
from workbench.host.driver_context import DriverContext, LeaseWriter, OnEvents, host_actor, ignore_events
from workbench.host.incident_check import CheckResult, run_checker
from workbench.host.incident_requests import dismissed_fingerprints, is_checkers_own, listed_incidents
from workbench.host.incident_sessions import (
    MOVES_BEFORE_WORK,
    batch_session,
    checked_output,
    decode_line_digests,
    finding_question,
    is_given_up,
    is_undo_open,
    line_carrier,
    request_turn_undo,
    waiting_ids,
)
from workbench.host.session_driver import (
    SessionProgress,
    drive_session,
    running_clock,
    session_log_name,
    set_on_change,
)
from workbench.host.session_requests import SessionRefused
from workbench.host.steps.agent_step import close_child_session
from workbench.host.workspace_digests import WorkspaceDigests
from workbench.incidents.comparison import (
    ChangedFiles,
    Comparison,
    LineCarrier,
    LineDigests,
    attribute_changes,
    changed_paths,
    compare,
    unseen,
)
from workbench.incidents.request import incident_prompt, next_prompt
from workbench.incidents.result import FILES_NOT_LOOKED_AT
from workbench.incidents.state import (
    NOBODY_COULD_BE_ASKED,
    IncidentWork,
    ListState,
    TurnFacts,
    Verdict,
    batch_key,
    is_list_runnable,
    next_move,
    turn_facts,
)
from workbench.journal.decisions import expire_due_actions
from workbench.journal.leases import DriverIdentity, lease_guard, release_lease, take_lease
from workbench.journal.session_queries import pending_action_ids
from workbench.text.safe import one_line

_MOST_NEW: Final = 20
"""New findings of a check that are named; all are counted."""
MOST_DETAIL: Final = 500
"""Characters that are kept of why an incident ended so."""


def _is_at_rest(progress: SessionProgress) -> bool:
    return progress.is_resting and progress.is_idle


class IncidentDriverOptions(Struct, frozen=True, kw_only=True):
    """What a driver of lists is given."""

    context: DriverContext
    driver: DriverIdentity
    is_stopped: Callable[[], bool] = field(default=lambda: False)
    """Whether the driver is to give the list back; asked whenever something was written."""
    parks: bool = False
    """Give the list back as soon as nothing goes on without a human."""
    on_events: OnEvents = ignore_events
    """Told of the events of the list and of its agents' sessions."""


async def drive_incidents(options: IncidentDriverOptions, list_id: str) -> ListState:
    """Drive a list until nothing of what was asked for is left; return how it stands.

    Raises SessionDriven (another process drives it) or LeaseLost.
    """
    context = options.context
    expire_due_actions(context.journal)
    lease = take_lease(context.journal, list_id, options.driver)
    driver = _ListDriver(options, LeaseWriter(context, list_id, lease_guard(lease)))
    try:
        await driver.run()
    finally:
        release_lease(context.journal, lease)
    return driver.state


class _ListGivenBack(Exception):
    """The driver stops here in order; the list is paused for this reason."""

    def __init__(self, reason: PauseReason) -> None:
        self.reason: PauseReason = reason


class _ListDriver:
    def __init__(self, options: IncidentDriverOptions, writer: LeaseWriter) -> None:
        self._digests = WorkspaceDigests(options.context.root, options.context.journal.blobs.keyed)
        self._options, self._writer = options, writer
        self._context = replace(options.context, digests=self._digests)
        self._id, self._journal = writer.session_id, options.context.journal
        self.state = ListState(incidents={i.id: i for i in listed_incidents(self._journal, self._id)})
        self._current_digests: dict[str, str] | None = None
        """The digests of the files; None once somebody may have written."""
        self._line_digests: LineDigests | None = None
        self._dismissed: dict[str, str] = {}
        self._comparison: Comparison | None = None
        """What the checker said last; None once an agent has worked since."""
        self._known_fingerprints: set[str] = set()
        """Fingerprints that were there before, by the list or by the checker's first run."""
        self._reported_before: set[str] = set()
        """Incidents that this driver saw the checker report; what it never reported it cannot find fixed."""
        self._changed = asyncio.Event()

    # --- the loop -------------------------------------------------------------------------------

    async def run(self) -> None:
        self._catch_up()
        if not self._may_continue():
            if self.state.status == "processing":
                await self._pause_lost()
            return
        reason: PauseReason = "host lost"
        try:
            clock = running_clock(session_log_name(self._journal.session(self._id)), self._tick)
            async with set_on_change(self._journal, self._changed), clock:
                await self._begin_work()
                await self._work_through()
                reason = "run ended"
        except _ListGivenBack as given_back:
            reason = given_back.reason
        except SessionRefused as error:
            body = ErrorRaised(code="not_started", message=f"{error.what} {error.why}", remedy=error.remedy)
            await self._append(body)
            reason = "failed"
        finally:
            await self._pause(reason)

    async def _pause_lost(self) -> None:
        """Say that the driver of the list was killed, and so that of the session that it worked in."""
        work = self.state.current
        child = self._journal.session(work.child_id) if work else None
        lost = SessionStatusChanged(status="paused", reason="host lost")
        child_events = (
            [self._event(lost, child.id)] if child is not None and child.status == "processing" else []
        )
        await self._append(lost, more=child_events)

    def _may_continue(self) -> bool:
        waiting = len(waiting_ids(self._context, self._id))
        is_answered = self.state.status == "paused" and is_list_runnable(self.state, waiting)
        return self.state.has_request or is_answered

    async def _tick(self) -> None:
        if expire_due_actions(self._journal):
            self._changed.set()

    async def _begin_work(self) -> None:
        before = MOVES_BEFORE_WORK.get(self.state.status, ())
        await self._append(*before, SessionStatusChanged(status="processing"))
        fault_point("incidents.begun")
        self._dismissed = dismissed_fingerprints(self._journal, self._context.workspace)
        self._known_fingerprints = {i.fingerprint for i in self.state.incidents.values()} | self.state.new
        if self.state.checker and self.state.has_work:
            await self._check_before_work()

    async def _check_before_work(self) -> None:
        """Run the checker before anything is asked: what it does not find now it cannot find fixed."""
        result = await run_checker(self._context, self.state.checker)
        if result.findings is None:
            return
        self._known_fingerprints.update(incident.fingerprint for incident in result.findings.incidents)
        comparison = self._compare_findings(result)
        self._comparison = comparison if self.state.current is None else None

    async def _work_through(self) -> None:
        while self.state.has_work:
            work, following = self.state.current, self.state.next_work
            if self.state.is_cancelled:
                await self._skip_the_rest(work)
                return
            self._require_not_stopped()
            if work is not None:
                await self._advance(work)
            elif following is not None:
                await self._start_next(following)
            else:
                return

    def _require_not_stopped(self) -> None:
        if self._options.is_stopped() or (self.state.is_stopped and self.state.current is None):
            raise _ListGivenBack("user" if self.state.is_stopped else "host lost")

    def _catch_up(self) -> None:
        while events := self._journal.events(self._id, after=self.state.cursor, limit=2_000):
            for event in events:
                self.state.take(event)
            self._options.on_events(events)

    async def _append(self, *bodies: Body, more: Sequence[Event] = (), action_id: str | None = None) -> None:
        events = [self._event(body, action_id=action_id) for body in bodies]
        await self._writer.append(*events, *more)
        self._catch_up()

    def _event(self, body: Body, session_id: str = "", action_id: str | None = None) -> Event:
        actor = host_actor()
        return self._journal.event(body, session_id or self._id, actor, action_id=action_id)

    async def _pause(self, reason: PauseReason) -> None:
        self._catch_up()
        if self.state.status != "processing":
            return
        after = SessionStatusChanged(status="paused", reason=reason)
        if reason == "run ended":
            await self._close_children()
            if set(self.state.incidents) <= self.state.fixed:
                after = SessionStatusChanged(status="completed")
        await self._append(after)

    async def _close_children(self) -> None:
        for child in self._journal.sessions(parent_id=self._id, kinds=("step",)):
            await close_child_session(self._context, self._options.driver, child.id, is_done=True)

    # --- one incident -----------------------------------------------------------------------------

    async def _start_next(self, work: IncidentWork) -> None:
        incident = work.incident
        if (why := self._reason_to_skip(incident)) is not None:
            await self._end_incident(work, Verdict(outcome="skipped", detail=why))
            return
        is_known, is_found = self._is_known_to_checker(incident), None
        if self.state.checker and self._comparison is not None:
            is_found = incident.id in self._comparison.matches
            if not is_found and is_known:
                detail = "the checker does not find it any more"
                await self._end_incident(work, Verdict(outcome="fixed", detail=detail))
                return
        elif self.state.checker and not is_known:
            is_found = False
        before = self._journal.blobs.record(json.encode(await self._file_digests()))
        await self._prompt_agent(work, "", is_found, before)

    def _is_known_to_checker(self, incident: Incident) -> bool:
        """Return whether the checker has reported an incident: it made the list, or this driver saw it."""
        return is_checkers_own(self.state.listed) or incident.id in self._reported_before

    def _reason_to_skip(self, incident: Incident) -> str | None:
        dismissed = {**self._dismissed, **self.state.dismissed}
        if reason := dismissed.get(incident.fingerprint):
            return f"it will not be fixed: {reason}"
        if incident.problem:
            return incident.problem
        return Locator(self._context.root).problem(incident.path) or None

    async def _prompt_agent(
        self, work: IncidentWork, text: str, is_found: bool | None, before_ref: BlobRef | None = None
    ) -> None:
        """Ask an agent about an incident: the question and the note of it are one transaction."""
        incident = work.incident
        line = self._line_now(incident)
        text = text or incident_prompt(incident, self._context.workspace, line).prompt_text
        child_id, opening = batch_session(self._context, self._id, self.state, work)
        recorded, ref = redaction.redact_and_seal_text(text, self._journal.blobs)
        prompt = PromptSubmitted(text=recorded, text_ref=ref, incident=incident.id)
        note = IncidentStarted(
            incident=incident.id, child_id=child_id, line=line, round=work.round + 1, is_found=is_found,
            before_ref=before_ref,
        )  # fmt: skip
        fault_point("incident.before_started")
        await self._append(note, more=[*opening, self._event(prompt, child_id)])
        fault_point("incident.started")
        self._comparison = None

    def _line_now(self, incident: Incident) -> int:
        return self._current_line_carrier().line(incident.path, incident.line)

    def _current_line_carrier(self) -> LineCarrier:
        if self._line_digests is None:
            listed = self.state.listed
            data = self._journal.blobs.read(listed.lines_ref) if listed and listed.lines_ref else None
            self._line_digests = decode_line_digests(data)
        return line_carrier(self._context.root, self._line_digests)

    async def _advance(self, work: IncidentWork) -> None:
        facts = turn_facts(self._journal.events(work.child_id), work)
        if not facts.outcome:
            await self._drive_child(work, self._has_rested)
            facts = turn_facts(self._journal.events(work.child_id), work)
            if self.state.is_cancelled or not (facts.outcome or is_given_up(self._journal, work, facts)):
                return
        changed = bool((await self._changed_files(work, facts)).own)
        limit = self.state.options.max_turns
        move = next_move(work, facts, checker=bool(self.state.checker), changed=changed, limit=limit)
        match move:
            case Verdict():
                await self._end_incident(work, move)
                await self._after_end(work, facts, move)
            case "check":
                await self._check(work)
            case "again":
                await self._prompt_again(work)
            case "ask":
                await self._ask_human(work, has_changed=changed)
            case "wait":
                await self._wait_for_human()
            case "undo":
                await self._undo(work, facts)

    async def _file_digests(self) -> dict[str, str]:
        if self._current_digests is None:
            self._current_digests = await asyncio.to_thread(self._digests.take)
            if words := self._digests.cut_words():
                await self._append(ErrorRaised(code=FILES_NOT_LOOKED_AT, message=words))
        return self._current_digests

    def _digests_before(self, work: IncidentWork) -> dict[str, str]:
        data = self._journal.blobs.read(work.before_ref) if work.before_ref else None
        return json.decode(data, type=dict[str, str]) if data else {}

    async def _end_incident(self, work: IncidentWork, verdict: Verdict) -> None:
        since, files, after = work.started_at or self._journal.now(), ChangedFiles(), None
        if work.round:
            digests = await self._file_digests()
            facts = turn_facts(self._journal.events(work.child_id), work)
            files = await self._changed_files(work, facts)
            after = self._journal.blobs.record(json.encode(digests))
        body = IncidentEnded(
            incident=work.incident.id, outcome=verdict.outcome, error=verdict.error, files=files.own,
            files_while_ran=files.while_ran, files_by_others=files.by_others, after_ref=after,
            detail=redaction.redact_line(verdict.detail, MOST_DETAIL),
            duration_ms=max(0, (self._journal.now() - since) // 1000),
        )  # fmt: skip
        fault_point("incident.before_ended")
        await self._append(body)
        fault_point("incident.ended")

    async def _after_end(self, work: IncidentWork, facts: TurnFacts, verdict: Verdict) -> None:
        """End the batch's session where it cannot or need not go on; stop where a human has to look."""
        if verdict.error in ("timeout", "agent", "system"):
            await self._fail_child(work.child_id)
        elif self.state.is_last_of(batch_key(work.incident, self.state.options.batch)):
            await close_child_session(self._context, self._options.driver, work.child_id, is_done=True)
        on_expiry = self._context.recall_settings().config.approvals.on_expiry
        if verdict.error == "agent":
            raise _ListGivenBack("failed")
        if facts.outcome == "interrupted":
            raise _ListGivenBack("user")
        if (facts.outcome == "unattended" or work.answer == "expired") and on_expiry == "pause":
            raise _ListGivenBack("unattended")

    async def _fail_child(self, child_id: str) -> None:
        session = self._journal.session(child_id)
        if session is not None and session.status in ("initializing", "processing"):
            await self._writer.append(self._event(SessionStatusChanged(status="failed"), child_id))
        elif session is not None:
            await close_child_session(self._context, self._options.driver, child_id, is_done=False)

    # --- the agent's session ------------------------------------------------------------------------

    async def _drive_child(
        self, work: IncidentWork, until: Callable[[SessionProgress], bool], *, goes_on: bool = True
    ) -> None:
        session = self._journal.session(work.child_id)
        if goes_on and session is not None and session.open_turn is not None:
            # Its driver died, or it was paused in order; the human who let the list go on speaks for it too.
            await self._writer.append(self._event(ContinueRequested(), work.child_id))
        is_interrupted = False

        def is_over(progress: SessionProgress) -> bool:
            nonlocal is_interrupted
            self._catch_up()
            has_to_stop = self.state.is_cancelled or self.state.is_stopped
            if has_to_stop and not is_interrupted and progress.open_turn is not None:
                is_interrupted = True
                self._journal.append([self._event(InterruptRequested(), work.child_id)])
            return until(progress)

        progress = await drive_session(
            self._context,
            self._options.driver,
            work.child_id,
            until=is_over,
            on_events=self._options.on_events,
        )
        self._current_digests = None
        if self._options.is_stopped():
            raise _ListGivenBack("host lost")
        if progress.waiting and self._options.parks:
            raise _ListGivenBack("parked")

    def _has_rested(self, progress: SessionProgress) -> bool:
        if self._options.is_stopped():
            return True
        if not progress.is_resting:
            return False
        if progress.waiting:
            return self._options.parks
        return progress.is_idle or progress.session.reason in ("loop", "user")

    async def _prompt_again(self, work: IncidentWork) -> None:
        finding = self._comparison.matches.get(work.incident.id) if self._comparison else None
        detail = work.checked.detail if work.checked and finding is None else ""
        line = (work.checked.line if work.checked else 0) or self._line_now(work.incident)
        output = checked_output(self._journal, work.checked)
        await self._prompt_agent(
            work, next_prompt(work.incident, finding, line, detail, output), work.is_found
        )

    # --- the checker ----------------------------------------------------------------------------------

    async def _check(self, work: IncidentWork) -> None:
        before = await self._file_digests()
        fault_point("incident.before_check")
        result = await run_checker(self._context, self.state.checker)
        self._current_digests = None
        edited = changed_paths(before, await self._file_digests())
        body = self._check_body(work, result, edited)
        fault_point("incident.checked")
        await self._append(body)

    def _check_body(self, work: IncidentWork, result: CheckResult, edited: Sequence[str]) -> IncidentChecked:
        notes = [f"the checker changed {', '.join(edited[:5])}"] if edited else []
        ref = self._journal.blobs.record(result.output.encode()) if result.output else None
        incident_id = work.incident.id
        if result.findings is None:
            detail = "; ".join([f"the checker could not be used: {result.problem}", *notes])
            return IncidentChecked(
                incident=incident_id, outcome="not checked",
                detail=redaction.redact_line(detail, MOST_DETAIL), output_ref=ref,
                exit_code=result.exit_code, duration_ms=result.duration_ms,
            )  # fmt: skip
        self._comparison = self._compare_findings(result)
        finding = self._comparison.matches.get(incident_id)
        new_incidents = unseen(self._comparison.new, self._known_fingerprints)
        self._known_fingerprints.update(i.fingerprint for i in new_incidents)
        is_blind = finding is None and work.is_found is False and not self._is_known_to_checker(work.incident)
        if is_blind:
            notes.insert(0, "the checker did not find it before the change either")
        elif finding is not None:
            notes.insert(0, one_line(finding.message, 300))
        return IncidentChecked(
            incident=incident_id, detail="; ".join(notes)[:MOST_DETAIL], line=finding.line if finding else 0,
            outcome="not checked" if is_blind else "gone" if finding is None else "still there",
            new=new_incidents[:_MOST_NEW], new_count=len(new_incidents), exit_code=result.exit_code,
            duration_ms=result.duration_ms, output_ref=ref,
        )  # fmt: skip

    def _compare_findings(self, result: CheckResult) -> Comparison:
        assert result.findings is not None
        open_incidents = [i for i in self.state.incidents.values() if i.id not in self.state.fixed]
        comparison = compare(open_incidents, result.findings.incidents, self._current_line_carrier())
        self._reported_before.update(comparison.matches)
        return comparison

    # --- the human --------------------------------------------------------------------------------------

    async def _ask_human(self, work: IncidentWork, *, has_changed: bool) -> None:
        if not self._context.can_ask:
            verdict = Verdict(outcome="unchanged", detail=NOBODY_COULD_BE_ASKED)
            await self._end_incident(work, verdict)
            await self._after_end(work, TurnFacts(outcome="done"), verdict)
            return
        question = finding_question(self._context, self._id, work, has_changed=has_changed)
        await self._append(question, action_id=self._writer.new_id())
        fault_point("incident.asked")

    async def _changed_files(self, work: IncidentWork, facts: TurnFacts) -> ChangedFiles:
        changed = changed_paths(self._digests_before(work), await self._file_digests())
        return attribute_changes(changed, facts.written, facts.changed_while_ran)

    async def _wait_for_human(self) -> None:
        if self._options.parks:
            raise _ListGivenBack("parked")
        self._changed.clear()
        self._catch_up()
        work = self.state.current
        if work is not None and not work.answer and not self.state.is_cancelled:
            self._require_not_stopped()
            await self._changed.wait()
            self._current_digests = None
            self._catch_up()

    async def _undo(self, work: IncidentWork, facts: TurnFacts) -> None:
        """Take back what the agent's calls changed for this incident, the newest turn first."""
        why_not_all = ""
        if is_undo_open(self._journal, work.child_id):  # asked for by a driver that was killed then
            await self._drive_child(work, _is_at_rest)
        for turn_id in reversed(facts.turns):
            if why := request_turn_undo(self._journal, work.child_id, turn_id):
                why_not_all = why
                continue
            fault_point("incident.undo_requested")
            await self._drive_child(work, _is_at_rest)
        files = (await self._changed_files(work, facts)).own
        detail = "the checker still found it; what was changed is undone"
        if files:
            detail = f"the checker still found it; not all is undone: {why_not_all or 'a command changed it'}"
        verdict = Verdict(outcome="unchanged", detail=detail)
        await self._end_incident(work, verdict)
        await self._after_end(work, facts, verdict)

    # --- the end ------------------------------------------------------------------------------------------

    async def _skip_the_rest(self, work: IncidentWork | None) -> None:
        """Skip everything that is left; an agent at work is stopped first."""
        detail = f"the work was cancelled: {self.state.cancel_reason}".removesuffix(": ")
        if work is not None:
            self._journal.append([self._event(InterruptRequested(), work.child_id)])
            await self._drive_child(work, lambda p: p.is_resting and p.open_turn is None, goes_on=False)
            for action_id in pending_action_ids(self._journal, self._id):
                await self._append(ActionCancelled(why="the work was cancelled"), action_id=action_id)
            verdict = Verdict(outcome="skipped", detail=detail)
            await self._end_incident(work, verdict)
        while (waiting := self.state.next_work) is not None:
            await self._end_incident(waiting, Verdict(outcome="skipped", detail=detail))
