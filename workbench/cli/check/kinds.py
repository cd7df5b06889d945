"""What can be asked of the guard: a case in, a verdict out, by the functions that the gate itself uses.

Owns the fields of cases and verdicts. It must never judge anything on its own, nor change anything.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, cast

from workbench.changes.model import FileChange
from workbench.cli.tools.listing import all_tools
from workbench.domain.values import Capability, JsonObject, ToolDescriptor, Verdict
from workbench.effects.files import FileImage
from workbench.policy.names import OWN_IDS
from workbench.policy.urls import UrlRefused, UrlRules, check_hops, host_name
from workbench.text.safe import one_line
from workbench.text.shown import PLACES, Where, show


class BadCase(ValueError):
    """A line is no case of its kind; the message says what is wrong."""


Judge = Callable[[JsonObject], JsonObject]


def _text(case: JsonObject, name: str) -> str:
    value = case.get(name)
    if not isinstance(value, str):
        raise BadCase(f"{name}: a text is needed" if name in case else f"{name} is missing")
    return value


def _texts(case: JsonObject, name: str) -> tuple[str, ...]:
    value = case.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[object]", value)):
        raise BadCase(f"{name}: a list of texts is needed")
    return tuple(cast("list[str]", value))


def _object(case: JsonObject, name: str) -> JsonObject:
    value = case.get(name, {})
    if not isinstance(value, dict):
        raise BadCase(f"{name}: an object is needed")
    return cast("JsonObject", value)


@cache
def _tools() -> Mapping[str, ToolDescriptor]:
    return {tool.id: tool for tool in all_tools()}


# --- command, path, rule -------------------------------------------------------------------------------


def command(case: JsonObject) -> JsonObject:
    """Judge a command by lists of patterns, as the gate does at its steps 1 to 7."""
    from workbench.policy.gate import GateCall, GateContext, Passed, after_hooks, before_hooks
    from workbench.policy.globs import Glob
    from workbench.policy.shell import view

    text = _text(case, "command")
    context = GateContext(
        descriptors=_tools(), provider="check", workspace=str(Path.cwd()), session_id="check", now=0,
        deny=tuple(Glob(text=pattern, origin="deny") for pattern in _texts(case, "deny")),
        allow=tuple(Glob(text=pattern, origin="allow") for pattern in _texts(case, "allow")),
    )  # fmt: skip
    passed = before_hooks(GateCall(tool="run_in_terminal", parameters={"command": text}), context)
    verdict = after_hooks(passed, context) if isinstance(passed, Passed) else passed
    return {
        "verdict": _WORDS[verdict.outcome],
        "rule": verdict.pattern,
        "reason": verdict.reason or "nothing allows it",
        "commands": list(view(text).segments),
    }


_WORDS: Final = {"allowed": "allow", "ask": "ask", "denied": "deny", "refused": "deny"}


def path(case: JsonObject) -> JsonObject:
    """Judge a path as the gate does at its step 2."""
    from workbench.policy.gate import GateContext, targets_of
    from workbench.policy.paths import PathRefused, resolve

    workspace, given = _text(case, "workspace"), _text(case, "path")
    if not workspace or "\0" in workspace:
        raise BadCase("workspace: names no folder")
    descriptor = _path_tool(_text(case, "op"))
    context = GateContext(
        descriptors={}, provider="check", workspace=str(Path(workspace).absolute()), session_id="check",
        now=0, protected=_protected(),
    )  # fmt: skip
    if not Path(workspace).is_dir():
        raise BadCase(f"workspace: {one_line(workspace, 120)} is no folder")
    found = targets_of({"path": given}, descriptor, context)
    if not isinstance(found, Verdict):
        return {"verdict": "allow", "resolved": found["path"].path, "reason": "inside the workspace"}
    try:
        resolved = resolve(context.workspace, given).path
    except PathRefused as error:
        resolved = error.leads_to
    return {"verdict": "deny", "resolved": resolved, "reason": found.reason}


_READING: Final = frozenset(
    {"context.read", "list_dir", "file_search", "grep_search", "terminal_last_command"}
)


def _path_tool(op: str) -> ToolDescriptor:
    """Return a tool that takes a path and has the capability of the one that is named."""
    known = _tools().get(op)
    if known is None and op not in OWN_IDS:
        raise BadCase(f"op: no tool is called {one_line(op, 60)}")
    reads: Capability = "read" if op in _READING else "write"
    capability = known.capability if known else reads
    return ToolDescriptor(
        id=op, wire_name=op.replace(".", "_"), description="", capability=capability, risk_level="dangerous",
        input_schema={}, path_parameters=("path",),
    )  # fmt: skip


@cache
def _protected() -> tuple[str, ...]:
    from workbench.journal.home import default_folder

    return (os.path.realpath(default_folder(os.environ)),)


def rule(case: JsonObject) -> JsonObject:
    """Judge a pattern as `rules add` does."""
    from workbench.policy.rules import acceptance

    for name in ("tool", "pattern"):
        if name in case and not isinstance(case[name], str):
            return {"verdict": "reject_invalid", "reason": f"{name}: a text is needed"}
    verdict, reason = acceptance(_text(case, "tool"), _text(case, "pattern"), _tools())
    return {"verdict": verdict, "reason": reason}


# --- scrub, text, url, edit ----------------------------------------------------------------------------


def scrub(case: JsonObject) -> JsonObject:
    """Replace secrets as whatever is recorded has them replaced."""
    from workbench.text.scrub import scrub as scrubbed
    from workbench.text.scrub import scrub_value

    match _text(case, "kind"):
        case "output":
            return {"text": scrubbed(_text(case, "text")).text}
        case "params":
            return {"params": scrub_value(_object(case, "params"))[0]}
        case other:
            raise BadCase(f"kind: output or params, not {one_line(other, 40)}")


def text(case: JsonObject) -> JsonObject:
    """Show untrusted text."""
    where = _text(case, "where")
    if where not in PLACES:
        raise BadCase(f"where: one of {', '.join(PLACES)}")
    shown = show(_text(case, "text"), cast("Where", where))
    return {"shown": shown.text, "warn": shown.warn}


def url(case: JsonObject) -> JsonObject:
    """Judge an address and its redirects; names come from the case, and no connection is made."""
    given = _text(case, "url")
    config = _object(case, "config")
    verdict = check_hops(given, _texts(case, "redirects"), _answers(_object(case, "dns")), _rules(config))
    return {"verdict": verdict.verdict, "reason": verdict.reason}


def _rules(config: JsonObject) -> UrlRules:
    allows = config.get("allow_loopback", False)
    if not isinstance(allows, bool):
        raise BadCase("allow_loopback: true or false")
    return UrlRules(allow_loopback=allows, allowed_hosts=_texts(config, "allowed_hosts"))


def _answers(given: JsonObject) -> Callable[[str], Sequence[str]]:
    """Return a name server that gives every answer that a name has, the later ones too.

    A connection is made to an address that was judged, so a later answer could change nothing; a name that
    changes its answer to something that may not be reached is refused all the same.
    """
    found: dict[str, list[str]] = {}
    for name, answers in given.items():
        flat = [item for answer in _list(answers) for item in _flat(answer)]
        if not all(isinstance(item, str) for item in flat):
            raise BadCase("dns: lists of addresses")
        try:
            found.setdefault(host_name(name), []).extend(cast("list[str]", flat))
        except UrlRefused:
            continue
    return lambda name: found.get(name, [])


def _flat(answer: object) -> list[object]:
    return cast("list[object]", answer) if isinstance(answer, list) else [answer]


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise BadCase("dns: lists of addresses")
    return cast("list[object]", value)


def edit(case: JsonObject) -> JsonObject:
    """Replace a text once, as `replace_string_in_file` proposes it."""
    from workbench.tools.base import ToolRefused
    from workbench.tools.replace_string import ReplaceString

    before, old, new = _text(case, "before"), _text(case, "old_string"), _text(case, "new_string")
    if any("\ud800" <= sign <= "\udfff" for sign in before + old + new):
        return {"result": "error", "code": "not_text"}
    data = before.encode()
    image = FileImage(data=data, mode=0o644, size=len(data), links=1)
    try:
        parameters = {"path": "file", "old_string": old, "new_string": new}
        (change,) = ReplaceString().propose(parameters, lambda _: image)
    except ToolRefused as error:
        return {"result": "error", "code": error.code or "refused"}
    return {"result": "ok", "after": _after(change)}


def _after(change: FileChange) -> str:
    return (change.after or b"").decode()


KINDS: Final[Mapping[str, Judge]] = {
    "command": command, "path": path, "rule": rule, "scrub": scrub, "text": text, "url": url, "edit": edit,
}  # fmt: skip
