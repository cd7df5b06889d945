"""The data folder for commands about hosts: also where its journal cannot be opened while they live.

Owns the one exception to opening the journal: a migration waits until every host has ended, and the command
that ends them must not wait for the migration.
"""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from workbench.cli.place import opened
from workbench.journal.errors import MigrationBlocked
from workbench.journal.home import Home
from workbench.journal.journal import Journal


@contextmanager
def reached() -> Generator[tuple[Home, Journal | None], None, None]:
    """Open the data folder; the journal is None where hosts of an older version keep it from its new form."""
    with ExitStack() as stack:
        try:
            home, journal = stack.enter_context(opened())
        except MigrationBlocked:
            home, journal = Home.open(), None
        yield home, journal
