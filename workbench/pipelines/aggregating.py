"""Steps that put together what others left: merged by the coordinator itself, in one file of their workspace.

Owns how lists are joined. It starts nothing and reads only artifacts.
"""

import asyncio
import json
from dataclasses import replace
from typing import Final, cast

from workbench.domain.runs import StepOutcome, StepSpec
from workbench.domain.values import Json
from workbench.effects.files import FileRefused
from workbench.effects.trees import put_file
from workbench.pipelines import artifacts, templates
from workbench.pipelines.model import Aggregate
from workbench.pipelines.values import Values
from workbench.text.safe import one_line

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of what is put together."""


class NotMerged(ValueError):
    """What was left cannot be put together; says why."""


def merged(aggregate: Aggregate | None, values: Values) -> str:
    """Return what an aggregating step writes.

    Raises:
        NotMerged: what it names is no list, or too much.
        Unresolved: it names nothing.
        ArtifactGone: its bytes are gone.
    """
    assert aggregate is not None
    text = replace(values, longest=artifacts.WHOLE).fill(aggregate.source)
    if len(text) > LARGEST:
        raise NotMerged(f"it comes to {len(text):,} characters; {LARGEST:,} are the most")
    match aggregate.strategy:
        case "merge_arrays":
            return json.dumps(_joined(_listed(text, aggregate), aggregate.key), ensure_ascii=False, indent=2)
        case "concat":
            return _concatenated(text)
        case "reduce":
            return text


def _listed(text: str, aggregate: Aggregate) -> list[Json]:
    found: Json = artifacts.parsed(text.encode("utf-8", "surrogatepass"))
    if not isinstance(found, list):
        raise NotMerged(f"{one_line(aggregate.source, 80)} comes to no JSON list, so nothing can be merged")
    return cast("list[Json]", found)


def _joined(parts: list[Json], key: str) -> list[Json]:
    """Return the items of several lists as one; what left nothing adds nothing."""
    joined: list[Json] = []
    for number, part in enumerate(parts, 1):
        found = _list_of(part, key)
        if isinstance(found, list):
            joined += found
        elif found is not None:
            where = f"its {key}" if key else "it"
            hint = "" if key else "; key says which member of an object holds the list"
            raise NotMerged(f"part {number} is no list: {where} is {one_line(json.dumps(found), 60)}{hint}")
    return joined


def _list_of(part: Json, key: str) -> Json:
    return templates.member(part, key) if key and isinstance(part, dict) else part


def _concatenated(text: str) -> str:
    """Return the texts of a JSON list one after another; any other text as it is."""
    found = artifacts.parsed(text.encode("utf-8", "surrogatepass"))
    if not isinstance(found, list):
        return text
    return "\n".join(
        templates.as_text(one).rstrip("\n") for one in cast("list[Json]", found) if one is not None
    )


async def done_here(spec: StepSpec, into: str) -> StepOutcome:
    """Write what was put together; a spec without anything has nothing to do."""
    if spec.kind != "aggregate":
        return StepOutcome(state="completed")
    data = spec.source.encode("utf-8", "surrogatepass")
    try:
        await asyncio.to_thread(put_file, spec.workspace, into, data)
    except (FileRefused, OSError) as error:
        return StepOutcome(state="failed", reason=f"{into} cannot be written: {error}")
    return StepOutcome(state="completed", output_bytes=len(data))
