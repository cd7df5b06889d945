"""Iterations, branches, routes and aggregates as they are written: that what they name is there to be named.

Owns nothing of how they run; that is `matrix`, `routes` and `aggregating`.
"""

from typing import TYPE_CHECKING

from workbench.pipelines import conditions, templates
from workbench.pipelines.expanding import ENDS
from workbench.pipelines.files import OutsideRoot, inside
from workbench.pipelines.model import Step
from workbench.pipelines.problems import Place
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.pipelines.checks import Check


def check_composition(check: "Check", step: Step) -> None:
    """Report what is wrong with the way a step puts others together."""
    if step.route is not None:
        _edges(check, step)
    if step.matrix is not None and step.matrix.over:
        _names(check, step, check.within(step, "iterate", "over"), step.matrix.over)
    if step.aggregate is not None and "{{" not in step.aggregate.into:
        place = check.within(step, "aggregate", "into")
        try:
            inside(step.aggregate.into)
        except OutsideRoot:
            place.error(
                "path_outside", f"into leads out of the workspace: {one_line(step.aggregate.into, 120)}"
            )
    if step.branch is not None and not step.branch.cases:
        check.within(step, "branch").error("missing_field", "the branch has no cases")


def _names(check: "Check", step: Step, place: Place, text: str) -> None:
    from workbench.pipelines.checks import known_names, unresolved

    for name in dict.fromkeys(templates.names(text)):
        why = unresolved(check, step, name, known_names(step))
        if why:
            place.error("unresolved_template", f"{{{{ {name} }}}}: {why}")


def _edges(check: "Check", step: Step) -> None:
    assert step.route is not None
    places = list(check.within(step, "edges").items())
    until = check.within(step, "loop", "until")
    for number, edge in enumerate(step.route.edges):
        place = places[number] if number < len(places) else until
        if edge.target and edge.target not in ENDS and edge.target not in check.steps:
            known = ", ".join([*check.steps][:8])
            there = f"there is no step {one_line(edge.target, 60)}; there are {known}, {' and '.join(ENDS)}"
            (place.member("target") or place).error("unknown_step", there)
        _condition(check, step, place.member("condition") or place, edge.condition)
    edges = step.route.edges
    if edges and all(edge.condition for edge in edges) and not step.route.most:
        where = check.within(step, "edges")
        where.warn("no_fallback", "every edge has a condition: if none holds the step fails; add one without")


def _condition(check: "Check", step: Step, place: Place, text: str) -> None:
    from workbench.pipelines.checks import known_names, unresolved

    try:
        condition = conditions.parse(text)
    except conditions.BadCondition as error:
        place.error("bad_condition", str(error))
        return
    for name in condition.names():
        if name == "outcome" or name.startswith("context."):
            continue
        why = unresolved(check, step, name, known_names(step))
        if why:
            place.error("unresolved_template", f"{{{{ {name} }}}}: {why}")
