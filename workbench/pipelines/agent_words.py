"""What the agent of a step is told besides its prompt: its thread, the skills, what its contracts check.

A schema comes with its required members and a skeleton; without them the first attempt had to guess.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final, cast

from workbench.domain.values import Json, JsonObject
from workbench.pipelines.contracts import UnreadableSchema, contract_schema
from workbench.pipelines.documents import OutsideRoot, ProjectFiles
from workbench.pipelines.model import Contract, Review, TestCount
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.skills import skill_names, skill_words
from workbench.pipelines.state import StepRun
from workbench.pipelines.template_values import TemplateValues
from workbench.pipelines.threads import thread_words
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


def words_besides_prompt(
    context: RunContext, step_run: StepRun, values: TemplateValues, source_of: Callable[[Contract], str]
) -> tuple[list[str], list[str]]:
    """Return the paragraphs that stand before the prompt of a step, and those that stand after it."""
    step, files = values.step, context.definition.files()
    thread = thread_words(step, step_run, context.pipeline, context.state, context.journal.unseal)
    names = skill_names(context.manifest, context.pipeline, step, values.fill)
    agents = (
        f"You may work with up to {step.most_agents} agents of your own at once."
        if step.most_agents > 1
        else ""
    )
    after = (
        skill_words(names, files), contract_words(step.contracts, files, source_of, values.fill), agents,
    )  # fmt: skip
    return list(filter(None, (thread,))), list(filter(None, after))


def contract_words(
    contracts: Sequence[Contract],
    files: ProjectFiles,
    source_of: Callable[[Contract], str],
    text_of: Callable[[str], str],
) -> str:
    """Return what is checked at the end of a step, as its agent is told; empty without contracts.

    `source_of` names the file that a contract checks, empty for the answer; `text_of` fills templates.
    """
    told = [
        words for contract in contracts if (words := _told(contract, files, source_of(contract), text_of))
    ]
    if not told:
        return ""
    listed = "\n\n".join(f"{number}. {words}" for number, words in enumerate(told, 1))
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
    known = cast("JsonObject", schema)
    lines = [f"{where} has to be JSON, and nothing but JSON: no words, no code fence, no comments."]
    required = list(_required_members(known, known, "", 0))
    if required:
        left = len(required) - _MOST_MEMBERS
        more = f" and {left} more" if left > 0 else ""
        lines.append(f"Required: {', '.join(required[:_MOST_MEMBERS])}{more}.")
    lines.append(f"Its form:\n{json.dumps(skeleton(known, known, 0), indent=2, ensure_ascii=False)}")
    text = _short_schema(known)
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
        known = cast("JsonObject", schema)
        reference = known.get("$ref")
        parts = [known[name] for name in ("allOf", "anyOf", "oneOf") if isinstance(known.get(name), list)]
        if isinstance(reference, str) and reference.startswith("#"):
            schema = _referenced(reference, root)
        elif parts and not {"type", "properties", "enum", "const"} & known.keys():
            listed = cast("list[Json]", parts[0])
            schema = listed[0] if listed else {}
        else:
            return known
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
    known = _resolved(schema, root)
    if depth > _MOST_DEPTH:
        return
    properties, required = _members(known)
    for name in required:
        here = f"{path}.{name}".lstrip(".")
        yield here
        yield from _required_members(properties.get(name), root, here, depth + 1)
    if "items" in known:
        yield from _required_members(known["items"], root, f"{path}[]", depth + 1)


def skeleton(schema: Json, root: JsonObject, depth: int) -> Json:
    """Return a value of the form that a schema asks for, with words in the place of values."""
    known = _resolved(schema, root)
    if "const" in known:
        return known["const"]
    options = known.get("enum")
    if isinstance(options, list) and options:
        return f"<{' | '.join(str(option) for option in cast('list[Json]', options)[:12])}>"
    properties, required = _members(known)
    kind = known.get("type")
    kinds = cast("list[Json]", kind) if isinstance(kind, list) else [kind]
    word = next((name for name in kinds if isinstance(name, str)), "object" if properties else "")
    if word == "object":
        names = (required or list(properties)[:12]) if depth < _MOST_DEPTH else []
        return {name: skeleton(properties.get(name), root, depth + 1) for name in names}
    if word == "array":
        items = known.get("items")
        return [skeleton(items, root, depth + 1)] if items is not None and depth < _MOST_DEPTH else []
    form = known.get("format")
    return f"<{form}>" if isinstance(form, str) and word == "string" else _PLACEHOLDERS.get(word, "<value>")
