"""Open the journal of the data folder for a command: migration, interrupted imports, expired actions."""

import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from workbench.cli.errors import Refusal
from workbench.effects.process_marks import AGENT_VARIABLE
from workbench.journal.home import Home
from workbench.journal.journal import Journal


@contextmanager
def open_journal(*, human_only: str = "", expires_due: bool = False) -> Generator[Journal, None, None]:
    """Open the data folder and its journal for one command.

    `human_only`: what the command does that no agent may, in words for its refusal. `expires_due`: whether
    what is due expires before the command looks.
    """
    if AGENT_VARIABLE in os.environ and "WORKBENCH_HOME" not in os.environ:
        why = "this process was started by an agent, and what is in there is its human's"
        raise Refusal("the data folder was not opened", why, "name another one in WORKBENCH_HOME")
    home = Home.open()
    journal = Journal.open(home, on_migration=_tell_migration())
    try:
        _roll_back_unfinished_imports(journal)
        if human_only:
            from workbench.host.host_locks import refuse_inside_agents

            refuse_inside_agents(journal, home, human_only)
        if expires_due:
            from workbench.journal.decisions import expire_due_actions

            expire_due_actions(journal)
        yield journal
    finally:
        journal.close()


_MIGRATION_PATIENCE = 1.0
"""Seconds after which a migration says how far it is."""


def _tell_migration() -> Callable[[float], None]:
    """Return what writes to a terminal how far a migration is, on one line, once it has taken a while."""
    shown_words, start = "", 0.0

    def tell(share: float) -> None:
        nonlocal shown_words, start
        start = start or time.monotonic()
        words = f"Counting the tokens of your sessions, once: {share:.0%}"
        if words != shown_words and time.monotonic() - start >= _MIGRATION_PATIENCE and sys.stderr.isatty():
            shown_words = words
            sys.stderr.write(f"\r{words}{chr(10) if share >= 1 else ''}")
            sys.stderr.flush()

    return tell


def _roll_back_unfinished_imports(journal: Journal) -> None:
    if any(journal.home.run.glob("import-*.lock")):
        from workbench.journal.errors import JournalFull
        from workbench.journal.imports import undo_unfinished_imports

        with suppress(JournalFull):  # the rows can be read; a process with room continues the rollback
            undo_unfinished_imports(journal)
