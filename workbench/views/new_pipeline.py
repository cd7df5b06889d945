"""A new pipeline as the screen makes one: what it starts from, what is kept, and its files as a diff."""

from msgspec import Struct


class NewPipelineRow(Struct, frozen=True, kw_only=True):
    """A template, or a step of a session."""

    id: str
    kind: str
    about: str
    name: str
    """What the template's pipeline, or the step, is called unless it is renamed."""


class NewPipelineSource(Struct, frozen=True, kw_only=True):
    """What a pipeline can be made from: the templates, or the steps of one session."""

    rows: tuple[NewPipelineRow, ...]
    session_id: str = ""
    """Empty for templates."""
    name: str = ""
    """What the pipeline of the session is called unless it is renamed; empty for templates."""
    used_names: tuple[str, ...] = ()
    """Of the project's pipelines: a new one needs another name."""
    left_out: tuple[str, ...] = ()
    """What of the session is not a step."""


class KeptStep(Struct, frozen=True):
    """A step of a session as the pipeline has it."""

    id: str
    """As the row of the session's step."""
    name: str


class NewPipelineRequest(Struct, frozen=True, kw_only=True):
    """What was chosen: a template, or a session and the steps that are kept."""

    name: str
    """Of the pipeline."""
    template: str = ""
    session_id: str = ""
    steps: tuple[KeptStep, ...] = ()


class NewPipelineDraft(Struct, frozen=True, kw_only=True):
    """The files as they would be."""

    diff: tuple[str, ...]
    """Lines of a unified diff."""
    files: tuple[str, ...]
    """Relative to the project; the pipeline is the last."""


class WrittenPipeline(Struct, frozen=True, kw_only=True):
    """A pipeline that was written."""

    file: str
    """Relative to the project."""
    asks_for_trust: bool
    """Whether the trust question of the folder waits in the queue."""
