"""Words to commands: help, usage errors, exit codes, and that no traceback reaches anybody."""

import io
import json
import subprocess
import sys
import types
from argparse import Namespace
from pathlib import Path

import pytest

from tests.support.tables import each_row
from workbench import __version__
from workbench.cli import dispatch
from workbench.cli.arguments import command_parser
from workbench.cli.console import Console
from workbench.cli.dispatch import COMMANDS
from workbench.cli.errors import Refusal, UsageError


class Stream(io.StringIO):
    encoding = "utf-8"


def run(*words):
    console = Console(Stream(), Stream())
    code = dispatch.dispatch(list(words), console)
    return code, console.out.getvalue(), console.err.getvalue()


def leaves(below=COMMANDS, path=()):
    for name, entry in below.items():
        if entry.module:
            yield (*path, name), entry
        yield from leaves(entry.below, (*path, name))


def fake(monkeypatch, execute):
    module = types.SimpleNamespace(EXAMPLE="workbench doctor", configure=lambda parser: None, execute=execute)
    monkeypatch.setattr(dispatch.importlib, "import_module", lambda name: module)


def test_the_version_loads_nothing_but_the_basics():
    code = (
        "import sys; before = set(sys.modules)\n"
        "from workbench.cli.main import main; main(['--version'])\n"
        "print(sorted(name for name in set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    version, loaded = done.stdout.splitlines()
    assert version == f"workbench {__version__}"
    ours = [name for name in json.loads(loaded.replace("'", '"')) if name.startswith("workbench")]
    assert ours == ["workbench", "workbench.cli", "workbench.cli.main"]
    assert "argparse" not in loaded


def test_python_m_workbench_is_the_command():
    done = subprocess.run([sys.executable, "-m", "workbench", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"workbench {__version__}\n")


def groups(below=COMMANDS, path=()):
    for name, entry in below.items():
        if not entry.module:
            yield (*path, name)
            yield from groups(entry.below, (*path, name))


def example_of(capsys, *path):
    assert dispatch.dispatch([*path, "--help"]) == 0, path
    shown, wrong = capsys.readouterr()
    assert not wrong and "usage: workbench" in shown, path
    return shown.split("example:\n")[1]


def test_every_command_has_help_with_an_example(capsys):
    for path, _ in leaves():
        assert f"workbench {' '.join(path)}" in example_of(capsys, *path), path


def test_every_help_fits_forty_lines(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for path in ((), *groups(), *(path for path, _ in leaves())):
        assert dispatch.dispatch([*path, "--help"]) == 0
        assert len(capsys.readouterr().out.splitlines()) <= 40, path


def test_a_help_shows_the_first_line_of_each_text_and_says_where_the_rest_is():
    def configure(parser):
        parser.add_argument("--long", help="first\nThe rest.")
        parser.add_argument("--rare", help="\nonly in the reference")
        parser.notes = "exit codes:\n  0  done"

    parser = command_parser(("run",), "run it", "one\ntwo\nthree\nfour", configure)
    shown = parser.format_help()
    assert "first" in shown and "The rest" not in shown and "only in the reference" not in shown
    assert shown.endswith("exit codes:\n  0  done\n\nexample:\n  one\n  two\n  three\n\n"
                          "all options and examples: workbench docs commands\n")  # fmt: skip
    whole = command_parser(("run",), "run it", "one", lambda parser: None).format_help()
    assert whole.endswith("example:\n  one\n")
    assert parser.parse_args(["--rare", "x"]).rare == "x"


def test_a_long_usage_names_its_values_and_not_its_options():
    def configure(parser):
        parser.add_argument("file", metavar="FILE", nargs="?")
        for number in range(9):
            parser.add_argument(f"--option-{number}")

    parser = command_parser(("run",), "run it", "one", configure)
    assert parser.format_help().startswith("usage: workbench run [OPTIONS] [FILE]\n")
    assert (
        command_parser(("run",), "run it", "one", lambda parser: None)
        .format_help()
        .startswith("usage: workbench run [-h] [-C DIR]\n")
    )


def test_a_command_with_a_command_below_it_takes_free_words_too():
    assert dispatch.parse_invocation(["ask", "logs", "3f2a"]).path == ("ask", "logs")
    assert dispatch.parse_invocation(["ask", "-C", "/x", "logs"]).directory == "/x"
    for words in (["list files"], ["--", "logs"], ["--help"], ["--logs"], ["-"]):
        request = dispatch.parse_invocation(["ask", *words])
        assert (request.path, list(request.rest), request.wants_help) == (("ask",), words, False)
    assert dispatch.parse_invocation(["ask"]).path == ("ask",)


def test_every_group_has_help_with_an_example_that_is_a_command_of_it(capsys):
    assert len(list(groups())) > 6
    for path in groups():
        example = example_of(capsys, *path).split()
        assert example[: len(path) + 1] == ["workbench", *path], path
        assert dispatch.parse_invocation(example[1:]).path[: len(path)] == path
        assert not dispatch.parse_invocation(example[1:]).entry.below, "the example names no command"
    assert "workbench demo" in example_of(capsys) and "serve" not in example_of(capsys, "host")


def test_the_help_of_the_program_begins_with_the_screen():
    _, out, _ = run("--help")
    assert out.startswith("usage: workbench [DIR|FILE] [--continue] [--all] [--plain]\n")
    assert all(
        any(line.startswith(f"  {word} ") for line in out.splitlines()) for word in dispatch.SCREEN_OPTIONS
    )


def test_a_folder_may_stand_before_the_help_of_a_group():
    code, out, err = run("-C", "/tmp", "approvals", "-h")
    assert (code, err) == (0, "") and out.startswith("usage: workbench approvals ")


@each_row(
    "words, said",
    [
        (["nonsense"], "no command “nonsense”, and there is no folder or file of that name"),
        (["sesions"], "Type sessions if you meant that; see workbench --help"),
        (["--nonsense"], "no option “--nonsense”"),
        (["approvals"], "It needs a command: list"),
        (["approvals", "lst"], "no command “lst”.\n"),
        (["approvals", "lst"], "Type list if you meant that"),
        (["-C"], "needs a folder"),
        (["approvals", "list", "--nonsense"], "--nonsense"),
        (["approvals", "show"], "ID"),
        (["run", "--on-approval", "maybe", "-p", "x"], "maybe"),
        (["run", "--continue", "--session", "abcd"], "not allowed with"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_two(words, said):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err and len(err.splitlines()) == 3


def test_hostile_words_do_not_reach_the_terminal_raw():
    _, _, err = run("\x1b[31m‮list")
    assert "\x1b" not in err and "‮" not in err and "⟨ESC" in err


def test_the_folder_may_stand_anywhere():
    for words in (["-C", "/tmp", "doctor"], ["-C/tmp", "doctor"]):
        assert dispatch.parse_invocation(words).directory == "/tmp"
    assert dispatch.parse_invocation(["approvals", "-C", "/x", "list", "--json"]).rest == ("--json",)


def test_a_folder_before_the_command_reaches_it(monkeypatch):
    seen = []
    fake(monkeypatch, lambda options, console: seen.append(options.directory) or 0)
    run("-C", "/a", "doctor")
    run("doctor", "-C", "/b")
    run("-C", "/a", "doctor", "-C", "/b")
    assert seen == ["/a", "/b", "/b"]


@pytest.mark.parametrize(
    "error, code, lines",
    [
        (
            Refusal("nothing was done", "the disk is full", "free some space"),
            1,
            ["Nothing was done.", "The disk is full.", "Free some space."],
        ),
        (UsageError("it", "has no b", "see --help"), 2, ["It.", "Has no b.", "See --help."]),
        (KeyboardInterrupt(), 130, []),
    ],
)
def test_errors_become_short_lines_and_codes(monkeypatch, error, code, lines):
    def execute(options, console):
        raise error

    fake(monkeypatch, execute)
    assert run("doctor") == (code, "", "".join(f"{line}\n" for line in lines))


def test_an_unknown_error_is_one_line_and_a_log(monkeypatch):
    def execute(options, console):
        raise RuntimeError("key AKIAIOSFODNN7EXAMPLE")

    fake(monkeypatch, execute)
    code, out, err = run("doctor")
    assert (code, out) == (1, "") and len(err.splitlines()) == 1
    assert "RuntimeError" in err and "Traceback" not in err
    text = Path(err.split("The log is ")[1].strip()).read_text()
    assert "Traceback" in text and "AKIAIOSFODNN7EXAMPLE" not in text


def test_a_traceback_is_there_for_who_asks(monkeypatch):
    def execute(options, console):
        raise RuntimeError("why")

    fake(monkeypatch, execute)
    monkeypatch.setenv("WORKBENCH_DEBUG", "1")
    assert "Traceback" in run("doctor")[2]


def test_a_reader_that_goes_away_is_no_error():
    code = "import sys; from workbench.cli.main import main; sys.exit(main(['approvals', '--help']))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), err) == (1, b"")


@pytest.mark.parametrize("words", [[], ["."], ["-C", "/tmp"], ["/tmp"]])
def test_without_a_command_the_screen_is_meant_and_needs_a_terminal(words):
    assert dispatch.parse_invocation(words).path == ("screen",)
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert "not a terminal" in err and "workbench approvals watch" in err


def test_a_command_is_a_command_also_where_a_folder_is_called_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "doctor").mkdir()
    assert dispatch.parse_invocation(["doctor"]).path == ("doctor",)
    assert dispatch.parse_invocation(["./doctor"]).path == ("screen",)


@each_row("name", ["screen", "replay"])
@each_row("words", [(), ("a b",), ("",), ("été/x",), ("-",), ("--json",), ("a", "b"), ("-C", "x")])
def test_what_needs_no_parser_says_what_the_parser_says(name, words):
    entry = COMMANDS[name]
    command = dispatch.load_command(entry)
    found = command.simple(words)
    is_simple = len(words) < 2 and not any(word.startswith("-") for word in words)
    assert (found is not None) == is_simple
    if found is not None:
        parser = command_parser((name,), entry.summary, command.example, command.configure)
        read = vars(parser.parse_args(words, Namespace(directory="there")))
        assert {"directory": "there", **found} == read
