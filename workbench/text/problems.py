"""What is wrong in a text that a person wrote: one type for configuration, manifests, pipelines, findings.

A reader reports every problem of a file in one pass instead of stopping at the first.
"""

from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

Severity = Literal["error", "warning"]


class Problem(Struct, frozen=True, kw_only=True):
    """One thing that is wrong, in words for the person who wrote the file."""

    message: str
    """What is wrong and, where the reader continues with something else, what holds instead."""
    file: str = ""
    """Path, name of an environment variable, or `option`; empty where there is one file."""
    line: int = 0
    """From 1; 0 where the file as a whole is meant."""
    column: int = 0
    key: str = ""
    """Where it is in the document: `steps[2].exec.source`, `limits.max_turns`."""
    remedy: str = ""
    code: str = ""
    """Stable: scripts may look for it. Empty in configurations and findings."""
    severity: Severity = "error"
    fatal: bool = True
    """Whether nothing may be started with it; a warning may be fatal where only something is missing."""

    def __str__(self) -> str:
        """Return one line: in the form of compilers with a code, as a sentence without one."""
        if not self.code:
            place = f"{self.file} line {self.line}" if self.line else self.file
            return f"{place}: {self.message} {self.remedy}".rstrip()
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.severity}: {self.message} [{self.code}]"


class ProblemReport(Struct):
    """Problems as they are found, in the order of file and line when asked for."""

    found: list[Problem] = field(default_factory=list[Problem])

    def add(self, problem: Problem) -> None:
        self.found.append(problem)

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.ordered() if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        return [problem for problem in self.ordered() if problem.severity == "warning"]

    @property
    def is_ok(self) -> bool:
        return not self.errors

    @property
    def stopping(self) -> list[Problem]:
        """Return the warnings that a run may not start with: the file is right, and something is missing."""
        return [problem for problem in self.warnings if problem.fatal]

    @property
    def is_runnable(self) -> bool:
        return self.is_ok and not self.stopping

    def grouped(self) -> list[tuple[Problem, list[int]]]:
        """Return each cause in a file once, with the lines of the places that have it after the first."""
        groups: dict[tuple[str, str, str], tuple[Problem, list[int]]] = {}
        for problem in self.ordered():
            key = (problem.file, problem.severity, problem.message)
            if key in groups:
                groups[key][1].append(problem.line)
            else:
                groups[key] = (problem, [])
        return list(groups.values())

    def ordered(self) -> list[Problem]:
        """Return every problem once, by file and line."""
        unique = dict.fromkeys(self.found)
        return sorted(unique, key=lambda problem: (problem.file, problem.line, problem.column))

    def for_running(self) -> "ProblemReport":
        """Return the same with everything as an error that a run may not start with."""
        return ProblemReport([_as_error(p) if p.fatal else p for p in self.found])

    def strict(self) -> "ProblemReport":
        """Return the same with every warning as an error."""
        return ProblemReport([_as_error(problem) for problem in self.found])


class WarningReport(ProblemReport, kw_only=True):
    """Adds what is found to another report as warnings: for parts of a document that no run depends on."""

    target: ProblemReport

    def add(self, problem: Problem) -> None:
        self.target.add(replace(problem, severity="warning", fatal=False))


def _as_error(problem: Problem) -> Problem:
    return problem if problem.severity == "error" else replace(problem, severity="error", fatal=True)
