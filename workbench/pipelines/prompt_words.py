"""Words in double braces that are text of a prompt, such as `{{ variable }}` in a sentence on templates."""

# A prompt is prose: it may explain the templates of another program. A command, a path or a condition is not,
# and there such a word is an error. So is one in a prompt that refers to a step, or is a name misspelled.

from collections.abc import Iterable
from typing import Final

from workbench.pipelines import templates
from workbench.pipelines.model import Step
from workbench.text.nearest import nearest_name

_LIKENESS: Final = 0.75
"""From which a word is taken for a misspelled name."""


def known_template_names(step: Step) -> frozenset[str]:
    """Return the template names that a step has besides `step/artifact`."""
    injected = {injection.name for injection in step.injections}
    named = {f"artifacts.{name}" for name in injected}
    return templates.ALWAYS_KNOWN | injected | named | {f"{name}.path" for name in named}


def is_text_of_prompt(name: str, step: Step, step_ids: Iterable[str]) -> bool:
    """Return whether the name of a template is a word of a prompt's text: one like no name of the step."""
    names = {*known_template_names(step), *templates.ITEM_NAMES, *step_ids}
    return name.isidentifier() and not nearest_name(name, names, _LIKENESS)
