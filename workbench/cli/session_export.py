"""`workbench sessions export`: a session as events, another program's format, page, picture or film."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.backend.session_export import (
    PICTURE_FORMATS,
    TRANSCRIPT,
    WRITERS,
    export_texts,
)
from workbench.cli.console import Console
from workbench.cli.context import SESSION_ID_HELP, find_session
from workbench.cli.errors import EXIT_OK, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.picture_options import add_picture_options
from workbench.cli.session_export_folder import check_folder_options, export_folder
from workbench.domain.rows import Session
from workbench.effects.path_files import write_atomic_parts
from workbench.formats.command_log import is_command_session
from workbench.journal.journal import Journal
from workbench.text.human import size_text
from workbench.text.safe import one_line
from workbench.views.replay import parse_replay_moment, replay_moment_forms

if TYPE_CHECKING:
    from workbench.cli.session_film import FilmOptions


EXPORT_EXAMPLE = """workbench sessions export 3f2a > session.jsonl
workbench sessions export 3f2a --format markdown
workbench sessions export 3f2a --format transcript --output session.html
workbench sessions export 3f2a --format html --output session.html
workbench sessions export --all sessions
workbench sessions export 3f2a --format svg --at 0:30 --output moment.svg
workbench sessions export 3f2a --format svg --animate --output session.svg"""


_READING: Final = "reading the session"
_CHARACTERS_PER_STATUS: Final = 64 * 1024


def configure_export(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help=SESSION_ID_HELP)
    parser.add_argument(
        "--format",
        choices=sorted([*WRITERS, TRANSCRIPT, *PICTURE_FORMATS]),
        metavar="FORMAT",
        help="events (default), markdown, transcript, html, svg, …\n"
        "events: without loss, to be imported again; wink: a session file; kaiak: messages; assistant: turns"
        " and records; atif: a trajectory; cmd: the log of a command of workbench ask; markdown: to be read;"
        " transcript: a page to read and search; html: a page that plays it; cast: for asciinema;"
        " svg: a picture of a moment",
    )
    parser.add_argument("--output", metavar="FILE", help="write there instead of printing")
    parser.add_argument(
        "--all",
        metavar="DIR",
        help="write every session into a folder, each as a file\nThe default format is wink.",
    )
    parser.add_argument("--replace", action="store_true", help="with --all: replace files that are there")
    parser.add_argument("--json", action="store_true", help="with --all: print what was written as JSON")
    add_picture_options(parser)


def execute_export(options: Namespace, console: Console) -> int:
    if options.animate and options.format != "svg":
        raise UsageError("nothing was exported", "--animate is for pictures", "add --format svg")
    if options.all is not None:
        check_folder_options(options)
        with open_journal() as journal:
            return export_folder(options, journal, console)
    options.format = options.format or "events"
    _check_session_options(options)
    with open_journal() as journal:
        session = find_session(journal, options.id)
        if options.format in PICTURE_FORMATS:
            return export_picture(options, journal, session, console)
        if options.format == TRANSCRIPT:
            return _export_transcript(options, journal, session, console)
        if options.format == "cmd" and not is_command_session(session):
            why = "it is not a command that was made of words"
            raise UsageError("nothing was exported", why, "workbench ask logs lists those")
        texts = _with_status(export_texts(journal, session, options.format), console)
        if options.output is not None:
            write_output((f"{text}\n" for text in texts), options.output, console)
            return EXIT_OK
        console.say_lines(texts)
    return EXIT_OK


def _with_status(parts: Iterable[str], console: Console) -> Iterator[str]:
    """Yield parts of an export, and show on the status line how much came: a long session takes seconds."""
    console.status(_READING)
    size = shown = 0
    for part in parts:
        yield part
        size += len(part)
        if size - shown >= _CHARACTERS_PER_STATUS:
            shown = size
            console.status(f"{size_text(size)} written")
    console.clear_status()


def _check_session_options(options: Namespace) -> None:
    if options.id is None:
        raise UsageError("nothing was exported", "no session is named", "give its id, or --all DIR")
    for name in ("replace", "json"):
        if getattr(options, name):
            raise UsageError("nothing was exported", f"--{name} belongs to --all", f"leave --{name} out")


def _export_transcript(options: Namespace, journal: Journal, session: Session, console: Console) -> int:
    if options.output is None and console.is_terminal:
        remedy = "name a file: --output session.html"
        raise UsageError("nothing was exported", "a page is not to be read on a terminal", remedy)
    from workbench.backend.session_transcript import transcript_page

    parts = _with_status(transcript_page(journal, session), console)
    if options.output is None:
        for part in parts:
            console.write(part)
        return EXIT_OK
    target = _writable_path(options.output)
    size = write_atomic_parts(target, (part.encode("utf-8", "replace") for part in parts))
    console.note(f"{options.output}: {size_text(size)}")
    return EXIT_OK


def export_picture(options: Namespace, journal: Journal, session: Session, console: Console) -> int:
    """Film a session and write the file."""
    if options.output is None and console.is_terminal:
        remedy = f"name a file: --output session.{options.format}"
        raise UsageError("nothing was exported", f"{options.format} is not to be read on a terminal", remedy)
    write_output(_render_picture(options, journal, session, console), options.output, console)
    return EXIT_OK


def write_output(parts: Iterable[str], output: str | None, console: Console) -> None:
    """Write what was made into a file, or print it."""
    if output is None:
        for part in parts:
            console.write(part)
        return
    path = _writable_path(output)
    size = write_atomic_parts(path, (part.encode("utf-8", "backslashreplace") for part in parts))
    console.note(f"{output}: {size_text(size)}")


def _writable_path(output: str) -> Path:
    path = Path(output).expanduser()
    if not path.parent.is_dir():
        why = f"there is no folder {one_line(str(path.parent), 120)}"
        raise Refusal("nothing was exported", why, "make it, or name another file")
    return path


def _render_picture(options: Namespace, journal: Journal, session: Session, console: Console) -> list[str]:
    console.status(_READING)
    from workbench.cli import session_film
    from workbench.formats.film import CastWriter, HtmlWriter
    from workbench.formats.film.svg import SvgWriter, frame_svg
    from workbench.tui.replay.replay_source import ReplaySource

    film_options = session_film.FilmOptions(
        journal=journal, source=ReplaySource(journal, session), session=session, theme=options.theme,
        size=options.size, most=options.frames, keeps_idle=options.idle == "keep", on_frame=console.status,
    )  # fmt: skip
    index = _moment_index(film_options, options.at)
    if options.format == "svg" and options.animate:
        poster = None if index is None else session_film.film_time(film_options, index)
        picture = session_film.run_coroutine(
            lambda: session_film.render_film(
                film_options, 1, lambda film: SvgWriter(film, options.seconds, poster), console.note
            )
        )
        return picture.end()
    if options.format == "svg":
        picture = session_film.run_coroutine(
            lambda: session_film.render_still(
                film_options, len(film_options.source.timeline) if index is None else index
            )
        )
        return [frame_svg(*picture)]
    # A page has all of the session and stands at the moment; a cast begins with it.
    first = 1 if options.format == "html" or index is None else index
    if options.format == "cast":
        cast = session_film.run_coroutine(
            lambda: session_film.render_film(film_options, first, CastWriter, console.note)
        )
        return [f"{line}\n" for line in cast.end()]
    start = 0 if index is None else session_film.film_time(film_options, index)
    page = session_film.run_coroutine(
        lambda: session_film.render_film(
            film_options, first, lambda film: HtmlWriter(film, start), console.note
        )
    )
    return page.end()


def _moment_index(film_options: "FilmOptions", moment: str | None) -> int | None:
    timeline = film_options.source.timeline
    if not len(timeline):
        raise UsageError("nothing was exported", "this session has no events", "name another one")
    if moment is None:
        return None
    index = parse_replay_moment(moment, timeline)
    if index is None:
        why = f"“{moment}” is not a moment of this recording"
        raise UsageError("nothing was exported", why, f"name one of {replay_moment_forms(timeline)}")
    return max(1, index)
