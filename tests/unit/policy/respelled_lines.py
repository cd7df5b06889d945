"""Draws command lines: denied ones in other spellings, and any lines of programs that can be watched."""

import shlex
from itertools import chain

from tests.unit.policy.denied_spellings import DENIALS, rows_of
from workbench.policy.shell.denials import parse_denial
from workbench.policy.shell.option_reading import option_row
from workbench.policy.shell.option_synonyms import EQUAL_OPTIONS

OPERANDS = {
    "git push": ("origin", "dev"), "git branch": ("gone",), "git checkout": ("dev",), "git tag": ("old",),
    "git rebase": ("HEAD~1",), "git worktree remove": ("../tree",), "rm": ("other",), "chmod": ("tree",),
    "chown": ("0", "tree"), "kill": ("4711",), "sed": ("s/a/b/", "a.txt"), "tar": ("old.tar",),
    "cp": ("tree", "new"), "mv": ("a.txt", "new"), "curl": ("https://a.example",), "docker run": ("alpine",),
}  # fmt: skip
PREFIXES = (
    "", "", "", "", "command ", "env ", "nice -n 5 ", "nohup ", "X=1 ", "env X=1 ", "sudo -n ", "timeout 5 ", "ls && ",
    "ls; ", "cd sub && ", "/usr/bin/", "\\", "( ", "if true; then ", "xargs ", "! ",
)  # fmt: skip
SUFFIXES = {"( ": " )", "if true; then ": "; fi"}
WRAPPED = ("bash -c {}", "sh -c {}", "eval {}", "echo $({})", "x=$({})")
_VALUE = "v1"


def respelled_denials(chance, count):
    """Yield (pattern, line): the line is another spelling of what the pattern denies."""
    patterns = [pattern for _, _, pattern in rows_of(DENIALS)]
    for _ in range(count):
        pattern = chance.choice(patterns)
        yield pattern, _disguised(chance, _respelled(chance, parse_denial(pattern)))


def _respelled(chance, denial):
    reading = denial.reading
    key, row = reading.key, option_row(reading.key)
    options = [_spelled_option(chance, option, row) for option in reading.options]
    options += _extra_options(chance, reading, row)
    options = _with_equals(chance, key, reading, options)
    if denial.inner is not None:
        return f"{key} {_respelled(chance, denial.inner)}"
    chance.shuffle(options)
    words = (
        _bundled_words(chance, options)
        if row is None or "WHOLE" not in row.words
        else [*chain.from_iterable(options)]
    )
    operands = [names[0] for names in reading.operands] or list(OPERANDS.get(key, ()))
    if row is not None and row.words & {"STOP", "STOP2"}:
        return " ".join((key, *words, *operands))
    place = chance.choice((0, len(operands), chance.randrange(len(operands) + 1)))
    return " ".join((key, *operands[:place], *words, *operands[place:]))


def _with_equals(chance, key, reading, options):
    """Write `-d -f` as `-D` now and then."""
    names = {name for option in reading.options for name in option.names}
    for name, others in EQUAL_OPTIONS.get(key, {}).items():
        if names.issuperset(others) and chance.random() < 0.4:
            return [[name], *options[len(reading.options) :]]
    return options


def _spelled_option(chance, option, row):
    if not option.row:
        return [option.name]
    names = [name for name in option.names if name != "-m" or row.key != "npm"]
    name = chance.choice(names)
    if name.startswith("--") and chance.random() < 0.4:
        name = _shortened(chance, name, row)
    if option.value is None:
        return [name]
    is_short = not name.startswith("--")
    if chance.random() < 0.5:
        return [f"{name}{option.value}" if is_short else f"{name}={option.value}"]
    return [name, option.value]


def _shortened(chance, name, row):
    """Cut a long name as far as only one option begins so."""
    if row.words & {"EXACT", "WHOLE"}:
        return name
    rows = [each for each in (row, option_row(row.key.split(" ")[0])) if each is not None]
    least = 3
    for each in {option.names: option for row_ in rows for option in row_.options}.values():
        if name in each.names:
            continue
        for other in each.names:
            common = 0
            while common < min(len(name), len(other)) and name[common] == other[common]:
                common += 1
            least = max(least, common + 1)
    return name[: chance.randint(min(least, len(name)), len(name))]


def _extra_options(chance, reading, row):
    if row is None:
        return [["--dry"]] if chance.random() < 0.3 else []
    taken = {name for option in reading.options for name in option.names}
    free = [each for each in row.options if taken.isdisjoint(each.names) and each.takes != "?"]
    return [
        [name, _VALUE] if each.takes and len(name) > 1 else [name]
        for each in chance.sample(free, min(len(free), chance.randrange(3)))
        for name in [chance.choice(each.names)]
        if name not in ("-exec", "-execdir", "-ok", "-okdir", "--get", "-G", "-X", "--request", "-c")
    ]


def _bundled_words(chance, options):
    """Put letters into one word now and then; one with a value goes last."""
    letters = [each for each in options if len(each) == 1 and len(each[0]) == 2]
    others = [each for each in options if each not in letters]
    if len(letters) > 1 and chance.random() < 0.6:
        others.append(["-" + "".join(each[0][1] for each in letters)])
    else:
        others += letters
    chance.shuffle(others)
    return [*chain.from_iterable(others)]


def _disguised(chance, line):
    if chance.random() < 0.2:
        form = chance.choice(WRAPPED)
        return form.format(line if "$(" in form else shlex.quote(line))
    prefix = chance.choice(PREFIXES)
    words = line.split(" ")
    if chance.random() < 0.2:
        place = chance.randrange(len(words))
        words[place] = chance.choice(("'{}'", '"{}"')).format(words[place])
    gap = " " * chance.choice((1, 1, 2))
    return f"{prefix}{gap.join(words)}{SUFFIXES.get(prefix, '')}"


# --- lines of programs that can be watched ---------------------------------------------------------------

WATCHED = {
    "git push": ("-f -v -q -u --force --force-with-lease --tags --atomic --thin --follow-tags -d --delete --porcelain"
                 " --no-verify --no-force -n --mirror --prune --all",
                 "dev main +dev +main :gone gone HEAD:main other", "git push", "origin"),
    "git clean": ("-f -d -x -q -n -X --force --dry-run --quiet", "tree junk .", "git clean", ""),
    "git branch": ("-d -D -f --delete --force -q --quiet -v", "gone merged", "git branch", ""),
    "git reset": ("-q --hard --soft --mixed --keep --quiet", "HEAD HEAD~1", "git reset", ""),
    "git commit": ("-a -q -n --amend --no-edit --no-verify --allow-empty -v -s -m=x -m=--amend --message=x", "",
                   "git commit", ""),
    "git stash": ("-u -q -k -a --include-untracked --keep-index --all --quiet -m=-u", "", "git stash push", ""),
    "rm": ("-r -f -R -v -d --recursive --force --verbose --dir --one-file-system", "build other a.txt tree", "rm", ""),
    "chmod": ("-R -v -c -f --recursive --verbose --changes --quiet", "tree a.txt", "chmod", "777 0777 755 a+rwx u+w"),
    "sed": ("-n -i -E -s -u -z --quiet --in-place --regexp-extended -e=p --expression=p --debug", "a.txt", "sed", "p"),
    "tar": ("-x -v -k -m -t --extract --get --list --verbose --keep-old-files --touch", "", "tar -f old.tar", ""),
    "cp": ("-r -R -a -p -v -f --recursive --archive --verbose -L -P", "tree", "cp", "new"),
}  # fmt: skip
"""Options, operands, beginning and first operand of lines that are run: none of them leaves its folder."""


def drawn_line(chance, section):
    """Return a line of a program with options and operands at random, spelled at random."""
    options, operands, start, first = (part.split() for part in WATCHED[section])
    row = option_row("git stash push" if section == "git stash" else section)
    chosen = [
        _drawn_option(chance, text, row)
        for text in chance.sample(options, chance.randint(1, min(4, len(options))))
    ]
    words = _bundled_words(chance, chosen)
    named = (
        chance.sample(operands, chance.randint(0 if "git" in section else 1, min(2, len(operands))))
        if operands
        else []
    )
    subject = [chance.choice(first)] if first else []
    tail = [*named, *subject] if section == "cp" else [*subject, *named]
    place = chance.randrange(len(tail) + 1)
    return shlex.join([*start, *tail[:place], *words, *tail[place:]])


def _drawn_option(chance, text, row):
    name, equals, value = text.partition("=")
    if name.startswith("--") and row is not None and chance.random() < 0.4:
        name = name[: chance.randint(min(len(name), 4), len(name))]
    if not equals:
        return [name]
    return (
        [f"{name}={value}" if name.startswith("--") else f"{name}{value}"]
        if chance.random() < 0.5
        else [name, value]
    )
