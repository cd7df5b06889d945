"""`workbench completion`: each shell accepts its script and completes commands, options and values by it."""

import os
import shutil
import subprocess

import pytest

from tests.support.terminal import Terminal, controlled
from workbench.cli.completion import SHELLS, completion_script

WANTED = {
    "workbench app": {"apply", "approvals"},
    "workbench approvals re": {"reject", "refresh", "reopen"},
    "workbench run --on-approval ": {"wait", "park", "deny"},
    "workbench ask logs --st": {"--status"},
    "workbench sessions export --format ev": {"events"},
    "workbench completion ": set(SHELLS),
}
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
complete -p workbench >&2
$(complete -p workbench | grep -o '_[a-z_]*workbench ' | head -1)
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    made = {}
    for shell in SHELLS:
        made[shell] = folder / ("_workbench" if shell == "zsh" else f"workbench.{shell}")
        made[shell].write_text(completion_script(shell), encoding="utf-8")
    return made


def needs(shell):
    if shutil.which(shell) is None:
        missing = f"{shell} is needed: .ci/run installs it"
        pytest.fail(missing) if os.environ.get("NEED_SHELLS") else pytest.skip(missing)


def printed(*argv):
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_its_script(scripts, shell):
    needs(shell)
    printed(shell, "-n", scripts[shell])


def test_bash_completes(scripts):
    needs("bash")
    for line, wanted in WANTED.items():
        words = [*line.split(), *([""] if line.endswith(" ") else [])]
        found = printed("bash", "--norc", "-c", BASH, "bash", scripts["bash"], *words)
        assert set(found.split()) == wanted, line


def test_fish_completes(scripts):
    needs("fish")
    for line, wanted in WANTED.items():
        found = printed("fish", "--no-config", "-c", f"source {scripts['fish']}; complete -C '{line}'")
        assert {row.partition("\t")[0] for row in found.splitlines()} == wanted, line


@pytest.mark.parametrize("line", ["workbench app", "workbench ask logs --st", "workbench run --on-approval "])
def test_zsh_completes(scripts, tmp_path, line):
    needs("zsh")
    env = {**os.environ, "PS1": "> ", "ZDOTDIR": str(tmp_path)}
    terminal = Terminal(controlled(["zsh", "-f", "-i"]), cwd=tmp_path, env=env, columns=100, rows=40)
    try:
        setup = f"fpath=({scripts['zsh'].parent} $fpath); autoload -U compinit; compinit -D -u; clear; echo re''ady"
        terminal.press(f"{setup}\r")
        terminal.until("ready", gone=("fpath",))
        terminal.press(f"{line}\t")
        terminal.until(*WANTED[line])
    finally:
        terminal.close()


def test_completing_starts_no_program(scripts):
    """A shell completes while its user types: nothing is started for it."""
    for script in scripts.values():
        text = script.read_text(encoding="utf-8")
        assert "$(workbench" not in text and "`workbench" not in text and "python" not in text.lower()
