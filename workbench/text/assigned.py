r"""What stands right of the name of a password: whether it is one, told by its line and those around it.

Owns these checks; the forms are rows of `text.patterns`, what no value may be is in `text.lookalikes`. None
looks further around a match than a few hundred characters.
"""

import re
from typing import Final

from workbench.text import lookalikes as like

_FAR: Final = 200
"""Characters of the lines around a match that are looked at."""


def is_assigned(found: re.Match[str]) -> bool:
    """What stands right of a password is taken unless it is a name, a template or a type."""
    if like.is_environment(found) and like.secret(found) == "secret" and "PASS" in like.key_of(found):
        return True
    if found.lastgroup != "bare":
        return like.is_closed(found) and like.is_literal(found)
    if _is_reference(found):
        return False
    if like.is_bare_secret(found, like.SHORTEST) or _is_word(found):
        return True
    return like.is_passphrase(like.secret(found), 3 if "phrase" in like.key_of(found).lower() else 4)


def is_assigned_pass(found: re.Match[str]) -> bool:
    """`pass` is a word of tests, too: `PASS: test_x1` names one, `DB_PASS: x1y2z3` is none."""
    before = found.string[max(0, found.start() - 1) : found.start()]
    if before in ("_", "-", ".") or like.is_environment(found):
        return is_assigned(found)
    return not like.key_of(found).startswith("PASS") and like.is_assigned_token(found)


def _is_reference(found: re.Match[str]) -> bool:
    """A secret is named, not given: `existingSecret: db-auth`, the end of an ARN, a shell's complaint."""
    before = found.string[max(0, found.start() - 14) : found.start()]
    return (
        before.endswith("existing")
        or bool(like.compiled(r":\d{12}:\Z").search(before))
        or (like.secret(found)[0] == "?" and found.string[found.end() : found.end() + 1] == "}")
    )


def _is_word(found: re.Match[str]) -> bool:
    """A plain word, which is a value where lines around it say that this is no code."""
    if not like.is_literal(found):
        return False
    above, line, below = _lines(found)
    if _is_only_line(found, line):
        return True
    if _is_below_environment(found, above, line):
        return True
    if not like.is_plain_value(like.secret(found)):
        return False
    return _is_variable(line) or _is_beside_login(found, above, line, below) or _is_named(found)


def _lines(found: re.Match[str]) -> tuple[str, str, str]:
    """Return what is above the line of a match, the line, and what is below; each bounded."""
    text, start, end = found.string, found.start(), found.end()
    begin = text.rfind("\n", max(0, start - _FAR), start) + 1 or max(0, start - _FAR)
    close = text.find("\n", end, end + _FAR)
    close = close if close >= 0 else min(len(text), end + _FAR)
    above = text[max(0, begin - 2 * _FAR) : max(0, begin - 1)]
    return above, text[begin:close].rstrip("\r"), text[close + 1 : close + _FAR]


def _is_only_line(found: re.Match[str], line: str) -> bool:
    """`password=letmein` as a whole line, as in a file of properties: no program is written like that."""
    name, _, value = line.partition("=")
    is_name = like.compiled(r"(?:[+-]|[\w./-]{0,80}:?\d{1,6}[:-][ \t]?)?(?:export )?[\w.-]{0,80}").fullmatch(
        name
    )
    is_name_of_code = like.compiled(r"[A-Za-z_]\w*(?:\.\w+)+|[a-z]+(?:_[a-z]+)+").fullmatch(value)
    return bool(is_name) and len(value) > 3 and value == like.secret(found) and not is_name_of_code


_VARIABLE: Final = r"[+-]?\s*([A-Z][A-Z0-9_]*): \S+"
_SPOKEN_OF: Final = (
    "INVALID|WRONG|MISSING|BAD|WEAK|INCORRECT|EMPTY|RESET|FORGOT|CHANGE|UPDATE"
    "|CONFIRM|ENTER|SHOW|HIDE|MIN|MAX"
)


def _is_below_environment(found: re.Match[str], above: str, line: str) -> bool:
    """`PASSWORD: Word` as a whole line below `environment:`."""
    whole = like.compiled(_VARIABLE).fullmatch(line)
    return bool(whole) and line.endswith(like.secret(found)) and "environment:" in above


def _is_variable(line: str) -> bool:
    """`DB_PASSWORD: word` as a whole line; a name of one word, or of a message, says too little."""
    whole = like.compiled(_VARIABLE).fullmatch(line)
    return bool(
        whole and "_" in whole[1] and not like.compiled(rf"(?:.*_)?(?:{_SPOKEN_OF})_.*").fullmatch(whole[1])
    )


_PAIR: Final = r"[+-]?[ \t]*[\w.-]{1,40}[ \t]{0,4}([:=])[ \t]{0,4}[^\s,;({]+"
_LOGIN: Final = (
    r"[+-]?[ \t]*[\w.-]{0,20}(?:user|user[_-]?name|login|email|host)"
    r"[ \t]{0,4}([:=])[ \t]{0,4}([^\s,;({]{1,80})[ \t]*"
)


def _is_beside_login(found: re.Match[str], above: str, line: str, below: str) -> bool:
    """`password: word` as a whole line beside the name that it belongs to: settings, and not code."""
    whole = like.compiled(_PAIR).fullmatch(line)
    if not whole or not line.endswith(like.secret(found)):
        return False
    if whole[1] == "=" and not like.compiled(r"(?m)^\[[\w .:\"-]{1,60}\]\r?$").search(above):
        return False
    beside = (above.rsplit("\n", 1)[-1], below.split("\n", 1)[0])
    logins = [
        login for login in map(like.compiled(_LOGIN).fullmatch, beside) if login and login[1] == whole[1]
    ]
    return any(not _is_typed(login[2]) for login in logins)


def _is_typed(value: str) -> bool:
    """`string`, `String!`, `Username`: beside it stands a type or a label as well."""
    return bool(like.compiled(rf"{like.PLACEHOLDER}|[A-Z].*").fullmatch(value))


def _is_named(found: re.Match[str]) -> bool:
    """`- name: DB_PASS` with `value: word` below it."""
    key = r"(?i:name|key)[^\w]{1,6}[A-Z][A-Z0-9_]*_PASS(?:W(?:OR)?D)?[^\w]"
    return bool(like.compiled(key).match(like.key_of(found)))
