"""`workbench pipeline validate`: every problem of pipelines and their manifest at once.

Owns the printing. What is a problem is said by `workbench.pipelines`.
"""

import threading
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED, INTERRUPTED, Refusal
from workbench.cli.place import workspace_of
from workbench.cli.render.facts import Facts
from workbench.effects.folderwatch import changes as watched
from workbench.pipelines.load import (
    check_manifest,
    close_to,
    find_manifest,
    is_manifest,
    load,
    named,
    pipelines_of,
    project_of,
)
from workbench.pipelines.places import SUFFIXES
from workbench.pipelines.problems import Report
from workbench.text.safe import one_line

EXAMPLE = """workbench pipeline validate .wave/pipelines/nightly.yaml
workbench pipeline validate nightly
workbench pipeline validate --strict --json"""


WATCHED: Final = (".yaml", ".yml", ".json", ".md")


def configure(parser: ArgumentParser) -> None:
    """Add the files and how strictly they are read."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE",
        help="pipelines or manifests, or names of pipelines (else: all of this project)",
    )  # fmt: skip
    parser.add_argument("--manifest", metavar="M", help="the manifest (else: the nearest one upwards)")
    parser.add_argument("--root", metavar="DIR", help="what paths in the files are relative to")
    parser.add_argument("--strict", action="store_true", help="take warnings for errors")
    parser.add_argument("--watch", action="store_true", help="stay, and validate again what changes")
    parser.add_argument("--json", action="store_true", help="print an object, or an array for several files")


def execute(options: Namespace, console: Console) -> int:
    """Validate files; 0 with warnings, 1 with errors."""
    if options.root and not Path(options.root).is_dir():
        why = f"there is no folder {options.root}"
        raise Refusal("nothing was validated", why, "name the folder of the project with --root")
    code = _validated(options, console)
    if not options.watch:
        return code
    for _ in watched(_folders(options), threading.Event(), is_wanted=lambda path: path.endswith(WATCHED)):
        _validated(options, console)
    return INTERRUPTED


def _folders(options: Namespace) -> list[str]:
    """Return the folders of the files that are validated, and that of their manifest."""
    files = _files(options)
    manifests = [options.manifest or find_manifest(file) for file in files]
    named = [file for file in (*files, *manifests) if file is not None]
    return sorted({str(Path(file).resolve().parent) for file in named})


def _validated(options: Namespace, console: Console) -> int:
    files = _files(options)
    results = [(file, _checked(file, options)) for file in files]
    if options.json:
        facts = [_facts(file, report) for file, report in results]
        console.json(facts[0] if len(options.files) == 1 else facts)
    else:
        _tell(results, console)
    return DONE if all(report.is_ok for _, report in results) else FAILED


def _files(options: Namespace) -> list[str]:
    """Return the files to look at: those named, each by its path or its pipeline's name, or all."""
    workspace = workspace_of(options.directory)
    if not options.files:
        return _all(workspace)
    root = options.root or _root(workspace)
    return [file if Path(file).exists() else _named(root, file) for file in options.files]


def _named(root: str, word: str) -> str:
    """Return the file of the pipeline of a name; the word itself if it looks like a file."""
    found = named(root, word)
    if found is None and Path(word).suffix not in SUFFIXES:
        why = f"there is no file and no pipeline {one_line(word, 80)}"
        raise Refusal("nothing was validated", why, close_to(root, word))
    return f"{root}/{found}" if found else word


def _root(workspace: str) -> str:
    manifest = find_manifest(workspace)
    return project_of(manifest) if manifest else workspace


def _all(workspace: str) -> list[str]:
    manifest, root = find_manifest(workspace), _root(workspace)
    found = [f"{root}/{one.file}" for one in pipelines_of(root)]
    if manifest:
        found.insert(0, manifest)
    if not found:
        why = f"{workspace} has no manifest and no pipeline"
        raise Refusal("nothing was validated", why, "name a FILE")
    return found


def _checked(file: str, options: Namespace) -> Report:
    if Path(file).is_file() and is_manifest(file):
        report = check_manifest(file)[1]
    else:
        report = load(file, manifest=options.manifest, root=options.root).report
    return report.strict() if options.strict else report


def _facts(file: str, report: Report) -> Facts:
    return {
        "file": file,
        "ok": report.is_ok,
        "errors": [problem.facts() for problem in report.errors],
        "warnings": [problem.facts() for problem in report.warnings],
    }


def _tell(results: list[tuple[str, Report]], console: Console) -> None:
    told: set[str] = set()
    for file, report in results:
        for problem in report.ordered():
            # Several pipelines share one manifest: what is wrong with it is said once.
            if str(problem) not in told:
                told.add(str(problem))
                console.say(str(problem))
        signs = console.signs
        sign = signs.of("ok") if report.is_ok else signs.of("failed")
        console.say(
            f"{sign} {file}: {_count(len(report.errors), 'error')}, {_count(len(report.warnings), 'warning')}"
        )


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
