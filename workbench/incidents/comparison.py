"""What a checker's findings mean for a list: which incidents are still there, where, and what is new.

An incident is still there if the checker reports the same fingerprint, or the same rule at the line to which
edits have carried it. Each finding stands for one incident: two of a rule in one line stay two.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from workbench.changes.diff import ChangedBlock, changed_blocks
from workbench.domain.incidents import Incident

LineDigests = Mapping[str, Sequence[str]]
"""For each path the digests of its lines as they were when the list was made."""


class LineCarrier:
    """Carries lines of files as they were to the files as they are; each file is compared once."""

    def __init__(self, before: LineDigests, now: Callable[[str], Sequence[str]]) -> None:
        """`now`: returns the digests of the lines of a file as it is."""
        self._before, self._now = before, now
        self._blocks: dict[str, tuple[list[ChangedBlock], int]] = {}
        """What differs of a file, and how many lines it has now."""

    def line(self, path: str, line: int) -> int:
        """Return where a line is now; of one that was rewritten the line in its place, 0 stays 0."""
        if line < 1 or path not in self._before:
            return line
        file_blocks = self._blocks.get(path)
        if file_blocks is None:
            old, new = ([d.encode() for d in digests] for digests in (self._before[path], self._now(path)))
            file_blocks = self._blocks[path] = (changed_blocks(old, new), len(new))
        return min(carried_line(file_blocks[0], line), max(1, file_blocks[1]))


def carried_line(blocks: Sequence[ChangedBlock], line: int) -> int:
    """Return where a line, counted from 1, is after the changes."""
    index = bisect_right(blocks, line - 1, key=lambda block: block.old_from) - 1
    if index < 0:
        return line
    block = blocks[index]
    if line - 1 >= block.old_to:
        return line + block.new_to - block.old_to
    # It was rewritten or removed: the line that has its place in what stands there now.
    within = min(line - 1 - block.old_from, max(0, block.new_to - block.new_from - 1))
    return max(1, block.new_from + within + 1)


class Comparison(Struct, frozen=True):
    """What a check found of a list."""

    matches: Mapping[str, Incident]
    """The finding that stands for an incident, by the incident's id; what is missing is gone."""
    new: tuple[Incident, ...]
    """What stands for none of them."""


def compare(listed: Iterable[Incident], findings: Sequence[Incident], carrier: LineCarrier) -> Comparison:
    """Return which incidents of a list a checker still finds."""
    unmatched = dict(enumerate(findings))
    incidents = list(listed)
    matches: dict[str, Incident] = {}
    for match_key in _match_keys(carrier):
        by_key = defaultdict[object, list[int]](list)
        for index, finding in unmatched.items():
            by_key[match_key(finding, finding.line)].append(index)
        paths = {finding.path for finding in unmatched.values()}
        for incident in incidents:
            if incident.id in matches or incident.path not in paths:
                continue
            candidates = by_key.get(match_key(incident, None))
            if candidates:
                matches[incident.id] = unmatched.pop(candidates.pop(0))
    return Comparison(matches, tuple(unmatched.values()))


_MatchKey = Callable[[Incident, int | None], object]
"""Returns what two reports of one incident have in common; None stands for the line it was carried to."""


def _match_keys(carrier: LineCarrier) -> Iterator[_MatchKey]:
    def line(incident: Incident, line_now: int | None) -> int:
        return carrier.line(incident.path, incident.line) if line_now is None else line_now

    yield lambda i, line_now: (i.fingerprint, line(i, line_now))
    yield lambda i, _: i.fingerprint
    yield lambda i, line_now: (i.rule, i.path, i.message, line(i, line_now))
    yield lambda i, line_now: (i.rule, i.path, line(i, line_now))


def unseen(new: Iterable[Incident], known: Collection[str]) -> tuple[Incident, ...]:
    """Return the incidents whose fingerprint nobody has reported before."""
    return tuple(incident for incident in new if incident.fingerprint not in known)


class ChangedFiles(Struct, frozen=True, kw_only=True):
    """The files that differ from before an incident, by who changed them."""

    own: tuple[str, ...] = ()
    """Changed by calls of its agent, those included that changed while a command ran."""
    while_ran: tuple[str, ...] = ()
    """Those of them that no call wrote."""
    by_others: tuple[str, ...] = ()


def attribute_changes(
    changed: Sequence[str], written: Collection[str], while_ran: Collection[str]
) -> ChangedFiles:
    """Sort changed files by who changed them: `written` by calls, `while_ran` during commands."""
    own = tuple(path for path in changed if path in written or path in while_ran)
    return ChangedFiles(
        own=own, while_ran=tuple(path for path in own if path not in written),
        by_others=tuple(path for path in changed if path not in own),
    )  # fmt: skip


def changed_paths(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that differ between two looks at a workspace, by the digests of their bytes."""
    paths = before.keys() | after.keys()
    return tuple(sorted(path for path in paths if before.get(path) != after.get(path)))
