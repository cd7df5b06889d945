"""`workbench sessions export --all`: every session of the home as a file of its own.

A file is whole or not there: what stops the command, ctrl+c included, leaves no part of one.
"""

import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from workbench.backend.session_export import TRANSCRIPT, WRITERS, export_texts
from workbench.backend.session_transcript import transcript_page
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, UsageError
from workbench.cli.output_format import prefers_json
from workbench.domain.rows import Session
from workbench.domain.values import SYSTEM_SESSION, JsonObject
from workbench.effects.file_primitives import FileRefused
from workbench.effects.folders import make_folder
from workbench.effects.path_files import write_atomic_parts
from workbench.formats.command_log import is_command_session
from workbench.journal.journal import Journal
from workbench.text.human import counted
from workbench.text.safe import one_line

FOLDER_FORMAT: Final = "wink"
"""The format of files that are written without `--format`: one JSON document, named after its session."""
FOLDER_FORMATS: Final = (*WRITERS, TRANSCRIPT)
_SUFFIXES: Final = {
    "wink": "json", "atif": "json", "cmd": "json", "markdown": "md", TRANSCRIPT: "html",
}  # fmt: skip
"""Endings of files; of any other format there is one JSON text a line."""
_UNSAFE_IN_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME: Final = 100
_MAX_NAMED: Final = 5


class ExportedFile(Struct, frozen=True, kw_only=True):
    """What came of one session."""

    id: str
    file: str
    state: Literal["written", "exists", "failed"]
    size: int = 0
    why: str = ""


def check_folder_options(options: Namespace) -> None:
    """Raise UsageError for what cannot be combined with a folder."""
    what = "nothing was exported"
    if options.id is not None:
        raise UsageError(what, "--all names no session", f"leave {one_line(options.id, 40)} or --all out")
    if options.output is not None:
        raise UsageError(what, "--all names the folder itself", "leave --output out")
    if options.format is not None and options.format not in FOLDER_FORMATS:
        forms = ", ".join(sorted(FOLDER_FORMATS))
        raise UsageError(what, f"--all writes no {options.format}", f"name one of {forms}")


def export_folder(options: Namespace, journal: Journal, console: Console) -> int:
    """Write every session and return the exit code: 1 where a file could not be written."""
    form: str = options.format or FOLDER_FORMAT
    folder = Path(options.all).expanduser().absolute()
    sessions = [row for row in journal.sessions() if row.id != SYSTEM_SESSION and _has_form(row, form)]
    make_folder(str(folder))
    exported: list[ExportedFile] = []
    try:
        for number, (session, name) in enumerate(_named_sessions(sessions, form), 1):
            console.status(f"{number:,} of {len(sessions):,}  {one_line(session.title, 60) or session.id}")
            exported.append(_export_file(journal, session, folder / name, form, replaces=options.replace))
    finally:
        console.clear_status()
        _report(exported, len(sessions), folder, form, options, console)
    return EXIT_OK if all(file.state == "written" for file in exported) else EXIT_FAILED


def _has_form(session: Session, form: str) -> bool:
    return form != "cmd" or is_command_session(session)


def _named_sessions(sessions: Sequence[Session], form: str) -> Iterator[tuple[Session, str]]:
    """Yield each session with a file name that no other has, also where case does not count."""
    suffix, taken = _SUFFIXES.get(form, "jsonl"), set[str]()
    for session in sessions:
        stem = _UNSAFE_IN_NAME.sub("_", session.id)[:_MAX_NAME]
        name, number = stem, 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        yield session, f"{name}.{suffix}"


def _export_file(
    journal: Journal, session: Session, path: Path, form: str, *, replaces: bool
) -> ExportedFile:
    if not replaces and (path.exists() or path.is_symlink()):
        return ExportedFile(id=session.id, file=path.name, state="exists", why="it is there already")
    try:
        size = write_atomic_parts(path, _file_parts(journal, session, form))
    except FileRefused as error:
        return ExportedFile(id=session.id, file=path.name, state="failed", why=error.why)
    return ExportedFile(id=session.id, file=path.name, state="written", size=size)


def _file_parts(journal: Journal, session: Session, form: str) -> Iterator[bytes]:
    """Yield the same bytes that the export of one session writes with `--output`."""
    if form == TRANSCRIPT:
        yield from (part.encode("utf-8", "replace") for part in transcript_page(journal, session))
        return
    for text in export_texts(journal, session, form):
        yield f"{text}\n".encode("utf-8", "backslashreplace")


def _report(
    exported: Sequence[ExportedFile],
    total: int,
    folder: Path,
    form: str,
    options: Namespace,
    console: Console,
) -> None:
    if options.json or prefers_json(options):
        console.json(_report_json(exported, total, folder, form))
        return
    written = sum(file.state == "written" for file in exported)
    console.note(f"{counted(written, 'session')} written to {one_line(str(folder), 200)} as {form}.")
    left = [file for file in exported if file.state != "written"]
    for file in left[:_MAX_NAMED]:
        console.note(f"{file.file} was not written: {file.why}.")
    if len(left) > _MAX_NAMED:
        console.note(f"{len(left) - _MAX_NAMED:,} more were not written.")
    if any(file.state == "exists" for file in left):
        console.note("--replace writes files that are there again.")
    if len(exported) < total:
        console.note(f"Stopped: {total - len(exported):,} of {total:,} were not written.")


def _report_json(exported: Sequence[ExportedFile], total: int, folder: Path, form: str) -> JsonObject:
    return {
        "folder": str(folder), "format": form, "total": total, "is_complete": len(exported) == total,
        "sessions": [
            {"id": file.id, "file": file.file, "state": file.state, "bytes": file.size,
             "why": file.why or None}
            for file in exported
        ],
    }  # fmt: skip
