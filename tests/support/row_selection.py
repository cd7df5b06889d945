"""Keeps only the tests that name one row of the specification: a plugin of pytest.

`WORKBENCH_ROW=32 python -m pytest -p tests.support.row_selection tests/unit` runs the tests marked `spec(32)`.
"""

import os

VARIABLE = "WORKBENCH_ROW"


def rows_of(item):
    """Return the rows that a test names."""
    return {row for mark in item.iter_markers("spec") for row in mark.args}


def pytest_collection_modifyitems(config, items):
    """Deselect every test that does not name the row."""
    row = int(os.environ[VARIABLE])
    others = [item for item in items if row not in rows_of(item)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if row in rows_of(item)]
