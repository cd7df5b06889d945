"""Edits of files as hunks, from texts, unified diffs, `*** Begin Patch` and arguments of edit tools."""

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from msgspec.structs import replace

from workbench.changes.begin_patch import (
    BEGIN,
    END,
    SECTION_HEADS,
    PatchChunk,
    PatchRefused,
    PatchSection,
    read_patch,
)
from workbench.changes.diff import FileChange, make_hunks
from workbench.domain.values import Hunk, JsonObject
from workbench.formats.json_fields import as_objects, as_text, first_text
from workbench.formats.records import CallResult, FileEdit, Record, Reply, ToolCall, file_problem
from workbench.policy.shell.patch_command import find_patch_command
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from unidiff.patch import PatchedFile, PatchSet

MOST_PATCHED_TEXT: Final = 400_000
"""Characters of a text that is compared; longer ones are shown by their beginnings."""
MOST_LINES: Final = 4_000
"""Lines of the hunks that are kept of one change."""
_HUNK_RANGE: Final = re.compile(r"@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_SLOW_HEAD: Final = re.compile(r"^(?:diff --git |Binary file).*", re.MULTILINE)
_LONGEST_HEAD: Final = 1_000
_NO_FILE: Final = "/dev/null"
_PATCH_CHANGES: Final[dict[str, Literal["create", "modify", "delete"]]] = {
    "add": "create", "update": "modify", "delete": "delete",
}  # fmt: skip
DiffRows = tuple[tuple[str, str], ...]


def edits_to_hunks(changes: tuple[FileEdit, ...]) -> tuple[Hunk, ...]:
    """Return the hunks of some changes, numbered through from 1."""
    hunks: list[Hunk] = []
    room = MOST_LINES
    for change in changes:
        for hunk in _edit_hunks(change):
            if room <= 0:
                return tuple(hunks)
            lines = hunk.lines[:room]
            room -= len(lines)
            hunks.append(_numbered_hunk(hunk, len(hunks) + 1, lines))
    return tuple(hunks)


def _numbered_hunk(hunk: Hunk, index: int, lines: DiffRows) -> Hunk:
    return Hunk(
        index=index, path=hunk.path, old_start=hunk.old_start, old_count=hunk.old_count,
        new_start=hunk.new_start, new_count=hunk.new_count, lines=lines,
    )  # fmt: skip


def _edit_hunks(change: FileEdit) -> Iterator[Hunk]:
    if change.patch:
        yield from unified_diff_hunks(change.path, change.patch)
        return
    old, new = change.old, change.new
    if change.change == "modify" and old and new and not old.endswith("\n") and not new.endswith("\n"):
        # Parts of a file end where somebody stopped to quote, which says nothing about its last line.
        old, new = f"{old}\n", f"{new}\n"
    before, after = _bounded_bytes(old), _bounded_bytes(new)
    if before is None and after is None:
        return
    yield from make_hunks([FileChange(path=change.path or "?", before=before, after=after, mode=0o644)])


def _bounded_bytes(text: str | None) -> bytes | None:
    return None if text is None else text[:MOST_PATCHED_TEXT].encode("utf-8", "replace")


def unified_diff_hunks(path: str, patch: str) -> Iterator[Hunk]:
    """Yield the hunks of a unified diff of one file; what cannot be read is one hunk of its text."""
    text = _with_ranges(patch)
    if not re.search(r"^--- ", text.partition("@@")[0], re.MULTILINE):
        text = f"--- a\n+++ b\n{text}"
    try:
        files = _read_patch(text)
    except DiffRefused as error:
        note = ("\\", f" kept as text, because it is not a unified diff: {error}")
        rows = (note, *((" ", line) for line in patch.split("\n")))
        yield Hunk(
            index=1, path=path, old_start=1, old_count=len(rows) - 1, new_start=1, new_count=len(rows) - 1,
            lines=rows,
        )  # fmt: skip
        return
    for hunk in (hunk for file in files for hunk in file if hunk.added or hunk.removed):
        yield Hunk(
            index=1, path=path, old_start=hunk.source_start, old_count=hunk.source_length,
            new_start=hunk.target_start, new_count=hunk.target_length,
            lines=tuple((row.line_type, row.value.removesuffix("\n")) for row in hunk if row.line_type),
        )  # fmt: skip


class DiffRefused(ValueError):
    """A text is not a unified diff; says why."""


def submitted_patch(call: str, name: str, patch: str) -> Iterator[Record]:
    """Yield the call that hands in a whole session's work, a unified diff that the file calls `name`."""
    yield Reply(calls=(ToolCall(call, "submit", {"path": name}),))
    try:
        changes = parse_git_diff(patch)
    except DiffRefused as error:
        changes = ()
        yield file_problem(1, f"the patch is kept as text, because it is not a unified diff: {error}")
    yield CallResult(call=call, text=patch, changes=changes)


def _read_patch(text: str) -> "PatchSet":
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    # Its patterns for these lines take time in the square of their length.
    if any(len(line) > _LONGEST_HEAD for line in _SLOW_HEAD.findall(text)):
        raise DiffRefused("the line of a file's name is too long")
    try:
        return PatchSet(text)
    except UnidiffParseError as error:
        raise DiffRefused(one_line(str(error), 200)) from None


def _with_ranges(patch: str) -> str:
    lines = patch.split("\n")
    if not any(line.startswith("@@") for line in lines):
        heads = [number for number, line in enumerate(lines, 1) if line.startswith(("--- ", "+++ "))]
        lines.insert(heads[-1] if heads else 0, "@@")
    complete: list[str] = []
    rows: list[str] | None = None
    """Of a hunk without ranges."""
    for line in lines:
        if line.startswith(("@@", "diff --git ", "--- ", "+++ ")):
            complete += _hunk_with_range(rows)
            rows = [] if line.startswith("@@") and not _HUNK_RANGE.match(line) else None
            complete += [line] if rows is None else []
        elif rows is None:
            complete.append(line)
        elif line[:1] in ("+", "-", " ", "\\"):
            rows.append(line)
    return "\n".join([*complete, *_hunk_with_range(rows)])


def _hunk_with_range(rows: list[str] | None) -> list[str]:
    if not any(row[0] in "+-" for row in rows or ()):
        return []
    assert rows is not None
    old, new = (sum(row[0] in signs for row in rows) for signs in (" -", " +"))
    return [f"@@ -1,{old} +1,{new} @@", *rows]


def files_of_begin_patch(text: str) -> list[str]:
    """Return the files that the `*** Begin Patch` texts in a text name, in their order."""
    return [path for lines in _patch_sections(text) for _, path in [_section_head(lines[0]) or ("", "")]]


def parse_begin_patch(text: str) -> tuple[FileEdit, ...]:
    """Return the changes of each `*** Begin Patch` in a text, also of one that is cut off."""
    return tuple(edit for lines in _patch_sections(text) for edit in _section_edits(lines))


def _patch_sections(text: str) -> Iterator[list[str]]:
    """Yield the lines of each section of each patch, its head first."""
    section: list[str] | None = None
    is_inside = False
    for line in text.split("\n"):
        is_head = is_inside and _section_head(line) is not None
        ends = is_inside and line.lstrip().startswith(END)
        if section is not None and (is_head or ends):
            yield section
            section = None
        if not is_inside:
            is_inside = BEGIN in line
        elif is_head:
            section = [line]
        elif ends:
            is_inside = False
        elif section is not None:
            section.append(line)
    if section is not None:
        yield section


def _section_head(line: str) -> tuple[str, str] | None:
    bare = line.strip()
    return next(
        ((kind, bare.removeprefix(head)) for head, kind in SECTION_HEADS.items() if bare.startswith(head)),
        None,
    )


def _section_edits(lines: list[str]) -> tuple[FileEdit, ...]:
    try:
        (section,) = read_patch("\n".join((BEGIN, *lines, END)).encode("utf-8", "surrogatepass"))
    except PatchRefused:
        # What the strict reader refuses is shown as far as a diff of it can be.
        kind, path = _section_head(lines[0]) or ("update", "")
        return (FileEdit(path=path, change=_PATCH_CHANGES[kind], patch="\n".join(lines[1:])),)
    return _read_section_edits(section)


def _read_section_edits(section: PatchSection) -> tuple[FileEdit, ...]:
    change = _PATCH_CHANGES[section.kind]
    if section.kind != "update":
        return (FileEdit(path=section.path, change=change, new=section.text or None),)
    patch = "".join(f"{row}\n" for chunk in section.chunks for row in _chunk_rows(chunk))
    if section.move_to is not None:
        return move_edits(section.path, section.move_to, patch)
    return (FileEdit(path=section.path, patch=patch),)


def _chunk_rows(chunk: PatchChunk) -> Iterator[str]:
    yield "@@"
    yield from (f" {anchor}" for anchor in chunk.anchors)
    yield from (f"{sign}{text}" for sign, text in chunk.lines)


def move_edits(old: str, new: str, patch: str = "") -> tuple[FileEdit, ...]:
    if old in ("", new):
        return (FileEdit(path=new, patch=patch),)
    created = FileEdit(path=new, change="create", patch=patch, moved_from=old)
    return (FileEdit(path=old, change="delete"), created)


def parse_git_diff(patch: str) -> tuple[FileEdit, ...]:
    """Return the changes of a unified diff over several files. Raises DiffRefused."""
    edits = (edit for file in _read_patch(_with_ranges(patch)) for edit in _file_edits(file))
    return tuple({(edit.path, edit.change): edit for edit in edits}.values())


def _file_edits(file: "PatchedFile") -> tuple[FileEdit, ...]:
    before, after = (
        re.sub(r"^[ab]/", "", name.strip().strip('"')) for name in (file.source_file, file.target_file)
    )
    patch = "".join(map(str, file))
    if after == _NO_FILE:
        return (FileEdit(path=before, change="delete", patch=patch),)
    if before == _NO_FILE:
        return (FileEdit(path=after, change="create", patch=patch),)
    if before != after:
        return move_edits(before, after, patch)
    # Of a file whose mode changed nothing is kept.
    return (FileEdit(path=after, patch=patch),) if patch or file.is_binary_file else ()


def added_and_removed(hunks: tuple[Hunk, ...]) -> tuple[int, int]:
    signs = [sign for hunk in hunks for sign, _ in hunk.lines]
    return signs.count("+"), signs.count("-")


_PATH_ARGUMENTS: Final = (
    "file_path", "filePath", "path", "absolute_path", "target_file", "notebook_path", "filename", "file",
)  # fmt: skip
_OLD_ARGUMENTS: Final = ("old_string", "old_str", "oldString", "oldText", "old_text", "old_content")
_NEW_ARGUMENTS: Final = ("new_string", "new_str", "newString", "newText", "new_text", "new_content")
_CONTENT_ARGUMENTS: Final = ("content", "file_text", "contents", "text", "new_contents")
_WRITE_TOOLS: Final = frozenset({
    "write", "write_file", "writefile", "create", "create_file", "save_file", "write_to_file", "file_write",
    "filewrite", "new_file",
})  # fmt: skip
_DELETE_TOOLS: Final = frozenset({"delete_file", "deletefile", "remove_file"})


def edits_of_call(call: ToolCall) -> tuple[FileEdit, ...]:
    """Return the changes that a call asks for; none where its arguments do not hold them."""
    arguments = call.arguments
    patch = first_text(arguments, "patch", "input", "patchText", "diff")
    if BEGIN in patch:
        return parse_begin_patch(patch)
    if BEGIN in (command := first_text(arguments, "command")):
        return _command_edits(command)
    path = first_text(arguments, *_PATH_ARGUMENTS)
    if not path:
        return ()
    if edits := tuple(_searched_edits(path, patch)):
        return edits
    if edits := tuple(_replacements(path, arguments)):
        return edits
    name = call.tool.rpartition(".")[2].rpartition("__")[2].casefold()
    if name in _DELETE_TOOLS:
        return (FileEdit(path=path, change="delete"),)
    if name in _WRITE_TOOLS or arguments.get("command") == "create":
        content = first_text(arguments, *_CONTENT_ARGUMENTS)
        return (FileEdit(path=path, change="create", new=content),) if content else ()
    return ()


def _command_edits(command: str) -> tuple[FileEdit, ...]:
    found = find_patch_command(command)
    if found is None:
        return ()
    edits = parse_begin_patch(found.patch.decode("utf-8"))
    return tuple(replace(edit, path=posixpath.join(found.folder, edit.path)) for edit in edits)


_SEARCH: Final = re.compile(r"[-<]{7,} SEARCH\b")
_REPLACE: Final = re.compile(r"[+>]{7,} REPLACE\b")


def _searched_edits(path: str, text: str) -> Iterator[FileEdit]:
    """Yield the pieces of a file that blocks of search and replacement name."""
    old: list[str] | None = None
    new: list[str] | None = None
    for line in text.split("\n") if _SEARCH.search(text) else ():
        if _SEARCH.match(line):
            old, new = [], None
        elif line.startswith("=======") and old is not None and new is None:
            new = []
        elif _REPLACE.match(line) and old is not None and new is not None:
            yield FileEdit(path=path, old="\n".join(old), new="\n".join(new))
            old = new = None
        elif new is not None:
            new.append(line)
        elif old is not None and line == "-------":
            # What stands above the line says where the piece begins.
            old = []
        elif old is not None:
            old.append(line)


def _replacements(path: str, arguments: JsonObject) -> Iterator[FileEdit]:
    for edit in as_objects(arguments.get("edits")) or [arguments]:
        old, new = first_text(edit, *_OLD_ARGUMENTS), first_text(edit, *_NEW_ARGUMENTS)
        if old or (new and as_text(edit.get("command")) in ("insert", "str_replace")):
            yield FileEdit(path=first_text(edit, *_PATH_ARGUMENTS) or path, old=old, new=new)
