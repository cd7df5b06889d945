"""What a human asks for in the session of an agent: undo, the only call that runs here."""

import asyncio

from workbench.agents.planner import Undo
from workbench.domain.events import ErrorRaised, UndoRequested
from workbench.domain.rows import Call
from workbench.domain.values import UNDO_TOOL, GateVerdict
from workbench.host import redaction
from workbench.host.crash_recovery import recover_call
from workbench.host.executor import execute_call
from workbench.host.found_files import FILES_FOUND, put_back_request
from workbench.host.supervised_calls import AgentCalls
from workbench.host.undo_proposal import propose_undo


async def serve_requests(calls: AgentCalls) -> bool:
    """Do the first thing that a human asked for: the undo of a change, the only call that runs here."""
    if calls.state.undos:
        action_id, request_id, body = calls.state.undos[0]
        verdict = await propose_undo(
            calls.writer, Undo(action_id=action_id, request_id=request_id, body=body)
        )
        if verdict.outcome == "refused" and request_id in calls.put_back.values():
            await calls.writer.append(calls.writer.event(_not_put_back(body, verdict)))
        calls.catch_up()
        return True
    undo = next((call for call in _undo_calls(calls) if call.state == "approved"), None)
    if undo is not None:
        assert undo.tool == UNDO_TOOL
        await execute_call(calls.writer, undo.id, asyncio.Event())
        calls.catch_up()
        return True
    return await _put_back_rejected(calls)


def _not_put_back(body: UndoRequested, verdict: GateVerdict) -> ErrorRaised:
    paths = ", ".join(plan.path for plan in body.files)
    return ErrorRaised(
        code="not_put_back", message=redaction.redact_line(f"Not put back: {paths}."), details=verdict.reason,
        remedy="Look at what is there now, and correct it by hand.",
    )  # fmt: skip


def _undo_calls(calls: AgentCalls) -> list[Call]:
    rows = calls.writer.journal.calls(calls.writer.session_id, states=("approved", "executing"))
    return [row for row in rows if row.tool == UNDO_TOOL]


async def settle_own_calls(calls: AgentCalls) -> None:
    for call in _undo_calls(calls):
        if call.state == "executing":
            await recover_call(calls.writer, call.id)
    calls.catch_up()


async def _put_back_rejected(calls: AgentCalls) -> bool:
    """Ask for the undo of what a human does not keep of files that were found."""
    journal = calls.writer.journal
    while calls.rejected:
        action = journal.action(calls.rejected.pop())
        if action is None or action.kind != "files" or action.subject[FILES_FOUND] in calls.put_back:
            continue
        if request := put_back_request(journal, action):
            await calls.writer.append(calls.writer.event(request))
            calls.catch_up()
            return True
    return False
