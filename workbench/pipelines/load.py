"""Load a pipeline with its manifest: find, read and check both. Also lists the pipelines of a project.

It starts nothing and writes nothing.
"""

import itertools
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, field

from workbench.domain.values import PIPELINE_FOLDERS
from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import read_bounded
from workbench.pipelines.checks import check_pipeline, step_places
from workbench.pipelines.documents import (
    MANIFEST_NAMES,
    MOST_PIPELINES,
    DiskFiles,
    ProjectFiles,
    find_manifest,
    pipeline_files,
    project_folder,
)
from workbench.pipelines.model import SKIP_CASE, Manifest, Pipeline, Step
from workbench.pipelines.outline import MANIFEST_KIND, PIPELINE_KIND, is_pipeline, scalar_text, step_kind
from workbench.pipelines.value_origins import handed_names
from workbench.text.located import DocumentPlace
from workbench.text.nearest import nearest_name
from workbench.text.problems import Problem, ProblemReport
from workbench.text.safe import one_line
from workbench.text.yaml_nodes import MOST_YAML_BYTES, YamlError, parse_yaml

GENERATED_FILE: Final = "(written by an agent)"
"""Stands where the file of a pipeline is named that has none."""


class LoadedPipeline(Struct, frozen=True, kw_only=True):
    """A pipeline with its manifest and what was found wrong in both."""

    file: str
    """As it was given."""
    root: str
    """Real path of the folder that the manifest's and the pipeline's paths are relative to."""
    manifest_file: str | None
    pipeline: Pipeline | None
    manifest: Manifest | None
    report: ProblemReport
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """Every file that was read, relative to the root: what a run seals."""
    sources: dict[str, str] = field(default_factory=dict[str, str])
    """The text of the pipeline and of the manifest, by `file` and `manifest_file`."""


def load_pipeline(
    file: str,
    *,
    manifest: str | None = None,
    root: str | None = None,
    missing_adapters: bool = True,
    handed: frozenset[str] = frozenset(),
) -> LoadedPipeline:
    """Load a pipeline file; without a manifest the nearest one upwards counts, without a root its project.

    `missing_adapters`: whether to look on PATH for the binaries of adapters and required tools.
    `handed`: names whose values come from an agent, an artifact or a list.
    """
    report = ProblemReport()
    manifest_file = manifest if manifest is not None else find_manifest(file)
    base = root or (project_folder(manifest_file) if manifest_file else _project_without_manifest(file))
    files = DiskFiles(os.path.realpath(base))
    sources: dict[str, str] = {}
    place = _load_document(file, report, sources)
    if other := _other_format(file, place, sources.get(file, "")):
        return LoadedPipeline(
            file=file, root=files.root, manifest_file=manifest_file, pipeline=None, manifest=None,
            report=ProblemReport([other]), sources=sources,
        )  # fmt: skip
    read = None
    if manifest_file is None:
        report.add(
            Problem(
                code="no_manifest", file=file, severity="warning", fatal=False,
                message="no manifest was found, so the pipeline is checked by itself; "
                "name one with --manifest, or write workbench.yaml",
            )
        )  # fmt: skip
    else:
        document = _load_document(manifest_file, report, sources)
        read = _read_manifest(document, files)
        if read is not None and missing_adapters and document is not None:
            _check_binaries(document, read)
    pipeline = _read_pipeline(place, read, files, handed)
    if pipeline is not None and place is not None:
        _check_child_pipelines(pipeline, place, files.root)
        _check_handed_values(pipeline, place, files.root, handed, ((os.path.realpath(file), handed),))
        if missing_adapters:
            _check_tools(place)
    return LoadedPipeline(
        file=file, root=files.root, manifest_file=manifest_file, pipeline=pipeline, manifest=read,
        report=report, texts=files.seen(), sources=sources,
    )  # fmt: skip


def _other_format(file: str, place: DocumentPlace | None, text: str) -> Problem | None:
    """Return what a file is that another program reads, as the one problem of it; None for any other."""
    members = (place.node.members if place else None) or {}
    kind = members.get("kind")
    if "steps" in members or (kind is not None and kind.value in (PIPELINE_KIND, MANIFEST_KIND)):
        return None
    from workbench.formats.workflows.signatures import recognise_workflow

    found = recognise_workflow(os.path.realpath(file), text.encode("utf-8"))
    if found is None:
        return None
    message = f"this is {found.title}, not a pipeline; {found.advice}"
    return Problem(code="other_format", message=message, file=file)


def load_pipeline_text(
    text: str, root: str, manifest_file: str | None, handed: frozenset[str] = frozenset()
) -> LoadedPipeline:
    """Load a pipeline that is no file, such as one that an agent wrote, with the manifest of a project."""
    report, files, sources = ProblemReport(), DiskFiles(os.path.realpath(root)), {GENERATED_FILE: text}
    place = _parse_document(text, GENERATED_FILE, report)
    manifest = None
    if manifest_file is not None:
        manifest = _read_manifest(_load_document(manifest_file, report, sources), files)
    pipeline = _read_pipeline(place, manifest, files, handed)
    if pipeline is not None and place is not None:
        _check_child_pipelines(pipeline, place, files.root)
        _check_handed_values(pipeline, place, files.root, handed, ())
        _check_tools(place)
    return LoadedPipeline(
        file=GENERATED_FILE, root=files.root, manifest_file=manifest_file, pipeline=pipeline,
        manifest=manifest, report=report, texts=files.seen(), sources=sources,
    )  # fmt: skip


def load_manifest(file: str) -> tuple[Manifest | None, ProblemReport]:
    report = ProblemReport()
    files = DiskFiles(os.path.realpath(project_folder(file)))
    document = _load_document(file, report)
    manifest = _read_manifest(document, files)
    if manifest is not None and document is not None:
        _check_binaries(document, manifest)
    return manifest, report


def load_from_texts(
    pipeline_text: str, manifest_text: str | None, files: ProjectFiles, names: tuple[str, str]
) -> tuple[Pipeline | None, Manifest | None, ProblemReport]:
    """Read pipeline and manifest from texts, as a run does with what it sealed."""
    report = ProblemReport()
    place = _parse_document(pipeline_text, names[0], report)
    document = _parse_document(manifest_text, names[1], report) if manifest_text is not None else None
    manifest = _read_manifest(document, files)
    return _read_pipeline(place, manifest, files), manifest, report


def _read_manifest(document: DocumentPlace | None, files: ProjectFiles) -> Manifest | None:
    if document is None:
        return None
    # pydantic takes more than a tenth of a second to import; lists of pipelines do without it.
    from workbench.pipelines.parse_manifest import read_manifest

    return read_manifest(document, files)


def _read_pipeline(
    document: DocumentPlace | None,
    manifest: Manifest | None,
    files: ProjectFiles,
    handed: frozenset[str] = frozenset(),
) -> Pipeline | None:
    if document is None:
        return None
    from workbench.pipelines.parse_pipeline import read_pipeline

    pipeline = read_pipeline(document)
    if pipeline is not None:
        check_pipeline(pipeline, document, manifest, files, handed)
    return pipeline


_MANIFEST_FILES: Final = frozenset(Path(name).name for name in MANIFEST_NAMES)


def is_manifest(file: str) -> bool:
    """Return whether a document calls itself a manifest; one that calls itself nothing known, by its name."""
    kind = document_kind(file)
    return kind == "manifest" or (kind is None and Path(file).name in _MANIFEST_FILES)


def document_kind(file: str) -> Literal["pipeline", "manifest"] | None:
    """Return what a document calls itself; one with steps and a name at its top is an older pipeline."""
    document = _load_document(file, ProblemReport())
    members = (document.node.members if document else None) or {}
    kind = members.get("kind")
    if kind is None:
        return "pipeline" if {"steps", "name"} <= members.keys() else None
    return "manifest" if kind.value == MANIFEST_KIND else "pipeline" if kind.value == PIPELINE_KIND else None


def project_of(file: str) -> str:
    """Return the folder of the project that a pipeline or a manifest belongs to."""
    manifest = find_manifest(file)
    return project_folder(manifest) if manifest else _project_without_manifest(file)


def _project_without_manifest(file: str) -> str:
    """Return the project of a pipeline without a manifest: above its folder of pipelines, or its own."""
    folder = Path(os.path.realpath(file)).parent
    for name in PIPELINE_FOLDERS:
        if folder.as_posix().endswith(f"/{name}"):
            return str(folder.parents[name.count("/")])
    return str(folder)


class ProjectFacts(Struct, frozen=True, kw_only=True):
    """What the manifest says of its project, each as one safe line."""

    name: str = ""
    description: str = ""
    repo: str = ""

    @classmethod
    def of(cls, manifest: Manifest | None) -> "ProjectFacts":
        if manifest is None:
            return cls()
        return _project_facts(manifest.name, manifest.description, manifest.repo)

    @property
    def text(self) -> str:
        """Return one line that names the project; empty where the manifest says no more than its name."""
        if not (self.description or self.repo):
            return ""
        about = ": ".join(filter(None, (self.name, self.description)))
        return f"{about}  ({self.repo})" if self.repo else about


def project_facts(manifest_file: str | None) -> ProjectFacts:
    """Return what a manifest says of its project; only the outline of the document is read."""
    place = _load_document(manifest_file, ProblemReport()) if manifest_file else None
    if place is None:
        return ProjectFacts()
    metadata = place.present("metadata")
    repo = scalar_text(metadata, "repo") or scalar_text(place, "repo")
    return _project_facts(scalar_text(metadata, "name"), scalar_text(metadata, "description"), repo)


def _project_facts(name: str, description: str, repo: str) -> ProjectFacts:
    return ProjectFacts(
        name=one_line(name, 120), description=one_line(" ".join(description.split()), 300),
        repo=one_line(repo, 200),
    )  # fmt: skip


class PipelineEntry(Struct, frozen=True, kw_only=True):
    """A pipeline file of a project."""

    file: str
    """Relative to the project."""
    name: str
    description: str = ""
    steps: int = 0
    is_broken: bool = False


def list_pipelines(root: str) -> list[PipelineEntry]:
    """Return the pipelines of a project, by name; what cannot be read is listed as broken."""
    return sorted(_pipeline_entries(root), key=lambda entry: (entry.name, entry.file))


def _pipeline_entries(root: str) -> Iterator[PipelineEntry]:
    for file in itertools.islice(pipeline_files(root), MOST_PIPELINES):
        yield _pipeline_entry(root, file)


def _is_file(root: str, name: str) -> bool:
    try:
        return (Path(root) / name).is_file()
    except (OSError, ValueError):
        return False


def _pipeline_entry(root: str, file: str) -> PipelineEntry:
    """Return the entry of a file in a list; only the outline of its document is read."""
    place = _load_document(f"{root}/{file}", ProblemReport())
    stem = Path(file).stem
    if place is None or not is_pipeline(place):
        return PipelineEntry(file=file, name=stem, is_broken=True)
    metadata, steps = place.present("metadata"), place.present("steps")
    name = scalar_text(metadata, "name")
    listed = list(steps.items()) if steps else []
    is_of_kind = scalar_text(place, "kind") == PIPELINE_KIND
    named = [name, *(scalar_text(step, "id") for step in listed)]
    return PipelineEntry(
        file=file, name=one_line(name or stem, 120),
        description=one_line(scalar_text(metadata, "description"), 300), steps=_count_steps(listed),
        is_broken=not (is_of_kind and listed and all(text.strip() for text in named)),
    )  # fmt: skip


def _count_steps(places: Iterable[DocumentPlace]) -> int:
    """Return the number of steps after desugaring: a loop and the edges of a step add one each."""
    count = 0
    for place in places:
        if place.node.members is None:
            continue
        is_route = step_kind(place) == "route"
        loop, edges = place.present("loop"), place.present("edges")
        if loop and loop.node.members is not None:
            body = loop.present("steps")
            count += 1 + _count_steps(body.items() if body else ())
        count += not (is_route and loop)
        count += bool(edges and edges.node.items and not is_route)
    return count


def find_pipeline(root: str, name: str) -> str | None:
    """Return the file of a pipeline by its name, or by the name of its file; None if there is none."""
    entries = list_pipelines(root)
    by_name = [entry.file for entry in entries if entry.name == name]
    by_file = [entry.file for entry in entries if Path(entry.file).stem == name]
    return next(iter([*by_name, *by_file]), None)


def similar_pipeline_hint(root: str, name: str) -> str:
    """Return what a pipeline of a project may have been meant, as a remedy."""
    names = [entry.name for entry in list_pipelines(root)]
    near = nearest_name(name, names)
    return "see workbench pipeline list" + (f" (is {one_line(near, 80)} meant?)" if near else "")


def _load_document(
    file: str, report: ProblemReport, sources: dict[str, str] | None = None
) -> DocumentPlace | None:
    try:
        data = read_bounded(Path(file), MOST_YAML_BYTES)
    except FileRefused as error:
        report.add(Problem(code="unreadable", message=f"it cannot be read: {error.why}", file=file))
        return None
    if data is None:
        report.add(Problem(code="missing_file", message="there is no such file", file=file))
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"it is not UTF-8 at byte {error.start}"
        report.add(Problem(code="unreadable", message=why, file=file))
        return None
    if sources is not None:
        sources[file] = text
    return _parse_document(text, file, report)


def _parse_document(text: str, file: str, report: ProblemReport) -> DocumentPlace | None:
    try:
        node = parse_yaml(text)
    except YamlError as error:
        report.add(
            Problem(code=error.code, message=error.reason, file=file, line=error.line, column=error.column)
        )
        return None
    place = DocumentPlace(report=report, file=file, node=node)
    if node.members is None:
        problem = "it is empty" if node.value is None else "it is not a mapping"
        place.error("wrong_type", f"{problem}; a pipeline starts with kind: {PIPELINE_KIND}")
        return None
    return place


def _check_child_pipelines(pipeline: Pipeline, place: DocumentPlace, root: str) -> None:
    child_names = {name for step in pipeline.steps for name in _child_pipeline_names(step)}
    missing = {
        name
        for name in child_names - {Path(file).stem for file in pipeline_files(root)}
        if not _is_file(root, name)
    }
    pipeline_names = {
        name
        for entry in (list_pipelines(root) if missing else ())
        for name in (entry.name, Path(entry.file).stem)
    }
    missing -= pipeline_names
    for step_place in step_places(place) if missing else ():
        step = next(
            (step for step in pipeline.steps if step.path == step_place.path and step.kind == "pipeline"),
            None,
        )
        for name in sorted(missing & set(_child_pipeline_names(step))) if step else ():
            listed_names = ", ".join(sorted(pipeline_names)[:8]) or "none"
            child_place = (
                step_place.member("pipeline")
                or step_place.member("branch")
                or step_place.member("strategy")
                or step_place
            )
            child_place.warn(
                "missing_pipeline", f"there is no pipeline {one_line(name, 80)} now; there are {listed_names}"
            )


_Above = tuple[tuple[str, frozenset[str]], ...]
"""The files that led to a pipeline, each with what was handed down to it."""
_MOST_LEVELS: Final = 8
"""Pipelines below one another that are looked into for values that are handed down."""


def child_pipelines(step: Step, root: str) -> Iterator[str]:
    """Yield the files of the pipelines that a step names."""
    for name in _child_pipeline_names(step):
        file = name if _is_file(root, name) else find_pipeline(root, name)
        if file is not None:
            yield str(Path(root) / file)


def _check_handed_values(
    pipeline: Pipeline, place: DocumentPlace, root: str, handed: frozenset[str], above: _Above
) -> None:
    """Report values of agents, artifacts and lists that a pipeline below has read as code."""
    by_path = {step_place.path: step_place for step_place in step_places(place)}
    for step in pipeline.steps:
        below = frozenset(handed_names(step, handed)) if step.kind == "pipeline" else frozenset[str]()
        for file in child_pipelines(step, root) if below else ():
            for message in _inner_code_problems(file, root, below, above):
                by_path.get(step.path, place).error("inner_code", f"{Path(file).name}: {message}")


def _inner_code_problems(file: str, root: str, handed: frozenset[str], above: _Above) -> Iterator[str]:
    if (os.path.realpath(file), handed) in above or len(above) >= _MOST_LEVELS:
        return
    report, files = ProblemReport(), DiskFiles(root)
    document = _load_document(file, report)
    manifest_file = find_manifest(file)
    manifest = (
        _read_manifest(_load_document(manifest_file, ProblemReport()), files) if manifest_file else None
    )
    pipeline = _read_pipeline(document, manifest, files, handed)
    if pipeline is not None and document is not None:
        _check_handed_values(pipeline, document, root, handed, (*above, (os.path.realpath(file), handed)))
    yield from (problem.message for problem in report.errors if problem.code == "inner_code")


def _child_pipeline_names(step: Step) -> tuple[str, ...]:
    names = tuple(step.branch.cases.values()) if step.branch else (step.source,)
    return tuple(
        name for name in names if step.kind == "pipeline" and name not in ("", SKIP_CASE) and "{{" not in name
    )


def _check_tools(place: DocumentPlace) -> None:
    requires = place.member("requires")
    listed = requires.member("tools") if requires else None
    for item in listed.items() if listed else ():
        name = item.node.value
        if isinstance(name, str) and name.strip() and shutil.which(name.strip()) is None:
            item.warn("missing_binary", f"{one_line(name, 80)} is required and not on PATH", stops_run=True)


def _check_binaries(document: DocumentPlace, manifest: Manifest) -> None:
    adapters = document.member("adapters")
    for name, adapter in manifest.adapters.items():
        place = adapters.member(name) if adapters else None
        binary_place = (place.member("binary") or place) if place else document
        if adapter.binary and not adapter.is_built_in and shutil.which(adapter.binary) is None:
            binary_place.warn(
                "missing_binary",
                f"{one_line(adapter.binary, 80)} is not on PATH, so adapter {one_line(name, 60)} cannot run",
            )


class ChangeReport(Struct, frozen=True, kw_only=True):
    """What is said of a changed file."""

    words: str
    is_error: bool
    pipeline: str = ""
    """`metadata.name` of a pipeline that could be read; empty for a manifest."""


def change_report(root: str, path: str) -> ChangeReport:
    """Return the verdict on a file of a project as it is now."""
    name = one_line(os.path.relpath(path, root), 80)
    if not Path(path).is_file():
        return ChangeReport(words=f"{name} is gone; no run can be started with it", is_error=False)
    if os.path.relpath(path, root) in MANIFEST_NAMES:
        _, report = load_manifest(path)
        return ChangeReport(words=f"{name} {_report_text(report, path, root)}", is_error=not report.is_ok)
    loaded = load_pipeline(path, root=root, missing_adapters=False)
    report = ProblemReport([problem for problem in loaded.report.found if problem.file == path])
    return ChangeReport(
        words=f"{name} {_report_text(report, path, root)}", is_error=not report.is_ok,
        pipeline=loaded.pipeline.name if loaded.pipeline else "",
    )  # fmt: skip


def _report_text(report: ProblemReport, path: str, root: str) -> str:
    """Return `changed: valid`, or the first thing that is wrong in it and how many more there are."""
    errors, warnings = report.errors, len(report.warnings)
    if not errors:
        with_warnings = f", {warnings} warning{'s' * (warnings != 1)}" if warnings else ""
        return f"changed: valid{with_warnings}"
    first, more = errors[0], len(errors) - 1
    place = f"line {first.line}: " if first.file == path and first.line else ""
    rest = f" (and {more} more)" if more else ""
    message = first.message.replace(f"{root}/", "")
    return f"changed: {place}{message}{rest}; see workbench pipeline validate"
