"""What is wrong with a manifest or a pipeline: every problem at once, each with its place and a code.

Owns the words' shape. A warning never stops a validation; one that `stops_run` is an error when running.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.domain.values import Json
from workbench.text.located import Node
from workbench.text.safe import one_line

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, in words for the person who wrote the file."""

    code: str
    """Stable: scripts may look for it."""
    message: str
    file: str
    line: int = 0
    """From 1; 0 where it is about the file as a whole."""
    column: int = 0
    path: str = ""
    """Where it is in the document: `steps[2].exec.source`."""
    severity: Severity = "error"
    stops_run: bool = True
    """Whether a run may not begin with it."""

    def facts(self) -> dict[str, Json]:
        """Return it as `pipeline validate --json` prints it."""
        return {
            "code": self.code, "message": self.message, "file": self.file, "line": self.line,
            "column": self.column, "path": self.path,
        }  # fmt: skip

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.severity}: {self.message} [{self.code}]"


@dataclass(slots=True)
class Report:
    """Problems as they are found, in the order of file and line when asked for."""

    found: list[Problem] = field(default_factory=list[Problem])

    @property
    def errors(self) -> list[Problem]:
        """Return what makes a validation fail."""
        return [problem for problem in self.ordered() if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        """Return what does not."""
        return [problem for problem in self.ordered() if problem.severity == "warning"]

    @property
    def is_ok(self) -> bool:
        """Return whether there is no error."""
        return not self.errors

    def ordered(self) -> list[Problem]:
        """Return every problem once, by file and line."""
        unique = dict.fromkeys(self.found)
        return sorted(unique, key=lambda problem: (problem.file, problem.line, problem.column))

    def for_running(self) -> "Report":
        """Return the same with everything as an error that a run may not begin with."""
        return Report([_as_error(p) if p.stops_run else p for p in self.found])

    def strict(self) -> "Report":
        """Return the same with every warning as an error."""
        return Report([_as_error(problem) for problem in self.found])


def _as_error(problem: Problem) -> Problem:
    return problem if problem.severity == "error" else replace(problem, severity="error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A value of a document and how it is reached; what reports are made at."""

    report: Report
    file: str
    node: Node
    path: str = ""

    def error(self, code: str, message: str) -> None:
        """Report that the document cannot be used as it is."""
        self._add(code, message, "error", stops_run=True)

    def warn(self, code: str, message: str, *, stops_run: bool = False) -> None:
        """Report what a person should know."""
        self._add(code, message, "warning", stops_run=stops_run)

    def member(self, name: str) -> "Place | None":
        """Return the place of a member of an object; None if it is not there."""
        node = (self.node.members or {}).get(name)
        return None if node is None else self.at(node, _joined(self.path, name))

    def items(self) -> Iterable["Place"]:
        """Return the places of an array's items."""
        for number, node in enumerate(self.node.items or ()):
            yield self.at(node, f"{self.path}[{number}]")

    def at(self, node: Node, path: str) -> "Place":
        """Return another place of the same document."""
        return Place(report=self.report, file=self.file, node=node, path=path)

    def key(self, name: str) -> "Place":
        """Return the place of the key in front of a member, for what is wrong with its name."""
        node = (self.node.members or {}).get(name)
        if node is None or not node.key_line:
            return self
        return self.at(Node(value=name, line=node.key_line, column=node.key_column), _joined(self.path, name))

    def _add(self, code: str, message: str, severity: Severity, *, stops_run: bool) -> None:
        self.report.found.append(
            Problem(
                code=code, message=one_line(message, 600), file=self.file, line=self.node.line,
                column=self.node.column, path=self.path, severity=severity, stops_run=stops_run,
            )
        )  # fmt: skip


def _joined(path: str, name: str) -> str:
    name = one_line(name, 80)
    return f"{path}.{name}" if path else name
