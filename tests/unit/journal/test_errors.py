"""Errors: three parts, one sentence, and whole again after a trip to another process."""

import errno
import pickle

import apsw
import pytest

from tests.support.tables import each_row
from workbench.journal.errors import (
    JournalBusy,
    JournalCorrupt,
    JournalError,
    JournalFailed,
    JournalFull,
    LeaseLost,
    SessionDriven,
    as_journal_error,
)


@pytest.mark.parametrize("error", [LeaseLost("a", "b", "c"), SessionDriven("s", 7, "run", "h")])
def test_an_error_survives_pickling(error: JournalError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_an_error_says_what_why_and_what_to_do() -> None:
    assert (
        str(LeaseLost("it was not written", "it is gone", "stop")) == "it was not written: it is gone; stop"
    )


@each_row(
    ("error", "expected"),
    [
        (apsw.FullError("x"), JournalFull),
        (OSError(errno.ENOSPC, "x"), JournalFull),
        (OSError(errno.EDQUOT, "x"), JournalFull),
        (OSError(errno.EIO, "x"), JournalFailed),
        (apsw.IOError("x"), JournalFailed),
        (apsw.BusyError("x"), JournalBusy),
        (apsw.CorruptError("x"), JournalCorrupt),
        (apsw.NotADBError("x"), JournalCorrupt),
    ],
)
def test_errors_of_the_disk_and_the_database_are_put_into_words(
    error: Exception, expected: type[JournalError]
) -> None:
    found = as_journal_error(error)
    assert type(found) is expected
    assert found.why
    assert found.remedy


def test_other_errors_are_left_alone() -> None:
    assert as_journal_error(ValueError("x")) is None
    mine = LeaseLost("a", "b", "c")
    assert as_journal_error(mine) is mine
