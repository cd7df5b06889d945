"""What was wrong with a file of findings: entry by entry, or as a whole."""

from collections.abc import Iterator
from typing import Final

from msgspec import field

from workbench.text.located import DocumentPlace
from workbench.text.problems import Problem, ProblemReport

MOST_PROBLEMS: Final = 20


class FindingsUnreadable(Exception):
    """A file cannot be read as findings; says why."""


class ReadReport(ProblemReport):
    """The first problems of a file's entries, and how many entries were skipped or left out."""

    skipped: int = 0
    notes: dict[str, int] = field(default_factory=dict[str, int])
    """Number of entries that were left out although nothing is wrong with them."""

    def add(self, problem: Problem) -> None:
        """Keep one of the first problems; one that reads like another does not count."""
        if len(self.found) < MOST_PROBLEMS and _text(problem) not in map(_text, self.found):
            self.found.append(problem)

    def warn(self, message: str, *, key: str = "") -> None:
        self.add(Problem(message=message, key=key, severity="warning", fatal=False))

    def skip(self, message: str, *, key: str) -> None:
        """Count an entry that could not be read, and keep the first reasons."""
        self.skipped += 1
        self.warn(message, key=key)

    def skip_at(self, place: DocumentPlace, message: str) -> None:
        """Count an entry of a located document that could not be read, and keep the first reasons."""
        self.skipped += 1
        place.add(message, severity="warning", fatal=False)

    def lead(self, message: str) -> None:
        """Put a problem before everything else, however many there are."""
        self.found.insert(0, Problem(message=message, severity="warning", fatal=False))

    def note(self, why: str) -> None:
        self.notes[why] = self.notes.get(why, 0) + 1

    def texts(self) -> Iterator[str]:
        """Yield the problems and then the notes, each as a text."""
        yield from map(_text, self.found)
        yield from (f"{count:,} {why}" for why, count in self.notes.items())


def _text(problem: Problem) -> str:
    where = f"line {problem.line}" if problem.line else problem.key
    return f"{where}: {problem.message}" if where else problem.message
