"""Contracts as they are written: that a schema is one, and that what they check is there to be checked.

Owns nothing of how a contract is checked when a step has ended; that is `contracts`.
"""

import json
from typing import TYPE_CHECKING, cast

from workbench.domain.values import Json
from workbench.pipelines.files import Files, OutsideRoot
from workbench.pipelines.manifest import check_script
from workbench.pipelines.model import Contract, Step
from workbench.pipelines.problems import Place
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.pipelines.checks import Check


def check_contracts(check: "Check", step: Step) -> None:
    """Report what is wrong with the contracts of a step."""
    many = check.within(step, "handover", "contracts")
    places = list(many.items()) if many.path.endswith("contracts") else []
    single = check.within(step, "handover", "contract")
    for number, contract in enumerate(step.contracts):
        place = places[number] if number < len(places) else single
        if contract.type == "json_schema":
            _schema(check.files, place, contract)
        elif contract.type == "test_suite" and contract.command and "{{" not in contract.command:
            check_script(place.member("command") or place, check.files)
        if contract.source and "{{" not in contract.source:
            _source(place.member("source") or place, contract.source)
        if contract.type in ("json_schema", "non_empty_file") and not contract.source and not step.outputs:
            place.error("missing_field", "it names no source, and the step declares no artifact to check")


def _source(place: Place, path: str) -> None:
    from workbench.pipelines.files import inside

    try:
        inside(path)
    except OutsideRoot:
        place.error("path_outside", f"source leads out of the workspace: {one_line(path, 120)}")


def _schema(files: Files, place: Place, contract: Contract) -> None:
    here = place.member("schema_path") or place.member("schema") or place
    try:
        found = schema_of(files, contract)
    except OutsideRoot:
        here.error("path_outside", f"{one_line(contract.schema_path, 120)} leads out of the project")
        return
    except BadSchema as error:
        here.error("bad_schema", str(error))
        return
    if found is None:
        where = contract.schema_path or str(contract.schema)
        here.warn("missing_file", f"the schema {one_line(where, 120)} is not there", stops_run=True)
        return
    for problem in schema_problems(found):
        here.error("bad_schema", f"this is no JSON Schema: {problem}")


class BadSchema(ValueError):
    """A schema cannot be read as JSON."""


def schema_of(files: Files, contract: Contract) -> Json:
    """Return the schema of a contract, inline or from a file; None if its file is not there.

    Raises:
        BadSchema: It is no JSON object.
        OutsideRoot: Its path leads out of the project.
    """
    inline, path = contract.schema, contract.schema_path
    if isinstance(inline, dict):
        return cast("Json", inline)
    if isinstance(inline, str) and not path:
        # S1: inline schema or file path, in one field.
        if inline.lstrip().startswith("{"):
            return _parsed(inline, "the inline schema")
        path = inline.strip()
    if not path:
        return None
    text = files.text(path)
    return None if text is None else _parsed(text, path)


def _parsed(text: str, what: str) -> Json:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadSchema(f"{one_line(what, 120)} is no JSON: {one_line(str(error), 160)}") from None
    if not isinstance(found, dict | bool):
        raise BadSchema(f"{one_line(what, 120)} is no JSON object")
    return cast("Json", found)


def schema_problems(schema: Json) -> list[str]:
    """Return what keeps a value from being a JSON Schema; references to elsewhere are among it."""
    import jsonschema
    from jsonschema import validators

    if isinstance(schema, bool):
        return []
    found = list(_references(schema, 0))
    try:
        library = cast("type[object]", validators.validator_for(schema, validators.Draft202012Validator))
        library.check_schema(schema)  # type: ignore[attr-defined]
    except jsonschema.SchemaError as error:
        path = "/".join(str(part) for part in error.absolute_path) or "the schema"
        found.append(f"{one_line(path, 120)}: {one_line(error.message, 160)}")
    except RecursionError:
        found.append("nested too deep")
    return found


def _references(node: Json, depth: int) -> "list[str]":
    if depth > 64:
        return ["nested too deep"]
    if isinstance(node, list):
        return [text for item in cast("list[Json]", node) for text in _references(item, depth + 1)]
    if not isinstance(node, dict):
        return []
    members = cast("dict[str, Json]", node)
    own = members.get("$ref")
    outside = isinstance(own, str) and not own.startswith("#")
    found = [f"$ref {one_line(str(own), 100)} leads out of the schema; nothing is fetched"] if outside else []
    return found + [text for item in members.values() for text in _references(item, depth + 1)]
