"""Keys as a footer shows them: how they are printed, what they do, and whether they do it now."""

from typing import Any, Final, Literal

from msgspec import Struct

from workbench.tui.keyboard import keymap

FooterPart = Literal["act", "move", "more"]
"""A part of the footer: what acts, what moves and shows, and the rest."""
FOOTER_PARTS: Final[tuple[FooterPart, ...]] = ("act", "move", "more")
"""The parts from left to right."""
_PART_OF_GROUP: Final[dict[str, FooterPart]] = {
    "Move": "move", "Read": "move", "Hunks and lines": "move", "Many": "more", "Files": "more",
}  # fmt: skip


class FooterKey(Struct, frozen=True, kw_only=True):
    """One key of the footer."""

    keys: str
    label: str
    why_off: str = ""
    is_waiting: bool = False
    """It counts in a moment: what it is about just appeared."""
    id: str = ""
    """Which key of the table a click is about; empty where a click does nothing."""
    part: FooterPart = "act"


def footer_part(key: keymap.Key[Any]) -> FooterPart:
    """Return the part of the footer in which a key is shown."""
    return _PART_OF_GROUP.get(key.group, "act")


def footer_keys(scope: str, owner: Any) -> list[FooterKey]:
    """Return the keys of a page in the order of their rank; those that do nothing now are left out."""
    users = keymap.user_keymap(owner)
    rows = sorted((key for key in keymap.keys_of_scopes([scope]) if key.footer), key=lambda key: key.footer)
    return [
        FooterKey(
            id=key.id,
            keys=keymap.printed_keys(key, users),
            label=owner.label_of(key.id),
            part=footer_part(key),
        )
        for key in rows
        if not key.why_off(owner)
    ]
