"""`workbench check KIND`: ask the policy about cases; one JSON case a line in, one JSON verdict a line out.

Uses the same functions as the gate, and carries nothing out.
"""

import json
import math
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, cast

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_OK
from workbench.domain.tools import BUILT_IN_TOOLS, tool_verb
from workbench.domain.values import Capability, GateVerdict, JsonObject, ToolDescriptor
from workbench.effects.files import FileImage
from workbench.policy.urls import UrlRefused, UrlRules, check_url_hops, normalized_host
from workbench.text.display import DISPLAY_PLACES, DisplayPlace, displayed_text
from workbench.text.safe import one_line
from workbench.tools.registry import tool_descriptors

EXAMPLE = """echo '{"allow": ["Bash(git log *)"], "command": "git log | sh"}' | workbench check command
workbench check path < paths.jsonl"""
LONGEST_LINE: Final = 16_777_216
"""Bytes of one case."""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("kind", choices=tuple(CHECKS_BY_KIND), help="the kind of the cases")
    add_json_option(parser, "accepted; the output is JSON in any case")


def execute(options: Namespace, console: Console) -> int:
    judge = CHECKS_BY_KIND[options.kind]
    for line in _input_lines():
        console.json_line(json.dumps(check_line(judge, line), ensure_ascii=False))
    return EXIT_OK


class InvalidCase(ValueError):
    """A line is no case of its kind; the message says what is wrong."""


CaseCheck = Callable[[JsonObject], JsonObject]


def check_line(judge: CaseCheck, line: bytes) -> JsonObject:
    """Return the verdict on one line, or `{"error": …}`."""
    try:
        if len(line) > LONGEST_LINE:
            raise InvalidCase(f"the line is longer than {LONGEST_LINE} bytes")
        case = json.loads(
            line.decode(),
            object_pairs_hook=_without_duplicates,
            parse_constant=_refuse_number,
            parse_float=_finite_number,
        )
        if not isinstance(case, dict):
            raise InvalidCase("the line is not a JSON object")
        return judge(cast("JsonObject", case))
    except InvalidCase as error:
        return {"error": str(error)}
    except (ValueError, RecursionError) as error:
        return {"error": f"the line is not JSON: {one_line(str(error), 200)}"}


def _input_lines() -> Iterator[bytes]:
    while line := sys.stdin.buffer.readline(LONGEST_LINE + 2):
        if not line.endswith(b"\n"):
            while rest := sys.stdin.buffer.readline(LONGEST_LINE):
                if rest.endswith(b"\n"):
                    break
        if stripped := line.strip():
            yield stripped


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise InvalidCase("a key is there twice")
    return members


def _finite_number(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else cast("float", _refuse_number(digits[:40]))


def _refuse_number(name: str) -> object:
    raise InvalidCase(f"{name} is not a JSON number")


def _text_field(case: JsonObject, name: str) -> str:
    value = case.get(name)
    if not isinstance(value, str):
        raise InvalidCase(f"{name}: a text is needed" if name in case else f"{name} is missing")
    return value


def _text_list_field(case: JsonObject, name: str) -> tuple[str, ...]:
    value = case.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[object]", value)):
        raise InvalidCase(f"{name}: a list of texts is needed")
    return tuple(cast("list[str]", value))


def _object_field(case: JsonObject, name: str) -> JsonObject:
    value = case.get(name, {})
    if not isinstance(value, dict):
        raise InvalidCase(f"{name}: an object is needed")
    return cast("JsonObject", value)


@cache
def _tools_by_id() -> Mapping[str, ToolDescriptor]:
    return {tool.id: tool for tool in tool_descriptors()}


# --- command, path, rule -------------------------------------------------------------------------------


def check_command(case: JsonObject) -> JsonObject:
    """Judge a command by lists of patterns, as the gate does at its steps 1 to 7."""
    from workbench.domain.values import PermissionPattern
    from workbench.policy.gate import GateCall, GateContext, ScreenedCall, judge_screened_call, screen_call
    from workbench.policy.shell.analysis import view_command

    text = _text_field(case, "command")
    context = GateContext(
        descriptors=_tools_by_id(), provider="check", workspace=str(Path.cwd()), session_id="check", now=0,
        protected=_protected_folders(),
        deny=tuple(
            PermissionPattern(text=pattern, origin="deny") for pattern in _text_list_field(case, "deny")
        ),
        allow=tuple(
            PermissionPattern(text=pattern, origin="allow") for pattern in _text_list_field(case, "allow")
        ),
    )  # fmt: skip
    screened = screen_call(GateCall(tool="run_in_terminal", parameters={"command": text}), context)
    verdict = judge_screened_call(screened, context) if isinstance(screened, ScreenedCall) else screened
    return {
        "verdict": _VERDICT_WORDS[verdict.outcome],
        "rule": verdict.pattern,
        "reason": verdict.reason or "nothing allows it",
        "commands": list(view_command(text).segments),
    }


_VERDICT_WORDS: Final = {"allowed": "allow", "ask": "ask", "denied": "deny", "refused": "deny"}


def check_path(case: JsonObject) -> JsonObject:
    """Judge a path as the gate does at its step 2."""
    from workbench.policy.gate import GateContext, resolve_targets
    from workbench.policy.paths import PathRefused, resolve_path

    workspace, path = _text_field(case, "workspace"), _text_field(case, "path")
    if not workspace or "\0" in workspace:
        raise InvalidCase("workspace: names no folder")
    descriptor = _path_tool(_text_field(case, "op"))
    context = GateContext(
        descriptors={}, provider="check", workspace=str(Path(workspace).absolute()), session_id="check",
        now=0, protected=_protected_folders(),
    )  # fmt: skip
    if not Path(workspace).is_dir():
        raise InvalidCase(f"workspace: {one_line(workspace, 120)} is not a folder")
    targets = resolve_targets({"path": path}, descriptor, context)
    if not isinstance(targets, GateVerdict):
        return {"verdict": "allow", "resolved": targets["path"].path, "reason": "inside the workspace"}
    try:
        resolved = resolve_path(context.workspace, path).path
    except PathRefused as error:
        resolved = error.leads_to
    return {"verdict": "deny", "resolved": resolved, "reason": targets.reason}


def _path_tool(op: str) -> ToolDescriptor:
    tool = _tools_by_id().get(op)
    if tool is None and op not in BUILT_IN_TOOLS:
        raise InvalidCase(f"op: no tool is called {one_line(op, 60)}")
    assumed: Capability = "read" if tool_verb(op) == "read" else "write"
    capability = tool.capability if tool else assumed
    return ToolDescriptor(
        id=op, wire_name=op.replace(".", "_"), description="", capability=capability, risk_level="dangerous",
        input_schema={}, path_parameters=("path",),
    )  # fmt: skip


@cache
def _protected_folders() -> tuple[str, ...]:
    from workbench.journal.home import default_home_path

    return (os.path.realpath(default_home_path(os.environ)),)


def check_rule(case: JsonObject) -> JsonObject:
    """Judge a pattern as `rules add` does."""
    from workbench.policy.rule_validation import pattern_acceptance

    for name in ("tool", "pattern"):
        if not isinstance(case.get(name, ""), str):
            return {"verdict": "reject_invalid", "reason": f"{name}: a text is needed"}
    verdict, reason = pattern_acceptance(
        _text_field(case, "tool"), _text_field(case, "pattern"), _tools_by_id()
    )
    return {"verdict": verdict, "reason": reason}


# --- scrub, text, url, edit ----------------------------------------------------------------------------


def check_scrub(case: JsonObject) -> JsonObject:
    """Replace secrets as whatever is recorded has them replaced."""
    from workbench.secrets.scrubber import scrub, scrub_value

    match _text_field(case, "kind"):
        case "output":
            return {"text": scrub(_text_field(case, "text")).text}
        case "params":
            return {"params": scrub_value(_object_field(case, "params"))[0]}
        case other:
            raise InvalidCase(f"kind: output or params, not {one_line(other, 40)}")


def check_text(case: JsonObject) -> JsonObject:
    """Show untrusted text."""
    where = _text_field(case, "where")
    if where not in DISPLAY_PLACES:
        raise InvalidCase(f"where: one of {', '.join(DISPLAY_PLACES)}")
    shown = displayed_text(_text_field(case, "text"), cast("DisplayPlace", where))
    return {"shown": shown.text, "warn": shown.warn}


def check_url(case: JsonObject) -> JsonObject:
    """Judge an address and its redirects; names come from the case, and no connection is made."""
    address = _text_field(case, "url")
    config = _object_field(case, "config")
    verdict = check_url_hops(
        address,
        _text_list_field(case, "redirects"),
        _name_server(_object_field(case, "dns")),
        _url_rules(config),
    )
    return {"verdict": verdict.verdict, "reason": verdict.reason}


def _url_rules(config: JsonObject) -> UrlRules:
    allows = config.get("allow_loopback", False)
    if not isinstance(allows, bool):
        raise InvalidCase("allow_loopback: true or false")
    return UrlRules(allow_loopback=allows, allowed_hosts=_text_list_field(config, "allowed_hosts"))


def _name_server(answers_by_name: JsonObject) -> Callable[[str], Sequence[str]]:
    """Return a name server that gives every answer that a name has, the later ones too.

    A name that changes its answer to an address that may not be reached is refused.
    """
    addresses: dict[str, list[str]] = {}
    for name, answers in answers_by_name.items():
        flat = [item for answer in _require_list(answers) for item in _as_list(answer)]
        if not all(isinstance(item, str) for item in flat):
            raise InvalidCase("dns: lists of addresses")
        try:
            addresses.setdefault(normalized_host(name), []).extend(cast("list[str]", flat))
        except UrlRefused:
            continue
    return lambda name: addresses.get(name, [])


def _as_list(answer: object) -> list[object]:
    return cast("list[object]", answer) if isinstance(answer, list) else [answer]


def _require_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise InvalidCase("dns: lists of addresses")
    return cast("list[object]", value)


def check_edit(case: JsonObject) -> JsonObject:
    """Replace a text once, as `replace_string_in_file` proposes it."""
    from workbench.tools.base import ToolRefused
    from workbench.tools.file_edit import ReplaceString

    before, old, new = (
        _text_field(case, "before"),
        _text_field(case, "old_string"),
        _text_field(case, "new_string"),
    )
    if any("\ud800" <= sign <= "\udfff" for sign in before + old + new):
        return {"result": "error", "code": "not_text"}
    data = before.encode()
    image = FileImage(data=data, mode=0o644, size=len(data), links=1)
    try:
        parameters = {"path": "file", "old_string": old, "new_string": new}
        (change,) = ReplaceString().propose(parameters, lambda _: image)
    except ToolRefused as error:
        return {"result": "error", "code": error.code or "refused"}
    return {"result": "ok", "after": (change.after or b"").decode()}


CHECKS_BY_KIND: Final[Mapping[str, CaseCheck]] = {
    "command": check_command, "path": check_path, "rule": check_rule, "scrub": check_scrub,
    "text": check_text, "url": check_url, "edit": check_edit,
}  # fmt: skip
