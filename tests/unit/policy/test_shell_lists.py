"""Every line of the lists does what it is there for: a new one is tested as soon as it is written down."""

import pytest

from tests.support.tables import each_row
from workbench.cli.check import check_command
from workbench.policy.shell.analysis import view_command
from workbench.policy.shell.risk_lists import (
    CODE_MODULES,
    EVALUATORS,
    INPUT_DEVICES,
    INTERPRETERS,
    OPERAND_WRITERS,
    OUTPUT_SINKS,
    PROGRAM_ALIASES,
    REMOTE_RUNNERS,
    RESERVED_WORDS,
    RISKY_OPTIONS,
    RISKY_SUBCOMMANDS,
    RUNNERS,
    SHELL_LIKE_PROGRAMS,
    WRAPPERS,
    program_name,
)
from workbench.policy.shell.variable_risk import (
    HARMLESS_VARIABLES,
    STEERING_PREFIXES,
    STEERING_SUFFIXES,
    STEERING_VARIABLES,
    assignment_risk,
    is_harmless_assignment,
    variable_risk,
)


def plain(command):
    return view_command(command).plain


def covered(line, *allow):
    return check_command({"command": line, "allow": list(allow), "deny": []})["verdict"] == "allow"


@each_row("name", sorted(WRAPPERS))
def test_a_wrapper_is_never_plain_and_a_deny_sees_through_it(name):
    assert not plain(f"{name} rm x")
    assert not plain(f"/usr/bin/{name} rm x")
    assert not plain(f"ls | {name} rm x")
    assert "rm x" in view_command(f"{name} rm x").deny_texts


@each_row("name", sorted(EVALUATORS))
def test_a_builtin_that_changes_the_shell_is_never_plain(name):
    assert not plain(f"{name} x")


@each_row("name", sorted(SHELL_LIKE_PROGRAMS))
def test_a_program_with_a_language_of_its_own_is_never_plain(name):
    assert not plain(f"{name} x")
    assert not plain(f"echo x | {name}")


@each_row("name", sorted(INTERPRETERS))
def test_an_interpreter_needs_its_script_spelled_out_and_runs_no_text(name):
    assert not plain(name)
    assert not plain(f"echo x | {name}")
    assert not plain(f"{name} -")
    for letter in INTERPRETERS[name]:
        assert not plain(f"{name} -{letter} x")
    (simple,) = view_command(f"{name} script x").commands
    assert simple.words[: simple.spelled] == (name, "script")


@each_row("name", sorted(RUNNERS))
def test_a_runner_needs_what_it_runs_spelled_out(name):
    for word in RUNNERS[name] or ("",):
        words = f"{name} {word}".strip()
        assert not plain(words)
        found = view_command(f"{words} prog x")
        assert not found.plain or found.commands[0].spelled == len(words.split()) + 1
        assert "rm x" in view_command(f"{words} rm x").deny_texts


@each_row(
    ("name", "word"), [(name, word) for name in REMOTE_RUNNERS for word in sorted(REMOTE_RUNNERS[name])]
)
def test_a_subcommand_that_runs_programs_elsewhere_is_never_plain(name, word):
    assert not plain(f"{name} {word} x")
    assert plain(f"{name} qvx7kd") or name in INTERPRETERS


ROWS = [(table, option) for table in RISKY_OPTIONS for option in RISKY_OPTIONS[table]]


@each_row(("table", "option"), ROWS)
def test_an_option_that_writes_or_runs_is_never_plain(table, option):
    assert not plain(f"{table} {option} x")
    assert not plain(f"{table} a {option} x") or table in ("git", "go run")
    assert not plain(f"{table} -- a {option} x") or table in ("git", "go run")
    assert not plain(f"{table} a -- {option} x") or table in ("git", "go run")
    if option.startswith("--"):
        assert not plain(f"{table} {option}=x")
        assert not plain(f"{table} '{option}' x")
        assert not plain(f"{table} {option[:-1]}=x") or len(option) < 5


def test_a_module_that_runs_text_is_never_plain():
    assert [name for name in CODE_MODULES if plain(f"python -m {name} x")] == []


@each_row(
    ("name", "words"), [(name, words) for name in RISKY_SUBCOMMANDS for words in RISKY_SUBCOMMANDS[name]]
)
def test_a_subcommand_that_runs_programs_is_never_plain(name, words):
    assert not plain(f"{name} {words} x")


@each_row("name", sorted(STEERING_VARIABLES))
def test_a_variable_that_steers_programs_is_never_set_unasked(name):
    for line in (
        f"{name}=x ls",
        f"FOO=1 {name}=x ls",
        f"export {name}=x",
        f"{name}+=x ls",
        f"for {name} in x; do ls; done",
    ):
        assert not plain(line)


@each_row("name", [f"{text}QVX" for text in STEERING_PREFIXES] + [f"QVX{text}" for text in STEERING_SUFFIXES])
def test_a_variable_is_known_by_its_beginning_or_end(name):
    assert variable_risk(name)
    assert not plain(f"{name}=x ls")


@each_row("name", sorted(HARMLESS_VARIABLES))
def test_a_harmless_variable_may_be_set(name):
    assert plain(f"{name}=1 ls")
    assert covered(f"{name}=1 ls", "Bash(ls *)")
    assert covered(f"{name}='a_b' ls", "Bash(ls *)")
    assert covered(f"export {name}=1; ls", "Bash(export *)", "Bash(ls *)")
    assert plain(f"{name}=1; ls")


@each_row("name", sorted(HARMLESS_VARIABLES))
def test_no_value_of_a_harmless_variable_is_a_path(name):
    for value in ("/x/y/z/a", "./x", "../x", "'a b'", "~/x", "x/../y", "a;b"):
        assert not covered(f"{name}={value} ls", "Bash(ls *)")
    assert not covered(f"{name}+=1 ls", "Bash(ls *)")
    assert not plain(f"{name}=./x; ls")


def test_a_time_zone_may_have_a_slash():
    assert covered("TZ=Europe/Berlin date", "Bash(date *)")
    assert covered("TZ=America/Argentina/Salta date", "Bash(date *)")
    assert not covered("TZ=:/etc/x date", "Bash(date *)")


STRANGE = ("FOO", "RUSTX", "GOOS", "DEBUG", "DATABASE_URL", "LC_X", "CIX", "X")


@each_row("name", STRANGE)
def test_any_other_variable_is_spelled_out_with_its_value(name):
    line = f"{name}=ab ls -l"
    assert not covered(line, "Bash(ls *)", "Bash(ls -l)", "Bash(*)", "Bash", f"Bash({name}=* ls *)")
    assert not covered(line, f"Bash({name}=a* ls -l)", f"Bash({name}=*b ls -l)", f"Bash({name[0]}* ls -l)")
    assert covered(line, f"Bash({name}=ab ls *)")
    assert covered(line, f"Bash({name}=ab ls -l)")
    assert not covered(f"export {name}=ab", "Bash(export *)", "Bash(export)")
    assert covered(f"export {name}=ab", f"Bash(export {name}=ab)")
    assert not plain(f"{name}=ab; ls")
    assert not plain(f"for {name} in x; do ls; done")


STEERING = (
    "TOX_OVERRIDE", "RUSTFMT", "NODE_V8_COVERAGE", "GOCACHEPROG", "GOAUTH", "AWS_SHARED_CREDENTIALS_FILE",
    "CLOUDSDK_PYTHON", "GH_CONFIG_DIR", "HARNESS_PERL", "COLLECT_GCC", "shell_escape", "MVNW_REPOURL",
    "TWINE_REPOSITORY_URL", "VAULT_ADDR", "FLASK_APP", "COVERAGE_RCFILE", "NODE_REDIRECT_WARNINGS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
)  # fmt: skip


@each_row("name", STEERING)
def test_a_variable_of_one_program_is_asked_for_always(name):
    assert not covered(f"{name}=x tox", f"Bash({name}=x tox)", "Bash(tox)", "Bash(tox *)")


def test_what_stands_alone_is_harmless_or_a_letter_of_a_loop():
    assert assignment_risk("i") is None
    assert assignment_risk("CI=1") is None
    assert assignment_risk("i=1")
    assert assignment_risk("PATH")
    assert assignment_risk("CI")
    assert not is_harmless_assignment("CI")


@pytest.mark.parametrize("name", sorted(OPERAND_WRITERS))
def test_a_writer_asks_for_the_operand_that_it_writes(name):
    assert not plain(f"{name} {'in ' * OPERAND_WRITERS[name]}out")
    assert plain(f"{name} {'in ' * OPERAND_WRITERS[name]}/dev/null")


@pytest.mark.parametrize("name", sorted(OPERAND_WRITERS))
@pytest.mark.parametrize("written", ["out", "-x", "--output"])
def test_a_writer_asks_for_the_operand_behind_two_dashes(name, written):
    fronts = ["-i " * OPERAND_WRITERS[name], "in " * OPERAND_WRITERS[name]]
    for front in fronts:
        assert not plain(f"{name} -- {front}{written}")
        assert not plain(f"{name} -c -- {front}{written}")
    assert not plain(f"{name} {fronts[1]}-- {written}")


@pytest.mark.parametrize(
    "line", ["xxd a.txt -i", "xxd a.txt -- -x", "xxd -b a.txt --help", "xxd - -x", "xxd -- a -x"]
)
def test_xxd_asks_for_a_word_behind_its_file(line):
    assert not plain(line)


@pytest.mark.parametrize(
    "line", ["xxd a.txt", "xxd -i a.txt", "xxd -b -", "uniq a.txt -c", "tee -a /dev/null"]
)
def test_one_that_writes_nothing_is_plain(line):
    assert plain(line)


@pytest.mark.parametrize(
    "line", ["printf %n PATH", "printf 'a%n' x", "printf -- '%%%5n' x", "printf '%-*.*lln' 1 2 PATH"]
)
def test_printf_asks_where_it_would_set_a_variable(line):
    assert not plain(line)


@pytest.mark.parametrize(
    "line", ["printf '%s\\n' a", "printf '%%n'", "printf '%d items\\n' 3", "printf '%5.2f' 1"]
)
def test_printf_that_only_prints_is_plain(line):
    assert plain(line)


@pytest.mark.parametrize("name", sorted(OUTPUT_SINKS))
def test_output_may_go_where_output_goes_anyway(name):
    assert plain(f"ls > {name}")
    assert not plain(f"ls > {name}x")


@pytest.mark.parametrize("name", sorted(INPUT_DEVICES))
def test_input_may_come_from_nowhere(name):
    assert plain(f"cat < {name}")
    assert not plain(f"cat < {name}x") or not name.startswith("/dev/")


@each_row(("other", "name"), sorted(PROGRAM_ALIASES.items()))
def test_another_name_is_the_same_program(other, name):
    assert program_name(other) == program_name(f"/usr/bin/{other}") == name


@each_row("word", sorted(RESERVED_WORDS - {"!"}))
def test_a_word_of_the_grammar_is_no_program(word):
    assert not plain(f"{word} x")
