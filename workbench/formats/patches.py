"""Diffs in foreign spellings as hunks: texts before and after, unified diffs, `*** Begin Patch`.

Pure. Owns reading them for show. Nothing may rebuild a file from these: line numbers may be guesses.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from workbench.changes.hunks import hunks as own_hunks
from workbench.changes.model import FileChange
from workbench.domain.values import Hunk
from workbench.formats.foreign import Change

MOST_TEXT: Final = 400_000
"""Characters of a text that is compared; longer ones are shown by their beginnings."""

MOST_LINES: Final = 4_000
"""Lines of the hunks that are kept of one change."""

_RANGE = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE: Final = "*** Move to: "

Rows = tuple[tuple[str, str], ...]


def hunks(changes: tuple[Change, ...]) -> tuple[Hunk, ...]:
    """Return the hunks of some changes, numbered through from 1."""
    found: list[Hunk] = []
    room = MOST_LINES
    for change in changes:
        for hunk in _of_change(change):
            if room <= 0:
                return tuple(found)
            kept = hunk.lines[:room]
            room -= len(kept)
            found.append(_numbered(hunk, len(found) + 1, kept))
    return tuple(found)


def _numbered(hunk: Hunk, index: int, lines: Rows) -> Hunk:
    return Hunk(
        index=index, path=hunk.path, old_start=hunk.old_start, old_count=hunk.old_count,
        new_start=hunk.new_start, new_count=hunk.new_count, lines=lines,
    )  # fmt: skip


def _of_change(change: Change) -> Iterator[Hunk]:
    if change.patch:
        yield from unified(change.path, change.patch)
        return
    old, new = change.old, change.new
    if change.change == "modify" and old and new and not old.endswith("\n") and not new.endswith("\n"):
        # Parts of a file end where somebody stopped to quote, which says nothing about its last line.
        old, new = f"{old}\n", f"{new}\n"
    before, after = _bytes(old), _bytes(new)
    if before is None and after is None:
        return
    yield from own_hunks([FileChange(path=change.path or "?", before=before, after=after, mode=0o644)])


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text[:MOST_TEXT].encode("utf-8", "replace")


def unified(path: str, patch: str) -> Iterator[Hunk]:
    """Yield the hunks of a unified diff of one file; without ranges all of it is one hunk."""
    at: list[int] = [1, 1]
    rows: list[tuple[str, str]] = []
    for line in patch.split("\n"):
        found = _RANGE.match(line)
        if found or line.startswith("@@"):
            yield from _flushed(path, at, rows)
            at = [int(found[1]), int(found[3])] if found else [at[0], at[1]]
            rows = []
        elif line[:1] in ("+", "-", " ", "\\") and not line.startswith(("--- ", "+++ ")):
            rows.append((line[0], line[1:]))
    yield from _flushed(path, at, rows)


def _flushed(path: str, at: list[int], rows: list[tuple[str, str]]) -> Iterator[Hunk]:
    if not any(sign in "+-" for sign, _ in rows):
        return
    old = sum(sign in " -" for sign, _ in rows)
    new = sum(sign in " +" for sign, _ in rows)
    yield Hunk(
        index=1, path=path, old_start=at[0], old_count=old, new_start=at[1], new_count=new, lines=tuple(rows)
    )


def begin_patch(text: str) -> tuple[Change, ...]:
    """Return the changes of a `*** Begin Patch` text; none if it holds no such patch."""
    if "*** Begin Patch" not in text:
        return ()
    body = text.partition("*** Begin Patch")[2].partition("*** End Patch")[0]
    found: list[Change] = []
    for line in body.split("\n"):
        if head := _FILE.match(line):
            kind = {"Add": "create", "Update": "modify", "Delete": "delete"}[head[1]]
            found.append(Change(path=head[2].strip(), change=kind))  # type: ignore[arg-type]
        elif found and line.startswith(_MOVE):
            found += moved(found.pop().path, line.removeprefix(_MOVE).strip())
        elif found:
            last = found[-1]
            found[-1] = Change(path=last.path, change=last.change, patch=f"{last.patch}{line}\n")
    return tuple(found)


def moved(old: str, new: str, patch: str = "") -> tuple[Change, ...]:
    """Return the changes of a file that got another name: the old one is gone, the new one holds it."""
    if old in ("", new):
        return (Change(path=new, patch=patch),)
    return (Change(path=old, change="delete"), Change(path=new, change="create", patch=patch))


def git_files(patch: str) -> tuple[Change, ...]:
    """Return the changes of a unified diff over several files."""
    found: list[Change] = []
    sections = re.split(r"^(?=diff --git |--- )", patch, flags=re.MULTILINE)
    for is_diff, group in groupby(sections, key=lambda part: part.startswith("diff --git ")):
        for part in group:
            found += _named(part) if is_diff else _section(part)
    # A file that was renamed and changed stands in both parts of its section.
    return tuple({(change.path, change.change): change for change in found}.values())


def _named(head: str) -> tuple[Change, ...]:
    """Return the move that the head of a section tells of; all else is told by what follows it."""
    old = re.search(r"^rename from (.+)", head, re.MULTILINE)
    new = re.search(r"^rename to (.+)", head, re.MULTILINE)
    return moved(old[1].strip(), new[1].strip()) if old and new else ()


def _section(part: str) -> tuple[Change, ...]:
    old = re.search(r"^--- (\S+)", part, re.MULTILINE)
    new = re.search(r"^\+\+\+ (\S+)", part, re.MULTILINE)
    if old is None or new is None:
        return ()
    before, after = (re.sub(r"^[ab]/", "", found[1]) for found in (old, new))
    if "/dev/null" not in (old[1], new[1]):
        return moved(before, after, part)
    if new[1] == "/dev/null":
        return (Change(path=before, change="delete", patch=part),)
    return (Change(path=after, change="create", patch=part),)


def counts(hunks: tuple[Hunk, ...]) -> tuple[int, int]:
    """Return how many lines hunks add and remove."""
    signs = [sign for hunk in hunks for sign, _ in hunk.lines]
    return signs.count("+"), signs.count("-")
