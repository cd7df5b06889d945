"""What an agent did by its own mode, without asking: which files, from which bytes, and whether it matters.

Nothing is asked about it, except where a denial of ours names it, or where it changed a file that is closed
to agents, that runs automatically, or that is outside the folder.
"""

import os
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from workbench.changes.diff import FileChange
from workbench.domain.rows import Call
from workbench.domain.values import GateVerdict, JsonObject
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage
from workbench.host.call_context import gate_call_of, gate_context
from workbench.host.driver_context import SessionWriter
from workbench.journal.replay import last_file_change
from workbench.policy.autorun_files import autorun_reason
from workbench.policy.gate import GateContext, ScreenedCall, screen_call
from workbench.supervised.earlier_bytes import bytes_before_edit
from workbench.supervised.tools import EditTool, ForeignWriteTool
from workbench.text.safe import one_line
from workbench.tools.base import ToolRefused


class UnaskedCall(Struct, frozen=True, kw_only=True):
    """What is known of a call that was made without asking."""

    objection: str = ""
    """Why a human is asked about it: what denies it, or which file it is; empty where it is only shown."""
    changes: tuple[FileChange, ...] = ()
    """What it changed, from bytes that are known to those on the disk."""
    lost: tuple[str, ...] = ()
    """Files that it names and whose bytes before are not known."""


def look_at_unasked(writer: SessionWriter, row: Call, exact: JsonObject, *, has_failed: bool) -> UnaskedCall:
    """Return what a call did that was made without asking; blocking, so call it from a thread."""
    gate = gate_context(writer, writer.context.read_settings())
    call = gate_call_of(row, exact, writer.context.workspace)
    if not os.path.isdir(call.cwd):  # noqa: PTH112 -- the agent has removed it since; its words count still
        judged = screen_call(replace(call, cwd=""), gate)
        return UnaskedCall(objection=_verdict_objection(judged) if isinstance(judged, GateVerdict) else "")
    judged = screened = screen_call(call, gate)
    if isinstance(judged, GateVerdict):
        objection = _verdict_objection(judged)
        # The files of what is denied are known all the same; those of what is refused are not.
        screened = screen_call(call, replace(gate, deny=(), rules=(), ceiling=None))
    else:
        objection = _file_objection(judged, gate)
    if isinstance(screened, GateVerdict):
        return UnaskedCall(objection=objection)
    return _seen_call(writer, screened, objection, has_failed=has_failed)


def _seen_call(
    writer: SessionWriter, screened: ScreenedCall, objection: str, *, has_failed: bool
) -> UnaskedCall:
    seen, tool = _SeenFiles(writer, screened), writer.context.tools.get(screened.descriptor.id)
    if not seen.paths or screened.descriptor.capability == "read":
        return UnaskedCall(objection=objection)
    if seen.is_as_before:
        return UnaskedCall(objection="" if has_failed else objection)
    changes = seen.changes(tool, has_failed=has_failed) if isinstance(tool, ForeignWriteTool) else None
    return UnaskedCall(objection=objection, changes=changes or (), lost=() if changes else seen.paths)


def _verdict_objection(verdict: GateVerdict) -> str:
    """Return what denies a call, or which closed file it names; a call that cannot be judged has none."""
    is_about_it = verdict.outcome == "denied" or verdict.step == "paths"
    return one_line(f"{verdict.reason} ({verdict.by})", 400) if is_about_it else ""


def _file_objection(screened: ScreenedCall, gate: GateContext) -> str:
    return next(_file_objections(screened, os.path.realpath(gate.workspace)), "")


def _file_objections(screened: ScreenedCall, root: str) -> Iterator[str]:
    for call in (screened, *screened.patched):
        for target in call.named_paths.values():
            if call.descriptor.capability == "write" and target.is_outside:
                yield f"{one_line(target.path, 160)} is outside the folder"
            elif call.descriptor.capability != "read" and (why := autorun_reason(target.path, root)):
                yield f"{one_line(target.relative, 160)}: {why}"


class _BytesUnknown(Exception):
    """The bytes of a file before a call are not known."""


class _SeenFiles:
    """The files that a call names, as this session last knew them and as they are now."""

    def __init__(self, writer: SessionWriter, screened: ScreenedCall) -> None:
        self._writer, self._screened = writer, screened
        calls = (screened, *screened.patched)
        targets = (target for call in calls for target in call.named_paths.values())
        self.paths = tuple(dict.fromkeys(target.relative for target in targets))
        self._known = {path: last_file_change(writer.journal, writer.session_id, path) for path in self.paths}

    @property
    def is_as_before(self) -> bool:
        """Return whether every file is as this session last knew it."""
        try:
            return all(self._now(path) == self._before(path) for path in self.paths)
        except (_BytesUnknown, FileRefused):
            return False

    def changes(self, tool: ForeignWriteTool, *, has_failed: bool) -> tuple[FileChange, ...] | None:
        """Return what a tool changed; None where the bytes before are not known of every file."""
        try:
            return self._from_known(tool) or (None if has_failed else self._from_disk(tool))
        except (FileRefused, UnicodeEncodeError):
            return None

    def _from_known(self, tool: ForeignWriteTool) -> tuple[FileChange, ...] | None:
        """Return what the tool makes of the bytes of earlier changes, if that is what is on the disk."""
        try:
            changes = tool.propose(self._screened.grounded, self._known_image)
        except (ToolRefused, _BytesUnknown):
            return None
        is_on_disk = all(self._now(change.path) == change.after for change in changes)
        return changes if is_on_disk else None

    def _from_disk(self, tool: ForeignWriteTool) -> tuple[FileChange, ...] | None:
        """Return an edit computed back from what is on the disk."""
        if not isinstance(tool, EditTool):
            return None
        given = self._screened.grounded
        path, image = str(given["file_path"]), self._writer.context.root.image(str(given["file_path"]))
        old, new = (str(given[name]).encode() for name in ("old_string", "new_string"))
        before = image and bytes_before_edit(
            image.data, old, new, is_everywhere=given.get("replace_all") is True
        )
        if image is None or before is None:
            return None
        return (FileChange(path=path, before=before, after=image.data, mode=image.mode),)

    def _now(self, path: str) -> bytes | None:
        image = self._writer.context.root.image(path)
        return image.data if image else None

    def _known_image(self, path: str) -> FileImage | None:
        data, body = self._before(path), self._known.get(path)
        if data is None or body is None:
            return None
        return FileImage(data=data, mode=body.mode, size=len(data), links=1)

    def _before(self, path: str) -> bytes | None:
        body = self._known.get(path)
        if body is None:
            raise _BytesUnknown
        if body.after is None:
            return None
        data = self._writer.unseal(body.after_ref) if body.after_ref else None
        if data is None:
            raise _BytesUnknown
        return data
