"""The program of another agent as a step: its command line, what it reads, and what it answered.

Its own tool calls do not pass the gate.
"""

# Its persona's lists are handed to it in its own words; only the built-in agent is held by them here.

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from msgspec.structs import replace

from workbench.domain.step_messages import StepOutcome, StepSpec
from workbench.domain.values import Json
from workbench.formats.agent_output import AgentAnswer, agent_answer
from workbench.host.driver_context import DriverContext
from workbench.host.steps.step_program import ProgramFollower, ProgramRun, program_job
from workbench.pipelines.step_process import StepJob
from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line

KNOWN_COMMAND_LINES: Final[Mapping[str, tuple[str, ...]]] = {
    "claude": (
        "-p", "--output-format", "stream-json", "--verbose", "--append-system-prompt", "{system_prompt}",
        "{?model}--model", "{model}", "{?allowed}--allowedTools", "{allowed}", "{?deny}--disallowedTools",
        "{deny}",
    ),
    "gemini": ("--output-format", "stream-json", "{?model}-m", "{model}"),
    "codex": ("exec", "--json", "{?model}-m", "{model}", "-"),
    "droid": ("exec", "--output-format", "stream-json", "{?model}-m", "{model}"),
    "opencode": ("run", "--format", "json", "{?model}-m", "{model}", "{system_prompt}\n\n{prompt}"),
}  # fmt: skip
"""Words of a command line by the name of its program; a word after `{?x}` and the next are left out
where x is empty. All of them print what they do while they work. A prompt that no word names goes to
standard input: one word holds 128 KiB at the most."""
_STDIN: Final[Mapping[str, str]] = dict.fromkeys(("gemini", "codex", "droid"), "{system_prompt}\n\n{prompt}")
"""What a program reads that gets its prompt there and has no word for the system's."""
DEFAULT_COMMAND_LINE: Final = (
    "-p",
    "{prompt}",
    "--output-format",
    "{output_format}",
    "{?model}--model",
    "{model}",
)
"""Of any other program."""
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")


async def run_adapter_step(follower: ProgramFollower) -> StepOutcome:
    """Run an adapter's program and return what it said."""
    spec, session = follower.spec, follower.session
    run = await follower.run(adapter_job(spec))
    values = list(_json_objects(run.text))
    answer = agent_answer(values) if values else AgentAnswer(reply=run.text)
    if session is not None:
        await session.finish(answer)
        answer = answer if answer.usage.total_tokens else replace(answer, usage=session.counted)
    if run.outcome.state != "completed":
        return replace(run.outcome, usage=answer.usage)
    return _adapter_outcome(follower.context, spec, run, answer if values else None)


def adapter_job(spec: StepSpec) -> StepJob:
    """Return the program of an adapter's step; of its variables it is given none."""
    return replace(
        program_job(spec, adapter_command_line(spec)), environment={}, stdin=adapter_stdin(spec),
        is_apart=True,
    )  # fmt: skip


def adapter_command_line(spec: StepSpec) -> list[str]:
    """Return program and words for a step."""
    return [str(spec.adapter.get("binary", "")), *_filled_words(_adapter_words(spec), _adapter_values(spec))]


def adapter_stdin(spec: StepSpec) -> bytes:
    """Return what a program reads on its standard input: the prompt, where no word of its names it."""
    if any("{prompt}" in word for word in _adapter_words(spec)):
        return b""
    text = _STDIN.get(_program_name(spec), "{prompt}")
    return "".join(_filled_words([text], _adapter_values(spec))).encode("utf-8", "surrogatepass")


def _program_name(spec: StepSpec) -> str:
    return str(spec.adapter.get("binary", "")).rpartition("/")[2]


def _adapter_words(spec: StepSpec) -> list[str]:
    words = [str(word) for word in cast("list[Json]", spec.adapter.get("args") or [])]
    return words or list(KNOWN_COMMAND_LINES.get(_program_name(spec), DEFAULT_COMMAND_LINE))


def _adapter_values(spec: StepSpec) -> dict[str, str]:
    adapter, persona = spec.adapter, spec.persona
    return {
        "prompt": spec.source, "system_prompt": str(persona.get("prompt") or ""),
        "model": str(persona.get("model") or ""),
        "output_format": str(adapter.get("output_format") or "json"),
        "allowed": _joined_patterns(persona.get("allowed")), "deny": _joined_patterns(persona.get("deny")),
        "workspace": spec.workspace, "title": spec.title,
    }  # fmt: skip


def _joined_patterns(value: Json) -> str:
    pairs = cast("list[list[str]]", value) if isinstance(value, list) else []
    return ",".join(pair[0] for pair in pairs)


def _filled_words(words: list[str], values: Mapping[str, str]) -> Iterator[str]:
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
        yield _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), word)


def _adapter_outcome(
    context: DriverContext, spec: StepSpec, run: ProgramRun, answer: AgentAnswer | None
) -> StepOutcome:
    output_format = str(spec.adapter.get("output_format") or "json")
    if answer is None and output_format != "text":
        text = run.text if run.text.strip() else run.outcome.output
        excerpt = one_line(scrub(text[-400:]).text, 300) or "nothing"
        reason = f"{spec.adapter.get('binary')} answered no JSON; the end of its answer: {excerpt}"
        return replace(run.outcome, state="failed", reason=reason)
    answer = answer or AgentAnswer(reply=run.text)
    if answer.error:
        return replace(run.outcome, state="failed", reason=scrub(answer.error).text, usage=answer.usage)
    reply = answer.reply
    stdout = context.journal.blobs.seal(reply.encode("utf-8", "surrogatepass")) if spec.keeps_output else None
    clean_reply = scrub(reply).text
    thread = context.journal.blobs.seal(clean_reply.encode("utf-8", "surrogatepass")) if spec.thread else None
    return replace(
        run.outcome, usage=answer.usage, reply=clean_reply[:4_000], stdout_ref=stdout, transcript_ref=thread
    )


def _json_objects(text: str) -> Iterator[Mapping[str, Any]]:
    try:
        whole: Any = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    lines = cast("list[Any]", whole) if isinstance(whole, list) else [whole] if whole else _json_lines(text)
    for value in lines:
        if isinstance(value, dict):
            yield cast("Mapping[str, Any]", value)


def _json_lines(text: str) -> Iterator[Any]:
    for line in text.splitlines():
        if line.lstrip().startswith("{"):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                continue
