"""Lines made at random for the readers of commands: shell lines, hidden commands, scripts of awk and sed."""

import random

HEADS = ["git log", "ls", "ls -l", "cat", "git log -3", "ls 'a b'", "cat a"]
WORDS = [
    "a",
    "-n",
    "-3",
    "'a b'",
    '"c"',
    "a\\ b",
    "''",
    "x=1",
    "\\;",
    "'$(evil)'",
    "\\`evil\\`",
    "$'a\\tb'",
    "$'\\x65'",
    "--",
    "é",
    "a,b",
    "'#'",
    "!",
]
JOINTS = [";", "&&", " || ", "|", " | ", "\n", " |& ", " &\n", " # x\n", " \\\n ", "; ! ", "\n\n"]
TAILS = [
    "",
    "",
    " 2>&1",
    " >/dev/null",
    " 2>/dev/null",
    " </dev/null",
    " <<'E'\n$(evil)\nE\n",
    " <<< 'evil'",
    " 2>&-",
    " >&2",
]
LOOSE = [
    ";", "&&", "|", "&", "\n", "$(", "${", ")", "}", "`", "'", '"', "\\", "\\\n", ">", ">>", ">|", "<", "<<E\n", "<<'E'\n", "\nE\n", "<<<", "<(",
    ">(", "(", "{ ", "; }", "#", "$x", "${x:-evil}", "$'", "\\x65", '$"', "*", "?", "[", "]", "~", "=", "x=", "PATH=.", "BASH_ENV=evil", "if ",
    "; then ", "; fi", "for x in a; do ", "; done", "while ", "case a in a) ", ";; esac", "f() { ", "2>&1", "&>/dev/null", ">out", "2>out", "&>out",
    ">&out", "<>out", "env ", "sudo ", "xargs ", "sh -c ", "eval ", "exec ", "command ", "time ", "coproc ", "tee out", "{evil,}", "$((", "))",
    "[[ ", " ]]", "[ ", " ]", "evil", " evil ", "\r", "\u00a0", "-c", "$'\\x{65}vil'", "\\\nevil",
]  # fmt: skip


def shell(some: random.Random) -> str:
    """Return a line of which grants may cover each command, in most cases with something that does not belong."""
    parts = []
    for _ in range(some.randint(1, 3)):
        parts += [
            " ".join([some.choice(HEADS), *(some.choice(WORDS) for _ in range(some.randint(0, 3)))])
            + some.choice(TAILS),
            some.choice(JOINTS),
        ]
    line = "".join(parts[:-1])
    for _ in range(some.choice([0, 0, 1, 1, 2])):
        at = some.randint(0, len(line))
        line = line[:at] + some.choice(LOOSE) + line[at:]
    return line


SPELLINGS = [
    "evil", "e'v'il", 'ev"il"', "\\evil", "e\\vil", "$'evil'", "$'\\x65vil'", "$'\\145vil'", "e$'\\u0076'il", "$'\\x{65}vil'", "$'\\U00000065'vil",
    "e$'vi'l", '$"evil"', "evi$'l\\0xx'", "''evil", "e\\\nvil", "./evil", "evil''",
]  # fmt: skip
SECOND = ["", "", " push", " $'\\x70ush'", " p'us'h", " pu\\sh", " $'push'", " pu$'\\163'h"]
DRESS = [
    "@@", "@@", "env @@", "env -i @@", "nice @@", "nice -n 5 @@", "nohup @@", "timeout 5 @@", "sh -c '@@'", 'sh -c "@@"', "bash -c '@@'",
    "sh -c @@", "bash -ec @@", "eval @@", "eval '@@'", "echo x | xargs @@", "echo @@ | sh", "(@@)", "{ @@; }", "if @@; then :; fi", "while @@; do break; done",
    "for x in a; do @@; done", "case a in a) @@;; esac", "f() { @@; }; f", "! @@", "time @@", "exec @@", "command @@", "X=1 @@", "@@ >/dev/null",
    ">/dev/null @@", "2>&1 @@", "</dev/null @@", "echo $(@@)", "echo `@@`", 'echo "$(@@)"', "cat <(@@)", "ls; @@", "ls && @@", "false || @@", "ls | @@",
    "@@ | cat", "@@ &", "ls\n@@", "ls # x\n@@", "ls \\\n; @@", "sh <<E\n@@\nE", "sh <<'E'\n@@\nE", "sh <<< '@@'", "find . -maxdepth 0 -exec @@ \\;",
    "setsid @@", "coproc @@", "[ -n a ] && @@", "[[ -n a ]] && @@", "${x:-@@}", "echo ${x:-$(@@)}", "$(echo @@)", "trap '@@' EXIT", "true & @@",
    "env X=1 nice @@", "xargs @@ </dev/null", "ls >(cat) && @@", "echo \"`@@`\"", ": $((@@ 1)); @@", "x=$(@@)", "select x in a; do @@; done </dev/null",
]  # fmt: skip
DENIED_NOISE = ["", "", "", " # x", " 2>&1", ";", "\n", " 'a'", "; ls"]


def hidden(some: random.Random) -> str:
    """Return a line that runs a program in one way or another, or in none."""
    line = some.choice(SPELLINGS) + some.choice(SECOND)
    for _ in range(some.choice([1, 1, 2])):
        dress = some.choice(DRESS)
        quote = dress.partition("@@")[0][-1:]
        line = line if quote not in ("'", '"') or quote not in line else "evil push"
        line = dress.replace("@@", line)
    line += some.choice(DENIED_NOISE)
    if some.random() < 0.15:
        at = some.randint(0, len(line))
        line = (
            line[:at]
            + some.choice(["'", '"', "\\", " ", "\n", "(", ")", "{", "}", "|", "&", "#", "$'", "`"])
            + line[at:]
        )
    return line


AWK = [
    "print", "printf", "print $1", 'print "a"', ' "f" ', '"f"', "f", " > ", ">", " >> ", "|", " | ", "|&", ",", "\n", "\n\n", ";", "{", "}", "(", ")", "&&",
    "||", "&&\n\n", "||\n", ",\n\n", "?", ":", "? \n", ":\n", "1", "$1", "x", "x++", "-", "+", "/", "/a/", "/;/", "/}/", "/\"/", "/[/]/", "/a;b/", "# c\n",
    " # \"\n", "\\\n", '"\\""', '"#"', "if (1) ", "if (1)\n", "else ", "else\n", "while (i++ < 1) ", "do ", "do\n", "BEGIN", "BEGIN {", "END {", "=", "x = ",
    "==", "~", "!", " in ", "x[1]", "length", "return ", "system(\"evil\")", "1system(\"evil\")", "0xasystem(\"evil\")", "getline", "getline < ", '"evil" | getline',
    "close(", "substr($1, 1)", "sprintf(\"%s\", 1)", "/=", "%", "^", "\"a\" > \"f\"", "> (\"f\")", "(1) > ", "*", "<", "exit ", "/ 2 ", "\t", "\r", "f\" > \"f",
]  # fmt: skip
AWK_WHOLE = [
    "BEGIN{%s}", "{%s}", "END {%s}", "%s", "BEGIN { if (x) %s; else %s }", "function g(y) {%s}\nBEGIN{g(1)}", "$1 > 0 {%s}", "BEGIN{print %s > \"f\"}",
    "BEGIN{print %s,%s}", "BEGIN{printf %s %s}", "BEGIN{x = %s; print x > \"f\"}", "BEGIN{print \"a\"%s\"b\"%s\"f\"}", "BEGIN{print 1%s2 > \"f\"}",
    "BEGIN{if(1)%sprint > \"f\"}", "BEGIN{print (%s)%s}", "{print $1 %s 2; print $2 %s 3}",
]  # fmt: skip


def awk(some: random.Random) -> str:
    """Return a script of awk, or something that looks like one."""
    whole = some.choice(AWK_WHOLE)
    pieces = ("".join(some.choice(AWK) for _ in range(some.randint(1, 3))) for _ in range(whole.count("%s")))
    return whole % tuple(pieces)


SED = [
    "p", "d", "s/a/b/", "s/a/b/g", "s/a/b/w f", "s/a/b/e", "s,a,b,", "s|a|b|2p", "s/a/b/Iw f", "s/[/]/b/", "s/a\\/b/c/", "s/a/b\\\nc/", "y/a/b/", "w f", "W f",
    "r a", "R a", "e", "e evil", "1e evil", ";", "\n", " ", "}", "{", "1", "$", "/a/", "/a/,/b/", "1,3", "1~2", "1!", "!", "a\\", "a\\\n", "a x", "i x", "c x",
    "a w f\n", "i\\\nw f\n", "b", "b x", ": x", "t", "n", "N", "=", "l", "F", "z", "q", "Q", "q5", "#n", "# w f", "g", "G", "x", "/w f/", "\\,a,", "v", "m", "M",
    "/e", "w", "f", "/", "\\", "s/x/evil/", "+1", "0,/a/", "D", "P", "h", "H", "I", "s/a/b/m", "s/a/b/M;w f", "s/^/evil /e", "p;p", "\\n", "y/ab/ef/",
]  # fmt: skip
SED_OPTIONS = [
    [],
    [],
    [],
    ["-n"],
    ["-E"],
    ["-s"],
    ["-z"],
    ["-n", "-e"],
    ["-e"],
    ["--expression"],
    ["-ne"],
    ["-u"],
    ["--posix"],
    ["-i"],
    ["-nf"],
    ["-nr", "-e"],
]


def sed(some: random.Random) -> list[str]:
    """Return the words of a sed: options and a script."""
    script = "".join(some.choice(SED) for _ in range(some.randint(1, 4)))
    return ["sed", *some.choice(SED_OPTIONS), script]
