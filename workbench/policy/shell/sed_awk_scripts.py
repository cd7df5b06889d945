"""The script languages of `sed` and `awk`: which scripts only read and print."""

import re
from collections.abc import Sequence
from typing import Final

_SED_ADDRESS: Final = r"(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\n]|\\[^\n])*/I?)"
_SED_RANGE: Final = rf"(?:{_SED_ADDRESS}(?:,(?:{_SED_ADDRESS}|\+[0-9]+|~[0-9]+))?[ \t]*!?[ \t]*)?"
_SED_PART: Final = r"(?:(?!(?P=cut))[^\\\n]|\\[^\n])*(?P=cut)"
_SED_SUBSTITUTE: Final = rf"s(?P<cut>[/|,#:@!%+_~]){_SED_PART}{_SED_PART}[gpIiMm0-9]*"
_SED_TRANSLATE: Final = r"y/(?:[^/\\\n]|\\[^\n])*/(?:[^/\\\n]|\\[^\n])*/"
_SED_TEXT: Final = r"[aic][ \t]+[^ \t\\\n][^\\\n]*(?=\n|\Z)"
_SED_COMMAND: Final = re.compile(
    rf"[ \t\n;]*(?:\}}|{_SED_RANGE}(?:\{{|{_SED_TEXT}"
    rf"|(?:[pPdDqQ=nNgGhHxlzF]|{_SED_SUBSTITUTE}|{_SED_TRANSLATE})[0-9]*[ \t]*(?=[;\n}}]|\Z)))"
)
_MAX_SCRIPT_LENGTH: Final = 2000
_SED_PLAIN: Final = re.compile(
    r"-[nErszu]+|--(?:quiet|silent|regexp-extended|null-data|separate|posix|debug|sandbox|unbuffered)"
)
_SED_INFORMATION_OPTIONS: Final = ("--version", "--help")
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
"""After these a slash begins an expression; after any other operand it divides."""
_AWK_CONDITIONS: Final = frozenset({"if", "while", "for", "switch"})
_AWK_UNSURE: Final = frozenset({"++", "--", "length"})
"""After these a slash may do either."""
_AWK_REPLACEMENTS: Final = {"string": '""', "comment": "", "or": "&&"}
_AWK_NUMBER: Final = re.compile(r"\$*(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][0-9]*)?(?![A-Za-z0-9_$.])")
_AWK_SIGNS: Final = re.compile(r"[;{}()\[\]<>|\"#@]")
"""Not allowed in an expression that might be none."""


def sed_risk(words: Sequence[str]) -> str | None:
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
            if not _SED_PLAIN.fullmatch(word) and word not in _SED_INFORMATION_OPTIONS:
                return f"sed {word} can write files or read a script"
        else:
            operands.append(word)
    scripts = scripts or operands[:1]
    bad = next((script for script in scripts if not _is_plain_sed(script)), None)
    return None if bad is None else "its sed script may write files or run programs"


def _is_plain_sed(script: str) -> bool:
    if len(script) > _MAX_SCRIPT_LENGTH:
        return False
    position = 0
    while position < len(script):
        match = _SED_COMMAND.match(script, position)
        if match is None:
            return script[position:].strip(" \t\n;") == ""
        position = match.end()
    return True


def awk_risk(words: Sequence[str]) -> str | None:
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
    code = _awk_code(rest[0]) if len(rest[0]) <= _MAX_SCRIPT_LENGTH else None
    if code is None or _AWK_RISKS.search(code) or _AWK_PRINTS_INTO.search(_without_groups(code)):
        return "its awk script may write files or run programs"
    return None


def _awk_code(script: str) -> str | None:
    """Return a script without strings, expressions and comments; None where it is not certain."""
    out, position, before = "", 0, ""
    groups: list[bool] = []
    while position < len(script):
        piece = _AWK_PIECE.match(script, position)
        if piece is None:
            return None  # a quote that does not close, or a backslash
        kind, text, position = piece.lastgroup or "", piece.group(), piece.end()
        if kind == "slash" and _begins_awk_regex(before):
            regex = _AWK_REGEX.match(script, piece.start())
            if regex is None or not _is_unambiguous_regex(regex.group()):
                return None
            text, position = "0", regex.end()
        elif _is_ambiguous_awk(kind, before, script[piece.start() :]):
            return None
        closes_condition = text == ")" and bool(groups) and groups.pop()
        if text == "(":
            groups.append(before in _AWK_CONDITIONS)
        out += _AWK_REPLACEMENTS.get(kind, text)
        if kind not in ("blank", "comment"):
            before = "if ()" if closes_condition else text
    return out


def _begins_awk_regex(before: str) -> bool:
    is_operand = before[-1:].isalnum() or before[-1:] in tuple('_."])+-')
    return before in _AWK_BEFORE_REGEX or not is_operand


def _is_ambiguous_awk(kind: str, before: str, rest: str) -> bool:
    if kind == "word":
        return re.match(r"\$*[0-9.]", rest) is not None and _AWK_NUMBER.match(rest) is None
    if kind != "slash" or before not in _AWK_UNSURE:
        return False
    regex = _AWK_REGEX.match(rest)
    return regex is not None and _AWK_SIGNS.search(regex.group()) is not None


def _without_groups(code: str) -> str:
    while (shorter := _AWK_GROUP.sub("[]", code)) != code:
        code = shorter
    return code


def _is_unambiguous_regex(regex: str) -> bool:
    plain = re.sub(r"\[:[a-z]+:\]", "x", re.sub(r"\\.", "", regex))
    return not re.search(r"\[\^?\]|\[[^\]]*(?:\[|/\Z)|\[[^\]]*\Z", plain)
