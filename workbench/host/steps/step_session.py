"""The events that start the session of an agent step, with its provider or its recording."""

import hashlib
from pathlib import Path

from msgspec.structs import replace

from workbench.config.keys import RECORDED
from workbench.config.types import Config
from workbench.domain.events import (
    Event,
    PromptSubmitted,
    SessionCreated,
)
from workbench.domain.step_messages import StepSpec
from workbench.domain.values import Json
from workbench.effects.path_files import read_bounded
from workbench.host import redaction
from workbench.host.driver_context import DriverContext, host_actor
from workbench.host.instruction_files import SessionInstructions, step_instructions
from workbench.host.model_selection import model_of_step
from workbench.host.session_provider import plays_recording
from workbench.pipelines.compaction import RELAY_PART
from workbench.policy.levels import lower_level
from workbench.providers.recording import RecordingBroken, load_recording

RECORDINGS_FOLDER = ".workbench/recordings"
"""Where the recordings of personas are that have `provider: recorded`, one a step."""


class RecordingMissing(Exception):
    """A step has no recording in the folder that the run was given."""


def child_session_events(context: DriverContext, spec: StepSpec, run_id: str, recordings: str) -> list[Event]:
    """Return the events that begin the child session of an attempt; may raise RecordingMissing."""
    config = context.read_settings().config
    provider, model, configuration = _provider_and_model(context, config, spec, recordings)
    instructions = SessionInstructions(system_prompt=str(spec.persona.get("prompt") or ""))
    if not plays_recording(provider, config):
        folders = (spec.workspace, context.workspace)
        instructions = step_instructions(
            context.journal, instructions.system_prompt, folders, config.instruction_files
        )
    created = SessionCreated(
        session_kind="step", parent_id=run_id, provider=provider, model=model,
        configuration={**configuration, **instructions.configuration, **_sandbox_setting(config, spec)},
    )  # fmt: skip
    return step_session_events(context, spec, created, instructions.system_prompt)


def _sandbox_setting(config: Config, spec: StepSpec) -> dict[str, Json]:
    """Return the level of the sandbox that a step names for its agent; a file only narrows the settings."""
    level = spec.sandbox
    return {} if level is None else {"sandbox": lower_level(level, config.sandbox.level)}


def step_session_events(
    context: DriverContext, spec: StepSpec, created: SessionCreated, system_prompt: str
) -> list[Event]:
    """Return the events that begin the session of a step: `created` completed, and the step's prompt."""
    journal = context.journal
    session_id, actor = journal.clock.new_id(), host_actor()
    system, system_ref = redaction.redact_and_seal_text(system_prompt, journal.blobs)
    prompt, prompt_ref = redaction.redact_and_seal_text(spec.source, journal.blobs)
    created = replace(
        created, title=redaction.redact_line(spec.title, 120), workspace=spec.workspace,
        system_prompt=system, system_prompt_ref=system_ref, telemetry_id=journal.clock.new_id(),
    )  # fmt: skip
    bodies = (created, PromptSubmitted(text=prompt, text_ref=prompt_ref))
    return [journal.event(body, session_id, actor, step=spec.title) for body in bodies]


def _provider_and_model(
    context: DriverContext, config: Config, spec: StepSpec, recordings: str
) -> tuple[str, str, dict[str, Json]]:
    persona = spec.persona
    configuration: dict[str, Json] = {}
    if persona.get("temperature") is not None:
        configuration["temperature"] = persona["temperature"]
    provider, model = model_of_step(
        config, str(persona.get("provider") or ""), str(persona.get("model") or "")
    )
    if not recordings and persona.get("provider") == RECORDED.name:
        recordings = f"{context.workspace}/{RECORDINGS_FOLDER}"
    if not recordings:
        return provider, model, configuration
    path = _recording_path(recordings, spec)
    data = read_bounded(path) or b""
    configuration["recording"] = {"path": str(path), "sha256": hashlib.sha256(data).hexdigest()}
    return RECORDED.name, model or _recorded_model(path), configuration


def _recorded_model(path: Path) -> str:
    """Return the model that a recording names, by which its tokens are priced."""
    try:
        return load_recording(path).model
    except RecordingBroken:
        return RECORDED.name  # why it is broken is said when it is played


def _recording_path(folder: str, spec: StepSpec) -> Path:
    step = spec.id.step
    names = (f"{step}.{spec.id.attempt}", step, step.partition("[")[0])
    if part := spec.id.part:
        same = dict.fromkeys((part, part.partition("-")[0]))  # the second review has that of the first
        own = tuple(f"{head}.{name}" for name in same for head in (f"{step}.{spec.id.attempt}", step))
        names = (*own, *names) if part.startswith(RELAY_PART) else own
    for name in names:
        path = Path(folder) / f"{name}.json"
        if path.is_file():
            return path.resolve()
    raise RecordingMissing(f"there is no recording {names[-1]}.json in {folder}")
