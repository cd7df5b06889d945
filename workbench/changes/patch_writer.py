"""The writer of `*** Begin Patch` texts: chosen after-images as a patch that makes exactly them.

Each text is read back and applied before it is given out; what cannot be written as a patch is an error.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from workbench.changes.begin_patch import BEGIN, END, END_OF_FILE, MOVE_TO, PatchRefused, read_patch
from workbench.changes.diff import FileChange, is_binary_content, make_hunks
from workbench.changes.patched_files import LineEnds, patched_files
from workbench.text.safe import one_line

EVERY_RULE: Final[tuple[LineEnds, ...]] = ("normalized", "preserved")
_CONTEXTS: Final = (3, 8, 1, 0, 40, 1_000_000)
"""Equal lines around a change, tried in this order: few may be found at another place too."""


def write_patch(changes: Sequence[FileChange], rules: Sequence[LineEnds] = EVERY_RULE) -> bytes:
    """Write the patch that makes the after-image of each change from its before-image, by each of the rules.

    Raises PatchRefused: no patch makes exactly these bytes.
    """
    gone = {change.path: change for change in changes if change.after is None}
    moved = {change.moved_from for change in changes if change.after is not None} & gone.keys()
    sections: list[str] = []
    for change in changes:
        if change.before == change.after or change.path in moved:
            continue
        source = gone.get(change.moved_from or "")
        sections.append(_exact_section(change, source, rules))
    data = _patch_bytes(sections)
    _require_exact(data, changes, rules)
    return data


def _patch_bytes(sections: Sequence[str]) -> bytes:
    return "\n".join((BEGIN, *sections, END, "")).encode("utf-8", "surrogatepass")


def _exact_section(change: FileChange, source: FileChange | None, rules: Sequence[LineEnds]) -> str:
    images = (change,) if source is None else (source, change)
    for section in _possible_sections(change, source):
        try:
            _require_exact(_patch_bytes([section]), images, rules)
        except PatchRefused:
            continue
        return section
    raise PatchRefused(
        f"{one_line(change.path, 80)}: no patch makes exactly these bytes; answer the change as a whole"
    )


def _require_exact(data: bytes, changes: Sequence[FileChange], rules: Sequence[LineEnds]) -> None:
    before = {change.path: change.before for change in changes}
    wanted = {change.path: change.after for change in changes}
    sections = read_patch(data)
    for line_ends in rules:
        made = patched_files(sections, before.get, line_ends=line_ends, resolve=str)
        after = {**before, **{each.path: each.after for each in made}}
        if after != wanted:
            raise PatchRefused("the patch would make other bytes than were chosen")


def _possible_sections(change: FileChange, source: FileChange | None) -> Iterator[str]:
    if change.after is None:
        yield f"*** Delete File: {change.path}"
        return
    if is_binary_content(change.after):
        return
    base = source or change
    if base.before is not None:
        for context in _CONTEXTS:
            yield "\n".join(_update_lines(base, change, context))
    added = "\n".join((f"*** Add File: {change.path}", *_added_lines(change.after)))
    yield added if source is None else f"*** Delete File: {source.path}\n{added}"


def _added_lines(data: bytes) -> Iterator[str]:
    yield from (f"+{line}" for line in data.decode("utf-8", "replace").removesuffix("\n").split("\n") if data)


def _update_lines(base: FileChange, change: FileChange, context: int) -> Iterator[str]:
    yield f"*** Update File: {base.path}"
    if base is not change:
        yield f"{MOVE_TO}{change.path}"
    images = replace(base, path="", after=change.after, moved_from=None)
    lines = (base.before or b"").count(b"\n") + (not (base.before or b"").endswith(b"\n"))
    hunks = make_hunks([images], context)
    for hunk in hunks:
        yield "@@"
        yield from (f"{sign}{text.removesuffix(chr(13))}" for sign, text in hunk.lines if sign != "\\")
        if hunk.old_count and hunk.old_start + hunk.old_count > lines:
            yield END_OF_FILE
    if not hunks:
        yield from ("@@", f" {(base.before or b'').decode('utf-8', 'replace').partition(chr(10))[0]}")
