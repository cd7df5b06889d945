"""What one call is judged and run with: its record, the gate's context, its hooks, the context of its tool.

All of it is read from the journal and the settings as they are now. It decides nothing that the gate has not
said.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct, field

from workbench.changes.diff import FileChange
from workbench.config.types import ApprovalPattern, LoadedConfig, ToolHook
from workbench.domain.events import (
    ActionApproved,
    ActionOpened,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    FileChanged,
    HookRan,
    ProcessStarted,
    PromptSubmitted,
)
from workbench.domain.rows import Call
from workbench.domain.values import BlobRef, FilePlan, GateVerdict
from workbench.effects.child_processes import HookExit, run_hook
from workbench.host import redaction, workspace_trust
from workbench.host.driver_context import (
    STEP_WORKSPACES_FOLDER,
    CallBytesMissing,
    DriverContext,
    SessionWriter,
)
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.journal import Journal
from workbench.policy import hooks
from workbench.policy.gate import GateCall, GateContext, ScreenedCall, read_deny_verdict, recheck_call
from workbench.policy.hooks import HookPayload, HookRule
from workbench.policy.paths import PathRefused, ResolvedPath, refuse_protected_path
from workbench.policy.permissions import PermissionPattern
from workbench.policy.urls import UrlRules
from workbench.tools.base import LastCommand, SessionFacts, ToolContext, ToolRefused


class CallRecord(Struct):
    """One call from its proposal to its end; later events replace earlier ones of their kind."""

    row: Call
    proposed: CallProposed | None = None
    opened: ActionOpened | None = None
    action_id: str | None = None
    approved: ActionApproved | None = None
    executing: CallExecuting | None = None
    process: ProcessStarted | None = None
    finished: CallFinished | None = None
    changed: list[FileChanged] = field(default_factory=list[FileChanged])
    hooks: list[HookRan] = field(default_factory=list[HookRan])

    @property
    def files(self) -> tuple[FilePlan, ...]:
        """Return the plan that was shown, or that the gate let pass without asking."""
        if self.opened is not None:
            return self.opened.files
        return self.proposed.files if self.proposed else ()

    @property
    def digest(self) -> str:
        """Return the digest of what is executed."""
        if self.approved is not None:
            return self.approved.result_digest
        return self.opened.digest if self.opened else ""

    @property
    def is_whole(self) -> bool:
        """Return whether everything that was shown was approved, unchanged."""
        approved = self.approved
        return approved is None or (approved.selection is None and not approved.edited)


def read_call_record(journal: Journal, call_id: str) -> CallRecord:
    """Gather what is written of a call.

    Raises:
        LookupError: there is no such call.
    """
    row = journal.call(call_id)
    if row is None:
        raise LookupError(f"there is no call {call_id}")
    return add_call_events(CallRecord(row=row), journal.call_events(call_id))


def add_call_events(file: CallRecord, events: Iterable[Event]) -> CallRecord:
    """Put the events of one call into its dossier."""
    for event in events:
        _add_call_event(file, event)
    return file


def _add_call_event(file: CallRecord, event: Event) -> None:
    match event.body:
        case CallProposed() as body:
            file.proposed = body
        case ActionOpened() as body:
            file.opened, file.action_id = body, event.action_id
        case ActionApproved() as body:
            file.approved = body
        case CallExecuting() as body:
            file.executing = body
        case ProcessStarted() as body:
            file.process = body
        case FileChanged() as body:
            file.changed.append(body)
        case HookRan() as body:
            file.hooks.append(body)
        case CallFinished() as body:
            file.finished = body
        case _:
            pass


_COMMAND_TOOL = "run_in_terminal"
_ENDED_STATES = ("succeeded", "failed", "cancelled", "interrupted")


def url_rules(loaded: LoadedConfig) -> UrlRules:
    """Return which web addresses the settings allow."""
    fetch = loaded.config.fetch
    return UrlRules(allow_loopback=fetch.allow_loopback, allowed_hosts=fetch.allowed_hosts)


def tool_context(
    desk: SessionWriter,
    context: Callable[[], GateContext],
    stop: asyncio.Event | None = None,
    file: CallRecord | None = None,
) -> ToolContext:
    """Return the place of a session's tools.

    Args:
        desk: The session's desk.
        context: What the gate judges by; asked for only by a tool that searches.
        stop: Ends what takes long.
        file: The call, where it is about to run.
    """
    return ToolContext(
        root=desk.kit.root,
        limits=desk.kit.limits(),
        is_stopped=stop.is_set if stop is not None else lambda: False,
        is_closed=_ReadDenialTest(context),
        last_command=lambda: last_command(desk),
        urls=url_rules(desk.kit.loaded()),
        environment=desk.kit.environment,
        session=lambda: session_facts(desk),
        pipelines=SessionPipelineStarter(desk),
        may_follow=lambda url: _redirect_objection(context(), file, url) if file is not None else None,
    )


def _redirect_objection(context: GateContext, file: CallRecord, url: str) -> str | None:
    """Return why a redirect is not followed: what is denied stays denied, and a grant covers what it names.

    Who approved an address has seen only that one; where it leads is judged like every hop. What no human saw
    goes no further than the grant that let it pass.
    """
    verdict = recheck_call(GateCall(tool=file.row.tool, parameters={"url": url}), context)
    if verdict.outcome in ("denied", "refused"):
        return verdict.reason
    if file.approved is None and verdict.outcome != "allowed":
        return "what allowed the first address does not cover it; ask for this address itself"
    return None


class _ReadDenialTest:
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
            refuse_protected_path(target, context.workspace, context.protected, writes=False)
            return self._has_denials and read_deny_verdict(target, context) is not None
        except (PathRefused, ValueError):
            return True


def session_facts(desk: SessionWriter) -> SessionFacts:
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
                changes.append(_exact_file_change(desk, changed))
            case _:
                pass
    title = redaction.redact_line(desk.session().title)
    return SessionFacts(id=desk.session_id, title=title, prompts=tuple(prompts), changes=tuple(changes))


def _exact_file_change(desk: SessionWriter, changed: FileChanged) -> FileChange:
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


def last_command(desk: SessionWriter) -> LastCommand | None:
    """Return the last command of the session that ended."""
    ended = [
        row
        for row in desk.kit.journal.calls(desk.session_id, states=_ENDED_STATES)
        if row.tool == _COMMAND_TOOL
    ]
    for row in reversed(ended):
        found = _ended_command(desk, row)
        if found is not None:
            return found
    return None


def _ended_command(desk: SessionWriter, row: Call) -> LastCommand | None:
    file = read_call_record(desk.kit.journal, row.id)
    if file.executing is None or file.finished is None:
        return None
    try:
        exact = desk.exact(row.parameters, row.parameters_ref)
    except CallBytesMissing:
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


def hook_rules(kit: DriverContext, loaded: LoadedConfig) -> tuple[HookRule, ...]:
    """Return the hooks that the settings in force configure, and those of a step's persona."""
    configured = loaded.config.hooks
    before_call = [_hook_rule(kit, "PreToolUse", hook) for hook in configured.pre_tool_use]
    after_call = [_hook_rule(kit, "PostToolUse", hook) for hook in configured.post_tool_use]
    return (*before_call, *after_call, *kit.constraints.hooks)


def _hook_rule(kit: DriverContext, event: Literal["PreToolUse", "PostToolUse"], hook: ToolHook) -> HookRule:
    # A relative path in a workspace's file is the workspace's; in any other layer it is the user's own.
    folder = kit.governing_workspace if hook.origin.layer == "workspace" else str(kit.home.path)
    return HookRule(
        event=event, matcher=hook.matcher, command=hook.command, origin=hook.origin.where(), folder=folder
    )


def files_named_by_hooks(kit: DriverContext, loaded: LoadedConfig) -> tuple[str, ...]:
    """Return the real paths that hooks and key commands name: they are closed to agents."""
    path = hooks.absolute_search_path(kit.environment.get("PATH", ""))
    keys = [one.key_command for one in loaded.config.providers.values() if one.key_command]
    home = str(kit.home.path)
    commands = [(hook.command, hook.folder or kit.governing_workspace) for hook in hook_rules(kit, loaded)]
    commands += [(command, home) for command in keys]
    found = (
        name for command, folder in commands
        for name in hooks.hook_protected_paths(command, folder, kit.governing_workspace, path)
    )  # fmt: skip
    return tuple(dict.fromkeys(found))


async def run_hooks_before_call(
    kit: DriverContext,
    passed: ScreenedCall,
    session_id: str,
    already: Sequence[HookRan],
    on_ran: Callable[[HookRan], None],
) -> GateVerdict | None:
    """Run the PreToolUse hooks that have not run for this call yet; return the verdict of one that blocks."""
    payload = HookPayload(passed=passed, session_id=session_id, cwd=kit.workspace)
    done = hooks.hooks_already_run(already)
    return await hooks.run_pre_tool_hooks(
        hook_rules(kit, kit.loaded()), payload, done, _hook_runner(kit), on_ran
    )


async def run_hooks_after_call(
    kit: DriverContext, passed: ScreenedCall, session_id: str, outcome: str, on_ran: Callable[[HookRan], None]
) -> None:
    """Run the PostToolUse hooks of a call; none of them can block."""
    payload = HookPayload(passed=passed, session_id=session_id, cwd=kit.workspace, outcome=outcome)
    await hooks.run_post_tool_hooks(hook_rules(kit, kit.loaded()), payload, _hook_runner(kit), on_ran)


def _hook_runner(kit: DriverContext) -> hooks.HookRunner:
    path = hooks.absolute_search_path(kit.environment.get("PATH", ""))
    environment = {**kit.environment, "PATH": path} if path else dict(kit.environment)

    async def run(command: str, stdin: bytes) -> HookExit:
        return await asyncio.to_thread(
            run_hook, command, stdin, kit.governing_workspace, environment, hooks.HOOK_TIMEOUT_SECONDS
        )

    return run


def gate_context(desk: SessionWriter, loaded: LoadedConfig) -> GateContext:
    """Return what the gate judges by, as it stands now."""
    kit, session = desk.kit, desk.session()
    approvals, trust = (
        loaded.config.approvals,
        workspace_trust.trust_state(desk.kit.journal, desk.kit.governing_workspace),
    )
    return GateContext(
        descriptors=kit.tools.descriptors(), provider=session.provider, active_tools=session.active_tools,
        workspace=kit.workspace, protected=_closed_paths(kit),
        deny=(*kit.constraints.deny, *_patterns_as_globs(approvals.deny)),
        allow=_patterns_as_globs(approvals.allow), ceiling=kit.constraints.ceiling,
        rules=tuple(kit.journal.rules()),
        session_id=desk.session_id, run_id=kit.constraints.run_id or None, now=kit.journal.now(),
        read_only=approvals.read_only, read_grant=trust.read_grant, can_ask=kit.can_ask,
        reads=session.reads, ended=trust.ended, hook_files=files_named_by_hooks(kit, loaded),
        urls=url_rules(loaded),
    )  # fmt: skip


def _closed_paths(kit: DriverContext) -> tuple[str, ...]:
    """Return what no agent may touch: the data folder, but for the workspace that a step has in it."""
    home = str(kit.home.path)
    own = f"{home}/{STEP_WORKSPACES_FOLDER}"
    if not kit.workspace.startswith(f"{own}/"):
        return (home,)
    return tuple(str(name) for name in sorted(kit.home.path.iterdir()) if name.name != STEP_WORKSPACES_FOLDER)


def _patterns_as_globs(patterns: Sequence[ApprovalPattern]) -> tuple[PermissionPattern, ...]:
    return tuple(PermissionPattern(text=pattern.text, origin=pattern.origin.where()) for pattern in patterns)
