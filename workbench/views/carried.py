"""What was left out of an action, found again in the action that stands in for it.

Lines are known by what they say and by their neighbours, never by their number. What was left out is never
taken again where it still stands; where it does not, it is counted.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Final

from workbench.domain.values import Hunk
from workbench.records import dataclass
from workbench.views.selection import TakenState

_NEIGHBOURS: Final = ((-2, -1, 1, 2), (-1, 1), (-1,), (1,), ())
"""Which neighbours have to be the same, from the surest sign to none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A changed line of an action."""

    hunk: int
    number: int
    """Among the changed lines of its hunk, from 1."""
    run: int
    """Which stretch of changed lines it is in, over all hunks."""
    keys: tuple[Hashable, ...]
    """What it is known by, for each set of neighbours."""


def carried(old: Sequence[Hunk], state: TakenState, new: Sequence[Hunk]) -> tuple[TakenState, int]:
    """Return what is taken of a new diff, and how many lines that were left out are not in it any more.

    Args:
        old: the hunks that were chosen from.
        state: what was chosen.
        new: the hunks that stand in for them.
    """
    fresh = TakenState.of(new)
    if state.is_all:
        return fresh, 0
    if tuple(old) == tuple(new):
        return state, 0
    before, after = list(_lines(old)), list(_lines(new))
    pairs = _paired(before, after)
    is_left = [not state.is_line_taken(line.hunk, line.number) for line in before]
    whole_runs = {line.run for line in before} - {
        line.run for line, left in zip(before, is_left, strict=True) if not left
    }
    left = {pairs[at] for at, was_left in enumerate(is_left) if was_left and at in pairs}
    taken = {pairs[at] for at, was_left in enumerate(is_left) if not was_left and at in pairs}
    lost = [at for at, was_left in enumerate(is_left) if was_left and at not in pairs]
    # Equal lines of which nobody knows which one was left: none of them is taken.
    same = {before[at].keys[-1] for at in lost}
    unsure = {at for at, line in enumerate(after) if at not in left | taken and line.keys[-1] in same}
    gone = sum(before[at].keys[-1] not in {after[n].keys[-1] for n in unsure} for at in lost)
    left |= unsure
    # A stretch that was left whole stays whole: half a replacement is no change that anybody chose.
    runs = {after[pairs[at]].run for at in pairs if is_left[at] and before[at].run in whole_runs}
    runs -= {after[at].run for at in taken}
    left |= {at for at, line in enumerate(after) if line.run in runs}
    found: dict[int, frozenset[int]] = {}
    for at in left:
        line = after[at]
        found[line.hunk] = found.get(line.hunk, frozenset[int]()) | {line.number}
    return TakenState(sizes=fresh.sizes, left=found), gone


def _lines(hunks: Sequence[Hunk]) -> Iterator[_Line]:
    run = 0
    for hunk in hunks:
        texts = [(sign, text) for sign, text in hunk.lines if sign != "\\"]
        number, run = 0, run + 1
        for at, (sign, text) in enumerate(texts):
            if sign == " ":
                run += 1
                continue
            number += 1
            keys = tuple(
                (hunk.path, sign, text, *(_at(texts, at + step) for step in steps)) for steps in _NEIGHBOURS
            )
            yield _Line(hunk=hunk.index, number=number, run=run, keys=keys)


def _at(texts: Sequence[tuple[str, str]], index: int) -> tuple[str, str] | None:
    return texts[index] if 0 <= index < len(texts) else None


def _paired(before: Sequence[_Line], after: Sequence[_Line]) -> dict[int, int]:
    """Return which line of the new diff is which of the old one, by their places in the two lists."""
    pairs: dict[int, int] = {}
    used: set[int] = set()
    for level in range(len(_NEIGHBOURS)):
        olds, news = defaultdict[Hashable, list[int]](list), defaultdict[Hashable, list[int]](list)
        for at, line in enumerate(before):
            if at not in pairs:
                olds[line.keys[level]].append(at)
        for at, line in enumerate(after):
            if at not in used:
                news[line.keys[level]].append(at)
        for key, places in olds.items():
            if len(places) == len(news.get(key, ())):
                pairs |= zip(places, news[key], strict=True)
                used |= set(news[key])
    return pairs
