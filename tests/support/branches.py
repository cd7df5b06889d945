"""Counts branches while the tests of what decides run, in the same run as all others, where `.ci/run` asks for it.

Counted are the modules as they are imported, and each test of their own folders; every other test runs uncounted, as
counting makes it slower. Each worker writes a file that `coverage combine` puts together.
"""

import contextlib
import os
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IS_ASKED = os.environ.get("WORKBENCH_BRANCHES", "") not in ("", "0")
PACKAGES = ("workbench.policy", "workbench.changes")
MODULES = ("workbench.journal.decisions",)
COUNTED = tuple(
    ROOT / "tests/unit" / name
    for name in ("policy", "changes", "journal/test_decide.py", "journal/test_rules.py", "cli/test_check.py")
)
COMPARISONS = ("_oracle.py", "test_wild_lines.py")
"""Files of tests that compare thousands of lines with what real programs do: no branch is theirs alone."""
REPEATED = ("bounded_work", "work_of", "looked_at_in_time")
"""Parts of the names of tests that repeat the same work on input of another length."""


class BranchCounter:
    """Counts what is asked for, in one process."""

    def __init__(self):
        import coverage

        self._coverage = coverage.Coverage(config_file=str(ROOT / "pyproject.toml"), data_suffix=True)
        self._caches, self._has_uncounted = [], True

    def import_counted(self):
        """Import what is counted: the lines of a module run once."""
        self._coverage.start()
        for name in PACKAGES:
            for module in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
                import_module(module.name)
        for name in MODULES:
            import_module(name)
        self._coverage.stop()
        parts = (*(f"{name}." for name in PACKAGES), *MODULES)
        counted = [module for name, module in sys.modules.items() if name.startswith(parts)]
        found = {id(value): value for module in counted for value in vars(module).values()}
        self._caches = [value for value in found.values() if hasattr(value, "cache_clear")]

    @contextlib.contextmanager
    def counting(self, item):
        """Count while a test runs, if it is one of those of what is counted."""
        if not self._is_counted(item):
            self._has_uncounted = True
            yield
            return
        if self._has_uncounted:  # what a test that is not counted left behind would not be done again
            for cache in self._caches:
                cache.cache_clear()
            self._has_uncounted = False
        self._coverage.start()
        try:
            yield
        finally:
            self._coverage.stop()

    def _is_counted(self, item):
        return (
            item.get_closest_marker("campaign") is None
            and any(item.path.is_relative_to(path) for path in COUNTED)
            and not item.path.name.endswith(COMPARISONS)
            and not any(part in item.name for part in REPEATED)
        )

    def save(self):
        """Write what was counted."""
        self._coverage.save()


COUNTER = BranchCounter() if IS_ASKED else None
if COUNTER is not None:
    COUNTER.import_counted()
