"""The files that a patch in a shell line changes, each with the tool whose permissions say whether it may.

It resolves paths and decides nothing.
"""

import os
import posixpath
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from workbench.changes.begin_patch import PatchSection
from workbench.domain.tools import BuiltInTool
from workbench.policy.paths import PathRefused, ResolvedPath, refuse_link, resolve_path

_NAME_TOOLS: Final = frozenset({BuiltInTool.DELETE_FILE, BuiltInTool.MOVE_FILE})


class PatchedPath(Struct, frozen=True, kw_only=True):
    """One use of a path by a patch."""

    tool: str
    """Id of the built-in tool that would do the same."""
    target: ResolvedPath
    objection: str = ""
    """Why no grant covers it; empty if one may."""


def patched_paths(
    sections: Sequence[PatchSection], folder: str, workspace: str, start: str = ""
) -> Iterator[PatchedPath]:
    """Yield each path of a patch applied in a folder, for each tool that is needed. Raises PathRefused.

    `folder` is relative to `start`, where the line runs: by default the workspace.
    A path with `..` is yielded both as the kernel follows it and as text, as programs differ in that.
    """
    for section in sections:
        for tool, path in _uses(section):
            joined = posixpath.join(folder, path)
            for name in dict.fromkeys((joined, posixpath.normpath(joined))):
                yield from _resolved_uses(tool, name, workspace, start or workspace)


def _uses(section: PatchSection) -> Iterator[tuple[BuiltInTool, str]]:
    if section.kind == "add":
        yield BuiltInTool.CREATE_FILE, section.path
    elif section.kind == "delete":
        yield BuiltInTool.DELETE_FILE, section.path
    else:
        yield BuiltInTool.REPLACE_STRING, section.path
    if section.move_to is not None:
        yield from ((BuiltInTool.MOVE_FILE, path) for path in section.paths)


def _resolved_uses(tool: BuiltInTool, path: str, workspace: str, start: str) -> Iterator[PatchedPath]:
    target, objection = _followed(tool, path, workspace, start)
    yield PatchedPath(tool=tool.id, target=target, objection=objection)
    if tool is BuiltInTool.CREATE_FILE and target.exists:
        # A patch adds a file over one that is there.
        yield PatchedPath(tool=BuiltInTool.REPLACE_STRING.id, target=target, objection=objection)


def _followed(tool: BuiltInTool, path: str, workspace: str, start: str) -> tuple[ResolvedPath, str]:
    try:
        target = resolve_path(workspace, path, start)
    except PathRefused as error:
        if error.leads_to is None:
            raise
        relative = os.path.relpath(error.leads_to, os.path.realpath(workspace))
        exists = os.path.lexists(error.leads_to)
        return ResolvedPath(path=error.leads_to, relative=relative, exists=exists, given=path), str(error)
    try:
        if tool in _NAME_TOOLS:
            refuse_link(start, path)
    except PathRefused as error:
        return target, str(error)
    return target, ""
