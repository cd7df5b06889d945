"""Contracts that count tests in what git has: an agent may repair or replace a test, and not remove it."""

import fnmatch
from collections.abc import Mapping
from typing import Final

from workbench.domain.values import ContractOutcome
from workbench.effects.git import GitFailed
from workbench.pipelines.model import Contract, TestCount
from workbench.pipelines.repository import HEAD, git_text, require_tracked_files
from workbench.policy.regex import InvalidRegex, Regex, RegexTooCostly
from workbench.text.safe import one_line

_MOST_FILES: Final = 5_000
"""Files with tests whose versions are read of each commit."""


def check_test_count(
    contract: Contract, workspace: str, environment: Mapping[str, str]
) -> tuple[ContractOutcome, list[str]]:
    """Count the tests that are gone: since the last commit, or between two commits; blocking.

    Where there is nothing to compare with, as in a folder without a commit, it is not checked and says so.
    """
    tests = contract.tests or TestCount()
    try:
        counter = _TestCounter(tests, workspace, environment)
        if contract.type == "test_diff":
            removed, added = counter.changed()
            gone, since = removed - added, f"{removed} removed and {added} added since the last commit"
        else:
            before, now = counter.count(tests.base), counter.count(HEAD)
            gone, since = before - now, f"{before} in {one_line(tests.base, 60)}, {now} now"
    except GitFailed as error:
        return "not_checked", [f"there is nothing to compare with: {one_line(str(error), 200)}"]
    except (InvalidRegex, RegexTooCostly) as error:
        return "failed", [f"test_func_pattern cannot be used: {one_line(str(error), 200)}"]
    if gone <= tests.most_deletions:
        return "passed", []
    count = f"{gone} test{'s are' if gone != 1 else ' is'} gone ({since})"
    most = f"at most {tests.most_deletions} may be"
    return "failed", [f"{count}; {most}: repair or replace a test instead of removing it"]


class _TestCounter:
    def __init__(self, tests: TestCount, workspace: str, environment: Mapping[str, str]) -> None:
        self._tests, self._workspace, self._environment = tests, workspace, environment
        self._pattern = Regex(tests.pattern)
        require_tracked_files(workspace, environment)

    def changed(self) -> tuple[int, int]:
        """Return how many lines that begin a test were removed and added."""
        text = self._git("diff", HEAD, "--", *self._tests.files)
        lines = [line for line in text.splitlines() if not line.startswith(("+++", "---"))]
        return self._count_lines(lines, "-"), self._count_lines(lines, "+")

    def _count_lines(self, lines: list[str], sign: str) -> int:
        return self._matches("\n".join(line[1:] for line in lines if line.startswith(sign)))

    def count(self, commit: str) -> int:
        """Return how many tests a commit has."""
        if commit.startswith("-"):
            raise GitFailed(f"{one_line(commit, 60)} is not a commit")
        names = self._git("ls-tree", "-r", "-z", "--name-only", commit, "--").split("\0")
        wanted = [name for name in names if name and self._is_test_file(name)]
        total = 0
        for name in wanted[:_MOST_FILES]:
            total += self._matches(self._git("cat-file", "blob", f"{commit}:{name}"))
        return total

    def _is_test_file(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        return any(
            fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(name, pattern)
            for pattern in self._tests.files
        )

    def _matches(self, text: str) -> int:
        return sum(self._pattern.is_in(line) for line in text.splitlines())

    def _git(self, *words: str) -> str:
        return git_text(self._workspace, *words, environment=self._environment)
