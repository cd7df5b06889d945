"""Take up an approved change again: the request for what its files lack, and the call that proposes it.

That is the rest of a change that was approved in part, or all of one that was undone. It is a call of its own
with its own diff, digest and window, and a human answers it; no model is asked.
"""

# | dies | found | next driver | executed |
# |---|---|---|---|
# | S before the request commits | nothing | nothing; the human asks again | 0 |
# | H before the proposal (`reopen.before_propose`) | the request | proposes it, from the files of then | 0 |
# | H in the transaction of the proposal | rolled back | as above | 0 |
# | H after it (`reopen.proposed`) | action pending | waits; the window runs by the clock | 0 |
# | later | as every other call | executed once after its approval | ≤ 1 |
#
# The call has the id of its request, so that hooks that ran for it are not run again. Two screens that ask at
# once get one row: the turn machine drops a request for an action that has one open.

import time

from workbench.agents.planner import Reopen
from workbench.domain.events import Event, HookRan, RefreshRequested
from workbench.domain.rows import Action, Call
from workbench.domain.values import REOPENS, Actor, Refused
from workbench.effects.fault_points import fault_point
from workbench.host.call_context import read_call_record
from workbench.host.driver_context import SessionWriter
from workbench.host.gate_runner import judge_and_propose, proposal_events
from workbench.host.session_requests import SessionRefused
from workbench.host.undo import UNDO_WAIT_SECONDS
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.journal.transaction import TransactionTables
from workbench.text.human import sentence
from workbench.views.reopening import why_not_reopen

NOT_REOPENED = "Nothing was proposed."
_WAITING = "SELECT 1 FROM action WHERE session_id = ? AND state = 'pending' AND json_extract(subject, ?) = ?"


def request_reopening(journal: Journal, action_id: str, actor: Actor) -> str:
    """Ask for what files lack of an approved action; return the request's id, which its call has too.

    Raises:
        SessionRefused: It was not approved, changes no file, waits already, or its session takes no request.
    """
    action = journal.action(action_id)
    if action is None:
        raise SessionRefused(NOT_REOPENED, f"There is no action {action_id}.", "List them first.")
    if is_imported_session(journal, action.session_id):
        why = "Its session came from a file and nobody works in it."
        raise SessionRefused(NOT_REOPENED, why, "workbench sessions fork starts one from its end.")

    objections: list[str] = []

    def work(live: TransactionTables, now: int) -> list[Event]:
        is_waiting = live.value(_WAITING, action.session_id, f"$.{REOPENS}", action.id) is not None
        objections[:] = [why_not_reopen(live.session(action.session_id), action, is_waiting=is_waiting)]
        body = RefreshRequested(is_approved=True)
        event = journal.event(body, action.session_id, actor, action_id=action.id, at=now)
        return [] if objections[0] else [event]

    events = journal.transact(work)
    if not events:
        reason, _, remedy = objections[0].partition("; ")
        raise SessionRefused(NOT_REOPENED, sentence(reason), sentence(remedy))
    return events[0].id


def wait_until_reopened(journal: Journal, request: str, what: str) -> Action:
    """Wait for the row that a request asked for and return it; Refused, with `what`, where none comes."""
    found = wait_for_proposal(journal, request)
    if isinstance(found, Action):
        return found
    if found is not None:
        raise Refused(what, found, "ask the agent for it in a prompt")
    why = f"no background process has answered for {UNDO_WAIT_SECONDS:.0f} s"
    raise Refused(what, why, "it is asked for all the same; see workbench host status")


def wait_for_proposal(journal: Journal, request: str) -> Action | str | None:
    """Wait for the row that a request asked for; return it, or the gate's reason where it proposed none.

    None: no background process has answered within `UNDO_WAIT_SECONDS`.
    """
    until = time.monotonic() + UNDO_WAIT_SECONDS
    while (left := until - time.monotonic()) > 0:
        cursor = journal.last_position()
        call = journal.call(request)
        action = journal.action(call.action_id) if call and call.action_id else None
        if action is not None:
            return action
        if call is not None and call.state == "rejected":
            return call.error
        journal.wait(cursor, min(left, 1.0))
    return None


async def propose_reopening(writer: SessionWriter, reopen: Reopen) -> None:
    """Propose what files lack of an approved action, or record why it can no longer be proposed."""
    fault_point("reopen.before_propose")
    action = writer.journal.action(reopen.action_id)
    if action is None or action.call_id is None:
        return
    first = read_call_record(writer.journal, action.call_id).row
    row = Call(
        id=reopen.request_id, session_id=writer.session_id, turn_id=None, ordinal=0,
        provider_call_id=f"again-{reopen.request_id}", tool=first.tool, state="pending",
        requested_at=writer.journal.now(), parameters=first.parameters, parameters_ref=first.parameters_ref,
        cwd=first.cwd, paths=first.paths,
    )  # fmt: skip
    exact = writer.exact(row.parameters, row.parameters_ref)
    verdict, proposal = await judge_and_propose(
        writer, row, exact, hooks_that_ran(writer, row.id), reopens=reopen.action_id
    )
    await writer.append(*await proposal_events(writer, row, verdict, proposal, exact))
    fault_point("reopen.proposed")


def hooks_that_ran(writer: SessionWriter, call_id: str) -> list[HookRan]:
    """Return the hooks that an earlier driver ran before it could write the proposal."""
    bodies = (event.body for event in writer.journal.call_events(call_id))
    return [body for body in bodies if isinstance(body, HookRan)]
