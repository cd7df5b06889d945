"""The agent of a step: its persona, adapter and model, and the prompt that it is given.

The prompt names what the contracts check. A schema comes with its required members and a skeleton; without
them the first attempt had to guess.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final, cast

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject
from workbench.pipelines import artifacts, templates
from workbench.pipelines.contracts import USUAL_SOURCES, UnreadableSchema, contract_schema, named_source
from workbench.pipelines.documents import OutsideRoot, ProjectFiles
from workbench.pipelines.executor import AttemptNotReady
from workbench.pipelines.model import (
    REVIEW_TYPES,
    Adapter,
    ArtifactSpec,
    Contract,
    Manifest,
    Persona,
    Review,
    Runtime,
    Step,
    TestCount,
    model_of_tier,
    stricter_level,
)
from workbench.pipelines.skills import skill_names, skill_words
from workbench.pipelines.template_values import TemplateValues
from workbench.text.safe import one_line

MOST_SCHEMA: Final = 12_000
"""Characters of one schema; a longer one is told by its required members and its skeleton."""
MOST_WORDS: Final = 24_000
"""Characters of all contracts of a step together."""
MOST_CRITERIA: Final = 4_000
_MOST_MEMBERS: Final = 60
_MOST_DEPTH: Final = 6
_WORDS_ONLY: Final = ("description", "title", "examples", "$comment", "default", "$id")
"""Members of a schema that check nothing."""
_PLACEHOLDERS: Final[dict[str, Json]] = {
    "string": "<text>", "integer": 0, "number": 0, "boolean": False, "null": None,
}  # fmt: skip


def agent_facts(values: TemplateValues, name: str, review: Review | None = None) -> dict[str, Json]:
    """Return persona, adapter and level of an agent for its executor; AttemptNotReady if one is missing.

    A reviewer has the adapter and the model of its contract, and not those of the step.
    """
    definition = values.run.definition
    persona, adapter = _persona(values, name, review.adapter if review else values.step.adapter)
    prompt = definition.files().text(persona.prompt_file) if persona.prompt_file else ""
    if prompt is None:
        raise AttemptNotReady(f"the prompt of persona {persona.name}, {persona.prompt_file}, is not there")
    permissions = persona.permissions or adapter.permissions
    facts: dict[str, Json] = {
        "name": persona.name, "prompt": prompt, "provider": persona.provider,
        "model": _model(values, persona, adapter, review), "temperature": persona.temperature,
        "allowed": [[pattern.text, pattern.origin] for pattern in permissions.allowed],
        # S1: deny takes precedence; what the adapter denies stays denied whatever a persona allows.
        "deny": [
            [pattern.text, pattern.origin] for pattern in (*permissions.deny, *adapter.permissions.deny)
        ],
        "hooks": [to_builtins(hook) for hook in persona.hooks],
    }  # fmt: skip
    level = stricter_level(values.step.sandbox, adapter.sandbox)
    if adapter.is_built_in or definition.recordings:
        return {"persona": facts, "sandbox": level}
    command: dict[str, Json] = {
        "binary": adapter.binary, "args": list(adapter.args), "output_format": adapter.output_format,
        "name": adapter.name,
    }  # fmt: skip
    if adapter.nested_sandbox:
        command["nested_sandbox"] = True
    return {"persona": facts, "adapter": command, "sandbox": level}


def reviewer_facts(values: TemplateValues, review: Review) -> dict[str, Json]:
    """Return who reviews: the persona of the review, else that of the step, else any of the adapter."""
    manifest = values.run.manifest
    personas = manifest.personas.values() if manifest else ()
    of_adapter = (persona.name for persona in personas if review.adapter in ("", persona.adapter))
    named = values.persona_name(review.persona or values.step.persona)
    return agent_facts(values, named or next(of_adapter, ""), review)


def _persona(values: TemplateValues, name: str, adapter_name: str) -> tuple[Persona, Adapter]:
    manifest = values.run.manifest
    persona = manifest.personas.get(name) if manifest else None
    if manifest is None or persona is None:
        raise AttemptNotReady(f"there is no persona {name}; a manifest has to name it")
    adapter = manifest.adapters.get(adapter_name or persona.adapter)
    if adapter is None:
        raise AttemptNotReady(f"there is no adapter {adapter_name or persona.adapter}")
    return persona, adapter


def _model(values: TemplateValues, persona: Persona, adapter: Adapter, review: Review | None) -> str:
    name = (review.model if review else values.step.model) or persona.model or adapter.model
    runtime = values.run.manifest.runtime if values.run.manifest else Runtime()
    keeps_tier = review is not None or values.step.failing.is_tier_kept
    retries = 0 if keeps_tier else max(0, values.attempt - 1)
    return model_of_tier(name, adapter, runtime, retries)


# --- its prompt ------------------------------------------------------------------------------------------


def step_prompt(values: TemplateValues, mount_notes: Sequence[str]) -> str:
    """Return what the agent of a step is asked; reads files of the run and artifacts."""
    step, step_run, files = values.step, values.step_run, values.run.definition.files()
    paths = [artifacts.injected_path(injection.name) for injection in step.injections]
    outputs = [output.path for output in step.outputs if output.kind != "stdout"]
    skills = skill_names(values.run.manifest, values.run.pipeline, step, values.fill)
    thread, prompt = _thread_words(values), templates.fill_prose(values.source_text(), values.in_prompt)
    additions = [
        f"In your folder, from earlier steps: {', '.join(paths)}." if paths else "",
        *(f"{note}." for note in mount_notes),
        f"When you are done these have to be there: {', '.join(outputs)}." if outputs else "",
        skill_words(skills, files),
        contract_words(step.contracts, files, lambda contract: _named_source(values, contract), values.fill),
        f"You may work with up to {step.most_agents} agents of your own at once."
        if step.most_agents > 1
        else "",
        f"Attempt {values.attempt}. The attempt before failed:\n"
        + artifacts.failure_for_agent(step_run.detail)
        if step_run.detail and values.attempt > 1
        else "",
        *(
            f"The step {name} failed:\n{artifacts.failure_for_agent(why)}"
            for name, why in values.run.earlier_failures(step, step_run)
        ),
    ]
    parts = [*([thread] if thread else []), prompt, *filter(None, additions)]
    return "\n\n".join(part.rstrip() for part in parts)


def _named_source(values: TemplateValues, contract: Contract) -> str:
    """Return the file that a contract checks, for the prompt; empty where it is the agent's answer."""
    outputs = values.step.outputs
    source = named_source(outputs, replace(contract, source=values.fill(contract.source)))
    if isinstance(source, ArtifactSpec):
        return values.fill(source.path) if source.kind == "file" else ""
    printed = (output.name for output in outputs if output.kind == "stdout")
    if source in map(artifacts.injected_path, printed):
        return ""
    is_needed = contract.type not in REVIEW_TYPES
    return source or (USUAL_SOURCES[0] if is_needed else "")


# --- its thread ------------------------------------------------------------------------------------------

# The conversation stands in the prompt of the next step, for the agent of this program as for another one:
# persona, folder and permissions may differ from step to step, and so each has a session of its own.


MOST_THREAD: Final = 100_000
"""Characters of a thread in a prompt; what was said first is left out first."""


def _thread_words(values: TemplateValues) -> str:
    """Return what the other steps of a step's thread said, oldest first; empty at its beginning."""
    run, step, step_run = values.run, values.step, values.step_run
    if not step.thread:
        return ""
    members = {member.id for member in run.pipeline.steps if member.thread == step.thread}
    earlier = [
        member
        for member in run.state.steps.values()
        if (member.matrix or member.id) in members
        and member.said_ref
        and member.matrix != (step_run.matrix or "-")
    ]
    parts: list[str] = []
    remaining = MOST_THREAD
    for member in sorted(earlier, key=lambda member: member.said_at, reverse=True):
        data = run.journal.unseal(member.said_ref) if member.said_ref else None
        text = "(what it said is no longer kept)" if data is None else data.decode("utf-8", "replace")
        if len(text) > remaining:
            text = f"… {len(text) - remaining:,} characters left out …\n{text[len(text) - remaining :]}"
        parts.append(f"### {member.id}\n\n{text.strip()}")
        remaining -= min(remaining, len(text))
        if not remaining:
            break
    if not parts:
        return ""
    head = f"What was said and done before in this conversation ({one_line(step.thread, 60)}):"
    return "\n\n".join((head, *reversed(parts), "Now:"))


# --- its contracts ---------------------------------------------------------------------------------------


def contract_words(
    contracts: Sequence[Contract],
    files: ProjectFiles,
    source_of: Callable[[Contract], str],
    text_of: Callable[[str], str],
) -> str:
    """Return what is checked at the end of a step, as its agent is told; empty without contracts.

    `source_of` names the file that a contract checks, empty for the answer; `text_of` fills templates.
    """
    paragraphs = [
        words for contract in contracts if (words := _told(contract, files, source_of(contract), text_of))
    ]
    if not paragraphs:
        return ""
    listed = "\n\n".join(f"{number}. {words}" for number, words in enumerate(paragraphs, 1))
    if len(listed) > MOST_WORDS:
        listed = f"{listed[:MOST_WORDS]}\n… {len(listed) - MOST_WORDS:,} more characters were left out"
    return f"When you are done this is checked:\n\n{listed}"


def _told(contract: Contract, files: ProjectFiles, source: str, text_of: Callable[[str], str]) -> str:
    where = source or "your last message"
    match contract.type:
        case "json_schema":
            return _schema_words(contract, files, where)
        case "test_suite":
            place = "the project's folder" if contract.dir == "project_root" else "your folder"
            return f"`{one_line(text_of(contract.command), 600)}` is run in {place} and has to end with 0."
        case "non_empty_file":
            return f"{where} has to be there and must not be empty."
        case "typescript_interface":
            return f"{where} has to compile as TypeScript (tsc --strict)."
        case "markdown_spec":
            return f"{where} has to be Markdown: headings with text below them."
        case "test_diff" | "test_count_baseline":
            return _test_words(contract.tests or TestCount())
        case "agent_review" | "llm_judge":
            return _review_words(contract.review or Review(), files, where)
        case "unchecked":
            return ""


def _test_words(tests: TestCount) -> str:
    most = f"more than {tests.most_deletions}" if tests.most_deletions else "any"
    return (
        f"Without {most} of the tests there were in {', '.join(tests.files)} it fails: "
        "repair or replace a test, and do not remove it."
    )


def _review_words(review: Review, files: ProjectFiles, where: str) -> str:
    who = f"another agent ({one_line(review.persona, 60)})" if review.persona else "a judge"
    try:
        written = files.text(review.criteria_path) if review.criteria_path else ""
    except OutsideRoot:
        written = ""
    criteria = "\n".join([*(f"- {text}" for text in review.criteria), (written or "").strip()]).strip()
    return f"{where} is reviewed by {who}, by these criteria:\n{criteria[:MOST_CRITERIA]}"


def _schema_words(contract: Contract, files: ProjectFiles, where: str) -> str:
    try:
        schema = contract_schema(files, contract)
    except (UnreadableSchema, OutsideRoot):
        return ""
    if not isinstance(schema, dict):
        return ""
    root = cast("JsonObject", schema)
    lines = [f"{where} has to be JSON, and nothing but JSON: no words, no code fence, no comments."]
    required = list(_required_members(root, root, "", 0))
    if required:
        unlisted = len(required) - _MOST_MEMBERS
        more = f" and {unlisted} more" if unlisted > 0 else ""
        lines.append(f"Required: {', '.join(required[:_MOST_MEMBERS])}{more}.")
    lines.append(f"Its form:\n{json.dumps(skeleton(root, root, 0), indent=2, ensure_ascii=False)}")
    text = _short_schema(root)
    if text:
        lines.append(f"The schema:\n{text}")
    return "\n".join(lines)


def _short_schema(schema: JsonObject) -> str:
    for value in (schema, _without_words(schema)):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        if len(text) <= MOST_SCHEMA:
            return text
    return ""


def _without_words(node: Json) -> Json:
    if isinstance(node, list):
        return [_without_words(item) for item in cast("list[Json]", node)]
    if not isinstance(node, dict):
        return node
    # A member of `properties` may be called `description`: its schema is an object, a word is a text.
    return {
        name: _without_words(value)
        for name, value in cast("JsonObject", node).items()
        if name not in _WORDS_ONLY or isinstance(value, dict)
    }


def _resolved(schema: Json, root: JsonObject) -> JsonObject:
    """Return what a schema says, through a reference within its document and into the first of several."""
    for _ in range(_MOST_DEPTH):
        if not isinstance(schema, dict):
            return {}
        members = cast("JsonObject", schema)
        reference = members.get("$ref")
        parts = [members[name] for name in ("allOf", "anyOf", "oneOf") if isinstance(members.get(name), list)]
        if isinstance(reference, str) and reference.startswith("#"):
            schema = _referenced(reference, root)
        elif parts and not {"type", "properties", "enum", "const"} & members.keys():
            listed = cast("list[Json]", parts[0])
            schema = listed[0] if listed else {}
        else:
            return members
    return {}


def _referenced(reference: str, root: JsonObject) -> Json:
    node: Json = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        if name and isinstance(node, dict):
            node = cast("JsonObject", node).get(name.replace("~1", "/").replace("~0", "~"))
    return node


def _members(schema: JsonObject) -> tuple[JsonObject, list[str]]:
    properties, required = schema.get("properties"), schema.get("required")
    named: JsonObject = cast("JsonObject", properties) if isinstance(properties, dict) else {}
    listed = cast("list[Json]", required) if isinstance(required, list) else []
    return named, [name for name in listed if isinstance(name, str)]


def _required_members(schema: Json, root: JsonObject, path: str, depth: int) -> Iterator[str]:
    resolved = _resolved(schema, root)
    if depth > _MOST_DEPTH:
        return
    properties, required = _members(resolved)
    for name in required:
        member_path = f"{path}.{name}".lstrip(".")
        yield member_path
        yield from _required_members(properties.get(name), root, member_path, depth + 1)
    if "items" in resolved:
        yield from _required_members(resolved["items"], root, f"{path}[]", depth + 1)


def skeleton(schema: Json, root: JsonObject, depth: int) -> Json:
    """Return a value of the form that a schema asks for, with words in the place of values."""
    resolved = _resolved(schema, root)
    if "const" in resolved:
        return resolved["const"]
    options = resolved.get("enum")
    if isinstance(options, list) and options:
        return f"<{' | '.join(str(option) for option in cast('list[Json]', options)[:12])}>"
    properties, required = _members(resolved)
    kind = resolved.get("type")
    kinds = cast("list[Json]", kind) if isinstance(kind, list) else [kind]
    word = next((name for name in kinds if isinstance(name, str)), "object" if properties else "")
    if word == "object":
        names = (required or list(properties)[:12]) if depth < _MOST_DEPTH else []
        return {name: skeleton(properties.get(name), root, depth + 1) for name in names}
    if word == "array":
        items = resolved.get("items")
        return [skeleton(items, root, depth + 1)] if items is not None and depth < _MOST_DEPTH else []
    form = resolved.get("format")
    return f"<{form}>" if isinstance(form, str) and word == "string" else _PLACEHOLDERS.get(word, "<value>")


SUMMARIZER_PERSONA: Final = "summarizer"


_DEFAULT_PERCENT: Final = 80


class CompactionPlan(Struct, frozen=True, kw_only=True):
    """When and by whom the conversation of a step is put into a checkpoint."""

    percent: int
    """Of the context, used by the newest reply."""
    window: int
    """Tokens of the context; 0 takes what is known of the model."""
    persona: str
    """Empty: the step's own."""


def compaction_plan(step: Step, manifest: Manifest | None) -> CompactionPlan:
    """Return the step's own compaction, else the manifest's, else 80 % by the step's persona."""
    runtime = manifest.runtime if manifest else None
    own = step.compaction
    named_persona = (own.persona if own else "") or (runtime.summarizer if runtime else "")
    is_known = manifest is not None and SUMMARIZER_PERSONA in manifest.personas
    return CompactionPlan(
        percent=own.percent if own else runtime.relay_percent if runtime else _DEFAULT_PERCENT,
        window=runtime.context_window if runtime else 0,
        persona=named_persona or (SUMMARIZER_PERSONA if is_known else ""),
    )
