"""Canonical JSON, one text for one value, and a strict reader for JSON from outside.

Digests and rule patterns are computed over it. Never writes what it would refuse to read, and refuses
duplicate keys.
"""

import json
from collections.abc import Iterable
from functools import cache
from typing import cast

from workbench.text.json_nodes import (
    MOST_DEPTH,
    JsonError,
    parse_fraction,
    parse_json_nodes,
    parse_whole_number,
    refuse_constant,
)


def dumps(value: object) -> str:
    """Write canonical JSON: keys by code point, no spaces, non-ASCII and `/` as they are.

    Raises ValueError: for NaN, infinities, lone surrogates, cycles, and nesting that cannot be written;
    TypeError: for what JSON does not have.
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deep to be written as JSON") from None
    if not text.isascii():
        text.encode()  # UnicodeEncodeError is a ValueError that names the position
    return text


def loads(text: str | bytes) -> object:
    """Read JSON strictly.

    Refuses duplicate keys, NaN and Infinity, lone surrogates, nesting over 64, whole numbers over 400 digits
    and numbers that overflow. Raises ValueError: with the position and the reason.
    """
    source = text if isinstance(text, str) else text.decode("utf-8")
    try:
        value = _decoder().decode(source)
    except (ValueError, RecursionError) as error:
        raise _error_with_position(source, error) from None
    if source.count("[") + source.count("{") > MOST_DEPTH and _is_deep(value):
        raise _error_with_position(source, ValueError(f"nested deeper than {MOST_DEPTH} levels"))
    if not _is_encodable(source):
        raise _error_with_position(source, ValueError("half a surrogate pair is not a character"))
    return value


def _error_with_position(source: str, error: Exception) -> ValueError:
    """Read once more, slowly, for the position; the fast reader has none for most reasons."""
    try:
        parse_json_nodes(source)
    except JsonError as found:
        return found
    return ValueError(str(error))


@cache
def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_object,
        parse_int=parse_whole_number,
        parse_float=parse_fraction,
        parse_constant=refuse_constant,
    )


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is there twice")
    return members


def _is_deep(value: object) -> bool:
    level = _containers([value])
    for _ in range(MOST_DEPTH):
        level = [inner for outer in level for inner in _containers(outer)]
        if not level:
            return False
    return True


def _containers(value: object) -> list[object]:
    if isinstance(value, dict):
        inner: Iterable[object] = cast("dict[str, object]", value).values()
    else:
        inner = cast("list[object]", value) if isinstance(value, list) else ()
    return [child for child in inner if isinstance(child, dict | list)]


def _is_encodable(source: str) -> bool:
    """Look for surrogates; the escapes are only followed where there is one of their kind."""
    try:
        source.encode()
        if "\\ud" in source or "\\uD" in source:
            parse_json_nodes(source)
    except ValueError:
        return False
    return True
