"""run_in_terminal: the argument list, and how long a command gets."""

import subprocess

import pytest

from workbench.tools.base import RunTool, ToolLimits, ToolRefused
from workbench.tools.execution import RunInTerminal

LIMITS = ToolLimits(command_seconds=7)


def spec(command="ls -l", **parameters):
    return RunInTerminal().command({"command": command, **parameters}, LIMITS)


def test_a_command_goes_to_bash_as_one_argument():
    found = spec("echo $HOME; ls 'a b'")
    assert found.argv[0].endswith("/bash")
    assert found.argv[1:] == ("-c", "--", "echo $HOME; ls 'a b'")
    assert found.command == "echo $HOME; ls 'a b'"


def test_without_bash_it_goes_to_sh(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert spec().argv[:2] == ("/bin/sh", "-c")


@pytest.mark.parametrize("has_bash", [True, False])
@pytest.mark.spec(219)
def test_a_command_that_begins_with_a_dash_is_no_option(monkeypatch, has_bash):
    if not has_bash:
        monkeypatch.setenv("PATH", "/nonexistent")
    argv = spec("-x; echo 'a b' | cat").argv
    done = subprocess.run(argv, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, check=False)
    assert done.stdout == "a b\n"


@pytest.mark.parametrize(
    ("given", "seconds"), [({}, 7.0), ({"timeout_seconds": 1}, 1.0), ({"timeout_seconds": 300}, 300.0)]
)
def test_the_time_is_what_was_asked_or_the_limit_of_the_configuration(given, seconds):
    assert spec(**given).timeout_seconds == seconds


def test_a_configured_limit_is_bounded_too():
    assert RunInTerminal().command({"command": "x"}, ToolLimits(command_seconds=9000)).timeout_seconds == 300


@pytest.mark.parametrize("command", ["", "  \n", "a\0b"])
def test_what_is_no_command_is_refused(command):
    with pytest.raises(ToolRefused, match="Not run"):
        spec(command)


def test_it_is_a_running_tool():
    assert isinstance(RunInTerminal(), RunTool)
