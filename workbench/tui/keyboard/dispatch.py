"""The shortcut from a key to its binding where no widget on the way handles keys itself."""

# A key goes straight to its binding where no message is under way and no widget on its way takes keys
# himself. The framework sends it through the queue of every widget around what has the focus and looks for
# its binding at the end: six queues, a quarter of a key's time. What it is not sure of goes the long way:
# text fields, a keymap of the user, a widget that listens, a method named after a key. A test presses keys
# on both ways and compares.

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from textual import events
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.message_pump import MessagePump
from textual.widget import Widget

_FRAMEWORK_CLASSES = frozenset({MessagePump, DOMNode, Widget, App})
"""Classes whose handling of keys only looks for methods named after a key."""


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
    # pyright: ignore comments below: the framework has no public door to what a binding became.
    if focused is None or focused.loading or screen.maximized is not None or app._keymap:  # pyright: ignore[reportPrivateUsage]
        return False
    nodes = focused.ancestors_with_self
    if any(_may_handle_key(node, event) for node in nodes):
        return False
    for node, binding in _bindings_in_order(nodes, event.key):
        if await app.run_action(binding.action, node):
            app.app_focus = True
            return True
    return False


def _bindings_in_order(nodes: list[DOMNode], key: str) -> Iterator[tuple[DOMNode, Binding]]:
    """Yield what a key is bound to in the order in which it counts: first what has priority, from outside."""
    bindings_by_node = [(node, node._bindings.key_to_bindings.get(key, ())) for node in nodes]  # pyright: ignore[reportPrivateUsage]
    yield from (
        (node, binding) for node, bound in reversed(bindings_by_node) for binding in bound if binding.priority
    )
    for node, bound in bindings_by_node:
        yield from ((node, binding) for binding in bound if not binding.priority)
        if node.is_modal:
            break


def _may_handle_key(node: DOMNode, event: events.Key) -> bool:
    """Return whether a widget may handle a key itself."""
    kind = type(node)
    return not _leaves_keys_to_bindings(kind) or not _keys_with_methods(kind).isdisjoint(event.name_aliases)


@lru_cache(maxsize=256)
def _keys_with_methods(kind: type[DOMNode]) -> frozenset[str]:
    """Return the keys for which a class has a method, as the framework calls it: `key_a`."""
    names = {name.removeprefix("_") for base in kind.__mro__ for name in vars(base)}
    return frozenset(name.removeprefix("key_") for name in names if name.startswith("key_"))


@lru_cache(maxsize=256)
def _leaves_keys_to_bindings(kind: type[DOMNode]) -> bool:
    """Return whether a class leaves keys to bindings."""
    others = [base for base in kind.__mro__ if base not in _FRAMEWORK_CLASSES]
    return not any(
        "on_key" in base.__dict__ or "_on_key" in base.__dict__ or "handle_key" in base.__dict__
        or "check_consume_key" in base.__dict__ or events.Key in base.__dict__.get("_decorated_handlers", {})
        for base in others
    )  # fmt: skip
