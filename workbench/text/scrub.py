"""Puts ⟨secret: kind⟩ in the place of every secret that is recognised, before anything is recorded.

Owns the replacing; what a secret looks like is the table in `text.patterns`. It must never take more
than linear time nor change a text that it has scrubbed already, and would rather take a harmless
value than leave a secret.
"""

import re
from functools import cache
from typing import cast

from workbench.records import dataclass
from workbench.text import key_tails, known, manifests
from workbench.text.patterns import BLOCKS
from workbench.text.sheet import Sheet, mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """A text without the secrets that were recognised in it."""

    text: str
    """The text with ⟨secret: kind⟩ where a secret stood."""
    found: tuple[str, ...]
    """The kinds that were replaced, each once, in the order of the table."""


def scrub(text: str) -> Scrubbed:
    """Replace the secrets in a text.

    Lines of a key that were cut apart are not recognised one by one: scrub the whole, then split.
    """
    if not text or text.isspace():
        return Scrubbed(text=text, found=())  # a flood of empty lines is a hundred thousand of them
    found: list[str] = []
    without_known = known.replaced(text)
    if without_known != text:
        text = without_known
        found.append(known.KIND)
    without_manifests = manifests.replaced(text)
    if without_manifests is not text and without_manifests != text:
        text = without_manifests
        found.append(manifests.KIND)
    without_tails = key_tails.replaced(text)
    if without_tails != text:
        text = without_tails
        found.append(key_tails.KIND)
    sheet = Sheet(text)
    for block in sheet.hinted(BLOCKS):
        found += sheet.take(block)
    return Scrubbed(text=sheet.text, found=tuple(dict.fromkeys(found)))


def scrub_value(value: object) -> tuple[object, tuple[str, ...]]:
    """Replace the secrets in a JSON value, keys included.

    Strings, and strings in lists, under a key that is named token, key, secret, password or the like
    (`apiKey`, `access_token`, `X-Api-Key`) are replaced whatever they hold.

    Returns:
        The value, and the kinds that were replaced, each once.
    """
    found: dict[str, None] = {}
    return _scrub_value(value, found), tuple(found)


def _scrub_value(value: object, found: dict[str, None]) -> object:
    if isinstance(value, str):
        scrubbed = scrub(value)
        found.update(dict.fromkeys(scrubbed.found))
        return scrubbed.text
    if isinstance(value, list | tuple):
        return [_scrub_value(item, found) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return _scrub_members(cast("dict[object, object]", value), found)
    return value


def _scrub_members(members: dict[object, object], found: dict[str, None]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in members.items():
        kind = named_secret(str(key))
        name = str(_scrub_value(str(key), found))
        while name in result:
            name += "′"
        result[name] = _scrub_value(value, found) if kind is None else _blank(value, kind, found)
    return result


def _blank(value: object, kind: str, found: dict[str, None]) -> object:
    if isinstance(value, str):
        if not value or _mark_pattern().fullmatch(value):
            return value
        found[kind] = None
        return mark(kind)
    if isinstance(value, list | tuple):
        return [_blank(item, kind, found) for item in cast("list[object]", value)]
    return _scrub_value(value, found)


@cache
def named_secret(key: str) -> str | None:
    """Return the kind that the last word of a key names; None for `monkey`, `keymap`, `token_count`."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", key)
    if not words or (len(words) > 1 and words[-2].lower() == "public"):
        return None
    found = re.fullmatch(
        r"(?P<token>.*token|jwt|authorization|bearer|otp)|(?P<cookie>cookie)|(?P<key>(?:api|access|secret|private)?key)|(?P<secret>.*secret|credential)"
        r"|(?P<password>.*passw(?:or)?d|passphrase|passcode|pwd)",
        words[-1].lower().removesuffix("s"),
    )
    return found.lastgroup if found else None


@cache
def _mark_pattern() -> re.Pattern[str]:
    return re.compile(r"⟨secret: [a-z-]+⟩")
