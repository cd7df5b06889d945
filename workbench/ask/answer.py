"""What a model is asked for when it makes a command of words, and how its reply is read.

A command is text for a human. Nothing here runs it, and nothing hidden in it can be accepted.
"""

import json
import re
from collections.abc import Iterator
from typing import Final, cast

from msgspec import Struct

from workbench.domain.values import JsonObject
from workbench.text.safe import has_hidden_characters

SYSTEM_PROMPT: Final = """You turn a request in words into one shell command for a POSIX shell. Reply with a \
JSON object and nothing else: {"command": "the exact command to type", "explanation": "what its programs and \
options do, in one to three short sentences"}.

A human reads the command and decides; it is not run by itself. Prefer one line. Use what the preferences \
and the build tools of the folder offer. Never invent file names, hosts or secrets. When a later message \
says what is wrong with the command, reply with a better one in the same form."""
ANSWER_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "The exact shell command to execute"},
        "explanation": {"type": "string", "description": "Breakdown of the tools and flags used"},
    },
    "required": ["command", "explanation"],
    "additionalProperties": False,
}
"""The schema of seed S3, closed as the protocols of providers want it."""
MOST_COMMAND_CHARACTERS: Final = 100_000
_MOST_LOOKED_THROUGH: Final = 200_000
"""Characters of a reply with words around its JSON that are looked through."""
_MOST_STARTS: Final = 2_000
_MOST_TRIED: Final = 2_000_000
"""Characters that all starts together may be followed through: each may reach to the end of the reply."""
_FENCE: Final = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[^`]*+")
"""The line above a fenced block. Read line by line: one expression for whole blocks takes minutes of a reply
that opens thousands and ends none."""


_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")
"""What JSON can spell and no text can be."""


class Answer(Struct, frozen=True, kw_only=True):
    """What a model made of words; S3 Response."""

    command: str
    """Without blanks and line ends around it."""
    explanation: str

    @property
    def is_hidden(self) -> bool:
        """Whether the command holds what cannot be seen, so that what is shown is not what it is."""
        return has_hidden_characters(self.command)


class AnswerUnreadable(Exception):
    """A reply is not a command with an explanation; holds the reply as it came."""

    def __init__(self, why: str, raw: str) -> None:
        super().__init__(why)
        self.why, self.raw = why, raw


def read_answer(text: str) -> Answer:
    """Return the answer in a reply: all of it, else a fence, else the one object among words.

    Raises AnswerUnreadable.
    """
    whole = _object(text.strip().removeprefix("\ufeff"))
    if whole is not None:
        return _answer(whole, text)
    beginning = text[:_MOST_LOOKED_THROUGH]
    for candidates in (_fenced(beginning), _in_words(beginning)):
        answers = [candidate for candidate in candidates if _is_answer(candidate)]
        if len(answers) == 1:
            return _answer(answers[0], text)
        if answers:
            raise AnswerUnreadable(f"it holds {len(answers)} answers instead of one", text)
    why = "it is not a JSON object with command and explanation" if text.strip() else "it is empty"
    raise AnswerUnreadable(why, text)


def _answer(members: JsonObject, raw: str) -> Answer:
    if not _is_answer(members):
        missing = [name for name in ("command", "explanation") if not isinstance(members.get(name), str)]
        raise AnswerUnreadable(f"it has no text for {' and '.join(missing)}", raw)
    command = str(members["command"]).strip()
    if not command:
        raise AnswerUnreadable("its command is empty", raw)
    if _HALF_CHARACTER.search(command) or _HALF_CHARACTER.search(str(members["explanation"])):
        raise AnswerUnreadable("it holds half a character", raw)
    if len(command) > MOST_COMMAND_CHARACTERS:
        raise AnswerUnreadable(f"its command has more than {MOST_COMMAND_CHARACTERS:,} characters", raw)
    return Answer(command=command, explanation=str(members["explanation"]).strip())


def _is_answer(members: JsonObject) -> bool:
    return all(isinstance(members.get(name), str) for name in ("command", "explanation"))


def _object(text: str) -> JsonObject | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("JsonObject", value) if isinstance(value, dict) else None


def _fenced(text: str) -> Iterator[JsonObject]:
    """Yield the objects that fill a fenced block; one that no line ends is none."""
    mark, lines = "", list[str]()
    for line in text.split("\n"):
        if not mark:
            opened = _FENCE.fullmatch(line)
            mark, lines = opened[1] if opened else "", []
        elif line.strip() == mark:
            value = _object("\n".join(lines).strip())
            if value is not None:
                yield value
            mark = ""
        else:
            lines.append(line)


def _in_words(text: str) -> Iterator[JsonObject]:
    """Yield the objects that stand among words; an object within another is a part of it."""
    decoder = json.JSONDecoder()
    place, tried = text.find("{"), 0
    for _ in range(_MOST_STARTS):
        if place < 0 or tried > _MOST_TRIED:
            return
        try:
            value, end = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            end, tried = place + 1, tried + error.pos - place
        except (ValueError, RecursionError):
            end, tried = place + 1, tried + len(text) - place
        else:
            yield cast("JsonObject", value)
        place = text.find("{", end)
