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
_SUBSTITUTE: Final = rf"s(?P<cut>[/|,#:@!%+_~]){_PART}{_PART}[gpIiMm0-9]*"
_TRANSLATE: Final = r"y/(?:[^/\\\n]|\\[^\n])*/(?:[^/\\\n]|\\[^\n])*/"
_TEXT: Final = r"[aic][ \t]+[^ \t\\\n][^\\\n]*(?=\n|\Z)"
_COMMAND: Final = re.compile(
    rf"[ \t\n;]*(?:\}}|{_RANGE}(?:\{{|{_TEXT}"
    rf"|(?:[pPdDqQ=nNgGhHxlzF]|{_SUBSTITUTE}|{_TRANSLATE})[0-9]*[ \t]*(?=[;\n}}]|\Z)))"
)
_LONGEST: Final = 2000
_SED_PLAIN: Final = re.compile(
    r"-[nErszu]+|--(?:quiet|silent|regexp-extended|null-data|separate|posix|debug|sandbox|unbuffered)"
)
_SED_ASKS: Final = ("--version", "--help")
_AWK_RISKS: Final = re.compile(r"\||\bsystem\b|\bgetline\b|@|\bclose\b|\bPROCINFO\b|\bENVIRON\b")
_AWK_PIECE: Final = re.compile(
    r"""(?P<string>"(?>(?:[^"\\\n]|\\[^\n])*)")|(?P<slash>/)|(?P<comment>\#[^\n]*)|(?P<blank>[ \t]+)"""
    r"""|(?P<word>[A-Za-z0-9_$.]+)|(?P<or>\|\|)|(?P<other>[^"\\])"""
)
_AWK_REGEX: Final = re.compile(r"/(?>(?:[^/\\\n]|\\[^\n])*)/")
_AWK_PRINTS_INTO: Final = re.compile(r"\bprintf?\b[^;{}\n]*>")
_AWK_GOES_ON: Final = re.compile(r"(?<=[,&])[ \t]*\n")
_BEFORE_REGEX: Final = frozenset("(,{};!~&|\n")


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
    code = _awk_code(rest[0]) if len(rest[0]) <= _LONGEST else None
    if code is None or _AWK_RISKS.search(code) or _AWK_PRINTS_INTO.search(code):
        return "its awk script may write files or run programs"
    return None


def _awk_code(script: str) -> str | None:
    """Return a script without its strings, regular expressions and comments; None where it is not certain.

    Whether a slash divides or begins an expression takes the whole grammar to say. Where it may do either,
    what stands up to the next one is kept, and holds no quote: both readings see the same strings behind it.
    """
    out, at, before = "", 0, "\n"
    while at < len(script):
        found = _AWK_PIECE.match(script, at)
        if found is None:
            return None  # a quote that does not close, or a backslash
        kind, text = found.lastgroup, found.group()
        regex = _AWK_REGEX.match(script, at) if kind == "slash" else None
        if regex is not None:
            text = regex.group()
            if '"' in text or ("[" in text and not _is_closed(text)):
                return None
            text = "0" if before in _BEFORE_REGEX else text
        out += '""' if kind == "string" else "" if kind == "comment" else "&&" if kind == "or" else text
        at = (regex or found).end()
        before = before if kind in ("blank", "comment") else text[-1]
    return _AWK_GOES_ON.sub(" ", out)


def _is_closed(regex: str) -> bool:
    """Say whether every bracket of an expression is closed in it, and could be read in one way only."""
    plain = re.sub(r"\\.", "", regex)
    return not re.search(r"\[\^?\]|\[[^\]]*(?:\[|/\Z)|\[[^\]]*\Z", plain)
