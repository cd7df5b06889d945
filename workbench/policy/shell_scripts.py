r"""The small languages of `sed` and `awk`: which of their scripts only read and print.

Owns two readers that know the harmless part of each language. Whatever they do not know for certain is a
reason; they must never try to be complete.
"""

import re
from collections.abc import Sequence
from typing import Final

_ADDRESS: Final = r"(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\n]|\\[^\n])*/I?)"
_RANGE: Final = rf"(?:{_ADDRESS}(?:,(?:{_ADDRESS}|\+[0-9]+|~[0-9]+))?[ \t]*!?[ \t]*)?"
_PART: Final = r"(?:(?!(?P=cut))[^\\\n]|\\[^\n])*(?P=cut)"
_SUBSTITUTE: Final = rf"s(?P<cut>[/|,#:@!%+_~]){_PART}{_PART}[gpIi0-9]*"
_TRANSLATE: Final = r"y/(?:[^/\\\n]|\\[^\n])*/(?:[^/\\\n]|\\[^\n])*/"
_COMMAND: Final = re.compile(
    rf"[ \t\n;]*{_RANGE}(?:[pPdDqQ=nNgGhHxlz]|{_SUBSTITUTE}|{_TRANSLATE})[0-9]*[ \t]*(?=[;\n]|\Z)"
)
_LONGEST: Final = 2000
_SED_PLAIN: Final = re.compile(
    r"-[nErszu]+|--(?:quiet|silent|regexp-extended|null-data|separate|posix|debug|sandbox|unbuffered)"
)
_SED_ASKS: Final = ("--version", "--help")
_AWK_RISKS: Final = re.compile(r"\||>|\bsystem\b|\bgetline\b|@|\bclose\b|\bPROCINFO\b|\bENVIRON\b")
_AWK_STRINGS: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def sed_reason(words: Sequence[str]) -> str | None:
    """Return why a `sed` does more than print what it edits; None if it does not."""
    scripts: list[str] = []
    rest = list(words[1:])
    operands: list[str] = []
    while rest:
        word = rest.pop(0)
        if re.fullmatch(r"-[nErszu]*e|--expression", word) and rest:
            scripts.append(rest.pop(0))
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif word.startswith("-") and word != "-":
            if not _SED_PLAIN.fullmatch(word) and word not in _SED_ASKS:
                return f"sed {word} can write files or read a script"
        else:
            operands.append(word)
    scripts = scripts or operands[:1]
    bad = next((script for script in scripts if not _is_plain_sed(script)), None)
    return None if bad is None else "its sed script may write files or run programs"


def _is_plain_sed(script: str) -> bool:
    if len(script) > _LONGEST:
        return False
    at = 0
    while at < len(script):
        found = _COMMAND.match(script, at)
        if found is None:
            return script[at:].strip(" \t\n;") == ""
        at = found.end()
    return True


def awk_reason(words: Sequence[str]) -> str | None:
    """Return why an `awk` does more than print what it computes; None if it does not."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-") and rest[0] != "--":
        word = rest.pop(0)
        if word in ("-F", "-v") and rest:
            value = rest.pop(0)
        elif word[:2] in ("-F", "-v"):
            value = word[2:]
        else:
            return f"awk {word} can load code or write files"
        if word.startswith("-v") and not re.fullmatch(r"[a-z]\w*=.*", value, re.DOTALL):
            return "awk -v sets a variable of awk itself"
    if rest[:1] == ["--"]:
        rest.pop(0)
    if not rest:
        return "awk without a script"
    if len(rest[0]) > _LONGEST or _AWK_RISKS.search(_AWK_STRINGS.sub('""', rest[0])):
        return "its awk script may write files or run programs"
    return None
