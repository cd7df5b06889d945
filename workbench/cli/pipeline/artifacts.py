"""`workbench pipeline artifacts`: what the steps of a run handed on; written out with `--to`."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import cast

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Refusal
from workbench.cli.pipeline.lookup import run_named
from workbench.cli.pipeline.printing import artifact_facts
from workbench.cli.place import opened, workspace_of
from workbench.domain.rows import PipelineState
from workbench.domain.runs import ArtifactStored
from workbench.effects.trees import make_folder, put_file
from workbench.journal.journal import Journal
from workbench.text.human import size
from workbench.text.safe import one_line

EXAMPLE = """workbench pipeline artifacts nightly#41
workbench pipeline artifacts nightly#41 plan/outline --to out"""


def configure(parser: ArgumentParser) -> None:
    """Add the run, the artifact and where to."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="id, its beginning, or NAME#NUMBER (else: the newest)"
    )
    parser.add_argument("name", metavar="STEP/NAME", nargs="?", help="one artifact (else: all)")
    parser.add_argument("--to", metavar="DIR", help="write the files into a new folder")
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """List or write artifacts."""
    with opened() as (_, journal):
        run = run_named(journal, workspace_of(options.directory), options.run)
        found = artifact_facts(journal, run.pipeline_id)
        chosen = [one for one in found if options.name in (None, f"{one['step_id']}/{one['name']}")]
        if options.name and not chosen:
            known = ", ".join(f"{one['step_id']}/{one['name']}" for one in found) or "none"
            raise Refusal("no artifact was found", f"there is no {options.name}", f"there are {known}")
        if options.to:
            _write(
                journal, run, {(str(one["step_id"]), str(one["name"])) for one in chosen}, options.to, console
            )
    if options.json:
        console.json(chosen)
    elif not options.to:
        for one in chosen:
            files = f"  {one['files']} files" if one["kind"] == "folder" else ""
            path = one_line(str(one["path"]), 200)
            console.say(
                f"{one['step_id']}/{one['name']}  {size(int(one['size_bytes']))}  {path}{files}".rstrip()
            )
        if not chosen:
            console.say("No artifact yet.")
    return DONE


def _write(
    journal: Journal, run: PipelineState, wanted: set[tuple[str, str]], to: str, console: Console
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
        if (step, name) not in wanted:
            continue
        for path, data in _files(journal, body):
            where = f"{_safe(step)}/{_safe(name)}{path}"
            put_file(str(target), where, data)
            console.say(f"{to}/{where}")


def _safe(name: str) -> str:
    return name.replace("/", "-").lstrip(".") or "artifact"


def _files(journal: Journal, body: ArtifactStored) -> list[tuple[str, bytes]]:
    data = journal.blobs.read(body.content_ref) if body.content_ref else None
    if data is None:
        why = "its bytes are not kept any more"
        raise Refusal(f"“{body.name}” was not written", why, "run its step again")
    if body.artifact_kind != "folder":
        return [(Path(body.path).suffix, data)]
    members = cast("dict[str, str]", json.loads(data))
    return [(f"/{path}", journal.blobs.read(ref) or b"") for path, ref in sorted(members.items())]
