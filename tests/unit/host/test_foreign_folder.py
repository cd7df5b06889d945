"""Processes of ours in a folder full of modules named like all that they import: none of them is taken."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.support import golden
from tests.support.shadows import Shadows
from tests.support.waits import PATIENCE
from workbench import __main__
from workbench.backend.library import export_film
from workbench.domain.values import SYSTEM_SESSION
from workbench.effects.own_processes import workbench_command_line, workbench_environment
from workbench.effects.process_environment import scrubbed_environment
from workbench.host import host_start
from workbench.host.host_start import ensure_host, start_failure_reason
from workbench.host.host_stop import stop_host
from workbench.journal.home import Home
from workbench.tui.backend import ExportRequest

STEERED = {
    "PYTHONPATH": f".{os.pathsep}", "PYTHONSTARTUP": "json.py", "PYTHONINSPECT": "1", "PYTHONHOME": ".",
    "PYTHONWARNINGS": "error::json.Warn", "PYTHONBREAKPOINT": "json.run", "PYTHONPLATLIBDIR": ".",
}  # fmt: skip


@pytest.fixture
def shadows(monkeypatch):
    """Stand in a folder below the one that every user may write; as root it belongs to another user."""
    with tempfile.TemporaryDirectory(prefix="workbench-shadows-", dir="/tmp") as place:
        Path(place).chmod(0o777)
        shadows = Shadows(Path(place) / "repo")
        monkeypatch.chdir(shadows.folder)
        yield shadows


@pytest.fixture
def opened(tmp_path):
    with golden.load("rename-handler", tmp_path / "data") as journal:
        yield Home.open(tmp_path / "data"), journal


def test_the_modules_of_the_folder_leave_a_mark_where_python_looks_there(shadows):
    subprocess.run(
        [sys.executable, "-c", "import apsw"], check=False, capture_output=True, cwd=shadows.folder
    )
    assert shadows.marks


@pytest.mark.parametrize("steered", [{}, STEERED], ids=["plain", "steered"])
def test_a_host_takes_no_module_from_the_folder(shadows, opened, steered):
    home, journal = opened
    workspace = str(shadows.folder)
    host = ensure_host(home, journal, workspace, {**os.environ, **steered})
    try:
        assert host is not None, start_failure_reason(home)
        assert Path(f"/proc/{host.pid}/cwd").readlink() == home.path
    finally:
        stop_host(home, workspace)
    assert shadows.marks == []


def test_an_export_takes_no_module_from_the_folder(shadows, opened, monkeypatch):
    _, journal = opened
    for name, value in STEERED.items():
        monkeypatch.setenv(name, value)
    session = next(one for one in journal.sessions() if one.id != SYSTEM_SESSION and one.parent_id is None)
    wanted = ExportRequest(session_id=session.id, path="now.svg", index=3)
    assert export_film(journal, ".", wanted, lambda _: None).startswith(f"Written: {shadows.folder}/now.svg")
    assert shadows.marks == []


def test_python_m_takes_nothing_from_the_folder_once_it_runs_this_program(tmp_path):
    """What Python itself imports before us, and a package of our name, are out of reach."""
    names = {"argparse", "uuid", "apsw", "platform", "logging", "json", "platformdirs", "orjson", "colorama"}
    shadows = Shadows(tmp_path / "repo", names)
    argv = [sys.executable, "-m", "workbench", "approvals", "list"]
    done = subprocess.run(argv, cwd=shadows.folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, shadows.marks) == (0, "", [])


def test_python_m_works_in_a_folder_that_holds_this_package():
    root = Path(__file__).parents[3]
    argv = [sys.executable, "-S", "-m", "workbench", "--version"]
    done = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:10]) == (0, "workbench ")


def test_an_own_process_gives_back_what_it_set_aside(tmp_path, monkeypatch):
    env = {**os.environ, **STEERED, "OTHER": "stays"}
    own = workbench_environment(tmp_path, env)
    assert not [name for name in own if name.startswith("PYTHON")]
    monkeypatch.setattr(os, "environ", own)
    __main__._take_back()
    assert own == {**env, "WORKBENCH_HOME": str(tmp_path)}


def test_commands_of_agents_get_the_variables_of_python_as_the_user_had_them(tmp_path, monkeypatch):
    env = {"PYTHONPATH": "lib", "PYTHONHASHSEED": "0", "PATH": "/bin"}
    own = workbench_environment(tmp_path, env)
    monkeypatch.setattr(os, "environ", own)
    __main__._take_back()
    assert scrubbed_environment(own) == env


def test_a_package_that_only_pythonpath_names_is_found_and_nothing_beside_it_is_preferred(tmp_path):
    root = Path(__file__).parents[3]
    assert "-c" not in workbench_command_line(["--version"], {"PYTHONPATH": "."})
    beside = tmp_path / "named"
    shadows = Shadows(beside, {"json", "argparse", "logging"})
    (beside / "workbench").symlink_to(root / "workbench")
    env = {**os.environ, "PYTHONPATH": str(root)}
    argv = workbench_command_line(["--version"], env)
    assert argv[argv.index("-c") + 2] == str(root)
    argv[argv.index("-c") + 2] = str(beside)
    done = subprocess.run(
        [argv[0], "-S", *argv[1:]],
        env=workbench_environment(tmp_path, env),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout[:10], shadows.marks) == ("workbench ", []), done.stderr


def test_a_workspace_that_vanished_while_its_host_starts_is_named(tmp_path, opened, monkeypatch):
    home, journal = opened
    gone = tmp_path / "gone"
    gone.mkdir()
    gone.rmdir()
    monkeypatch.setattr(host_start, "START_TIMEOUT_SECONDS", 10 * PATIENCE)
    begun = time.monotonic()
    assert ensure_host(home, journal, str(gone)) is None
    assert time.monotonic() - begun < PATIENCE, "it ended, and so its time need not pass"
    assert (
        start_failure_reason(home)
        == f"“{gone}” is not a workspace. No such file or directory. Name a folder that exists."
    )


def test_no_module_of_ours_starts_the_interpreter_by_itself():
    root = Path(__file__).parents[3] / "workbench"
    allowed = {"effects/own_processes.py", "cli/demo.py"}
    naming = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if any(word in path.read_text() for word in ("sys.executable", "multiprocessing", "ProcessPool"))
    }
    assert naming == allowed
