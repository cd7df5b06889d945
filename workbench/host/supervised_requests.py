"""What a human asks for in the session of an agent: undo, the only call that runs here."""

import asyncio

from workbench.agents.planner import Undo
from workbench.domain.events import UndoRequested
from workbench.domain.rows import Action, Call
from workbench.domain.values import UNDO_TOOL, FilePlan
from workbench.host.call_context import read_call_record
from workbench.host.crash_recovery import recover_call
from workbench.host.executor import execute_call
from workbench.host.supervised_calls import AgentCalls
from workbench.host.supervised_outcomes import FILES_FOUND
from workbench.host.undo_proposal import propose_undo


async def serve_requests(calls: AgentCalls) -> bool:
    """Do the first thing that a human asked for: the undo of a change, the only call that runs here."""
    if calls.state.undos:
        action_id, request_id, body = calls.state.undos[0]
        await propose_undo(calls.writer, Undo(action_id=action_id, request_id=request_id, body=body))
        calls.catch_up()
        return True
    undo = next((call for call in _undo_calls(calls) if call.state == "approved"), None)
    if undo is not None:
        assert undo.tool == UNDO_TOOL
        await execute_call(calls.writer, undo.id, asyncio.Event())
        calls.catch_up()
        return True
    return await _undo_rejected_files(calls)


def _undo_calls(calls: AgentCalls) -> list[Call]:
    rows = calls.writer.journal.calls(calls.writer.session_id, states=("approved", "executing"))
    return [row for row in rows if row.tool == UNDO_TOOL]


async def settle_own_calls(calls: AgentCalls) -> None:
    for call in _undo_calls(calls):
        if call.state == "executing":
            await recover_call(calls.writer, call.id)
    calls.catch_up()


async def _undo_rejected_files(calls: AgentCalls) -> bool:
    """Ask for the undo of a call whose files a human does not keep."""
    journal = calls.writer.journal
    rejected = journal.actions(session_id=calls.writer.session_id, states=("rejected",))
    for action in rejected:
        call_id = str(action.subject.get(FILES_FOUND, ""))
        if not call_id or _has_undo_request(calls, action, call_id):
            continue
        record = read_call_record(journal, call_id)
        files = tuple(
            FilePlan(
                path=change.path,
                base=change.after,
                after=change.before,
                mode=change.mode,
                after_ref=change.before_ref,
            )
            for change in record.changed
        )
        body = UndoRequested(calls=(call_id,), whole=(call_id,), files=files)
        await calls.writer.append(calls.writer.event(body))
        calls.catch_up()
        return True
    return False


def _has_undo_request(calls: AgentCalls, action: Action, call_id: str) -> bool:
    events = calls.writer.journal.events(calls.writer.session_id, after=action.opened_at)
    bodies = (event.body for event in events)
    return any(isinstance(body, UndoRequested) and call_id in body.calls for body in bodies)
