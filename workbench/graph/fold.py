"""Many steps shown as one: a matrix with its items, steps that are alike, chains that are alike.

Owns which steps stand together and under which id. Folding looks at ids and edges only, never at names
or states: a step that fails does not leave its fold.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.graph.facts import GOES_ON, PENDING, WORST, Counts, Facts, State, as_ascii, sign
from workbench.graph.model import Graph, Step, build
from workbench.text.safe import one_line
from workbench.text.width import cells, cut

FEW = 6
"""Steps that are alike from this number on are folded."""
LARGE = 60
"""Steps above which a graph is folded by itself."""
NODES = 8
"""Items up to which an open matrix is drawn as steps; more are listed."""
_NAME = 18
_TIME = 6
"""Cells between a name and the end of its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """The steps that are drawn, and what each of them stands for."""

    steps: tuple[Step, ...]
    members: Mapping[str, tuple[str, ...]]
    """Id of a drawn step to the ids of the steps it stands for, where it stands for others than itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A member of a fold, as it is listed."""

    name: str
    facts: Facts = PENDING


def fold(steps: Sequence[Step], *, opened: Iterable[str] = (), alike: bool | None = None) -> Folded:
    """Fold matrices and steps that are alike.

    Args:
        steps: All steps, matrices as one step each.
        opened: Ids of folds that are open.
        alike: Whether steps that are alike are folded; by default above 60 steps.
    """
    open_ids = frozenset(opened)
    shown, items = _matrices(steps, open_ids)
    if not (len(shown) > LARGE if alike is None else alike):
        return Folded(steps=tuple(shown), members=items)
    members: dict[str, tuple[str, ...]] = {}
    for groups_of in (_twins, _chains):
        graph = build(shown)
        groups = {name: group for name, group in groups_of(graph).items() if name not in open_ids}
        shown, found = _contract(graph, groups)
        members = {
            fold_id: tuple(one for part in ids for one in members.get(part, (part,)))
            for fold_id, ids in {**members, **found}.items()
        }
    drawn = {step.id for step in shown}
    return Folded(steps=tuple(shown), members={**items, **{k: v for k, v in members.items() if k in drawn}})


def together(members: Sequence[Facts]) -> Facts:
    """Sum up the members of a fold: the worst state, and how many are where."""
    if not members:
        return Facts(counts=Counts())
    states: list[State] = [facts.state for facts in members]
    done: tuple[State, ...] = ("completed", "completed_empty")
    return Facts(
        state=min(states, key=WORST.index),
        counts=Counts(
            ok=sum(state in done for state in states),
            run=sum(state in ("running", "retrying") for state in states),
            failed=states.count("failed") + states.count("warned"),
            asks=states.count("waiting"),
            todo=states.count("pending") + states.count("ready"),
        ),
    )


def item_lines(
    items: Sequence[Item], lines: int = NODES, *, first: int = 0, is_ascii: bool = False, spread: str = ""
) -> list[str]:
    """List the members of a fold, the worst first; the rest is counted on the last line.

    Args:
        items: In the order of the definition.
        lines: How many lines there are.
        first: How many items are scrolled past.
        is_ascii: Write signs in ASCII.
        spread: How long those took that are only counted, `12s…58s`.
    """
    order = sorted(items, key=lambda item: WORST.index(item.facts.state))[first:]
    rest = order[lines - 1 :] if len(order) > lines else []
    listed = order[: lines - 1] if rest else order
    wide = min(_NAME, max((cells(_shown(item)) for item in listed), default=0))
    found = [_item(item, wide, is_ascii=is_ascii) for item in listed]
    if rest:
        took = as_ascii(spread) if is_ascii else spread
        more = f"{len(rest)} more "
        time = took.rjust(wide + _TIME - len(more))
        found.append(f"{sign(rest[0].facts, is_ascii=is_ascii)} {more}{time}".rstrip())
    return found


def _shown(item: Item) -> str:
    return one_line(item.name, _NAME)


def _item(item: Item, wide: int, *, is_ascii: bool) -> str:
    name = cut(_shown(item), wide)
    pad = " " * (wide - cells(name))
    mark = sign(item.facts, is_ascii=is_ascii)
    words = (GOES_ON if item.facts.state == "warned" else "", one_line(item.facts.note, 40))
    note = ": ".join(word for word in words if word)
    return f"{mark} {name}{pad} {item.facts.duration:>5}  {note}".rstrip()


def _matrices(steps: Sequence[Step], opened: frozenset[str]) -> tuple[list[Step], dict[str, tuple[str, ...]]]:
    members: dict[str, tuple[str, ...]] = {}
    shown: list[Step] = []
    parts: dict[str, tuple[str, ...]] = {}
    for step in steps:
        if not step.is_matrix:
            shown.append(step)
            continue
        ids = tuple(f"{step.id}[{item}]" for item in step.items or ())
        if step.id in opened and 0 < len(ids) <= NODES and len(set(ids)) == len(ids):
            name = step.name or step.id
            parts[step.id] = ids
            shown += [
                replace(step, id=one, name=f"{name}[{item}]", is_matrix=False, items=None)
                for one, item in zip(ids, step.items or (), strict=True)
            ]
        else:
            members[step.id] = ids
            many = len(ids) or step.item_count
            shown.append(replace(step, many=many, is_open=step.id in opened and bool(ids)))
    return [_needing(step, parts) for step in shown], members


def _needing(step: Step, parts: Mapping[str, tuple[str, ...]]) -> Step:
    """Name the parts in place of what was taken apart."""
    if not any(need in parts for need in step.needs):
        return step
    return replace(step, needs=tuple(one for need in step.needs for one in parts.get(need, (need,))))


def stem(step_id: str, *, short: bool = False) -> str:
    """Return what is common to the ids of alike steps: without digits; short: without the last part."""
    text = re.sub(r"[0-9]+", "", step_id)
    if short:
        text = re.sub(r"[-_./][^-_./]*$", "", text)
    return re.sub(r"[-_./]{2,}", "-", text).strip("-_./") or step_id


def _twins(graph: Graph) -> dict[str, list[int]]:
    groups: dict[tuple[str, tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for v, step in enumerate(graph.steps):
        key = stem(step.id, short=True), tuple(sorted(graph.needs[v])), tuple(sorted(graph.feeds[v]))
        groups.setdefault(key, []).append(v)
    return _named(graph, [(name, group) for (name, _, _), group in groups.items()])


def _chains(graph: Graph) -> dict[str, list[int]]:
    """Group steps that no walk along the edges can tell apart, their numbers aside."""
    colour = _numbered([stem(step.id) for step in graph.steps])
    while True:
        finer = _numbered(
            [
                (
                    colour[v],
                    tuple(sorted({colour[u] for u in graph.needs[v]})),
                    tuple(sorted({colour[u] for u in graph.feeds[v]})),
                )
                for v in range(len(colour))
            ]
        )
        if finer == colour:
            break
        colour = finer
    groups: dict[int, list[int]] = {}
    for v, number in enumerate(colour):
        groups.setdefault(number, []).append(v)
    return _named(graph, [(stem(graph.steps[group[0]].id), group) for group in groups.values()])


def _numbered(keys: Sequence[object]) -> list[int]:
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _named(graph: Graph, groups: Iterable[tuple[str, list[int]]]) -> dict[str, list[int]]:
    """Give the large groups an id; a fold or a step that was open takes part in none."""
    return {
        f"{name} ×{graph.steps[group[0]].id}": group
        for name, group in groups
        if len(group) >= FEW and all(graph.steps[v].many is None for v in group)
    }


def _contract(graph: Graph, groups: Mapping[str, list[int]]) -> tuple[list[Step], dict[str, tuple[str, ...]]]:
    home = {graph.steps[v].id: name for name, group in groups.items() for v in group}
    shown: list[Step] = []
    seen: set[str] = set()
    for step in graph.steps:
        name = home.get(step.id)
        if name is None:
            shown.append(_renamed(step, home))
        elif name not in seen:
            seen.add(name)
            shown.append(_folded(graph, name, groups[name], home))
    members = {name: tuple(graph.steps[v].id for v in group) for name, group in groups.items()}
    return shown, members


def _renamed(step: Step, home: Mapping[str, str]) -> Step:
    needs = tuple(dict.fromkeys(home.get(need, need) for need in step.needs))
    returns = tuple(dict.fromkeys(home.get(to, to) for to in step.returns))
    return (
        step
        if needs == step.needs and returns == step.returns
        else replace(step, needs=needs, returns=returns)
    )


def _folded(graph: Graph, name: str, group: Sequence[int], home: Mapping[str, str]) -> Step:
    needs = dict.fromkeys(home.get(need, need) for v in group for need in graph.steps[v].needs)
    return Step(
        id=name,
        name=name.rpartition(" ×")[0],
        needs=tuple(needs),
        many=len(group),
        asks=any(graph.steps[v].asks for v in group),
    )
