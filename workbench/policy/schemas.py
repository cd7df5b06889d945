"""JSON Schema of tool parameters: whether a schema is one, and whether parameters satisfy it.

Owns the words for what is wrong, which name the field and never repeat its value. jsonschema is loaded
at the first check. It must never fetch a schema from anywhere.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final, cast

from workbench.domain.values import Json, JsonObject
from workbench.policy import regex
from workbench.text.safe import one_line

MOST_MESSAGES: Final = 8
_DEPTH: Final = 64
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def check(schema: JsonObject, parameters: Json) -> tuple[str, ...]:
    """Return what is wrong with parameters, one message a field; nothing if they satisfy the schema."""
    try:
        errors = _validator(json.dumps(_plain(schema))).iter_errors(_plain(parameters))
        return tuple(_messages(errors))
    except RecursionError:
        return ("parameters: nested too deep to be checked",)
    except _unresolvable() as error:
        return (f"schema: {one_line(str(error), 160)}",)
    except regex.TooCostly as error:
        return (f"parameters: too long to be checked ({error})",)


def check_schema(schema: Json) -> tuple[str, ...]:
    """Return what is wrong with a schema itself.

    It has to be a JSON Schema (2020-12) of type `object` that refers to nothing outside itself, and its
    patterns have to be ones that RE2 reads.
    """
    import jsonschema

    if not isinstance(schema, Mapping):
        return ("schema: not a JSON object",)
    document = cast("Mapping[str, Json]", schema)
    found = [] if document.get("type") == "object" else ["type: must be object"]
    try:
        found.extend(_inner_problems(document, "", 0))
        _class().check_schema(_plain(document))
    except jsonschema.SchemaError as error:
        found.append(f"{_place(error.absolute_path) or 'schema'}: {one_line(error.message, 160)}")
    except RecursionError:
        found.append("schema: nested too deep")
    return tuple(found)


def _inner_problems(node: Json, place: str, depth: int) -> Iterator[str]:
    if depth > _DEPTH:
        yield f"{place}: nested deeper than {_DEPTH} levels"
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
    if isinstance(pattern, str) and (why := regex.problem(pattern)):
        yield f"{place}/pattern: {why}"


@cache
def _class() -> Any:
    from jsonschema import validators

    # jsonschema searches with Python's re, which a hostile pattern can keep busy for ever.
    library = cast("Any", validators)
    return library.extend(library.Draft202012Validator, {"pattern": _pattern})


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    import jsonschema

    if isinstance(instance, str) and not regex.compiled(pattern).is_in(instance):
        yield jsonschema.ValidationError("does not have the form that it must have")


@lru_cache(maxsize=128)
def _validator(schema: str) -> Any:
    import referencing

    # An empty registry of our own: the default one would fetch what a $ref names.
    return _class()(json.loads(schema), registry=cast("Any", referencing).Registry())


@cache
def _unresolvable() -> type[Exception]:
    import jsonschema.exceptions
    import referencing.exceptions

    wrapped = getattr(jsonschema.exceptions, "_WrappedReferencingError", None)
    return wrapped or referencing.exceptions.Unresolvable


def _plain(value: Json) -> Json:
    """Return mappings as dicts and tuples as lists: jsonschema knows no others."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in cast("Mapping[str, Json]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Json]", value)]
    return value


def _messages(errors: Iterable[Any]) -> Iterator[str]:
    seen: dict[str, None] = {}
    for error in errors:
        for message in _sentences(error):
            seen.setdefault(message)
        if len(seen) >= MOST_MESSAGES:
            break
    yield from list(seen)[:MOST_MESSAGES]


def _sentences(error: Any) -> list[str]:
    place = _place(error.absolute_path)
    prefix = f"{place}." if place else ""
    match error.validator:
        case "required":
            return [
                f"{prefix}{name}: missing" for name in error.validator_value if name not in error.instance
            ]
        case "additionalProperties" if error.validator_value is False:
            known = list(error.schema.get("properties", {}))
            unknown = [one_line(name, 60) for name in error.instance if name not in known]
            return [f"{prefix}{name}: not known; known are {', '.join(known)}" for name in unknown]
        case "type":
            return [f"{place or 'parameters'}: must be {_or(error.validator_value)}"]
        case "pattern":
            return [f"{place or 'parameters'}: {error.message}"]
        case keyword:
            wanted = one_line(json.dumps(error.validator_value, default=str), 80)
            return [f"{place or 'parameters'}: does not satisfy {keyword} {wanted}"]


def _or(types: str | list[str]) -> str:
    return types if isinstance(types, str) else " or ".join(types)


def _place(path: Iterable[object]) -> str:
    return one_line(".".join(str(part) for part in path), 120)
