"""The steps of a session: prompts of the human, and commands that succeeded, in their order. Pure.

Texts are those that were recorded, so secrets are replaced in them; a step that has one is left out.
"""

import os
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import CallFinished, CallProposed, Event, PromptSubmitted, PromptWithdrawn
from workbench.domain.tools import BuiltInTool
from workbench.pipelines.templates import template_names
from workbench.text.human import counted
from workbench.text.safe import one_line
from workbench.text.unused_names import unused_name

MOST_STEPS: Final = 200
_MOST_TEXT: Final = 20_000
_MOST_NAME: Final = 32
_NAME_WORDS: Final = 4
_SECRET_MARK: Final = "⟨secret: "
_COMMAND_TOOLS: Final = frozenset(
    {BuiltInTool.RUN_IN_TERMINAL.id, "Bash", "bash", "shell", "run_shell_command"}
)
_SMALL_WORDS: Final = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "i", "in", "is", "it", "its",
        "me", "my", "of", "on", "or", "our", "please", "so", "that", "the", "then", "this", "to", "us",
        "we", "with",
    }
)  # fmt: skip


class SessionStep(Struct, frozen=True, kw_only=True):
    """A step that a session would have as a pipeline."""

    id: str
    kind: Literal["prompt", "command"]
    text: str


class SessionSteps(Struct, frozen=True, kw_only=True):
    """What can be made of a session."""

    steps: tuple[SessionStep, ...]
    left_out: tuple[str, ...]
    """What is not a step, a sentence each."""


class _Draft(Struct, frozen=True, kw_only=True):
    kind: Literal["prompt", "command"]
    text: str
    key: str
    """Of the event of a prompt, or of the call."""
    cwd: str = ""


def session_steps(events: Iterable[Event], workspace: str) -> SessionSteps:
    """Return the steps of a session's events. `workspace`: the folder that it worked in."""
    drafts, failed = _drafts(events)
    steps: list[SessionStep] = []
    left_out: list[str] = [f"{counted(failed, 'command')} that did not succeed"] if failed else []
    used: set[str] = set()
    repeated = 0
    for index, draft in enumerate(drafts):
        if _is_repeated(drafts, index):
            repeated += 1
            continue
        if why := _why_not(draft, workspace) or ("there are too many" if len(steps) >= MOST_STEPS else ""):
            left_out.append(f"the {draft.kind} “{one_line(draft.text, 60)}”: {why}")
            continue
        text = _in_folder(draft, workspace)
        name = unused_name(_step_name(draft), used)
        used.add(name)
        steps.append(SessionStep(id=name, kind=draft.kind, text=text))
    if repeated:
        left_out.append(
            f"{counted(repeated, 'command')} that ran again before the next prompt: once is enough"
        )
    return SessionSteps(steps=tuple(steps), left_out=tuple(left_out))


def renamed(steps: Iterable[SessionStep], name: str, new: str) -> tuple[SessionStep, ...]:
    """Return steps with one renamed, to a name that `step_name_refusal` allows."""
    return tuple(replace(step, id=new) if step.id == name else step for step in steps)


def _drafts(events: Iterable[Event]) -> tuple[list[_Draft], int]:
    drafts: dict[str, _Draft] = {}
    commands: dict[str, _Draft] = {}
    failed = 0
    for event in events:
        match event.body:
            case PromptSubmitted() as body if not body.asks_again and not body.incident:
                drafts.pop(body.replaces_id, None)
                drafts[event.id] = _Draft(kind="prompt", text=body.text.strip(), key=event.id)
            case PromptWithdrawn() as body:
                drafts.pop(body.prompt_id, None)
            case CallProposed() as body if event.call_id and body.tool in _COMMAND_TOOLS:
                command = body.parameters.get("command")
                if isinstance(command, str):
                    commands[event.call_id] = _Draft(
                        kind="command", text=command.strip(), key=event.call_id, cwd=body.cwd
                    )
            case CallFinished() as body if event.call_id in commands:
                if body.state == "succeeded" and not body.exit_code:
                    drafts[event.call_id] = commands[event.call_id]
                else:
                    failed += 1
            case _:
                pass
    return [draft for draft in drafts.values() if draft.text], failed


def _is_repeated(drafts: list[_Draft], index: int) -> bool:
    """Return whether a command runs again before the next prompt: the last time counts."""
    own = drafts[index]
    for later in drafts[index + 1 :] if own.kind == "command" else ():
        if later.kind == "prompt":
            return False
        if (later.text, later.cwd) == (own.text, own.cwd):
            return True
    return False


def _why_not(draft: _Draft, workspace: str) -> str:
    if _SECRET_MARK in draft.text:
        return "a secret in it was replaced"
    if len(draft.text) > _MOST_TEXT:
        return "it is too long"
    if next(template_names(draft.text), None) is not None:
        return "it has {{ }} in it, which a pipeline would fill in"
    if draft.cwd and _relative(draft.cwd, workspace).startswith(".."):
        return "it ran outside the folder"
    return ""


def _relative(folder: str, workspace: str) -> str:
    return os.path.relpath(folder, workspace)


def _in_folder(draft: _Draft, workspace: str) -> str:
    folder = _relative(draft.cwd, workspace) if draft.cwd else "."
    return draft.text if folder == "." else f"cd {shlex.quote(folder)}\n{draft.text}"


# --- names --------------------------------------------------------------------------------------------


def _step_name(draft: _Draft) -> str:
    words = _command_words(draft.text) if draft.kind == "command" else _prompt_words(draft.text)
    return _slug("-".join(list(words)[:_NAME_WORDS])) or draft.kind


def _prompt_words(text: str) -> Iterator[str]:
    yield from (word for word in re.findall(r"[^\W_]+", text[:400]) if word.lower() not in _SMALL_WORDS)


def _command_words(text: str) -> Iterator[str]:
    for word in text.splitlines()[0][:400].split():
        name = word.rstrip("/").rpartition("/")[2]
        if re.match(r"[^\W_]", name) and "=" not in name:
            yield name


def _slug(text: str) -> str:
    """Return a text as the id of a step: letters, digits and hyphens, cut at a word."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9_]+", "-", plain.lower()).strip("-_")
    cut = name[:_MOST_NAME]
    return cut if len(name) <= _MOST_NAME else cut.rpartition("-")[0] or cut


def title_name(title: str) -> str:
    """Return a name for a pipeline made of the words of a session's title."""
    return _slug("-".join(list(_prompt_words(title))[:_NAME_WORDS])) or "session"
