"""Where a command works: the workspace, the data folder and its journal, opened for one command.

Owns that a workspace is exactly the folder named (its real path), never a parent of it, and that the
journal is closed again. Opens nothing that was not asked for.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from workbench.cli.errors import Refusal
from workbench.domain.values import Actor
from workbench.effects.marks import AGENT_VARIABLE
from workbench.journal.home import Home
from workbench.journal.journal import Journal


def workspace_of(directory: str | None) -> str:
    """Return the real path of the named folder, else of the current one.

    Raises:
        Refusal: There is no such folder.
    """
    given = directory if directory is not None else "."
    try:
        path = Path(given).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or "the path cannot be followed"
        raise Refusal(f"“{given}” is no workspace", why, "name a folder that is there with -C DIR") from None
    if not path.is_dir():
        raise Refusal(f"“{given}” is no workspace", "it is a file", "name a folder with -C DIR")
    return str(path)


@contextmanager
def opened() -> Generator[tuple[Home, Journal], None, None]:
    """Open the data folder and its journal for one command.

    Raises:
        Refusal: An agent's command would open the data folder of its human.
    """
    if AGENT_VARIABLE in os.environ and "WORKBENCH_HOME" not in os.environ:
        why = "this process was started by an agent, and what is in there is its human's"
        raise Refusal("the data folder was not opened", why, "name another one in WORKBENCH_HOME")
    home = Home.open()
    journal = Journal.open(home)
    try:
        _take_back_unfinished(journal)
        yield home, journal
    finally:
        journal.close()


def _take_back_unfinished(journal: Journal) -> None:
    if any(journal.home.run.glob("import-*.lock")):
        from workbench.journal.importing import take_back_unfinished

        take_back_unfinished(journal)


def person() -> Actor:
    """Return who acts when somebody types a command."""
    return Actor(kind="user", pid=os.getpid(), via="cli")
