"""Where a tool works, filled from the session: the workspace, its limits, what its agent may not read.

Owns the translation of settings and journal into a `Place`. It decides nothing that the gate has not said,
and runs nothing.
"""

import asyncio
from collections.abc import Callable
from functools import cached_property

from workbench.changes.model import FileChange
from workbench.config.values import Loaded
from workbench.domain.events import FileChanged, PromptSubmitted
from workbench.domain.rows import Call
from workbench.domain.values import BlobRef
from workbench.host import record
from workbench.host.desk import Desk, SealedGone
from workbench.host.dossier import Dossier, dossier
from workbench.host.steps.tooling import DeskPipelines
from workbench.policy.gate import GateCall, GateContext, reading_denied, recheck
from workbench.policy.paths import PathRefused, ResolvedPath, refuse_protected
from workbench.policy.urls import UrlRules
from workbench.tools.base import LastCommand, Place, Session, ToolRefused

_COMMAND = "run_in_terminal"
_ENDED = ("succeeded", "failed", "cancelled", "interrupted")


def url_rules(loaded: Loaded) -> UrlRules:
    """Return which web addresses the settings allow."""
    fetch = loaded.config.fetch
    return UrlRules(allow_loopback=fetch.allow_loopback, allowed_hosts=fetch.allowed_hosts)


def place(
    desk: Desk,
    context: Callable[[], GateContext],
    stop: asyncio.Event | None = None,
    file: Dossier | None = None,
) -> Place:
    """Return the place of a session's tools.

    Args:
        desk: The session's desk.
        context: What the gate judges by; asked for only by a tool that searches.
        stop: Ends what takes long.
        file: The call, where it is about to run.
    """
    return Place(
        root=desk.kit.root,
        limits=desk.kit.limits(),
        is_stopped=stop.is_set if stop is not None else lambda: False,
        is_closed=_Closed(context),
        last_command=lambda: last_command(desk),
        urls=url_rules(desk.kit.loaded()),
        environment=desk.kit.environment,
        session=lambda: session_facts(desk),
        pipelines=DeskPipelines(desk),
        may_follow=lambda url: _objection(context(), file, url) if file is not None else None,
    )


def _objection(context: GateContext, file: Dossier, url: str) -> str | None:
    """Return why a redirect is not followed: what is denied stays denied, and a grant covers what it names.

    Who approved an address has seen only that one; where it leads is judged like every hop. What no human saw
    goes no further than the grant that let it pass.
    """
    verdict = recheck(GateCall(tool=file.row.tool, parameters={"url": url}), context)
    if verdict.outcome in ("denied", "refused"):
        return verdict.reason
    if file.approved is None and verdict.outcome != "allowed":
        return "what allowed the first address does not cover it; ask for this address itself"
    return None


class _Closed:
    """Says whether reading a file is denied, so that a search does not show what reading would not."""

    def __init__(self, context: Callable[[], GateContext]) -> None:
        self._ask = context

    @cached_property
    def _context(self) -> GateContext:
        return self._ask()

    @cached_property
    def _has_denials(self) -> bool:
        context = self._context
        return bool(context.deny) or any(rule.effect == "deny" for rule in context.rules)

    def __call__(self, relative: str) -> bool:
        """Say it of a path from the workspace."""
        context = self._context
        path = f"{context.workspace}/{relative}"
        target = ResolvedPath(path=path, relative=relative, exists=True, given=relative)
        try:
            refuse_protected(target, context.workspace, context.protected, writes=False)
            return self._has_denials and reading_denied(target, context) is not None
        except (PathRefused, ValueError):
            return True


def session_facts(desk: Desk) -> Session:
    """Return what the session was asked, scrubbed as it is recorded, and what its tools wrote.

    Raises:
        ToolRefused: Exact bytes of a file are not kept any more.
    """
    prompts: list[str] = []
    changes: list[FileChange] = []
    for event in desk.kit.journal.events(desk.session_id):
        match event.body:
            case PromptSubmitted() as said:
                prompts.append(said.text)
            case FileChanged() as changed:
                changes.append(_change(desk, changed))
            case _:
                pass
    title = record.scrubbed_line(desk.session().title)
    return Session(id=desk.session_id, title=title, prompts=tuple(prompts), changes=tuple(changes))


def _change(desk: Desk, changed: FileChanged) -> FileChange:
    def image(digest: str | None, ref: BlobRef | None) -> bytes | None:
        if digest is None:
            return None
        data = desk.unseal(ref) if ref else None
        if data is None:
            raise ToolRefused(
                f"the exact bytes of {changed.path} are not kept any more, so it cannot be committed"
            )
        return data

    return FileChange(
        path=changed.path,
        before=image(changed.before, changed.before_ref),
        after=image(changed.after, changed.after_ref),
        mode=changed.mode,
    )


def last_command(desk: Desk) -> LastCommand | None:
    """Return the last command of the session that ended."""
    ended = [row for row in desk.kit.journal.calls(desk.session_id, states=_ENDED) if row.tool == _COMMAND]
    for row in reversed(ended):
        found = _ended(desk, row)
        if found is not None:
            return found
    return None


def _ended(desk: Desk, row: Call) -> LastCommand | None:
    file = dossier(desk.kit.journal, row.id)
    if file.executing is None or file.finished is None:
        return None
    try:
        exact = desk.exact(row.parameters, row.parameters_ref)
    except SealedGone:
        exact = row.parameters
    finished = file.finished
    sealed = desk.unseal(finished.result_ref) if finished.result_ref else None
    return LastCommand(
        command=str(exact.get("command", "")),
        state=finished.state,
        exit_code=finished.exit_code,
        detail=finished.detail,
        output=finished.preview if sealed is None else sealed.decode("utf-8", "replace"),
        duration_ms=finished.duration_ms,
    )
