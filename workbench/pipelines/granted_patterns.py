"""Patterns of calls that the personas of a pipeline may be granted for a run."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.pipelines import load
from workbench.pipelines.model import Manifest, PermissionPattern, Step

if TYPE_CHECKING:
    from collections.abc import Sequence


def granted_patterns(loaded: load.LoadedPipeline) -> tuple[str, ...]:
    """Return the patterns that the personas of the pipeline's steps may use, each once."""
    return patterns_of_steps(loaded.pipeline.steps if loaded.pipeline else (), loaded.manifest)


def patterns_of_steps(steps: Iterable[Step], manifest: Manifest | None) -> tuple[str, ...]:
    """Return the patterns that the personas of some steps may use, each once."""
    return tuple(
        dict.fromkeys(pattern.text for step in steps for pattern in allowed_patterns(step, manifest))
    )


def allowed_patterns(step: Step, manifest: Manifest | None) -> tuple[PermissionPattern, ...]:
    """Return the patterns that the persona of a step may use, its own or else its adapter's."""
    persona = manifest.personas.get(step.persona) if manifest and step.kind == "prompt" else None
    if manifest is None or persona is None:
        return ()
    adapter = manifest.adapters.get(step.adapter or persona.adapter)
    if adapter is None or not adapter.is_built_in:
        return ()  # another program makes its own calls: nothing here asks about them
    return (persona.permissions or adapter.permissions).allowed


def still_asked(patterns: "Sequence[str]") -> tuple[str, ...]:
    """Return what asks also where these patterns are granted for a run, in words."""
    from workbench.policy.permissions import TOOL_ALIASES, parse_permission

    shell = ("Bash", *TOOL_ALIASES["Bash"])
    commands = [parsed for parsed in map(parse_permission, patterns) if parsed.name in shell]
    places = "what git or another program runs by itself, and of the files that control this workspace"
    lines = [f"changes of {places}; hidden characters"]
    if commands and not any(parsed.is_bare for parsed in commands):
        unread = "redirects, $(…), loops, here-documents, or words not known to be harmless"
        lines.insert(0, f"commands with {unread}")
    if not commands:
        lines.insert(0, "every command")
    return tuple(lines)
