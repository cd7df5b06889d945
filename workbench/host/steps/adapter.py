"""An agent step by another program's command line: headless, one process, JSON or JSON lines back.

Owns how the known programs are called and how their answers are read. Such an agent's own tool calls do not
pass the gate; what its persona may is handed to it in its own words, and it is ended like any command.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from workbench.domain.runs import StepOutcome, StepSpec
from workbench.domain.values import Json, Usage
from workbench.host.kit import Kit
from workbench.host.steps.command import Ran, run_command
from workbench.pipelines.executor import OnStepEvent
from workbench.text.safe import one_line
from workbench.text.scrub import scrub

KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "claude": (
        "-p", "{prompt}", "--output-format", "{output_format}", "--append-system-prompt", "{system_prompt}",
        "{?model}--model", "{model}", "{?allowed}--allowedTools", "{allowed}", "{?deny}--disallowedTools",
        "{deny}",
    ),
    "gemini": (
        "-p", "{system_prompt}\n\n{prompt}", "--output-format", "{output_format}", "{?model}-m", "{model}",
    ),
    "codex": ("exec", "--json", "{?model}-m", "{model}", "{system_prompt}\n\n{prompt}"),
    "opencode": ("run", "--format", "json", "{?model}-m", "{model}", "{system_prompt}\n\n{prompt}"),
}  # fmt: skip
"""Words of a command line by the name of its program; a word after `{?x}` and the next are left out
where x is empty."""

PLAIN: Final = ("-p", "{prompt}", "--output-format", "{output_format}", "{?model}--model", "{model}")
"""Of any other program."""

_NAME: Final = re.compile(r"\{([a-z_]+)\}")
_TEXTS: Final = ("result", "response", "text", "content", "message", "output")


async def run_adapter(kit: Kit, spec: StepSpec, on_event: OnStepEvent, stop: asyncio.Event) -> StepOutcome:
    """Run an adapter's program and return what it said."""
    argv = command_line(spec)
    ran = await run_command(kit, spec, argv, on_event, stop, environment={})
    if ran.outcome.state != "completed":
        return ran.outcome
    return _answer(kit, spec, ran)


def command_line(spec: StepSpec) -> list[str]:
    """Return program and words for a step."""
    adapter, persona = spec.adapter, spec.persona
    binary = str(adapter.get("binary", ""))
    words = [str(word) for word in cast("list[Json]", adapter.get("args") or [])]
    words = words or list(KNOWN.get(binary.rpartition("/")[2], PLAIN))
    values = {
        "prompt": spec.source, "system_prompt": str(persona.get("prompt") or ""),
        "model": str(persona.get("model") or ""),
        "output_format": str(adapter.get("output_format") or "json"),
        "allowed": _patterns(persona.get("allowed")), "deny": _patterns(persona.get("deny")),
        "workspace": spec.workspace, "title": spec.title,
    }  # fmt: skip
    return [binary, *_filled(words, values)]


def _patterns(value: Json) -> str:
    pairs = cast("list[list[str]]", value) if isinstance(value, list) else []
    return ",".join(pair[0] for pair in pairs)


def _filled(words: list[str], values: Mapping[str, str]) -> Iterator[str]:
    is_left_out = False
    for word in words:
        if is_left_out:
            is_left_out = False
            continue
        if word.startswith("{?"):
            name, _, word = word[2:].partition("}")
            if not values.get(name):
                is_left_out = True
                continue
        # In one pass: what a value holds is never looked into for further names.
        yield _NAME.sub(lambda match: values.get(match[1], match[0]), word)


def _answer(kit: Kit, spec: StepSpec, ran: Ran) -> StepOutcome:
    values = list(_values(ran.text))
    wanted = str(spec.adapter.get("output_format") or "json")
    if not values and wanted != "text":
        said = ran.text if ran.text.strip() else ran.outcome.output
        shown = one_line(scrub(said[-400:]).text, 300) or "nothing"
        reason = f"{spec.adapter.get('binary')} answered no JSON; the end of its answer: {shown}"
        return replace(ran.outcome, state="failed", reason=reason)
    reply, usage, error = _read(values) if values else (ran.text, Usage(), "")
    if error:
        return replace(ran.outcome, state="failed", reason=scrub(error).text, usage=usage)
    stdout = kit.journal.blobs.seal(reply.encode("utf-8", "surrogatepass")) if spec.keeps_output else None
    return replace(ran.outcome, usage=usage, reply=scrub(reply).text[:4_000], stdout_ref=stdout)


def _values(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of an answer: the whole of it, or one a line."""
    try:
        whole: Any = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    lines = cast("list[Any]", whole) if isinstance(whole, list) else [whole] if whole else _lines(text)
    for one in lines:
        if isinstance(one, dict):
            yield cast("Mapping[str, Any]", one)


def _lines(text: str) -> Iterator[Any]:
    for line in text.splitlines():
        if line.lstrip().startswith("{"):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                continue


def _read(values: list[Mapping[str, Any]]) -> tuple[str, Usage, str]:
    """Return the reply, the tokens and the error of an answer; later objects count for earlier ones."""
    reply, usage, error = "", Usage(), ""
    for value in values:
        text = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
        if isinstance(text, str) and text:
            reply = text
        found = value.get("usage") or value.get("stats")
        if isinstance(found, dict):
            usage = _usage(cast("Mapping[str, Any]", found))
        if value.get("is_error") is True or value.get("type") == "error":
            error = str(value.get("error") or text or "it reported an error")
    return reply, usage, error


def _usage(found: Mapping[str, Any]) -> Usage:
    def count(*names: str) -> int:
        return next((n for name in names if isinstance(n := found.get(name), int) and n >= 0), 0)

    return Usage(
        input_tokens=count("input_tokens", "prompt_tokens", "tokens_in"),
        output_tokens=count("output_tokens", "completion_tokens", "tokens_out"),
    )
