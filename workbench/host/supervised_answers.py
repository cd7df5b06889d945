"""Ask about a call of an agent, and hand its answer over: committed before it leaves, and at most once."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from msgspec.structs import replace

from workbench.changes.decision import SealedBytesMissing
from workbench.changes.diff import FileChange
from workbench.domain.events import ActionCancelled, CallExecuting, CallFinished, Event
from workbench.domain.rows import Call
from workbench.domain.values import JsonObject, PermissionPattern
from workbench.effects.fault_points import fault_point
from workbench.effects.files import FileImage
from workbench.host import redaction
from workbench.host.approved_change import (
    HELD,
    HELD_WHY,
    ExecutionRefusal,
    approved_changes,
    has_base_changed,
    left_out_hunks,
    note_for_model,
    recheck_call,
    write_plan,
)
from workbench.host.call_context import CallRecord, read_call_record
from workbench.host.driver_context import CallBytesMissing, SessionWriter
from workbench.host.gate_runner import (
    judge_and_propose,
    proposal_events,
    replace_stale_call,
    replace_waiting_action,
)
from workbench.host.supervised_calls import UNNAMED, AgentCalls, Waiter, Waiting, call_digest, denial
from workbench.host.supervised_session import announced_call, announcement
from workbench.journal.errors import AgentsAreHeld
from workbench.policy.gate import ScreenedCall
from workbench.policy.permissions import permission_matches
from workbench.supervised.machine import IncomingCall
from workbench.supervised.messages import Ask, CallAnswer, OwnRule
from workbench.supervised.tools import ForeignWriteTool, InputNotPossible, named_files
from workbench.text import canonical
from workbench.text.human import sentence

MOST_OPEN_CALLS: Final = 64
"""Calls of one session that may be open at once; further ones are denied."""
_MOST_INPUT_CHARACTERS: Final = 3_000
"""Characters of an input that a denial names as the one to make instead."""


def attach(calls: AgentCalls, call_id: str, asked: IncomingCall, waiter: Waiter) -> None:
    waiting = calls.waiting.setdefault(call_id, Waiting(digest=asked.digest))
    for other in waiting.waiters:
        other.connection.send(denial(other.nonce, "The same call was asked again, and is answered there."))
    waiting.waiters, waiting.left_at = [waiter], None
    waiting.is_asked_there = waiter.is_asked_there
    waiting.nonces.add(waiter.nonce)


async def announce(calls: AgentCalls, ask: Ask, asked: IncomingCall, cwd: str, waiter: Waiter) -> None:
    """Record a call, its verdict and its question in one transaction."""
    if not calls.tools.admit(ask.tool):
        waiter.connection.send(denial(ask.nonce, "A tool of this name cannot be judged here."))
        return
    if len(calls.open_calls()) >= MOST_OPEN_CALLS:
        waiter.connection.send(
            denial(ask.nonce, f"{MOST_OPEN_CALLS} calls of this session are open already.")
        )
        return
    is_first = not calls.turn_id
    turn_id = calls.turn_id or calls.writer.new_id()
    call = announced_call(
        calls.writer, turn_id, calls.round + 1, key=ask.call or f"{UNNAMED}{ask.nonce}", tool=ask.tool,
        given=ask.input, cwd=cwd, paths=named_files(ask.tool, ask.input),
    )  # fmt: skip
    writer = _writer_of(calls, ask)
    verdict, proposal = await judge_and_propose(writer, call, ask.input)
    if verdict.outcome == "allowed" and proposal is None:
        verdict = replace(verdict, outcome="refused", reason="it cannot be computed what it would do")
    if proposal is not None and ask.own_rules:
        is_asked_too = await asyncio.to_thread(asks_itself, ask.own_rules, proposal.screened)
        call = replace(call, asks_itself=is_asked_too)
    events = [
        *announcement(calls.writer, call, is_first=is_first),
        *await proposal_events(writer, call, verdict, proposal, ask.input),
    ]
    is_handed = verdict.outcome == "allowed" and proposal is not None and not proposal.changes
    is_handed = is_handed and await _announce_handed(calls, call, events)
    if not is_handed:
        await calls.writer.append(*events)
    fault_point("supervised.asked")
    calls.turn_id, calls.round = turn_id, calls.round + 1
    attach(calls, call.id, asked, waiter)
    if is_handed:
        _send_allowance(calls, CallAnswer(nonce=ask.nonce, outcome="allow"), call.id)
    calls.catch_up()


async def _announce_handed(calls: AgentCalls, call: Call, events: Sequence[Event]) -> bool:
    """Record an allowed call that changes no known file as handed over already, in one transaction.

    It was judged a moment ago, and no bytes of it have to be compared. False if agents are held by now.
    """
    try:
        await calls.writer.append(*events, calls.writer.call_event(CallExecuting(), call))
    except AgentsAreHeld:
        return False
    return True


def _send_allowance(calls: AgentCalls, answer: CallAnswer, call_id: str) -> None:
    """Answer a call whose handing over is committed; nothing answers it again."""
    fault_point("supervised.executing")
    waiting = calls.waiting[call_id]
    waiter, waiting.waiters = waiting.waiters[-1], []
    waiter.connection.send(replace(answer, nonce=waiter.nonce))
    fault_point("supervised.answered")


def asks_itself(rules: Sequence[OwnRule], screened: ScreenedCall) -> bool:
    """Return whether an agent's own rules ask its user about a call: the last that matches counts."""
    for rule in reversed(rules):
        is_matched = permission_matches(
            PermissionPattern(text=rule.pattern), screened.descriptor, screened.parameters,
            screened.named_paths, screened.view, purpose="deny" if rule.asks else "grant",
        )  # fmt: skip
        if is_matched:
            return rule.asks
    return False


def _writer_of(calls: AgentCalls, ask: Ask) -> SessionWriter:
    """Return a writer whose questions end before the agent stops waiting."""
    if ask.waits is None:
        return calls.writer
    context = replace(calls.writer.context, most_wait_seconds=ask.waits)
    return SessionWriter(context, calls.writer.session_id, calls.writer.guard)


def deny(calls: AgentCalls, call_id: str) -> None:
    reason = _denial_reason(calls, call_id)
    waiting = calls.waiting.pop(call_id, None)
    for waiter in waiting.waiters if waiting else ():
        waiter.connection.send(denial(waiter.nonce, reason))


def _denial_reason(calls: AgentCalls, call_id: str) -> str:
    row = calls.writer.journal.call(call_id)
    action = calls.writer.journal.action(row.action_id) if row and row.action_id else None
    if row is None:
        return "The call no longer exists."
    if action is not None and action.state == "rejected":
        if not action.reason:
            return "The user rejected this. Ask what to do instead."
        return sentence(f"The user rejected this: {action.reason}")
    if row.state == "expired":
        return "The user did not answer in time, so it was not allowed. Do not retry it unasked."
    return row.error or row.detail or f"It is {row.state}."


async def hand_over(calls: AgentCalls, call_id: str) -> None:
    """Check an approved call once more, commit that it was handed over, then answer: at most once."""
    record = read_call_record(calls.writer.journal, call_id)
    settings = calls.writer.context.read_settings()
    try:
        exact = calls.writer.exact(record.row.parameters, record.row.parameters_ref)
        permitted = recheck_call(calls.writer, settings, record, exact)
        if isinstance(permitted, ExecutionRefusal):
            await _refuse(calls, record, permitted)
            return
        screened = permitted.screened
        changes = approved_changes(calls.writer, record)
        new_input = None if screened is None else _chosen_input(calls, record, screened, exact, changes)
        if new_input is not None and not calls.waiting[call_id].waiters[-1].takes_input:
            await _cancel(calls, record, _needs_own_input(calls, record, new_input))
            return
    except (CallBytesMissing, SealedBytesMissing) as error:
        await _cancel(calls, record, ExecutionRefusal(detail="sealed bytes gone", error=str(error)))
        return
    except InputNotPossible as error:
        why = f"the agent's tool cannot write what was chosen: {error}"
        await _cancel(calls, record, ExecutionRefusal(detail="not possible", error=why))
        return
    if await asyncio.to_thread(has_base_changed, calls.writer, changes):
        await _replace(calls, call_id, "the file changed after it was approved")
        return
    if not record.is_whole and all(change.before == change.after for change in changes):
        await _cancel(
            calls, record, ExecutionRefusal(detail="nothing taken", error="no part of it was approved")
        )
        return
    await _commit_and_answer(calls, record, changes, new_input)


async def _commit_and_answer(
    calls: AgentCalls, record: CallRecord, changes: tuple[FileChange, ...], new_input: JsonObject | None
) -> None:
    plan = await asyncio.to_thread(write_plan, calls.writer, changes)
    fault_point("supervised.before_executing")
    body = CallExecuting(digest=record.digest, plan=plan)
    try:
        await calls.writer.append(calls.writer.call_event(body, record.row))
    except AgentsAreHeld:
        await _replace(calls, record.row.id, HELD_WHY, HELD)
        return
    if new_input is not None:
        digest = call_digest(record.row.tool, new_input, record.row.cwd)
        calls.waiting[record.row.id].handed_digest = digest
    note = note_for_model(calls.writer, record)
    answer = CallAnswer(nonce="", outcome="allow", input=new_input, note=note)
    _send_allowance(calls, answer, record.row.id)


def _chosen_input(
    calls: AgentCalls,
    record: CallRecord,
    screened: ScreenedCall,
    exact: JsonObject,
    changes: Sequence[FileChange],
) -> JsonObject | None:
    """Return the input that writes what was chosen; None where the agent's own does."""
    if record.is_whole:
        return None
    tool = calls.tools.get(record.row.tool)
    if not isinstance(tool, ForeignWriteTool):
        raise InputNotPossible("it changes no file that is known")
    wanted = [change for change in changes if change.before != change.after]
    if not wanted:
        return None
    names = {file.relative: file.given for file in screened.files}
    chosen = tool.input_for(exact, wanted, names)
    own = {name: value for name, value in chosen.items() if name not in screened.targets}
    made = tool.propose({**screened.grounded, **own}, _images_before(changes).get)
    if sorted(_images(made)) != sorted(_images(wanted)):
        raise InputNotPossible("its input would write other bytes")
    return chosen


def _needs_own_input(calls: AgentCalls, record: CallRecord, chosen: JsonObject) -> ExecutionRefusal:
    """Return the reason, for the model, why a call that its agent cannot make in part is denied."""
    exact = canonical.dumps(chosen)
    is_whole = redaction.redact_line(exact, _MOST_INPUT_CHARACTERS) == exact
    if record.approved is not None and record.approved.edited:
        why = "The user wants other bytes than these, and a change can only be made as a whole."
        why = why if is_whole else f"{why} Ask the user"
    else:
        left = ", ".join(left_out_hunks(calls.writer, record))
        why = f"The user approved only a part of this. Make the change again without this: {left}"
    if is_whole:
        why = f"{why} Make it with exactly this input: {exact}"
    return ExecutionRefusal(detail="not possible", error=why)


async def _cancel(calls: AgentCalls, record: CallRecord, refusal: ExecutionRefusal) -> None:
    body = CallFinished(state="cancelled", detail=refusal.detail, error=refusal.error)
    await calls.writer.append(calls.writer.call_event(body, record.row))


async def _refuse(calls: AgentCalls, record: CallRecord, refusal: ExecutionRefusal) -> None:
    """End a call that may not be made any more; one that a hold stopped is asked about."""
    if refusal.detail == HELD:
        await _replace(calls, record.row.id, HELD_WHY, HELD)
    else:
        await _cancel(calls, record, refusal)


async def _replace(
    calls: AgentCalls, call_id: str, why: str, detail: Literal["stale", "held"] = "stale"
) -> None:
    """Propose an approved call again; those who wait for it wait for the one that replaces it."""
    await replace_stale_call(calls.writer, call_id, why, detail)
    row = calls.writer.journal.call(call_id)
    if row is not None and row.replaced_by is not None and call_id in calls.waiting:
        calls.waiting[row.replaced_by] = calls.waiting.pop(call_id)


async def restack(calls: AgentCalls, call_id: str) -> None:
    row = calls.writer.journal.call(call_id)
    if row is not None and row.state == "approved":
        await _replace(calls, call_id, "an earlier change that it builds on was not made as shown")
    else:
        await replace_waiting_action(calls.writer, call_id, "restacked")


async def withdraw(calls: AgentCalls, call_id: str, why: str) -> None:
    """Cancel a call that was not handed over."""
    if events := withdrawal_events(calls, call_id, why):
        await calls.writer.append(*events)


def withdrawal_events(calls: AgentCalls, call_id: str, why: str) -> list[Event]:
    """Return the events that cancel a call; none for one that was handed over or is settled."""
    row = calls.writer.journal.call(call_id)
    if row is None or row.state not in ("pending", "approved"):
        return []
    action = calls.writer.journal.action(row.action_id) if row.action_id else None
    body = CallFinished(state="cancelled", detail="withdrawn", error=why)
    events = [calls.writer.call_event(body, row)]
    if action is not None and action.state == "pending":
        events.insert(0, calls.writer.call_event(ActionCancelled(why=why), row, action.id))
    return events


def _images_before(changes: Sequence[FileChange]) -> Mapping[str, FileImage]:
    return {
        change.path: FileImage(data=change.before, mode=change.mode, size=len(change.before), links=1)
        for change in changes
        if change.before is not None
    }


def _images(changes: Sequence[FileChange]) -> list[tuple[str, bytes]]:
    return [(change.path, b"-" if change.after is None else b"+" + change.after) for change in changes]
