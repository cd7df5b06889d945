"""The gate: one function decides about every tool call of every agent, in seven steps.

It has no side effect, asks no human, and never lets a grant beat a deny.
"""

import os
import shlex
import shutil
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.changes.begin_patch import PatchRefused, read_patch
from workbench.domain.rows import Rule
from workbench.domain.values import (
    HELD_BY,
    GateStep,
    GateVerdict,
    JsonObject,
    PermissionPattern,
    ToolDescriptor,
)
from workbench.effects.search_path import leads_through, program_in_workspace, search_path_outside
from workbench.policy import autorun_files, odd_names, rules, run_grants, schemas, trust
from workbench.policy.levels import LineFacts, SandboxState, ask_in_read_only, place_command
from workbench.policy.patched_paths import PatchedPath, patched_paths
from workbench.policy.paths import (
    PathRefused,
    ResolvedPath,
    is_below,
    refuse_link,
    refuse_protected_path,
    resolve_path,
)
from workbench.policy.permissions import (
    UNRELATED_WORD,
    first_matching_permission,
    first_permission_covering,
    is_within_ceiling,
    parse_permission,
    permission_doubt,
    permission_matches,
    permission_names_tool,
)
from workbench.policy.rule_suggestions import uncoverable_line_reason
from workbench.policy.shell.analysis import (
    ShellView,
    SimpleCommand,
    inner_command_view,
    names_patch_program,
    view_command,
)
from workbench.policy.shell.command_paths import (
    CommandBoundary,
    boundary_objection,
    is_within_boundary,
    objection_inside,
)
from workbench.policy.shell.command_risk import assess_command
from workbench.policy.shell.patch_command import find_patch_command
from workbench.policy.shell.run_files import files_run_by
from workbench.policy.shell.sandbox_needs import needs_text, sandbox_needs
from workbench.policy.urls import UrlRules, url_objection
from workbench.secrets.scrubber import scrub
from workbench.text import canonical
from workbench.text.display import DisplayPlace, has_mixed_script_host, json_strings, text_warnings
from workbench.text.safe import one_line

_READ_TOOL: Final = "read_file"
_CREATE_TOOLS: Final = frozenset({"create_file", "create_directory"})
"""Tools that may create a file that may not be read; only a human's answer lets them say that it exists."""
_NAME_TOOLS: Final = frozenset({"move_file", "delete_file"})
"""Tools that act on a name, so that what a link leads to is not what they were asked for."""


_CHANGING_CAPABILITIES: Final = frozenset({"write", "execute", "git"})
OUTSIDE_PARAMETER: Final = "outside"
"""The parameter by which an agent asks for a command outside the sandbox."""
REASON_PARAMETER: Final = "reason"
NAMED_FILES: Final = "files named elsewhere"
"""The parameter that tools are given of `GateCall.paths`: each path as it was named, and its real one."""


class GateCall(Struct, frozen=True, kw_only=True):
    """A call as an agent made it."""

    tool: str
    """Id or wire name."""
    parameters: JsonObject
    cwd: str = ""
    """Absolute path of the folder it runs in; empty is the workspace."""
    paths: tuple[str, ...] = ()
    """Files that it names elsewhere than in its path parameters, such as those inside a patch."""
    malformed: str | None = None


class GateContext(Struct, frozen=True, kw_only=True):
    """Everything that a verdict depends on besides the call."""

    descriptors: Mapping[str, ToolDescriptor]
    """By id and by wire name."""
    provider: str
    """Name of the provider that the session asks."""
    provider_kind: str = ""
    workspace: str
    session_id: str
    now: int
    active_tools: tuple[str, ...] = ()
    """Ids; empty means all."""
    protected: tuple[str, ...] = ()
    """Real paths that no agent may touch, such as the data home."""
    hook_files: tuple[str, ...] = ()
    """Real paths that active hooks name: no agent may write them."""
    deny: tuple[PermissionPattern, ...] = ()
    allow: tuple[PermissionPattern, ...] = ()
    ceiling: tuple[PermissionPattern, ...] | None = None
    rules: tuple[Rule, ...] = ()
    run_id: str | None = None
    turn_id: str | None = None
    """The session's turn that is not over; rules for a turn hold in that one only."""
    settings_of: str = ""
    """The workspace whose settings hold, if it is another one, as for a step of a pipeline."""
    read_only: Literal["ask", "auto"] = "ask"
    read_grant: bool = False
    reads: Literal["every", "reads"] | None = None
    """A human's choice for this session, above settings and trust: ask always, or not about reads."""
    ended: str = ""
    """Why no grant counts, where trust in the workspace ended while its hooks or denials were in force."""
    are_agents_held: bool = False
    """Whether every call of every agent asks now; no grant counts."""
    can_ask: bool = True
    applies_patches: bool = False
    """The agent applies the patch of an `apply_patch` line itself and runs no program of that name."""
    urls: UrlRules = UrlRules()
    sandbox: SandboxState | None = None
    """The sandbox of the commands that we run; None of an agent that executes its own calls."""
    search_path: str = ""
    """The PATH of commands."""
    outside: Literal["refuse", "ask"] = "refuse"
    """What becomes of a path outside the workspace: an agent that executes its own calls may ask for one."""


class ScreenedCall(Struct, frozen=True, kw_only=True):
    """A call that went through the steps before the hooks."""

    descriptor: ToolDescriptor
    parameters: JsonObject
    targets: Mapping[str, ResolvedPath]
    """Path parameters, resolved."""
    folder: str
    """Absolute path of the folder it runs in, as it was named; relative paths begin there."""
    files: tuple[ResolvedPath, ...] = ()
    """Files that it names elsewhere than in its path parameters, resolved."""
    canonical: str = ""
    view: ShellView | None = None
    marks: tuple[str, ...] = ()
    """Short names of what keeps every grant from covering it: `runs by itself`, `trust ended`."""
    no_grant_reason: str = ""
    patched: tuple["ScreenedCall", ...] = ()
    """The changes that the patch of a command line asks for; none if they are not known to the last one."""

    @property
    def named_paths(self) -> Mapping[str, ResolvedPath]:
        """Return every path that it names, by its parameter or a key that no parameter has."""
        return rules.with_files(self.targets, self.files)

    @property
    def grounded(self) -> dict[str, object]:
        """Return the parameters with real paths relative to the workspace: what tools are given."""
        named = {NAMED_FILES: {file.given: file.relative for file in self.files}} if self.files else {}
        return {
            **self.parameters,
            **{name: target.relative for name, target in self.targets.items()},
            **named,
        }


class GateResult(Struct, frozen=True, kw_only=True):
    """What the gate said, and of what."""

    verdict: GateVerdict
    passed: ScreenedCall | None = field(default=None)
    """None if the call did not get as far as the hooks."""


PreToolHooks = Callable[[ScreenedCall], Awaitable[GateVerdict | None]]


async def judge_call(call: GateCall, context: GateContext, hooks: PreToolHooks) -> GateResult:
    """Decide about a call, all seven steps in order; `hooks` returns the verdict of a hook that blocks."""
    passed = screen_call(call, context)
    if isinstance(passed, GateVerdict):
        return GateResult(verdict=passed)
    blocked = await hooks(passed)
    return GateResult(verdict=blocked or judge_screened_call(passed, context), passed=passed)


def screen_call(call: GateCall, context: GateContext) -> ScreenedCall | GateVerdict:
    """Take the steps 1 to 4: schema, paths, deny, ceiling."""
    descriptor = _offered_tool(call, context)
    if isinstance(descriptor, GateVerdict):
        return descriptor
    text = _canonical_parameters(call, descriptor)
    if isinstance(text, GateVerdict):
        return text
    folder = _run_folder(call, context)
    if isinstance(folder, GateVerdict):
        return folder
    targets = resolve_targets(call.parameters, descriptor, context, folder)
    if isinstance(targets, GateVerdict):
        return targets
    files = _resolve_files(call.paths, descriptor, context, folder)
    if isinstance(files, GateVerdict):
        return files
    command = call.parameters.get(descriptor.command_parameter or "")
    passed = ScreenedCall(
        descriptor=descriptor,
        parameters=call.parameters,
        targets=targets,
        folder=folder,
        files=files,
        canonical=text,
        view=view_command(command, folder) if isinstance(command, str) else None,
    )
    no = (
        deny_verdict(passed, context)
        or _named_file_deny_verdict(passed, context)
        or _target_read_deny_verdict(passed, context)
    )
    no = no or _ceiling_verdict(passed, context)
    return no or _with_patched_files(_with_grant_obstacles(passed, context), context)


def _with_grant_obstacles(passed: ScreenedCall, context: GateContext) -> ScreenedCall:
    obstacles = {trust.TRUST_ENDED_MARK: context.ended} if context.ended else {}
    root = os.path.realpath(context.workspace)
    if why := _outside_reason(passed, root):
        obstacles[OUTSIDE_MARK] = why
    if passed.files and passed.descriptor.command_parameter is not None:
        obstacles[FILES_MARK] = "no rule can allow a command that changes files its line does not name"
    if passed.descriptor.capability != "read":
        for target in passed.named_paths.values():
            if why := autorun_files.autorun_reason(target.path, root):
                obstacles[autorun_files.AUTORUN_MARK] = (
                    f"no rule can allow changing {one_line(target.relative, 120)}: {why}"
                )
            if why := odd_names.new_name_reason(target.path, root):
                obstacles[odd_names.ODD_NAME_MARK] = (
                    f"no rule can allow creating {one_line(target.relative, 120)}: {why}"
                )
    return (
        replace(passed, marks=tuple(obstacles), no_grant_reason="; ".join(obstacles.values()))
        if obstacles
        else passed
    )


OUTSIDE_MARK: Final = "outside the workspace"
"""Mark of a call that runs, or names a file, outside the workspace."""
FILES_MARK: Final = "names more files"
"""Mark of a command with files that its line does not say: no rule covers what it does to them."""


def _outside_reason(passed: ScreenedCall, root: str) -> str:
    if not is_below(os.path.realpath(passed.folder), root):
        return f"no rule can allow it: it runs in {one_line(passed.folder, 160)}, {OUTSIDE_MARK}"
    outside = next((path for path in passed.named_paths.values() if path.is_outside), None)
    return f"no rule can allow it: {one_line(outside.path, 160)} is {OUTSIDE_MARK}" if outside else ""


def _with_patched_files(passed: ScreenedCall, context: GateContext) -> ScreenedCall | GateVerdict:
    """Take the steps 2 and 3 for each file of the patch that a command line holds, if any."""
    line = passed.view.raw if passed.view is not None else ""
    found = find_patch_command(line) if line else None
    if found is None:
        return _with_objection(passed, _HIDDEN_PATCH) if _has_hidden_patch(line) else passed
    try:
        sections = read_patch(found.patch)
        used = tuple(patched_paths(sections, found.folder, context.workspace, passed.folder))
        governing = (*_hook_named_paths(context.workspace), *context.hook_files)
        for each in used:
            refuse_protected_path(
                each.target, context.workspace, context.protected, writes=True, governing=governing
            )
    except PathRefused as error:
        return _refused_verdict("paths", f"the patch changes {error}")
    except PatchRefused as error:
        return _with_objection(passed, f"the patch cannot be read: {error}")
    return _with_patched_calls(passed, used, context)


_HIDDEN_PATCH: Final = "its patch is not shown as hunks: it has carriage returns, which can hide text"


def _has_hidden_patch(line: str) -> bool:
    return "\r" in line and names_patch_program(line)


def _with_objection(passed: ScreenedCall, why: str) -> ScreenedCall:
    return replace(passed, no_grant_reason=passed.no_grant_reason or f"no rule can cover it: {why}")


def _with_patched_calls(
    passed: ScreenedCall, used: Sequence[PatchedPath], context: GateContext
) -> ScreenedCall | GateVerdict:
    calls: list[ScreenedCall] = []
    objections = [each.objection for each in used if each.objection]
    for each in used:
        descriptor = context.descriptors.get(each.tool)
        if descriptor is None:
            objections.append(f"this agent has no {each.tool}, whose permissions would cover it")
            continue
        call = _path_call(descriptor, each.target, context)
        no = deny_verdict(call, context) or _target_read_deny_verdict(call, context)
        if no is not None:
            return no
        calls.append(_with_grant_obstacles(call, context))
    return _with_objection(passed, objections[0]) if objections else replace(passed, patched=tuple(calls))


def judge_screened_call(passed: ScreenedCall, context: GateContext) -> GateVerdict:
    """Take the steps 6 and 7: grants, else a human, else no. While agents are held, no grant counts."""
    verdict = _grant_verdict(passed, context) or _ask_verdict(passed, context)
    if context.sandbox is None:
        verdict = replace(verdict, place=None)
    else:
        verdict = _placed_verdict(passed, context, context.sandbox, verdict)
    if context.are_agents_held and verdict.outcome == "allowed":
        verdict = _held_verdict(verdict)
    can_ask = context.can_ask or verdict.outcome != "ask"
    return verdict if can_ask else _denied_as_nobody_answers(verdict)


def _held_verdict(granted: GateVerdict) -> GateVerdict:
    why = f"all agents are held; otherwise: {granted.reason}"
    return GateVerdict(outcome="ask", step="ask", by=HELD_BY, reason=why, place=granted.place)


def _placed_verdict(
    passed: ScreenedCall, context: GateContext, sandbox: SandboxState, verdict: GateVerdict
) -> GateVerdict:
    """Return the verdict with the place of a command; a read-only level asks before all else that changes."""
    if passed.descriptor.command_parameter is None:
        is_allowed = verdict.outcome == "allowed" and passed.descriptor.capability in _CHANGING_CAPABILITIES
        return ask_in_read_only(verdict) if is_allowed and sandbox.level == "read-only" else verdict
    if sandbox.level == "outside":
        return place_command(verdict, LineFacts(), sandbox)
    line = LineFacts(
        leaves=_leaving_reason(passed, context, sandbox), objection=_sandbox_objection(passed, context)
    )
    placed = place_command(verdict, line, sandbox)
    if placed.outcome == "allowed" and placed.place == "outside" and sandbox.strength != "none":
        return _ask_about_own_program(placed, passed, context)
    return placed


def _ask_about_own_program(granted: GateVerdict, passed: ScreenedCall, context: GateContext) -> GateVerdict:
    """Ask where a command of a line runs a file of the workspace, where commands inside can write.

    A grant of the whole tool counts all the same: it lets any program run outside. No other grant covers a
    command that starts another, such as `env`.
    """
    allowing = rules.rules_in_force("allow", context.rules, _rule_moment(context))
    if passed.view is None or _whole_tool_verdict(passed, context, allowing):
        return granted
    why = next(filter(None, (_own_program_reason(passed, context), _own_file_reason(passed, context))), "")
    if not why:
        return granted
    reason = f"{why}; otherwise: {granted.reason}"
    return GateVerdict(outcome="ask", step="ask", by=granted.by, reason=reason, place="outside")


def _own_program_reason(passed: ScreenedCall, context: GateContext) -> str:
    """Return that a program is found in the workspace alone; empty if none is."""
    root, kept = os.path.realpath(context.workspace), _path_outside(context)
    commands = passed.view.commands if passed.view is not None else ()
    for name in dict.fromkeys(word for simple in commands for word in simple.words[:1]):
        path = context.search_path if shutil.which(name, path=kept) is None else kept
        if file := program_in_workspace(name, path, passed.folder, root):
            return f"{_shown_text(name, 80)} is {_shown_text(file, 160)}, a file of the workspace"
    return ""


def _own_file_reason(passed: ScreenedCall, context: GateContext) -> str:
    """Return that a command runs a file of the workspace by name, or what such a file says."""
    root, commands = os.path.realpath(context.workspace), passed.view.commands if passed.view else ()
    folders = [passed.folder]
    """Also those in which the line may run although a `cd` before failed."""
    for simple in commands:
        if simple.moves:
            folders.append(os.path.join(folders[-1], simple.words[-1]))  # noqa: PTH118 -- text
        for file in files_run_by(simple.words):
            program = _shown_text(file.program, 80)
            if not file.path:
                return f"{program} runs what files of the workspace say, and commands inside can write them"
            places = (os.path.join(folder, file.path) for folder in folders)  # noqa: PTH118 -- text
            if any(leads_through(place, root) for place in places):
                return f"{program} runs {_shown_text(file.path, 160)}, a file of the workspace"
    return ""


def granted_search_path(passed: ScreenedCall, context: GateContext) -> str:
    """Return the PATH of a command that no human approved and that runs outside the sandbox.

    Where commands inside could write a folder of PATH, a granted command finds no program in it, nor does
    any program that it starts. A grant of the whole tool lets any program run.
    """
    sandbox = context.sandbox
    if sandbox is None or sandbox.level == "outside" or sandbox.strength == "none":
        return context.search_path
    allowing = rules.rules_in_force("allow", context.rules, _rule_moment(context))
    is_any = _whole_tool_verdict(passed, context, allowing) is not None
    return context.search_path if is_any else _path_outside(context)


def _path_outside(context: GateContext) -> str:
    return search_path_outside(context.search_path, (os.path.realpath(context.workspace),))


def _leaving_reason(passed: ScreenedCall, context: GateContext, sandbox: SandboxState) -> str:
    """Return why a command has to run outside the sandbox: what the agent says, else what the line needs."""
    if passed.parameters.get(OUTSIDE_PARAMETER) is True:
        said = _shown_text(str(passed.parameters.get(REASON_PARAMETER, "")), 300)
        return f"the agent asks to run it outside the sandbox: {said or 'it gives no reason'}"
    workspace = "" if sandbox.level == "read-only" else os.path.realpath(context.workspace)
    needs = () if passed.view is None else sandbox_needs(passed.view, workspace, passed.folder)
    # Without namespaces .git cannot be spared: what needs it fits.
    kept = needs if sandbox.strength == "full" else [need for need in needs if need.kind != "git"]
    return needs_text(kept)


def _sandbox_objection(passed: ScreenedCall, context: GateContext) -> str:
    """Return why a human has to see a command that a sandbox could hold; empty for most."""
    if passed.marks or passed.view is None or _text_oddity(passed) is not None:
        return "no grant covers it"
    strict = _with_asking_as_denying(context)
    if deny_verdict(passed, strict) or _possible_deny_verdict(passed, strict):
        return "a rule that asks may apply"
    boundary = command_boundary(context, passed.folder)
    if not passed.view.plain and (_denies_commands(passed.descriptor, strict) or boundary.has_denials):
        return "a denial or a rule that asks may apply to a line that cannot be read with certainty"
    return objection_inside(passed.view.commands, boundary)


def _with_asking_as_denying(context: GateContext) -> GateContext:
    """Return a context in which rules that ask are read as widely as those that deny."""
    asking = (replace(rule, effect="deny") for rule in context.rules if rule.effect == "ask")
    denying = (rule for rule in context.rules if rule.effect == "deny")
    return replace(context, rules=(*denying, *asking))


def _denies_commands(descriptor: ToolDescriptor, context: GateContext) -> bool:
    denying = rules.rules_in_force("deny", context.rules, _rule_moment(context))
    return any(
        permission_names_tool(parse_permission(glob.text), descriptor, "deny") for glob in context.deny
    ) or any(rules.rule_names_tool(rule.tool, rule.pattern_kind, descriptor, "deny") for rule in denying)


def recheck_call(call: GateCall, context: GateContext) -> GateVerdict:
    """Take the steps 1 to 4 and 6 again at execution: anything but `allowed` and `ask` stops the call."""
    passed = screen_call(call, context)
    if isinstance(passed, GateVerdict):
        return passed
    return judge_screened_call(passed, replace(context, can_ask=True))


# --- 1: the tool and its parameters ----------------------------------------------------------------


def _offered_tool(call: GateCall, context: GateContext) -> ToolDescriptor | GateVerdict:
    name = one_line(call.tool, 80)
    descriptor = context.descriptors.get(call.tool)
    if descriptor is None:
        return _refused_verdict("schema", f"{name}: no tool is called that")
    if not descriptor.is_offered_to(context.provider, context.provider_kind):
        offered = ", ".join(one_line(provider, 60) for provider in descriptor.allowed_providers)
        others = f"only to {offered}" if offered else "and to no other provider"
        return _refused_verdict(
            "schema", f"{name}: not offered to {one_line(context.provider, 60)}, {others}"
        )
    if context.active_tools and descriptor.id not in context.active_tools:
        return _refused_verdict("schema", f"{name}: not active in this session")
    return descriptor


def _canonical_parameters(call: GateCall, descriptor: ToolDescriptor) -> str | GateVerdict:
    if call.malformed is not None:
        return _refused_verdict("schema", f"the parameters cannot be read: {one_line(call.malformed, 200)}")
    try:
        text = canonical.dumps(dict(call.parameters))
    except (ValueError, TypeError) as error:
        return _refused_verdict("schema", f"the parameters are not JSON: {one_line(str(error), 200)}")
    problems = schemas.parameter_problems(descriptor.input_schema, call.parameters) or tuple(
        _nul_problems(call, descriptor)
    )
    return _refused_verdict("schema", "; ".join(problems)) if problems else text


def _nul_problems(call: GateCall, descriptor: ToolDescriptor) -> Iterator[str]:
    for name in (descriptor.command_parameter, descriptor.url_parameter):
        if name is not None and "\0" in str(call.parameters.get(name, "")):
            yield f"{name}: holds a NUL character"


# --- 2: paths ----------------------------------------------------------------------------------------


def _run_folder(call: GateCall, context: GateContext) -> str | GateVerdict:
    """Return the folder that a call runs in, absolute, or the verdict that it may not run there."""
    if not call.cwd:
        return context.workspace
    try:
        folder = _resolve(call.cwd, context, context.workspace)
        refuse_protected_path(folder, context.workspace, context.protected, writes=False)
    except PathRefused as error:
        return _refused_verdict("paths", f"the folder it runs in: {error}")
    if not os.path.isabs(call.cwd) or not os.path.isdir(folder.path):  # noqa: PTH112, PTH117 -- text
        why = f"the folder it runs in: {one_line(call.cwd, 160)} is not the absolute path of a folder"
        return _refused_verdict("paths", why)
    return call.cwd


def _resolve(path: str, context: GateContext, folder: str) -> ResolvedPath:
    return resolve_path(context.workspace, path, folder, may_be_outside=context.outside == "ask")


def resolve_targets(
    parameters: JsonObject, descriptor: ToolDescriptor, context: GateContext, folder: str = ""
) -> dict[str, ResolvedPath] | GateVerdict:
    """Take step 2: resolve the paths that a call names, and refuse those that it may not touch.

    `folder` is where it runs, by default the workspace.
    """
    folder = folder or context.workspace
    targets: dict[str, ResolvedPath] = {}
    try:
        for name in descriptor.path_parameters:
            if name in parameters:
                if descriptor.id in _NAME_TOOLS:
                    refuse_link(folder, str(parameters[name]))
                targets[name] = _resolve(str(parameters[name]), context, folder)
        _refuse_protected_paths(targets.values(), descriptor, context)
    except PathRefused as error:
        return _refused_verdict("paths", str(error))
    why = _url_refusal(parameters, descriptor, context)
    return _refused_verdict("paths", why) if why else targets


def _resolve_files(
    paths: Sequence[str], descriptor: ToolDescriptor, context: GateContext, folder: str
) -> tuple[ResolvedPath, ...] | GateVerdict:
    """Resolve the files that a call names elsewhere than in its parameters, and refuse as step 2 does."""
    try:
        files = tuple(_resolve(path, context, folder) for path in paths)
        _refuse_protected_paths(files, descriptor, context)
    except PathRefused as error:
        return _refused_verdict("paths", str(error))
    return files


def _refuse_protected_paths(
    targets: Collection[ResolvedPath], descriptor: ToolDescriptor, context: GateContext
) -> None:
    writes = descriptor.capability != "read"
    governing = (*_hook_named_paths(context.workspace), *context.hook_files) if writes and targets else ()
    for target in targets:
        refuse_protected_path(
            target, context.workspace, context.protected, writes=writes, governing=governing
        )


def _url_refusal(parameters: JsonObject, descriptor: ToolDescriptor, context: GateContext) -> str | None:
    url = parameters.get(descriptor.url_parameter or "")
    why = url_objection(url, context.urls) if isinstance(url, str) else None
    return why and f"{one_line(str(url), 160)}: {why}"


def _hook_named_paths(workspace: str) -> tuple[str, ...]:
    return tuple(f"{workspace}/{name}" for name in trust.hook_named_files(workspace))


# --- 3 and 4: what may never be ----------------------------------------------------------------------


def deny_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict | None:
    """Take step 3: return the verdict of a deny list or rule that covers a call."""
    glob = first_matching_permission(context.deny, *_match_arguments(passed), purpose="deny")
    if glob is not None:
        return GateVerdict(
            outcome="denied",
            step="deny",
            by=glob.origin or "deny",
            pattern=glob.text,
            reason=f"{_call_label(passed)} matches {one_line(glob.text, 120)} in a deny list",
        )
    rule = _first_rule("deny", passed, context)
    return _rule_verdict("denied", "deny", rule, "denies this") if rule else None


def _named_file_deny_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict | None:
    """Return the verdict of a denial that covers writing a file that a command names beside its line."""
    if passed.descriptor.command_parameter is None:
        return None
    writers = {each.id: each for each in context.descriptors.values() if _is_writer(each)}
    calls = (_path_call(tool, file, context) for file in passed.files for tool in writers.values())
    return next((verdict for each in calls if (verdict := deny_verdict(each, context))), None)


def read_deny_verdict(target: ResolvedPath, context: GateContext) -> GateVerdict | None:
    """Return the verdict of a deny list or rule that covers reading a file."""
    descriptor = context.descriptors.get(_READ_TOOL)
    if descriptor is None:
        return None
    parameters = {"path": target.relative}
    text = canonical.dumps(parameters)
    passed = ScreenedCall(
        descriptor=descriptor, parameters=parameters, targets={"path": target}, canonical=text,
        folder=context.workspace,
    )  # fmt: skip
    return deny_verdict(passed, context)


def may_hear_reason(passed: ScreenedCall, context: GateContext) -> bool:
    """Say whether an agent, before a human answered, may hear a reason that tells what a file holds."""
    targets = passed.named_paths.values()
    if passed.descriptor.id in _CREATE_TOOLS:
        return all(read_deny_verdict(target, context) is None for target in targets)
    reads = (GateCall(tool=_READ_TOOL, parameters={"path": target.relative}) for target in targets)
    return all(recheck_call(read, context).outcome == "allowed" for read in reads)


def _target_read_deny_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict | None:
    if passed.descriptor.id in _CREATE_TOOLS:
        return None
    verdicts = (read_deny_verdict(target, context) for target in passed.named_paths.values())
    return next(filter(None, verdicts), None)


def _ceiling_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict | None:
    view = passed.view and passed.view.without_redundant_cd
    if not context.ceiling or is_within_ceiling(context.ceiling, *_match_arguments(passed)[:3], view):
        return None
    listed = ", ".join(dict.fromkeys(glob.text for glob in context.ceiling))
    return GateVerdict(
        outcome="denied",
        step="ceiling",
        by=context.ceiling[0].origin or "allowed_tools",
        reason=f"{_call_label(passed)} is none of the allowed tools: {one_line(listed, 200)}",
    )


# --- 6 and 7: who lets it pass, and if nobody does ---------------------------------------------------


def _grant_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict | None:
    asking = _first_rule("ask", passed, context)
    if asking is not None:
        return _rule_verdict("ask", "grants", asking, "asks for this")
    if passed.marks or _text_oddity(passed) is not None:
        return None
    if passed.descriptor.command_parameter is not None:
        return _possible_deny_verdict(passed, context) or _command_grant_verdict(passed, context)
    glob = first_matching_permission(context.allow, *_match_arguments(passed), purpose="grant")
    if glob is not None:
        return _pattern_verdict(glob)
    rule = _first_rule("allow", passed, context)
    return (
        _rule_verdict("allowed", "grants", rule, "allows this")
        if rule
        else _read_grant_verdict(passed, context)
    )


def _text_oddity(passed: ScreenedCall) -> str | None:
    if passed.descriptor.capability == "read":
        return None
    for name, value in passed.parameters.items():
        is_command = name == passed.descriptor.command_parameter
        is_path = name in passed.descriptor.path_parameters
        place: DisplayPlace = "approval_command" if is_command else "file_name" if is_path else "diff_preview"
        if name == passed.descriptor.url_parameter and any(map(has_mixed_script_host, json_strings(value))):
            return "mixed scripts"
        oddities = (oddity for text in json_strings(value) for oddity in text_warnings(text, place))
        # A long line is looked into as a whole; who reads it is warned of it all the same.
        if odd := next((oddity for oddity in oddities if oddity != "long"), None):
            return odd
    return None


def _possible_deny_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict | None:
    """Ask, whatever was granted, where a deny may be meant: it cannot be told from the words."""
    denying = rules.rules_in_force("deny", context.rules, _rule_moment(context))
    if not (context.deny or denying) or passed.view is None:
        return None
    verdict = _doubtful_deny_verdict(passed, context, denying)
    if verdict is None and passed.view.plain:
        verdict = _inner_deny_verdict(passed, context)
    return verdict


def _doubtful_deny_verdict(
    passed: ScreenedCall, context: GateContext, denying: Sequence[Rule]
) -> GateVerdict | None:
    """Return the question about a denial whose option a command has under another name, or may have."""
    for glob in context.deny:
        if doubt := permission_doubt(glob, passed.descriptor, passed.view):
            verdict = GateVerdict(outcome="ask", step="grants", by=glob.origin or "deny", pattern=glob.text)
            return replace(verdict, reason=_doubt_reason(glob.text, doubt))
    subject = _rule_subject(passed)
    for rule in denying:
        if doubt := rules.rule_doubt(rule, subject):
            verdict = _rule_verdict("ask", "grants", rule, "may deny this")
            return replace(verdict, reason=_doubt_reason(rule.pattern, doubt))
    return None


def _doubt_reason(pattern: str, doubt: str) -> str:
    return f"the denial {one_line(pattern, 120)} may apply: {_shown_text(doubt, 200)}"


def _inner_deny_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict | None:
    """Return the question about a denial that matches a later word of an unknown program."""
    inner = inner_command_view(passed.view, passed.folder) if passed.view is not None else None
    denial_verdict = deny_verdict(replace(passed, view=inner), context) if inner is not None else None
    if denial_verdict is None:
        return None
    pattern = denial_verdict.pattern or denial_verdict.by
    why = _doubt_reason(pattern, "a later word of it may run as a command")
    return replace(denial_verdict, outcome="ask", step="grants", reason=why)


def _command_grant_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict | None:
    subject, moment = _grant_subject(passed), _rule_moment(context)
    allowing = rules.rules_in_force("allow", context.rules, moment)
    if whole := _whole_tool_verdict(passed, context, allowing):
        return whole
    if passed.patched and context.applies_patches:
        return _patched_grant_verdict(passed, context)
    if passed.view is None or not passed.view.plain:
        return None
    # A place that is closed to a grant of the whole tool stays closed to it, word for word.
    allowing = [rule for rule in allowing if run_grants.whole_tool_grant([rule], passed.descriptor) is None]
    verdicts: dict[str, GateVerdict] = {}
    for simple in (*_change_of_folder(passed, context), *passed.view.commands_to_cover):
        verdict = _simple_grant_verdict(simple, subject, context.allow, allowing)
        if verdict is None:
            return None
        verdicts.setdefault(verdict.rule or verdict.pattern or "", verdict)
    if not is_within_boundary(passed.view.commands, command_boundary(context, passed.folder)):
        return None
    return _joined_verdict(tuple(verdicts.values()))


def _simple_grant_verdict(
    simple: SimpleCommand,
    subject: rules.RuleSubject,
    allow: Sequence[PermissionPattern],
    allowing: Sequence[Rule],
) -> GateVerdict | None:
    """Return what allows one simple command; a grant that says `outside` counts before those that do not."""
    far = [glob for glob in allow if glob.place == "outside"], [r for r in allowing if r.place == "outside"]
    for globs, granting in (far, (allow, allowing)):
        if glob := first_permission_covering(globs, subject.descriptor, simple):
            return replace(_pattern_verdict(glob), place=glob.place)
        if rule := rules.first_rule_passing(granting, subject, simple):
            return _command_rule_verdict(rule, "allows this")
    return None


def _joined_verdict(verdicts: Sequence[GateVerdict]) -> GateVerdict:
    """Return one verdict of several; a line runs outside only if each of its rules says so."""
    place = next((verdict.place for verdict in verdicts if verdict.place != "outside"), verdicts[0].place)
    reason = "; ".join(dict.fromkeys(each.reason for each in verdicts))
    return replace(verdicts[0], reason=reason, place=place)


def _patched_grant_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict | None:
    """Allow a patch if every change that it asks for is allowed; one that a rule asks for is asked."""
    verdicts: list[GateVerdict] = []
    for call in passed.patched:
        verdict = _grant_verdict(call, context)
        if verdict is None or verdict.outcome != "allowed":
            return verdict
        verdicts.append(verdict)
    return _joined_verdict(verdicts)


def _change_of_folder(passed: ScreenedCall, context: GateContext) -> tuple[SimpleCommand, ...]:
    """Return the `cd` that stands for the folder a line runs in: a grant covers it as if it were written."""
    place, root = os.path.realpath(passed.folder), os.path.realpath(context.workspace)
    if place == root:
        return ()
    return view_command(f"cd {shlex.quote(os.path.relpath(place, root))}", root).commands


def _whole_tool_verdict(
    passed: ScreenedCall, context: GateContext, allowing: Sequence[Rule]
) -> GateVerdict | None:
    """Allow a line of a tool that a human granted as a whole for this run, unless it names a closed place."""
    rule = run_grants.whole_tool_grant(allowing, passed.descriptor)
    if rule is None or passed.view is None:
        return None
    if run_grants.protected_place(passed.view.raw, command_boundary(context, passed.folder)):
        return None
    return _command_rule_verdict(rule, "allows every command of this run")


def _command_rule_verdict(rule: Rule, does: str) -> GateVerdict:
    return replace(_rule_verdict("allowed", "grants", rule, does), place=rule.place)


def command_boundary(context: GateContext, folder: str = "") -> CommandBoundary:
    """Return what commands may touch without a question; they run in `folder`, by default the workspace."""
    root = os.path.realpath(context.workspace)
    autorun = autorun_files.AutorunNames(root)
    return CommandBoundary(
        workspace=context.workspace,
        folder=folder,
        closed=context.protected,
        governing=lambda: (*_hook_named_paths(context.workspace), *context.hook_files),
        is_denied=_path_denial_test(context, _is_reader, _exists),
        is_write_denied=_path_denial_test(context, _is_writer, _looks_like_path),
        unwritable=autorun.destination_reason,
        odd_name=lambda path: odd_names.new_name_reason(path, root),
        holds_unwritable=autorun.holding_reason,
    )


def _is_reader(descriptor: ToolDescriptor) -> bool:
    return descriptor.capability == "read" and bool(descriptor.path_parameters)


def _is_writer(descriptor: ToolDescriptor) -> bool:
    return descriptor.capability == "write" and bool(descriptor.path_parameters)


def _path_denial_test(
    context: GateContext,
    is_meant: Callable[[ToolDescriptor], bool],
    names_path: Callable[[ResolvedPath], bool],
) -> Callable[[ResolvedPath], bool] | None:
    """Return a test whether a denial of some tools covers a path; None where no denial names them."""
    standing = [rule for rule in context.rules if rule.effect == "deny"]
    if not context.deny and not standing:
        return None
    tools = {each.id: each for each in context.descriptors.values() if is_meant(each)}
    # Each pattern is tried on one of the tools that it names: it says the same of a path for all of them.
    patterns = [
        (glob, tool)
        for glob in context.deny
        for tool in [
            each
            for each in tools.values()
            if permission_names_tool(parse_permission(glob.text), each, "deny")
        ][:1]
    ]
    if not patterns and not any(
        rules.rule_names_tool(rule.tool, rule.pattern_kind, tool, "deny")
        for rule in standing
        for tool in tools.values()
    ):
        return None
    ruled = replace(context, deny=(), rules=tuple(standing))

    def covers(target: ResolvedPath) -> bool:
        if any(
            permission_matches(glob, tool, {}, {"": target}, None, purpose="deny") for glob, tool in patterns
        ):
            return True
        passed = (_path_call(tool, target, ruled) for tool in tools.values() if standing)
        return any(_first_rule("deny", each, ruled) is not None for each in passed)

    # Where every path is denied, a word that does not look like one is none.
    nowhere = ResolvedPath(
        path=f"{context.workspace}/{UNRELATED_WORD}", relative=UNRELATED_WORD, exists=False
    )
    return lambda target: covers(target) and (names_path(target) or not covers(nowhere))


def _exists(target: ResolvedPath) -> bool:
    return target.exists


def _looks_like_path(target: ResolvedPath) -> bool:
    return target.exists or not {"/", "."}.isdisjoint(os.path.normpath(target.given))


def _path_call(tool: ToolDescriptor, target: ResolvedPath, context: GateContext) -> ScreenedCall:
    parameters: JsonObject = dict.fromkeys(tool.path_parameters, target.relative)
    return ScreenedCall(
        descriptor=tool, parameters=parameters, targets=dict.fromkeys(parameters, target),
        canonical=canonical.dumps(parameters), folder=context.workspace,
    )  # fmt: skip


def _read_grant_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict | None:
    descriptor = passed.descriptor
    if descriptor.capability != "read" or descriptor.risk_level != "read_only":
        return None
    if not descriptor.requires_approval:
        return _allowed_verdict(descriptor.id, "this tool needs no approval")
    if context.reads is not None:
        is_free = context.reads == "reads"
        return (
            _allowed_verdict("session", "reading is allowed without asking in this session")
            if is_free
            else None
        )
    if context.read_only == "auto":
        return _allowed_verdict("approvals.read_only", "reading is allowed without asking")
    if context.read_grant:
        return _allowed_verdict("trust", "reading was allowed when this workspace was trusted")
    return None


def _ask_verdict(passed: ScreenedCall, context: GateContext) -> GateVerdict:
    why = passed.no_grant_reason
    if not why and passed.view is not None:
        why = _uncovered_reason(passed, passed.view, context)
    return GateVerdict(outcome="ask", step="ask", by="default", reason=why)


def _uncovered_reason(passed: ScreenedCall, view: ShellView, context: GateContext) -> str:
    allowing = rules.rules_in_force("allow", context.rules, _rule_moment(context))
    odd, whole = _text_oddity(passed), run_grants.whole_tool_grant(allowing, passed.descriptor)
    if whole is not None and odd is None:
        why = run_grants.protected_place(view.raw, command_boundary(context, passed.folder))
        return f"the grant for this run does not cover it: {why}"
    if odd is None and passed.patched and context.applies_patches:
        return _uncovered_patch_reason(passed, context)
    if not view.plain:
        return uncoverable_line_reason(view, passed.descriptor)
    if odd is not None:
        return "no rule can cover it: it contains hidden or misleading characters"
    if why := boundary_objection(view.commands, command_boundary(context, passed.folder)):
        return f"no rule can cover it: {why}"
    subject = _grant_subject(passed)
    for simple in (*_change_of_folder(passed, context), *view.commands_to_cover):
        if _simple_grant_verdict(simple, subject, context.allow, allowing) is None:
            return (
                f"no pattern and no rule allows {_shown_text(simple.source, 120)}{_word_to_spell_out(simple)}"
            )
    return ""


def _uncovered_patch_reason(passed: ScreenedCall, context: GateContext) -> str:
    uncovered = (call for call in passed.patched if _grant_verdict(call, context) is None)
    return next(
        (call.no_grant_reason or f"no pattern and no rule allows {_call_label(call)}" for call in uncovered),
        "",
    )


def _word_to_spell_out(simple: SimpleCommand) -> str:
    unknown = assess_command(simple.words).unknown
    if unknown is not None:
        word = _shown_text(simple.words[unknown], 60)
        return f": {word} is not known to be harmless, so a pattern has to be the whole line"
    if simple.literal:
        return f": a pattern has to spell out {_shown_text(simple.words[min(simple.literal)], 60)}"
    return ""


def _shown_text(text: str, most: int) -> str:
    return one_line(scrub(text[:4000]).text, most)


def _denied_as_nobody_answers(verdict: GateVerdict) -> GateVerdict:
    why = f"; {verdict.reason}" if verdict.reason else ""
    return replace(
        verdict,
        outcome="denied",
        step="ask",
        reason=f"a human has to approve this, and nobody can answer here{why}",
    )


# --- words -------------------------------------------------------------------------------------------


def _match_arguments(
    passed: ScreenedCall,
) -> tuple[ToolDescriptor, JsonObject, Mapping[str, ResolvedPath], ShellView | None]:
    return passed.descriptor, passed.parameters, passed.named_paths, passed.view


def _first_rule(
    effect: Literal["allow", "ask", "deny"], passed: ScreenedCall, context: GateContext
) -> Rule | None:
    return rules.first_rule_covering(effect, context.rules, _rule_subject(passed), _rule_moment(context))


def _rule_subject(passed: ScreenedCall) -> rules.RuleSubject:
    return rules.RuleSubject(
        descriptor=passed.descriptor,
        parameters=passed.parameters,
        targets=passed.targets,
        files=passed.files,
        canonical=passed.canonical,
        view=passed.view,
    )


def _grant_subject(passed: ScreenedCall) -> rules.RuleSubject:
    """Return a command as allowing rules see it: without what its agent says about where it runs."""
    subject = _rule_subject(passed)
    said = passed.parameters.keys() & {OUTSIDE_PARAMETER, REASON_PARAMETER}
    parameters = {name: value for name, value in passed.parameters.items() if name not in said}
    return replace(subject, parameters=parameters, canonical=canonical.dumps(parameters)) if said else subject


def _rule_moment(context: GateContext) -> rules.RuleMoment:
    return rules.RuleMoment(
        session_id=context.session_id, workspace=context.workspace, run_id=context.run_id, now=context.now,
        turn_id=context.turn_id, settings_of=context.settings_of,
    )  # fmt: skip


def _pattern_verdict(glob: PermissionPattern) -> GateVerdict:
    return GateVerdict(
        outcome="allowed", step="grants", by=glob.origin or "approvals.allow", pattern=glob.text,
        reason=f"{one_line(glob.text, 120)} in your own configuration allows this",
    )  # fmt: skip


def _call_label(passed: ScreenedCall) -> str:
    name = passed.descriptor.target_parameter
    target = passed.parameters.get(name) if name else None
    if not target:
        return passed.descriptor.id
    return f"{passed.descriptor.id}({_shown_text(str(target), 120)})"


def _refused_verdict(step: GateStep, reason: str) -> GateVerdict:
    return GateVerdict(outcome="refused", step=step, by="default", reason=reason)


def _allowed_verdict(by: str, reason: str) -> GateVerdict:
    return GateVerdict(outcome="allowed", step="grants", by=by, reason=reason)


def _rule_verdict(
    outcome: Literal["allowed", "ask", "denied"], step: GateStep, rule: Rule, does: str
) -> GateVerdict:
    return GateVerdict(
        outcome=outcome,
        step=step,
        by=rule.id,
        rule=rule.id,
        pattern=rule.pattern,
        reason=f"{rule.id} {does}: {one_line(rule.description, 120)}",
    )
