"""Pipelines from nothing: from a template of the package, or from what was done in a session."""

import os
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Final

from msgspec import Struct

from workbench.formats.workflows.sub_agent import read_sub_agent
from workbench.pipelines.draft_names import NAME_REMEDY, pipeline_name_refusal
from workbench.pipelines.load import list_pipelines
from workbench.pipelines.manifest_edit import PersonaEntry
from workbench.pipelines.outline import PIPELINE_KIND
from workbench.pipelines.project_drafts import (
    NOT_WRITTEN,
    DraftRefused,
    ProjectDraft,
    draft_project,
    draft_root,
)
from workbench.pipelines.session_steps import SessionStep
from workbench.text.safe import one_line
from workbench.text.yaml_nodes import parse_yaml
from workbench.text.yaml_writer import yaml_text

TEMPLATE_NAMES: Final = ("plan", "check", "release")
_SESSION_PERSONA: Final = "developer"
_PERSONA: Final = re.compile(r"^ +persona: ([\w-]+)", re.MULTILINE)
_THREAD: Final = "session"


class PipelineTemplate(Struct, frozen=True, kw_only=True):
    """A pipeline file of the package."""

    name: str
    description: str
    text: str


def pipeline_templates() -> tuple[PipelineTemplate, ...]:
    """Return the templates, the first one first to try."""
    return tuple(map(_template, TEMPLATE_NAMES))


def _template(name: str) -> PipelineTemplate:
    text = _package_text(f"{name}.yaml")
    metadata = (parse_yaml(text).members or {})["metadata"].members or {}
    return PipelineTemplate(name=name, description=str(metadata["description"].value), text=text)


def _package_text(name: str) -> str:
    return (resources.files("workbench") / "examples" / "pipelines" / name).read_text(encoding="utf-8")


def draft_of_template(workspace: str, template: str, name: str = "") -> ProjectDraft:
    """Return the files of a template; `name` is its own unless given. Raises DraftRefused."""
    name = _required_name(workspace, name or template)
    if template not in TEMPLATE_NAMES:
        why = f"There is no template {one_line(template, 60)}."
        raise DraftRefused(NOT_WRITTEN, why, f"The templates are {', '.join(TEMPLATE_NAMES)}.")
    text = _template(template).text
    text = re.sub(r"(?m)^  name: .*$", f"  name: {_name_text(name)}", text, count=1)
    text = text.replace(f"workbench pipeline run {template}", f"workbench pipeline run {name}")
    text = text.replace(f"pipeline resume {template}#", f"pipeline resume {name}#")
    personas = dict.fromkeys(_PERSONA.findall(text))
    return draft_project(workspace, pipeline=(name, text), personas=[*map(_persona, personas)])


def draft_of_session(workspace: str, steps: Sequence[SessionStep], name: str, title: str) -> ProjectDraft:
    """Return the files of a pipeline of steps of a session, one after the other. Raises DraftRefused."""
    name = _required_name(workspace, name)
    if not steps:
        why = "No step is left, and a pipeline needs one."
        raise DraftRefused(NOT_WRITTEN, why, "Keep at least one step.")
    has_agents = any(step.kind == "prompt" for step in steps)
    document: dict[str, object] = {
        "kind": PIPELINE_KIND, "metadata": {"name": name, "description": one_line(title, 200) or name},
        "steps": list(_step_documents(steps)),
    }  # fmt: skip
    head = (
        "# Made of a session: its prompts are agent steps, the commands that succeeded are command steps.\n"
        "# Steps run in this order; take `dependencies` away where two may run at the same time.\n"
        f"# workbench pipeline run {name}\n"
    )
    personas = [_persona(_SESSION_PERSONA)] if has_agents else []
    return draft_project(workspace, pipeline=(name, head + yaml_text(document)), personas=personas)


def _required_name(workspace: str, name: str) -> str:
    used = {entry.name for entry in list_pipelines(draft_root(workspace))}
    if why := pipeline_name_refusal(name, used):
        raise DraftRefused(NOT_WRITTEN, why, "Choose another name." if name in used else NAME_REMEDY)
    return name


def _name_text(name: str) -> str:
    return yaml_text(name).splitlines()[0]


def _persona(name: str) -> PersonaEntry:
    read = read_sub_agent(_package_text(os.path.join("personas", f"{name}.md")))  # noqa: PTH118
    return PersonaEntry(
        name=read.name, description=read.description, prompt=read.prompt, allowed=read.allowed,
        denied=read.denied,
    )  # fmt: skip


def _step_documents(steps: Sequence[SessionStep]) -> Iterable[dict[str, object]]:
    shares_thread = sum(step.kind == "prompt" for step in steps) > 1
    before = ""
    for step in steps:
        is_prompt = step.kind == "prompt"
        yield {
            "id": step.id,
            **({"persona": _SESSION_PERSONA} if is_prompt else {}),
            **({"dependencies": [before]} if before else {}),
            **({"thread": _THREAD} if is_prompt and shares_thread else {}),
            "workspace": {"root": "./"},
            "exec": {"type": step.kind, "source": step.text},
        }
        before = step.id
