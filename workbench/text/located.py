"""A value of a document with its place, at which readers report problems.

`parse_json_nodes` and `parse_yaml` make the nodes; a `DocumentPlace` adds the file and the way to a node.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from workbench.text.json_nodes import LocatedNode
from workbench.text.problems import Problem, ProblemReport, Severity, WarningReport
from workbench.text.safe import one_line


class DocumentPlace(Struct, frozen=True, kw_only=True):
    """A value of a document and how it is reached; what reports are made at."""

    report: ProblemReport
    file: str
    node: LocatedNode
    path: str = ""

    def error(self, code: str, message: str) -> None:
        self.add(message, code=code)

    def warn(self, code: str, message: str, *, stops_run: bool = False) -> None:
        """Report what a person should know."""
        self.add(message, code=code, severity="warning", fatal=stops_run)

    def add(
        self, message: str, remedy: str = "", *, code: str = "", severity: Severity = "error",
        fatal: bool = True,
    ) -> None:  # fmt: skip
        """Report a problem of this value, at its line and column."""
        self.report.add(
            Problem(
                message=one_line(message, 600), file=self.file, line=self.node.line, column=self.node.column,
                key=self.path, remedy=remedy, code=code, severity=severity, fatal=fatal,
            )
        )  # fmt: skip

    def member(self, name: str) -> "DocumentPlace | None":
        """Return the place of a member of an object; None if it is not there."""
        node = (self.node.members or {}).get(name)
        return None if node is None else self.at(node, _joined_path(self.path, name))

    def value(self, name: str) -> object:
        """Return the plain value of a member; None if it is absent or null."""
        node = (self.node.members or {}).get(name)
        return None if node is None else node.value

    def present(self, name: str) -> "DocumentPlace | None":
        """Return the place of a member; None if it is absent or null."""
        member = self.member(name)
        return None if member is None or member.node.value is None else member

    def members(self) -> Iterable[tuple[str, "DocumentPlace"]]:
        """Yield the members of an object with their names, paths too, exactly as they are written."""
        prefix = f"{self.path}." if self.path else ""
        for name, node in (self.node.members or {}).items():
            yield name, self.at(node, f"{prefix}{name}")

    def items(self) -> Iterable["DocumentPlace"]:
        for number, node in enumerate(self.node.items or ()):
            yield self.at(node, f"{self.path}[{number}]")

    def at(self, node: LocatedNode, path: str) -> "DocumentPlace":
        return DocumentPlace(report=self.report, file=self.file, node=node, path=path)

    def with_warnings_only(self) -> "DocumentPlace":
        """Return the same place with every problem at it, and below it, reported as a warning."""
        return replace(self, report=WarningReport(target=self.report))

    def key(self, name: str) -> "DocumentPlace":
        """Return the place of the key in front of a member, for what is wrong with its name."""
        member = self.member(name)
        return member.own_key() if member and member.node.key_line else self

    def own_key(self) -> "DocumentPlace":
        """Return the place of the key in front of this value, or of the value where there is no key."""
        node = self.node
        return self.at(
            replace(node, line=node.key_line or node.line, column=node.key_column or node.column), self.path
        )


def text_at(place: DocumentPlace) -> str:
    return str(place.node.value)


def _joined_path(path: str, name: str) -> str:
    name = one_line(name, 80)
    return f"{path}.{name}" if path else name
