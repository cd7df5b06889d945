"""Load a pipeline with its manifest: found, read, checked, with every problem of both at once.

Owns which manifest a pipeline has and what a run is made of. It starts nothing and writes nothing.
"""

import difflib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from workbench.effects.files import FileRefused, read_bounded
from workbench.pipelines.checks import check_pipeline, places_of
from workbench.pipelines.files import DiskFiles, Files
from workbench.pipelines.manifest import read_manifest
from workbench.pipelines.model import SKIP, Manifest, Pipeline, Step
from workbench.pipelines.places import FOLDERS, files_of, find_manifest, project_of
from workbench.pipelines.problems import Place, Problem, Report
from workbench.pipelines.reading import KIND, read_pipeline
from workbench.pipelines.source import LARGEST, YamlError, parse
from workbench.text.safe import one_line

_MOST: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPipeline:
    """A pipeline with its manifest and what was found wrong in both."""

    file: str
    """As it was given."""
    root: str
    """Real path of the folder that the manifest's and the pipeline's paths are relative to."""
    manifest_file: str | None
    pipeline: Pipeline | None
    manifest: Manifest | None
    report: Report
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """Every file that was read, relative to the root: what a run seals."""
    sources: dict[str, str] = field(default_factory=dict[str, str])
    """The text of the pipeline and of the manifest, by `file` and `manifest_file`."""


def load(
    file: str, *, manifest: str | None = None, root: str | None = None, missing_adapters: bool = True
) -> LoadedPipeline:
    """Load a pipeline file.

    Args:
        file: its path.
        manifest: path of the manifest; None looks for the nearest one upwards.
        root: what the paths in both are relative to; None takes the manifest's project.
        missing_adapters: whether to look on PATH for the binaries of adapters and required tools.
    """
    report = Report()
    manifest_file = manifest if manifest is not None else find_manifest(file)
    base = root or (project_of(manifest_file) if manifest_file else _home_of(file))
    files = DiskFiles(os.path.realpath(base))
    sources: dict[str, str] = {}
    place = _document(file, report, sources)
    read = None
    if manifest_file is None:
        report.found.append(
            Problem(
                code="no_manifest", file=file, severity="warning", stops_run=False,
                message="no manifest was found, so the pipeline is checked by itself; "
                "name one with --manifest, or write workbench.yaml",
            )
        )  # fmt: skip
    else:
        document = _document(manifest_file, report, sources)
        read = read_manifest(document, files) if document else None
        if read is not None and missing_adapters and document is not None:
            _binaries(document, read)
    pipeline = read_pipeline(place) if place is not None else None
    if pipeline is not None and place is not None:
        check_pipeline(pipeline, place, read, files)
        _below(pipeline, place, files.root)
        if missing_adapters:
            _tools(place)
    return LoadedPipeline(
        file=file, root=files.root, manifest_file=manifest_file, pipeline=pipeline, manifest=read,
        report=report, texts=files.seen(), sources=sources,
    )  # fmt: skip


def check_manifest(file: str) -> tuple[Manifest | None, Report]:
    """Load a manifest alone."""
    report = Report()
    files = DiskFiles(os.path.realpath(project_of(file)))
    document = _document(file, report)
    found = read_manifest(document, files) if document else None
    if found is not None and document is not None:
        _binaries(document, found)
    return found, report


def from_texts(
    pipeline_text: str, manifest_text: str | None, files: Files, names: tuple[str, str]
) -> tuple[Pipeline | None, Manifest | None, Report]:
    """Read pipeline and manifest from texts, as a run does with what it sealed.

    Args:
        pipeline_text: the document.
        manifest_text: the document, or None.
        files: what they name.
        names: how the two files are called in problems.
    """
    report = Report()
    place = _parsed(pipeline_text, names[0], report)
    document = _parsed(manifest_text, names[1], report) if manifest_text is not None else None
    manifest = read_manifest(document, files) if document else None
    pipeline = read_pipeline(place) if place else None
    if pipeline is not None and place is not None:
        check_pipeline(pipeline, place, manifest, files)
    return pipeline, manifest, report


def is_manifest(file: str) -> bool:
    """Return whether a document calls itself a manifest; recognised by content, not by name."""
    found = _document(file, Report())
    members = found.node.members if found else None
    kind = members.get("kind") if members else None
    return kind is not None and kind.value == "WaveManifest"


def _home_of(file: str) -> str:
    """Return the project of a pipeline without a manifest: above its folder of pipelines, or its own."""
    folder = Path(os.path.realpath(file)).parent
    for name in FOLDERS:
        if folder.as_posix().endswith(f"/{name}"):
            return str(folder.parents[name.count("/")])
    return str(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A pipeline file of a project."""

    file: str
    """Relative to the project."""
    name: str
    description: str = ""
    steps: int = 0
    is_broken: bool = False


def pipelines_of(root: str) -> list[Found]:
    """Return the pipelines of a project, by name; what cannot be read is listed as broken."""
    return sorted(_found(root), key=lambda one: (one.name, one.file))


def _found(root: str) -> Iterator[Found]:
    for file in itertools.islice(files_of(root), _MOST):
        yield _summary(root, file)


def _is_file(root: str, name: str) -> bool:
    try:
        return (Path(root) / name).is_file()
    except (OSError, ValueError):
        return False


def _summary(root: str, file: str) -> Found:
    report = Report()
    place = _document(f"{root}/{file}", report)
    stem = Path(file).stem
    if place is None or place.node.members is None:
        return Found(file=file, name=stem, is_broken=True)
    pipeline = read_pipeline(place)
    if pipeline is None:
        return Found(file=file, name=stem, is_broken=True)
    return Found(
        file=file, name=one_line(pipeline.name or stem, 120),
        description=one_line(pipeline.description, 300), steps=len(pipeline.steps),
        is_broken=not report.is_ok,
    )  # fmt: skip


def named(root: str, name: str) -> str | None:
    """Return the file of a pipeline by its name, or by the name of its file; None if there is none."""
    found = pipelines_of(root)
    by_name = [one.file for one in found if one.name == name]
    by_file = [one.file for one in found if Path(one.file).stem == name]
    return next(iter([*by_name, *by_file]), None)


def close_to(root: str, name: str) -> str:
    """Return what a pipeline of a project may have been meant, as a remedy."""
    names = [one.name for one in pipelines_of(root)]
    close = difflib.get_close_matches(name, names, 1)
    return "see workbench pipeline list" + (f" (is {one_line(close[0], 80)} meant?)" if close else "")


def _document(file: str, report: Report, kept: dict[str, str] | None = None) -> Place | None:
    try:
        data = read_bounded(Path(file), LARGEST)
    except FileRefused as error:
        report.found.append(Problem(code="unreadable", message=f"it cannot be read: {error.why}", file=file))
        return None
    if data is None:
        report.found.append(Problem(code="missing_file", message="there is no such file", file=file))
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"it is not UTF-8 at byte {error.start}"
        report.found.append(Problem(code="unreadable", message=why, file=file))
        return None
    if kept is not None:
        kept[file] = text
    return _parsed(text, file, report)


def _parsed(text: str, file: str, report: Report) -> Place | None:
    try:
        node = parse(text)
    except YamlError as error:
        report.found.append(
            Problem(code=error.code, message=error.reason, file=file, line=error.line, column=error.column)
        )
        return None
    place = Place(report=report, file=file, node=node)
    if node.members is None:
        what = "it is empty" if node.value is None else "it is no mapping"
        place.error("wrong_type", f"{what}; a pipeline begins with kind: {KIND}")
        return None
    return place


def _below(pipeline: Pipeline, place: Place, root: str) -> None:
    """Warn of pipelines that steps name and that are not there now; an earlier step may still write them."""
    wanted = {name for step in pipeline.steps for name in _named_below(step)}
    missing = {
        name for name in wanted - {Path(file).stem for file in files_of(root)} if not _is_file(root, name)
    }
    known = {
        name for one in (pipelines_of(root) if missing else ()) for name in (one.name, Path(one.file).stem)
    }
    missing -= known
    for one in places_of(place) if missing else ():
        step = next(
            (step for step in pipeline.steps if step.path == one.path and step.kind == "pipeline"), None
        )
        for name in sorted(missing & set(_named_below(step))) if step else ():
            there = ", ".join(sorted(known)[:8]) or "none"
            here = one.member("pipeline") or one.member("branch") or one.member("strategy") or one
            here.warn("missing_pipeline", f"there is no pipeline {one_line(name, 80)} now; there are {there}")


def _named_below(step: Step) -> tuple[str, ...]:
    """Return the pipelines that a step names in so many words."""
    names = tuple(step.branch.cases.values()) if step.branch else (step.source,)
    return tuple(
        one for one in names if step.kind == "pipeline" and one not in ("", SKIP) and "{{" not in one
    )


def _tools(place: Place) -> None:
    """Warn of programs that the pipeline requires and that are not there; no run begins without them."""
    import shutil

    requires = place.member("requires")
    listed = requires.member("tools") if requires else None
    for one in listed.items() if listed else ():
        name = one.node.value
        if isinstance(name, str) and name.strip() and shutil.which(name.strip()) is None:
            one.warn("missing_binary", f"{one_line(name, 80)} is required and not on PATH", stops_run=True)


def _binaries(document: Place, manifest: Manifest) -> None:
    import shutil

    adapters = document.member("adapters")
    for name, adapter in manifest.adapters.items():
        place = adapters.member(name) if adapters else None
        here = (place.member("binary") or place) if place else document
        if adapter.binary and not adapter.is_built_in and shutil.which(adapter.binary) is None:
            here.warn(
                "missing_binary",
                f"{one_line(adapter.binary, 80)} is not on PATH, so adapter {one_line(name, 60)} cannot run",
            )
