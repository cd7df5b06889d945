"""Keys as a footer shows them: how they are printed, what they do, and whether they do it now."""

from typing import Any

from msgspec import Struct

from workbench.tui.keyboard import keymap


class FooterKey(Struct, frozen=True, kw_only=True):
    """One key of the footer."""

    keys: str
    label: str
    why_off: str = ""
    is_waiting: bool = False
    """It counts in a moment: what it is about just appeared."""
    id: str = ""
    """Which key of the table a click is about; empty where a click does nothing."""


def footer_keys(scope: str, owner: Any) -> list[FooterKey]:
    """Return the keys of a page in the order of their rank; those that do nothing now are left out."""
    users = keymap.user_keymap(owner)
    rows = sorted((key for key in keymap.keys_of_scopes([scope]) if key.footer), key=lambda key: key.footer)
    return [
        FooterKey(id=key.id, keys=keymap.printed_keys(key, users), label=owner.label_of(key.id))
        for key in rows
        if not key.why_off(owner)
    ]
