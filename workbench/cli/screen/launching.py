"""Runs begun from the screen: which pipelines there are, what one would do, and the request itself.

Owns the words of the dry run on the screen. Imports what it needs when called; it begins nothing by itself.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.domain.values import Actor, ToolDescriptor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.safe import one_line
from workbench.tui.services import NotDone
from workbench.views.launch import Finding, Grantable, LaunchPlan, LaunchWish, PipelineChoice, PlannedStep

if TYPE_CHECKING:
    from workbench.pipelines.load import LoadedPipeline
    from workbench.pipelines.model import Manifest, Pipeline, Step
    from workbench.pipelines.problems import Problem

LARGEST_INPUT: Final = 1_048_576
"""Bytes of a file that is taken as input."""
_DOES: Final = 300
_HINT: Final = 200


class Launching:
    """The pipelines of one workspace."""

    def __init__(self, home: Home, journal: Journal, workspace: str) -> None:
        self._home, self._journal, self._workspace = home, journal, workspace

    def choices(self) -> Sequence[PipelineChoice]:
        """Return the pipelines of the workspace."""
        from workbench.pipelines.load import find_manifest, pipelines_of, project_of

        manifest = find_manifest(self._workspace)
        root = project_of(manifest) if manifest else self._workspace
        return [
            PipelineChoice(
                name=one.name, file=str(Path(root) / one.file), description=one.description, steps=one.steps,
                place=one_line(self._inside(str(Path(root) / one.file)), 200), is_broken=one.is_broken,
            )
            for one in pipelines_of(root)
        ]  # fmt: skip

    def plan(self, file: str) -> LaunchPlan:
        """Return what a run of a pipeline would do.

        Raises:
            RunRefused: the file is not there.
        """
        from workbench.host.steps.requests import RunRefused, Wish, find, require_runnable
        from workbench.host.trusting import is_trusted

        loaded = find(self._workspace, Wish(name=file))
        why_not = ""
        try:
            require_runnable(loaded)
        except RunRefused as error:
            why_not = self._first(loaded) or one_line(error.why, 600)
        if not is_trusted(self._journal, self._workspace):
            why_not = "this workspace is not trusted: answer its question, or say workbench trust"
        return self._planned(loaded, why_not)

    def _planned(self, loaded: "LoadedPipeline", why_not: str) -> LaunchPlan:
        pipeline = loaded.pipeline
        named = self._inside(loaded.file)
        findings = tuple(
            Finding(place=self._place(one), message=one.message, stops=one.severity == "error")
            for one in loaded.report.for_running().ordered()
        )
        return LaunchPlan(
            name=one_line(pipeline.name if pipeline else named, 120), file=loaded.file,
            steps=tuple(_steps(pipeline, loaded.manifest)) if pipeline else (),
            grants=self._grants(pipeline, loaded.manifest) if pipeline else (),
            findings=findings, input_hint=_hint(pipeline), why_not=why_not,
        )  # fmt: skip

    def _first(self, loaded: "LoadedPipeline") -> str:
        """Return the first error and how many more there are; empty where it is something else."""
        errors = loaded.report.for_running().errors
        if not errors:
            return ""
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return f"{self._place(errors[0])}: {errors[0].message}{more}"

    def _place(self, problem: "Problem") -> str:
        where = f":{problem.line}:{problem.column}" if problem.line else ""
        return one_line(self._inside(problem.file), 200) + where

    def _inside(self, file: str) -> str:
        """Return a path as seen from the workspace."""
        path = os.path.relpath(file, self._workspace)
        return file if path.startswith("..") else path

    def _grants(self, pipeline: "Pipeline", manifest: "Manifest | None") -> tuple[Grantable, ...]:
        from workbench.cli.pipeline.dryrun import allowed
        from workbench.cli.tools.listing import all_tools

        known = {tool.id: tool for tool in all_tools()}
        whose: dict[str, list[str]] = {}
        origins: dict[str, str] = {}
        for step in pipeline.steps:
            for pattern in allowed(step, manifest):
                origins.setdefault(pattern.text, pattern.origin)
                names = whose.setdefault(pattern.text, [])
                names += [step.persona] if step.persona not in names else []
        return tuple(
            Grantable(
                pattern=text, whose=one_line(", ".join(names), 120), refused=_refused(text, known),
                origin=one_line(self._inside(origins[text]), 120),
            )
            for text, names in whose.items()
        )  # fmt: skip

    def launch(self, wish: LaunchWish) -> str:
        """Begin a run and return its id.

        Raises:
            NotDone, RunRefused, InsideAgent: nothing was begun; says why.
        """
        from workbench.host.ancestry import refuse_inside_agents
        from workbench.host.steps.requests import Wish, request

        refuse_inside_agents(self._journal, self._home, "no run was begun")
        wanted = Wish(name=wish.file, input=self._input(wish.input), grants=wish.grants)
        return request(
            self._journal, self._workspace, wanted, Actor(kind="user", pid=os.getpid(), via="screen")
        )

    def _input(self, given: str) -> str:
        from workbench.effects.files import FileRefused, read_bounded

        if not given.startswith("@"):
            return given
        name = given[1:].strip()
        try:
            data = read_bounded(Path(self._workspace, name).expanduser(), LARGEST_INPUT)
        except FileRefused as error:
            raise NotDone(f"No run was begun. {name}: {error.why}. Name another file behind the @.") from None
        if data is None:
            raise NotDone(f"No run was begun. {name} is not there. Name another file behind the @.")
        return data.decode("utf-8", "replace")


def _hint(pipeline: "Pipeline | None") -> str:
    if pipeline is None:
        return ""
    given = pipeline.input
    return one_line(f"for example {given.example}" if given.example else given.source, _HINT)


def _steps(pipeline: "Pipeline", manifest: "Manifest | None") -> Iterator[PlannedStep]:
    from workbench.pipelines.order import waves

    for number, names in enumerate(waves({step.id: step.needs for step in pipeline.steps}), 1):
        for name in names:
            yield _planned(pipeline.step(name), number, manifest)


def _planned(step: "Step", wave: int, manifest: "Manifest | None") -> PlannedStep:
    from workbench.cli.pipeline.dryrun import step_words

    asks, is_asking = _asks(step, manifest)
    return PlannedStep(
        id=one_line(step.id, 120), wave=wave, kind=step.kind,
        who=one_line(step.persona or "agent", 60) if step.kind == "prompt" else step.kind,
        does=one_line(_does(step), _DOES), asks=one_line(asks, 200), is_asking=is_asking,
        facts=one_line("  ".join(step_words(step, manifest)), 160), cannot=one_line(step.unrunnable, 200),
    )  # fmt: skip


def _does(step: "Step") -> str:
    if step.gate is not None:
        return step.gate.prompt or step.source
    text = step.source or step.source_path
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _asks(step: "Step", manifest: "Manifest | None") -> tuple[str, bool]:
    """Say what a human is asked in a step."""
    from workbench.cli.pipeline.dryrun import allowed, wait_words

    if waits := wait_words(step):
        return waits, False
    match step.kind:
        case "gate":
            words = (
                " / ".join(choice.label or choice.key for choice in step.gate.choices) if step.gate else ""
            )
            return (f"asks you: {words}" if words else "asks you"), True
        case "command":
            return "runs without asking", False
        case "pipeline":
            return "asks as that pipeline does", True
        case "route" | "aggregate":
            return "runs nothing and asks nobody", False
        case _:
            pass
    persona = manifest.personas.get(step.persona) if manifest else None
    adapter = manifest.adapters.get(persona.adapter) if manifest and persona else None
    if adapter is not None and not adapter.is_built_in:
        return f"{adapter.binary} decides by itself what it does", False
    count = len(allowed(step, manifest))
    return "asks before its calls" + (f"; {count} may be granted" if count else ""), True


def _refused(pattern: str, known: "Mapping[str, ToolDescriptor]") -> str:
    """Return why calls like a pattern can never be let pass in a run; empty if they may."""
    from workbench.policy.rules import problems

    found = problems(
        tool=pattern.partition("(")[0].strip() or "*", pattern_kind="glob", pattern=pattern,
        description="granted for this run", known_tools=known, scope="run",
    )  # fmt: skip
    return one_line(found[0].partition(": ")[2] or found[0], 200) if found else ""
