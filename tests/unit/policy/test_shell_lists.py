"""Every line of the lists does what it is there for: a new one is tested as soon as it is written down."""

import pytest

from workbench.policy.shell import view
from workbench.policy.variables import (
    HARMLESS,
    VARIABLE_BEGINNINGS,
    VARIABLE_ENDINGS,
    VARIABLES,
    is_harmless,
    unspelled_reason,
    variable_reason,
)
from workbench.policy.shell_lists import (
    ALIASES,
    EVALUATORS,
    INTERPRETERS,
    MODULES,
    OPTIONS,
    REMOTE,
    RESERVED,
    RUNNERS,
    SHELL_LIKE,
    SINKS,
    SOURCES,
    SUBCOMMANDS,
    VARIABLE_BEGINNINGS,
    VARIABLE_ENDINGS,
    VARIABLES,
    WRAPPERS,
    WRITERS,
    program,
)


def plain(command):
    return view(command).plain


@pytest.mark.parametrize("name", sorted(WRAPPERS))
def test_a_wrapper_is_never_plain_and_a_deny_sees_through_it(name):
    assert not plain(f"{name} rm x")
    assert not plain(f"/usr/bin/{name} rm x")
    assert not plain(f"ls | {name} rm x")
    assert "rm x" in view(f"{name} rm x").reach


@pytest.mark.parametrize("name", sorted(EVALUATORS))
def test_a_builtin_that_changes_the_shell_is_never_plain(name):
    assert not plain(f"{name} x")


@pytest.mark.parametrize("name", sorted(SHELL_LIKE))
def test_a_program_with_a_language_of_its_own_is_never_plain(name):
    assert not plain(f"{name} x")
    assert not plain(f"echo x | {name}")


@pytest.mark.parametrize("name", sorted(INTERPRETERS))
def test_an_interpreter_needs_its_script_spelled_out_and_runs_no_text(name):
    assert not plain(name)
    assert not plain(f"echo x | {name}")
    assert not plain(f"{name} -")
    for letter in INTERPRETERS[name]:
        assert not plain(f"{name} -{letter} x")
    (simple,) = view(f"{name} script x").commands
    assert simple.must_spell == f"{name} script"


@pytest.mark.parametrize("name", sorted(RUNNERS))
def test_a_runner_needs_what_it_runs_spelled_out(name):
    for word in RUNNERS[name] or ("",):
        words = f"{name} {word}".strip()
        assert not plain(words)
        found = view(f"{words} prog x")
        assert not found.plain or found.commands[0].must_spell == f"{words} prog"
        assert "rm x" in view(f"{words} rm x").reach


@pytest.mark.parametrize(("name", "word"), [(name, word) for name in REMOTE for word in sorted(REMOTE[name])])
def test_a_subcommand_that_runs_programs_elsewhere_is_never_plain(name, word):
    assert not plain(f"{name} {word} x")
    assert plain(f"{name} qvx7kd") or name in INTERPRETERS


ROWS = [(table, option) for table in OPTIONS for option in OPTIONS[table]]


@pytest.mark.parametrize(("table", "option"), ROWS)
def test_an_option_that_writes_or_runs_is_never_plain(table, option):
    assert not plain(f"{table} {option} x")
    assert not plain(f"{table} a {option} x") or table in ("git", "go run")
    if option.startswith("--"):
        assert not plain(f"{table} {option}=x")
        assert not plain(f"{table} '{option}' x")
        assert not plain(f"{table} {option[:-1]}=x") or len(option) < 5


def test_a_module_that_runs_text_is_never_plain():
    assert [name for name in MODULES if plain(f"python -m {name} x")] == []


@pytest.mark.parametrize(
    ("name", "words"), [(name, words) for name in SUBCOMMANDS for words in SUBCOMMANDS[name]]
)
def test_a_subcommand_that_runs_programs_is_never_plain(name, words):
    assert not plain(f"{name} {words} x")


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_a_variable_that_steers_programs_is_never_set_unasked(name):
    for line in (
        f"{name}=x ls",
        f"FOO=1 {name}=x ls",
        f"export {name}=x",
        f"{name}+=x ls",
        f"for {name} in x; do ls; done",
    ):
        assert not plain(line)


@pytest.mark.parametrize(
    "name", [f"{text}QVX" for text in VARIABLE_BEGINNINGS] + [f"QVX{text}" for text in VARIABLE_ENDINGS]
)
def test_a_variable_is_known_by_its_beginning_or_end(name):
    assert variable_reason(name)
    assert not plain(f"{name}=x ls")


@pytest.mark.parametrize("name", sorted(HARMLESS_VARIABLES))
def test_a_harmless_variable_may_be_set(name):
    assert plain(f"{name}=1 ls")


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_a_writer_asks_for_the_operand_that_it_writes(name):
    assert not plain(f"{name} {'in ' * WRITERS[name]}out")
    assert plain(f"{name} {'in ' * WRITERS[name]}/dev/null")


@pytest.mark.parametrize("name", sorted(SINKS))
def test_output_may_go_where_output_goes_anyway(name):
    assert plain(f"ls > {name}")
    assert not plain(f"ls > {name}x")


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_input_may_come_from_nowhere(name):
    assert plain(f"cat < {name}")
    assert not plain(f"cat < {name}x") or not name.startswith("/dev/")


@pytest.mark.parametrize(("other", "name"), sorted(ALIASES.items()))
def test_another_name_is_the_same_program(other, name):
    assert program(other) == program(f"/usr/bin/{other}") == name


@pytest.mark.parametrize("word", sorted(RESERVED - {"!"}))
def test_a_word_of_the_grammar_is_no_program(word):
    assert not plain(f"{word} x")
