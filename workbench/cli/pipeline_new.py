"""`workbench pipeline new`: a pipeline from a template, or of what was done in a session."""

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Final

from workbench.cli.arguments import add_json_option, add_yes_option
from workbench.cli.console import Console
from workbench.cli.context import find_session
from workbench.cli.errors import Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.pipeline_drafts import NOTHING, offer_draft
from workbench.effects.files import workspace_path
from workbench.pipelines.draft_names import step_name_refusal
from workbench.pipelines.new_pipeline import (
    TEMPLATE_NAMES,
    draft_of_session,
    draft_of_template,
    pipeline_templates,
)
from workbench.pipelines.project_drafts import ProjectDraft
from workbench.pipelines.session_steps import SessionStep, SessionSteps, renamed, session_steps, title_name
from workbench.text.safe import one_line

NEW_EXAMPLE: Final = """workbench pipeline new
workbench pipeline new shipping --template release
workbench pipeline new nightly --from-session 4f1c"""
_RENAMING: Final = re.compile(r"([0-9]{1,4})=(\S+)")
_LONGEST_SHOWN: Final = 100


def configure_new(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="what the pipeline is called")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--template", choices=TEMPLATE_NAMES, help="what it starts from; not given: asks")
    source.add_argument(
        "--from-session", metavar="ID", help="make its steps of the prompts and commands of a session"
    )
    add_yes_option(parser)
    add_json_option(parser)


def execute_new(options: Namespace, console: Console) -> int:
    """Make a pipeline; 1 where that was declined or is not possible."""
    if options.from_session:
        draft, notes = _draft_of_session(options, console)
    else:
        template = options.template or _asked_template(console)
        draft, notes = draft_of_template(workspace_path(options.directory), template, options.name), ()
    name = draft.files[-1].path.rpartition("/")[2].removesuffix(".yaml")
    steps = (f"workbench pipeline run {name} --dry-run", f"workbench pipeline run {name}")
    return offer_draft(draft, options, console, notes=notes, next_steps=steps)


def _asked_template(console: Console) -> str:
    """List the templates and ask for one."""
    if not console.can_ask:
        remedy = f"name one with --template: {', '.join(TEMPLATE_NAMES)}"
        raise UsageError(NOTHING, "no template was chosen, and there is no terminal to ask at", remedy)
    templates = pipeline_templates()
    console.say_lines(
        f"  {number}  {one.name:<8} {one.description}" for number, one in enumerate(templates, 1)
    )
    console.write("Which one? Type its number or name: ")
    answer = sys.stdin.readline().strip()
    for number, one in enumerate(templates, 1):
        if answer in (str(number), one.name):
            return one.name
    raise Refusal(NOTHING, "no template was chosen", "do it again with --template")


# --- of a session -------------------------------------------------------------------------------------


def _draft_of_session(options: Namespace, console: Console) -> tuple[ProjectDraft, tuple[str, ...]]:
    with open_journal() as journal:
        session = find_session(journal, options.from_session)
        found = session_steps(journal.events(session.id), session.workspace)
    if not found.steps:
        why = f"“{one_line(session.title, 60)}” has no prompt and no command that succeeded"
        raise Refusal(NOTHING, why, "choose another session: workbench sessions list")
    left_out = tuple(f"Not a step: {words}" for words in found.left_out)
    steps = found.steps if options.yes or options.json else _edited(found, console)
    name = options.name or title_name(session.title)
    workspace = workspace_path(options.directory)
    return draft_of_session(workspace, steps, name, session.title), left_out


def _edited(found: SessionSteps, console: Console) -> tuple[SessionStep, ...]:
    """Let steps be left out and renamed, as often as wanted."""
    steps = found.steps
    while console.can_ask:
        console.say_lines(_step_lines(steps))
        console.write("Numbers to leave out, NUMBER=NAME to rename, or enter to continue: ")
        answer = sys.stdin.readline()
        if not answer.strip():
            break
        steps = _changed(steps, answer.split(), console)
    return steps


def _step_lines(steps: tuple[SessionStep, ...]) -> Iterator[str]:
    width = max((len(step.id) for step in steps), default=0)
    for number, step in enumerate(steps, 1):
        kind = "agent  " if step.kind == "prompt" else "command"
        yield f"{number:>4}  {step.id:<{width}}  {kind}  {one_line(step.text, _LONGEST_SHOWN)}"


def _changed(steps: tuple[SessionStep, ...], words: list[str], console: Console) -> tuple[SessionStep, ...]:
    """Return steps without those whose number was typed, and with the new names."""
    left_out: set[str] = set()
    after = steps
    for word in words:
        renaming = _RENAMING.fullmatch(word)
        number = int(renaming[1]) if renaming else int(word) if re.fullmatch(r"[0-9]{1,4}", word) else 0
        if not 1 <= number <= len(steps):
            console.note(f"“{one_line(word, 40)}” is neither a number of the list nor NUMBER=NAME.")
            return steps
        if renaming:
            old, name = after[number - 1].id, renaming[2]
            if why := step_name_refusal(name, {step.id for step in after} - {old}):
                console.note(f"{why} Nothing was changed.")
                return steps
            after = renamed(after, old, name)
        else:
            left_out.add(after[number - 1].id)
    return tuple(step for step in after if step.id not in left_out)
