"""Puts ⟨secret: kind⟩ in the place of every secret that is recognised, before anything is recorded.

Owns the replacing; what a secret looks like is the table in `text.patterns`. It must never take more
than linear time nor change a text that it has scrubbed already, and would rather take a harmless
value than leave a secret.
"""

import re
from functools import cache
from typing import cast

from workbench.records import dataclass
from workbench.text import known, manifests
from workbench.text.patterns import PATTERNS, Pattern

_REREAD = 512
_LONG = 4096
_IS_WORD = re.compile(r"[a-z0-9_-]+\Z").match
_SEPARATORS = bytes(
    code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789_-" else 32 for code in range(256)
)

_Places = dict[tuple[str, ...], list[int]]
_NO_LETTERS = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz" else 32 for code in range(256))


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
    found: list[str] = []
    without_known = known.replaced(text)
    if without_known != text:
        text = without_known
        found.append(known.KIND)
    without_manifests = manifests.replaced(text)
    if without_manifests is not text and without_manifests != text:
        text = without_manifests
        found.append(manifests.KIND)
    folded = text.lower()
    words = _words(folded) if len(text) > _LONG else None
    letters = _letters(words) if words is not None else None
    places: _Places = {}
    for pattern in PATTERNS:
        # A loop and not any(): the generator costs more than all of the looking, on a hundred short texts.
        for hint in pattern.hints:
            if words is None or letters is None:
                if hint in folded:
                    break
            elif _longest_letters(hint) in letters and hint in (words if _IS_WORD(hint) else folded):
                break
        else:
            continue
        scrubbed = _replaced(text, pattern, folded, places)
        if scrubbed is not text:
            text, folded, places = scrubbed, scrubbed.lower(), {}
            found.append(pattern.kind)
    return Scrubbed(text=text, found=tuple(dict.fromkeys(found)))


def scrub_value(value: object) -> tuple[object, tuple[str, ...]]:
    """Replace the secrets in a JSON value, keys included.

    Strings, and strings in lists, under a key that is named token, key, secret, password or the like
    (`apiKey`, `access_token`, `X-Api-Key`) are replaced whatever they hold.

    Returns:
        The value, and the kinds that were replaced, each once.
    """
    found: dict[str, None] = {}
    return _scrub_value(value, found), tuple(found)


def mark(kind: str) -> str:
    """Return what stands where a secret of this kind stood."""
    return f"⟨secret: {kind}⟩"


def _replaced(text: str, pattern: Pattern, folded: str, known_places: _Places) -> str:
    """Replace what one pattern finds; where its check says no, look again behind the first letter.

    A long value that was no secret is passed over as a whole, or it would be read again for every
    keyword in it.

    Args:
        text: Any text.
        pattern: A row of the table.
        folded: The text in lower case. Where its places are those of the text, the expression is tried only
            where an anchor of the pattern stands; looking for those costs a tenth.
        known_places: Where anchors stand in this text, as far as somebody has looked; is added to.
    """
    spans: list[tuple[int, int]] = []
    at = 0
    if pattern.anchors and len(folded) == len(text):
        match = pattern.regex().match
        for place in _places(folded, pattern.anchors, known_places):
            if place >= at and (found := match(text, place)):
                at = _judged(found, pattern, spans)
    else:
        search = pattern.regex().search
        while found := search(text, at):
            at = _judged(found, pattern, spans)
    return _without(text, spans, mark(pattern.kind)) if spans else text


def _judged(found: re.Match[str], pattern: Pattern, spans: list[tuple[int, int]]) -> int:
    """Add what is to be replaced; return where to look on."""
    start, end = found.span(found.lastgroup or 0)
    if pattern.is_secret is None or pattern.is_secret(found):
        spans.append((start, end))
    elif found.lastgroup and end - start <= _REREAD:
        return found.start() + 1
    return end


def _without(text: str, spans: list[tuple[int, int]], replacement: str) -> str:
    pieces: list[str] = []
    taken = 0
    for start, end in spans:
        pieces += (text[taken:start], replacement)
        taken = end
    pieces.append(text[taken:])
    return "".join(pieces)


def _words(folded: str) -> str:
    """Return every different word of a long text once: much less to look for two hundred hints in.

    A text that is scrubbed meanwhile only loses words, so this stays true of it.
    """
    data = folded.encode("utf-8", "surrogatepass").translate(_SEPARATORS)
    return b" ".join(dict.fromkeys(data.split())).decode("ascii")


def _letters(words: str) -> str:
    """Return every different run of letters of some words: less still, where most of them are keys."""
    return b" ".join(dict.fromkeys(words.encode().translate(_NO_LETTERS).split())).decode("ascii")


@cache
def _longest_letters(hint: str) -> str:
    """Return the longest run of letters in a hint; without it the hint is not there either."""
    return max(re.findall("[a-z]*", hint), key=len)


def _places(folded: str, anchors: tuple[str, ...], known_places: _Places) -> list[int]:
    """Return where the anchors stand, in order."""
    found = known_places.get(anchors)
    if found is None:
        found = known_places[anchors] = []
        for anchor in anchors:
            at = folded.find(anchor)
            while at >= 0:
                found.append(at)
                at = folded.find(anchor, at + 1)
        found.sort()
    return found


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
