"""What the agent of a step is told besides its prompt: its thread, the skills, the contracts."""

from collections.abc import Callable

from workbench.pipelines.contract_words import contract_words
from workbench.pipelines.model import Contract
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.skills import skill_names, skill_words
from workbench.pipelines.state import StepRun
from workbench.pipelines.template_values import TemplateValues
from workbench.pipelines.threads import thread_words


def words_besides_prompt(
    context: RunContext, step_run: StepRun, values: TemplateValues, source_of: Callable[[Contract], str]
) -> tuple[list[str], list[str]]:
    """Return the paragraphs that stand before the prompt of a step, and those that stand after it."""
    step, files = values.step, context.definition.files()
    thread = thread_words(step, step_run, context.pipeline, context.state, context.journal.unseal)
    names = skill_names(context.manifest, context.pipeline, step, values.fill)
    agents = (
        f"You may work with up to {step.most_agents} agents of your own at once."
        if step.most_agents > 1
        else ""
    )
    after = (
        skill_words(names, files), contract_words(step.contracts, files, source_of, values.fill), agents,
    )  # fmt: skip
    return list(filter(None, (thread,))), list(filter(None, after))
