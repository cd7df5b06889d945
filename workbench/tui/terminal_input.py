"""Turns the input of a terminal into the framework's events: keys, mouse, reports, pastes; pure.

Input that cannot be read is dropped and never raises. Takes the time of each read from its caller.
"""

from collections.abc import Iterable
from typing import Final

from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

from workbench.tui.pasted_lines import Burst, PastedLines
from workbench.tui.terminal_tokens import MAX_PASTE_CHARACTERS, Token, TokenReader

_MAX_CELLS: Final = 1_000_000
"""Cells of the largest size that a terminal's report may name."""


class PasteStalled(Message):
    """An open paste has been without input for some time: its end mark may be lost."""


class EventDecoder:
    """Decodes one character or one whole sequence at a time with the framework's parser."""

    def __init__(self) -> None:
        self._parser = XTermParser()

    def keys(self, text: str) -> list[Message]:
        """Return the keys of plain characters."""
        return [event for character in text for event in self._decode(character)]

    def alt_key(self, text: str) -> list[Message]:
        """Return the key of ESC and a character."""
        return self.sequence(text) or [_with_alt(event) for event in self.keys(text[1:])]

    def sequence(self, text: str) -> list[Message]:
        """Return the events of a sequence; none for one that is unknown or makes no sense."""
        fresh = self._fresh_parser()
        # A beginning that means something of its own would leave the rest as keys.
        found = [] if self._decode(text[:-1]) else self._decode(text[-1])
        if not found or not all(map(_is_sound, found)):
            self._parser = fresh
            return []
        if any(map(_has_no_pixels, found)):
            self._parser.mouse_pixels = False  # without a size in pixels the mouse is reported in cells
        return found

    def _fresh_parser(self) -> XTermParser:
        """Return a parser that expects a new sequence and knows what this one knows of mouse and sizes."""
        old, new = self._parser, XTermParser()
        new.last_x, new.last_y, new.mouse_pixels = old.last_x, old.last_y, old.mouse_pixels
        new.terminal_size, new.terminal_pixel_size = old.terminal_size, old.terminal_pixel_size
        return new

    def _decode(self, text: str) -> list[Message]:
        try:
            return list(self._parser.feed(text))
        except Exception:  # noqa: BLE001 -- no input may end the screen, whatever the parser makes of it
            self._parser = self._fresh_parser()
            return []


def _with_alt(event: Message) -> Message:
    if not isinstance(event, events.Key) or len(event.key) != 1:
        return event
    name = f"shift+{event.key.lower()}" if event.key.isupper() else event.key
    return events.Key(f"alt+{name}", event.character)


def _is_sound(event: Message) -> bool:
    """Return whether an event can be handed on: no half characters, no size that cannot be drawn."""
    if isinstance(event, events.Key):
        return not any("\ud800" <= character <= "\udfff" for character in f"{event.key}{event.character}")
    if isinstance(event, events.Resize):
        return 0 < event.size.width * event.size.height <= _MAX_CELLS
    return True


def _has_no_pixels(event: Message) -> bool:
    return isinstance(event, events.Resize) and event.pixel_size is not None and not event.pixel_size.area


class TerminalInput:
    """Reads events from the input of one terminal."""

    def __init__(self, escape_seconds: float) -> None:
        """Read from the start.

        Args:
            escape_seconds: How long after ESC nothing may follow for it to be the key esc.
        """
        self._tokens = TokenReader(escape_seconds)
        self._lines = PastedLines(MAX_PASTE_CHARACTERS)
        self._decoder = EventDecoder()
        self._last_at = float("-inf")

    @property
    def is_waiting(self) -> bool:
        """Return whether keys were received that were not handed on yet."""
        return self._lines.is_waiting

    @property
    def due(self) -> float | None:
        """Return when `elapse` has something to do; None while only input can change anything."""
        moments = [moment for moment in (self._lines.due, self._tokens.due) if moment is not None]
        return min(moments, default=None)

    def feed(self, data: str, at: float, *, is_joined: bool = False) -> list[Message]:
        """Return the events that input completes.

        Args:
            data: Text of one read.
            at: When it was read, in seconds of the framework's clock.
            is_joined: Whether it was there already when the read before it had been handled.
        """
        pause = 0.0 if is_joined else at - self._last_at
        self._last_at = at
        tokens = self._tokens.feed(data, at, is_joined=is_joined)
        letters = sum(len(token.text) for token in tokens if token.kind == "text")
        found = self._events(self._lines.begin_read(at, pause, letters))
        for token in tokens:
            found += self._token_events(token)
        return found + self._events(self._lines.end_read())

    def elapse(self, at: float) -> list[Message]:
        """Return the events that result from the absence of input until a moment."""
        found = self._events(self._lines.elapse(at))
        for token in self._tokens.elapse(at):
            found += self._token_events(token)
        return found

    def close(self) -> list[Message]:
        """Return what is left at the end of the input."""
        found = self._events(self._lines.flush())
        for token in self._tokens.close():
            found += self._token_events(token)
        return found

    def _token_events(self, token: Token) -> list[Message]:
        if token.kind == "text":
            return self._events(self._lines.add(token.text))
        found = self._decode(token)
        # A report of the mouse or a dropped sequence between two lines does not divide them.
        is_input = any(isinstance(event, events.Key | events.Paste) for event in found)
        return [*self._events(self._lines.divide()), *found] if is_input else found

    def _decode(self, token: Token) -> list[Message]:
        match token.kind:
            case "paste":
                return [_paste(token.text)]
            case "escape":
                return [events.Key("escape", "\x1b")]
            case "alt":
                return self._decoder.alt_key(token.text)
            case "stalled":
                return [PasteStalled()]
            case _:
                return self._decoder.sequence(token.text)

    def _events(self, bursts: Iterable[Burst]) -> list[Message]:
        found: list[Message] = []
        for burst in bursts:
            made = [_paste(burst.text)] if burst.is_paste else self._decoder.keys(burst.text)
            for event in made:
                event.time = burst.at
            found += made
        return found


def _paste(text: str) -> events.Paste:
    return events.Paste(text.replace("\x00", ""))
