"""Which names new pipelines and their steps can have. Pure."""

import re
from collections.abc import Container
from typing import Final

from workbench.text.safe import one_line

STEP_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
"""What the format takes as the id of a step."""
NAME_REMEDY: Final = "Use letters, digits, - _ ."
_PIPELINE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
"""It is the name of the file too."""


def step_name_refusal(name: str, others: Container[str]) -> str:
    """Return why a step cannot have a name, as a sentence; empty if it can. `others`: of the other steps."""
    if not STEP_ID.fullmatch(name):
        return f"“{one_line(name, 60)}” cannot be the name of a step."
    return f"Another step has the name {name}." if name in others else ""


def pipeline_name_refusal(name: str, others: Container[str]) -> str:
    """Return why a new pipeline cannot have a name, as a sentence; empty if it can.

    `others`: the names of the project's pipelines.
    """
    if not _PIPELINE_NAME.fullmatch(name):
        return f"“{one_line(name, 60)}” cannot be the name of a pipeline."
    return f"There is a pipeline {name} already." if name in others else ""
