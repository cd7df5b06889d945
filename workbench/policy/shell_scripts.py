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
_AWK_RISKS: Final = re.compile(r"\||@|system|getline|close|PROCINFO|ENVIRON|ARG[CV]|SYMTAB|bindtextdomain")
"""Looked for within words too: `0xasystem(...)` is a number and a call."""

_AWK_PIECE: Final = re.compile(
    r"""(?P<string>"(?>(?:[^"\\\n]|\\[^\n])*)")|(?P<slash>/)|(?P<comment>\#[^\n]*)|(?P<blank>[ \t]+)"""
    r"""|(?P<word>[A-Za-z0-9_$.]+)|(?P<or>\|\|)|(?P<count>\+\+|--)|(?P<other>[^"\\])"""
)
_AWK_REGEX: Final = re.compile(r"/(?>(?:[^/\\\n]|\\[^\n])*)/")
_AWK_GROUP: Final = re.compile(r"\([^()]*\)")
_AWK_PRINTS_INTO: Final = re.compile(r"(?<!s)print[^;}]*>")
"""Only a semicolon or a brace ends a statement here: where a line end does takes the whole grammar to say."""

_AWK_BEFORE_REGEX: Final = frozenset({
    "print", "printf", "return", "in", "case", "exit", "else", "do", "BEGIN", "END", "if ()", "+", "-",
})  # fmt: skip
"""What a slash begins an expression behind, although it looks like an operand; behind another it divides."""

_AWK_CONDITIONS: Final = frozenset({"if", "while", "for", "switch"})
_AWK_UNSURE: Final = frozenset({"++", "--", "length"})
"""Behind these a slash may do either."""

_AWK_STANDS: Final = {"string": '""', "comment": "", "or": "&&"}
_AWK_NUMBER: Final = re.compile(r"\$*(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][0-9]*)?(?![A-Za-z0-9_$.])")
_AWK_SIGNS: Final = re.compile(r"[;{}()\[\]<>|\"#@]")
"""What an expression must not hold where it might be no expression."""


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
    if code is None or _AWK_RISKS.search(code) or _AWK_PRINTS_INTO.search(_ungrouped(code)):
        return "its awk script may write files or run programs"
    return None


def _awk_code(script: str) -> str | None:
    """Return a script without its strings, expressions and comments; None where they are not certain."""
    out, at, before = "", 0, ""
    groups: list[bool] = []
    while at < len(script):
        found = _AWK_PIECE.match(script, at)
        if found is None:
            return None  # a quote that does not close, or a backslash
        kind, text, at = found.lastgroup or "", found.group(), found.end()
        if kind == "slash" and _begins_regex(before):
            regex = _AWK_REGEX.match(script, found.start())
            if regex is None or not _is_closed(regex.group()):
                return None
            text, at = "0", regex.end()
        elif _is_unsure(kind, before, script[found.start() :]):
            return None
        closes_condition = text == ")" and bool(groups) and groups.pop()
        if text == "(":
            groups.append(before in _AWK_CONDITIONS)
        out += _AWK_STANDS.get(kind, text)
        if kind not in ("blank", "comment"):
            before = "if ()" if closes_condition else text
    return out


def _begins_regex(before: str) -> bool:
    """Say whether a slash begins an expression, by what stands before it."""
    is_operand = before[-1:].isalnum() or before[-1:] in tuple('_."])+-')
    return before in _AWK_BEFORE_REGEX or not is_operand


def _is_unsure(kind: str, before: str, rest: str) -> bool:
    """Say whether a piece can be read in two ways that make a difference."""
    if kind == "word":
        return re.match(r"\$*[0-9.]", rest) is not None and _AWK_NUMBER.match(rest) is None
    if kind != "slash" or before not in _AWK_UNSURE:
        return False
    regex = _AWK_REGEX.match(rest)
    return regex is not None and _AWK_SIGNS.search(regex.group()) is not None


def _ungrouped(code: str) -> str:
    """Return a script without what stands in parentheses, where `>` compares."""
    while (shorter := _AWK_GROUP.sub("[]", code)) != code:
        code = shorter
    return code


def _is_closed(regex: str) -> bool:
    """Say whether every bracket of an expression is closed in it, and could be read in one way only."""
    plain = re.sub(r"\[:[a-z]+:\]", "x", re.sub(r"\\.", "", regex))
    return not re.search(r"\[\^?\]|\[[^\]]*(?:\[|/\Z)|\[[^\]]*\Z", plain)
