"""Programs that read an argument or their input as code: which words of a command each of them reads so.

The tables are read for commands that a person wrote. What they do not know for certain is reported as such.
"""

# A value is data where the program is known to take it for data, or where the program is not known and the
# value is an argument of its own. It is code where an interpreter parses it, where it may be an option of an
# interpreter (`perl -e CODE {{ x }}` reads `-e…`), and where it names a program or a script.

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from workbench.pipelines.command_words import NO_MARKS, UNKNOWN, CommandWord, Input, Marks, all_marks, joined
from workbench.policy.shell.risk_lists import (
    CODE_MODULES,
    COMMAND_WRAPPERS,
    DATA_TAKERS,
    INTERPRETER_OPTIONS,
    INTERPRETERS,
    RESERVED_WORDS,
    SHELL_LIKE_PROGRAMS,
    SHELLS,
    WRAPPERS,
    program_name,
)
from workbench.policy.shell.wrapped_command import PLAIN_WRAPPER, WRAPPER_OPTIONS, WrapperOptions


class Script(Protocol):
    """The script that a command is a part of."""

    own: Marks
    """Names whose values are a part of the script, as the manifest has them."""

    def report(self, marks: Marks, reader: str, *, is_certain: bool = True) -> None:
        """Record that a program reads the values of some templates as code."""
        ...

    def read_inner(self, code: CommandWord, args: Sequence[CommandWord], given: Input, reader: str) -> None:
        """Read a text that an inner shell runs, with its arguments."""
        ...

    def named_marks(self, text: str) -> Marks:
        """Return the marks of the variables that a text names."""
        ...

    def assign(self, name: str, marks: Marks) -> None:
        """Record that a variable holds values."""
        ...

    def evaluate(self, name: str) -> None:
        """Record that the shell evaluates what a variable is set to, as after `declare -i`."""
        ...

    def report_all(self) -> None:
        """Record that the script cannot be read for certain."""
        ...

    def pass_arguments(self, marks: Marks, given: Input) -> None:
        """Record what the functions of the script, or the script itself, get as arguments."""
        ...


class CodeOptions(Struct, frozen=True, kw_only=True):
    """How an interpreter finds its code."""

    code: str
    """Letters of options whose value is code."""
    valued: str = ""
    """Letters of options that take the next word, or the rest of theirs."""
    joined: str = ""
    """Letters of options that take the rest of their word only."""
    long_code: tuple[str, ...] = tuple(INTERPRETER_OPTIONS)
    long_valued: tuple[str, ...] = ()
    ends: str = ""
    """Letters of options whose value ends the options: everything after it is data."""
    first_is_code: bool = False
    """The first operand is code where no option names any."""
    is_permuting: bool = False
    """Options may also follow operands."""


_SHELL_OPTIONS: Final = CodeOptions(code="", valued="oO", long_valued=("--rcfile", "--init-file"))
_LANGUAGES: Final[Mapping[str, CodeOptions]] = {
    **{name: CodeOptions(code="".join(letters)) for name, letters in INTERPRETERS.items()},
    **dict.fromkeys(
        ("python", "pythonw", "pypy", "ipython"), CodeOptions(code="", valued="WX", ends="cm")
    ),
    "perl": CodeOptions(code="eE", valued="I", joined="0CDFilMmxdVv"),
    "ruby": CodeOptions(code="e", valued="CEIr", joined="0FKTWxi"),
    **dict.fromkeys(
        ("node", "nodejs"),
        CodeOptions(code="ep", valued="rC", long_valued=("--require", "--import", "--conditions")),
    ),
    "php": CodeOptions(code="rBRE", valued="dcfFtzgS"),
    "lua": CodeOptions(code="e", valued="l"),
    "awk": CodeOptions(
        code="e", valued="vF", joined="", long_code=("--source",),
        long_valued=("--assign", "--field-separator"), first_is_code=True,
    ),
    "sed": CodeOptions(
        code="e", valued="l", joined="i", long_code=("--expression",), long_valued=("--line-length",),
        first_is_code=True, is_permuting=True,
    ),
}  # fmt: skip
_FILE_OPTIONS: Final = {"awk": ("-f", "-i", "-E", "--file", "--include"), "sed": ("-f", "--file")}
"""Options that name a file of code."""


class CodeCall(Struct, frozen=True, kw_only=True):
    """What an interpreter makes of its words."""

    codes: tuple[CommandWord, ...] = ()
    module: CommandWord | None = None
    operands: tuple[CommandWord, ...] = ()
    """Everything after the options."""
    options: Marks = NO_MARKS
    """Of words that are read as options, or may be."""


def read_code_call(args: Sequence[CommandWord], rules: CodeOptions) -> CodeCall:
    """Take the words of an interpreter apart."""
    call, operands = CodeCall(), list[CommandWord]()
    index = 0
    while index < len(args):
        word = args[index]
        if word.text == "--":
            operands += args[index + 1 :]
            break
        if not word.is_open and not _is_option(word.text):
            operands.append(word)
            if not rules.is_permuting:
                operands += args[index + 1 :]
                break
            index += 1
            continue
        call, index, is_end = _read_option(call, args, index, rules)
        if is_end:
            operands += args[index:]
            break
    return replace(call, operands=tuple(operands))


def _is_option(text: str) -> bool:
    return len(text) > 1 and text[0] in "-+"


def _read_option(
    call: CodeCall, args: Sequence[CommandWord], index: int, rules: CodeOptions
) -> tuple[CodeCall, int, bool]:
    """Read the option at a place; return the call with it, the place after it and whether options end."""
    word = args[index]
    following = args[index + 1] if index + 1 < len(args) else CommandWord(text="")
    kind, value = _option_value(word, rules)
    used = following if value is None else value
    after = index + (2 if value is None and kind else 1)
    if kind == "code":
        return replace(call, codes=(*call.codes, used)), after, False
    if kind == "end":
        is_module = value is None and word.text.endswith("m")
        call = replace(call, module=used) if is_module else replace(call, codes=(*call.codes, used))
        return call, after, True
    is_data = kind != "value" or not used.is_open or _is_assigned(word, rules)
    marks = NO_MARKS if is_data and not used.is_split else used.marks
    return replace(call, options=call.options | word.marks | marks), after, False


def _is_assigned(word: CommandWord, rules: CodeOptions) -> bool:
    """Return whether an option takes a value as data, such as `-v` and `-F` of awk."""
    return "v" in rules.valued and word.text in ("-v", "-F", "--assign", "--field-separator")


def _option_value(word: CommandWord, rules: CodeOptions) -> tuple[str, CommandWord | None]:
    """Return what an option takes (`code`, `value`, `end` or nothing), and its value if it is joined."""
    text = word.text
    if text.startswith("--"):
        name, equals, _ = text.partition("=")
        kind = "code" if name in rules.long_code else "value" if name in rules.long_valued else ""
        return kind, word.rest(len(name) + 1) if equals and kind else None
    for place, letter in enumerate(text[1:], 1):
        rest = word.rest(place + 1) if place + 1 < len(text) else None
        if letter in rules.code:
            return "code", rest
        if letter in rules.ends:
            return "end", rest
        if letter in rules.valued:
            return "value", rest
        if letter in rules.joined:
            return "", None
    return "", None


# --- what each program does with its words ------------------------------------------------------------


def judge_command(words: Sequence[CommandWord], given: Input, script: Script) -> None:
    """Report the values of a command that an inner interpreter reads as code."""
    if not words:
        return
    head = words[0]
    args = tuple(word.without(head.marks & script.own) for word in words[1:])
    if head.marks - script.own:
        script.report(head.marks, "the shell, as the name of a program")
        return
    if head.text in _MISREAD_HEADS:
        script.report_all()
        return
    if not head.is_known:
        script.report(all_marks(args) | given.marks, "a program that is not known here", is_certain=False)
        return
    name = program_name(head.text)
    judge = _JUDGES.get(name)
    if judge is not None:
        judge(name, args, given, script)
    elif name not in DATA_TAKERS:
        _judge_other(name, args, given, script)


_MISREAD_HEADS: Final = RESERVED_WORDS - {"time"} | {"(("}
"""The grammar has such a word for a program only where it misread what stands in front of it."""


def _judge_shell(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    call = read_code_call(args, _SHELL_OPTIONS)
    reader = f"{name} -c"
    script.report(call.options, reader)
    options = args[: len(args) - len(call.operands)]
    letters = {letter for word in options for letter in word.text[1:] if _is_cluster(word.text)}
    if "c" in letters and call.operands:
        script.read_inner(call.operands[0], call.operands[1:], given, reader)
    elif call.operands and call.operands[0].text != "-" and "s" not in letters:
        script.report(call.operands[0].marks, f"{name}, as the name of a script")
    else:
        _judge_shell_input(name, call.operands, given, script)


def _is_cluster(text: str) -> bool:
    return len(text) > 1 and text[0] == "-" and text[1] != "-"


def _judge_shell_input(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    script.report(given.marks, f"{name}, from its input")
    if given.text and not given.marks:
        script.read_inner(CommandWord(text=given.text), args, Input(), f"{name}, from its input")


_MAY_RUN: Final = re.compile(
    r"eval|exec|system|popen|spawn|fork|subprocess|compile|child_process|Function\s*\(|instance_|__send__"
    r"|`|qx|%x|import_module|__import__|runpy|require\s*\(?\s*[^\s'\"(]|getline|open\s*\(|(?<!\|)\|(?!\|)"
)
"""What code of a language that is not read here may run other code with."""
_OPENS_OPERANDS: Final = re.compile(r"(?:^| )-[A-Za-z0-9]*[np]|<>|<ARGV>")
"""Perl opens its operands in a way that runs `command|`."""
_DATA_OPEN: Final = re.compile(r"(?:^|[\s;:(=])open\s*\(")


def _judge_language(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    call = read_code_call(args, _LANGUAGES[name])
    reader = f"{name} {_code_option(name)}".rstrip()
    script.report(call.options, reader)
    files = _FILE_OPTIONS.get(name, ())
    script.report(_marks_after(args, files), f"{name}, as the name of a script")
    codes, operands = call.codes, call.operands
    if not codes and call.module is None and _LANGUAGES[name].first_is_code and not _has_any(args, files):
        codes, operands = operands[:1], operands[1:]
    for code in codes:
        script.report(code.marks, reader)
    if name == "perl" and _OPENS_OPERANDS.search(" ".join(word.text for word in args)):
        script.report(all_marks(operands), "perl, as the name of a file to open or run")
    if codes:
        _judge_code(name, joined(codes), args, given, script)
    elif call.module is not None:
        is_data = call.module.text not in CODE_MODULES and not call.module.marks
        script.report(call.module.marks | (NO_MARKS if is_data else all_marks(operands)), f"{name} -m")
    elif name not in _FILE_OPTIONS:
        _judge_script(name, operands, given, script)


def _judge_code(
    name: str, code: CommandWord, args: Sequence[CommandWord], given: Input, script: Script
) -> None:
    """Report values that code may run, where it names something that runs code."""
    text = _DATA_OPEN.sub(" ", code.text) if name.startswith("py") else code.text
    if _MAY_RUN.search(text) or not code.is_known:
        marks = all_marks(args) | given.marks | script.named_marks(code.text)
        script.report(marks, f"code for {name} that may run it", is_certain=False)


def _judge_script(name: str, operands: Sequence[CommandWord], given: Input, script: Script) -> None:
    """Judge a call whose first operand is a script, or which reads its code from its input."""
    if not operands or operands[0].text == "-":
        script.report(given.marks, f"{name}, from its input")
        return
    script.report(operands[0].marks, f"{name}, as the name of a script")
    script.report(_marks_after(operands[1:], _CODE_WORDS), f"{name} {_code_option(name)}", is_certain=False)


def _code_option(name: str) -> str:
    if name in _FILE_OPTIONS:
        return ""
    return "-c" if name.startswith(("py", "ipy")) else "-r" if name == "php" else "-e"


def _has_any(args: Sequence[CommandWord], options: Sequence[str]) -> bool:
    return any(word.text in options for word in args)


def _marks_after(args: Sequence[CommandWord], options: Sequence[str]) -> Marks:
    """Return the marks of the words that are values of options, also of joined ones."""
    found = NO_MARKS
    for index, word in enumerate(args):
        if word.text in options:
            found |= all_marks(args[index + 1 : index + 2])
        elif word.marks and word.text.startswith(tuple(f"{option}=" for option in options)):
            found |= word.marks
    return found


def _judge_eval(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    script.read_inner(joined(args), (), given, name)


def _judge_trap(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    operands = [word for word in args if word.text != "--"]
    if operands:
        script.read_inner(operands[0], (), given, name)


def _judge_source(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    del given
    script.report(all_marks(args[:1]), f"{name}, as the name of a script")


def _judge_all(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    """Judge a program that reads all of its words, and its input, in a language of its own."""
    script.report(all_marks(args) | given.marks, name)


def _judge_psql(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    """Judge psql, which takes a variable (`-v NAME=…`) for data."""
    is_variable = [before.text in ("-v", "--set", "--variable") for before in args]
    others = [
        word
        for word, is_value in zip(args, [False, *is_variable], strict=False)
        if not (is_value and _ASSIGNED.match(word.text) and not word.is_split)
    ]
    _judge_all(name, others, given, script)


def _judge_names(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    """Judge a builtin whose words are names of variables: bash evaluates an index in one."""
    script.report(_open_marks(args), f"{name}, as the name of a variable")
    is_evaluated = name in _DECLARERS and any(
        _is_cluster(word.text) and {"i", "n"} & {*word.text} for word in args
    )
    for word in args:
        variable = word.text.partition("=")[0]
        if not variable.isidentifier():
            continue
        script.assign(variable, word.marks if "=" in word.text else given.marks)
        if is_evaluated:
            script.evaluate(variable)
            script.report(word.marks, "arithmetic")


_DECLARERS: Final = frozenset({"declare", "typeset", "local", "export", "readonly"})


def _open_marks(args: Sequence[CommandWord]) -> Marks:
    return all_marks([word for word in args if word.is_open])


def _judge_let(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    del given
    script.report(all_marks(args) | script.named_marks(joined(args).text), name)


def _judge_test(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    del given
    script.report(_marks_after(args, ("-v", "-R")), f"{name} -v")
    before = [False, *(word.is_open for word in args)]
    loose = [word for word, is_behind in zip(args, before, strict=False) if is_behind or word.is_split]
    script.report(_open_marks(loose), f"{name}, perhaps as the name of a variable", is_certain=False)


def _judge_printf(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    del given
    named = _marks_after(args[:2], ("-v",))
    script.report(named | _open_marks(args[:1]), f"{name} -v")


def _judge_set(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    del name
    script.pass_arguments(all_marks(args), given)


def _judge_ssh(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    rules = CodeOptions(code="", valued="bcDEeFIiJLlmOopQRSWw")
    command = read_code_call(args, rules).operands[1:]
    script.report(all_marks(args), name)
    if command and not all_marks(args):
        script.read_inner(joined(command), (), given, name)
    elif not command:
        script.report(given.marks, f"{name}, from its input")


_FIND_STARTERS: Final = frozenset(
    {"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}
)


def _judge_find(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    """Judge each command of find; `{}` in one begins with what names the folders to search."""
    script.report(_open_marks([word for word in args if word.is_split]), name)
    starts = [index for index, word in enumerate(args) if word.text in _FIND_STARTERS]
    if not starts:
        return
    searched = all_marks(args[: starts[0]])
    for start in starts:
        command = _until_end(args[start + 1 :])
        judge_command([_with_found(word, searched) for word in command], given, script)


def _until_end(words: Sequence[CommandWord]) -> Sequence[CommandWord]:
    end = next((index for index, word in enumerate(words) if word.text in (";", "+")), len(words))
    return words[:end]


def _with_found(word: CommandWord, marks: Marks) -> CommandWord:
    if "{}" not in word.text or not marks:
        return word
    return replace(word, text=word.text.replace("{}", UNKNOWN), marks=word.marks | marks)


class WrappedCall(Struct, frozen=True, kw_only=True):
    """What a wrapper makes of its words."""

    command: tuple[CommandWord, ...] = ()
    options: tuple[CommandWord, ...] = ()


def read_wrapped_call(args: Sequence[CommandWord], rules: WrapperOptions) -> WrappedCall:
    """Return the command that a wrapper runs, and the words in front of it that may be options."""
    options, operands, index = list[CommandWord](), rules.operands, 0
    code_rules = CodeOptions(
        code=rules.code, valued=rules.valued, long_code=(), long_valued=rules.long_valued
    )
    while index < len(args):
        word = args[index]
        is_option = _is_option(word.text) and word.text != "--"
        if is_option:
            kind, value = _option_value(word, code_rules)
            options.append(word if kind != "value" or word.is_split else CommandWord(text=word.text))
            following = args[index + 1 : index + 2] if value is None else ()
            options += [other for other in following if kind == "code" or (kind and other.is_split)]
            index += 2 if kind and value is None else 1
        elif word.text == "--" or _ASSIGNED.match(word.text) or operands:
            operands -= word.text != "--" and not _ASSIGNED.match(word.text)
            options += [word] if word.is_split else []
            index += 1
        else:
            break
    return WrappedCall(command=tuple(args[index:]), options=tuple(options))


_ASSIGNED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def _judge_wrapper(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    call = read_wrapped_call(args, WRAPPER_OPTIONS.get(name, PLAIN_WRAPPER))
    script.report(all_marks(call.options), f"{name}, as an option")
    for word in args[: len(args) - len(call.command)]:
        _note_assignment(word, script)
    judge_command(call.command, given, script)


def _note_assignment(word: CommandWord, script: Script) -> None:
    """Record a variable that a wrapper such as `env` sets."""
    name, equals, _ = word.text.partition("=")
    if not (equals and word.marks and name.isidentifier()):
        return
    script.assign(name, word.marks)
    if obeys_variable(name):
        script.report(word.marks, f"programs that obey {name}")


def _judge_lookup(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    """Judge `command`, which only looks a name up with `-v`."""
    if not _has_any(args[:1], ("-v", "-V")):
        _judge_wrapper(name, args, given, script)


def _judge_xargs(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    """Judge the command of xargs with what it adds: words of its input, behind it or in place of a mark."""
    call = read_wrapped_call(args, WRAPPER_OPTIONS[name])
    script.report(all_marks(call.options), f"{name}, as an option")
    added = CommandWord(text=UNKNOWN, marks=given.marks)
    sign = _replaced_sign(args[: len(args) - len(call.command)])
    if not given.marks:
        judge_command(call.command, Input(), script)
    elif sign:
        command = [_with_replaced(word, sign, given.marks) for word in call.command]
        judge_command(command, Input(), script)
    else:
        judge_command([*(call.command or (CommandWord(text="echo"),)), added], Input(), script)


def _replaced_sign(options: Sequence[CommandWord]) -> str:
    for index, word in enumerate(options):
        if word.text in ("-i", "--replace"):
            return "{}"
        if word.text == "-I":
            return options[index + 1].text if index + 1 < len(options) else ""
        if word.text.startswith(("-I", "-i")) and len(word.text) > 2:
            return word.text[2:]
        if word.text.startswith("--replace="):
            return word.text.partition("=")[2]
    return ""


def _with_replaced(word: CommandWord, sign: str, marks: Marks) -> CommandWord:
    if sign not in word.text:
        return word
    return replace(word, text=word.text.replace(sign, UNKNOWN), marks=word.marks | marks)


_CODE_WORDS: Final = (
    "-c", "-e", "--eval", "--command", "--exec", "--execute", "--run", "-exec", "--expression", "-ec", "-lc",
    "--shell-command", "--extcmd", "--upload-pack", "--receive-pack", "--tree-filter", "--index-filter",
    "--env-filter", "--msg-filter", "--commit-filter", "foreach", "--config",
)  # fmt: skip
"""Options after which programs take code."""
_READS_ALL: Final = SHELL_LIKE_PROGRAMS | {
    "alias", "bind", "complete", "compgen", "enable", "hash", "fc", "history", "mapfile", "readarray", "make",
    "ninja", "just", "parallel", "watch", "at", "batch", "crontab", "tmux", "screen", "socat", "expect",
    "gdb", "lldb", "m4", "osascript",
}  # fmt: skip
"""Programs that read all of their words, or their input, as code."""
_SCANNED: Final = frozenset(INTERPRETERS) | WRAPPERS | {"eval", "sed", "awk", "find", "make"}


def _judge_other(name: str, args: Sequence[CommandWord], given: Input, script: Script) -> None:
    """Judge a program that is not known: an interpreter that it names, and options that often take code."""
    codes = [after for word, after in pairwise(args) if _takes_code(word.text)]
    for code in codes:
        if code.marks and not _ASSIGNED.match(code.text):
            script.report(code.marks, f"{name} {_word_before(args, code)}", is_certain=name in WRAPPERS)
        elif any(sign in code.text for sign in " $`"):
            script.read_inner(code, args, given, name)
    for index, word in enumerate(args):
        if not word.marks and word.is_known and program_name(word.text) in _SCANNED:
            judge_command(args[index:], given, script)
            return


_CODE_CLUSTER: Final = re.compile(r"-[A-Za-z]{0,4}c")


def _takes_code(text: str) -> bool:
    return text in _CODE_WORDS or _CODE_CLUSTER.fullmatch(text) is not None


def _word_before(args: Sequence[CommandWord], word: CommandWord) -> str:
    return next((before.text for before, after in pairwise(args) if after is word), "")


_Judge = Callable[[str, Sequence[CommandWord], Input, Script], None]


def _judges() -> Iterator[tuple[str, _Judge]]:
    yield from ((name, _judge_all) for name in _READS_ALL)
    yield from ((name, _judge_wrapper) for name in (*COMMAND_WRAPPERS, *WRAPPER_OPTIONS))
    yield from ((name, _judge_language) for name in _LANGUAGES)
    yield from ((name, _judge_shell) for name in SHELLS)
    yield from ((name, _judge_names) for name in ("read", "unset", "getopts", "export", "local", "declare"))
    yield from ((name, _judge_names) for name in ("typeset", "readonly"))
    yield from ((name, _judge_test) for name in ("test", "["))
    yield from ((name, _judge_source) for name in ("source", "."))
    yield from ((name, _judge_find) for name in ("find", "fd"))
    yield from (
        ("eval", _judge_eval), ("trap", _judge_trap), ("let", _judge_let), ("printf", _judge_printf),
        ("set", _judge_set), ("ssh", _judge_ssh), ("xargs", _judge_xargs), ("command", _judge_lookup),
        ("psql", _judge_psql),
    )  # fmt: skip


_JUDGES: Final[Mapping[str, _Judge]] = dict(_judges())
_OBEYED: Final = frozenset({
    "PATH", "ENV", "SHELL", "IFS", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "NODE_OPTIONS", "RUBYOPT",
    "RUBYLIB", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "GIT_SSH", "GIT_EXTERNAL_DIFF", "MAKEFLAGS",
    "LESSOPEN", "LESSCLOSE", "VISUAL", "CLASSPATH", "JAVA_TOOL_OPTIONS", "MAKEFILES", "GCONV_PATH",
})  # fmt: skip
_OBEYED_ENDS: Final = ("EDITOR", "PAGER", "BROWSER", "ASKPASS", "SSH_COMMAND", "RUSTC_WRAPPER")
_OBEYED_STARTS: Final = ("LD_", "DYLD_", "GIT_CONFIG", "PERL5", "BASH_")


def obeys_variable(name: str) -> bool:
    """Return whether programs run or load what a variable names."""
    return name in _OBEYED or name.endswith(_OBEYED_ENDS) or name.startswith(_OBEYED_STARTS)


SAFE_FORMS: Final[Mapping[str, str]] = {
    "python": "python3 -c '… sys.argv[1] …' {{{{ {0} }}}}",
    "node": "node -e '… process.argv[1] …' -- {{{{ {0} }}}}",
    "perl": "perl -e '… $ARGV[0] …' -- {{{{ {0} }}}}", "ruby": "ruby -e '… ARGV[0] …' -- {{{{ {0} }}}}",
    "php": "php -r '… $argv[1] …' -- {{{{ {0} }}}}",
    "awk": "V={{{{ {0} }}}} awk '… ENVIRON[\"V\"] …'", "sed": "V={{{{ {0} }}}} awk '… ENVIRON[\"V\"] …'",
    "ssh": "printf '%s\\n' {{{{ {0} }}}} | ssh HOST 'IFS= read -r v; … \"$v\" …'",
    "eval": "the command itself, without eval: … {{{{ {0} }}}}",
    "trap": "v={{{{ {0} }}}}; trap '… \"$v\" …' EXIT",
    "printf": "printf '%s' {{{{ {0} }}}}", "make": "V={{{{ {0} }}}} make …, with \"$$V\" in the recipe",
    "xargs": "xargs sh -c '… \"$1\" …' _", "arithmetic": "[ {{{{ {0} }}}} -gt 3 ], or expr {{{{ {0} }}}} + 1",
    "let": "expr {{{{ {0} }}}} + 1",
    "sqlite3": "python3 -c 'import sqlite3, sys; … execute(\"… ?\", sys.argv[1:]) …' {{{{ {0} }}}}",
    "psql": "psql -v v={{{{ {0} }}}} <<'SQL', with :'v' in it", "test": "a name that is written out",
}  # fmt: skip
"""What to write instead, by the first word of what reads the value."""
OTHER_SAFE_FORM: Final = "sh -c '… \"$1\" …' _ {{{{ {0} }}}}"


def safe_form(reader: str, name: str) -> str:
    """Return what to write instead of a value that an interpreter reads as code."""
    word = program_name(reader.split(" ")[0].rstrip(",")) if reader else ""
    if word in SHELLS:
        return f"{word} -c '… \"$1\" …' _ {{{{ {name} }}}}"
    return SAFE_FORMS.get(word, OTHER_SAFE_FORM).format(name)
