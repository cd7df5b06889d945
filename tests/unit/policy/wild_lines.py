"""Shell lines made of the rows of the table of programs: any quoting, any compound command, then damaged at random."""

import random
import re
from collections.abc import Sequence

from workbench.policy.shell.known_command_match import _table_row
from workbench.policy.shell.known_programs import KNOWN_PROGRAMS

KEYS = sorted(key for key in KNOWN_PROGRAMS if not key.endswith(" --") and key != "unittest")
VALUES = (
    "a", "b.txt", "src", "1", "--", "-", "-x", "evil", "./evil", "$(evil)", "`evil`", "a b", "x=evil", "*", "~", "{a,evil}", ";evil",
    "|evil", "&", "#", "!", "(", ")", "%n", "PATH", "PATH=.", "IFS=x", "a[$(evil)]", "\\", "'", '"', "@f", "é", "", "\t", "\n", "<", ">f",
)  # fmt: skip
JOINTS = (
    " ; ",
    ";",
    " && ",
    "&&",
    " || ",
    " | ",
    "|",
    "\n",
    "\n\n",
    " &\n",
    " |& ",
    "; \\\n",
    " ; : ; ",
    " && ! ",
)
SHAPES = (
    "@@", "@@", "@@", "( @@ )", "{ @@; }", "if @@; then @@; fi", "while @@; do @@; break; done", "for i in a 'b c'; do @@; done",
    "case a in a) @@;; *) @@;; esac", "! @@", "@@ 2>&1", "@@ >/dev/null", "@@ </dev/null", "@@ 2>/dev/null", "@@ <<'E'\n$(evil)\nE",
    "@@ <<E\nevil\nE", "@@ <<< 'evil'", "CI=1 @@", "LC_ALL=C @@", "until @@; do :; done", "@@ <<-'E'\n\tevil\n\tE", "@@ 2>&-",
    "if ! @@; then :; elif @@; then @@; else @@; fi", "@@ # evil", "@@ < b.txt", "(@@)\n(@@)",
)  # fmt: skip
SCRAPS = (
    ";", "&", "|", "\n", "(", ")", "{", "}", "<", ">", "`", "'", '"', "\\", "$", "#", "!", "*", "?", "[", "]", "~", "=", " ", "\t", "\r", "-", ",",
    "evil", " evil ", ";evil;", "\nevil\n", "&evil", "$(evil)", "`evil`", "${x-$(evil)}", "$((evil))", "<(evil)", ">(evil)", ">f", ">>f", "2>f",
    "&>f", "<>f", "<<E", "<<'E'", "\nE\n", "<<<", "$'\\x65vil'", "$'\\n'", "$\"evil\"", "{evil,}", "{a..c}", "\\\n", "''", '""', "x=1 ", "PATH=. ",
    "eval ", "exec ", "command ", "builtin ", "env ", "time ", "xargs ", ". ", "trap evil EXIT;", "function f {", "f(){", "};f", "[[ ", " ]]", "then ",
    "do ", "done", "fi", "esac", ";;", "in ", "coproc ", "&&", "||", "|&", "--", "-exec evil ;", "\u00a0", "\u2028", "%n", "a[$(evil)]", "!!", "%1",
)  # fmt: skip


def quoted(word: str, some: random.Random) -> str:
    """Return a word in one of the spellings of a shell."""
    chance = some.random()
    if chance < 0.45 and re.fullmatch(r"[\w./=:,@%+-]+", word):
        return word
    if chance < 0.7:
        return "'" + word.replace("'", "'\\''") + "'"
    if chance < 0.8:
        return '"' + re.sub(r'([\\"$`])', r"\\\1", word) + '"'
    if chance < 0.9:
        return "".join(sign if sign.isalnum() or sign == "\n" else f"\\{sign}" for sign in word) or "''"
    middle = some.randint(0, len(word))
    return "".join(
        f"'{part}'" if "'" not in part else quoted(part, some) for part in (word[:middle], word[middle:])
    )


def simple(some: random.Random) -> str:
    """Return a command of the table with options of its row."""
    key = some.choice(KEYS)
    options = list(_table_row(key).options.items())
    words: list[str] = []
    for _ in range(some.randint(0, 3)):
        if options and some.random() < 0.6:
            name, takes = some.choice(options)
            words += [name, *(some.choice(VALUES) for _ in takes.replace("?", ""))]
        else:
            words.append(some.choice(VALUES))
    return " ".join([key, *(quoted(word, some) for word in words)])


def line(some: random.Random) -> str:
    """Return a line of one to three commands, damaged in two cases of three."""
    parts: list[str] = []
    for _ in range(some.choice((1, 1, 2, 3))):
        shape = some.choice(SHAPES)
        for _ in range(shape.count("@@")):
            shape = shape.replace("@@", simple(some).replace("@@", ""), 1)
        parts += [shape, some.choice(JOINTS)]
    text = "".join(parts[:-1])
    for _ in range(some.choice((0, 1, 1, 2, 3))):
        text = damaged(text, some)
    return text


def damaged(text: str, some: random.Random) -> str:
    """Return a line with something put in, taken away, doubled or moved."""
    at, to = sorted((some.randint(0, len(text)), some.randint(0, len(text))))
    match some.randint(0, 4):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:to] + text[at : min(to, at + 6)] + text[to:]
        case 2:
            return text[:at] + text[to:] if to - at < 8 else text[:at] + some.choice(SCRAPS) + text[at:]
        case _:
            return text[:at] + some.choice(SCRAPS) + text[at:]


def heads(keys: Sequence[str]) -> list[str]:
    """Return the programs of rows."""
    return sorted({key.partition(" ")[0] for key in keys})
