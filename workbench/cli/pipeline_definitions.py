"""`workbench pipeline list, validate`: pipelines as their files define them."""

import os
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, Refusal
from workbench.cli.journal_access import open_journal
from workbench.cli.pipeline_output import code_host_json, place_json, problem_json, run_json, run_line
from workbench.cli.row_json import JsonFields
from workbench.domain.codec import to_json_value
from workbench.domain.values import PIPELINE_FOLDERS, SandboxLevel
from workbench.effects.files import workspace_path
from workbench.journal.leases import is_driver_gone
from workbench.journal.place_queue import waiting_runs
from workbench.pipelines import load
from workbench.pipelines.code_hosts import CodeHost
from workbench.pipelines.documents import PIPELINE_SUFFIXES, find_manifest, project_folder
from workbench.pipelines.repository_checks import check_repository
from workbench.pipelines.step_notes import levels_of_manifest, levels_of_steps
from workbench.text.human import counted
from workbench.text.problems import ProblemReport
from workbench.text.safe import one_line
from workbench.views.lost_drivers import listed_run

if TYPE_CHECKING:
    from collections.abc import Sequence


LIST_EXAMPLE = """workbench pipeline list
workbench pipeline list --runs --json"""


def configure_list(parser: ArgumentParser) -> None:
    parser.add_argument("--runs", action="store_true", help="list runs instead, the newest first")
    parser.add_argument("--all", action="store_true", help="runs of every workspace")
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="at most N runs (default: 50)")
    add_json_option(parser, "print a JSON array")


def execute_list(options: Namespace, console: Console) -> int:
    workspace = workspace_path(options.directory)
    return (
        _print_runs(workspace, options, console)
        if options.runs
        else _print_pipelines(workspace, options, console)
    )


def _print_pipelines(workspace: str, options: Namespace, console: Console) -> int:
    pipelines, about = load.list_pipelines(_project_root(workspace)), _project_facts(workspace)
    width = max((len(entry.name) for entry in pipelines), default=0)
    lines = [*filter(None, [about.text]), *(_pipeline_line(entry, width) for entry in pipelines)]
    nothing = f"No pipeline was found in {', '.join(PIPELINE_FOLDERS)}. workbench pipeline new makes one."
    facts = [
        {
            "name": entry.name, "file": entry.file, "description": entry.description, "steps": entry.steps,
            "ok": not entry.is_broken,
            **({"project": to_json_value(about)} if about.text else {}),
        }
        for entry in pipelines
    ]  # fmt: skip
    return console.result(facts, lines if pipelines else [*lines, nothing], is_json=options.json)


def _project_facts(workspace: str) -> load.ProjectFacts:
    return load.project_facts(find_manifest(workspace))


def _pipeline_line(entry: load.PipelineEntry, width: int) -> str:
    what = "cannot be used; see workbench pipeline validate" if entry.is_broken else entry.description
    return f"{entry.name.ljust(width)}  {counted(entry.steps, 'step'):>9}  {what or entry.file}"


def _print_runs(workspace: str, options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        rows = journal.pipeline_states(None if options.all else workspace, max(0, options.limit))
        runs = [listed_run(run, partial(is_driver_gone, journal)) for run in rows]
        now, places = journal.now(), waiting_runs(journal.home)
    lines = [run_line(run, console.signs, now, places.get(run.pipeline_id)) for run in runs]
    nothing = "No run yet. workbench pipeline run NAME starts one."
    facts = [run_json(run) | {"place": place_json(places.get(run.pipeline_id))} for run in runs]
    return console.result(facts, lines or [nothing], is_json=options.json)


VALIDATE_EXAMPLE = """workbench pipeline validate .wave/pipelines/nightly.yaml
workbench pipeline validate nightly
workbench pipeline validate --strict --json"""
WATCHED_SUFFIXES: Final = (".yaml", ".yml", ".json", ".md")


def configure_validate(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE",
        help="pipelines or manifests, or names of pipelines (default: all of this project)",
    )  # fmt: skip
    parser.add_argument("--manifest", metavar="M", help="the manifest (default: the nearest one upwards)")
    parser.add_argument("--root", metavar="DIR", help="what paths in the files are relative to")
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")
    parser.add_argument("--watch", action="store_true", help="keep running, and validate again after changes")
    add_json_option(parser, "print an object, or an array for several files")


def execute_validate(options: Namespace, console: Console) -> int:
    """Validate files; 0 with warnings, 1 with errors."""
    if options.root and not Path(options.root).is_dir():
        why = f"there is no folder {options.root}"
        raise Refusal("nothing was validated", why, "name the folder of the project with --root")
    code = _validate_files(options, console)
    if not options.watch:
        return code
    from workbench.effects.folder_changes import folder_changes

    for _ in folder_changes(
        _watched_folders(options), threading.Event(), is_wanted=lambda path: path.endswith(WATCHED_SUFFIXES)
    ):
        _validate_files(options, console)
    return EXIT_INTERRUPTED


def _watched_folders(options: Namespace) -> list[str]:
    """Return the folders of the files that are validated, and that of their manifest."""
    files = _files_to_validate(options)
    manifests = [options.manifest or find_manifest(file) for file in files]
    named = [file for file in (*files, *manifests) if file is not None]
    return sorted({str(Path(file).resolve().parent) for file in named})


def _validate_files(options: Namespace, console: Console) -> int:
    files = _files_to_validate(options)
    results = [_check_file(file, options) for file in files]
    if options.json:
        facts = [_report_json(result) for result in results]
        console.json(facts[0] if len(options.files) == 1 else facts)
    else:
        _print_reports(results, console)
    return EXIT_OK if all(result.report.is_ok for result in results) else EXIT_FAILED


def _files_to_validate(options: Namespace) -> list[str]:
    workspace = workspace_path(options.directory)
    if not options.files:
        return _all_files(workspace)
    root = options.root or _project_root(workspace)
    return [file if Path(file).exists() else _file_of_pipeline(root, file) for file in options.files]


def _file_of_pipeline(root: str, word: str) -> str:
    file = load.find_pipeline(root, word)
    if file is None and Path(word).suffix not in PIPELINE_SUFFIXES:
        why = f"there is no file and no pipeline {one_line(word, 80)}"
        raise Refusal("nothing was validated", why, load.similar_pipeline_hint(root, word))
    return f"{root}/{file}" if file else word


def _project_root(workspace: str) -> str:
    manifest = find_manifest(workspace)
    return project_folder(manifest) if manifest else workspace


def _all_files(workspace: str) -> list[str]:
    manifest, root = find_manifest(workspace), _project_root(workspace)
    files = [f"{root}/{pipeline.file}" for pipeline in load.list_pipelines(root)]
    if manifest:
        files.insert(0, manifest)
    if not files:
        why = f"{workspace} has no manifest and no pipeline"
        raise Refusal("nothing was validated", why, "name a FILE")
    return files


class CheckedFile(Struct, frozen=True, kw_only=True):
    """A file that was validated."""

    file: str
    report: ProblemReport
    levels: Mapping[str, SandboxLevel]
    """The levels of the sandbox that it names, by step, adapter or hook."""
    host: CodeHost | None = None
    """The code host of its project, where it names one."""


def _check_file(file: str, options: Namespace) -> CheckedFile:
    host = None
    if Path(file).is_file() and load.is_manifest(file):
        manifest, report = load.load_manifest(file)
        levels = levels_of_manifest(manifest) if manifest else {}
    else:
        loaded = load.load_pipeline(file, manifest=options.manifest, root=options.root)
        levels = levels_of_steps(loaded.pipeline, loaded.manifest) if loaded.pipeline else {}
        report, host = loaded.report, check_repository(loaded, os.environ)
    report = report.strict() if options.strict else report
    return CheckedFile(file=file, report=report, levels=levels, host=host)


def _report_json(result: CheckedFile) -> JsonFields:
    report = result.report
    return {
        "file": result.file,
        "ok": report.is_ok,
        "runnable": report.is_runnable,
        "errors": [problem_json(problem) for problem in report.errors],
        "warnings": [problem_json(problem) for problem in report.warnings],
        **({"sandbox": dict(result.levels)} if result.levels else {}),
        **code_host_json(result.host),
    }


def _print_reports(results: list[CheckedFile], console: Console) -> None:
    printed: set[str] = set()
    for result in results:
        report = result.report
        for problem, others in report.grouped():
            # Several pipelines share one manifest: what is wrong with it is said once.
            if str(problem) not in printed:
                printed.add(str(problem))
                console.say(f"{problem}{_other_places(others)}")
        status = "ok" if report.is_runnable else "risk" if report.is_ok else "failed"
        counts = [counted(len(report.errors), "error"), counted(len(report.warnings), "warning")]
        if report.stopping:
            counts.append(f"could not start: {len(report.stopping)}")
        console.say(f"{console.signs.of(status)} {result.file}: {', '.join(counts)}")
        if result.host is not None:
            console.say(f"    code host: {result.host.summary()}")
        for place, level in result.levels.items():
            console.say(f"    {one_line(place, 80)}: sandbox {level}")


def _other_places(lines: "Sequence[int]") -> str:
    """Return where else in the file the same is wrong."""
    numbers = ", ".join(map(str, lines[:6])) + (" …" if len(lines) > 6 else "")
    return f" ({len(lines) + 1} times, also in line{'s' * (len(lines) > 1)} {numbers})" if lines else ""
