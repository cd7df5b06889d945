"""The command lines that the expression of a rule is about, where it is simple enough to be read.

An expression matches a call as JSON, `{"command":"git push"}`. A part of any text, such as `.*`, becomes a
space, as a star of a permission pattern does.
"""

import importlib
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any, Final, cast

_MOST_TEXTS: Final = 32
_MOST_CLASS_SIGNS: Final = 4
_ANY_TEXT: Final = "\0"
_LEAST_WORDS: Final = 2
"""Words that have to be known: a program and what it does, such as `git push`."""


class _Unreadable(Exception):
    """The expression has a part that names too many texts, or none."""


def commands_of_regex(pattern: str, parameter: str) -> tuple[str, ...] | None:
    """Return the command lines of a valid expression; None if it does not show them.

    `parameter` is the one that holds the command.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = importlib.import_module("re._parser").parse(pattern)
    if int(parsed.state.flags) & (re.IGNORECASE | re.VERBOSE):
        return None
    try:
        commands = [_command_in(text, parameter) for text in _texts(parsed)]
    except _Unreadable:
        return None
    return tuple(dict.fromkeys(commands))


def _texts(nodes: Iterable[Any]) -> list[str]:
    """Return the texts that a sequence of parts matches."""
    whole = [""]
    for operation, argument in nodes:
        parts = _part_texts(str(operation), argument)
        whole = ["".join(pair) for pair in islice(product(whole, parts), _MOST_TEXTS + 1)]
        if len(whole) > _MOST_TEXTS:
            raise _Unreadable
    return whole


def _part_texts(operation: str, argument: Any) -> Sequence[str]:
    match operation:
        case "LITERAL":
            return (chr(argument),)
        case "AT":
            return ("",)
        case "ANY" | "NOT_LITERAL":
            return (_ANY_TEXT,)
        case "IN":
            return tuple(_class_texts(argument))
        case "SUBPATTERN" if not argument[1] and not argument[2]:
            return _texts(argument[3])
        case "BRANCH":
            return [text for branch in argument[1] for text in _texts(branch)]
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _repeated_texts(*argument)
        case _:
            raise _Unreadable


def _class_texts(items: Sequence[Any]) -> Iterator[str]:
    signs = [value for kind, value in items if str(kind) == "LITERAL"]
    is_few = len(signs) == len(items) <= _MOST_CLASS_SIGNS
    yield from map(chr, cast("list[int]", signs)) if is_few else (_ANY_TEXT,)


def _repeated_texts(least: int, most: int, body: Any) -> Sequence[str]:
    texts = _texts(body)
    if all(set(text) == {_ANY_TEXT} for text in texts):
        return (_ANY_TEXT,)
    if (least, most) == (0, 1):
        return ("", *texts)
    if least == most == 1:
        return texts
    raise _Unreadable


def _command_in(text: str, parameter: str) -> str:
    """Return the command of a call as JSON, which may be cut off at both ends."""
    found = re.search(rf'"{re.escape(parameter)}":"((?:[^"\\]|\\.)*)', text, re.DOTALL)
    known = (found[1] if found else "").partition(_ANY_TEXT)
    if not found or (known[1] and len(known[0].split()) < _LEAST_WORDS):
        raise _Unreadable
    try:
        return str(json.loads(f'"{found[1].replace(_ANY_TEXT, " ")}"')).strip()
    except ValueError:
        raise _Unreadable from None
