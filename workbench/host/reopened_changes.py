"""What the files of a workspace lack of an approved action, as changes of the files as they are now.

A file counts as known while it holds the bytes before the action or those that the action wrote. Anything
else is another's work, and nothing is proposed on top of it.
"""

from typing import cast

from msgspec.structs import replace

from workbench.changes.decision import SealedBytesMissing, image_digest, sealed_changes
from workbench.changes.diff import FileChange
from workbench.domain.events import ActionOpened
from workbench.domain.rows import Action
from workbench.domain.values import BlobRef
from workbench.host.call_context import edited_bytes, read_call_record
from workbench.host.driver_context import SessionWriter
from workbench.tools.base import ToolRefused


def reopened_changes(writer: SessionWriter, action_id: str) -> tuple[FileChange, ...]:
    """Return what the files lack of an approved action; raise ToolRefused if nothing, or if they changed."""
    journal = writer.journal
    action = journal.action(action_id)
    if action is None or action.call_id is None or action.state != "approved":
        raise ToolRefused("only a change that was approved can be proposed again")
    written = {body.path: body.after for body in read_call_record(journal, action.call_id).changed}
    missing: list[FileChange] = []
    for whole in _whole_changes(writer, action):
        image = writer.context.root.image(whole.path)
        now = image.data if image else None
        if now == whole.after:
            continue
        digest = image_digest(now, journal.blobs.keyed)
        is_known = now == whole.before or (whole.path in written and written[whole.path] == digest)
        if not is_known:
            raise ToolRefused(f"{whole.path} has changed since; ask the agent for it")
        missing.append(FileChange(path=whole.path, before=now, after=whole.after, mode=whole.mode))
    if not missing:
        raise ToolRefused("the files hold all of it already")
    return tuple(missing)


def _whole_changes(writer: SessionWriter, action: Action) -> tuple[FileChange, ...]:
    """Return all of an action, with the bytes that its human wrote in place of those proposed."""
    event = writer.journal.event_at(action.opened_at)
    files = event.body.files if event and isinstance(event.body, ActionOpened) else ()
    try:
        edited = edited_bytes(writer, cast("dict[str, BlobRef] | None", action.edited)) or {}
        changes = sealed_changes(files, writer.journal.blobs)
    except SealedBytesMissing as error:
        raise ToolRefused(f"{error.why} Ask the agent for it.") from None
    return tuple(replace(change, after=edited.get(change.path, change.after)) for change in changes)
