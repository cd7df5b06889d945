"""How the table of keys becomes bindings, printed keys and calls; and which keymaps of users are refused.

Owns what a row of the table is. A clash or an unknown id is an error that names both, because Textual
ignores the one and drops the other without a word.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any, Final, cast

from textual.binding import Binding, BindingType
from textual.keys import _character_to_key as key_name  # pyright: ignore[reportPrivateUsage] no public twin
from textual.widget import Widget

from workbench.records import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One row of the key table."""

    id: str
    """`scope.name`; the name with underscores is a function of `tui.actions.<scope>`."""
    keys: tuple[str, ...]
    """The first is shown; all of them work."""
    label: str
    """In the footer, as short as can be."""
    tooltip: str
    """In help and palette: a whole sentence part, what it does."""
    group: str = "Everywhere"
    """Under which heading help shows it."""
    shown: str = ""
    """How the keys are printed, when not as the first one: `h l` for a pair, whose other row has `-`."""
    footer: int = 0
    """Place in the footer, the lower the longer it stays; 0 is never there."""
    narrow: int = 0
    """Its place below 100 columns, where it is another; 0 is the same."""
    help: str = ""
    """In help, where the row stands for more than itself; else the tooltip."""
    is_override: bool = False
    """Whether it takes a key of an outer scope on purpose."""
    in_palette: bool = True
    decides: bool = False
    """Whether it answers, or has any effect outside of the screen: then it counts only if it came alone."""

    opens_field: bool = False
    """Whether it opens a text field that does nothing by itself; in the middle of a word it is a letter."""

    @property
    def scope(self) -> str:
        """Return the part of the screen in which it counts."""
        return self.id.partition(".")[0]

    @property
    def print(self) -> str:
        """Return the keys as people read them; empty when another row shows them."""
        return "" if self.shown == "-" else self.shown or printed(self.keys[0])


_PRINTED: Final[Mapping[str, str]] = {
    "escape": "esc", "question_mark": "?", "slash": "/", "colon": ":", "left_square_bracket": "[",
    "right_square_bracket": "]", "left_curly_bracket": "{", "right_curly_bracket": "}", "vertical_line": "|",
    "up": "↑", "down": "↓", "left": "←", "right": "→", "plus": "+", "minus": "-",
}  # fmt: skip

_UPRIGHT: Final = frozenset({"ctrl+h", "ctrl+i", "ctrl+m", "ctrl+left_square_bracket"})
"""Keys that do not exist in plain terminals."""


def printed(key: str) -> str:
    """Return a key as people read it."""
    return _PRINTED.get(key, key)


def shown(key: Key, users: Mapping[str, str]) -> str:
    """Return the keys of a row as people read them, with what they set themselves; empty as in `Key.print`.

    Args:
        key: a row of the table.
        users: id to keys, several with commas; a keymap without faults.
    """
    twin = _twins().get(key.id)
    if not key.print or not {key.id, twin} & users.keys():
        return key.print
    own = _first(key, users)
    return f"{own} {_first(table()[twin], users)}" if twin else own


def _first(key: Key, users: Mapping[str, str]) -> str:
    names = [name.strip() for name in users.get(key.id, "").split(",") if name.strip()]
    return printed(normal(names[0]) if names else key.keys[0])


@cache
def _twins() -> Mapping[str, str]:
    """Return, for each row that is printed for a pair of keys, the row of the other key."""
    rows = list(table().values())
    return {a.id: b.id for a, b in pairwise(rows) if len(a.shown.split()) == 2 and b.shown == "-"}


def users_of(widget: Widget) -> Mapping[str, str]:
    """Return the keymap that the user of an app has set; empty where it knows of none."""
    return getattr(cast("Any", widget).app, "user_keys", {})


def normal(key: str) -> str:
    """Return a key under the name that Textual has for it: `?` is `question_mark`."""
    *modifiers, last = [*key[:-1].split("+")[:-1], "+"] if key.endswith("+") else key.split("+")
    return "+".join([*modifiers, key_name(last) if len(last) == 1 else last])


@cache
def table() -> Mapping[str, Key]:
    """Return every row by its id, in the order of the table."""
    from workbench.tui.keys import KEYS

    return {key.id: _normalised(key) for key in KEYS}


def _normalised(key: Key) -> Key:
    names = tuple(normal(name) for name in key.keys)
    return key if names == key.keys else replace(key, keys=names)


@cache
def _by_scope() -> Mapping[str, tuple[Key, ...]]:
    found: dict[str, list[Key]] = {}
    for key in table().values():
        found.setdefault(key.scope, []).append(key)
    return {scope: tuple(rows) for scope, rows in found.items()}


def of_scopes(scopes: Iterable[str]) -> tuple[Key, ...]:
    """Return the rows of some scopes, inner scope first."""
    return _of_scopes(tuple(scopes))


@cache
def _of_scopes(scopes: tuple[str, ...]) -> tuple[Key, ...]:
    # Asked at every key; there are as many chains of scopes as panes have modes.
    return tuple(key for scope in scopes for key in _by_scope().get(scope, ()))


def bindings(*scopes: str, is_first: bool = False) -> list[BindingType]:
    """Return the bindings of scopes for a widget's `BINDINGS`, inner scopes first.

    Args:
        scopes: whose keys.
        is_first: whether they count before those of what has the focus.
    """
    return [
        Binding(
            name, f"do('{key.id}')", key.label, show=False, priority=is_first, id=key.id, tooltip=key.tooltip
        )
        for key in of_scopes(scopes)
        for name in key.keys
    ]


def ids_of_keys(scope: str, users: Mapping[str, str]) -> dict[str, str]:
    """Return for each key of a scope, as Textual names it, what it does: text fields see their keys first.

    Args:
        scope: whose keys.
        users: id to keys, several with commas; a keymap without faults.
    """
    found: dict[str, str] = {}
    for key in of_scopes([scope]):
        names = users[key.id].split(",") if key.id in users else key.keys
        found.update((normal(name.strip()), key.id) for name in names)
    return found


def wins(key_id: str, scopes: Sequence[str]) -> bool:
    """Return whether a key counts among the scopes in force."""
    return table()[key_id].scope in scopes


def run(key_id: str, owner: Any) -> None:
    """Call the function of a key with the pane or screen it belongs to; one that decides waits first."""
    guard = _guard_of(owner)
    if guard is not None and table()[key_id].decides and guard.holds(key_id, owner):
        return
    function(key_id)(owner)


def is_letter(key_id: str, owner: Any) -> bool:
    """Return whether a key that is off was a letter of a text, which is offered to the composer then."""
    guard = _guard_of(owner)
    return guard is not None and guard.refuses(key_id)


def _guard_of(owner: Any) -> Any:
    return getattr(owner.app, "guarded", None)


def function(key_id: str) -> Any:
    """Return the function that a key calls.

    Raises:
        AttributeError, ImportError: there is none; a test proves that this cannot be.
    """
    scope, _, name = key_id.partition(".")
    module = import_module(f"workbench.tui.actions.{_MODULES.get(scope, scope)}")
    return getattr(module, name.replace("-", "_"))


_MODULES: Final[Mapping[str, str]] = {
    "list": "lists",
    "app": "everywhere",
    "lines": "approvals",
    "diff": "approvals",
    "answer": "approvals",
    "trust": "approvals",
}
"""Scopes whose module has another name than they."""


# --- what users set -------------------------------------------------------------------------------


def faults(keymap: Mapping[str, str], chains: Iterable[Sequence[str]]) -> list[str]:
    """Return what is wrong with a user's keymap, as sentences; an empty list is a keymap that works.

    Args:
        keymap: id to keys, several with commas.
        chains: the scope chains in which a key may have one meaning only.
    """
    known = table()
    wrong = [f'keymap: there is no "{key_id}".' for key_id in keymap if key_id not in known]
    changed = {
        key_id: tuple(normal(name.strip()) for name in names.split(",") if name.strip())
        for key_id, names in keymap.items()
        if key_id in known
    }
    wrong += [f'keymap: "{key_id}" has no key.' for key_id, names in changed.items() if not names]
    wrong += [
        f'keymap: "{key_id}" has only {", ".join(names)}, which terminals do not send.'
        for key_id, names in changed.items()
        if names and set(names) <= _UPRIGHT
    ]
    rows = [replace(key, keys=changed.get(key.id, key.keys)) for key in known.values()]
    return wrong + sorted({clash for chain in chains for clash in clashes(rows, chain)})


def clashes(rows: Iterable[Key], chain: Sequence[str]) -> list[str]:
    """Return the keys that mean two things in a chain of scopes, unless the inner one is declared."""
    taken: dict[str, Key] = {}
    wrong: list[str] = []
    for key in sorted((row for row in rows if row.scope in chain), key=lambda row: chain.index(row.scope)):
        for name in key.keys:
            other = taken.setdefault(name, key)
            if other is not key and not (other.is_override and other.scope != key.scope):
                wrong.append(f'keymap: {printed(name)} means "{other.id}" and "{key.id}".')
    return wrong
