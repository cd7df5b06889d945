"""What is said about connections of other agents, on the command line and on the screen."""

from collections.abc import Iterator, Sequence
from typing import Final

from workbench.bridge.agent_modes import AGENT_SETTINGS
from workbench.bridge.agents import HookedAgent, Scope
from workbench.domain.rows import Rule
from workbench.host.found_agents import FoundAgent
from workbench.host.reading_rules import READING_PATTERNS
from workbench.text.safe import one_line

SCOPE_WORDS: Final[dict[Scope, str]] = {
    "all": "every edit and command", "asked": "what it would ask about itself",
}  # fmt: skip


def scope_sentences(found: FoundAgent) -> dict[Scope, str]:
    """Return what each scope of an agent means, in its present mode."""
    name, mode = found.agent.name, found.mode
    now = f" In its mode now ({one_line(mode.name, 40)}) {mode.meaning}." if mode else ""
    sentences: dict[Scope, str] = {
        "all": f"every edit and command, whatever {name} would ask about itself.",
        "asked": f"only what {name} would ask about itself; its own dialog stays open next to the row.{now}",
    }
    return {scope: sentences[scope] for scope in found.agent.scopes}


def question_sentences(found: FoundAgent) -> Iterator[str]:
    """Yield what an agent asks its own user about: in its present mode, and next to the questions here."""
    mode, settings = found.mode, AGENT_SETTINGS[found.agent.id]
    if mode is not None:
        name = one_line(mode.name, 40)
        lead = f"Its mode now is {name}" if settings.mode_path else f"It has {name} instead of modes"
        yield f"{lead}: {one_line(mode.meaning, 400)}."
    yield settings.own_questions


def next_steps(agent: HookedAgent) -> Iterator[str]:
    """Yield what the user has to do in the agent itself."""
    if agent.trust_step:
        yield f"Still to do: {agent.trust_step}."
    yield f"Sessions of {agent.name} that are open now come here when they are started again."
    yield f"workbench connect --remove {agent.id} takes it back; do that before you uninstall workbench."


READING_SENTENCE: Final = (
    "Rules for every folder will allow calls that only read, inside the folder of a session: "
    f"{READING_PATTERNS}."
)


def reading_rule_lines(rules: Sequence[Rule]) -> Iterator[str]:
    """Yield which rules were added with a connection."""
    if rules:
        yield (
            f"{rules[0].id} to {rules[-1].id} allow calls that only read: {READING_PATTERNS}. "
            "workbench rules list shows them, and rules remove takes one back."
        )
