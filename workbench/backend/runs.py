"""Pipelines and their runs for the screen's backend, loaded on first use; what a run would do and ask."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from workbench.backend.workspace import LocalWorkspace
from workbench.domain.values import ToolDescriptor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.human import error_sentence
from workbench.text.safe import one_line
from workbench.tui.backend import BackendError, RunBackend
from workbench.views.new_pipeline import (
    NewPipelineDraft,
    NewPipelineRequest,
    NewPipelineRow,
    NewPipelineSource,
    WrittenPipeline,
)
from workbench.views.pipeline import (
    GrantOffer,
    LaunchPlan,
    LaunchProblem,
    LaunchRequest,
    PipelineChoice,
    PlannedStep,
)

if TYPE_CHECKING:
    from workbench.host.steps.run_requests import RunRequest
    from workbench.pipelines.accepted_commands import AcceptedCommand
    from workbench.pipelines.load import LoadedPipeline
    from workbench.pipelines.model import Manifest, Pipeline, Step
    from workbench.pipelines.project_drafts import ProjectDraft
    from workbench.text.problems import Problem

_LONGEST_STEP_TEXT: Final = 300
_LONGEST_HINT: Final = 200


class LocalRuns(LocalWorkspace, RunBackend):
    """The pipelines of one workspace."""

    def __init__(self, home: Home, journal: Journal, workspace: str) -> None:
        super().__init__(home, journal, workspace)
        self._told = ("", "")
        """The run and the step that a retry was asked of last: a second time is the answer."""
        self._shown: LaunchRequest | None = None
        """The launch whose commands were shown last: a second time accepts them."""

    def pipeline_names(self) -> Sequence[str]:
        from workbench.pipelines.documents import find_manifest, pipeline_files, project_folder

        manifest = find_manifest(self._workspace)
        root = project_folder(manifest) if manifest else self._workspace
        if not any(pipeline_files(root)):
            return ()
        from workbench.pipelines.load import list_pipelines

        return [pipeline.name for pipeline in list_pipelines(root)]

    def run_from(self, run_id: str, step: str) -> str:
        from workbench.host.steps.run_requests import RunRequest, request_run
        from workbench.pipelines.state import fold_run

        run = self._journal.pipeline_state(run_id)
        if run is None:
            raise BackendError("No run was started: the run it would continue no longer exists.")
        before = fold_run(self._journal.events(run_id)).request
        request = RunRequest(
            name=run.file or run.pipeline_name, input=run.input, from_step=step,
            handed=before.handed if before else (), accepted=before.accepted if before else (),
        )  # fmt: skip
        return request_run(self._journal, self._workspace, request, self._actor)

    def retry_step(self, run_id: str, step: str) -> None:
        from workbench.host.steps.run_requests import changed_files, resume_run

        is_repeated, self._told = self._told == (run_id, step), (run_id, step)
        if not is_repeated and (changed := changed_files(self._journal, run_id)):
            changed_text = (
                f"{one_line(changed[0], 60)}{f' and {len(changed) - 1} more' if len(changed) > 1 else ''}"
            )
            raise BackendError(
                f"{changed_text} changed since this run was started. F runs from here with the files of now; "
                "R once more retries with what the run was started with."
            )
        resume_run(self._journal, run_id, self._actor, step, reads_files=False)

    def cancel_run(self, run_id: str) -> None:
        from workbench.host.steps.run_requests import cancel_run

        cancel_run(self._journal, run_id, self._actor)

    def pipeline_choices(self) -> Sequence[PipelineChoice]:
        from workbench.pipelines.documents import find_manifest, project_folder
        from workbench.pipelines.load import list_pipelines

        manifest = find_manifest(self._workspace)
        root = project_folder(manifest) if manifest else self._workspace
        return [
            PipelineChoice(
                name=pipeline.name, file=str(Path(root) / pipeline.file), description=pipeline.description,
                steps=pipeline.steps, is_broken=pipeline.is_broken,
                place=one_line(self._inside(str(Path(root) / pipeline.file)), 200),
            )
            for pipeline in list_pipelines(root)
        ]  # fmt: skip

    def new_pipeline_source(self, session_id: str) -> NewPipelineSource:
        from workbench.pipelines.session_steps import session_steps, title_name
        from workbench.text.unused_names import unused_name

        used_names = tuple(self.pipeline_names())
        if not session_id:
            from workbench.pipelines.new_pipeline import pipeline_templates

            rows = (
                NewPipelineRow(
                    id=one.name, kind="", about=one.description, name=unused_name(one.name, used_names)
                )
                for one in pipeline_templates()
            )
            return NewPipelineSource(rows=tuple(rows), used_names=used_names)
        session = self._require_session(session_id, "No pipeline was made")
        found = session_steps(self._journal.events(session_id), session.workspace)
        if not found.steps:
            raise BackendError(
                "No pipeline was made: the session has no prompt and no command that succeeded."
            )
        return NewPipelineSource(
            session_id=session_id, left_out=found.left_out, used_names=used_names,
            name=unused_name(title_name(session.title), used_names),
            rows=tuple(
                NewPipelineRow(
                    id=step.id, kind="agent" if step.kind == "prompt" else "command",
                    about=one_line(step.text, _LONGEST_STEP_TEXT), name=step.id,
                )
                for step in found.steps
            ),
        )  # fmt: skip

    def draft_pipeline(self, request: NewPipelineRequest) -> NewPipelineDraft:
        return _shown_draft(self._draft(request))

    def _draft(self, request: NewPipelineRequest) -> "ProjectDraft":
        from workbench.pipelines.new_pipeline import draft_of_session, draft_of_template
        from workbench.pipelines.session_steps import session_steps

        if request.template:
            return draft_of_template(self._workspace, request.template, request.name)
        session = self._require_session(request.session_id, "No pipeline was made")
        names = {step.id: step.name for step in request.steps}
        found = session_steps(self._journal.events(session.id), session.workspace).steps
        steps = [replace(step, id=names[step.id]) for step in found if step.id in names]
        return draft_of_session(self._workspace, steps, request.name, session.title)

    def write_pipeline(self, request: NewPipelineRequest, draft: NewPipelineDraft) -> WrittenPipeline:
        from workbench.host.workspace_trust import may_have_full_sandbox, open_trust_question
        from workbench.pipelines.project_drafts import write_draft
        from workbench.policy.trust import TrustRefused

        self._require_person("write a pipeline")
        files = self._draft(request)
        if _shown_draft(files) != draft:
            raise BackendError("Nothing was written: the project changed since. Look at the file again.")
        write_draft(files)
        try:
            config = self._config()
            question = open_trust_question(
                self._journal, self._workspace, offers_sandbox=lambda: may_have_full_sandbox(config)
            )
        except TrustRefused:
            question = None
        return WrittenPipeline(file=draft.files[-1], asks_for_trust=question is not None)

    def launch_plan(self, file: str) -> LaunchPlan:
        from workbench.host.steps.run_requests import (
            RunRefused,
            RunRequest,
            load_requested_pipeline,
            require_runnable_pipeline,
        )
        from workbench.host.workspace_trust import is_trusted
        from workbench.pipelines.repository_checks import with_personas

        loaded = load_requested_pipeline(self._workspace, RunRequest(name=file))
        why_not = ""
        try:
            require_runnable_pipeline(loaded)
        except RunRefused as error:
            why_not = self._first(loaded) or one_line(error.why, 600)
        if not is_trusted(self._journal, self._workspace):
            why_not = "this workspace is not trusted: answer its question, or run workbench trust"
        return self._planned(with_personas(loaded, os.environ), why_not)

    def _planned(self, loaded: "LoadedPipeline", why_not: str) -> LaunchPlan:
        from workbench.host.steps.run_requests import steps_missing_input
        from workbench.pipelines.load import ProjectFacts
        from workbench.pipelines.step_order import step_plans

        pipeline = loaded.pipeline
        file_name = self._inside(loaded.file)
        problems = tuple(
            LaunchProblem(
                place=self._place(problem), message=problem.message, stops=problem.severity == "error"
            )
            for problem in loaded.report.for_running().ordered()
        )
        return LaunchPlan(
            name=one_line(pipeline.name if pipeline else file_name, 120), file=loaded.file,
            steps=tuple(_planned_steps(pipeline, loaded.manifest)) if pipeline else (),
            plans=step_plans(pipeline, loaded.manifest) if pipeline else (),
            grants=self._grants(pipeline, loaded.manifest) if pipeline else (),
            findings=problems, input_hint=_input_hint(pipeline),
            input_steps=steps_missing_input(pipeline, ""),
            why_not=why_not, project=ProjectFacts.of(loaded.manifest).text,
        )  # fmt: skip

    def _first(self, loaded: "LoadedPipeline") -> str:
        errors = loaded.report.for_running().errors
        if not errors:
            return ""
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return f"{self._place(errors[0])}: {errors[0].message}{more}"

    def _place(self, problem: "Problem") -> str:
        where = f":{problem.line}:{problem.column}" if problem.line else ""
        return one_line(self._inside(problem.file), 200) + where

    def _inside(self, file: str) -> str:
        path = os.path.relpath(file, self._workspace)
        return file if path.startswith("..") else path

    def _grants(self, pipeline: "Pipeline", manifest: "Manifest | None") -> tuple[GrantOffer, ...]:
        from workbench.pipelines.granted_patterns import allowed_patterns
        from workbench.tools.registry import tool_descriptors

        known = {tool.id: tool for tool in tool_descriptors()}
        personas: dict[str, list[str]] = {}
        origins: dict[str, str] = {}
        for step in pipeline.steps:
            for pattern in allowed_patterns(step, manifest):
                origins.setdefault(pattern.text, pattern.origin)
                names = personas.setdefault(pattern.text, [])
                names += [step.persona] if step.persona not in names else []
        return tuple(
            GrantOffer(
                pattern=text, whose=one_line(", ".join(names), 120), refused=_why_never_granted(text, known),
                origin=one_line(self._inside(origins[text]), 120),
            )
            for text, names in personas.items()
        )  # fmt: skip

    def launch(self, request: LaunchRequest) -> str:
        from workbench.domain.values import Refused
        from workbench.host.steps.run_requests import RunRequest, read_run_input, request_run

        self._require_person("no run was started")
        try:
            text = read_run_input(request.input, self._workspace)
        except Refused as error:
            raise BackendError(" ".join(map(error_sentence, (error.what, error.why, error.remedy)))) from None
        run_request = RunRequest(name=request.file, input=text, grants=request.grants)
        run_request = replace(run_request, accepted=self._accepted_commands(request, run_request))
        return request_run(self._journal, self._workspace, run_request, self._actor)

    def _accepted_commands(self, launch: LaunchRequest, request: "RunRequest") -> tuple[str, ...]:
        """Return the commands that read the input as code, once they were shown; they are shown first."""
        from workbench.host.steps.run_requests import (
            commands_of_request,
            digests_of_commands,
            load_requested_pipeline,
        )

        loaded = load_requested_pipeline(self._workspace, request)
        commands = commands_of_request(loaded, request) if loaded.report.is_ok else []
        is_shown, self._shown = self._shown == launch, launch
        if commands and not is_shown:
            raise BackendError(f"enter once more starts it as it is. {_commands_text(commands)}")
        return digests_of_commands(self._journal, commands)


def _shown_draft(draft: "ProjectDraft") -> NewPipelineDraft:
    return NewPipelineDraft(
        diff=tuple(draft.diff_lines()), files=tuple(one_line(file.path, 200) for file in draft.files)
    )


def _commands_text(commands: "Sequence[AcceptedCommand]") -> str:
    more = f" (and {len(commands) - 1} more commands)" if len(commands) > 1 else ""
    step, command = one_line(commands[0].step, 60), one_line(commands[0].command, 200)
    return f"{step} runs {command}{more}: {one_line(commands[0].message, 300)}"


def _input_hint(pipeline: "Pipeline | None") -> str:
    if pipeline is None:
        return ""
    input_config = pipeline.input
    return one_line(
        f"for example {input_config.example}" if input_config.example else input_config.source, _LONGEST_HINT
    )


def _planned_steps(pipeline: "Pipeline", manifest: "Manifest | None") -> Iterator[PlannedStep]:
    from workbench.pipelines.step_order import parallel_waves

    for number, names in enumerate(parallel_waves({step.id: step.needs for step in pipeline.steps}), 1):
        for name in names:
            yield _planned_step(pipeline.step(name), number, manifest)


def _planned_step(step: "Step", wave: int, manifest: "Manifest | None") -> PlannedStep:
    from workbench.pipelines.step_notes import step_notes

    asks, is_asking = _step_question(step, manifest)
    return PlannedStep(
        id=one_line(step.id, 120), wave=wave, kind=step.kind,
        who=one_line(step.persona or "agent", 60) if step.kind == "prompt" else step.kind,
        does=one_line(_step_text(step), _LONGEST_STEP_TEXT), asks=one_line(asks, 200), is_asking=is_asking,
        facts=one_line("  ".join(step_notes(step, manifest)), 160), cannot=one_line(step.unrunnable, 200),
    )  # fmt: skip


def _step_text(step: "Step") -> str:
    if step.gate is not None:
        return step.gate.prompt or step.source
    text = step.source or step.source_path
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _step_question(step: "Step", manifest: "Manifest | None") -> tuple[str, bool]:
    from workbench.pipelines.granted_patterns import allowed_patterns
    from workbench.pipelines.step_notes import wait_text

    if waits := wait_text(step):
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
    count = len(allowed_patterns(step, manifest))
    return "asks before its calls" + (f"; {count} may be granted" if count else ""), True


def _why_never_granted(pattern: str, known: "Mapping[str, ToolDescriptor]") -> str:
    """Return why calls like a pattern can never be let pass in a run; empty if they may."""
    from workbench.policy.rule_validation import rule_problems

    problems = rule_problems(
        tool=pattern.partition("(")[0].strip() or "*", pattern_kind="glob", pattern=pattern,
        description="granted for this run", known_tools=known, scope="run",
    )  # fmt: skip
    return one_line(problems[0].partition(": ")[2] or problems[0], 200) if problems else ""
