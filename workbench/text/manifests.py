r"""Finds the values of `kind: Secret` manifests, secret because of where they stand, not of what they say.

Owns the reading of YAML and JSON as a cluster's command line prints them, line by line, also in a diff. It
parses nothing and must never take more than linear time; a document that is no such manifest stays as it is.
"""

import re
from functools import cache
from typing import Final

from workbench.text import lookalikes

KIND: Final = "manifest-secret"
_MARK: Final = f"⟨secret: {KIND}⟩"
_IS_SECRET: Final = r"(?m)^[+-]?[ \t]*(?:- )?kind:[ \t]*[\"']?Secret[\"']?[ \t]*\r?$"
_EMPTY: Final = rf"[|>][+-]?|{lookalikes.PLACEHOLDER}"
_MOST: Final = 20_000
"""Characters of the members of one JSON object that are looked through."""


@cache
def _yaml_line() -> re.Pattern[str]:
    return re.compile(r"(?P<lead>[+-]?[ \t]*(?:- )?)(?P<name>[\w./-]{1,253}):[ \t]*(?P<value>.*)\Z")


@cache
def _json_data() -> re.Pattern[str]:
    return re.compile(rf'"(?:data|stringData)"[ \t]*:[ \t]*\{{(?P<members>[^{{}}]{{0,{_MOST}}})\}}')


@cache
def _json_value() -> re.Pattern[str]:
    return re.compile(r'("[^"\n]{1,253}"\s{0,20}:\s{0,20})"(?:[^"\\⟨⟩]|\\.)+"')


def replaced(text: str) -> str:
    """Return a text with marks in the place of the values of manifests that hold secrets."""
    if "Secret" not in text or "ata" not in text:
        return text
    if re.search(r'"kind"[ \t]*:[ \t]*"Secret"', text):
        text = _json_data().sub(_json_members, text)
    if lookalikes.compiled(_IS_SECRET).search(text):
        text = "\n---".join(map(_document, text.split("\n---")))
    return text


def _json_members(found: re.Match[str]) -> str:
    members = _json_value().sub(rf'\1"{_MARK}"', found["members"])
    return found.group().replace(found["members"], members) if found["members"] else found.group()


def _document(text: str) -> str:
    if not lookalikes.compiled(_IS_SECRET).search(text):
        return text
    out: list[str] = []
    inside = -1
    """Columns before the `data:` whose members are being read; -1 outside of any."""
    for line in text.split("\n"):
        found = _yaml_line().match(line)
        column = len(line) - len(line.lstrip(" \t+-"))
        if inside >= 0 and line.strip() and column <= inside:
            inside = -1
        if inside >= 0:
            out.append(_member(line, found))
            continue
        if found and found["name"] in ("data", "stringData") and not found["value"].strip():
            inside = len(found["lead"])
        out.append(line)
    return "\n".join(out)


def _member(line: str, found: re.Match[str] | None) -> str:
    """Return a line below `data:` without its value; a line of a block text is all value."""
    if not line.strip():
        return line
    if found is None:
        start = len(line) - len(line.lstrip())
        return line if _MARK in line else f"{line[:start]}{_MARK}"
    value = found["value"].strip()
    if not value or _MARK in value or lookalikes.compiled(_EMPTY).fullmatch(value.strip("\"'")):
        return line
    return line[: found.start("value")] + _MARK
