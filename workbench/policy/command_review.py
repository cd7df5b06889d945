"""The simple commands of a shell line for review: what each does, and whether a rule may cover it."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.policy.shell.analysis import SimpleCommand, view_command
from workbench.policy.shell.command_paths import CommandBoundary, boundary_objections
from workbench.policy.shell.command_risk import assess_command
from workbench.policy.shell.risk_lists import (
    CODE_TAKERS,
    COMMAND_STARTERS,
    INTERPRETERS,
    NETWORK_PROGRAMS,
    OPERAND_WRITERS,
    REMOVING_PROGRAMS,
    WRAPPERS,
    program_and_subcommand,
    program_name,
)
from workbench.policy.shell.scanner import ScannedCommand, scan_commands
from workbench.policy.shell.variable_risk import ASSIGNMENT, assigned_name, variable_risk
from workbench.text.display import has_mixed_scripts
from workbench.text.safe import has_hidden_characters

CommandMark = Literal[
    "runs net", "network", "removes", "writes", "wrapper", "interpreter", "sets", "hidden", "mixed scripts"
]
MAX_COMMAND_PARTS: Final = 60
_MAX_REVIEWED_LENGTH: Final = 16_384
_CLOSING_KEYWORDS: Final = frozenset({"fi", "done", "esac", "}"})
_LOOP_HEADS: Final = frozenset({"for", "select", "case"})
_SUBSTITUTION: Final = "$()"
"""Stands for commands in brackets, which are parts of their own."""
_OUTPUT_REDIRECT: Final = re.compile(r"(?:[0-9]|&)?>[>|&]?")
_URL_HOST: Final = re.compile(r"(?:https?|ftp)://(?:[^/@\s]*@)?(\[[^\]]*\]|[^/:\s]+)")


class CommandPart(Struct, frozen=True, kw_only=True):
    """One simple command of a line."""

    text: str
    """Its words with one blank between them; raw."""
    does: tuple[str, ...] = ()
    """What it does besides running, in words."""
    marks: tuple[CommandMark, ...] = ()
    reasons: tuple[str, ...] = ()
    simple: SimpleCommand | None = None
    """As rules see it; None where it is not plain by itself."""


class CommandReview(Struct, frozen=True, kw_only=True):
    """A line taken apart."""

    parts: tuple[CommandPart, ...]
    reasons: tuple[str, ...]
    is_certain: bool
    left_out: int = 0


def review_command(command: str, boundary: CommandBoundary | None = None) -> CommandReview:
    """Take a line apart; never raises. Without a boundary, the paths that commands touch are not checked."""
    view = view_command(command, boundary and (boundary.folder or boundary.workspace))
    if len(command) > _MAX_REVIEWED_LENGTH:
        return CommandReview(parts=(), reasons=view.reasons or ("a very long line",), is_certain=False)
    commands = [
        ran
        for segment in scan_commands(command).segments
        if (ran := _without_keywords(segment, is_plain=view.plain))
    ]
    against = boundary_objections(view.commands, boundary) if boundary else ()
    touched = against if len(against) == len(commands) else ("",) * len(commands)
    parts: list[CommandPart] = []
    behind_net: int | None = None
    for number, (segment, why) in enumerate(zip(commands[:MAX_COMMAND_PARTS], touched, strict=False), 1):
        parts.append(_reviewed_part(segment, behind_net, why))
        behind_net = number if "network" in parts[-1].marks else None
    return CommandReview(
        parts=tuple(parts), reasons=tuple(dict.fromkeys(filter(None, (*view.reasons, *against)))),
        is_certain=view.is_certain, left_out=max(0, len(commands) - MAX_COMMAND_PARTS),
    )  # fmt: skip


def _without_keywords(segment: ScannedCommand, *, is_plain: bool) -> ScannedCommand | None:
    count = 0
    while count < len(segment.words) and segment.words[count] in COMMAND_STARTERS:
        count += 1
    words, bare = segment.words[count:], segment.bare[count:]
    is_head = words[:1] and words[0] in _LOOP_HEADS and not any(_written_reasons(words))
    is_group = words == (_SUBSTITUTION,) and is_plain
    if not words or words[0] in _CLOSING_KEYWORDS or is_head or is_group:
        return None
    return ScannedCommand(words=words, bare=bare)


def _reviewed_part(segment: ScannedCommand, behind_net: int | None, touched: str) -> CommandPart:
    written = list(segment.words)
    words = [word for word in _without_assignments(segment.bare or segment.words) if word] or list(written)
    name = program_name(words[0])
    judged = assess_command(words) if name not in _LOOP_HEADS else None
    reasons = dict.fromkeys(judged.reasons if judged else ())
    reasons.update(dict.fromkeys(_written_reasons(written)))
    marks, does = dict[CommandMark, None](), dict[str, None]()
    for mark, effect in _command_facts(name, words, written, behind_net):
        marks[mark] = None
        does[effect] = None
    if name == "cd":
        does[f"goes to {words[1] if len(words) > 1 else 'the home folder'}"] = None
    does = does or dict.fromkeys(reasons)
    if touched:
        reasons[touched] = does[touched] = None
    text = " ".join(written)
    by_itself = view_command(shlex.join(written))
    is_plain = by_itself.plain and len(by_itself.commands) == 1 and not reasons and "runs net" not in marks
    return CommandPart(
        text=text, does=tuple(does), marks=tuple(marks), reasons=tuple(reasons),
        simple=by_itself.commands[0] if is_plain else None,
    )  # fmt: skip


def _without_assignments(words: Sequence[str]) -> list[str]:
    count = 0
    while count < len(words) and ASSIGNMENT.match(words[count]):
        count += 1
    return list(words[count:])


def _written_reasons(written: Sequence[str]) -> Iterator[str]:
    for word in written[: len(written) - len(_without_assignments(written))]:
        if why := variable_risk(assigned_name(word)):
            yield why
    if any("$(" in word or "`" in word for word in written):
        yield "a substitution"
    elif any("$" in word for word in written):
        yield "an expansion"
    if _written_files(written):
        yield "a redirect to a file"


def _written_files(written: Sequence[str]) -> list[str]:
    targets: list[str] = []
    for index, word in enumerate(written):
        if sign := _OUTPUT_REDIRECT.match(word):
            target = word[sign.end() :] or (written[index + 1] if index + 1 < len(written) else "?")
            targets += [] if target == "/dev/null" or target.isdigit() or target == "-" else [target]
    return targets


def _command_facts(
    name: str, words: Sequence[str], written: Sequence[str], behind_net: int | None
) -> Iterator[tuple[CommandMark, str]]:
    operands = [word for word in words[1:] if not word.startswith("-")]
    yield from _run_facts(name, operands, behind_net)
    yield from _network_facts(name, words, operands)
    written_to = [
        *_written_files(written),
        *(operands[OPERAND_WRITERS[name] :] if name in OPERAND_WRITERS else ()),
    ]
    if written_to:
        yield "writes", f"writes {', '.join(written_to)}"
    if count := len(written) - len(_without_assignments(written)):
        yield "sets", f"sets {', '.join(word.partition('=')[0] for word in written[:count])}"
    if has_hidden_characters(" ".join(written)):
        yield "hidden", "holds characters that cannot be seen"
    if has_mixed_scripts(" ".join(written)):
        yield "mixed scripts", "mixes alphabets that look alike within a word"


def _run_facts(
    name: str, operands: Sequence[str], behind_net: int | None
) -> Iterator[tuple[CommandMark, str]]:
    if behind_net is not None and name in CODE_TAKERS:
        yield "runs net", f"runs what part {behind_net} loads, unseen"
    elif name in INTERPRETERS:
        yield "interpreter", f"{name} runs {operands[0] if operands else 'what it reads'}"
    if name in WRAPPERS:
        yield "wrapper", f"runs {operands[0]} by {name}" if operands else f"{name} runs other programs"


def _network_facts(
    name: str, words: Sequence[str], operands: Sequence[str]
) -> Iterator[tuple[CommandMark, str]]:
    names = program_and_subcommand(words)
    if names & NETWORK_PROGRAMS:
        hosts = ", ".join(dict.fromkeys(host for word in words for host in _URL_HOST.findall(word)))
        yield "network", f"network: {hosts}" if hosts else "reaches the network"
    if names & REMOVING_PROGRAMS:
        is_plain = name in ("rm", "rmdir")
        yield "removes", f"deletes {' '.join(operands)}" if is_plain else "removes or overwrites"
