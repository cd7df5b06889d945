"""Reading the table of processes."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.effects import process_table
from workbench.effects.process_table import (
    ProcessRow,
    is_descendant,
    parse_ps,
    parse_stat,
    process_identity,
    require_mark,
)

STAT = (
    "{pid} ({name}) {state} 7 {group} {session} 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 {threads} 0 {ticks} 8 9 10"
)


def row(pid: int, parent: int) -> ProcessRow:
    return ProcessRow(pid=pid, parent=parent, group=0, session=0, is_alive=True, ticks=0, start_time="")


@given(name=st.text(max_size=15))
def test_names_cannot_forge_the_other_fields(name: str) -> None:
    text = STAT.format(pid=42, name=name, state="S", group=43, session=44, threads=1, ticks=555)
    assert parse_stat(text, "boot") == ProcessRow(
        pid=42, parent=7, group=43, session=44, is_alive=True, ticks=555, start_time="boot:555"
    )


@pytest.mark.parametrize(
    ("state", "threads", "is_alive"),
    [("R", 1, True), ("T", 1, True), ("Z", 1, False), ("X", 1, False), ("Z", 2, True)],
)
def test_who_is_alive(state: str, threads: int, is_alive: bool) -> None:
    text = STAT.format(pid=1, name="x) Z (", state=state, group=1, session=1, threads=threads, ticks=1)
    assert parse_stat(text, "").is_alive is is_alive


@pytest.mark.parametrize("text", ["", "42", "42 (x) S 1 2", "nonsense"])
def test_what_is_no_stat_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_stat(text, "")


def test_ps_output() -> None:
    text = "  1   0   1 Ss   Mon Jan  1 10:00:00 2024\n 99   1  98 Z+   Tue Jan  2 11:00:00 2024\nps: noise\n"
    first, second = parse_ps(text)
    assert (first.pid, first.parent, first.group, first.is_alive) == (1, 0, 1, True)
    assert first.start_time == "Mon Jan 1 10:00:00 2024"
    assert (second.pid, second.parent, second.group, second.is_alive) == (99, 1, 98, False)


def test_our_own_identity() -> None:
    identity = process_identity(os.getpid())
    assert identity == process_identity(os.getpid())
    assert (identity.pid, identity.group) == (os.getpid(), os.getpgrp())
    assert identity.start_time.startswith(process_table.boot_id())


def test_nobody_has_no_identity() -> None:
    with subprocess.Popen(["true"]) as child:
        child.wait()
    with pytest.raises(ProcessLookupError):
        process_identity(child.pid)


@pytest.mark.parametrize(("pid", "is_below"), [(2, True), (3, True), (4, False), (5, False), (1, False)])
def test_descent(pid: int, is_below: bool) -> None:
    table = {r.pid: r for r in (row(1, 0), row(2, 1), row(3, 2), row(4, 5), row(5, 4))}
    assert is_descendant(table[pid], {1}, table) is is_below


def test_ancestors_are_nearest_first() -> None:
    program = "from workbench.effects.process_table import ancestor_pids; print(*ancestor_pids())"
    printed = subprocess.run(
        ["sh", "-c", 'echo $$; "$0" -c "$1"; true', sys.executable, program],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    shell, nearest, second = (int(word) for word in printed[:3])
    assert (nearest, second) == (shell, os.getpid())
    assert len(printed[1:]) == len(set(printed[1:]))


@pytest.mark.parametrize("mark", ["", "a b", "a=b", "a\n", "ü", "x" * 201])
def test_marks_that_cannot_be_used(mark: str) -> None:
    with pytest.raises(ValueError, match="cannot mark"):
        require_mark(mark)


def test_a_mark_is_compared_whole() -> None:
    with subprocess.Popen(
        ["cat"],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"WORKBENCH_CALL": "c12", "X": "WORKBENCH_CALL=c3"},
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        # An answer is the proof that it runs: right after the fork its environment is not there yet.
        child.stdin.write(b"?")
        assert child.stdout.read(1) == b"?"
        carried = [process_table.carries_mark(child.pid, mark) for mark in ("c12", "c1", "c2", "c3", "c123")]
        child.stdin.close()
    assert carried == [True, False, False, False, False]


@pytest.mark.skipif(sys.platform != "linux", reason="only there numbers are compared")
@pytest.mark.parametrize("newest", [None, lambda: 0, lambda: 1])
def test_of_processes_since_one_all_are_read_where_their_numbers_began_again(monkeypatch, newest):
    if newest is not None:
        monkeypatch.setattr(process_table, "newest_pid", newest)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        table = process_table.read_process_table(first=child.pid)
    assert child.pid in table
    assert (os.getpid() in table) is (newest is not None)
