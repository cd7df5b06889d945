"""Bring a call to the gate, compute what it would do, and record the verdict with the question for a human.

The two transactions around a proposal (JOURNAL section 2, steps 2 and 3), and proposing again. A proposal
builds on the after-images of earlier open calls. The workspace is never written here. Reads that wait are
released once trust with reading, a rule, a mode or a setting allows them; every other call that waits is
answered by a human or expires (ARCHITECTURE.md, decision 6).
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.changes.decision import SealedBytesMissing, approval_outcome, file_plans, sealed_changes
from workbench.changes.diff import (
    FileChange,
    changed_line_totals,
    decode_content,
    is_binary_content,
    make_hunks,
)
from workbench.changes.digest import action_digest, plan_digest_rows
from workbench.config.windows import approval_window_minutes
from workbench.domain.codec import to_json_value
from workbench.domain.events import (
    ActionCancelled,
    ActionOpened,
    ActionSuperseded,
    CallFinished,
    CallProposed,
    Event,
    HookRan,
    RuleUsed,
)
from workbench.domain.machines import IllegalMoveError
from workbench.domain.rows import Action, Call
from workbench.domain.sandbox_strength import BACKEND_BY_STRENGTH
from workbench.domain.tools import PATCH_TOOL
from workbench.domain.values import (
    RELEASED_PREFIX,
    REOPENS,
    FilePlan,
    GateVerdict,
    Hunk,
    JsonObject,
    Place,
    SandboxBackend,
    SandboxLevel,
)
from workbench.effects.fault_points import fault_point
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage
from workbench.host import redaction, workspace_trust
from workbench.host.call_context import (
    CallRecord,
    call_context,
    call_gate,
    edited_bytes,
    gate_call_of,
    is_command_call,
    read_call_record,
    run_hooks_before_call,
)
from workbench.host.driver_context import CallBytesMissing, DriverContext, SessionWriter
from workbench.host.governed_settings import GovernedSettings
from workbench.host.reopened_changes import reopened_changes
from workbench.host.session_sandbox import has_full_sandbox, prove_in_thread
from workbench.journal.errors import GuardFailed
from workbench.policy.gate import (
    OUTSIDE_MARK,
    GateContext,
    ScreenedCall,
    judge_call,
    judge_screened_call,
    may_hear_reason,
    screen_call,
)
from workbench.policy.levels import SANDBOX_SPEAKER, SandboxState
from workbench.policy.paths import ResolvedPath
from workbench.policy.trust import TrustRefused
from workbench.text import canonical
from workbench.text.display import DisplayPlace, has_mixed_script_host, json_strings, text_warnings
from workbench.text.human import MINUTE_MICROS
from workbench.text.safe import has_odd_spaces
from workbench.tools.base import ActTool, CallContext, CommitDraft, CommitTool, ToolRefused, WriteTool
from workbench.views.event_text import refusals_text

# A stale approved call is followed by a new call (own id, `replaces`, same provider call id, same place in
# the order), so that `cancelled` stays final in the call machine.
#
# A call that a tool cannot propose (a string that occurs twice, a file that exists) is `refused` with the
# tool as speaker. It never reaches the queue: there is nothing to show.


async def gate_call(writer: SessionWriter, call_id: str) -> None:
    """Judge a call that has no proposal yet and record the verdict."""
    fault_point("call.before_gate")
    record = read_call_record(writer.journal, call_id)
    if record.proposed is not None or record.row.state != "pending":
        return
    exact = writer.exact(record.row.parameters, record.row.parameters_ref)
    verdict, proposal = await judge_and_propose(writer, record.row, exact, record.hooks, is_new=True)
    fault_point("call.before_propose")
    await writer.append(*await proposal_events(writer, record.row, verdict, proposal, exact))
    fault_point("call.proposed")


class Recheck(Struct, frozen=True, kw_only=True):
    """What the gate says of a call that is about to run, and what it judged by."""

    verdict: GateVerdict
    screened: ScreenedCall | None
    """None where the call did not get as far as the hooks."""
    gate: GateContext


def recheck_before_execution(
    writer: SessionWriter, settings: GovernedSettings, record: CallRecord, exact: JsonObject
) -> Recheck:
    """Ask steps 1 to 4 and 6 again before execution: stricter wins, looser changes nothing.

    `settings` must be read for this call: an older reading may allow what is no longer trusted.
    """
    gate = replace(call_gate(writer, settings, record.row), can_ask=True)
    screened = screen_call(gate_call_of(record.row, exact, gate.workspace), gate)
    if isinstance(screened, GateVerdict):
        return Recheck(verdict=screened, screened=None, gate=gate)
    return Recheck(verdict=judge_screened_call(screened, gate), screened=screened, gate=gate)


StaleDetail = Literal["stale", "held", "sandbox gone"]


async def replace_stale_call(
    writer: SessionWriter, call_id: str, why: str, detail: StaleDetail = "stale"
) -> None:
    """Cancel an approved call whose base moved, or whose grant counts no more, and ask again (T4′).

    Without the sandbox that it was allowed in no grant counts: it would run with more than was said.
    """
    record = read_call_record(writer.journal, call_id)
    exact = writer.exact(record.row.parameters, record.row.parameters_ref)
    row = replace(record.row, id=writer.new_id(), state="pending", proposed=False, action_id=None)
    verdict, proposal = await judge_and_propose(writer, row, exact, reopens=_reopened_action(record))
    if detail == "sandbox gone" and verdict.outcome == "allowed" and verdict.place == "outside":
        verdict = _asked_without_sandbox(writer, why)
    if verdict.outcome == "refused":
        why = f"{why}, and it can no longer be made: {verdict.reason}"
    ended = writer.call_event(CallFinished(state="cancelled", detail=detail, error=why), record.row)
    if verdict.outcome == "refused":
        await writer.append(ended)
        return
    events = await proposal_events(
        writer, row, verdict, proposal, exact, replaces=call_id, supersedes=record.action_id
    )
    await writer.append(ended, *events)


def _asked_without_sandbox(writer: SessionWriter, why: str) -> GateVerdict:
    if writer.context.can_ask:
        return GateVerdict(outcome="ask", step="ask", by=SANDBOX_SPEAKER, reason=why, place="outside")
    reason = f"{why}, and nobody can answer here"
    return GateVerdict(outcome="denied", step="ask", by=SANDBOX_SPEAKER, reason=reason)


async def replace_waiting_action(
    writer: SessionWriter, call_id: str, why: Literal["refreshed", "restacked"]
) -> None:
    """Replace a waiting action by one made from the files as they are now."""
    record = read_call_record(writer.journal, call_id)
    row, old_id = record.row, record.action_id
    if row.state != "pending" or old_id is None:
        return
    exact = writer.exact(row.parameters, row.parameters_ref)
    verdict, proposal = await judge_and_propose(writer, row, exact, reopens=_reopened_action(record))
    if verdict.outcome in ("refused", "denied") or proposal is None:
        await _withdraw_action(writer, row, old_id, verdict)
        return
    body = await asyncio.to_thread(action_opened_body, writer, proposal, exact, old_id)
    new_id = writer.new_id()
    superseded = writer.call_event(ActionSuperseded(successor=new_id, why=why), row, old_id)
    await writer.append(superseded, writer.call_event(ask_from_now(writer, body), row, new_id))


def _reopened_action(record: CallRecord) -> str:
    return str(record.opened.subject.get(REOPENS, "")) if record.opened else ""


async def _withdraw_action(writer: SessionWriter, row: Call, action_id: str, verdict: GateVerdict) -> None:
    error = f"it can no longer be made: {verdict.reason}"
    await writer.append(
        writer.call_event(ActionCancelled(why=error), row, action_id),
        writer.call_event(CallFinished(state="cancelled", detail="stale", error=error), row),
    )


class Proposal(Struct, frozen=True, kw_only=True):
    """What a call would do: exact bytes, and which earlier calls it builds on."""

    screened: ScreenedCall
    changes: tuple[FileChange, ...] = ()
    on_top_of: tuple[str, ...] = ()
    draft: CommitDraft | None = None
    """The commit that the changes belong to."""
    refusal: str = ""
    """Why it cannot be done, where the agent is told so only after a human answered."""
    reopens: str = ""
    """The approved action of which it proposes what the files lack; empty for a call of an agent."""
    place: Place | None = None
    """Where a command runs if it is approved as it is shown."""
    level: SandboxLevel | None = None
    backend: SandboxBackend = "bubblewrap"

    @property
    def subject(self) -> JsonObject:
        if self.reopens:
            return {REOPENS: self.reopens}
        return self.draft.subject if self.draft else {}


_ASKED_BY_HUMAN: Final = GateVerdict(
    outcome="ask", step="ask", by="request", reason="you asked for it again, so its diff is shown first"
)


_ASKED_OF_PATCH: Final = GateVerdict(
    outcome="ask", step="ask", by="request", reason="it is a patch, so its diff is shown first"
)
_ASKED_OF_WIDE_PATCH: Final = GateVerdict(
    outcome="ask", step="ask", by="request",
    reason="it is a patch that creates, moves or deletes files, so its diff is shown first",
)  # fmt: skip


async def judge_and_propose(
    writer: SessionWriter,
    row: Call,
    exact: JsonObject,
    hooks_ran: Sequence[HookRan] = (),
    *,
    is_new: bool = False,
    reopens: str = "",
) -> tuple[GateVerdict, Proposal | None]:
    """Judge a call and, if it may go on, compute what it would do.

    `is_new`: no human has seen it yet, so nothing may be told of a file that asks first. `reopens`: the
    approved action of which what the files lack is proposed; no grant answers that.
    """

    async def run_hooks(screened: ScreenedCall) -> GateVerdict | None:
        writes: list[Future[list[int]]] = []

        def record_hook(hook: HookRan) -> None:
            writes.append(writer.stream(writer.call_event(hook, row)))

        verdict = await run_hooks_before_call(
            writer.context, settings.config, screened, writer.session_id, hooks_ran, record_hook
        )
        # A hook is not run again by the next driver only if this one has written that it ran.
        await asyncio.gather(*map(asyncio.wrap_future, writes))
        return verdict

    call = gate_call_of(row, exact, writer.context.workspace)
    settings = writer.context.read_settings()
    if is_command_call(writer.context, row):
        await prove_in_thread(writer.session(), settings, writer.context.prove_sandbox)
    gate = call_gate(writer, settings, row)
    if gate.ended:
        await asyncio.to_thread(_reopen_trust_question, writer.context)
    judgement = await judge_call(call, gate, run_hooks)
    verdict, screened = judgement.verdict, judgement.passed
    if screened is None or verdict.outcome in ("denied", "refused"):
        return verdict, None
    try:
        if reopens:
            return _ASKED_BY_HUMAN, await asyncio.to_thread(_reopened_proposal, writer, screened, reopens)
        proposal = await asyncio.to_thread(
            compute_proposal, writer, row, screened, call_context(writer, settings, gate=gate)
        )
        verdict = await asyncio.to_thread(_with_earlier_refusal, writer, row, screened, verdict)
        proposal = replace(
            proposal, place=verdict.place, level=_level_offered(verdict, gate.sandbox),
            backend="bubblewrap" if gate.sandbox is None else BACKEND_BY_STRENGTH[gate.sandbox.strength],
        )  # fmt: skip
        if row.tool == PATCH_TOOL:
            verdict = _patch_verdict(writer, verdict, proposal)
        return verdict, proposal
    except (ToolRefused, FileRefused) as error:
        if (
            is_new
            and screened.descriptor.capability == "write"
            and not _may_be_told_reason(writer, screened, gate)
        ):
            return _ask_before_telling(screened, str(error), gate)
        return GateVerdict(
            outcome="refused", step="schema", by=screened.descriptor.id, reason=str(error)
        ), None


def _with_earlier_refusal(
    writer: SessionWriter, row: Call, screened: ScreenedCall, verdict: GateVerdict
) -> GateVerdict:
    """Return a question to leave the sandbox with what it refused to the same command before."""
    if verdict.outcome != "ask" or verdict.place != "outside":
        return verdict
    name = screened.descriptor.command_parameter or ""
    for earlier in reversed(writer.journal.calls(writer.session_id)):
        if not earlier.refusals or earlier.tool != row.tool:
            continue
        with contextlib.suppress(CallBytesMissing):
            exact = writer.exact(earlier.parameters, earlier.parameters_ref)
            if exact.get(name) == screened.parameters.get(name):
                refused = f"the sandbox refused {refusals_text(earlier.refusals)}, when it ran before"
                return replace(verdict, reason=f"{refused}; {verdict.reason}" if verdict.reason else refused)
    return verdict


def _level_offered(verdict: GateVerdict, sandbox: SandboxState | None) -> SandboxLevel | None:
    """Return the level that a human may choose for a command; None where no sandbox can hold it."""
    is_possible = sandbox is not None and sandbox.strength != "none" and verdict.place is not None
    return sandbox.level if sandbox is not None and is_possible else None


def _patch_verdict(writer: SessionWriter, verdict: GateVerdict, proposal: Proposal) -> GateVerdict:
    """Return the verdict of a patch: a human's own always asks, an agent's if it does more than edit files.

    The rules that name edits say nothing of files that are created, moved or deleted.
    """
    if writer.session().kind != "supervised":
        return _ASKED_OF_PATCH
    edits_only = all(
        change.before is not None and change.after is not None and change.moved_from is None
        for change in proposal.changes
    )
    return verdict if edits_only or verdict.outcome != "allowed" else _ASKED_OF_WIDE_PATCH


def _may_be_told_reason(writer: SessionWriter, screened: ScreenedCall, gate: GateContext) -> bool:
    """Return whether the agent may hear why a change cannot be made: the reason quotes the file."""
    return may_hear_reason(screened, gate) or all(
        _was_read_whole(writer, target) for target in screened.named_paths.values()
    )


def _was_read_whole(writer: SessionWriter, target: ResolvedPath) -> bool:
    calls = writer.journal.calls(writer.session_id, states=("succeeded",))
    return any(
        row.tool in _WHOLE_FILE_TOOLS
        and row.target == target.relative
        and not row.parameters.keys() & _PARTIAL_READ_PARAMETERS
        for row in calls
    )


_WHOLE_FILE_TOOLS = ("read_file", "context.read", "create_file")
"""Tools by which a session knows the whole of a file."""
_PARTIAL_READ_PARAMETERS = {"start_line", "end_line"}


def _ask_before_telling(
    screened: ScreenedCall, refusal: str, gate: GateContext
) -> tuple[GateVerdict, Proposal | None]:
    reason = "reading this file asks, so a human answers before the agent is told what came of it"
    if not gate.can_ask:
        reason = f"{reason}, and nobody can answer here"
        return GateVerdict(outcome="denied", step="ask", by="default", reason=reason), None
    return GateVerdict(outcome="ask", step="ask", by="default", reason=reason), Proposal(
        screened=screened, refusal=refusal
    )


def _reopen_trust_question(context: DriverContext) -> None:
    """Ask for the trust again that grants need; where that fails, revoking does the same."""
    with contextlib.suppress(TrustRefused):
        config = context.recall_settings().config
        workspace_trust.open_trust_question(
            context.journal, context.governing_workspace,
            offers_sandbox=lambda: has_full_sandbox(config, context.prove_sandbox),
        )  # fmt: skip


async def proposal_events(
    writer: SessionWriter,
    row: Call,
    verdict: GateVerdict,
    proposal: Proposal | None,
    exact: JsonObject,
    replaces: str | None = None,
    supersedes: str | None = None,
) -> list[Event]:
    """Return the events of a verdict: `call.proposed`, and the question or the use of the rule.

    Their bodies are made in a thread: a large change takes seconds to compare, and other sessions go on.
    """
    proposed = await asyncio.to_thread(call_proposed_body, writer, row, proposal, verdict, exact, replaces)
    opened = None
    if verdict.outcome == "ask" and proposal is not None:
        opened = await asyncio.to_thread(action_opened_body, writer, proposal, exact, supersedes)
    events = [writer.call_event(proposed, row)]
    if opened is not None:
        asked = ask_from_now(writer, opened)
        events.append(writer.call_event(asked, row, writer.new_id()))
    if verdict.outcome == "allowed" and verdict.rule:
        events.append(writer.call_event(RuleUsed(rule=verdict.rule), row))
    return events


PATH_ARROW: Final = " -> "
"""Between the paths of a call that has two."""
MAX_INLINE_HUNK_BYTES = 262_144
"""Bytes of hunks kept in the event itself; larger ones go to a recorded blob."""


def compute_proposal(
    writer: SessionWriter, call: Call, screened: ScreenedCall, context: CallContext
) -> Proposal:
    """Compute what a call would change, on top of earlier open calls of its turn; may raise ToolRefused."""
    if OUTSIDE_MARK in screened.marks:
        return Proposal(screened=screened)  # no bytes are looked at there
    tool = writer.context.tools.get(screened.descriptor.id)
    if isinstance(tool, ActTool):
        tool.check(screened.grounded, context)
    if isinstance(tool, CommitTool):
        draft = tool.draft(screened.grounded, context)
        return Proposal(screened=screened, changes=draft.changes, draft=draft)
    if not isinstance(tool, WriteTool):
        return Proposal(screened=screened)
    stack = _StackedWorkspace(writer, call)
    changes = tool.propose(screened.grounded, stack.base)
    return Proposal(screened=screened, changes=changes, on_top_of=tuple(dict.fromkeys(stack.used)))


def _reopened_proposal(writer: SessionWriter, screened: ScreenedCall, action_id: str) -> Proposal:
    changes = reopened_changes(writer, action_id)
    return Proposal(screened=screened, changes=changes, reopens=action_id)


class _StackedWorkspace:
    """The workspace as it will be when every earlier open call of the turn is taken as shown."""

    def __init__(self, writer: SessionWriter, call: Call) -> None:
        self._root = writer.context.root
        self._earlier_changes: dict[str, tuple[str, FileChange]] = {}
        self.used: list[str] = []
        for earlier in _earlier_open_calls(writer, call):
            if isinstance(writer.context.tools.get(earlier.tool), CommitTool):
                continue
            for change in _expected_changes(writer, read_call_record(writer.journal, earlier.id)):
                self._earlier_changes[change.path] = (earlier.id, change)

    def base(self, path: str) -> FileImage | None:
        earlier_change = self._earlier_changes.get(path)
        if earlier_change is None:
            return self._root.image(path)
        call_id, change = earlier_change
        self.used.append(call_id)
        if change.after is None:
            return None
        return FileImage(data=change.after, mode=change.mode, size=len(change.after), links=1)


def _earlier_open_calls(writer: SessionWriter, call: Call) -> Iterator[Call]:
    for other in writer.journal.calls(writer.session_id, states=("pending", "approved", "executing")):
        if other.turn_id == call.turn_id and other.ordinal < call.ordinal and other.id != call.id:
            yield other


def _expected_changes(writer: SessionWriter, record: CallRecord) -> tuple[FileChange, ...]:
    blobs = writer.journal.blobs
    try:
        if record.opened is None:
            return sealed_changes(record.files, blobs)
        approved = record.approved
        edited = edited_bytes(writer, approved.edited) if approved else None
        return approval_outcome(record.opened, blobs, approved.selection if approved else None, edited)[0]
    except (SealedBytesMissing, ValueError):
        return ()


# --- what is recorded of it ------------------------------------------------------------------------


def sealed_plan(writer: SessionWriter, changes: tuple[FileChange, ...]) -> tuple[FilePlan, ...]:
    """Seal both images of every file and return the plan."""
    blobs = writer.journal.blobs
    return tuple(
        replace(
            row,
            base_ref=None if change.before is None else blobs.seal(change.before),
            after_ref=None if change.after is None else blobs.seal(change.after),
        )
        for change, row in zip(changes, file_plans(changes, blobs.keyed), strict=True)
    )


def call_proposed_body(
    writer: SessionWriter,
    call: Call,
    proposal: Proposal | None,
    verdict: GateVerdict,
    exact: JsonObject,
    replaces: str | None = None,
) -> CallProposed:
    """Return the `call.proposed` of a verdict; an allowed change carries its own plan."""
    recorded, ref = redaction.redact_parameters(exact, writer.journal.blobs)
    is_allowed = verdict.outcome == "allowed" and proposal is not None
    return CallProposed(
        tool=proposal.screened.descriptor.id if proposal else call.tool, verdict=verdict, parameters=recorded,
        parameters_ref=ref, provider_call_id=call.provider_call_id, replaces=replaces,
        target=_proposal_target(proposal) if proposal else "", cwd=call.cwd, paths=call.paths,
        asks_itself=call.asks_itself, on_top_of=proposal.on_top_of if proposal else (),
        files=sealed_plan(writer, proposal.changes) if is_allowed and proposal else (),
    )  # fmt: skip


def action_opened_body(
    writer: SessionWriter, proposal: Proposal, exact: JsonObject, supersedes: str | None = None
) -> ActionOpened:
    """Return the `action.opened` that asks a human about a proposal; `ask_from_now` gives it its times."""
    blobs, descriptor = writer.journal.blobs, proposal.screened.descriptor
    files = sealed_plan(writer, proposal.changes)
    recorded, parameters_ref = redaction.redact_parameters(exact, blobs)
    exact_hunks = make_hunks(proposal.changes)
    prompt = _proposal_prompt(proposal)
    recorded_hunks, was_scrubbed = redaction.redact_hunks(exact_hunks)
    inline, hunks_ref = inline_or_stored_hunks(writer, recorded_hunks)
    added, removed = changed_line_totals(exact_hunks)
    return ActionOpened(
        action_kind="tool", tool=descriptor.id, target=_proposal_target(proposal), verb=descriptor.verb,
        digest=action_digest(
            blobs.keyed, kind="tool", tool=descriptor.id, parameters=exact, cwd=proposal.screened.folder,
            files=plan_digest_rows(files), prompt=prompt,
        ),
        created_at=0, expires_at=None, cwd=proposal.screened.folder,
        parameters=recorded, parameters_ref=parameters_ref, files=files, hunks=inline, hunks_ref=hunks_ref,
        added=added, removed=removed, supersedes=supersedes, prompt=prompt,
        subject=proposal.subject,
        subject_ref=proposal.draft.subject_ref if proposal.draft else None,
        warnings=tuple(_proposal_warnings(proposal, exact, was_scrubbed)),
        place=proposal.place, level=proposal.level,
        backend="bubblewrap" if proposal.level is None else proposal.backend,
    )  # fmt: skip


def ask_from_now(writer: SessionWriter, opened: ActionOpened) -> ActionOpened:
    """Return a question whose window begins now: comparing a large change took none of it."""
    approvals, workspace = writer.context.recall_settings().config.approvals, writer.context.workspace
    minutes, now = approval_window_minutes(approvals, opened.verb, workspace), writer.journal.now()
    expires_at, ends_at = now + round(minutes * MINUTE_MICROS), _end_of_wait(writer, now)
    if ends_at is not None:
        expires_at = min(expires_at, ends_at)
    return replace(opened, created_at=now, expires_at=expires_at, ends_at=ends_at)


_MARGIN_SECONDS: Final = 60.0
"""Seconds before an agent stops waiting at which its question ends; a tenth of its wait where less."""


def _end_of_wait(writer: SessionWriter, now: int) -> int | None:
    """Return when a question has to end because its agent stops waiting; None if it never does."""
    waits = writer.context.most_wait_seconds
    return None if waits is None else now + round((waits - min(_MARGIN_SECONDS, waits / 10)) * 1_000_000)


def _proposal_prompt(proposal: Proposal) -> str | None:
    if proposal.refusal:
        return f"{redaction.redact_line(proposal.refusal, 4_000)}\n\n{_PROMPT_BEFORE_TELLING}"
    return proposal.draft.words if proposal.draft else None


_PROMPT_BEFORE_TELLING = (
    "Nothing is written. The agent may not read this: approve to tell it why, reject to tell it nothing."
)


def inline_or_stored_hunks(
    writer: SessionWriter, hunks: tuple[Hunk, ...]
) -> tuple[tuple[Hunk, ...], str | None]:
    """Return hunks as an event holds them: in itself, or by the blob that they are recorded in."""
    data = canonical.dumps(to_json_value(hunks)).encode()
    if len(data) <= MAX_INLINE_HUNK_BYTES:
        return hunks, None
    return (), writer.journal.blobs.record(data)


def _proposal_target(proposal: Proposal) -> str:
    if proposal.draft is not None:
        return redaction.redact_target(proposal.draft.target)
    screened = proposal.screened
    name = screened.descriptor.target_parameter
    if screened.descriptor.id == PATCH_TOOL:
        return redaction.redact_target(_moved_paths(proposal.changes) or proposal.changes[0].path)
    if name is None:
        return redaction.redact_target(_files_target(screened)) or screened.descriptor.id
    if name in screened.targets:
        exact = PATH_ARROW.join(target.relative for target in screened.targets.values())
    else:
        exact = str(screened.parameters.get(name, ""))
    return redaction.redact_target(exact)


def _files_target(screened: ScreenedCall) -> str:
    """Return the files that a call names elsewhere than in its parameters: the first, and how many more."""
    first, *more = (file.relative for file in screened.files) if screened.files else ("",)
    return f"{first} and {len(more)} more" if more else first


def _moved_paths(changes: Sequence[FileChange]) -> str:
    """Return both paths of a change that is one move and nothing else."""
    first, *others = changes
    is_move = first.moved_from is not None and len(others) == 1
    return f"{first.moved_from}{PATH_ARROW}{first.path}" if is_move else ""


def _proposal_warnings(proposal: Proposal, exact: JsonObject, was_scrubbed: bool) -> Iterator[str]:
    if was_scrubbed:
        yield "scrubbed"
    yield from proposal.screened.marks
    yield from dict.fromkeys(_parameter_oddities(proposal.screened, exact))
    if proposal.screened.view is not None:
        yield from (mark for mark in proposal.screened.view.marks if mark == "runs net")
    yield from change_warnings(proposal.changes)


def change_warnings(changes: Sequence[FileChange]) -> Iterator[str]:
    """Yield what a reader of changes has to be warned of."""
    sides = [side for change in changes for side in (change.before, change.after) if side is not None]
    if any(is_binary_content(side) for side in sides):
        yield "binary"
    elif any(decode_content(side)[1] for side in sides):
        yield "latin-1"
    moved = {change.moved_from for change in changes}
    if any(change.after is None and change.path not in moved for change in changes):
        yield "deletes"
    if any(change.before is None and change.mode & 0o111 and not change.moved_from for change in changes):
        yield "executable"


def _parameter_oddities(screened: ScreenedCall, exact: JsonObject) -> Iterator[str]:
    """Yield what a reader would overlook in the parameters."""
    for name, value in exact.items():
        is_command = name == screened.descriptor.command_parameter
        where: DisplayPlace = "approval_command" if is_command else "diff_preview"
        for text in json_strings(value):
            yield from (oddity for oddity in text_warnings(text, where) if is_command or oddity != "long")
            if name in screened.descriptor.path_parameters and has_odd_spaces(text):
                yield "odd spaces"
            if name == screened.descriptor.url_parameter and has_mixed_script_host(text):
                yield "mixed scripts"


# Why reads may: an approval binds bytes, and a read has none. A row of a read shows no change that a later
# grant could let through unseen; asking for the same read again would ask the gate that is asked here.
#
# The call is judged whole: a workspace that was trusted a moment ago has hooks that have not seen it.
#
# One transaction (R): `action.cancelled` (why), `call.proposed` (allowed, spoken by the grant), `rule.used`
# where a rule is it. Then the steps of an allowed call: judged once more, `call.executing`, `call.finished`.
#
# | dies | found | whoever takes over | executed |
# |---|---|---|---|
# | H before R (`read.before_release`) | action pending | judges it again; R, or it waits | ≤ 1 |
# | H in R | rolled back | as above | ≤ 1 |
# | H after R (`read.released`) | action cancelled, call approved | runs it, if the grant still holds | ≤ 1 |
# | S answers before R | approved or rejected | R is refused whole: the answer counts | ≤ 1 |
# | S answers after R | approved | `answer.refused {cancelled}`; the read runs once | 1 |
# | the grant ends before R | action pending | it waits for its human | 0 |
# | the grant ends after R | call approved | judged before it runs: `cancelled (grant gone)` | 0 |


_RELEASE_REASONS: Final = {
    "trust": "you let agents read here",
    "session": "this session may read without asking",
    "approvals.read_only": "your settings let agents read",
}


class WaitingReads:
    """The waiting reads of one session, each judged again once the grants are others."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer
        self._judged_by: dict[str, object] = {}
        """The grants by which an action was judged last."""

    async def release_allowed(self, *, is_active: bool) -> None:
        """Release what a grant allows by now; nothing in a session whose calls may not run."""
        if not is_active:
            return
        waiting = self._reads()
        grants = self._grants() if waiting else None
        self._judged_by = {
            key: judged_by for key, judged_by in self._judged_by.items() if key in {a.id for a in waiting}
        }
        for action in waiting:
            if self._judged_by.get(action.id) != grants and action.call_id is not None:
                self._judged_by[action.id] = grants
                await _release_if_allowed(self._writer, action, action.call_id)

    def _reads(self) -> list[Action]:
        waiting = self._writer.journal.actions(session_id=self._writer.session_id, states=("pending",))
        return [action for action in waiting if action.kind == "tool" and self._is_read(action)]

    def _is_read(self, action: Action) -> bool:
        tool = self._writer.context.tools.get(action.tool or "")
        if tool is None:
            return False
        return (tool.descriptor.capability, tool.descriptor.risk_level) == ("read", "read_only")

    def _grants(self) -> object:
        context, journal = self._writer.context, self._writer.journal
        rules = tuple(rule.id for rule in journal.rules())
        trust = journal.trust(context.governing_workspace)
        approvals = context.refresh_settings().config.approvals  # each is judged by what is read for it
        return rules, trust, journal.agent_hold(), self._writer.session().reads, approvals


async def _release_if_allowed(writer: SessionWriter, action: Action, call_id: str) -> None:
    record = read_call_record(writer.journal, call_id)
    if record.row.state != "pending" or record.action_id != action.id:
        return
    try:
        exact = writer.exact(record.row.parameters, record.row.parameters_ref)
    except CallBytesMissing:
        return
    # Hooks run only where all the rest allows it, and each once for a call.
    settings = writer.context.read_settings()
    if recheck_before_execution(writer, settings, record, exact).verdict.outcome != "allowed":
        return
    verdict, proposal = await judge_and_propose(writer, record.row, exact, record.hooks)
    if verdict.outcome != "allowed" or proposal is None or proposal.changes:
        return
    cancelled = ActionCancelled(why=release_reason(verdict))
    fault_point("read.before_release")
    try:
        await writer.append(
            writer.call_event(cancelled, record.row, action.id),
            *await proposal_events(writer, record.row, verdict, proposal, exact),
        )
    except (IllegalMoveError, GuardFailed):
        return  # a human's answer, or its end, came first
    fault_point("read.released")


def release_reason(verdict: GateVerdict) -> str:
    """Return why a waiting read needs no answer any more."""
    if verdict.rule:
        return f"{RELEASED_PREFIX}rule {verdict.rule} covers it now"
    return RELEASED_PREFIX + _RELEASE_REASONS.get(verdict.by, "your settings cover it now")
