"""The question whether files that an agent wrote otherwise than approved are kept or put back."""

from msgspec import Struct

from workbench.changes.diff import FileChange, changed_line_totals, make_hunks
from workbench.changes.digest import action_digest, plan_digest_rows
from workbench.domain.events import ActionOpened, Event, UndoRequested
from workbench.domain.rows import Action, Call
from workbench.domain.values import FilePlan, JsonObject
from workbench.host import redaction
from workbench.host.call_context import read_call_record
from workbench.host.driver_context import SessionWriter
from workbench.host.gate_runner import change_warnings, inline_or_stored_hunks, sealed_plan
from workbench.journal.journal import Journal

FILES_FOUND = "files_found"
"""Member of an action's subject: the call that wrote the files."""


class FoundFiles(Struct, frozen=True, kw_only=True):
    """What an agent did that a human has to answer for."""

    why: str
    """A sentence: why it is asked about."""
    target: str
    changes: tuple[FileChange, ...] = ()
    """From the bytes before the call to those on the disk: what putting back reverses."""
    lost: tuple[str, ...] = ()
    """Paths whose bytes before the call are not known, or that are not in the folder."""


def found_files_question(writer: SessionWriter, row: Call, found: FoundFiles) -> Event:
    """Return the question whether files are kept or put back; blocking, so call it from a thread."""
    blobs, cwd = writer.journal.blobs, writer.context.workspace
    files, exact_hunks = sealed_plan(writer, found.changes), make_hunks(found.changes)
    hunks, was_scrubbed = redaction.redact_hunks(exact_hunks)
    inline, hunks_ref = inline_or_stored_hunks(writer, hunks)
    added, removed = changed_line_totals(exact_hunks)
    prompt = redaction.redact_line(f"{found.why} {_what_answers_do(found)}", 4_000)
    subject: JsonObject = {FILES_FOUND: row.id}
    warnings = (*(("scrubbed",) if was_scrubbed else ()), *change_warnings(found.changes))
    opened = ActionOpened(
        action_kind="files", tool=None, target=redaction.redact_target(found.target), verb="found", cwd=cwd,
        prompt=prompt, parameters=row.parameters, parameters_ref=row.parameters_ref,
        digest=action_digest(
            blobs.keyed, kind="files", parameters=subject, cwd=cwd, prompt=prompt,
            files=plan_digest_rows(files),
        ),
        files=files, hunks=inline, hunks_ref=hunks_ref, added=added, removed=removed, warnings=warnings,
        created_at=writer.journal.now(), expires_at=None, subject=subject,
    )  # fmt: skip
    return writer.event(opened, action_id=writer.new_id())


def _what_answers_do(found: FoundFiles) -> str:
    """Return what approving and rejecting does, and which files cannot be put back."""
    lost = f"The bytes of {', '.join(found.lost)} before the call are not known. " if found.lost else ""
    if not found.changes:
        return f"{lost}Nothing can be put back: approve or reject records what you think of it."
    named = ", ".join(change.path for change in found.changes) if found.lost else "what is there now"
    return f"{lost}Approve to keep {named}; reject to put back the bytes from before the call."


def put_back_request(journal: Journal, action: Action) -> UndoRequested | None:
    """Return the request that puts rejected files back; None where none can be."""
    call_id = str(action.subject[FILES_FOUND])
    if not action.files:
        return None
    files = tuple(
        FilePlan(
            path=plan.path, base=plan.after, after=plan.base, mode=plan.mode, after_ref=plan.base_ref
        )
        for plan in action.files
    )  # fmt: skip
    changed = {body.path for body in read_call_record(journal, call_id).changed}
    is_whole = changed <= {plan.path for plan in files}
    return UndoRequested(calls=(call_id,), whole=(call_id,) if is_whole else (), files=files)
