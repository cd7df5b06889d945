"""Lines made of the rows of the table: every option with values, `--`, shortened and joined options, strange operands."""

import random
import string
from collections.abc import Iterator, Sequence

from workbench.policy.shell.known_command_match import _table_row
from workbench.policy.shell.risk_lists import RISKY_OPTIONS

Words = list[str]
HOSTILE: list[Words] = [
    ["-x"], ["-"], ["("], [")"], ["!"], [","], ["@args"], ["=new.out"], ["+x"], ["!./evil"], ["|./evil"], ["+!./evil"],
    ["-exec", "./evil", ";"], ["--exec=./evil"], ["--exec", "./evil"], ["-delete"], ["-o", "new.out"], ["-onew.out"],
    ["--output=new.out"], ["--output", "new.out"], ["-f", "new.out"], ["-e", "./evil"], ["-c", "./evil"], ["-i"],
    ["-I", "./evil"], ["--config", "evil.cfg"], ["-r", "./evil"], ["-p", "evil"], ["--pre", "./evil"], ["--pager=./evil"],
    ["-fprint", "new.out"], ["-S", "evil.cmake"], ["-P", "evil.cmake"], ["-f", "evil.mk"], ["--require", "./evil.js"],
    ["-x", "new.out"], ["-h"], ["--help"], ["--version"], ["a=new.out"], ["-d", "new.out"], ["--o"], ["--out=new.out"],
    ["--plugin", "./evil.js"], ["-l", "./evil"], ["--eval", "(evil)"], ["-"], ["--", "-x"],
]  # fmt: skip
VALUES = ("./evil", "new.out", "|./evil", "@args", "1", "a", "a=1", "src", "never", "HEAD", "text", "json", "evil", "main",
          "%h", "2020-01-01", "b.txt", "0", "utf-8", "evil.js", "c", "f", "no:x", "/dev/null", "name")  # fmt: skip
RARE_VALUES = (
    "1",
    "json",
    "no:x",
    "error",
    "term",
    "ours",
    "black",
    "wide",
    "ON",
    "mod",
    "BOOL=ON",
    "x",
    "/dev/null",
)
"""Values of options that know only a few."""
OPERANDS: dict[str, list[Words]] = {
    "git": [["HEAD"], ["a.txt"], ["main"], ["HEAD~1"], ["other"], ["origin"], ["v1"], ["src"], [], ["nope"]],
    "git clone": [["https://127.0.0.1/x"]], "git remote show": [["origin"]], "git fetch": [["origin"], ["origin", "main"]],
    "git pull": [["origin"], ["origin", "main"], []], "git push": [["origin"], ["origin", "main"], []],
    "git ls-remote": [["origin"], []], "git config": [["user.name"], []], "git mv": [["a.txt", "new.out"], ["a.txt", "src"]],
    "git grep": [["a"], ["a", "a.txt"]], "git apply": [["a.txt"]], "git archive": [["HEAD"]],
    "git bisect start": [["HEAD", "HEAD~1"]], "git stash push": [["a.txt"], []],
    "find": [["."], ["src"], []], "grep": [["a", "a.txt"], ["a", "-r", "."]], "rg": [["a"], ["a", "src"]],
    "fd": [["a"], ["a", "src"]], "sed": [["p", "a.txt"]], "awk": [["{print}", "a.txt"]], "jq": [[".", "n.json"]],
    "date": [["+%s"], []], "chmod": [["644", "a.txt"]], "tr": [["a", "b"]], "cut": [["-c", "1", "a.txt"], ["-f1", "a.txt"]], "seq": [["1", "3"]], "sleep": [["0"]],
    "printf": [["%s", "a"], ["%n", "PATH"], ["-v", "PATH", "a"], ["x%-5n", "IFS"]],
    "expr": [["1", "+", "2"]], "test": [["-f", "a.txt"], ["a", "=", "b"]], "[": [["-f", "a.txt", "]"]],
    "tar": [["-cf", "new.tar", "a.txt"], ["-tf", "t.tar"], ["cf", "new.tar", "a.txt"], ["tvf", "t.tar"]],
    "zip": [["new.zip", "a.txt"], ["z.zip", "b.txt"]], "unzip": [["-l", "z.zip"], ["-v", "z.zip", "a.txt"]],
    "gunzip": [["b.txt.gz"]], "zcat": [["b.txt.gz"]], "zgrep": [["a", "b.txt.gz"]], "gzip": [["a.txt"], ["-d", "b.txt.gz"]],
    "curl": [["http://127.0.0.1:9/a.txt"], ["127.0.0.1:9"]], "wget": [["-O-", "127.0.0.1:9/a.txt"], ["--spider", "127.0.0.1:9"]],
    "cp": [["a.txt", "new.out"], ["a.txt", "src"]], "mv": [["a.txt", "new.out"]], "ln": [["a.txt", "new.out"]],
    "mkdir": [["new.out"]], "touch": [["new.out"]], "rm": [["a.txt"]], "rmdir": [["src"]], "truncate": [["-s", "0", "a.txt"]],
    "tee": [["/dev/null"]], "uniq": [["a.txt"], []], "xxd": [["a.txt"], []], "set": [["-e"], ["-o", "pipefail"]], "export": [["CI=1"]],
    "gcc": [["-c", "main.c"], ["main.c"], ["-E", "main.c"]], "make": [["all"], ["test"], [], ["main"]], "ninja": [["all"], []],
    "cmake": [["."], ["-B", "build"], ["--build", "build"]], "ctest": [[]], "ps": [["aux"], [], ["1"]], "pgrep": [["init"]],
    "npm run": [["x"]], "pnpm run": [["x"]], "yarn run": [["x"]], "npm run-script": [["x"]], "pnpm run-script": [["x"]],
    "pip show": [["pip"]], "pip install": [["-r", "evil.cfg"], ["./evil"]], "pip uninstall": [["nothing"]],
    "pytest": [["test_a.py"], []], "unittest": [["test_a"], []], "mypy": [["src"]], "pylint": [["src/main.py"]],
    "cargo test": [[], ["a"]], "go doc": [["fmt"]], "go get": [["demo"]], "mvn": [["validate"]], "gradle": [["hello"], ["tasks"]],
    "tsc": [["a.ts"], []], "svn log": [["wc"]], "svn status": [["wc"]], "svn diff": [["wc"]], "svn info": [["wc"]],
    "cmp": [["a.txt", "b.txt"]], "diff": [["a.txt", "b.txt"], ["-r", "src", "."]], "comm": [["a.txt", "b.txt"]], "join": [["a.txt", "b.txt"]],
    "command": [["-v", "ls"]], "which": [["ls"]], "type": [["ls"]], "ruff rule": [["F401"]], "rustc": [[]],
    "yes": [[]], "exit": [["0"], []], "wait": [[]], "tail": [["a.txt"]], "free": [[]], "terraform plan": [[]],
}  # fmt: skip


def operands_of(key: str) -> list[Words]:
    """Return what the lines of a row name."""
    for name in (key, key.rpartition(" ")[0], key.partition(" ")[0]):
        if name in OPERANDS:
            return OPERANDS[name]
    return [["a.txt"], ["src"], ["b.txt", "a.txt"], []]


def own_forms(key: str) -> list[Words]:
    """Return the options with which this program runs or writes something, in several forms."""
    own = [option for name in {key, key.partition(" ")[0]} for option in RISKY_OPTIONS.get(name, ())]
    return [form for option in sorted(own) for form in (
        [option, "./evil", ";"], [option], [option, "new.out"], [f"{option}=new.out"], [f"{option}=./evil"])]  # fmt: skip


def hostile_for(key: str) -> list[Words]:
    """Return words that make some program run or write something, those of this program first."""
    return own_forms(key) + HOSTILE


def shuffled(words: Sequence[Words], some: random.Random) -> list[Words]:
    """Return the same in another order."""
    return some.sample(words, len(words))


def dashed(key: str, forms: Sequence[Words], some: random.Random) -> Iterator[Words]:
    """Yield each form behind `--`, first by itself, then with what the program needs in front of it."""
    front = key.split()
    yield from ([*front, "--", *form] for form in forms)
    for form in forms:
        operands = some.choice(operands_of(key))
        yield [*front, "--", *operands, *form]
        yield [*front, *operands, "--", *form]


def option_words(name: str, takes: str, some: random.Random) -> Iterator[Words]:
    """Yield an option with several values, apart and attached."""
    if takes in ("", "?"):
        yield [name]
    if not takes:
        return
    values = [*VALUES[:4], *some.sample(VALUES[4:], 4)]
    for value in some.sample(values, len(values)) + list(RARE_VALUES):
        if takes == "?" or (takes in (":", "/") and some.random() < 0.5):
            yield [f"{name}={value}" if name.startswith("--") else f"{name}{value}"]
        elif takes == "::":
            yield [name, "a", value]
        else:
            yield [name, value]


def systematic(key: str, some: random.Random) -> Iterator[Words]:
    """Yield each option by itself, then `--` and strange words at each place."""
    row, front = _table_row(key), key.split()
    for name, takes in row.options.items():
        for option in option_words(name, takes, some):
            yield [*front, *option, *some.choice(operands_of(key))]
    for hostile in hostile_for(key):
        operands = some.choice(operands_of(key))
        yield [*front, "--", *hostile, *operands]
        yield [*front, *operands, *hostile]
        yield [*front, *hostile, *operands]


def swept(key: str, some: random.Random) -> Iterator[Words]:
    """Yield every letter as an option behind `--`, and every long option cut short."""
    row, front = _table_row(key), key.split()
    for letter in string.ascii_letters + string.digits:
        operands = some.choice(operands_of(key))
        yield [*front, "--", *operands, f"-{letter}", "new.out"]
        yield [*front, *operands, "--", f"-{letter}", "./evil"]
        yield [*front, f"-{letter}", *operands]
    for name in (*row.options, *RISKY_OPTIONS.get(front[0], ())):
        for end in range(3, len(name)):
            yield [*front, name[:end], "new.out"]
            yield [*front, f"{name[:end]}=new.out"]


def drawn(key: str, some: random.Random) -> Words:
    """Return a line of options, `--`, bundled letters and strange words in any order."""
    row, words = _table_row(key), key.split()
    options = list(row.options.items())
    for _ in range(some.randint(1, 4)):
        chance = some.random()
        if chance < 0.5 and options:
            name, takes = some.choice(options)
            words += some.choice(list(option_words(name, takes, some)))
        elif chance < 0.65:
            letters = [name[1] for name, _ in options if len(name) == 2 and name != "-#"] or ["x"]
            words.append(
                "-"
                + "".join(some.choice(letters) for _ in range(some.randint(2, 4)))
                + some.choice(["", "", "1", "./evil"])
            )
        elif chance < 0.75:
            words.append("--")
        elif chance < 0.9:
            words += some.choice(hostile_for(key))
        else:
            words += some.choice(operands_of(key))
    return words + (some.choice(operands_of(key)) if some.random() < 0.7 else [])


def packed(key: str, some: random.Random) -> Iterator[Words]:
    """Yield lines that each hold several options, for programs that take long."""
    options = [
        option
        for name, takes in _table_row(key).options.items()
        for option in option_words(name, takes, some)
    ]
    some.shuffle(options)
    for start in range(0, len(options), 3):
        group = [word for option in options[start : start + 3] for word in option]
        yield [*key.split(), *group, *some.choice(operands_of(key))]


def unique(lines: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the lines without those that come again."""
    return list(dict.fromkeys(map(tuple, lines)))
