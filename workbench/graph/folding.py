"""Folds of a large graph: a matrix, or many alike steps, as one.

Folding looks at ids and edges only, so a step that fails stays in its fold.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from workbench.graph.model import (
    PENDING_FACTS,
    STATUS_BY_SEVERITY,
    Graph,
    GraphStep,
    StepFacts,
    build_graph,
    topological_order,
)
from workbench.graph.step_text import FAILED_GOES_ON, as_ascii, status_sign
from workbench.text.safe import one_line
from workbench.text.width import cell_width, cut_to_width

FOLD_FROM = 6
"""Steps that are alike from this number on are folded."""
FOLD_GRAPHS_ABOVE = 60
"""Steps above which a graph is folded by itself."""
FOLD_STRETCHES_ABOVE = 1_000
"""Number of steps above which straight stretches are folded, too."""
_MOST_COMPARED = 200_000
"""Steps that are compared, round after round, to find those that are alike; a long chain never ends it."""
MOST_OPEN_ITEMS = 8
"""Items up to which an open matrix is drawn as steps; more are listed."""
_NAME_WIDTH = 18
_TIME_WIDTH = 7
"""Cells between a name and the end of its time."""


class FoldedGraph(Struct, frozen=True, kw_only=True):
    """The steps that are drawn, and the steps that each of them represents."""

    steps: tuple[GraphStep, ...]
    members: Mapping[str, tuple[str, ...]]
    """Id of a drawn step to the ids of the steps it represents, unless that is itself alone."""


class FoldMember(Struct, frozen=True, kw_only=True):
    """A member of a fold, as it is listed."""

    name: str
    facts: StepFacts = PENDING_FACTS


def fold_steps(
    steps: Sequence[GraphStep], *, opened: Iterable[str] = (), alike: bool | None = None
) -> FoldedGraph:
    """Fold matrices whose ids are not `opened` and, by default above 60 steps, steps that are alike."""
    open_ids = frozenset(opened)
    drawn_steps, items = _fold_matrices(steps, open_ids)
    if not (len(drawn_steps) > FOLD_GRAPHS_ABOVE if alike is None else alike):
        return FoldedGraph(steps=tuple(drawn_steps), members=items)
    members: dict[str, tuple[str, ...]] = {}
    for groups_of in (_twin_groups, _chain_groups, _stretch_groups):
        graph = build_graph(drawn_steps)
        groups = {name: group for name, group in groups_of(graph).items() if name not in open_ids}
        drawn_steps, folds = _contract_groups(graph, groups)
        members = {
            fold_id: tuple(member for part in ids for member in members.get(part, (part,)))
            for fold_id, ids in {**members, **folds}.items()
        }
    drawn = {step.id for step in drawn_steps}
    return FoldedGraph(
        steps=tuple(drawn_steps), members={**items, **{k: v for k, v in members.items() if k in drawn}}
    )


def member_lines(
    items: Sequence[FoldMember],
    lines: int = MOST_OPEN_ITEMS,
    *,
    first: int = 0,
    is_ascii: bool = False,
    spread: str = "",
) -> list[str]:
    """List the members of a fold, the worst first; the rest is counted on the last line."""
    order = sorted(items, key=lambda item: STATUS_BY_SEVERITY.index(item.facts.state))[first:]
    rest = order[lines - 1 :] if len(order) > lines else []
    listed = order[: lines - 1] if rest else order
    wide = min(_NAME_WIDTH, max((cell_width(_member_name(item)) for item in listed), default=0))
    lines_drawn = [_member_line(item, wide, is_ascii=is_ascii) for item in listed]
    if rest:
        took = as_ascii(spread) if is_ascii else spread
        more = f"{len(rest)} more "
        time = took.rjust(wide + _TIME_WIDTH - len(more))
        lines_drawn.append(f"{status_sign(rest[0].facts, is_ascii=is_ascii)} {more}{time}".rstrip())
    return lines_drawn


def _member_name(item: FoldMember) -> str:
    return one_line(item.name, _NAME_WIDTH)


def _member_line(item: FoldMember, wide: int, *, is_ascii: bool) -> str:
    name = cut_to_width(_member_name(item), wide)
    pad = " " * (wide - cell_width(name))
    mark = status_sign(item.facts, is_ascii=is_ascii)
    words = (FAILED_GOES_ON if item.facts.state == "warned" else "", one_line(item.facts.reason, 40))
    note = ": ".join(word for word in words if word)
    return f"{mark} {name}{pad} {item.facts.duration:>6}  {note}".rstrip()


def _fold_matrices(
    steps: Sequence[GraphStep], opened: frozenset[str]
) -> tuple[list[GraphStep], dict[str, tuple[str, ...]]]:
    members: dict[str, tuple[str, ...]] = {}
    drawn_steps: list[GraphStep] = []
    parts: dict[str, tuple[str, ...]] = {}
    for step in steps:
        if not step.is_matrix:
            drawn_steps.append(step)
            continue
        ids = tuple(f"{step.id}[{item}]" for item in step.items or ())
        if step.id in opened and 0 < len(ids) <= MOST_OPEN_ITEMS and len(set(ids)) == len(ids):
            name = step.name or step.id
            parts[step.id] = ids
            drawn_steps += [
                replace(step, id=item_id, name=f"{name}[{item}]", is_matrix=False, items=None)
                for item_id, item in zip(ids, step.items or (), strict=True)
            ]
        else:
            members[step.id] = ids
            many = len(ids) or step.item_count
            drawn_steps.append(replace(step, many=many, is_open=step.id in opened and bool(ids)))
    return [_with_expanded_needs(step, parts) for step in drawn_steps], members


def _with_expanded_needs(step: GraphStep, parts: Mapping[str, tuple[str, ...]]) -> GraphStep:
    if not any(need in parts for need in step.needs):
        return step
    return replace(step, needs=tuple(part for need in step.needs for part in parts.get(need, (need,))))


def id_stem(step_id: str, *, short: bool = False) -> str:
    """Return what is common to the ids of alike steps: without digits; short: without the last part."""
    text = re.sub(r"[0-9]+", "", step_id)
    if short:
        text = re.sub(r"[-_./][^-_./]*$", "", text)
    return re.sub(r"[-_./]{2,}", "-", text).strip("-_./") or step_id


def _twin_groups(graph: Graph) -> dict[str, list[int]]:
    groups: dict[tuple[str, tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for v, step in enumerate(graph.steps):
        key = id_stem(step.id, short=True), tuple(sorted(graph.needs[v])), tuple(sorted(graph.feeds[v]))
        groups.setdefault(key, []).append(v)
    return _named_groups(graph, [(name, group) for (name, _, _), group in groups.items()])


def _chain_groups(graph: Graph) -> dict[str, list[int]]:
    """Group steps that differ by the digits of their ids alone, and so do all steps before and after them."""
    colour = _numbered_keys([id_stem(step.id) for step in graph.steps])
    for _ in range(max(8, _MOST_COMPARED // max(1, len(colour)))):
        finer = _numbered_keys(
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
    else:
        return {}
    groups: dict[int, list[int]] = {}
    for v, number in enumerate(colour):
        groups.setdefault(number, []).append(v)
    return _named_groups(graph, [(id_stem(graph.steps[group[0]].id), group) for group in groups.values()])


def _stretch_groups(graph: Graph) -> dict[str, list[int]]:
    """Group chains of steps with alike ids, in graphs above `FOLD_STRETCHES_ABOVE` steps."""
    if len(graph.steps) <= FOLD_STRETCHES_ABOVE:
        return {}
    groups: list[tuple[str, list[int]]] = []
    group_ending_at: dict[int, list[int]] = {}
    for v in topological_order(graph.needs, graph.feeds):
        name, before = id_stem(graph.steps[v].id), graph.needs[v]
        group = (
            group_ending_at.pop(before[0], None)
            if len(before) == 1 and len(graph.feeds[before[0]]) == 1
            else None
        )
        if group is None or id_stem(graph.steps[group[0]].id) != name or graph.steps[v].many is not None:
            group = list[int]()
            groups.append((name, group))
        group.append(v)
        group_ending_at[v] = group
    return _named_groups(graph, groups)


def _numbered_keys(keys: Sequence[object]) -> list[int]:
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _named_groups(graph: Graph, groups: Iterable[tuple[str, list[int]]]) -> dict[str, list[int]]:
    return {
        f"{name} x{graph.steps[group[0]].id}": group
        for name, group in groups
        if len(group) >= FOLD_FROM and all(graph.steps[v].many is None for v in group)
    }


def _contract_groups(
    graph: Graph, groups: Mapping[str, list[int]]
) -> tuple[list[GraphStep], dict[str, tuple[str, ...]]]:
    home = {graph.steps[v].id: name for name, group in groups.items() for v in group}
    drawn_steps: list[GraphStep] = []
    folded_names: set[str] = set()
    for step in graph.steps:
        name = home.get(step.id)
        if name is None:
            drawn_steps.append(_with_folded_needs(step, home))
        elif name not in folded_names:
            folded_names.add(name)
            drawn_steps.append(_folded_step(graph, name, groups[name], home))
    members = {name: tuple(graph.steps[v].id for v in group) for name, group in groups.items()}
    return drawn_steps, members


def _with_folded_needs(step: GraphStep, home: Mapping[str, str]) -> GraphStep:
    needs = tuple(dict.fromkeys(home.get(need, need) for need in step.needs))
    returns = tuple(dict.fromkeys(home.get(to, to) for to in step.returns))
    return (
        step
        if needs == step.needs and returns == step.returns
        else replace(step, needs=needs, returns=returns)
    )


def _folded_step(graph: Graph, name: str, group: Sequence[int], home: Mapping[str, str]) -> GraphStep:
    needs = dict.fromkeys(home.get(need, need) for v in group for need in graph.steps[v].needs)
    needs.pop(name, None)  # what stands in one row needs its own
    return GraphStep(
        id=name,
        name=name.rpartition(" x")[0],
        needs=tuple(needs),
        many=len(group),
        asks=any(graph.steps[v].asks for v in group),
    )
