"""The lines of a result that fit, and the words for what does not.

Owns cutting a list of findings at its end: unlike an output, of which both ends are kept, a list is read from
its beginning. It must never leave open that something is missing.
"""

from typing import Final

from workbench.domain.values import Json, JsonObject

_ROOM_FOR_WORDS: Final = 400
"""Bytes kept free for the lines that say what is missing."""


class Lines:
    """Lines up to a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._room = max(0, most_bytes - _ROOM_FOR_WORDS)
        self._lines: list[str] = []
        self.missing = 0
        """How many did not fit."""

    def add(self, line: str) -> None:
        """Take a line, or count it."""
        self._room -= len(line.encode("utf-8", "replace")) + 1
        if self._room >= 0 and not self.missing:
            self._lines.append(line)
        else:
            self.missing += 1

    def text(self, *words: str) -> str:
        """Return the lines, and below them what there is to say."""
        return "\n".join((*self._lines, *(f"[{said}]" for said in words if said)))


def result_schema(**properties: JsonObject) -> dict[str, Json]:
    """Return the schema of a result: `output` for the model, and facts beside it that are always there."""
    return {
        "type": "object",
        "properties": {"output": {"type": "string"}, **properties},
        "required": ["output", *properties],
    }


COUNT: Final[JsonObject] = {"type": "integer", "minimum": 0}
FLAG: Final[JsonObject] = {"type": "boolean"}
TEXT: Final[JsonObject] = {"type": "string"}
