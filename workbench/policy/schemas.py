"""JSON Schema of tool parameters: whether a schema is valid, and whether parameters satisfy it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final, cast

from workbench.domain.values import Json, JsonObject
from workbench.policy import regex
from workbench.text.safe import one_line

MAX_MESSAGES: Final = 8
_MAX_DEPTH: Final = 64
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def parameter_problems(schema: JsonObject, parameters: Json) -> tuple[str, ...]:
    """Return what is wrong with parameters, one message a field."""
    try:
        errors = _validator(json.dumps(_plain_json(schema))).iter_errors(_plain_json(parameters))
        return tuple(_messages(errors))
    except RecursionError:
        return ("parameters: nested too deep to be checked",)
    except _empty_registry() as error:
        return (f"schema: {one_line(str(error), 160)}",)
    except regex.RegexTooCostly as error:
        return (f"parameters: too long to be checked ({error})",)


def schema_problems(schema: Json) -> tuple[str, ...]:
    """Return what is wrong with a schema.

    It has to be JSON Schema (2020-12) of type `object`, without outside references, with RE2 patterns.
    """
    import jsonschema

    if not isinstance(schema, Mapping):
        return ("schema: not a JSON object",)
    document = cast("Mapping[str, Json]", schema)
    problems = [] if document.get("type") == "object" else ["type: must be object"]
    try:
        problems.extend(_inner_problems(document, "", 0))
        _validator_class().check_schema(_plain_json(document))
    except jsonschema.SchemaError as error:
        problems.append(f"{_member_path(error.absolute_path) or 'schema'}: {one_line(error.message, 160)}")
    except RecursionError:
        problems.append("schema: nested too deep")
    return tuple(problems)


def _inner_problems(node: Json, place: str, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        yield f"{place}: nested deeper than {_MAX_DEPTH} levels"
        return
    if isinstance(node, Mapping):
        members = cast("Mapping[str, Json]", node)
        yield from _keyword_problems(members, place)
        for key, item in members.items():
            yield from _inner_problems(item, f"{place}/{key}", depth + 1)
    elif isinstance(node, list | tuple):
        for number, item in enumerate(cast("list[Json]", node)):
            yield from _inner_problems(item, f"{place}/{number}", depth + 1)


def _keyword_problems(members: Mapping[str, Json], place: str) -> Iterator[str]:
    for keyword in _REFERENCES:
        target = members.get(keyword)
        if isinstance(target, str) and not target.startswith("#"):
            yield f"{place}/{keyword}: refers to something outside the schema"
    pattern = members.get("pattern")
    if isinstance(pattern, str) and (why := regex.regex_problem(pattern)):
        yield f"{place}/pattern: {why}"


@cache
def _validator_class() -> Any:
    from jsonschema import validators

    # jsonschema searches with Python's re, which a hostile pattern can keep busy for ever.
    library = cast("Any", validators)
    return library.extend(library.Draft202012Validator, {"pattern": _check_pattern})


def _check_pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    import jsonschema

    if isinstance(instance, str) and not regex.compile_regex(pattern).is_in(instance):
        yield jsonschema.ValidationError("does not match the required pattern")


@lru_cache(maxsize=128)
def _validator(schema: str) -> Any:
    import referencing

    # An empty registry of our own: the default one would fetch what a $ref names.
    return _validator_class()(json.loads(schema), registry=cast("Any", referencing).Registry())


@cache
def _empty_registry() -> type[Exception]:
    import jsonschema.exceptions
    import referencing.exceptions

    wrapped = getattr(jsonschema.exceptions, "_WrappedReferencingError", None)
    return wrapped or referencing.exceptions.Unresolvable


def _plain_json(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _plain_json(item) for key, item in cast("Mapping[str, Json]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain_json(item) for item in cast("list[Json]", value)]
    return value


def _messages(errors: Iterable[Any]) -> Iterator[str]:
    messages: dict[str, None] = {}
    for error in errors:
        for message in _sentences(error):
            messages.setdefault(message)
        if len(messages) >= MAX_MESSAGES:
            break
    yield from list(messages)[:MAX_MESSAGES]


def _sentences(error: Any) -> list[str]:
    place = _member_path(error.absolute_path)
    prefix = f"{place}." if place else ""
    match error.validator:
        case "required":
            return [
                f"{prefix}{name}: missing" for name in error.validator_value if name not in error.instance
            ]
        case "additionalProperties" if error.validator_value is False:
            allowed = list(error.schema.get("properties", {}))
            unknown = [one_line(name, 60) for name in error.instance if name not in allowed]
            return [f"{prefix}{name}: not known; known are {', '.join(allowed)}" for name in unknown]
        case "type":
            types = error.validator_value
            expected = types if isinstance(types, str) else " or ".join(types)
            return [f"{place or 'parameters'}: must be {expected}"]
        case "pattern":
            return [f"{place or 'parameters'}: {error.message}"]
        case keyword:
            expected = one_line(json.dumps(error.validator_value, default=str), 80)
            return [f"{place or 'parameters'}: does not satisfy {keyword} {expected}"]


def _member_path(path: Iterable[object]) -> str:
    return one_line(".".join(str(part) for part in path), 120)
