"""From the lines of a file to a stream of records.

A reader yields records where their lines stand. What stands elsewhere (the model, the title) is put here into
the record that it belongs to.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Final, Protocol

from msgspec.structs import replace

from workbench.domain.values import JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.input import JsonLines
from workbench.text.problems import Problem

_MOST_RECORDS_WITHOUT_MODEL: Final = 50
"""Records after which a session begins without its model being known."""


def object_lines(lines: JsonLines) -> Iterator[tuple[JsonObject, int] | Problem]:
    """Yield the objects of lines with their numbers; what is no object is a problem."""
    for line in lines:
        if isinstance(line, Problem):
            yield line
        elif row := j.as_object(line.value):
            yield row, line.number
        else:
            yield r.file_problem(line.number, "it is not an object")


RowReader = Callable[[JsonObject, int], Iterable[r.Record]]
"""Yields the records of an object in a line of a number."""


def read_rows(
    lines: JsonLines, read: RowReader, head: Callable[[JsonObject], r.Record] | None = None
) -> Iterator[r.Record]:
    """Yield the records of each line; `head` makes the head of the session from the first one."""
    for line in object_lines(lines):
        if isinstance(line, Problem):
            yield line
            continue
        if head is not None:
            yield head(line[0])
            head = None
        yield from read(*line)


class ForeignSessionReader(Protocol):
    """Reads the lines of one session."""

    def is_another(self, row: JsonObject) -> bool:
        """Return whether an object begins another session."""
        ...

    def row(self, row: JsonObject, number: int) -> Iterator[r.Record]: ...

    def ended(self) -> Iterator[r.Record]:
        """Yield what is only known when all lines of the session were read."""
        ...


def read_sessions(lines: JsonLines, new_reader: Callable[[], ForeignSessionReader]) -> Iterator[r.Record]:
    """Yield the sessions of a stream: one, or several behind one another."""
    reader, order = new_reader(), _HeadFirst()
    for line in object_lines(lines):
        if isinstance(line, Problem):
            yield line
            continue
        if reader.is_another(line[0]):
            yield from order.take(reader.ended())
            reader, order = new_reader(), _HeadFirst(is_waiting=True)
        yield from order.take(reader.row(*line))
    yield from order.take(reader.ended())


class _HeadFirst:
    """Holds the records of a session back until its head is known: before that they are of the one before."""

    def __init__(self, *, is_waiting: bool = False) -> None:
        self._early: list[r.Record] | None = [] if is_waiting else None

    def take(self, records: Iterable[r.Record]) -> Iterator[r.Record]:
        for record in records:
            if self._early is None:
                yield record
            elif isinstance(record, r.SessionHead):
                early, self._early = self._early, None
                yield record
                yield from early
            else:
                self._early.append(record)


def typed_prompts(
    lines: JsonLines, group: str, text: str, time: str, head: Callable[[str, int | None], r.SessionHead]
) -> Iterator[r.Record]:
    """Yield a session for each value of `group` in a prompt history; `group`, `text`, `time` are members."""
    sessions: dict[str, list[r.Prompt]] = {}
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        row = j.as_object(line.value)
        prompt = r.Prompt(j.text_of(row, text), j.time_of(row, time), line.number)
        sessions.setdefault(j.text_of(row, group), []).append(prompt)
    for name, prompts in sessions.items():
        yield head(name, prompts[0].at)
        yield from prompts


def session_key(name: str, *file_names: str) -> str:
    """Return the id of a session by its file: one of a name that all have is called as its folder."""
    path = PurePath(name)
    return (path.parent.name if path.name in file_names else path.stem) or name


def with_heads(
    records: Iterable[r.Record], change: Callable[[r.SessionHead], r.SessionHead]
) -> Iterator[r.Record]:
    """Yield records with each head changed."""
    for record in records:
        yield change(record) if isinstance(record, r.SessionHead) else record


def head_with_model(records: Iterable[r.Record]) -> Iterator[r.Record]:
    """Yield records with the model of a session's first reply in its head, where the head names none."""
    head: r.SessionHead | None = None
    waiting: list[r.Record] = []
    for record in records:
        if isinstance(record, r.SessionHead) and not record.model:
            yield from _with_model(head, "", waiting)
            head, waiting = record, []
            continue
        if head is None or record is r.NOTHING_YET:
            yield record
            continue
        waiting.append(record)
        model = record.model if isinstance(record, r.Reply) else ""
        if model or len(waiting) >= _MOST_RECORDS_WITHOUT_MODEL:
            yield from _with_model(head, model, waiting)
            head, waiting = None, []
    yield from _with_model(head, "", waiting)


def _with_model(head: r.SessionHead | None, model: str, waiting: list[r.Record]) -> Iterator[r.Record]:
    if head is not None:
        yield replace(head, model=model)
        yield from waiting
