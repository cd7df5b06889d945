"""What a denial means, in words and by lines that it stops."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from workbench.domain.rows import Rule
from workbench.policy.permissions import parse_permission, stops_command
from workbench.policy.shell.analysis import view_command
from workbench.policy.shell.denials import Denial, parse_denial
from workbench.policy.shell.option_reading import CommandReading, GivenOption, OptionName, option_row
from workbench.policy.shell.option_synonyms import EQUAL_OPTIONS, IMPLIED_OPTIONS, SIMILAR_OPTIONS
from workbench.text.safe import one_line

_EXAMPLES: Final = 3
_COMMAND_TOOLS: Final = frozenset({"Bash", "run_in_terminal", "*"})
_OPERANDS: Final = {
    "git push": "origin main", "rm": "build", "chmod": "build", "curl": "https://example.com",
    "docker run": "alpine", "kill": "4711", "git reset": "HEAD~1",
}  # fmt: skip
"""Words that an example of a command needs."""
_OPERAND_SYNONYMS: Final = {
    ("git push", "--force"): ("+BRANCH", "git push origin +main"),
    ("git push", "--delete"): (":BRANCH", "git push origin :main"),
}
"""Operands that mean an option, and an example."""


class DenialSense(Struct, frozen=True, kw_only=True):
    """How a denial is understood."""

    text: str
    examples: tuple[str, ...] = ()
    """Commands that it stops: each of them was tried."""


@lru_cache(maxsize=256)
def denial_sense(pattern: str) -> DenialSense | None:
    """Return how a pattern that denies commands is understood; None where it is about something else."""
    parsed = parse_permission(pattern)
    if parsed.name not in _COMMAND_TOOLS or parsed.problem is not None:
        return None
    if parsed.is_bare or parsed.argument is None:
        return DenialSense(text="every command")
    denial = parse_denial(parsed.argument)
    text = _text_sense(parsed.argument) if denial is None else _meaning(denial)
    candidates = _text_examples(parsed.argument) if denial is None else _examples(denial, parsed.argument)
    stopped = (line for line in dict.fromkeys(candidates) if stops_command(pattern, view_command(line)))
    return DenialSense(
        text=text, examples=tuple(line for line, _ in zip(stopped, range(_EXAMPLES), strict=False))
    )


def rule_sense(rule: Rule) -> DenialSense | None:
    """Return how a rule is understood that denies commands or asks about them; None for any other rule."""
    if rule.effect == "allow" or rule.pattern_kind != "glob":
        return None
    return denial_sense(rule.pattern)


def sense_facts_by_rule(rules: Iterable[Rule]) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return by number how rules are understood that deny commands, as facts: `means`, and `stops` thrice."""
    senses = ((rule.id, rule_sense(rule)) for rule in rules)
    return {
        number: (("means", sense.text), *(("stops", line) for line in sense.examples))
        for number, sense in senses
        if sense is not None
    }


def _text_sense(argument: str) -> str:
    why = "" if "*" in argument else ", and nothing else"
    return f"compared as text: commands that read {one_line(argument, 120)}{why}"


def _text_examples(argument: str) -> Iterator[str]:
    whole = f"{argument.removesuffix(':*')} *" if argument.endswith(":*") else argument
    for filler in ("x", "x y", ""):
        yield " ".join(whole.replace("*", filler).split())


# --- in words ------------------------------------------------------------------------------------------


def _meaning(denial: Denial) -> str:
    reading = denial.reading
    words = [reading.key, *(names[0] for names in reading.operands)]
    options = [_option_meaning(reading, option) for option in reading.options]
    if denial.inner is not None:
        return f"{' with '.join([reading.key, *options])} that runs {_meaning(denial.inner)}"
    if not options:
        return (
            f"every {' '.join(words)}" if denial.is_open else f"{' '.join(words)} alone, by any of its names"
        )
    text = f"{' '.join(words)} with {' and '.join(options)}, in any order and spelling"
    if not reading.is_listed:
        text += f"; any other option of {reading.key} asks, because its options are not known here"
    else:
        similar = sorted({name for option in reading.options for name in _similar_names(option)})
        text += f"; {', '.join(similar)} ask{'s' * (len(similar) == 1)}" if similar else ""
    return text if denial.is_open else f"{text}; with more words it asks"


def _option_meaning(reading: CommandReading, option: GivenOption) -> str:
    key = reading.key
    value = "" if option.value is None else f" {option.value}"
    others = [name for name in option.names if name != option.name and option.row]
    others += sorted(_containing_names(reading, option))
    others += [_OPERAND_SYNONYMS[key, option.name][0]] if (key, option.name) in _OPERAND_SYNONYMS else []
    also = f" (also {', '.join(others)})" if others else ""
    return f"{one_line(option.name, 60)}{one_line(value, 40)}{also}"


def _containing_names(reading: CommandReading, option: GivenOption) -> Iterator[str]:
    """Yield the options that mean this one and more, or this one and the others of the denial."""
    wanted = {*option.names, *(f"{name}={option.value}" for name in option.names)}
    denied = {name for each in reading.options for name in each.names}
    for name, others in EQUAL_OPTIONS.get(option.row, {}).items():
        if not wanted.isdisjoint(others) and denied.issuperset(others):
            yield name
    for name, others in IMPLIED_OPTIONS.get(option.row, {}).items():
        if not wanted.isdisjoint(others):
            yield name


def _similar_names(option: GivenOption) -> Iterator[str]:
    for name, others in SIMILAR_OPTIONS.get(option.row, {}).items():
        if not set(option.names).isdisjoint(others) and name not in option.names:
            yield name


# --- by example ----------------------------------------------------------------------------------------


def _examples(denial: Denial, argument: str) -> Iterator[str]:
    """Yield lines that a denial stops: other names, other order, with other options, by other words."""
    reading = denial.reading
    if denial.inner is not None:
        yield from (f"{reading.key} {line}" for line in _examples(denial.inner, ""))
        return
    operands = " ".join(names[0] for names in reading.operands) or _OPERANDS.get(reading.key, "")
    spelled = [_spellings(option) for option in reading.options]
    shortest = " ".join(_bundled(min(each, key=len) for each in spelled))
    longest = " ".join(max(each, key=len) for each in spelled)
    yield _line(reading.key, operands, shortest)
    for option in reading.options:
        if (synonym := _OPERAND_SYNONYMS.get((reading.key, option.name))) is not None:
            yield synonym[1]
        for name in sorted(_containing_names(reading, option)):
            yield _line(reading.key, f"{name} x" if _takes_value(option.row, name) else name, operands)
    yield _line(reading.key, longest, operands)
    yield _line(reading.key, _other_flag(reading.key, reading.options), longest, operands)
    yield _line(reading.key, shortest, operands)
    yield from _text_examples(argument)


def _line(*parts: str) -> str:
    return " ".join(filter(None, parts)).replace("*", "x")


def _spellings(option: GivenOption) -> list[str]:
    names = option.names if option.row else (option.name,)
    if option.value is None:
        return list(names)
    return [f"{name} {option.value}" for name in names]


def _bundled(options: Iterable[str]) -> Iterator[str]:
    """Yield options with their letters in one word, in reverse order."""
    words = list(options)
    letters = [word for word in words if len(word) == 2]
    if len(letters) > 1:
        yield "-" + "".join(word[1] for word in reversed(letters))
        words = [word for word in words if word not in letters]
    yield from words


def _takes_value(key: str, name: str) -> bool:
    row = option_row(key)
    return row is not None and name in row.by_name and row.by_name[name].takes == ":"


def _other_flag(key: str, given: Sequence[GivenOption]) -> str:
    row = option_row(key)
    names = {name for option in given for name in option.names}
    options: tuple[OptionName, ...] = row.options if row is not None else ()
    for wanted in ("--quiet", "--verbose", "-v"):
        for option in options:
            if wanted in option.names and names.isdisjoint(option.names) and not option.takes:
                return wanted
    return ""
