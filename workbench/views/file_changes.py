"""The files of an action or of a change, each with its kind of change and its hunks."""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import ActionOpened, FileChanged
from workbench.domain.values import FilePlan, Hunk

# --- the choice of hunks ----------------------------------------------------------------------------


# --- file by file -----------------------------------------------------------------------------------

ChangeKind = Literal["create", "modify", "delete", "rename"]


class FileDetail(Struct, frozen=True, kw_only=True):
    """What an action does to one file, with its hunks numbered over the whole action."""

    path: str
    """As proposed; not made safe."""
    change: ChangeKind
    hunks: tuple[Hunk, ...] = ()
    added: int = 0
    removed: int = 0
    base: tuple[str, ...] = ()
    """Its lines as they are now, for more context than hunks hold; may be empty."""
    note: str = ""
    """Why there are no hunks to see: `binary`, `new and empty`, `deleted`, `only its mode changes`."""
    old_path: str = ""
    """Of a file that is moved: where it was."""


def file_details(opened: ActionOpened, hunks: Sequence[Hunk]) -> tuple[FileDetail, ...]:
    by_path: dict[str, list[Hunk]] = {}
    for hunk in hunks:
        by_path.setdefault(hunk.path, []).append(hunk)
    left = {plan.moved_from for plan in opened.files}
    details = [
        _planned_file(plan, by_path.pop(plan.path, []), is_binary="binary" in opened.warnings)
        for plan in opened.files
        if plan.path not in left
    ]
    return (*details, *(_file_detail(path, "modify", rest, "") for path, rest in by_path.items()))


def change_details(opened: ActionOpened | None, changed: Iterable[FileChanged]) -> tuple[FileDetail, ...]:
    """Return the files of a call with their hunks, as its question showed them or as they were written.

    Nothing where neither tells: a call that a rule let pass records no lines.
    """
    if opened is not None and opened.hunks:
        return file_details(opened, opened.hunks)
    files: list[FileDetail] = []
    count = 0
    for body in changed:
        hunks = [replace(hunk, index=count + number) for number, hunk in enumerate(body.hunks, 1)]
        count += len(hunks)
        if hunks:
            files.append(_file_detail(body.path, body.change, hunks, ""))
    return tuple(files)


def _planned_file(plan: FilePlan, hunks: Sequence[Hunk], *, is_binary: bool) -> FileDetail:
    if plan.moved_from is not None:
        note = f"{'binary, ' if is_binary else ''}moved from {plan.moved_from}; its bytes stay the same"
        return FileDetail(path=plan.path, change="rename", note=note, old_path=plan.moved_from)
    change = "create" if plan.base is None else "delete" if plan.after is None else "modify"
    if hunks:
        note = ""
    elif plan.base is not None and plan.base == plan.after:
        note = "only its mode changes"
    elif is_binary:
        note = "binary"
    else:
        note = {"create": "new and empty", "delete": "deleted, it was empty"}.get(change, "no lines to show")
    return _file_detail(plan.path, change, hunks, note)


def _file_detail(path: str, change: ChangeKind, hunks: Sequence[Hunk], note: str) -> FileDetail:
    signs = [sign for hunk in hunks for sign, _ in hunk.lines]
    return FileDetail(
        path=path, change=change, hunks=tuple(hunks), added=signs.count("+"), removed=signs.count("-"),
        note=note
    )  # fmt: skip


# --- undo -------------------------------------------------------------------------------------------
