"""The gate: one function decides about every tool call of every agent, in seven steps.

Owns the order of the steps and the words of a verdict, which name who spoke. It has no side effect, asks
no human, and never lets a grant beat a deny: allowing comes last, from a fixed list of those who may.
"""

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from workbench.domain.rows import Rule
from workbench.domain.values import GateStep, JsonObject, ToolDescriptor, Verdict
from workbench.policy import autorun, rules, schemas, trust
from workbench.policy.globs import Glob, covering, first_match, is_within, matches, names_tool, parse
from workbench.policy.operands import Boundary, is_free, objection
from workbench.policy.paths import PathRefused, ResolvedPath, refuse_protected, resolve
from workbench.policy.shell import ShellView, Simple, view
from workbench.policy.shell_inner import inner_view
from workbench.policy.shell_judging import judge as judge_words
from workbench.policy.urls import UrlRules
from workbench.policy.urls import objection as url_objection
from workbench.text import canonical
from workbench.text.safe import one_line
from workbench.text.scripts import is_mixed_host
from workbench.text.scrub import scrub
from workbench.text.shown import Where, oddities, strings

__all__ = [
    "GateCall", "GateContext", "Glob", "Judgement", "Passed",
    "after_hooks", "before_hooks", "denied", "judge", "may_know", "reading_denied", "recheck",
]  # fmt: skip

EVERY_PROVIDER: Final = "*"

_READING: Final = "read_file"
_MAKING: Final = frozenset({"create_file", "create_directory"})
"""Tools that may make what may not be read; that it is there already is told only after a human answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCall:
    """A call as an agent made it."""

    tool: str
    """Id or wire name."""
    parameters: JsonObject
    malformed: str | None = None
    """Why the parameters could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateContext:
    """Everything that a verdict depends on besides the call."""

    descriptors: Mapping[str, ToolDescriptor]
    """By id and by wire name."""
    provider: str
    workspace: str
    session_id: str
    now: int
    active_tools: tuple[str, ...] = ()
    """Ids; empty means all."""
    protected: tuple[str, ...] = ()
    """Real paths that no agent may touch, such as the data home."""
    hook_files: tuple[str, ...] = ()
    """Real paths that active hooks name: no agent may write them."""
    deny: tuple[Glob, ...] = ()
    allow: tuple[Glob, ...] = ()
    ceiling: tuple[Glob, ...] | None = None
    rules: tuple[Rule, ...] = ()
    run_id: str | None = None
    read_only: Literal["ask", "auto"] = "ask"
    read_grant: bool = False
    reads: Literal["every", "reads"] | None = None
    """What a human said for this session, which goes before settings and trust: ask about every tool, or
    about all but those that only read."""
    ended: str = ""
    """Why no grant counts, where trust in the workspace ended while it stood in the way of calls."""
    can_ask: bool = True
    urls: UrlRules = UrlRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A call that went through the steps before the hooks."""

    descriptor: ToolDescriptor
    parameters: JsonObject
    targets: Mapping[str, ResolvedPath]
    """Path parameters, resolved."""
    canonical: str = ""
    """Canonical JSON of the parameters, as rules see them."""
    view: ShellView | None = None
    """The command, if there is one."""
    marks: tuple[str, ...] = ()
    """What keeps every grant from covering it, a word each for its row: `runs by itself`, `trust ended`."""
    unheld: str = ""
    """The same as a sentence."""

    @property
    def grounded(self) -> dict[str, object]:
        """Return the parameters with real paths, relative to the workspace: what tools are given."""
        return {**self.parameters, **{name: found.relative for name, found in self.targets.items()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the gate said, and of what."""

    verdict: Verdict
    passed: Passed | None = field(default=None)
    """None if the call did not get as far as the hooks."""


Hooks = Callable[[Passed], Awaitable[Verdict | None]]


async def judge(call: GateCall, context: GateContext, hooks: Hooks) -> Judgement:
    """Decide about a call: all seven steps, in order.

    Args:
        call: What the agent wants.
        context: What holds here and now.
        hooks: Runs the PreToolUse hooks; returns the verdict of one that blocks.
    """
    passed = before_hooks(call, context)
    if isinstance(passed, Verdict):
        return Judgement(verdict=passed)
    blocked = await hooks(passed)
    return Judgement(verdict=blocked or after_hooks(passed, context), passed=passed)


def before_hooks(call: GateCall, context: GateContext) -> Passed | Verdict:
    """Take the steps 1 to 4: schema, paths, deny, ceiling."""
    descriptor = _known(call, context)
    if isinstance(descriptor, Verdict):
        return descriptor
    text = _checked(call, descriptor)
    if isinstance(text, Verdict):
        return text
    targets = targets_of(call.parameters, descriptor, context)
    if isinstance(targets, Verdict):
        return targets
    command = call.parameters.get(descriptor.command_parameter or "")
    passed = Passed(
        descriptor=descriptor,
        parameters=call.parameters,
        targets=targets,
        canonical=text,
        view=view(command, context.workspace) if isinstance(command, str) else None,
    )
    no = denied(passed, context) or _answers_denied(passed, context)
    return no or _above_ceiling(passed, context) or _marked(passed, context)


def _marked(passed: Passed, context: GateContext) -> Passed:
    """Note what keeps every grant from covering a call."""
    found = {trust.ENDED: context.ended} if context.ended else {}
    if passed.descriptor.capability != "read":
        root = os.path.realpath(context.workspace)
        for target in passed.targets.values():
            if why := autorun.reason(target.path, root):
                found[autorun.MARK] = f"no grant covers {one_line(target.relative, 120)}: {why}"
    return replace(passed, marks=tuple(found), unheld="; ".join(found.values())) if found else passed


def after_hooks(passed: Passed, context: GateContext) -> Verdict:
    """Take the steps 6 and 7: grants, else a human, else no."""
    return _granted(passed, context) or _unanswered(passed, context)


def recheck(call: GateCall, context: GateContext) -> Verdict:
    """Take the steps 1 to 4 and 6 again at execution.

    Returns:
        `denied` or `refused`: the call stops. Otherwise it may go on with what it has: `allowed` names
        the grant that would let it pass now, `ask` says that none does.
    """
    passed = before_hooks(call, context)
    if isinstance(passed, Verdict):
        return passed
    return after_hooks(passed, replace(context, can_ask=True))


# --- 1: the tool and its parameters ----------------------------------------------------------------


def _known(call: GateCall, context: GateContext) -> ToolDescriptor | Verdict:
    name = one_line(call.tool, 80)
    descriptor = context.descriptors.get(call.tool)
    if descriptor is None:
        return _refused("schema", f"{name}: no tool is called that")
    offered = descriptor.allowed_providers
    if EVERY_PROVIDER not in offered and context.provider not in offered:
        return _refused("schema", f"{name}: not offered to {one_line(context.provider, 60)}")
    if context.active_tools and descriptor.id not in context.active_tools:
        return _refused("schema", f"{name}: not active in this session")
    return descriptor


def _checked(call: GateCall, descriptor: ToolDescriptor) -> str | Verdict:
    """Return canonical parameters that satisfy the schema."""
    if call.malformed is not None:
        return _refused("schema", f"the parameters cannot be read: {one_line(call.malformed, 200)}")
    try:
        text = canonical.dumps(dict(call.parameters))
    except (ValueError, TypeError) as error:
        return _refused("schema", f"the parameters are no JSON: {one_line(str(error), 200)}")
    found = schemas.check(descriptor.input_schema, call.parameters) or tuple(_nul(call, descriptor))
    return _refused("schema", "; ".join(found)) if found else text


def _nul(call: GateCall, descriptor: ToolDescriptor) -> Iterator[str]:
    for name in (descriptor.command_parameter, descriptor.url_parameter):
        if name is not None and "\0" in str(call.parameters.get(name, "")):
            yield f"{name}: holds a NUL character"


# --- 2: paths ----------------------------------------------------------------------------------------


def targets_of(
    parameters: JsonObject, descriptor: ToolDescriptor, context: GateContext
) -> dict[str, ResolvedPath] | Verdict:
    """Take step 2: resolve the paths that a call names, and refuse those that it may not touch."""
    writes = descriptor.capability != "read"
    found: dict[str, ResolvedPath] = {}
    try:
        for name in descriptor.path_parameters:
            if name in parameters:
                found[name] = resolve(context.workspace, str(parameters[name]))
        governing = (*_governing(context.workspace), *context.hook_files) if writes and found else ()
        for target in found.values():
            refuse_protected(target, context.workspace, context.protected, writes=writes, governing=governing)
    except PathRefused as error:
        return _refused("paths", str(error))
    why = _unreachable(parameters, descriptor, context)
    return _refused("paths", why) if why else found


def _unreachable(parameters: JsonObject, descriptor: ToolDescriptor, context: GateContext) -> str | None:
    """Return why a web address can be refused before a name server hears of it."""
    url = parameters.get(descriptor.url_parameter or "")
    why = url_objection(url, context.urls) if isinstance(url, str) else None
    return why and f"{one_line(str(url), 160)}: {why}"


def _governing(workspace: str) -> tuple[str, ...]:
    return tuple(f"{workspace}/{name}" for name in trust.named_files(workspace))


# --- 3 and 4: what may never be ----------------------------------------------------------------------


def denied(passed: Passed, context: GateContext) -> Verdict | None:
    """Take step 3: return the verdict of a deny list or rule that covers a call."""
    glob = first_match(context.deny, *_subject(passed), purpose="deny")
    if glob is not None:
        return Verdict(
            outcome="denied",
            step="deny",
            by=glob.origin or "deny",
            pattern=glob.text,
            reason=f"{_named(passed)} matches {one_line(glob.text, 120)} in a deny list",
        )
    rule = _rule("deny", passed, context)
    return _ruled("denied", "deny", rule, "denies this") if rule else None


def reading_denied(target: ResolvedPath, context: GateContext) -> Verdict | None:
    """Return the verdict of a deny list or rule that covers reading a file."""
    descriptor = context.descriptors.get(_READING)
    if descriptor is None:
        return None
    parameters = {"path": target.relative}
    text = canonical.dumps(parameters)
    passed = Passed(descriptor=descriptor, parameters=parameters, targets={"path": target}, canonical=text)
    return denied(passed, context)


def may_know(passed: Passed, context: GateContext) -> bool:
    """Say whether an agent may hear, before a human answered, why a change cannot be made.

    The reason tells what a file holds, so it is for who may read the file without asking. Where a tool only
    makes something, it tells that there is something already, which only a denial hides.
    """
    targets = passed.targets.values()
    if passed.descriptor.id in _MAKING:
        return all(reading_denied(target, context) is None for target in targets)
    reads = (GateCall(tool=_READING, parameters={"path": target.relative}) for target in targets)
    return all(recheck(read, context).outcome == "allowed" for read in reads)


def _answers_denied(passed: Passed, context: GateContext) -> Verdict | None:
    """Deny a tool whose answers tell what a file holds, or that it is there, as reading it is denied."""
    if passed.descriptor.id in _MAKING:
        return None
    said = (reading_denied(target, context) for target in passed.targets.values())
    return next(filter(None, said), None)


def _above_ceiling(passed: Passed, context: GateContext) -> Verdict | None:
    seen = passed.view and passed.view.without_stays
    if not context.ceiling or is_within(context.ceiling, *_subject(passed)[:3], seen):
        return None
    listed = ", ".join(dict.fromkeys(glob.text for glob in context.ceiling))
    return Verdict(
        outcome="denied",
        step="ceiling",
        by=context.ceiling[0].origin or "allowed_tools",
        reason=f"{_named(passed)} is none of the allowed tools: {one_line(listed, 200)}",
    )


# --- 6 and 7: who lets it pass, and if nobody does ---------------------------------------------------


def _granted(passed: Passed, context: GateContext) -> Verdict | None:
    asking = _rule("ask", passed, context)
    if asking is not None:
        said = _ruled("ask", "grants", asking, "asks for this")
        return said if context.can_ask else _nobody(said)
    if passed.marks or _oddity(passed) is not None:
        return None
    if passed.descriptor.command_parameter is not None:
        return _perhaps_denied(passed, context) or _command_granted(passed, context)
    glob = first_match(context.allow, *_subject(passed), purpose="grant")
    if glob is not None:
        return _allowed_by(glob)
    rule = _rule("allow", passed, context)
    return _ruled("allowed", "grants", rule, "allows this") if rule else _read_granted(passed, context)


def _oddity(passed: Passed) -> str | None:
    """Return what is odd about the text of a call that changes something: then a human has to look."""
    if passed.descriptor.capability == "read":
        return None
    for name, value in passed.parameters.items():
        is_command = name == passed.descriptor.command_parameter
        is_path = name in passed.descriptor.path_parameters
        where: Where = "approval_command" if is_command else "file_name" if is_path else "diff_preview"
        if name == passed.descriptor.url_parameter and any(map(is_mixed_host, strings(value))):
            return "mixed scripts"
        found = (oddity for text in strings(value) for oddity in oddities(text, where))
        # A long line is looked into as a whole; who reads it is warned of it all the same.
        if odd := next((oddity for oddity in found if oddity != "long"), None):
            return odd
    return None


def _perhaps_denied(passed: Passed, context: GateContext) -> Verdict | None:
    """Ask, whatever was granted, where a deny matches a later word of a program that nobody knows."""
    has_denials = context.deny or rules.in_force("deny", context.rules, _moment(context))
    if not has_denials or passed.view is None or not passed.view.plain:
        return None
    inner = inner_view(passed.view, context.workspace)
    said = denied(replace(passed, view=inner), context) if inner is not None else None
    if said is None:
        return None
    why = (
        f"a deny on {one_line(said.pattern or said.by, 120)} may concern this: a later word of it may be run"
    )
    asked = replace(said, outcome="ask", step="grants", reason=why)
    return asked if context.can_ask else _nobody(asked)


def _command_granted(passed: Passed, context: GateContext) -> Verdict | None:
    """Allow a plain line when each of its simple commands is let pass by a pattern or a rule."""
    if passed.view is None or not passed.view.plain:
        return None
    subject, moment = _ruled_subject(passed), _moment(context)
    allowing = rules.in_force("allow", context.rules, moment)
    found: dict[str, Verdict] = {}
    for simple in passed.view.to_cover:
        glob = covering(context.allow, passed.descriptor, simple)
        rule = None if glob else rules.covering(allowing, subject, simple)
        if glob is not None:
            found.setdefault(glob.text, _allowed_by(glob))
        elif rule is not None:
            found.setdefault(rule.id, _ruled("allowed", "grants", rule, "allows this"))
        else:
            return None
    if not is_free(passed.view.commands, boundary(context)):
        return None
    first, *others = found.values()
    return replace(first, reason="; ".join([first.reason, *(other.reason for other in others)]))


def boundary(context: GateContext) -> Boundary:
    """Return what commands may touch without a question."""
    return Boundary(
        workspace=context.workspace,
        closed=context.protected,
        governing=lambda: (*_governing(context.workspace), *context.hook_files),
        is_denied=_reading_denied(context),
        unwritable=lambda path: autorun.reason(path, os.path.realpath(context.workspace)),
    )


def _reading_denied(context: GateContext) -> Callable[[ResolvedPath], bool] | None:
    """Return what says whether reading a path is denied; None where no reading is."""
    standing = [rule for rule in context.rules if rule.effect == "deny"]
    if not context.deny and not standing:
        return None
    readers = {
        found.id: found
        for found in context.descriptors.values()
        if found.capability == "read" and found.path_parameters
    }
    # Each pattern is tried on one of the tools that it names: it says the same of a path for all of them.
    patterns = [
        (glob, reader)
        for glob in context.deny
        for reader in [r for r in readers.values() if names_tool(parse(glob.text), r, "deny")][:1]
    ]
    ruled = replace(context, deny=(), rules=tuple(standing))

    def covers(target: ResolvedPath) -> bool:
        if any(matches(glob, reader, {}, {"": target}, None, purpose="deny") for glob, reader in patterns):
            return True
        passed = (_reading(reader, target) for reader in readers.values() if standing)
        return any(_rule("deny", each, ruled) is not None for each in passed)

    # Where all reading is denied, a word that names no file is no path.
    nowhere = ResolvedPath(path=f"{context.workspace}/{_NO_NAME}", relative=_NO_NAME, exists=False)
    return lambda target: covers(target) and (target.exists or not covers(nowhere))


def _reading(reader: ToolDescriptor, target: ResolvedPath) -> Passed:
    """Return the call that reads a path."""
    parameters: JsonObject = dict.fromkeys(reader.path_parameters, target.relative)
    return Passed(
        descriptor=reader, parameters=parameters, targets=dict.fromkeys(parameters, target),
        canonical=canonical.dumps(parameters),
    )  # fmt: skip


_NO_NAME: Final = "qvx7kd"
"""A name that no pattern is about, unless it is about every name."""


def _read_granted(passed: Passed, context: GateContext) -> Verdict | None:
    descriptor = passed.descriptor
    if descriptor.capability != "read" or descriptor.risk_level != "read_only":
        return None
    if not descriptor.requires_approval:
        return _allowed(descriptor.id, "this tool asks nobody")
    if context.reads is not None:
        is_free = context.reads == "reads"
        return _allowed("session", "reading is allowed without asking in this session") if is_free else None
    if context.read_only == "auto":
        return _allowed("approvals.read_only", "reading is allowed without asking")
    if context.read_grant:
        return _allowed("trust", "reading was allowed when this workspace was trusted")
    return None


def _unanswered(passed: Passed, context: GateContext) -> Verdict:
    why = passed.unheld
    if not why and passed.view is not None:
        why = _uncovered(passed, passed.view, context)
    asked = Verdict(outcome="ask", step="ask", by="default", reason=why)
    return asked if context.can_ask else _nobody(asked)


def _uncovered(passed: Passed, seen: ShellView, context: GateContext) -> str:
    """Say why nothing lets a command pass: what makes it unplain, or the first part that nothing covers."""
    if not seen.plain:
        return f"no rule can cover it: {', '.join(seen.reasons)}"
    if _oddity(passed) is not None:
        return "no rule can cover it: it holds text that is not what it seems"
    if why := objection(seen.commands, boundary(context)):
        return f"no rule can cover it: {why}"
    subject, allowing = _ruled_subject(passed), rules.in_force("allow", context.rules, _moment(context))
    for simple in seen.to_cover:
        if covering(context.allow, passed.descriptor, simple) is None and not rules.covering(
            allowing, subject, simple
        ):
            return f"no pattern and no rule allows {_shown(simple.source, 120)}{_to_spell(simple)}"
    return ""


def _to_spell(simple: Simple) -> str:
    """Say which word of a command no wildcard covers; empty if there is none."""
    unknown = judge_words(simple.words).unknown
    if unknown is not None:
        word = _shown(simple.words[unknown], 60)
        return f": {word} is not known to be harmless, so a pattern has to be the whole line"
    if simple.literal:
        return f": a pattern has to spell out {_shown(simple.words[min(simple.literal)], 60)}"
    return ""


def _shown(text: str, most: int) -> str:
    return one_line(scrub(text[:4000]).text, most)


def _nobody(asked: Verdict) -> Verdict:
    why = f"; {asked.reason}" if asked.reason else ""
    return replace(
        asked, outcome="denied", step="ask", reason=f"it has to be asked, and nobody can answer here{why}"
    )


# --- words -------------------------------------------------------------------------------------------


def _subject(
    passed: Passed,
) -> tuple[ToolDescriptor, JsonObject, Mapping[str, ResolvedPath], ShellView | None]:
    return passed.descriptor, passed.parameters, passed.targets, passed.view


def _rule(effect: Literal["allow", "ask", "deny"], passed: Passed, context: GateContext) -> Rule | None:
    return rules.first(effect, context.rules, _ruled_subject(passed), _moment(context))


def _ruled_subject(passed: Passed) -> rules.Subject:
    return rules.Subject(
        descriptor=passed.descriptor,
        parameters=passed.parameters,
        targets=passed.targets,
        canonical=passed.canonical,
        view=passed.view,
    )


def _moment(context: GateContext) -> rules.Moment:
    return rules.Moment(
        session_id=context.session_id, workspace=context.workspace, run_id=context.run_id, now=context.now
    )


def _allowed_by(glob: Glob) -> Verdict:
    return Verdict(
        outcome="allowed", step="grants", by=glob.origin or "approvals.allow", pattern=glob.text,
        reason=f"{one_line(glob.text, 120)} in your own configuration allows this",
    )  # fmt: skip


def _named(passed: Passed) -> str:
    name = passed.descriptor.target_parameter
    target = passed.parameters.get(name) if name else None
    if not target:
        return passed.descriptor.id
    return f"{passed.descriptor.id}({one_line(scrub(str(target)[:4000]).text, 120)})"


def _refused(step: GateStep, reason: str) -> Verdict:
    return Verdict(outcome="refused", step=step, by="default", reason=reason)


def _allowed(by: str, reason: str) -> Verdict:
    return Verdict(outcome="allowed", step="grants", by=by, reason=reason)


def _ruled(outcome: Literal["allowed", "ask", "denied"], step: GateStep, rule: Rule, does: str) -> Verdict:
    return Verdict(
        outcome=outcome,
        step=step,
        by=rule.id,
        rule=rule.id,
        pattern=rule.pattern,
        reason=f"{rule.id} {does}: {one_line(rule.description, 120)}",
    )
