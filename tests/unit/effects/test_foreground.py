import re
import shlex
import signal
import sys

import pytest

from workbench.effects import terminal_programs

SCRIPT = "import sys, pathlib; p = pathlib.Path(sys.argv[1]); p.write_bytes(p.read_bytes().upper())"


def quoted(*words):
    return shlex.join([sys.executable, "-c", *words])


def test_what_the_editor_saved_comes_back_and_no_file_is_left(tmp_path):
    assert terminal_programs.edit_in_editor(quoted(SCRIPT), tmp_path, "src/a.py", b"text\n") == b"TEXT\n"
    assert list((tmp_path / "edit").iterdir()) == []


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("/nonexistent/editor -w", "there is no editor “/nonexistent/editor”. Set EDITOR to one."),
        (quoted("raise SystemExit(3)"), f"the editor “{sys.executable}” ended with 3."),
        ("vim 'x", "EDITOR is vim 'x, which is not a command. Fix its quotes."),
    ],
)
def test_an_editor_that_fails_saves_nothing_and_says_why(tmp_path, command, why):
    with pytest.raises(terminal_programs.EditorFailed, match=re.escape(why)):
        terminal_programs.edit_in_editor(command, tmp_path, "a.py", b"text\n")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_command_is_fed(tmp_path):
    assert terminal_programs.run_with_input("cat > out", b"\xffbytes", str(tmp_path)) == 0
    assert (tmp_path / "out").read_bytes() == b"\xffbytes"


def test_ctrl_c_ends_the_command_and_not_this_program(tmp_path):
    before = signal.getsignal(signal.SIGINT)
    # The terminal sends it to both: here the command does, to the one that waits for it and to itself.
    assert (
        terminal_programs.run_with_input("kill -INT $PPID; kill -INT $$; exit 3", b"", str(tmp_path))
        == 128 + signal.SIGINT
    )
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("code", "seconds", "expected"),
    [
        ("print('x' * 10)", 20, b"xxxx"),
        ("raise SystemExit(2)", 20, None),
        ("import time; time.sleep(60)", 0.3, None),
    ],
)
def test_what_a_program_prints_is_bounded_in_size_and_time(tmp_path, code, seconds, expected):
    assert (
        terminal_programs.capture_output([sys.executable, "-c", code], str(tmp_path), seconds, most=4)
        == expected
    )
    assert terminal_programs.capture_output(["/nonexistent"], str(tmp_path), 1) is None
