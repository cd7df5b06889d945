"""Where a tool works, filled from the session: the workspace, its limits, what its agent may not read.

Owns the translation of settings and journal into a `Place`. It decides nothing that the gate has not said,
and runs nothing.
"""

import asyncio
from collections.abc import Callable

from workbench.config.values import Loaded
from workbench.domain.rows import Call
from workbench.domain.values import JsonObject
from workbench.host.desk import Desk, SealedGone
from workbench.host.dossier import dossier
from workbench.policy.gate import GateContext, Passed, denied
from workbench.policy.paths import PathRefused, ResolvedPath, refuse_protected
from workbench.policy.urls import UrlRules
from workbench.text import canonical
from workbench.tools.base import LastCommand, Place

_COMMAND = "run_in_terminal"
_READING = "read_file"
_ENDED = ("succeeded", "failed", "cancelled", "interrupted")


def url_rules(loaded: Loaded) -> UrlRules:
    """Return which web addresses the settings allow."""
    fetch = loaded.config.fetch
    return UrlRules(allow_loopback=fetch.allow_loopback, allowed_hosts=fetch.allowed_hosts)


def place(desk: Desk, context: GateContext, stop: asyncio.Event | None = None) -> Place:
    """Return the place of a session's tools; `stop` ends what takes long."""
    return Place(
        root=desk.kit.root,
        limits=desk.kit.limits(),
        is_stopped=stop.is_set if stop is not None else lambda: False,
        is_closed=_closed(context),
        last_command=lambda: last_command(desk),
        urls=context.urls,
    )


def _closed(context: GateContext) -> Callable[[str], bool]:
    """Return whether reading a file is denied, so that a search does not show what reading would not."""
    descriptor = context.descriptors.get(_READING)
    has_denials = bool(context.deny) or any(rule.effect == "deny" for rule in context.rules)
    if descriptor is None:
        return lambda _: False

    def is_closed(relative: str) -> bool:
        target = ResolvedPath(
            path=f"{context.workspace}/{relative}", relative=relative, exists=True, given=relative
        )
        try:
            refuse_protected(target, context.workspace, context.protected, writes=False)
        except PathRefused:
            return True
        if not has_denials:
            return False
        parameters: JsonObject = {"path": relative}
        try:
            text = canonical.dumps(parameters)
        except ValueError:
            return True
        passed = Passed(
            descriptor=descriptor, parameters=parameters, targets={"path": target}, canonical=text
        )
        return denied(passed, context) is not None

    return is_closed


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
