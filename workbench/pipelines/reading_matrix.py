"""The matrix of a step: one instance an item of a list, written in the file or taken from an artifact.

Owns the ways in which files name that list.
"""

import re
from dataclasses import dataclass
from typing import Final

from workbench.pipelines.fields import Fields
from workbench.pipelines.model import Matrix
from workbench.pipelines.reading_composition import read_iterate

_ELSEWHERE: Final = {"dependency_key": "order of items", "stacked": "order of items"}
_MEMBER: Final = re.compile(r"\{\{\s*\.([A-Za-z0-9_.]{0,100})\s*\}\}")
"""How other programs name a member of the item: `{{ .repo }}`."""


@dataclass(frozen=True, slots=True)
class ChildPipeline:
    """The pipeline that each item of a matrix runs."""

    name: str
    input: str


def read_matrix(step: Fields) -> tuple[Matrix | None, ChildPipeline | None]:
    """Return the matrix of a step and the pipeline that its items run, where it names one."""
    fields = step.below("strategy")
    if step.has("iterate"):
        if fields is not None:
            step.place.key("strategy").error(
                "wrong_value", "strategy and iterate cannot both say what the items are"
            )
        return read_iterate(step), None
    if fields is None:
        return None, None
    child = _child(step, fields)
    return _matrix(fields), child


def _child(step: Fields, fields: Fields) -> ChildPipeline | None:
    name, given = fields.text("child_pipeline"), fields.text("input_template")
    if not name:
        if given:
            message = "input_template is not used: it is the input of child_pipeline, which is not named"
            fields.place.key("input_template").warn("not_run", message)
        return None
    if step.has("exec"):
        message = "exec is not used: every item runs the pipeline that child_pipeline names"
        step.place.key("exec").warn("not_run", message)
    return ChildPipeline(
        name, _MEMBER.sub(lambda one: f"{{{{ item{'.' if one[1] else ''}{one[1]} }}}}", given)
    )


def _matrix(fields: Fields) -> Matrix:
    fields.word("type", {"matrix": "matrix"}, "matrix")
    items, source = fields.get("items"), fields.text("items_source")
    if items is not None and items.node.items is None:
        items.error("wrong_type", "items has to be a list")
        items = None
    if items is None and not source:
        fields.place.error("missing_field", f"{fields.place.path} needs items or items_source")
    step_id, artifact = _source(fields, source)
    found = Matrix(
        items=tuple(node.value for node in items.node.items or ()) if items else None, step=step_id,
        artifact=artifact, keys=tuple(filter(None, _list_key(fields, source).split("."))),
        id_key=fields.text("item_id_key"),
        limit=fields.whole("max_concurrency", 0, 1, 1000),
    )  # fmt: skip
    for name, what in _ELSEWHERE.items():
        if fields.has(name):
            # Without it something else would be run, or in another order: that is worse than nothing.
            fields.place.key(name).warn("not_run", f"{name} ({what}) is not run here", stops_run=True)
    fields.unknown()
    return found


def _source(fields: Fields, source: str) -> tuple[str, str]:
    """Return step and artifact of `step/artifact`, `step.artifact` or `step/artifact.json`."""
    if not source:
        return "", ""
    step, slash, rest = source.partition("/")
    if not slash:
        step, dot, rest = source.partition(".")
        if not dot:
            place = fields.get("items_source")
            if place:
                place.error("wrong_value", "items_source has to be STEP/ARTIFACT")
            return "", ""
    artifact, _, _ = rest.partition("#")
    return step, artifact


def _list_key(fields: Fields, source: str) -> str:
    """Return the way to the list within the artifact: `item_key`, or what follows `#`."""
    return fields.text("item_key") or source.partition("#")[2]
