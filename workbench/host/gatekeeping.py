"""Bring a call to the gate: fill the gate's context from the journal and the settings, record its verdict.

Owns the two transactions around a proposal (JOURNAL section 2, steps 2 and 3) and proposing anew
(stale, refreshed, restacked). Decides nothing itself.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Literal

from workbench.config.values import Loaded, Pattern
from workbench.domain.events import (
    ActionCancelled,
    ActionSuperseded,
    CallFinished,
    Event,
    HookRan,
    RuleUsed,
)
from workbench.domain.rows import Call
from workbench.domain.values import JsonObject, Verdict
from workbench.effects.faults import point
from workbench.effects.files import FileRefused
from workbench.host import hooks, trusting
from workbench.host.charge import WORKSPACES
from workbench.host.desk import Desk
from workbench.host.dossier import Dossier, dossier
from workbench.host.kit import Kit
from workbench.host.placing import place, url_rules
from workbench.host.proposal import Proposal, opened_body, propose, proposed_body
from workbench.policy.gate import GateCall, GateContext, Passed, after_hooks, before_hooks, judge, may_know
from workbench.policy.globs import Glob
from workbench.policy.paths import ResolvedPath
from workbench.policy.trust import TrustRefused
from workbench.tools.base import ToolRefused


def context(desk: Desk, loaded: Loaded) -> GateContext:
    """Return what the gate judges by, as it stands now."""
    kit, session = desk.kit, desk.session()
    approvals, trust = loaded.config.approvals, trusting.state(desk.kit.journal, desk.kit.governor)
    return GateContext(
        descriptors=kit.tools.descriptors(), provider=session.provider, active_tools=session.active_tools,
        workspace=kit.workspace, protected=_closed(kit), deny=(*kit.charge.deny, *_globs(approvals.deny)),
        allow=_globs(approvals.allow), ceiling=kit.charge.ceiling, rules=tuple(kit.journal.rules()),
        session_id=desk.session_id, run_id=kit.charge.run_id or None, now=kit.journal.now(),
        read_only=approvals.read_only, read_grant=trust.read_grant, can_ask=kit.can_ask,
        reads=session.reads, ended=trust.ended, hook_files=hooks.named_files(kit, loaded),
        urls=url_rules(loaded),
    )  # fmt: skip


def _closed(kit: Kit) -> tuple[str, ...]:
    """Return what no agent may touch: the data folder, but for the workspace that a step has in it."""
    home = str(kit.home.path)
    own = f"{home}/{WORKSPACES}"
    if not kit.workspace.startswith(f"{own}/"):
        return (home,)
    return tuple(str(name) for name in sorted(kit.home.path.iterdir()) if name.name != WORKSPACES)


def _globs(patterns: Sequence[Pattern]) -> tuple[Glob, ...]:
    return tuple(Glob(text=pattern.text, origin=pattern.origin.where()) for pattern in patterns)


async def gate(desk: Desk, call_id: str) -> None:
    """Judge a call that has no proposal yet, and record what came of it."""
    point("call.before_gate")
    file = dossier(desk.kit.journal, call_id)
    if file.proposed is not None or file.row.state != "pending":
        return
    exact = desk.exact(file.row.parameters, file.row.parameters_ref)
    verdict, proposal = await _judged(desk, file.row, exact, file.hooks, is_new=True)
    point("call.before_propose")
    await desk.append(*_recorded(desk, file.row, verdict, proposal, exact))
    point("call.proposed")


def still_allowed(desk: Desk, file: Dossier, exact: JsonObject) -> tuple[Verdict, Passed | None]:
    """Ask steps 1 to 4 and 6 again before execution: stricter wins, looser changes nothing."""
    now = replace(context(desk, desk.kit.loaded()), can_ask=True)
    passed = before_hooks(GateCall(tool=file.row.tool, parameters=exact), now)
    return (passed, None) if isinstance(passed, Verdict) else (after_hooks(passed, now), passed)


async def propose_anew(desk: Desk, call_id: str, why: str) -> None:
    """Replace an approved call whose base is not what it was: cancel it as stale and ask again (T4′)."""
    file = dossier(desk.kit.journal, call_id)
    exact = desk.exact(file.row.parameters, file.row.parameters_ref)
    row = replace(file.row, id=desk.new_id(), state="pending", proposed=False, action_id=None)
    verdict, proposal = await _judged(desk, row, exact)
    if verdict.outcome == "refused":
        why = f"{why}, and it can no longer be made: {verdict.reason}"
    ended = desk.call_event(CallFinished(state="cancelled", detail="stale", error=why), file.row)
    if verdict.outcome == "refused":
        await desk.append(ended)
        return
    events = _recorded(desk, row, verdict, proposal, exact, replaces=call_id, supersedes=file.action_id)
    await desk.append(ended, *events)


async def reopen(desk: Desk, call_id: str, why: Literal["refreshed", "restacked"]) -> None:
    """Replace a waiting action by one made from the files as they are now."""
    file = dossier(desk.kit.journal, call_id)
    row, old_id = file.row, file.action_id
    if row.state != "pending" or old_id is None:
        return
    exact = desk.exact(row.parameters, row.parameters_ref)
    verdict, proposal = await _judged(desk, row, exact)
    if verdict.outcome in ("refused", "denied") or proposal is None:
        await _withdraw(desk, row, old_id, verdict)
        return
    new_id = desk.new_id()
    superseded = desk.call_event(ActionSuperseded(successor=new_id, why=why), row, old_id)
    body = opened_body(desk, proposal, exact, _window(desk), supersedes=old_id)
    await desk.append(superseded, desk.call_event(body, row, new_id))


async def _withdraw(desk: Desk, row: Call, action_id: str, verdict: Verdict) -> None:
    error = f"it can no longer be made: {verdict.reason}"
    await desk.append(
        desk.call_event(ActionCancelled(why=error), row, action_id),
        desk.call_event(CallFinished(state="cancelled", detail="stale", error=error), row),
    )


async def _judged(
    desk: Desk, row: Call, exact: JsonObject, hooks_ran: Sequence[HookRan] = (), *, is_new: bool = False
) -> tuple[Verdict, Proposal | None]:
    """Judge a call and, if it may go on, compute what it would do.

    Args:
        desk: the session's desk.
        row: the call.
        exact: its parameters as the agent wrote them.
        hooks_ran: the hooks that have run for this very question already.
        is_new: no human has seen it yet, so nothing of a file that asks may be told.
    """

    async def run_hooks(passed: Passed) -> Verdict | None:
        written: list[Future[list[int]]] = []

        def ran(found: HookRan) -> None:
            written.append(desk.stream([desk.call_event(found, row)]))

        verdict = await hooks.before(desk.kit, passed, desk.session_id, hooks_ran, ran)
        # A hook is not run again by the next driver only if this one has written that it ran.
        await asyncio.gather(*map(asyncio.wrap_future, written))
        return verdict

    call = GateCall(tool=row.tool, parameters=exact)
    now = context(desk, desk.kit.loaded())
    if now.ended:
        await asyncio.to_thread(_ask_for_trust, desk.kit)
    judgement = await judge(call, now, run_hooks)
    verdict, passed = judgement.verdict, judgement.passed
    if passed is None or verdict.outcome in ("denied", "refused"):
        return verdict, None
    try:
        return verdict, await asyncio.to_thread(propose, desk, row, passed, place(desk, lambda: now))
    except (ToolRefused, FileRefused) as error:
        if is_new and passed.descriptor.capability == "write" and not _may_know(desk, passed, now):
            return _told_later(passed, str(error), now)
        return Verdict(outcome="refused", step="schema", by=passed.descriptor.id, reason=str(error)), None


def _may_know(desk: Desk, passed: Passed, now: GateContext) -> bool:
    """Say whether the agent may be told why a change cannot be made: the reason tells what the file holds."""
    return may_know(passed, now) or all(_was_read(desk, target) for target in passed.targets.values())


def _was_read(desk: Desk, target: ResolvedPath) -> bool:
    """Say whether the session has read a whole file, or made it."""
    done = desk.kit.journal.calls(desk.session_id, states=("succeeded",))
    return any(
        row.tool in _KNOWING and row.target == target.relative and not row.parameters.keys() & _PARTLY
        for row in done
    )


_KNOWING = ("read_file", "context.read", "create_file")
"""Tools by which a session knows the whole of a file."""

_PARTLY = {"start_line", "end_line"}


def _told_later(passed: Passed, why: str, now: GateContext) -> tuple[Verdict, Proposal | None]:
    """Ask a human before the agent hears why a change cannot be made to a file that it may not read."""
    said = "reading this file asks, so a human answers before the agent is told what came of it"
    if not now.can_ask:
        said = f"{said}, and nobody can answer here"
        return Verdict(outcome="denied", step="ask", by="default", reason=said), None
    return Verdict(outcome="ask", step="ask", by="default", reason=said), Proposal(passed=passed, refusal=why)


def _ask_for_trust(kit: Kit) -> None:
    """Put the question whose answer lets grants count again; where that fails, revoking does the same."""
    with contextlib.suppress(TrustRefused):
        trusting.ask(kit.journal, kit.governor)


def _recorded(
    desk: Desk,
    row: Call,
    verdict: Verdict,
    proposal: Proposal | None,
    exact: JsonObject,
    replaces: str | None = None,
    supersedes: str | None = None,
) -> list[Event]:
    events = [desk.call_event(proposed_body(desk, row, proposal, verdict, exact, replaces), row)]
    if verdict.outcome == "ask" and proposal is not None:
        body = opened_body(desk, proposal, exact, _window(desk), supersedes)
        events.append(desk.call_event(body, row, desk.new_id()))
    if verdict.outcome == "allowed" and verdict.rule:
        events.append(desk.call_event(RuleUsed(rule=verdict.rule), row))
    return events


def _window(desk: Desk) -> float:
    return desk.kit.loaded().config.approvals.window_minutes
