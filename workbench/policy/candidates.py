"""Rules that a call suggests: from exactly this call to wider ones, each judged before it is offered.

Owns which patterns are offered, in which order, and their words. It saves nothing: what may be saved is said
by `rules.problems`, and what does not cover the call is no candidate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from workbench.domain.rows import Rule
from workbench.domain.values import JsonObject, PatternKind, RuleEffect, RuleScope, ToolDescriptor
from workbench.policy import rules
from workbench.policy.operands import Boundary, objection
from workbench.policy.past import subject_of
from workbench.policy.rule_regex import exact
from workbench.policy.shell import Simple
from workbench.text.shown import oddities, strings

_SHOWN_AS: Final = {
    "run_in_terminal": "Bash", "read_file": "Read", "context.read": "Read", "grep_search": "Grep",
    "file_search": "Glob", "list_dir": "LS", "replace_string_in_file": "Edit", "create_file": "Write",
    "create_directory": "Write", "fetch_webpage": "WebFetch",
}  # fmt: skip
_WILD: Final = frozenset("*()?[]{}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A rule that could be saved, or why it could not."""

    tool: str
    pattern_kind: PatternKind
    pattern: str
    covers: str
    """What it would cover, in words: `exactly this`."""
    refused: str = ""
    """Why it may not be saved; empty if it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Everything that can be made of one call."""

    subject: rules.Subject
    candidates: tuple[Candidate, ...] = ()
    about: str = ""
    """What the candidates are about: the command or the part of it, the path, the address; raw."""
    part: int | None = None
    """Which part of a line of several commands they are about, from 1; None where there is one."""
    parts: int = 1
    part_subject: rules.Subject | None = None
    """That part as a call of its own; None where the line has one part."""
    why_none: str = ""
    """Why no rule can cover the call; then there are no candidates."""


def offer(
    descriptor: ToolDescriptor,
    parameters: JsonObject,
    workspace: str,
    standing: Sequence[Rule] = (),
    boundary: Boundary | None = None,
) -> Offer:
    """Return the rules that a call suggests, narrowest first.

    Args:
        descriptor: the tool.
        parameters: as the agent wrote them.
        workspace: absolute path in which paths are resolved.
        standing: rules that allow and hold here; of a line of several commands, the first part that none of
            them covers is what candidates are about.
        boundary: what commands may touch here; without one, what they touch is not looked at.
    """
    subject = subject_of(descriptor, parameters, workspace)
    why = _never(subject, boundary)
    if why:
        return Offer(subject=subject, why_none=why)
    if subject.view is not None:
        return _of_command(subject, standing)
    about, drafts = _drafts(subject)
    return Offer(subject=subject, about=about, candidates=tuple(_judged(subject, draft) for draft in drafts))


def _never(subject: rules.Subject, boundary: Boundary | None) -> str:
    seen = subject.view
    if seen is not None and not seen.plain:
        return f"no rule can cover it: {', '.join(seen.reasons)}"
    if seen is not None and boundary is not None and (why := objection(seen.commands, boundary)):
        return f"no rule can cover it: {why}"
    name = subject.descriptor.command_parameter
    for key, value in subject.parameters.items():
        where = "approval_command" if key == name else "diff_preview"
        odd = {oddity for text in strings(value) for oddity in oddities(text, where)} - {"long"}
        if odd and subject.descriptor.capability != "read":
            return "no rule can cover it: it holds text that is not what it seems"
    return ""


# --- commands ------------------------------------------------------------------------------------


def _of_command(subject: rules.Subject, standing: Sequence[Rule]) -> Offer:
    assert subject.view is not None
    commands = subject.view.commands
    needed = [n for n, simple in enumerate(commands) if not simple.stays] or [0]
    at = next((n for n in needed if rules.covering(standing, subject, commands[n]) is None), needed[0])
    simple = commands[at]
    alone = subject_of(
        subject.descriptor,
        {**subject.parameters, subject.descriptor.command_parameter or "": _source(simple)},
        "",
    )
    found = [_judged(alone, draft) for draft in _command_drafts(alone, simple)]
    return Offer(
        subject=subject, candidates=tuple(found), about=_source(simple),
        part=at + 1 if len(commands) > 1 else None, parts=len(commands),
        part_subject=alone if len(commands) > 1 else None,
    )  # fmt: skip


def _source(simple: Simple) -> str:
    """Return a part as it is written, with what it reads."""
    return simple.source + "".join(f" < {name}" for name in simple.inputs)


_Draft = tuple[PatternKind, str, str]


def _command_drafts(subject: rules.Subject, simple: Simple) -> Iterator[_Draft]:
    words = [*simple.assignments, *simple.written]
    source = " ".join(words)
    suffix = "".join(f" < {name}" for name in simple.inputs)
    if _WILD & set(source):
        yield "regex", exact(subject.parameters), "exactly this, with all its parameters"
    else:
        yield "glob", f"Bash({source}{suffix})", "exactly this"
    first = len(simple.assignments)
    ends = list(range(len(words) - 1, first, -1))
    for end in ends if len(ends) <= 4 else (*ends[:2], *ends[-2:]):
        said = "any command that begins so" if end > first + 1 else f"every {words[first]} there is"
        yield "glob", f"Bash({' '.join(words[:end])} *)", said
    if not ends:
        yield "glob", f"Bash({source} *)", "this, and any text after it"


# --- paths, addresses, anything else -------------------------------------------------------------


def _drafts(subject: rules.Subject) -> tuple[str, list[_Draft]]:
    found = subject.descriptor
    name = _SHOWN_AS.get(found.id, found.id)
    address = subject.parameters.get(found.url_parameter or "")
    if isinstance(address, str) and (host := urlsplit(address).hostname):
        return address, [
            ("regex", exact(subject.parameters), "exactly this address"),
            ("glob", f"{name}(domain:{host})", f"every page of {host}"),
            ("glob", name, "every page there is"),
        ]
    if subject.targets:
        path = next(iter(subject.targets.values())).relative
        return path, list(_path_drafts(name, path))
    return found.id, [
        ("regex", exact(subject.parameters), "exactly these parameters"),
        ("glob", name, f"every call of {found.id}"),
    ]  # fmt: skip


def _path_drafts(name: str, path: str) -> Iterator[_Draft]:
    if not _WILD & set(path):
        yield "glob", f"{name}({path})", "exactly this path, with any content"
        folder, _, last = path.rpartition("/")
        ending = last.rpartition(".")[2] if "." in last[1:] else ""
        if folder and ending:
            yield "glob", f"{name}({folder}/*.{ending})", f"files *.{ending} in {folder}/, not below it"
        if folder:
            yield "glob", f"{name}({folder}/**)", f"everything in {folder}/ and below it"
    yield "glob", name, "every path there is"


# --- judging -------------------------------------------------------------------------------------


def _judged(subject: rules.Subject, draft: _Draft) -> Candidate:
    kind, pattern, words = draft
    made = Candidate(tool=subject.descriptor.id, pattern_kind=kind, pattern=pattern, covers=words)
    return Candidate(
        tool=made.tool, pattern_kind=kind, pattern=pattern, covers=words, refused=refusal(made, subject)
    )


def refusal(
    candidate: Candidate,
    subject: rules.Subject,
    effect: RuleEffect = "allow",
    known: Mapping[str, ToolDescriptor] | None = None,
) -> str:
    """Return why a candidate may not be saved as a rule, empty if it may.

    Args:
        candidate: tool and pattern.
        subject: the call that it has to cover.
        effect: what the rule would do.
        known: descriptors by id; by default only the call's.
    """
    found = rules.problems(
        tool=candidate.tool, pattern_kind=candidate.pattern_kind, pattern=candidate.pattern,
        description="made from a call", known_tools=known or {subject.descriptor.id: subject.descriptor},
        effect=effect, scope="always",
    )  # fmt: skip
    if found:
        return found[0].removeprefix("pattern: ").removeprefix(candidate.pattern).lstrip(": ")
    if rules.covers(as_rule(candidate, effect), subject):
        return ""
    seen = subject.view
    if seen is not None and any(spans for simple in seen.commands for _, spans in simple.ways()):
        return "it does not spell out every word that is not known to be harmless"
    return "it does not cover this call"


def as_rule(candidate: Candidate, effect: RuleEffect = "allow", scope: RuleScope = "always") -> Rule:
    """Return a candidate as a rule that is not saved, to try it on calls."""
    return Rule(
        id="new", effect=effect, origin="user", scope=scope, tool=candidate.tool, created_at=0,
        pattern=candidate.pattern, pattern_kind=candidate.pattern_kind, description="tried on the past",
    )  # fmt: skip
