"""Thinking that a model writes between tags in its text.

`<think>…</think>` counts at the very start of a reply only.
"""

from collections.abc import Iterator
from typing import Final, Literal

from workbench.domain.messages import TextPart, ThinkingPart

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_MOST_SPACE: Final = 1_000
"""White characters before a tag; more of them begin an answer."""


class ThinkTagReader:
    """The text of one reply, in pieces, as thoughts and answer."""

    def __init__(self) -> None:
        self._state: Literal["start", "thought", "gap", "answer"] = "start"
        self._held = ""
        """What may be the beginning of a tag, or of a thought or an answer that begins with white space."""
        self._thought: list[str] = []

    def end(self) -> Iterator[TextPart | ThinkingPart]:
        """Take all that follows as the answer: the server tells the reasoning itself."""
        if self._state == "start":
            self._state = "answer"
            yield from self._answer("")

    def feed(self, text: str) -> Iterator[TextPart | ThinkingPart]:
        """Take a piece and yield what can be told by now."""
        if self._state == "start":
            yield from self._start(text)
        elif self._state == "thought":
            yield from self._think(text)
        else:
            yield from self._answer(text)

    def finish(self, *, has_calls: bool) -> Iterator[TextPart | ThinkingPart]:
        """Yield what is left; a thought that was never closed may be the answer, so it is told as one."""
        if self._state == "thought":
            rest = self._thinking(self._held)
            yield from rest
            if self._thought and not has_calls:
                yield TextPart(text="".join(self._thought))
        elif self._state == "start":
            self._state = "answer"
            yield from self._answer("")

    def _start(self, text: str) -> Iterator[TextPart | ThinkingPart]:
        self._held += text
        beginning = self._held.lstrip()
        if beginning.startswith(_OPEN):
            self._state, self._held = "thought", ""
            yield from self._think(beginning[len(_OPEN) :])
        elif not _OPEN.startswith(beginning) or len(self._held) > _MOST_SPACE:
            self._state = "answer"
            yield from self._answer("")

    def _think(self, text: str) -> Iterator[TextPart | ThinkingPart]:
        thought, close, answer = (self._held + text).partition(_CLOSE)
        self._held = "" if close else _tag_beginning(thought)
        yield from self._thinking(thought[: len(thought) - len(self._held)])
        if close:
            self._state = "gap"
            yield from self._answer(answer)

    def _thinking(self, text: str) -> Iterator[ThinkingPart]:
        visible = text if self._thought else text.lstrip()
        if visible:
            self._thought.append(visible)
            yield ThinkingPart(text=visible)

    def _answer(self, text: str) -> Iterator[TextPart]:
        text, self._held = self._held + text, ""
        if self._state == "gap":
            text = text.lstrip()
            self._state = "answer" if text else "gap"
        if text:
            yield TextPart(text=text)


def _tag_beginning(text: str) -> str:
    """Return the end of a text that may be the beginning of the closing tag."""
    sizes = range(min(len(text), len(_CLOSE) - 1), 0, -1)
    return next((text[-size:] for size in sizes if _CLOSE.startswith(text[-size:])), "")
