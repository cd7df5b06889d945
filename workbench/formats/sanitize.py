"""Make values of other programs fit to record: scrubbed, bounded in length, whole characters only."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Final, cast

from workbench.domain.values import Hunk, Json, JsonObject
from workbench.policy.regex import TextFinder
from workbench.secrets import scrubber
from workbench.secrets.rules import SECRET_RULES, SecretRule
from workbench.secrets.scrubber import scrub, scrub_value, secret_kind_of_name

MOST_TEXT: Final = 1 << 20
"""Characters of a prompt, a reply or an output."""
MOST_OUTPUT: Final = 1 << 24
"""Characters of an output that is stored beside its event."""
MOST_STRING: Final = 8_000
"""Characters of one string where arguments are shown again, and of encoded data in records that are kept."""
_MOST_ITEMS: Final = 50_000
_MOST_DEPTH: Final = 24
_SHORT_TEXT: Final = 120
_SCRUBBED_BEYOND: Final = 8_192


def sanitize_text(text: str, most: int = MOST_TEXT) -> str:
    """Return a text as it may be recorded."""
    if len(text) <= _SHORT_TEXT:
        return _sanitize_short(text)
    if len(text) <= most:
        return _scrub_if_needed(text)
    # Scrubbed a little beyond the cut, so that no secret is left in half, and once more behind it: what the
    # cut made of a text is found now or when an export is read again, and both are to be equal.
    clean = _scrub_if_needed(text[: most + _SCRUBBED_BEYOND])[:most]
    return _scrub_if_needed(clean + cut_mark(len(text), most))


def cut_mark(length: int, most: int) -> str:
    """Return what stands behind a text that was cut, empty if it was not."""
    return f"\n[… cut: {length} characters in all]" if length > most else ""


_SUFFIX: Final = r"(?:[_-]?(?:access[_-]?key|key(?:[_-]?base)?|value|string|hash|base64|[0-9]{1,2}))?"
_ASSIGNED: Final = rf"""{_SUFFIX}(?:\\?["'])?\]?[^!-~]{{0,8}}[=:]"""
"""What stands between a name and a secret; a blank may be one of any alphabet."""
_PASSWORD: Final = r"(?:pass(?:word|wd|phrase|code)|pwd)"
_NARROWED: Final[Mapping[str, str]] = {
    r"[12]/(?:(?<!": r"[12]/[0-9]{10}",
    r"sq(?:(?<!": r"sq[pua]_[a-f0-9]{40}",
    r"cio(?:(?<!": r"cio[a-z0-9]{32}",
    r"""(?<=\s)(?:-h?p)["']?""": r"""[^!-~]-h?p["']?[^\s"'-][^\s"']{2}""",
    r"(?i:pass(?:word|wd|phrase|code)|pwd)(?:[ \t]{1,4}(?i:is|to|as))?": (
        rf"""{_PASSWORD}(?:[^!-~]{{1,4}}(?:is|to|as))?[^!-~]{{1,4}}["'`]?[^\s"'`]{{8}}"""
    ),
    r"""(?i:pass(?:word|wd|phrase|code)|pwd)(?:\\?["'])?[ \t]{0,8}(?:=>|:=|[=:])""": (
        rf"""{_PASSWORD}(?:\\?["'])?[^!-~]{{0,8}}[=:]"""
    ),
    r"(?i:pass(?:word|wd|phrase|code)|pwd|secret|credentials?|creds|token)": (
        r"""(?:pass(?:word|wd|phrase|code)|pwd|secret|credentials?|creds|token)["']?[^!-~]{0,8}[=:]"""
    ),
    r"(?<!⟨)(?i:pass(?:word|wd|phrase|code)|pwd)": _PASSWORD + _ASSIGNED,
    r"(?<!⟨)(?i:(?:(?<![A-Za-z])|(?<=ssh))pass(?![A-Za-z]))": "pass" + _ASSIGNED,
    r"(?<!⟨)(?i:token)": "token" + _ASSIGNED,
    r"A(?:KIA|": r"a(?:kia|sia|bia|cca|gpa|ida|roa|ipa|npa|nva|3t[a-z0-9])[a-z0-9]{16}",
    r"gl(?:pat|rtr?|dt|ptt|cbt|soat|ft|imt|wt|agent)-": r"gl(?:pat|rtr?|dt|ptt|cbt|soat|ft|imt|wt|agent)-",
    r"(?:pass(?:word|wd|phrase|code)|pwd|(?<=-)pass|secret|credentials?|creds|": (
        r"-(?:pass(?:word|wd|phrase|code)?|pwd|secret|credentials?|creds|[a-z]{3,7}-key|token)[ \t]"
    ),
    r"""(?i:(?:password|passphrase|passwd|secret|token|api[_-]?key|access[_-]?key))["']?:""": (
        r"""(?:password|passphrase|passwd|secret|token|key)["']?:[ \t]{0,4}(?:[|>][+-]?)?[ \t]{0,4}\r?\n"""
    ),
    r"""(?i:password|secret|token|key)["'\])]{0,3}[ \t]{1,4}(?:\|\||\?\?|or)""": (
        r"""(?:password|secret|token|key)["'\])]{0,3}[ \t]{1,4}(?:\|\||\?\?|or)[ \t]"""
    ),
    r"0\.(?:(?<![A-Za-z0-9_-]0\.)": r"0\.[a-f0-9]{8}-[a-f0-9]{4}-",
    r"://(?P<s>[A-Za-z0-9_-]{20,}+)": r"://[a-z0-9_-]{20}",
    r"""://[^\s/:@"'`<>\[⟨⟩]*+:(?P<s>""": r"://[^\s/:@]*:[^\s]",
    r"pat(?:(?<!": r"pat[a-z0-9]{14}\.",
    r"SK(?:(?<!": r"sk[a-f0-9]{32}",
    r"\$(?:apr1|1|2[aby]|5|6|y|argon2id?)\$": r"\$(?:apr1|1|2[aby]|5|6|y|argon2id?)\$",
    r"[MNO](?:(?<![A-Za-z0-9_-].)": r"(?:[mno][dtjz][a-z][a-z0-9]){5,6}[a-z0-9]{0,3}\.[a-z0-9_-]{6}\.",
    r"(?i:;[ \t]{0,4}(?:password|pwd))": r";[ \t]{0,4}(?:password|pwd)",
    r"(?i:(?:api|access|secret|auth|private|signing|encryption)[ _-]?": (
        r"""(?:key|token|secret)(?:[ \t]{1,4}(?:is|was)|[ \t]{0,4}[:=]|)[ \t]{1,4}["'`]?[a-z0-9+/=_-]{16}"""
    ),
    r"(?:(?i:setenv|setx|set[ \t]{1,4}-[a-z]{1,4}|config[: ]set)|ENV|ARG)": (
        r"(?:setenv|setx|set[ \t]{1,4}-[a-z]{1,4}|config[: ]set|env|arg)[ \t]{1,8}[a-z0-9_]{0,60}"
        r"(?:pass|pwd|secret|token|key)"
    ),
    r"#[ \t]{0,4}define": r"define[ \t]{1,8}[a-z0-9_]{0,60}(?:pass|pwd|secret|token|key)",
    r"(?i:machine\s{1,9}\S{1,99}|default)": r"(?:machine\s{1,9}\S{1,99}|default)\s{1,9}login",
    r"""(?<=\s)(?:-b|--cookie)""": r"""(?:-b|--cookie)[ =]["']?[\w.-]{1,64}=""",
    r"(?<=\s)(?:-[uU][ =]?": r"""(?:-u[ =]?|--(?:proxy-)?user[ =]|-a |--auth[ =])["']?[^\s:"'/]{1,64}:""",
    r"""\([ \t]{0,4}["'](?:[A-Z]""": r"""(?:pass|passwd|password|pwd|secret|token|key|salt)["'][ \t]{0,4},""",
    r"(?i:(?<![A-Za-z])(?:name|key))": (
        r"""(?:name|key)["']?[ \t]{0,4}:[ \t]{0,4}["']?[a-z0-9_.-]{0,60}(?:pass|pwd|secret|cred|key|token)"""
    ),
    r"""(?i:<[\w:.-]{1,40}[ ](?:name|key|id)=""": (
        r"""(?:name|key|id)="[\w.:-]{0,60}(?:passw|passphrase|secret|token|key)"""
    ),
    r"""(?i:password|secret|token)["'][ \t]{0,4}:\s{0,8}\{""": (
        r"""(?:password|secret|token)["'][ \t]{0,4}:\s{0,8}\{"""
    ),
    r"(?:enable[ \t]{1,8}(?:secret|password)": (
        r"(?:enable[ \t]{1,8}(?:secret|password)|username[ \t]{1,8}\S{1,60}[ \t]{1,8}(?:pri|sec|pass)"
        r"|(?:tacacs|radius)-server|key-string|pre-shared-key|isakmp)"
    ),
    r"(?:snmp-server[ \t]{1,8}community": r"(?:snmp-server[ \t]{1,8}|r[ow]|snmp[ \t]{1,8})community",
    r"""(?i:passphrase|password|passwd)[\"']?[ \t]{0,4}[:=][ \t]{1,4}""": (
        r"""pass(?:phrase|word|wd)["']?[ \t]{0,4}[:=][ \t]{1,4}[a-z]{3,12}[ ][a-z]{3,12}[ ]"""
    ),
    r"(?i:<[\w:.-]{0,40}(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)>)": (
        r"(?:passw(?:or)?d|secret|token|key)>"
    ),
}
_BLANK: Final = "[^!-~]"
"""A blank of any alphabet, and more: RE2 knows those of ASCII only."""
NARROWED_PATTERNS: Final[Mapping[str, str]] = {
    start: re.sub(r"\[ \\t\]|\[ \]|\\s(?=\{)", lambda _: _BLANK, quick) for start, quick in _NARROWED.items()
}
"""How a pattern begins, and what every match of it holds: for those whose hint is in most texts.

A pattern that begins otherwise is looked for by its hints, as scrubbing does, so a new one is never missed.
"""
_LONGEST_KEY: Final = 80
_SECRET_MANIFEST: Final = r"""kind["']?[ \t]*:[ \t]*["']?secret"""


@cache
def _secret_finder() -> TextFinder:
    """Return what finds in one pass what may be a secret, and a little more."""
    return TextFinder(
        sorted({_SECRET_MANIFEST, *(part for pattern in SECRET_RULES for part in _quick_pattern(pattern))})
    )


def _quick_pattern(pattern: SecretRule) -> Iterable[str]:
    narrowed = next(
        (quick for start, quick in NARROWED_PATTERNS.items() if pattern.source.startswith(start)), None
    )
    return map(re.escape, pattern.hints) if narrowed is None else (narrowed,)


def may_hold_secret(text: str) -> bool:
    """Return whether scrubbing could find anything; most texts of a session hold no hint of a secret."""
    return _secret_finder().is_in(text)


def _scrub_if_needed(text: str) -> str:
    scrubbed = scrub(text).text if may_hold_secret(text) else scrubber.replace_registered_secrets(text)
    if scrubbed.isascii():
        return scrubbed
    try:
        scrubbed.encode()
    except UnicodeEncodeError:
        return scrubbed.encode("utf-8", "replace").decode("utf-8")
    return scrubbed


_sanitize_short: Final = lru_cache(maxsize=8192)(_scrub_if_needed)


def sanitize_line(text: str, most: int = 500) -> str:
    """Return the beginning of a text as one line."""
    return sanitize_text(" ".join(text[: 4 * most].split())[:most])


def sanitize_value(value: Json, most: int = MOST_STRING) -> Json:
    """Return a value as it may be recorded; no string in it has more than `most` characters."""
    return _scrubbed_value(_bounded_value(value, 0, most))


def sanitize_record(value: Json) -> Json:
    """Return a record that is kept as it is: whole, but for encoded data such as pictures."""
    return _scrubbed_value(_bounded_value(_without_data(value, 0), 0, MOST_TEXT))


def _without_data(value: Json, depth: int) -> Json:
    """Cut long strings without any blank: what no human and no program here reads."""
    if isinstance(value, str):
        is_data = len(value) > MOST_STRING and not any(map(str.isspace, value[:MOST_STRING]))
        return sanitize_text(value, MOST_STRING) if is_data else value
    if depth >= _MOST_DEPTH:
        return value
    if isinstance(value, dict):
        members = cast("dict[str, Json]", value)
        return {key: _without_data(item, depth + 1) for key, item in members.items()}
    if isinstance(value, list):
        return [_without_data(item, depth + 1) for item in cast("list[Json]", value)]
    return value


def _scrubbed_value(value: Json) -> Json:
    """Scrub the parts of a value that may hold a secret; a record is looked at as one text first."""
    # One look at all of its strings together: nearly every record holds no secret, and a look costs the same
    # for a word as for a page.
    if is_clean(value):
        return value
    if isinstance(value, list):
        return [_scrubbed_value(item) for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Json]", value)
        if all(not _is_under_secret_name(key, item) and _is_clean_key(key) for key, item in members.items()):
            return {key: _scrubbed_value(item) for key, item in members.items()}
    return scrub_value(cast("object", value))[0]


def _is_clean_key(key: str) -> bool:
    if len(key) > _LONGEST_KEY:
        return is_clean(key)
    return _has_clean_rules(key) and scrubber.replace_registered_secrets(key) == key


@lru_cache(4_096)
def _has_clean_rules(key: str) -> bool:
    """Tell whether no rule changes a key, of which records have the same ones again and again."""
    return scrub(key).text == key


def _is_under_secret_name(key: str, value: Json) -> bool:
    """Tell whether a member's name says that it is a secret; a number or an object under it is none."""
    return isinstance(value, str | list) and secret_kind_of_name(key) is not None


def is_clean(value: Json) -> bool:
    """Tell whether scrubbing would change nothing."""
    strings: list[str] = []
    return _collected(value, strings) and _is_clean_text("\n".join(strings))


def _collected(value: Json, strings: list[str]) -> bool:
    """Add every string of a value, keys too; False where a key's name says that a secret is under it."""
    if isinstance(value, str):
        strings.append(value)
        return True
    if isinstance(value, dict):
        members = cast("dict[str, Json]", value)
        strings += members
        if any(_is_under_secret_name(key, item) for key, item in members.items()):
            return False
        return all(_collected(item, strings) for item in members.values())
    items = cast("list[Json]", value) if isinstance(value, list) else []
    return all(_collected(item, strings) for item in items)


def _is_clean_text(text: str) -> bool:
    return not may_hold_secret(text) and scrubber.replace_registered_secrets(text) == text


def sanitize_object(value: JsonObject, most: int = MOST_STRING) -> JsonObject:
    return cast("JsonObject", sanitize_value(dict(value), most))


def short_object(value: JsonObject) -> JsonObject:
    """Return an object that is fit to record already with its longest strings cut."""
    return cast("JsonObject", _bounded_value(dict(value), 0, MOST_STRING))


def _bounded_value(value: Json, depth: int, most: int) -> Json:
    if isinstance(value, str):
        short = value if len(value) <= most else sanitize_text(value, most)
        return short if short.isascii() else short.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return _bounded_members(cast("dict[str, Json]", value), depth, most)
    if isinstance(value, list):
        items = cast("list[Json]", value)
        return (
            [_bounded_value(item, depth + 1, most) for item in items[:_MOST_ITEMS]]
            if depth < _MOST_DEPTH
            else "[…]"
        )
    return value if not isinstance(value, float) or value - value == 0 else None


def _bounded_members(members: dict[str, Json], depth: int, most: int) -> Json:
    if depth >= _MOST_DEPTH:
        return "{…}"
    some = list(members.items())[:_MOST_ITEMS]
    return {str(_bounded_value(key, 0, most)): _bounded_value(item, depth + 1, most) for key, item in some}


def sanitize_hunks(hunks: tuple[Hunk, ...]) -> tuple[Hunk, ...]:
    """Return hunks whose lines may be recorded; a secret over several lines is taken out of all of them."""
    return tuple(_sanitize_hunk(hunk) for hunk in hunks)


def _sanitize_hunk(hunk: Hunk) -> Hunk:
    texts = [text for _, text in hunk.lines]
    whole = "\n".join(texts)
    cleaned = sanitize_text(whole)
    parts = cleaned.split("\n")
    if len(parts) != len(texts):
        parts = (
            [sanitize_text(text) for text in texts] if cleaned == whole else [*parts, *([""] * len(texts))]
        )
    rows = tuple((sign, part) for (sign, _), part in zip(hunk.lines, parts, strict=False))
    return Hunk(
        index=hunk.index, path=sanitize_text(hunk.path), old_start=hunk.old_start, old_count=hunk.old_count,
        new_start=hunk.new_start, new_count=hunk.new_count, lines=rows,
    )  # fmt: skip
