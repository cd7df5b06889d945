"""Rows of `domain.rows` as rows of SQLite: one column a field, JSON where a field is no plain value.

Owns the translation both ways and nothing else: which row changes when is said by `domain.fold`.
"""

import functools
import json
import re
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any, Final

from workbench.domain.codec import plain, reader
from workbench.domain.rows import (
    Action,
    Call,
    Host,
    Lease,
    PipelineState,
    Rule,
    Session,
    StepState,
    Trust,
)
from workbench.journal.sql import Database, Value
from workbench.records import field_types

AnyRow = Session | Call | Action | Rule | Trust | PipelineState | StepState | Lease | Host

KEYS: Final[dict[type[AnyRow], str]] = {
    Session: "id", Call: "id", Action: "id", Rule: "id", Trust: "workspace", Lease: "session_id", Host: "id",
    PipelineState: "pipeline_id", StepState: "key",
}  # fmt: skip
"""Row classes with a table, and the field that is their key."""

INDEX_TABLES: Final[tuple[type[AnyRow], ...]] = (
    Session,
    Call,
    Action,
    Rule,
    Trust,
    PipelineState,
    StepState,
)
"""The tables that hold nothing but what the events say."""


_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")


def name(row: type[AnyRow]) -> str:
    """Return the table of a row class: `PipelineState` is `pipeline_state`."""
    return _CAPITAL.sub("_", row.__name__).lower()


@functools.cache
def columns(row: type[AnyRow]) -> tuple[str, ...]:
    """Return the columns of a row class, in the order of its fields."""
    return tuple(field_types(row))


@functools.cache
def select(row: type[AnyRow]) -> str:
    """Return `SELECT every column FROM table`, for `load`."""
    return f"SELECT {', '.join(columns(row))} FROM {name(row)}"  # noqa: S608 names of our own classes


def load(row: type[Any], values: Sequence[Any]) -> Any:
    """Build a row from the values of `select`."""
    content = dict(zip(columns(row), values, strict=True))
    for column, read in _special(row):
        value = content[column]
        if value is not None:
            content[column] = read(value)
    return row(**content)


def dump(row: AnyRow) -> list[Value]:
    """Return a row as the values that `load` takes."""
    return [_stored(row, column) for column in columns(type(row))]


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def insert(database: Database, row: AnyRow) -> None:
    """Store a row that is not there yet."""
    cls = type(row)
    database.execute(_insert(cls), [_stored(row, column) for column in columns(cls)])


def update(database: Database, old: AnyRow, new: AnyRow) -> None:
    """Store what differs between two states of one row; nothing if nothing does."""
    cls = type(new)
    changed = tuple(column for column in columns(cls) if getattr(old, column) != getattr(new, column))
    if changed:
        key = getattr(new, KEYS[cls])
        database.execute(_update(cls, changed), [*(_stored(new, column) for column in changed), key])


def delete(database: Database, row: type[AnyRow], where: str = "true", *values: str) -> None:
    """Remove the rows that a condition selects; all without one."""
    database.execute(f"DELETE FROM {name(row)} WHERE {where}", values)  # noqa: S608 our own names


@functools.cache
def _insert(row: type[AnyRow]) -> str:
    marks = ", ".join("?" * len(columns(row)))
    return f"INSERT INTO {name(row)} ({', '.join(columns(row))}) VALUES ({marks})"  # noqa: S608 as above


@functools.lru_cache(maxsize=1024)
def _update(row: type[AnyRow], changed: tuple[str, ...]) -> str:
    fields = ", ".join(f"{column} = ?" for column in changed)
    return f"UPDATE {name(row)} SET {fields} WHERE {KEYS[row]} = ?"  # noqa: S608 as above


def _stored(row: AnyRow, column: str) -> Value:
    value = getattr(row, column)
    if value is None or isinstance(value, str | int | float):
        return value
    return _encode(plain(value))


@functools.cache
def _special(row: type[AnyRow]) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """Return the columns that do not hold the value of their field, and what reads each."""
    hints = typing.get_type_hints(row)
    readers = ((column, _reader(hints[column])) for column in columns(row))
    return tuple((column, read) for column, read in readers if read is not None)


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    whole = hint
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (hint,) = (part for part in typing.get_args(hint) if part is not type(None))
    if hint is bool:
        return bool
    is_plain = hint in (str, int, float) or typing.get_origin(hint) is typing.Literal
    return None if is_plain else reader(whole)
