"""A new pipeline as the screen makes one: what it starts from, what is kept, and its files as a diff."""

from msgspec import Struct


class NewPipelineRow(Struct, frozen=True, kw_only=True):
    """A template, or a step of a session."""

    id: str
    kind: str
    about: str


class NewPipelineSource(Struct, frozen=True, kw_only=True):
    """What a pipeline can be made from: the templates, or the steps of one session."""

    rows: tuple[NewPipelineRow, ...]
    session_id: str = ""
    """Empty for templates."""
    left_out: tuple[str, ...] = ()
    """What of the session is not a step."""


class NewPipelineRequest(Struct, frozen=True, kw_only=True):
    """What was chosen: a template, or a session and the steps that are kept."""

    template: str = ""
    session_id: str = ""
    steps: tuple[str, ...] = ()


class NewPipelineDraft(Struct, frozen=True, kw_only=True):
    """The files as they would be."""

    diff: tuple[str, ...]
    """Lines of a unified diff."""
    files: tuple[str, ...]
    """Relative to the project; the pipeline is the last."""
