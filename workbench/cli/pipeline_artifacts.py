"""`workbench pipeline artifacts`: list the artifacts of a run, or write them to files."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import cast

from workbench.cli.arguments import add_json_option, add_run_argument
from workbench.cli.console import Console
from workbench.cli.errors import Refusal
from workbench.cli.journal_access import open_journal
from workbench.cli.pipeline_output import artifacts_json, find_run
from workbench.cli.row_json import JsonFields
from workbench.domain.events import ArtifactStored
from workbench.domain.rows import PipelineState
from workbench.effects.files import workspace_path
from workbench.effects.folders import make_folder, put_file
from workbench.journal.journal import Journal
from workbench.text.human import size_text
from workbench.text.safe import one_line

ARTIFACTS_EXAMPLE = """workbench pipeline artifacts nightly#41
workbench pipeline artifacts nightly#41 plan/outline --to out"""


def configure_artifacts(parser: ArgumentParser) -> None:
    add_run_argument(parser)
    parser.add_argument("name", metavar="STEP/NAME", nargs="?", help="one artifact (default: all)")
    parser.add_argument("--to", metavar="DIR", help="write the files into a new folder")
    add_json_option(parser, "print a JSON array")


def execute_artifacts(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        run = find_run(journal, workspace_path(options.directory), options.run)
        artifacts = artifacts_json(journal, run.pipeline_id)
        selected = [
            artifact
            for artifact in artifacts
            if options.name in (None, f"{artifact['step_id']}/{artifact['name']}")
        ]
        if options.name and not selected:
            known = ", ".join(f"{artifact['step_id']}/{artifact['name']}" for artifact in artifacts) or "none"
            raise Refusal("no artifact was found", f"there is no {options.name}", f"there are {known}")
        if options.to:
            _write_artifacts(
                journal,
                run,
                {(str(artifact["step_id"]), str(artifact["name"])) for artifact in selected},
                options.to,
                console,
            )
    lines = [] if options.to else [_artifact_line(artifact) for artifact in selected] or ["No artifact yet."]
    return console.result(list(selected), lines, is_json=options.json)


def _artifact_line(artifact: JsonFields) -> str:
    files = f"  {artifact['files']} files" if artifact["kind"] == "folder" else ""
    size, path = size_text(int(artifact["size_bytes"])), one_line(str(artifact["path"]), 200)
    return f"{artifact['step_id']}/{artifact['name']}  {size}  {path}{files}".rstrip()


def _write_artifacts(
    journal: Journal, run: PipelineState, names: set[tuple[str, str]], to: str, console: Console
) -> None:
    target = Path(to).expanduser().resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Refusal("nothing was written", f"{to} is there and not empty", "name a new folder")
    make_folder(str(target))
    newest: dict[tuple[str, str], ArtifactStored] = {}
    for event in journal.events(run.pipeline_id):
        if isinstance(event.body, ArtifactStored):
            newest[event.step or "", event.body.name] = event.body
    for (step, name), body in newest.items():
        if (step, name) not in names:
            continue
        for path, data in _artifact_files(journal, body):
            where = f"{_safe_file_name(step)}/{_safe_file_name(name)}{path}"
            put_file(str(target), where, data)
            console.say(f"{to}/{where}")


def _safe_file_name(name: str) -> str:
    return name.replace("/", "-").lstrip(".") or "artifact"


def _artifact_files(journal: Journal, body: ArtifactStored) -> list[tuple[str, bytes]]:
    data = journal.blobs.read(body.content_ref) if body.content_ref else None
    if data is None:
        why = "its bytes are no longer kept"
        raise Refusal(f"“{body.name}” was not written", why, "run its step again")
    if body.artifact_kind != "folder":
        return [(Path(body.path).suffix, data)]
    members = cast("dict[str, str]", json.loads(data))
    return [(f"/{path}", journal.blobs.read(ref) or b"") for path, ref in sorted(members.items())]
