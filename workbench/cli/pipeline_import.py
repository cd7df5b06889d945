"""`workbench pipeline import FILE`: a Taskfile as a pipeline, a Claude sub-agent as a persona."""

import os
import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final, NoReturn

from workbench.cli.arguments import add_json_option, add_yes_option
from workbench.cli.console import Console
from workbench.cli.errors import Refusal, UsageError
from workbench.cli.named_file import read_named_file
from workbench.cli.pipeline_drafts import NOTHING, offer_draft
from workbench.effects.files import workspace_path
from workbench.formats.workflows.signatures import SIGNATURES, recognise_workflow
from workbench.formats.workflows.sub_agent import SubAgentRefused, read_sub_agent
from workbench.formats.workflows.taskfile import ImportedPipeline, TaskfileRefused, read_taskfile
from workbench.pipelines.manifest_edit import PersonaEntry
from workbench.pipelines.outline import PIPELINE_KIND
from workbench.pipelines.project_drafts import draft_project, draft_root
from workbench.policy.permissions import parse_permission
from workbench.text.safe import one_line
from workbench.text.yaml_writer import yaml_text

IMPORT_EXAMPLE: Final = """workbench pipeline import Taskfile.yml
workbench pipeline import Taskfile.yml --task build --name build
workbench pipeline import .claude/agents/reviewer.md"""
_MOST_BYTES: Final = 1_048_576
_MOST_TASKS: Final = 30


def configure_import(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a Taskfile, or a sub-agent of Claude Code")
    parser.add_argument(
        "--task", default="", metavar="NAME", help="the task of a Taskfile (default: default)"
    )
    parser.add_argument("--name", default="", metavar="NAME", help="what the pipeline or persona is called")
    add_yes_option(parser)
    add_json_option(parser)


def execute_import(options: Namespace, console: Console) -> int:
    """Import a file; 1 where it cannot be, or the change was declined."""
    if options.name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", options.name):
        why = f"“{one_line(options.name, 60)}” cannot be the name of a file here"
        raise UsageError(NOTHING, why, "use letters, digits, - _ .")
    path = Path(options.file).expanduser()
    remedy = "name a Taskfile or a sub-agent"
    data = read_named_file(path, _MOST_BYTES, nothing=NOTHING, remedy=remedy)
    found = recognise_workflow(str(path.resolve()), data)
    text = data.decode("utf-8-sig", "replace")
    match found.importer if found else "":
        case "taskfile":
            return _import_taskfile(path, text, options, console)
        case "sub_agent":
            return _import_sub_agent(text, options, console)
        case _ if found is not None:
            raise Refusal(NOTHING, f"{one_line(str(path), 120)} is {found.title}", found.advice)
        case _:
            titles = " or ".join(one.title for one in SIGNATURES if one.importer)
            raise Refusal(NOTHING, f"{one_line(str(path), 120)} is not {titles}", "name one of these")


# --- Taskfile -----------------------------------------------------------------------------------------


def _import_taskfile(path: Path, text: str, options: Namespace, console: Console) -> int:
    workspace = workspace_path(options.directory)
    folder = os.path.relpath(path.resolve().parent, draft_root(workspace))
    if folder.startswith(".."):
        why = f"{one_line(str(path), 120)} is outside the project {draft_root(workspace)}"
        raise Refusal(NOTHING, why, "name the folder of its project with -C")
    try:
        imported = read_taskfile(text, options.task, "" if folder == "." else folder)
    except TaskfileRefused as error:
        _refuse_taskfile(path, error)
    name = options.name or imported.name
    draft = draft_project(workspace, pipeline=(name, _pipeline_text(name, path.name, imported)), personas=())
    steps = (f"workbench pipeline run {name} --dry-run", f"workbench pipeline run {name}")
    return offer_draft(draft, options, console, notes=imported.notes, next_steps=steps)


def _refuse_taskfile(path: Path, error: TaskfileRefused) -> NoReturn:
    shown = one_line(str(path), 120)
    why = "\n  ".join((f"{shown} cannot be imported:", *error.problems))
    if error.tasks:
        names = ", ".join(one_line(name, 40) for name in error.tasks[:_MOST_TASKS])
        raise UsageError(NOTHING, f"{shown}: {error}", f"name one with --task: {names}") from None
    remedy = "change these places, import another task with --task, or write the steps by hand"
    raise Refusal(NOTHING, why, remedy) from None


def _pipeline_text(name: str, source: str, imported: ImportedPipeline) -> str:
    head = (
        f"# Imported from {one_line(source, 80)}: each task is a command step, run by /bin/sh.\n"
        f"# workbench pipeline run {name}\n"
    )
    document: dict[str, object] = {
        "kind": PIPELINE_KIND,
        "metadata": {"name": name, "description": imported.description or f"The task {imported.name}"},
        **({"input": {"source": "cli"}} if imported.has_input else {}),
        "steps": list(imported.steps),
    }
    return head + yaml_text(document)


# --- sub-agent ----------------------------------------------------------------------------------------


def _import_sub_agent(text: str, options: Namespace, console: Console) -> int:
    if options.task:
        raise UsageError(NOTHING, "a sub-agent has no tasks", "leave --task out")
    try:
        imported = read_sub_agent(text)
    except SubAgentRefused as error:
        raise Refusal(
            NOTHING, f"the sub-agent cannot be read: {error}", "correct it, then do this again"
        ) from None
    name = options.name or imported.name
    persona = PersonaEntry(
        name=name, description=imported.description, prompt=imported.prompt, allowed=imported.allowed,
        denied=imported.denied, model=imported.model,
    )  # fmt: skip
    draft = draft_project(workspace_path(options.directory), pipeline=None, personas=(persona,))
    if not draft.files:
        why = f"the manifest has a persona {one_line(name, 60)} already"
        raise Refusal(NOTHING, why, "choose another name with --name")
    patterns = (*(imported.allowed or ()), *imported.denied)
    notes = (*imported.notes, *(note.text for one in patterns for note in parse_permission(one).notes))
    steps = (f"a step uses it with persona: {name}",)
    return offer_draft(draft, options, console, notes=notes, next_steps=steps)
