"""Tables of rows as one test: all rows are tried, and a failure names every row that does not hold."""

import functools
import inspect

import pytest

MOST_SHOWN = 40


def each_row(names, rows, ids=None):
    """Try a test with each row of a table, as `pytest.mark.parametrize` does, but as one test.

    For tables of many small rows without fixtures of their own, where a test for each would mostly be made and
    counted.

    Args:
        names: Of the parameters, as for `parametrize`.
        rows: Their values.
        ids: What a row is called in a failure, as for `parametrize`; unless given its values.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_values(row, len(keys), is_one=isinstance(names, str) and len(keys) == 1) for row in rows]
    assert table, "a table without rows tests nothing"
    called = _names(table, ids)

    def decorate(test):
        signature = inspect.signature(test)

        @functools.wraps(test)
        def every(**others):
            failed = []
            for name, row in zip(called, table, strict=True):
                try:
                    test(**others, **dict(zip(keys, row, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    problem = f"{type(error).__name__}: {error}".replace("\n", "\n    ")
                    failed.append(f"{name}\n    {problem}")
            if failed:
                more = f"\n... and {len(failed) - MOST_SHOWN} more" if len(failed) > MOST_SHOWN else ""
                pytest.fail(
                    f"{len(failed)} of {len(table)} rows do not hold:\n"
                    + "\n".join(failed[:MOST_SHOWN])
                    + more,
                    pytrace=False,
                )

        every.__signature__ = signature.replace(
            parameters=[value for name, value in signature.parameters.items() if name not in keys]
        )
        return every

    return decorate


def _values(row, length, *, is_one):
    if isinstance(row, type(pytest.param())):
        assert not row.marks, "a row with marks is a test of its own"
        return tuple(row.values)
    values = (row,) if is_one else tuple(row)
    assert len(values) == length, f"a row of {len(values)} values for {length} names: {row!r}"
    return values


def _names(table, ids):
    if ids is None:
        return [", ".join(map(repr, row))[:200] for row in table]
    if callable(ids):
        return ["-".join(str(ids(value)) for value in row) for row in table]
    return list(ids)
