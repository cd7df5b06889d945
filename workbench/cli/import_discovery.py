"""`workbench sessions import` without a file: every agent's folder on this machine, asked about once."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.cli.console import Console
from workbench.cli.context import open_journal, workspace_path
from workbench.cli.errors import EXIT_OK, UsageError
from workbench.cli.import_progress import ProgressLine
from workbench.cli.rows import JsonFields
from workbench.cli.session_import import exit_code, finish_import
from workbench.config.session_settings import SessionSettings
from workbench.formats.agent_folders import AGENTS
from workbench.host.host_locks import refuse_inside_agents
from workbench.host.import_choice import FoundHistory, LeftOut, found_histories, import_rate, import_request
from workbench.host.session_config import leave_out, session_settings
from workbench.host.session_import import import_sources
from workbench.journal.home import Home
from workbench.text.human import counted, duration_text, size_text
from workbench.text.safe import one_line

_LETTERS: Final = "abcdefghijklmoprstuvwxyz"
"""Of rows; n is no, and q ends other questions."""


class Answer(Struct, frozen=True, kw_only=True):
    """What was answered to the question."""

    is_yes: bool
    left_out: tuple[str, ...] = ()
    """What is left out from now on: agents, folders, patterns."""
    problem: str = ""
    """Why it was not understood; asked again then."""


def import_found(options: Namespace, console: Console) -> int:
    """Show what agents have here, ask once, and import what is new."""
    with open_journal() as (home, journal):
        refuse_inside_agents(journal, home, "import sessions")
        settings, workspace = session_settings(home), workspace_path(options.directory)
        histories = found_histories(journal, settings, workspace, is_again=options.again)
        seconds = _estimated_seconds(histories)
        if options.dry_run:
            facts: JsonFields = {"dry_run": True, **_preview_json(histories, seconds)}
            return console.result(facts, _preview_lines(histories, seconds), is_json=options.json)
        if not options.yes:
            _require_terminal(options, console, histories)
            for line in _preview_lines(histories, seconds):
                console.say(line)
            settings, is_yes = _ask_until_clear(home, settings, histories, console)
            if not is_yes:
                console.say("Nothing was imported.")
                return EXIT_OK
        chosen = _chosen(histories, LeftOut(settings.leave_out))
        request = import_request(settings, is_again=options.again, is_found=True)
        sources = (source for history in chosen for source in history.due)
        result = import_sources(journal, sources, request, ProgressLine(console))
        result.unchanged += sum(history.files - len(history.due) for history in chosen)
        more = _preview_json(histories, seconds)
        finish_import(console, journal, settings, result, is_json=options.json, more=more)
    return exit_code(result)


def _chosen(histories: Sequence[FoundHistory], left_out: LeftOut) -> list[FoundHistory]:
    return [
        history for history in histories if not (history.is_left_out or left_out.has_history(history.folder))
    ]


def _estimated_seconds(histories: Sequence[FoundHistory]) -> float:
    size = sum(history.due_size for history in histories)
    return size / import_rate(histories) if size else 0.0


def _require_terminal(options: Namespace, console: Console, histories: Sequence[FoundHistory]) -> None:
    if not any(history.due for history in histories):
        return
    if options.json or not (sys.stdin.isatty() and console.is_terminal):
        files = sum(len(history.due) for history in histories)
        why = f"{counted(files, 'new file')} of agents would be read, and there is no terminal to ask at"
        raise UsageError(
            "nothing was imported", why, "say so with --yes; --preview shows what would be imported"
        )


def _preview_json(histories: Sequence[FoundHistory], seconds: float) -> JsonFields:
    return {
        "folders": [
            {
                "agent": history.folder.agent, "path": history.folder.path, "files": history.files,
                "bytes": history.size, "new_files": len(history.due), "new_bytes": history.due_size,
                "is_left_out": history.is_left_out,
            }
            for history in histories
        ],
        "estimated_seconds": round(seconds, 1),
    }  # fmt: skip


def _preview_lines(histories: Sequence[FoundHistory], seconds: float) -> list[str]:
    if not histories:
        names = ", ".join(dict.fromkeys(agent.title for agent in AGENTS))
        return [
            "No sessions of other agents were found on this machine.",
            f"Looked for: {names}. A file or folder elsewhere can be named.",
        ]
    letters = _letters(histories)
    width = max(len(history.folder.title) for history in histories)
    places = [_short_path(history.folder.path) for history in histories]
    wide = max(map(len, places))
    rows = [
        f"  {letter}  {history.folder.title:<{width}}  {place:<{wide}}  {counted(history.files, 'file'):>12}"
        f"  {size_text(history.size):>8}  {_new_words(history)}"
        for letter, history, place in zip(letters, histories, places, strict=True)
    ]
    files, size = (
        sum(len(history.due) for history in histories),
        sum(history.due_size for history in histories),
    )
    if not files:
        return [*rows, "Everything is imported already; --again reads all files again."]
    return [*rows, f"{counted(files, 'file')} to read, {size_text(size)}, about {duration_text(seconds)}."]


def _letters(histories: Sequence[FoundHistory]) -> list[str]:
    return [_LETTERS[index] if index < len(_LETTERS) else " " for index in range(len(histories))]


def _short_path(path: str) -> str:
    home = str(Path.home())
    return one_line(f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path, 60)


def _new_words(history: FoundHistory) -> str:
    if history.is_left_out:
        return "left out (sessions.leave_out)"
    if len(history.due) == history.files:
        return "all new"
    return f"{len(history.due):,} new, {size_text(history.due_size)}" if history.due else "nothing new"


# --- the question ---------------------------------------------------------------------------------


def _ask_until_clear(
    home: Home, settings: SessionSettings, histories: Sequence[FoundHistory], console: Console
) -> tuple[SessionSettings, bool]:
    """Ask, remember what is left out, and return the settings as they are then."""
    if not any(history.due for history in histories):
        return settings, bool(histories)
    while True:
        console.write(
            "Import? enter all, letters leave out an agent, ~/folder or *name* a project, n nothing: "
        )
        line = sys.stdin.readline()
        answer = read_answer(line if line else "n", histories)
        if not answer.problem:
            break
        console.say(answer.problem)
    if answer.is_yes and answer.left_out:
        path = leave_out(home, answer.left_out)
        console.say(f"Left out from now on: {', '.join(answer.left_out)} (sessions.leave_out in {path}).")
        settings = replace(settings, leave_out=(*settings.leave_out, *answer.left_out))
    return settings, answer.is_yes


def read_answer(line: str, histories: Sequence[FoundHistory]) -> Answer:
    """Return what a line means: empty is yes, `n` no; letters and paths leave out what they name."""
    text = line.strip()
    if text.lower() in ("n", "no", "q", "quit"):
        return Answer(is_yes=False)
    if text.lower() in ("", "y", "yes"):
        return Answer(is_yes=True)
    rows = dict(zip(_letters(histories), histories, strict=True))
    left_out: list[str] = []
    for word in text.replace(",", " ").split():
        if any(character in word for character in "/*?["):
            left_out.append(word)
        elif set(word.lower()) <= set(rows):
            left_out += [_entry_for(rows[letter], histories) for letter in word.lower()]
        else:
            problem = f"“{one_line(word, 40)}” is neither letters of these rows nor a folder (with / or *)."
            return Answer(is_yes=False, problem=problem)
    return Answer(is_yes=True, left_out=tuple(dict.fromkeys(left_out)))


def _entry_for(history: FoundHistory, histories: Sequence[FoundHistory]) -> str:
    """Return what leaves a row out: its agent, or its folder where another row is of the same agent."""
    folder = history.folder
    titles = {other.folder.title for other in histories if other.folder.agent == folder.agent}
    return folder.agent if len(titles) == 1 else folder.path
