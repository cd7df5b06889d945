"""Turns the table of keys into bindings, printed keys and calls, and checks users' keymaps.

Defines a row of the table. A clash or an unknown id is an error that names both.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final, Generic, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.keys import _character_to_key as key_name  # pyright: ignore[reportPrivateUsage] no public twin
from textual.keys import key_to_character
from textual.widget import Widget

from workbench.tui.keyboard.keyboard_app import KeyboardApp

OwnerT = TypeVar("OwnerT", contravariant=True)


def _always_on(_: object) -> str:
    return ""


def unless(is_on: object, why: str) -> str:
    """Return why a key is off, as `Key.why_off` does: empty while what it needs is there."""
    return "" if is_on else why


class Key(Struct, Generic[OwnerT], frozen=True, kw_only=True):
    """One row of the key table; `OwnerT` is the pane or screen whose key it is."""

    id: str
    """`scope.name`, under which users' keymaps know it."""
    keys: tuple[str, ...]
    """The first is shown; all of them work."""
    label: str
    """In the footer, as short as can be."""
    tooltip: str
    """In help and palette: a whole sentence part, what it does."""
    action: Callable[[OwnerT], object]
    """What the key does."""
    why_off: Callable[[OwnerT], str] = _always_on
    """Returns why the key does nothing now; empty when it does something."""
    group: str = "Everywhere"
    """Under which heading help shows it."""
    shown: str = ""
    """How the keys are printed, when not as the first one: `h l` for a pair, whose other row has `-`."""
    footer: int = 0
    """Place in the footer, the lower the longer it stays; 0 is never there."""
    narrow: int = 0
    """Its place below 100 columns, where it is another; 0 is the same."""
    help: str = ""
    """In help, where the row describes other rows too; else the tooltip."""
    is_override: bool = False
    """Whether it takes a key of an outer scope on purpose."""
    in_palette: bool = True
    aliases: str = ""
    """Other words by which people look for it in the palette, with spaces between."""
    decides: bool = False
    """Whether it answers, or has any effect outside of the screen: then it counts only if it came alone."""
    answers: bool = False
    """Whether it is about the row under the cursor: it counts only after that was drawn for long enough."""
    kinds: tuple[str, ...] = ()
    """The kinds of action that can ever have it; empty is all of them."""
    stays: bool = False
    """Whether it stays in the footer, faint and with its reason, when it is off for what waits."""
    opens_field: bool = False
    """Whether it opens a text field that does nothing by itself; in the middle of a word it is a letter."""

    @property
    def scope(self) -> str:
        """Return the part of the screen in which it counts."""
        return self.id.partition(".")[0]

    @property
    def print(self) -> str:
        """Return the keys as people read them; empty when another row shows them."""
        return "" if self.shown == "-" else self.shown or printed_key(self.keys[0])


_PRINTED: Final[Mapping[str, str]] = {
    "escape": "esc", "up": "↑", "down": "↓", "left": "←", "right": "→", "slash": "/", "backslash": "\\",
    "at": "@", "minus": "-", "plus": "+", "underscore": "_",
}  # fmt: skip
_INDISTINCT_KEYS: Final = frozenset({"ctrl+h", "ctrl+i", "ctrl+m", "ctrl+left_square_bracket"})
"""Keys that do not exist in plain terminals."""


def printed_key(key: str) -> str:
    """Return a key as people read it: the character that it types, where that can be seen."""
    character = key_to_character(key) or ""
    return _PRINTED.get(key) or (character if character.isprintable() and character.strip() else key)


def printed_keys(key: Key[Any], users: Mapping[str, str]) -> str:
    """Return the keys of a row as people read them, with what they set themselves; empty as in `Key.print`.

    Args:
        key: a row of the table.
        users: id to keys, several with commas; a keymap without faults.
    """
    twin = _paired_rows(key.scope).get(key.id)
    if not key.print or not {key.id, twin} & users.keys():
        return key.print
    own = own_key(key, users)
    return f"{own} {own_key(key_of(twin), users)}" if twin else own


def own_key(key: Key[Any], users: Mapping[str, str]) -> str:
    """Return the first key of a row alone, also where it is printed for a pair of keys."""
    names = [name.strip() for name in users.get(key.id, "").split(",") if name.strip()]
    return printed_key(normalized_key(names[0]) if names else key.keys[0])


@cache
def _paired_rows(scope: str) -> Mapping[str, str]:
    """Return, for each row that is printed for a pair of keys, the row of the other key."""
    rows = _keys_of_scope(scope).values()
    return {a.id: b.id for a, b in pairwise(rows) if len(a.shown.split()) == 2 and b.shown == "-"}


def user_keymap(widget: Widget) -> Mapping[str, str]:
    """Return the keymap that the user of an app has set; empty where it knows of none."""
    # Textual leaves the type of an app's return value open; nothing here depends on it.
    app: object = cast("Any", widget).app
    return app.user_keys if isinstance(app, KeyboardApp) else {}


def own_keys(widget: Widget, labels: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return labels with the keys that they are about, for ids of keys with labels."""
    users = user_keymap(widget)
    return [(own_key(key_of(key_id), users), label) for key_id, label in labels]


def normalized_key(key: str) -> str:
    """Return a key under the name that Textual has for it: `?` is `question_mark`."""
    *modifiers, last = [*key[:-1].split("+")[:-1], "+"] if key.endswith("+") else key.split("+")
    return "+".join([*modifiers, key_name(last) if len(last) == 1 else last])


def keys_by_id() -> Mapping[str, Key[Any]]:
    """Return every row by its id, also of rooms that are not open."""
    from workbench.tui.keyboard.table import all_rows

    return {key.id: _normalized(key) for key in all_rows()}


def find_key(key_id: str) -> Key[Any] | None:
    """Return the row of an id; None where there is none."""
    return _keys_of_scope(key_id.partition(".")[0]).get(key_id)


def key_of(key_id: str) -> Key[Any]:
    """Return the row of an id that is in the table."""
    return _keys_of_scope(key_id.partition(".")[0])[key_id]


@cache
def _keys_of_scope(scope: str) -> Mapping[str, Key[Any]]:
    from workbench.tui.keyboard.table import rows_of_scope

    return {key.id: _normalized(key) for key in rows_of_scope(scope)}


def _normalized(key: Key[Any]) -> Key[Any]:
    names = tuple(normalized_key(name) for name in key.keys)
    return key if names == key.keys else replace(key, keys=names)


def keys_of_scopes(scopes: Iterable[str]) -> tuple[Key[Any], ...]:
    """Return the rows of some scopes, inner scope first."""
    return _cached_keys_of_scopes(tuple(scopes))


@cache
def _cached_keys_of_scopes(scopes: tuple[str, ...]) -> tuple[Key[Any], ...]:
    # Asked at every key; there are as many chains of scopes as panes have modes.
    return tuple(key for scope in scopes for key in _keys_of_scope(scope).values())


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
        for key in keys_of_scopes(scopes)
        for name in key.keys
    ]


def ids_by_key(scope: str, users: Mapping[str, str]) -> dict[str, str]:
    """Return for each key of a scope, as Textual names it, what it does: text fields see their keys first.

    Args:
        scope: whose keys.
        users: id to keys, several with commas; a keymap without faults.
    """
    ids: dict[str, str] = {}
    for key in keys_of_scopes([scope]):
        names = users[key.id].split(",") if key.id in users else key.keys
        ids.update((normalized_key(name.strip()), key.id) for name in names)
    return ids


def is_key_of(key_id: str, key: str, users: Mapping[str, str]) -> bool:
    """Return whether a key, as Textual names it, is one of those of a row.

    Args:
        key_id: The row.
        key: The key.
        users: Ids to keys, several with commas; a keymap without faults.
    """
    if key_id not in users:
        return key in key_of(key_id).keys
    return key in {normalized_key(name.strip()) for name in users[key_id].split(",")}


def is_innermost_key(key_id: str, scopes: Sequence[str]) -> bool:
    """Return whether a key counts among the scopes in force."""
    return key_id.partition(".")[0] in scopes


# --- what users set -------------------------------------------------------------------------------


def keymap_errors(keymap: Mapping[str, str], chains: Iterable[Sequence[str]]) -> list[str]:
    """Return what is wrong with a user's keymap, as sentences; an empty list is a keymap that works.

    Args:
        keymap: id to keys, several with commas.
        chains: the scope chains in which a key may have one meaning only.
    """
    known = keys_by_id()
    wrong = [f'keymap: there is no "{key_id}".' for key_id in keymap if key_id not in known]
    changed = {
        key_id: tuple(normalized_key(name.strip()) for name in names.split(",") if name.strip())
        for key_id, names in keymap.items()
        if key_id in known
    }
    wrong += [f'keymap: "{key_id}" has no key.' for key_id, names in changed.items() if not names]
    wrong += [
        f'keymap: "{key_id}" has only {", ".join(names)}, which terminals do not send.'
        for key_id, names in changed.items()
        if names and set(names) <= _INDISTINCT_KEYS
    ]
    rows = [replace(key, keys=changed.get(key.id, key.keys)) for key in known.values()]
    return wrong + sorted({clash for chain in chains for clash in key_clashes(rows, chain)})


def key_clashes(rows: Iterable[Key[Any]], chain: Sequence[str]) -> list[str]:
    """Return the keys that mean two things in a chain of scopes, unless the inner one is declared."""
    taken: dict[str, Key[Any]] = {}
    wrong: list[str] = []
    for key in sorted((row for row in rows if row.scope in chain), key=lambda row: chain.index(row.scope)):
        for name in key.keys:
            other = taken.setdefault(name, key)
            if other is not key and not (other.is_override and other.scope != key.scope):
                wrong.append(f'keymap: {printed_key(name)} means "{other.id}" and "{key.id}".')
    return wrong
