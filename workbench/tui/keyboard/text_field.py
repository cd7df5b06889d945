"""Whether letters are written into what has the focus, asked as the framework asks its own text fields."""

from textual import events
from textual.widget import Widget

_LETTER = "a"


def is_text_field(widget: Widget | None) -> bool:
    """Return whether a widget writes letters instead of looking for their bindings."""
    return widget is not None and widget.check_consume_key(_LETTER, _LETTER)


def is_text_for(widget: Widget | None, event: events.Event) -> bool:
    """Return whether an event only writes into a widget."""
    return isinstance(event, events.Key) and event.is_printable and is_text_field(widget)
