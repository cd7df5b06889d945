"""From a key to its binding where the focus is; a shortcut where no widget on the way handles keys itself."""

# A key goes straight to its binding where no message is under way and no widget on its way takes keys
# himself. The framework sends it through the queue of every widget around what has the focus and looks for
# its binding at the end: six queues, a quarter of a key's time. What it is not sure of goes the long way:
# text fields, a keymap of the user, a widget that listens, a method named after a key. A test presses keys
# on both ways and compares.

from functools import lru_cache
from typing import Any

from textual import events
from textual.actions import parse
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import key_to_character
from textual.message_pump import MessagePump
from textual.widget import Widget


def binding_of(app: App[Any], key: str) -> Binding | None:
    """Return what a key is bound to where the focus is; None where it means nothing or is written there."""
    screen = app.screen
    focused = screen.focused
    # pyright: ignore comments below: the framework has no public door to what a binding became.
    if app._keymap or (focused is not None and focused.loading):  # pyright: ignore[reportPrivateUsage]
        active = screen.active_bindings.get(key)
        return None if active is None else active.binding
    if focused is not None and focused.check_consume_key(key, key_to_character(key)):
        return None
    for node, binding in _bindings_in_order((focused or screen).ancestors_with_self, key):
        _, name, parameters = parse(binding.action)
        if node.check_action(name, parameters) is not False:
            return binding
    return None


async def dispatch_key(app: App[Any], event: events.Key) -> bool:
    """Do what a key means, as the framework would in the end.

    To be called while no message is under way: what is still to be handled may change what a key means.

    Args:
        app: That got the key.
        event: The key, not yet handed to a widget.

    Returns:
        Whether it was done. If not, it has to go the long way.
    """
    screen = app.screen
    focused = screen.focused
    if focused is None or focused.loading or screen.maximized is not None or app._keymap:  # pyright: ignore[reportPrivateUsage]
        return False
    nodes = focused.ancestors_with_self
    for node in nodes:
        handled = _handled_keys(type(node))
        if handled is None or not handled.isdisjoint(event.name_aliases):
            return False
    for node, binding in _bindings_in_order(nodes, event.key):
        if await app.run_action(binding.action, node):
            app.app_focus = True
            return True
    return False


def _bindings_in_order(nodes: list[DOMNode], key: str) -> list[tuple[DOMNode, Binding]]:
    """Return the bindings of a key in the order in which they count: with priority first, from outside."""
    first: list[tuple[DOMNode, Binding]] = []
    then: list[tuple[DOMNode, Binding]] = []
    is_below_modal = False
    for node in nodes:
        bound = node._bindings.key_to_bindings.get(key, ())  # pyright: ignore[reportPrivateUsage]
        first[:0] = [(node, binding) for binding in bound if binding.priority]
        if not is_below_modal:
            then += [(node, binding) for binding in bound if not binding.priority]
        is_below_modal = is_below_modal or node.is_modal
    return first + then


_FRAMEWORK_CLASSES = frozenset({MessagePump, DOMNode, Widget, App})
"""Classes whose handling of keys only looks for methods named after a key."""
_HANDLERS = frozenset({"on_key", "_on_key", "handle_key", "check_consume_key"})


@lru_cache(maxsize=256)
def _handled_keys(kind: type[DOMNode]) -> frozenset[str] | None:
    """Return the keys that a class has methods for, such as `key_a`; None where it may handle any key."""
    for base in kind.__mro__:
        defined = vars(base)
        is_listener = events.Key in defined.get("_decorated_handlers", {})
        if base not in _FRAMEWORK_CLASSES and (is_listener or not _HANDLERS.isdisjoint(defined)):
            return None
    names = (name.removeprefix("_") for base in kind.__mro__ for name in vars(base))
    return frozenset(name.removeprefix("key_") for name in names if name.startswith("key_"))
