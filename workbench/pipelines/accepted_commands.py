"""Commands that a person accepts before a run starts: another program reads a value in them as code."""

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from workbench.pipelines import templates
from workbench.pipelines.documents import DiskFiles
from workbench.pipelines.load import child_pipelines, load_pipeline
from workbench.pipelines.manifest_values import own_text_of
from workbench.pipelines.model import Manifest, MetaLimits, Pipeline, Step
from workbench.pipelines.value_origins import (
    expanded_command,
    handed_names,
    inner_values,
    known_before_run,
)


class AcceptedCommand(Struct, frozen=True, kw_only=True):
    """A command that a person has to accept before a run may start."""

    step: str
    """With the pipelines above it."""
    message: str
    """Which value is read as code, by what, and what to write instead."""
    command: str
    """Expanded."""


class _Run(Struct, frozen=True, kw_only=True):
    """A run, or one below it, as far as it is known before it starts."""

    pipeline: Pipeline
    manifest: Manifest | None
    input: str | None
    values: Mapping[str, str]
    handed: frozenset[str]
    title: str = ""
    level: int = 0

    def shown(self, text: str) -> str:
        known = known_before_run(self.manifest, self.input, self.values, self.handed)
        return expanded_command(text, own_text_of(self.manifest), known)


def commands_to_accept(
    pipeline: Pipeline, manifest: Manifest | None, root: str, input_text: str, handed: Collection[str]
) -> list[AcceptedCommand]:
    """Return the commands of a run and of the runs below it in which values of a person are read as code."""
    run = _Run(pipeline=pipeline, manifest=manifest, input=input_text, values={}, handed=frozenset(handed))
    return list({command.command: command for command in _commands(run, root)}.values())


def _commands(run: _Run, root: str) -> Iterator[AcceptedCommand]:
    files, own_text = DiskFiles(root), own_text_of(run.manifest)
    for step in run.pipeline.steps:
        for value in inner_values(step, files, own_text, run.handed):
            if value.origin != "foreign":
                yield AcceptedCommand(
                    step=f"{run.title}{step.id}", message=value.message, command=run.shown(value.command)
                )
        if step.kind == "pipeline" and run.level < _levels(run.manifest):
            for file in child_pipelines(step, root):
                yield from _commands_below(run, step, file, root)


def _levels(manifest: Manifest | None) -> int:
    """Return how many runs may be below one another."""
    return (manifest.runtime.meta if manifest else MetaLimits()).max_depth


def _commands_below(run: _Run, step: Step, file: str, root: str) -> Iterator[AcceptedCommand]:
    loaded = load_pipeline(file, root=root, missing_adapters=False)
    if loaded.pipeline is None:
        return
    values = {name: _whole(run.shown(text)) for name, text in step.child_values.items()}
    below = _Run(
        pipeline=loaded.pipeline, manifest=loaded.manifest, input=_whole(run.shown(step.pipeline_input)),
        values={name: text for name, text in values.items() if text is not None},
        handed=frozenset(handed_names(step, run.handed)), title=f"{run.title}{step.id} › ",
        level=run.level + 1,
    )  # fmt: skip
    yield from _commands(below, root)


def _whole(text: str) -> str | None:
    """Return a text in which every template is filled; None for any other."""
    return None if any(templates.template_names(text)) else text
