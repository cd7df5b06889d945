"""What a document says of itself and of its steps, read without pydantic: lists of pipelines need no more."""

from typing import Final

from workbench.domain.values import StepKind
from workbench.text.located import DocumentPlace, text_at
from workbench.text.safe import one_line

PIPELINE_KIND: Final = "WavePipeline"
MANIFEST_KIND: Final = "WaveManifest"


def is_pipeline(place: DocumentPlace) -> bool:
    """Return whether a document is read as a pipeline, reporting why it is not one.

    One of a wrong kind is read nevertheless, so that all that is wrong with it is reported at once.
    """
    kind, members = place.present("kind"), place.node.members or {}
    if kind is None and "steps" in members and "metadata" not in members:
        place.error(
            "old_shape",
            "this is the older shape of a pipeline, with name and steps at the top and no kind; "
            "write kind: WavePipeline, metadata.name, and steps with id, persona, exec",
        )
        return False
    if kind is not None and kind.node.value != PIPELINE_KIND:
        report_wrong_kind(kind, f"{PIPELINE_KIND} for a pipeline, or {MANIFEST_KIND} for a manifest")
    return kind is None or kind.node.value != MANIFEST_KIND


def report_wrong_kind(kind: DocumentPlace, kinds: str) -> None:
    """Report the kind of a document, naming those that there are."""
    kind.error("wrong_kind", f"kind has to be {kinds}, not {one_line(text_at(kind), 60)}")


def step_kind(place: DocumentPlace) -> StepKind:
    """Return what a step does, as its members say; where a matrix names a pipeline, it runs that instead."""
    written = scalar_text(place, "type")
    if written == "conditional":
        return "route"
    if place.present("gate") or written == "gate":
        return "gate"
    if place.present("aggregate"):
        return "aggregate"
    if place.present("pipeline") or place.present("branch") or written == "pipeline":
        return "pipeline"
    execution = place.present("exec")
    if written == "command" or place.present("script"):
        return "command"
    if execution is not None and scalar_text(execution, "type") == "command":
        return "command"
    loop = place.present("loop")
    is_loop = loop is not None and loop.node.members is not None
    return "route" if is_loop and execution is None and place.present("persona") is None else "prompt"


def scalar_text(place: DocumentPlace | None, name: str) -> str:
    """Return a member that is a text or a number as a text, without reporting any other."""
    member = place.present(name) if place else None
    is_scalar = member is not None and member.node.members is None and member.node.items is None
    return text_at(member) if member and is_scalar else ""
