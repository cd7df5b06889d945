"""The input of a run against the pipeline's own schema (S1 InputConfig).

Owns which schemas are understood: a JSON Schema, and the short form that real files have.
"""

from collections.abc import Mapping
from typing import cast

from workbench.domain.values import Json
from workbench.pipelines.artifacts import parsed
from workbench.pipelines.contracts import failing_paths
from workbench.pipelines.model import InputConfig


class InputRefused(ValueError):
    """The input does not satisfy the pipeline's schema; names every failing path."""


def check_input(config: InputConfig, given: str) -> None:
    """Refuse an input that fails the schema; a text where the schema asks for one is taken as it is.

    Raises:
        InputRefused: With every failing path.
    """
    found: Json = config.schema
    if config.is_required and not given.strip():
        example = f", for example {config.example}" if config.example else ""
        raise InputRefused(f"the pipeline needs an input{example}")
    if not isinstance(found, Mapping):
        return
    schema = dict(cast("Mapping[str, Json]", found))
    kind = schema.get("type")
    if kind == "json":
        schema.pop("type")
    value: Json = given if kind in ("string", None) and "properties" not in schema else parsed(given.encode())
    problems = list(failing_paths(schema, value))
    if problems:
        example = f"; an example is {config.example}" if config.example else ""
        raise InputRefused(f"the input fails the pipeline's schema: {'; '.join(problems)}{example}")
