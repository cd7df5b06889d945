"""Release reads that wait for a human once trust with reading, a rule, a mode or a setting allows them.

Only reads. Every other call that waits is answered by a human or expires (ARCHITECTURE.md, decision 6).
"""

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
# | H before R (`read.before_release`) | action pending | judges it anew; R, or it waits | ≤ 1 |
# | H in R | rolled back | as above | ≤ 1 |
# | H after R (`read.released`) | action cancelled, call approved | runs it, if the grant still holds | ≤ 1 |
# | S answers before R | approved or rejected | R is refused whole: the answer counts | ≤ 1 |
# | S answers after R | approved | `answer.refused {cancelled}`; the read runs once | 1 |
# | the grant ends before R | action pending | it waits for its human | 0 |
# | the grant ends after R | call approved | judged before it runs: `cancelled (grant gone)` | 0 |

from typing import Final

from workbench.agents.state import TurnState
from workbench.domain.events import ActionCancelled
from workbench.domain.machines import IllegalMoveError
from workbench.domain.rows import Action
from workbench.domain.values import RELEASED_PREFIX, GateVerdict
from workbench.effects.runtime import fault_point
from workbench.host.call_context import read_call_record
from workbench.host.driver_context import CallBytesMissing, SessionWriter
from workbench.host.gate_runner import judge_and_propose, proposal_events, recheck_before_execution
from workbench.journal.errors import GuardFailed

_RELEASE_REASONS: Final = {
    "trust": "you let agents read here",
    "session": "this session may read without asking",
    "approvals.read_only": "your settings let agents read",
}


class WaitingReads:
    """The waiting reads of one session, each judged again once the grants are others."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer
        self._judged: dict[str, object] = {}
        """The grants by which an action was judged last."""

    async def release_allowed(self, state: TurnState) -> None:
        """Release what a grant allows by now."""
        if not state.is_active:
            return
        waiting = self._reads()
        grants = self._grants() if waiting else None
        self._judged = {key: seen for key, seen in self._judged.items() if key in {a.id for a in waiting}}
        for action in waiting:
            if self._judged.get(action.id) != grants and action.call_id is not None:
                self._judged[action.id] = grants
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
        return rules, trust, self._writer.session().reads, context.loaded().config.approvals


async def _release_if_allowed(writer: SessionWriter, action: Action, call_id: str) -> None:
    record = read_call_record(writer.journal, call_id)
    if record.row.state != "pending" or record.action_id != action.id:
        return
    try:
        exact = writer.exact(record.row.parameters, record.row.parameters_ref)
    except CallBytesMissing:
        return
    # Hooks run only where all the rest allows it, and each once for a call.
    if recheck_before_execution(writer, record, exact)[0].outcome != "allowed":
        return
    verdict, proposal = await judge_and_propose(writer, record.row, exact, record.hooks)
    if verdict.outcome != "allowed" or proposal is None or proposal.changes:
        return
    cancelled = ActionCancelled(why=release_reason(verdict))
    fault_point("read.before_release")
    try:
        await writer.append(
            writer.call_event(cancelled, record.row, action.id),
            *proposal_events(writer, record.row, verdict, proposal, exact),
        )
    except (IllegalMoveError, GuardFailed):
        return  # a human's answer, or its end, came first
    fault_point("read.released")


def release_reason(verdict: GateVerdict) -> str:
    """Return why a waiting read needs no answer any more."""
    if verdict.rule:
        return f"{RELEASED_PREFIX}rule {verdict.rule} covers it now"
    return RELEASED_PREFIX + _RELEASE_REASONS.get(verdict.by, "your settings cover it now")
