"""What one call is judged and run with: its record, the gate's context, its hooks, what its tool is given."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.changes.decision import SealedBytesMissing
from workbench.changes.diff import FileChange
from workbench.config.types import Config, LoadedConfig, ToolHook
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
from workbench.domain.retired_prompts import without_retired_prompts
from workbench.domain.rows import Call
from workbench.domain.values import (
    BlobRef,
    FilePlan,
    GateVerdict,
    HookRule,
    JsonObject,
    SandboxLevel,
)
from workbench.effects.child_processes import HookExit, run_hook
from workbench.effects.search_path import search_path_outside
from workbench.host import redaction
from workbench.host.box_folders import hooks_owner
from workbench.host.boxed_command import box_program, closed_refusals
from workbench.host.command_box import quarantine_new_closed
from workbench.host.driver_context import (
    STEP_WORKSPACES_FOLDER,
    CallBytesMissing,
    DriverContext,
    SessionWriter,
    tool_limits,
)
from workbench.host.governed_settings import GovernedSettings
from workbench.host.path_denials import folder_gate, patterns_as_globs
from workbench.host.session_provider import provider_kind
from workbench.host.session_sandbox import sandbox_state
from workbench.journal.journal import Journal
from workbench.policy import hooks
from workbench.policy.gate import (
    GateCall,
    GateContext,
    ScreenedCall,
    command_boundary,
    read_deny_verdict,
    recheck_call,
)
from workbench.policy.hooks import HookPayload
from workbench.policy.paths import PathRefused, ResolvedPath, refuse_protected_path
from workbench.policy.urls import UrlRules
from workbench.tools.base import CallContext, LastCommand, SessionFacts, ToolRefused
from workbench.views.sandbox import refusals_text


class CallRecord(Struct):
    """The events of one call; later events replace earlier ones of their kind."""

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
        if self.approved is not None:
            return self.approved.result_digest
        return self.opened.digest if self.opened else ""

    @property
    def is_whole(self) -> bool:
        """Return whether everything that was shown was approved, unchanged."""
        approved = self.approved
        return approved is None or (approved.selection is None and not approved.edited)


def read_call_record(journal: Journal, call_id: str) -> CallRecord:
    """Return what is written of a call; raises LookupError where there is no such call."""
    row = journal.call(call_id)
    if row is None:
        raise LookupError(f"there is no call {call_id}")
    record = CallRecord(row=row)
    for event in journal.call_events(call_id):
        _add_call_event(record, event)
    return record


def _add_call_event(record: CallRecord, event: Event) -> None:
    match event.body:
        case CallProposed() as body:
            # A second verdict of a call that waited stands in the place of its question.
            record.proposed, record.opened, record.action_id = body, None, None
        case ActionOpened() as body:
            record.opened, record.action_id = body, event.action_id
        case ActionApproved() as body:
            record.approved = body
        case CallExecuting() as body:
            record.executing = body
        case ProcessStarted() as body:
            record.process = body
        case FileChanged() as body:
            record.changed.append(body)
        case HookRan() as body:
            record.hooks.append(body)
        case CallFinished() as body:
            record.finished = body
        case _:
            pass


def edited_bytes(writer: SessionWriter, edited: Mapping[str, str] | None) -> dict[str, bytes] | None:
    """Return the bytes that a user wrote instead of the proposed ones; may raise SealedBytesMissing."""
    if not edited:
        return None
    edits: dict[str, bytes] = {}
    for path, ref in edited.items():
        data = writer.unseal(ref)
        if data is None:
            raise SealedBytesMissing(path)
        edits[path] = data
    return edits


_COMMAND_TOOL = "run_in_terminal"
_ENDED_STATES = ("succeeded", "failed", "cancelled", "interrupted")


def url_rules(config: Config) -> UrlRules:
    """Return which web addresses the settings allow."""
    fetch = config.fetch
    return UrlRules(allow_loopback=fetch.allow_loopback, allowed_hosts=fetch.allowed_hosts)


def call_context(
    writer: SessionWriter,
    settings: GovernedSettings,
    *,
    gate: GateContext | None = None,
    stop: asyncio.Event | None = None,
    record: CallRecord | None = None,
) -> CallContext:
    """Return what a call may see and what its tool is given.

    `gate` is made when the tool asks for it, unless it is given; `record` is the call that is about to run.
    """

    def current_gate() -> GateContext:
        return gate or gate_context(writer, settings, is_command=False)

    return CallContext(
        root=writer.context.root,
        limits=tool_limits(settings.config),
        is_stopped=stop.is_set if stop is not None else lambda: False,
        is_closed=_ReadDenialTest(current_gate),
        last_command=lambda: last_command(writer),
        urls=url_rules(settings.config),
        environment=writer.context.environment,
        session=lambda: session_facts(writer),
        pipelines=writer.context.pipelines(writer),
        may_follow=lambda url: (
            _redirect_objection(current_gate(), record, url) if record is not None else None
        ),
    )


def _redirect_objection(gate: GateContext, record: CallRecord, url: str) -> str | None:
    """Return why a redirect is not followed: what is denied stays denied, and a grant covers what it names.

    Whoever approved an address saw only that one, so each hop is judged again.
    """
    verdict = recheck_call(gate_call_of(record.row, {"url": url}, gate.workspace), gate)
    if verdict.outcome in ("denied", "refused"):
        return verdict.reason
    if record.approved is None and verdict.outcome != "allowed":
        return "what allowed the first address does not cover it; ask for this address itself"
    return None


class _ReadDenialTest:
    """Says whether reading a file is denied, so that a search does not show what reading would not."""

    def __init__(self, make_gate: Callable[[], GateContext]) -> None:
        self._make_gate = make_gate

    @cached_property
    def _gate(self) -> GateContext:
        return self._make_gate()

    @cached_property
    def _has_denials(self) -> bool:
        return bool(self._gate.deny) or any(rule.effect == "deny" for rule in self._gate.rules)

    def __call__(self, relative: str) -> bool:
        gate = self._gate
        path = f"{gate.workspace}/{relative}"
        target = ResolvedPath(path=path, relative=relative, exists=True, given=relative)
        try:
            refuse_protected_path(target, gate.workspace, gate.protected, writes=False)
            return self._has_denials and read_deny_verdict(target, gate) is not None
        except (PathRefused, ValueError):
            return True


def folder_read_denials(journal: Journal, workspace: str, loaded: LoadedConfig) -> Callable[[str], bool]:
    """Return whether reading a file of a folder is denied, given its relative path; no session asks.

    The denials of every layer count, also those of a workspace that is not trusted: they only narrow.
    """

    def gate() -> GateContext:
        from workbench.tools.registry import tool_registry  # checked in whole, and only denials need it

        deny = patterns_as_globs(loaded.config.approvals.deny)
        return folder_gate(
            str(journal.home.path), workspace, deny, journal.rules(), journal.now(),
            lambda: tool_registry().descriptors(),
        )  # fmt: skip

    return _FolderReadDenials(gate)


class _FolderReadDenials(_ReadDenialTest):
    """Denies also what any other reading tool is denied, such as a search."""

    def __call__(self, relative: str) -> bool:
        return super().__call__(relative) or self._is_denied_to_a_tool(relative)

    def _is_denied_to_a_tool(self, relative: str) -> bool:
        is_denied, path = command_boundary(self._gate).is_denied, f"{self._gate.workspace}/{relative}"
        target = ResolvedPath(path=path, relative=relative, exists=True, given=relative)
        return is_denied is not None and is_denied(target)


def session_facts(writer: SessionWriter) -> SessionFacts:
    """Return what the session was asked and what its tools wrote; ToolRefused where bytes are gone."""
    prompts: list[str] = []
    changes: list[FileChange] = []
    for event in without_retired_prompts(writer.journal.events(writer.session_id)):
        match event.body:
            case PromptSubmitted() as body:
                prompts.append(body.text)
            case FileChanged() as body:
                changes.append(_exact_file_change(writer, body))
            case _:
                pass
    title = redaction.redact_line(writer.session().title)
    return SessionFacts(id=writer.session_id, title=title, prompts=tuple(prompts), changes=tuple(changes))


def _exact_file_change(writer: SessionWriter, changed: FileChanged) -> FileChange:
    def image(digest: str | None, ref: BlobRef | None) -> bytes | None:
        if digest is None:
            return None
        data = writer.unseal(ref) if ref else None
        if data is None:
            raise ToolRefused(
                f"the exact bytes of {changed.path} are no longer kept, so it cannot be committed"
            )
        return data

    return FileChange(
        path=changed.path,
        before=image(changed.before, changed.before_ref),
        after=image(changed.after, changed.after_ref),
        mode=changed.mode,
    )


def last_command(writer: SessionWriter) -> LastCommand | None:
    """Return the last command of the session that ended, or None."""
    ended_commands = [
        row
        for row in writer.journal.calls(writer.session_id, states=_ENDED_STATES)
        if row.tool == _COMMAND_TOOL
    ]
    for row in reversed(ended_commands):
        command = _ended_command(writer, row)
        if command is not None:
            return command
    return None


def _ended_command(writer: SessionWriter, row: Call) -> LastCommand | None:
    record = read_call_record(writer.journal, row.id)
    if record.executing is None or record.finished is None:
        return None
    try:
        exact = writer.exact(row.parameters, row.parameters_ref)
    except CallBytesMissing:
        exact = row.parameters
    finished = record.finished
    sealed = writer.unseal(finished.result_ref) if finished.result_ref else None
    return LastCommand(
        command=str(exact.get("command", "")),
        state=finished.state,
        exit_code=finished.exit_code,
        detail=finished.detail,
        output=finished.preview if sealed is None else sealed.decode("utf-8", "replace"),
        duration_ms=finished.duration_ms,
    )


def hook_rules(context: DriverContext, config: Config) -> tuple[HookRule, ...]:
    """Return the hooks that the settings in force configure, and those of a step's persona."""
    configured = config.hooks
    before_call = [_hook_rule(context, "PreToolUse", hook) for hook in configured.pre_tool_use]
    after_call = [_hook_rule(context, "PostToolUse", hook) for hook in configured.post_tool_use]
    return (*before_call, *after_call, *context.constraints.hooks)


def _hook_rule(
    context: DriverContext, event: Literal["PreToolUse", "PostToolUse"], hook: ToolHook
) -> HookRule:
    # A relative path in a workspace's file is the workspace's; in any other layer it is the user's own.
    folder = context.governing_workspace if hook.origin.layer == "workspace" else str(context.home.path)
    return HookRule(
        event=event, matcher=hook.matcher, command=hook.command, origin=hook.origin.where(), folder=folder,
        sandbox=hook.sandbox,
    )  # fmt: skip


def files_named_by_hooks(context: DriverContext, config: Config) -> tuple[str, ...]:
    """Return the real paths that hooks, key commands and `notify.command` name: they are closed to agents."""
    path = hooks.absolute_search_path(context.environment.get("PATH", ""))
    own = [provider.key_command for provider in config.providers.values() if provider.key_command]
    own += [config.notify.command] if config.notify.command else []
    home = str(context.home.path)
    commands = [
        (hook.command, hook.folder or context.governing_workspace) for hook in hook_rules(context, config)
    ]
    commands += [(command, home) for command in own]
    paths = (
        name for command, folder in commands
        for name in hooks.hook_protected_paths(command, folder, context.governing_workspace, path)
    )  # fmt: skip
    return tuple(dict.fromkeys(paths))


async def run_hooks_before_call(
    context: DriverContext,
    config: Config,
    screened: ScreenedCall,
    session_id: str,
    already: Sequence[HookRan],
    on_ran: Callable[[HookRan], None],
) -> GateVerdict | None:
    """Run the PreToolUse hooks that have not run for this call yet; return the verdict of one that blocks."""
    payload = HookPayload(passed=screened, session_id=session_id)
    done = hooks.hooks_already_run(already)
    return await hooks.run_pre_tool_hooks(
        hook_rules(context, config), payload, done, _hook_runner(context), on_ran
    )


async def run_hooks_after_call(
    context: DriverContext,
    config: Config,
    screened: ScreenedCall,
    session_id: str,
    outcome: str,
    on_ran: Callable[[HookRan], None],
) -> None:
    """Run the PostToolUse hooks of a call; none of them can block."""
    payload = HookPayload(passed=screened, session_id=session_id, outcome=outcome)
    await hooks.run_post_tool_hooks(hook_rules(context, config), payload, _hook_runner(context), on_ran)


def hook_environment(context: DriverContext) -> dict[str, str]:
    """Return the variables of hooks: those of commands, with no relative folder in PATH."""
    path = hooks.absolute_search_path(context.environment.get("PATH", ""))
    return {**context.environment, "PATH": path} if path else dict(context.environment)


def outside_environment(context: DriverContext) -> dict[str, str]:
    """Return the variables of hooks and checkers outside the sandbox.

    Commands of agents can write in the workspace, so PATH has no folder of it; a command may name its files.
    """
    path = context.environment.get("PATH", os.defpath)
    own = search_path_outside(path, (context.governing_workspace, context.workspace))
    return {**context.environment, "PATH": own}


def _hook_runner(context: DriverContext) -> hooks.HookRunner:
    async def run(command: str, stdin: bytes, level: SandboxLevel | None) -> HookExit:
        return await asyncio.to_thread(_run_hook, context, command, stdin, level)

    return run


def _run_hook(context: DriverContext, command: str, stdin: bytes, level: SandboxLevel | None) -> HookExit:
    """Run a hook at its level; blocks. Where its sandbox cannot be made it does not run, which denies."""
    folder = context.governing_workspace
    if level in (None, "outside"):
        return run_hook(command, stdin, folder, outside_environment(context), hooks.HOOK_TIMEOUT_SECONDS)
    closed = files_named_by_hooks(context, context.recall_settings().config)
    words = ("/bin/sh", "-c", command)
    boxed = box_program(context, hooks_owner(folder), level, folder, words, hook_environment(context), closed)
    try:
        end = run_hook(
            boxed.argv, stdin, folder, boxed.environment, hooks.HOOK_TIMEOUT_SECONDS, is_boxed=True
        )
    finally:
        changes = quarantine_new_closed(boxed.planned)
    refusals = closed_refusals(changes, boxed.planned.places)
    note = f"The sandbox refused {refusals_text(refusals)}.\n" if refusals else ""
    return replace(end, output=note.encode() + end.output)


def gate_call_of(row: Call, exact: JsonObject, workspace: str) -> GateCall:
    """Return a recorded call as the gate judges it: in its folder, with every file that it names."""
    return GateCall(tool=row.tool, parameters=exact, cwd=row.cwd or workspace, paths=row.paths)


def gate_context(
    writer: SessionWriter, settings: GovernedSettings, *, is_command: bool = True
) -> GateContext:
    """Return what the gate judges by: the given settings, and the session and rules as they are now.

    `is_command`: whether commands are judged by it, which depend on what this machine can hold them with.
    """
    context, session, trust = writer.context, writer.session(), settings.trust
    config, approvals = settings.config, settings.config.approvals
    return GateContext(
        descriptors=context.tools.descriptors(config.tools), provider=session.provider,
        provider_kind=provider_kind(session.provider, config), active_tools=session.active_tools,
        workspace=context.workspace, protected=_closed_paths(context),
        deny=(*context.constraints.deny, *patterns_as_globs(approvals.deny)),
        allow=patterns_as_globs(approvals.allow), ceiling=context.constraints.ceiling,
        rules=tuple(context.journal.rules()),
        session_id=writer.session_id, run_id=context.constraints.run_id or None, now=context.journal.now(),
        settings_of=context.constraints.project,
        turn_id=session.open_turn,
        read_only=approvals.read_only, read_grant=trust.read_grant, can_ask=context.can_ask,
        reads=session.reads, ended=trust.ended, are_agents_held=context.journal.are_agents_held,
        hook_files=files_named_by_hooks(context, config), urls=url_rules(config),
        outside=context.outside_paths, search_path=context.environment.get("PATH", ""),
        sandbox=sandbox_state(session, settings, context.prove_sandbox, is_command=is_command),
    )  # fmt: skip


def call_gate(writer: SessionWriter, settings: GovernedSettings, row: Call) -> GateContext:
    """Return the gate's context for a call; one that a human asked for may be of a tool that no model has."""
    gate = gate_context(writer, settings, is_command=is_command_call(writer.context, row))
    requested = writer.context.tools.requested_descriptors()
    if row.turn_id is not None or row.tool not in requested:
        return gate
    return replace(gate, descriptors={**gate.descriptors, **requested}, active_tools=())


def is_command_call(context: DriverContext, row: Call) -> bool:
    """Return whether a call may run a command line."""
    tool = context.tools.get(row.tool)
    return tool is None or tool.descriptor.command_parameter is not None


def _closed_paths(context: DriverContext) -> tuple[str, ...]:
    """Return what no agent may touch: the data folder, except for the step's own workspace in it."""
    home = str(context.home.path)
    own = f"{home}/{STEP_WORKSPACES_FOLDER}"
    if not context.workspace.startswith(f"{own}/"):
        return (home,)
    return tuple(
        str(name) for name in sorted(context.home.path.iterdir()) if name.name != STEP_WORKSPACES_FOLDER
    )
