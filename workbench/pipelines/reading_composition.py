"""What puts pipelines together out of others: iterate, branch, loop, aggregate, and edges between steps.

Owns their fields. What they become is said by `expanding` and `matrix`.
"""

import json
from collections.abc import Callable
from typing import Final, Literal, cast

from workbench.domain.values import Json
from workbench.pipelines import templates
from workbench.pipelines.fields import Fields, text_of
from workbench.pipelines.model import Aggregate, Branch, Edge, Loop, Matrix, Route, Step
from workbench.pipelines.problems import Place

PARALLEL: Final = 5
"""Pipelines that run at once where an iteration names no number."""
_MOST_ROUNDS: Final = 100
_MODES: Final = {"sequential": False, "parallel": True}
_Strategy = Literal["merge_arrays", "concat", "reduce"]
_STRATEGIES: Final[dict[str, _Strategy]] = {
    "merge_arrays": "merge_arrays", "concat": "concat", "reduce": "reduce",
}  # fmt: skip


def read_iterate(step: Fields) -> Matrix | None:
    """Return the items of `iterate` as a matrix; None without one."""
    fields = step.below("iterate")
    if fields is None:
        return None
    fields.required("over")
    items, over = _items(fields)
    is_parallel = fields.word("mode", _MODES, False)
    limit = fields.whole("max_concurrent", PARALLEL, 1, 1000)
    fields.unknown()
    return Matrix(
        items=items, over=over, limit=limit if is_parallel else 1, is_iteration=True,
        is_stopping=not is_parallel,
    )  # fmt: skip


def _items(fields: Fields) -> tuple[tuple[Json, ...] | None, str]:
    found = fields.get("over")
    if found is None:
        return (), ""
    if found.node.items is not None:
        return tuple(node.value for node in found.node.items), ""
    text = text_of(found)
    if next(templates.names(text), None) is not None:
        return None, text
    try:
        listed: object = json.loads(text)
    except ValueError:
        listed = None
    if not isinstance(listed, list):
        found.error("wrong_value", "over has to be a list, a JSON list, or a template that comes to one")
        return (), ""
    return tuple(cast("list[Json]", listed)), ""


def read_branch(step: Fields) -> Branch | None:
    """Return which pipeline a step runs for which value; None without `branch`."""
    fields = step.below("branch")
    if fields is None:
        return None
    cases = fields.below("cases")
    if cases is None:
        fields.required("cases")
    found = {name: cases.text(name) for name in (cases.place.node.members or {})} if cases else {}
    branch = Branch(on=fields.text("on", required=True), cases=found)
    fields.unknown()
    return branch


def read_aggregate(step: Fields) -> Aggregate | None:
    """Return what a step puts together; None without `aggregate`."""
    fields = step.below("aggregate")
    if fields is None:
        return None
    fields.required("strategy")
    found = Aggregate(
        source=fields.text("from", required=True), into=fields.text("into", required=True),
        strategy=fields.word("strategy", _STRATEGIES, "merge_arrays"), key=fields.text("key"),
    )  # fmt: skip
    fields.unknown()
    return found


def read_loop(step: Fields, read: Callable[[Place], Step | None]) -> Loop | None:
    """Return the steps that are done again; None without `loop`."""
    fields = step.below("loop")
    if fields is None:
        return None
    fields.required("max_iterations")
    steps = tuple(one for place in fields.objects("steps") if (one := read(place)) is not None)
    found = Loop(
        most=fields.whole("max_iterations", 1, 1, _MOST_ROUNDS), until=fields.text("until"), steps=steps
    )
    fields.unknown()
    return found


def read_edges(step: Fields) -> tuple[Edge, ...]:
    """Return where a step leads; the first edge whose condition holds is taken."""
    found: list[Edge] = []
    for place in step.objects("edges"):
        fields = Fields(place)
        if place.node.members is None:
            continue
        found.append(Edge(target=fields.text("target", required=True), condition=fields.text("condition")))
        fields.unknown({"label": "a label", "description": "a description"})
    return tuple(found)


def read_route(step: Fields, edges: tuple[Edge, ...]) -> Route:
    """Return the route of a conditional step."""
    if not edges:
        step.required("edges")
    return Route(edges=edges)
