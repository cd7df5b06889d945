"""`workbench pipeline logs, artifacts, clean`: what a run left behind."""

import contextlib
import json
import os
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, cast

from workbench.cli.arguments import add_json_option, add_run_argument
from workbench.cli.console import Console
from workbench.cli.context import open_journal
from workbench.cli.errors import EXIT_OK, Refusal
from workbench.cli.pipeline_output import artifacts_json, find_run
from workbench.cli.rows import JsonFields
from workbench.domain.events import ArtifactStored, ContractChecked, Event, OutputStreamed, StepChanged
from workbench.domain.machines import ENDED_RUN_STATES
from workbench.domain.rows import PipelineState, run_title
from workbench.effects.files import workspace_path
from workbench.effects.folders import files_below, make_folder, put_file, remove_tree
from workbench.effects.git import GitFailed, run_git
from workbench.journal.journal import Journal
from workbench.journal.leases import is_lease_live
from workbench.pipelines.state import fold_run
from workbench.pipelines.workspaces import noted_branches
from workbench.text.human import iso_time, size_text
from workbench.text.safe import one_line

LOGS_EXAMPLE = """workbench pipeline logs nightly#41 --step tests
workbench pipeline logs nightly#41 --errors --tail 40
workbench pipeline logs --follow"""
LOG_TICK_SECONDS: Final = 1.0
"""Seconds after which a run that is followed is looked at, also when nothing rang."""


def configure_logs(parser: ArgumentParser) -> None:
    add_run_argument(parser)
    parser.add_argument("--step", metavar="STEP", help="only of this step")
    parser.add_argument("--errors", action="store_true", help="only what failed or was tried again")
    parser.add_argument("--tail", type=int, metavar="N", help="only the last N lines of each output")
    parser.add_argument("--follow", action="store_true", help="stay, and show more as it comes")
    add_json_option(parser, "print a JSON array")


def execute_logs(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        run = find_run(journal, workspace_path(options.directory), options.run)
        step_ids = {step.step_id for step in journal.step_states(run.pipeline_id)}
        if options.step and options.step not in step_ids:
            why = f"the run has no step {options.step}"
            raise Refusal("no log was shown", why, f"there are {', '.join(sorted(step_ids)) or 'none yet'}")
        if options.follow and options.json:
            remedy = "use workbench pipeline run --output-format stream-json"
            raise Refusal(
                "no log was shown", "a JSON array has an end, and what is followed has none", remedy
            )
        events = journal.events(run.pipeline_id)
        logged = [event for event in events if _is_wanted(event, options)]
        entries = [_log_entry(journal, event, options.tail) for event in logged]
        entries += [] if options.errors else _running_output(events, options)
        if options.json:
            console.json(entries)
            return EXIT_OK
        _print_entries(entries, console)
        if options.follow:
            _follow_logs(journal, run.pipeline_id, events[-1].position if events else 0, options, console)
        elif not entries:
            console.say("Nothing yet.")
    return EXIT_OK


def _print_entries(entries: Iterable[JsonFields], console: Console) -> None:
    for entry in entries:
        console.say(f"── {entry['step_id']}  attempt {entry['attempt']}  {entry['state']}  {entry['at']}")
        for text in (str(entry["detail"]), str(entry["output"])):
            if text.strip():
                console.say(text.rstrip("\n"))


def _running_output(events: Sequence[Event], options: Namespace) -> list[JsonFields]:
    running: dict[str, tuple[Event, list[str]]] = {}
    for event in events:
        step = event.step or ""
        if isinstance(event.body, StepChanged):
            running.pop(step, None)
            if event.body.state == "running":
                running[step] = (event, [])
        elif isinstance(event.body, OutputStreamed) and step in running:
            running[step][1].append(event.body.text)
    return [
        {
            "step_id": step, "attempt": getattr(begun.body, "attempt", 1), "state": "running",
            "at": iso_time(begun.at), "detail": "", "output": _last_lines("".join(texts), options.tail),
            "output_bytes": len("".join(texts).encode("utf-8", "surrogatepass")),
        }
        for step, (begun, texts) in running.items()
        if not options.step or step == options.step
    ]  # fmt: skip


def _follow_logs(journal: Journal, run_id: str, cursor: int, options: Namespace, console: Console) -> None:
    rung = threading.Event()
    silence = journal.on_change(rung.set)
    last = ""
    try:
        while True:
            rung.clear()
            run = journal.pipeline_state(run_id)
            for event in journal.events(run_id, after=cursor):
                cursor, step = event.position, event.step or ""
                if options.step and step != options.step:
                    continue
                if isinstance(event.body, OutputStreamed):
                    head = "" if step == last else f"── {step}\n"
                    console.say(f"{head}{event.body.text}".rstrip("\n"))
                    last = step
                elif _is_wanted(event, options):
                    _print_entries([{**_log_entry(journal, event, options.tail), "output": ""}], console)
                    last = ""
            if run is None or run.status in ENDED_RUN_STATES:
                return
            rung.wait(LOG_TICK_SECONDS)
    finally:
        silence()


def _is_wanted(event: Event, options: Namespace) -> bool:
    if options.step and event.step != options.step:
        return False
    match event.body:
        case StepChanged(state=state):
            if options.errors:
                return state in ("failed", "retrying")
            return state not in ("running", "waiting")
        case ContractChecked(outcome=outcome):
            return outcome != "passed" or bool(event.body.repairs or event.body.summary)
        case _:
            return False


def _contract_words(body: ContractChecked) -> list[str]:
    repaired = [f"repaired: {', '.join(body.repairs)}"] if body.repairs else []
    return [*repaired, *([body.summary] if body.summary else []), *body.problems]


def _log_entry(journal: Journal, event: Event, tail: int | None) -> JsonFields:
    body = event.body
    if isinstance(body, ContractChecked):
        return {
            "step_id": event.step, "attempt": body.attempt, "state": f"contract {body.outcome}",
            "at": iso_time(event.at), "detail": "\n".join(_contract_words(body)), "output": "",
            "output_bytes": 0,
        }  # fmt: skip
    assert isinstance(body, StepChanged)
    return {
        "step_id": event.step, "attempt": body.attempt, "state": body.state, "at": iso_time(event.at),
        "detail": body.detail, "output": _last_lines(_step_output(journal, body), tail),
        "output_bytes": body.output_bytes,
    }  # fmt: skip


def _step_output(journal: Journal, body: StepChanged) -> str:
    data = journal.blobs.read(body.output_ref) if body.output_ref else None
    return body.output if data is None else data.decode("utf-8", "replace")


def _last_lines(text: str, tail: int | None) -> str:
    return text if tail is None else "\n".join(text.splitlines()[-max(0, tail) :])


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


CLEAN_EXAMPLE = """workbench pipeline clean --dry-run
workbench pipeline clean nightly#41"""


def configure_clean(parser: ArgumentParser) -> None:
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="one run (default: all of this workspace that are completed)"
    )
    parser.add_argument("--failed", action="store_true", help="also runs that failed or were cancelled")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    add_json_option(parser, "print a JSON array")


def execute_clean(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        workspace = workspace_path(options.directory)
        runs = (
            [find_run(journal, workspace, options.run)] if options.run else journal.pipeline_states(workspace)
        )
        cleaned = [row for run in runs if (row := _clean_run(journal, run, options)) is not None]
    word = "would remove" if options.dry_run else "removed"
    lines = [
        f"{word} {row['folder']}  {row['files']} files, {size_text(int(row['bytes']))}  {row['run']}"
        for row in cleaned
    ]
    for row in cleaned:
        lines += [f"{word} the branch {one_line(name, 80)}" for name in row["branches"]]
        lines += [
            f"kept the branch {one_line(name, 80)}: its commits are nowhere else"
            for name in row["branches_kept"]
        ]
    return console.result(list(cleaned), lines or ["Nothing to clean."], is_json=options.json)


def _clean_run(journal: Journal, run: PipelineState, options: Namespace) -> JsonFields | None:
    is_wanted = run.status == "completed" or (
        (options.failed or options.run) and run.status in ENDED_RUN_STATES
    )
    if not is_wanted or is_lease_live(journal.home, journal.lease(run.pipeline_id)):
        return None
    started = fold_run(journal.events(run.pipeline_id)).started
    folder = Path(started.workspace_root) if started and started.workspace_root else None
    if folder is None or folder.name != run.pipeline_id or not folder.is_dir():
        return None
    names = files_below(str(folder))
    total = sum((folder / name).lstat().st_size for name in names)
    branches, session = noted_branches(str(folder)), journal.session(run.pipeline_id)
    kept: list[str] = []
    if not options.dry_run:
        remove_tree(str(folder))
        kept = _remove_branches(session.workspace, branches) if session is not None else branches
    return {
        "run": run_title(run), "run_id": run.pipeline_id, "folder": str(folder), "files": len(names),
        "bytes": total, "removed": not options.dry_run,
        "branches": [branch for branch in branches if branch not in kept], "branches_kept": kept,
    }  # fmt: skip


def _remove_branches(workspace: str, branches: list[str]) -> list[str]:
    """Remove branches whose worktrees are gone; return those that git keeps for their commits."""
    # Worktrees lay in there; git forgets those that are gone.
    with contextlib.suppress(GitFailed):
        run_git(workspace, "worktree", "prune", environment=os.environ, seconds=30.0)
    kept: list[str] = []
    for branch in branches:
        try:
            run_git(workspace, "branch", "--delete", "--", branch, environment=os.environ, seconds=30.0)
        except GitFailed:
            kept.append(branch)
    return kept
