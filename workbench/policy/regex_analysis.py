"""Patterns whose matching can take exponential time, found by their automaton."""

# A pattern that overlaps is refused though Python may bear it. `(a|[a-c])+` is one set of signs to Python's
# `re`; to most others, to which rules are exported, it is a choice to be tried twice for each sign.
#
# A rule may hold two `.*` with text between them. It is quadratic at worst in Python; three that are one
# character apart, neighbours that read the same, and repeats in repeats are refused.

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, cast

from msgspec import Struct, field

_LOOP_REPEATS: Final = 10
"""Repetitions from which a bounded repeat counts as an unbounded one."""
_MAX_COPIES: Final = 3
_UNBOUNDED: Final = 0xFFFF_FFFF
_MAX_POSITIONS: Final = 600
_MAX_PAIRS: Final = 60_000
_MAX_CHAINED_LOOPS: Final = 3
"""Loops in a row, one character apart, that read the same text: more than quadratic."""
_SAMPLE_CHARACTERS: Final = "aAzZ09_ \t\n-./\"'{}:,;\\é漢\U0001f600"


class _NotAnalyzable(Exception):
    """The pattern is too large, or holds something that is not known here."""


def backtracking_objection(pattern: str) -> str | None:
    """Return why a valid pattern may backtrack super-linearly in Python's `re`; None if it does not."""
    try:
        automaton = _build_automaton(pattern)
        return automaton.objection()
    except _NotAnalyzable as error:
        return str(error)


def example_text(pattern: str) -> str | None:
    """Return a shortest text that a valid pattern matches, leaving out its anchors; None if unknown."""
    try:
        automaton = _build_automaton(pattern)
    except _NotAnalyzable:
        return None
    return automaton.shortest_text()


def unreachable_anchor(pattern: str, first: str, last: str) -> Literal["", "start", "end"]:
    """Return which anchor of a valid pattern keeps it from matching texts that begin and end so."""
    try:
        automaton = _build_automaton(pattern)
    except _NotAnalyzable:
        return ""
    whole = automaton.whole
    if whole.is_empty:
        return ""
    if automaton.is_anchored[0] and not automaton.may_be(whole.first, first):
        return "start"
    return "end" if automaton.is_anchored[1] and not automaton.may_be(whole.last, last) else ""


def is_specific_regex(pattern: str) -> bool:
    """Say whether a valid pattern names any character, or class of them, that is not nearly every one."""
    try:
        automaton = _build_automaton(pattern)
    except _NotAnalyzable:
        return True
    return any(mask.bit_count() * 4 < len(automaton.signs) * 3 for mask in automaton.masks)


class _Fragment(Struct):
    """A piece of a pattern: where it can begin and end, and whether it can be empty."""

    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    is_empty: bool = True


class _PositionAutomaton(Struct):
    signs: list[str]
    masks: list[int] = field(default_factory=list[int])
    follow: list[Counter[int]] = field(default_factory=list[Counter[int]])
    is_slow: str = ""
    whole: _Fragment = field(default_factory=_Fragment)
    is_anchored: tuple[bool, bool] = (False, False)
    """At the start, at the end."""

    def may_be(self, places: Iterable[int], sign: str) -> bool:
        """Return whether a character can stand at one of some places."""
        return any(self.masks[place] >> self.signs.index(sign) & 1 for place in places)

    def shortest_text(self) -> str:
        """Return a text on a shortest way through; empty where there is none."""
        ways = {place: self._sign(place) for place in self.whole.first if self.masks[place]}
        queue = list(ways)
        for place in queue:
            if place in self.whole.last:
                return ways[place]
            for other in self.follow[place]:
                if other not in ways and self.masks[other]:
                    ways[other] = ways[place] + self._sign(other)
                    queue.append(other)
        return ""

    def _sign(self, place: int) -> str:
        allowed = [sign for index, sign in enumerate(self.signs) if self.masks[place] >> index & 1]
        return next((sign for sign in allowed if sign.isalnum()), allowed[0])

    def position(self, mask: int) -> _Fragment:
        if len(self.masks) >= _MAX_POSITIONS:
            raise _NotAnalyzable("it is too large to be judged; write a shorter one")
        self.masks.append(mask)
        self.follow.append(Counter())
        place = (len(self.masks) - 1,)
        return _Fragment(first=place, last=place, is_empty=False)

    def join(self, left: _Fragment, right: _Fragment) -> _Fragment:
        self._link(left.last, right.first)
        return _Fragment(
            first=left.first + right.first if left.is_empty else left.first,
            last=left.last + right.last if right.is_empty else right.last,
            is_empty=left.is_empty and right.is_empty,
        )

    def loop(self, body: _Fragment) -> None:
        self._link(body.last, body.first)

    def _link(self, before: Iterable[int], after: Sequence[int]) -> None:
        for place in before:
            self.follow[place].update(after)

    def objection(self) -> str | None:
        if self.is_slow:
            return self.is_slow
        group = _strong_components([list(following) for following in self.follow])
        for place, following in enumerate(self.follow):
            if any(count > 1 and group[place] == group[other] for other, count in following.items()):
                return "a repeat stands within a repeat that can read the same text"
        if self._is_ambiguous(group):
            return "a repeat can read the same text in more than one way"
        return self._neighbours()

    def _is_ambiguous(self, group: Sequence[int]) -> bool:
        """Say whether two different ways through a loop read the same text and come together again."""
        looping = [
            n for n, following in enumerate(self.follow) if any(group[n] == group[m] for m in following)
        ]
        index: dict[tuple[int, int], int] = {(n, n): number for number, n in enumerate(looping)}
        pairs, edges = list(index), list[list[int]]()
        while len(edges) < len(pairs):
            edges.append([])
            for pair in self._next(pairs[len(edges) - 1], group):
                if pair not in index:
                    if len(pairs) >= _MAX_PAIRS:
                        raise _NotAnalyzable("it is too large to be judged; write a shorter one")
                    index[pair] = len(pairs)
                    pairs.append(pair)
                edges[-1].append(index[pair])
        together = _strong_components(edges)
        same = {together[number] for number, (left, right) in enumerate(pairs) if left == right}
        return any(left != right and together[number] in same for number, (left, right) in enumerate(pairs))

    def _next(self, pair: tuple[int, int], group: Sequence[int]) -> Iterator[tuple[int, int]]:
        left, right = pair
        for next_left in self.follow[left]:
            if group[next_left] != group[left]:
                continue
            for next_right in self.follow[right]:
                if group[next_right] == group[right] and self.masks[next_left] & self.masks[next_right]:
                    yield min(next_left, next_right), max(next_left, next_right)

    def _neighbours(self) -> str | None:
        loops = [place for place, following in enumerate(self.follow) if place in following]
        depth: dict[int, int] = {}
        for place in loops:
            for other in self.follow[place]:
                if other != place and other in self.follow[other] and self.masks[place] & self.masks[other]:
                    return "two repeats that read the same text stand beside one another"
        for place in loops:
            depth[place] = (
                max((depth[b] for b in loops if b < place and self._one_apart(b, place)), default=0) + 1
            )
        if max(depth.values(), default=0) >= _MAX_CHAINED_LOOPS:
            return "several repeats that read the same text stand one character apart"
        return None

    def _one_apart(self, place: int, other: int) -> bool:
        both = self.masks[place] & self.masks[other]
        return any(
            other in self.follow[between] and both & self.masks[between] for between in self.follow[place]
        )


def _strong_components(edges: Sequence[Sequence[int]]) -> list[int]:
    """Return for each node the number of its strongly connected component (Tarjan 1972, no recursion)."""
    order, low, group = [-1] * len(edges), [0] * len(edges), [-1] * len(edges)
    open_nodes: list[int] = []
    count = groups = 0
    for root in range(len(edges)):
        work = [(root, 0)] if order[root] < 0 else []
        while work:
            node, edge = work.pop()
            if edge == 0:
                order[node] = low[node] = count
                count += 1
                open_nodes.append(node)
            elif group[edges[node][edge - 1]] < 0:
                low[node] = min(low[node], low[edges[node][edge - 1]])
            if edge < len(edges[node]):
                work.append((node, edge + 1))
                target = edges[node][edge]
                if order[target] < 0:
                    work.append((target, 0))
                continue
            if low[node] == order[node]:
                while group[node] < 0:
                    group[open_nodes.pop()] = groups
                groups += 1
    return group


def _build_automaton(pattern: str) -> _PositionAutomaton:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = _sre_parser().parse(_ALTERNATION_SIGNS.sub(_keep_alternatives_apart, pattern))
    tree, flags = list(parsed), int(parsed.state.flags)
    automaton = _PositionAutomaton(signs=sorted({*_SAMPLE_CHARACTERS, *_sampled_characters(tree)}))
    builder = _AutomatonBuilder(automaton, bool(flags & re.IGNORECASE), bool(flags & re.DOTALL))
    automaton.whole = builder.sequence(tree)
    automaton.is_anchored = (
        _is_anchor(tree[:1], ("AT_BEGINNING", "AT_BEGINNING_STRING")),
        _is_anchor(tree[-1:], ("AT_END", "AT_END_STRING")),
    )
    return automaton


def _is_anchor(nodes: Sequence[Any], places: Sequence[str]) -> bool:
    return any(str(operation) == "AT" and str(place) in places for operation, place in nodes)


_ALTERNATION_SIGNS: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\|", re.DOTALL)


def _keep_alternatives_apart(match: re.Match[str]) -> str:
    """Keep alternatives of one character apart: the parser makes one class of them, other engines do not."""
    return r"\b|" if match.group() == "|" else match.group()


def _sre_parser() -> Any:
    import importlib

    return importlib.import_module("re._parser")  # sre_parse, under the name that it has since 3.11


def _sampled_characters(tree: Any) -> Iterator[str]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, int) and not isinstance(node, bool) and 0 <= node < 0x110000:
            near = (node - 1, node, node + 1)
            yield from (chr(code) for code in near if 0 <= code < 0x110000)
            yield from chr(node).swapcase()
        elif isinstance(node, tuple | list) or hasattr(node, "data"):
            stack.extend(cast("Iterable[Any]", node))


class _AutomatonBuilder:
    def __init__(self, automaton: _PositionAutomaton, ignores_case: bool, is_dotall: bool) -> None:
        self._automaton = automaton
        self._ignores_case: bool = ignores_case
        self._is_dotall: bool = is_dotall
        self._loops = 0

    def sequence(self, nodes: Iterable[Any]) -> _Fragment:
        whole = _Fragment()
        for operation, argument in nodes:
            whole = self._automaton.join(whole, self._part(str(operation), argument))
        return whole

    def _part(self, operation: str, argument: Any) -> _Fragment:
        match operation:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return self._automaton.position(self._mask(operation, argument))
            case "AT":
                return _Fragment()
            case "SUBPATTERN":
                return self._group(argument)
            case "BRANCH":
                return self._branch(argument[1])
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeat(*argument)
            case _:
                raise _NotAnalyzable(f"{operation.lower()} cannot be judged; write it another way")

    def _group(self, argument: Any) -> _Fragment:
        before = self._ignores_case, self._is_dotall
        added, removed = int(argument[1]), int(argument[2])
        self._ignores_case = bool((before[0] or added & re.IGNORECASE) and not removed & re.IGNORECASE)
        self._is_dotall = bool((before[1] or added & re.DOTALL) and not removed & re.DOTALL)
        fragment = self.sequence(argument[3])
        self._ignores_case, self._is_dotall = before
        return fragment

    def _branch(self, branches: Iterable[Any]) -> _Fragment:
        parts = [self.sequence(branch) for branch in branches]
        if self._loops and sum(part.is_empty for part in parts) > 1:
            self._automaton.is_slow = "a repeat can read the same text in more than one way"
        return _Fragment(
            first=tuple(place for part in parts for place in part.first),
            last=tuple(place for part in parts for place in part.last),
            is_empty=any(part.is_empty for part in parts),
        )

    def _repeat(self, least: int, most: int, body: Any) -> _Fragment:
        start = len(self._automaton.masks)
        self._loops += most >= _LOOP_REPEATS
        part = self.sequence(body)
        self._loops -= most >= _LOOP_REPEATS
        is_single = len(self._automaton.masks) - start == 1
        if most >= _LOOP_REPEATS and part.is_empty and int(most) < _UNBOUNDED:
            self._automaton.is_slow = "a repeat of something that may be empty is counted"
        if most >= _LOOP_REPEATS and not (least == most and is_single):
            self._automaton.loop(part)
            return _Fragment(first=part.first, last=part.last, is_empty=part.is_empty or least == 0)
        whole = _Fragment(first=part.first, last=part.last, is_empty=part.is_empty or least == 0)
        for number in range(1, min(int(most), _MAX_COPIES)):
            more = self.sequence(body)
            more.is_empty = more.is_empty or number >= least
            whole = self._automaton.join(whole, more)
        return whole if most > 0 else _Fragment()

    def _mask(self, operation: str, argument: Any) -> int:
        mask = 0
        for index, sign in enumerate(self._automaton.signs):
            forms = {sign, sign.lower(), sign.upper()} if self._ignores_case else {sign}
            if any(self._matches(operation, argument, ord(form)) for form in forms if len(form) == 1):
                mask |= 1 << index
        return mask

    def _matches(self, operation: str, argument: Any, code: int) -> bool:
        match operation:
            case "LITERAL":
                return code == argument
            case "NOT_LITERAL":
                return code != argument
            case "ANY":
                return self._is_dotall or code != 10
            case _:
                return _matches_class(argument, chr(code))


def _matches_class(items: Sequence[Any], sign: str) -> bool:
    negated = bool(items) and str(items[0][0]) == "NEGATE"
    return any(_matches_class_item(str(kind), value, sign) for kind, value in items[negated:]) is not negated


def _matches_class_item(kind: str, value: Any, sign: str) -> bool:
    match kind:
        case "LITERAL":
            return ord(sign) == value
        case "RANGE":
            return bool(value[0] <= ord(sign) <= value[1])
        case _:
            return _CATEGORIES[str(value)].match(sign) is not None


_CATEGORIES: Final = {
    f"CATEGORY_{name}": re.compile(sign)
    for name, sign in (
        ("DIGIT", r"\d"), ("NOT_DIGIT", r"\D"), ("SPACE", r"\s"), ("NOT_SPACE", r"\S"), ("WORD", r"\w"),
        ("NOT_WORD", r"\W"),
    )
}  # fmt: skip
