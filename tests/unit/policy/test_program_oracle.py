"""Every row of the table against the real program, under strace: nothing runs and nothing is written beyond the row.

A sample at each commit, of programs that `.ci/run` installs. The campaign runs the whole table: a program that is not
installed is skipped by name. WORKBENCH_ORACLE_LINES sets the number of lines, WORKBENCH_ORACLE_SEED begins elsewhere.
"""

import os
import random
import re

import pytest

from tests.support.sizes import IS_CAMPAIGN, size
from tests.support.traced import is_possible
from tests.unit.policy import program_oracle
from tests.unit.policy.program_oracle import (
    by_program,
    covered,
    installed,
    lines_of,
    program_of,
    rows_to_run,
    run_lines,
    run_rows,
    said_by,
    table_alone,
)
from tests.unit.policy.program_sources import NOT_RUN_ROWS, SOURCES
from workbench.policy.shell import known_command_match
from workbench.policy.shell.known_command_match import _table_row, match_known_command
from workbench.policy.shell.known_programs import KNOWN_PROGRAMS

LINES = size("WORKBENCH_ORACLE_LINES", 130, 240)
"""Lines in all at a commit; lines of each program, or of six rows of one, in the campaign."""
SEED = size("WORKBENCH_ORACLE_SEED", 20_261_128, 20_261_128)
ESSENTIAL = frozenset(
    {"coreutils", "diffutils", "findutils", "grep", "gzip", "sed", "tar", "mawk", "git", "make", "bash, dash"}
)
"""Packages that every Debian has, or that `.ci/run` installs."""
GNU_PACKAGES = frozenset({
    "coreutils", "diffutils", "findutils", "grep", "gzip", "sed", "tar", "mawk", "util-linux", "bsdextrautils", "binutils",
    "libc-bin", "debianutils", "hostname", "procps", "gcc",
})  # fmt: skip
SAMPLED = [name for name, source in SOURCES.items() if source.package in ESSENTIAL]
ALWAYS = ("find", "uniq", "grep", "git log")
ROWS_TO_RUN = rows_to_run()
NOT_RUN = [key for key in KNOWN_PROGRAMS if key not in ROWS_TO_RUN and not key.endswith(" --")]
can_trace = pytest.mark.skipif(
    not os.environ.get("NEED_STRACE") and not is_possible(), reason="needs strace, and the right to trace"
)


# --- where the programs come from


def test_every_program_of_the_table_has_a_source_and_none_is_left_over():
    assert {program_of(key) for key in KNOWN_PROGRAMS} == set(SOURCES)
    assert all(any(key.startswith(name) for key in KNOWN_PROGRAMS) for name in NOT_RUN_ROWS)


def test_a_row_is_marked_for_gnu_where_its_package_is_one_of_gnu_or_linux():
    for name, source in SOURCES.items():
        assert ("GNU" in _table_row(name).words) == (source.package in GNU_PACKAGES), name


def test_two_dashes_are_unknown_in_rows_that_are_not_run():
    assert len(NOT_RUN) < len(KNOWN_PROGRAMS) / 20
    for key in NOT_RUN:
        assert not _table_row(key).words & {"ENDS", "PASSES"}, key
        for option in _table_row(key).options:
            words = [*key.split(), option[:-1], "x"]
            assert (
                option[:-1] in _table_row(key).options
                or len(option) < 5
                or match_known_command(words[0], words).literal
            ), words


# --- what they do


@can_trace
def test_a_sample_of_the_table_does_no_more_than_its_rows_say(tmp_path):
    assert [name for name in SAMPLED if not installed(name)] == []
    some = random.Random(SEED)
    with table_alone():
        keys = [key for name, rows in by_program(ROWS_TO_RUN).items() if name in SAMPLED for key in rows]
        chosen = dict.fromkeys((*ALWAYS, *some.sample(keys, 40)))
        each = LINES // len(chosen)
        lines = [(key, words) for key in chosen for words in lines_of(key, each, SEED)]
        harms, count, accepted = run_lines(lines, tmp_path)
    assert harms == []
    assert count > LINES / 2
    assert accepted > count / 5  # lines that are all refused prove nothing


@can_trace
@pytest.mark.campaign
@pytest.mark.parametrize("name", sorted(by_program(ROWS_TO_RUN)))
def test_a_program_does_no_more_than_its_rows_say(name, tmp_path):
    if not installed(name):
        pytest.skip(f"{name} of {SOURCES[name].package} is not installed")
    rows = by_program(ROWS_TO_RUN)[name]
    with table_alone():
        harms, count, _ = run_rows(rows, LINES if len(rows) == 1 else LINES // 6, SEED, tmp_path)
    assert harms == []
    assert count >= len(rows) or name in ("arch", "env")  # no grant covers anything behind these


REFUSED = re.compile(
    r"(?i)(?:unrecogni[sz]ed|unknown|invalid|illegal|ambiguous|unexpected) (?:command-line )?(?:option|argument|switch|predicate)"
    r"|not an option|missing pattern|found argument"
)


@can_trace
def test_two_dashes_end_the_options_of_the_rows_that_say_so(tmp_path):
    """A word that a program refuses as an option, it takes for an operand behind `--`."""
    ending = [key for key in ROWS_TO_RUN if "ENDS" in _table_row(key).words and installed(program_of(key))]
    assert {name for name in SAMPLED if "ENDS" in _table_row(name).words} <= set(map(program_of, ending))
    keys = ending if IS_CAMPAIGN else random.Random(SEED).sample(ending, 25)
    alone, behind = (
        [(key, [*key.split(), *words]) for key in keys] for words in (["--zzz"], ["--", "--zzz"])
    )
    with_dashes = said_by(behind, tmp_path)
    assert [line for line, said in with_dashes if REFUSED.search(said)] == []
    refused = [line for line, said in said_by(alone, tmp_path) if REFUSED.search(said)]
    assert len(refused) > len(keys) * 0.8


@can_trace
def test_two_dashes_do_not_end_what_find_reads(tmp_path):
    ((_, said),) = said_by([("find", ["find", "--", "--zzz"])], tmp_path)
    assert REFUSED.search(said)


# --- that the oracle sees what it is for

WRONG_ROWS = {
    "find": ("ENDS -exec:::", ["find", "--", ".", "-exec", "./evil", ";"], "ran"),
    "sort": ("-o:", ["sort", "-o", "new.out", "a.txt"], "wrote"),
    "grep": ("", ["grep", "x", "a.txt"], ""),
    "git log": ("--output:", ["git", "log", "--output=new.out"], "wrote"),
    "tar": ("-I:", ["tar", "-I", "./evil", "-tf", "t.tar"], "ran"),
}


@can_trace
@pytest.mark.parametrize("key", sorted(WRONG_ROWS))
def test_the_oracle_finds_an_option_that_does_not_belong_into_its_row(key, tmp_path, monkeypatch):
    words, line, what = WRONG_ROWS[key]
    monkeypatch.setitem(KNOWN_PROGRAMS, key, f"{KNOWN_PROGRAMS[key]} {words}")
    known_command_match._table_row.cache_clear()
    try:
        with table_alone():
            assert covered(line)
            harms, _, _ = run_lines([(key, line)], tmp_path)
    finally:
        known_command_match._table_row.cache_clear()
    assert bool(harms) is bool(what)
    assert not what or getattr(harms[0], what)


@pytest.mark.parametrize("key", ["ls", "find", "cargo test"])
def test_the_lines_of_a_row_have_each_option_and_operands_with_a_dash(key):
    assert (
        program_oracle.lines_of(key, 140, 1) == program_oracle.lines_of(key, 140, 1) != lines_of(key, 140, 2)
    )
    with table_alone():
        lines = lines_of(key, 330, 1)
    words = {word for line in lines for word in line}
    missing = [
        option for option in _table_row(key).options if not any(word.startswith(option) for word in words)
    ]
    assert missing in ([], ["-#"]), missing
    assert any("--" in line for line in lines) is bool(_table_row(key).words & {"ENDS", "PASSES"})
