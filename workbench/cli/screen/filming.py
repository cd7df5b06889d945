"""Films that are asked for on the screen: `workbench sessions export` in a process of its own.

Owns that process and the sentences about it. Filming draws thousands of frames: in a thread of the screen
every key would wait for them. What is written and what is left out is the export's.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from workbench.effects.own_process import start_own
from workbench.effects.proctable import process
from workbench.effects.spawn import NotStarted
from workbench.host.ancestry import refuse_inside_agents
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.human import size as size_words
from workbench.text.safe import one_line
from workbench.tui.services import FilmWanted, NotDone

FORMS: Final = {".html": "html", ".cast": "cast", ".svg": "svg"}
"""How a file's name ends, and what is written into it."""
_THEMES: Final = ("workbench-dark", "workbench-light")
_NARROWEST, _WIDEST = (40, 12), (400, 150)
_LOOKS: Final = 0.2
"""Seconds between two looks at how far it is."""


def film(
    home: Home, journal: Journal, workspace: str, wanted: FilmWanted, told: Callable[[str], None]
) -> str:
    """Write a film or a picture, and return what to say.

    Args:
        home: Where the journal is.
        journal: Where the session is.
        workspace: The folder that a relative path begins in.
        wanted: What of which session, and where to.
        told: Is told how far it is.

    Raises:
        NotDone: Nothing was written; says why.
        InsideAgent: This process was started by an agent.
    """
    refuse_inside_agents(journal, home, "write a file")
    target = _target(workspace, wanted.path)
    log = home.logs / f"export-{journal.clock.new_id()}.log"
    try:
        pid = start_own(_words(wanted, target), home.path, log)
        _wait(pid, lambda: told(_last(log)))
        said = " ".join(_lines(log))
    except NotStarted as error:
        raise NotDone(f"Not written: {error.why}; {error.remedy}.") from None
    finally:
        log.unlink(missing_ok=True)
    if not target.exists():
        raise NotDone(f"Not written: {one_line(said, 300) or 'the export ended without a word'}")
    return f"Written: {one_line(str(target), 120)}, {size_words(target.stat().st_size)}."


def _target(workspace: str, path: str) -> Path:
    target = (Path(workspace) / Path(path).expanduser()).absolute()
    shown = one_line(str(target), 80)
    if target.suffix not in FORMS:
        raise NotDone(f"Not written: {one_line(path, 60)} ends in none of {' '.join(FORMS)}.")
    if target.exists():
        raise NotDone(f"Not written: {shown} is there already. Name another file.")
    if not target.parent.is_dir():
        raise NotDone(f"Not written: there is no folder {one_line(str(target.parent), 80)}.")
    return target


def _words(wanted: FilmWanted, target: Path) -> list[str]:
    form = FORMS[target.suffix]
    across, down = (
        max(low, min(one, high)) for low, one, high in zip(_NARROWEST, wanted.size, _WIDEST, strict=True)
    )
    theme = wanted.theme if wanted.theme in _THEMES else _THEMES[0]
    moment = ["--at", f"#{wanted.index}"] if form == "svg" and wanted.index is not None else []
    return [
        "sessions", "export", "--format", form, "--output", str(target), "--size", f"{across}x{down}",
        "--theme", theme, *moment, "--", wanted.session_id,
    ]  # fmt: skip


def _wait(pid: int, look: Callable[[], None]) -> None:
    never = threading.Event()
    while (row := process(pid)) is not None and row.is_alive:
        never.wait(_LOOKS)
        look()


def _last(log: Path) -> str:
    return one_line(next(reversed(_lines(log)), ""), 200)


def _lines(log: Path) -> list[str]:
    try:
        lines = log.read_text("utf-8", "replace").split("\n")
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip()]
