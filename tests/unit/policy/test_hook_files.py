"""Files that hooks name: a relative one lies beside the file that names the hook, and is closed to agents."""

import asyncio
import os
import subprocess

import pytest

from tests.unit.policy.gate_cases import context
from tests.unit.policy.test_hooks import World, hook, payload
from workbench.domain.values import HookRule
from workbench.policy import hooks
from workbench.policy.gate import GateCall, screen_call
from workbench.policy.hooks import run_post_tool_hooks
from workbench.policy.shell.command_risk import runs_nothing
from workbench.policy.shell.risk_lists import COMMAND_WRAPPERS, SHELLS


@pytest.fixture
def folder(tmp_path):
    """The folder of a configuration, with every script that the cases name."""
    home = tmp_path / "my data"
    (home / "hooks").mkdir(parents=True)
    for name in ("check.sh", "hooks/check.py", "hooks/a b.sh"):
        (home / name).write_text("#!/bin/sh\necho of the data folder\n")
        (home / name).chmod(0o755)
    return home


FOUND = [
    ("./check.sh", "'{}/check.sh'"),
    ("hooks/check.py --strict .", "'{}/hooks/check.py' --strict ."),
    ("python hooks/check.py src", "python '{}/hooks/check.py' src"),
    ("python3.11 -u -W ignore hooks/check.py", "python3.11 -u -W ignore '{}/hooks/check.py'"),
    ("sh ./check.sh", "sh '{}/check.sh'"),
    ("sh check.sh", "sh '{}/check.sh'"),
    ("bash -eu check.sh && ./check.sh | tee log", "bash -eu '{0}/check.sh' && '{0}/check.sh' | tee log"),
    ("A=b env C=d timeout 5s nice -n 2 ./check.sh", "A=b env C=d timeout 5s nice -n 2 '{}/check.sh'"),
    ("'hooks/a b.sh' x", "'{}/hooks/a b.sh' x"),
    ("hooks/a\\ b.sh", "'{}/hooks/a b.sh'"),
    ("if ./check.sh; then exit 1; fi", "if '{}/check.sh'; then exit 1; fi"),
    ("! ./check.sh", "! '{}/check.sh'"),
    ("2>/dev/null ./check.sh <in >>out 2>&1", "2>/dev/null '{}/check.sh' <in >>out 2>&1"),
    ("nice -n 5 ./check.sh", "nice -n 5 '{}/check.sh'"),
    ("pkexec ./check.sh", "pkexec '{}/check.sh'"),
    ("systemd-inhibit unbuffer ./check.sh", "systemd-inhibit unbuffer '{}/check.sh'"),
    ("valgrind --tool=x ./check.sh", "valgrind --tool=x '{}/check.sh'"),
    ("time -p ./check.sh", "time -p '{}/check.sh'"),
    ("rbash check.sh", "rbash '{}/check.sh'"),
    ("tcsh -c ./check.sh", "tcsh -c ''\"'\"'{}/check.sh'\"'\"''"),
    ("A[0]=b A+=c ./check.sh", "A[0]=b A+=c '{}/check.sh'"),
    (". ./check.sh; source check.sh", ". '{0}/check.sh'; source '{0}/check.sh'"),
    ("echo $(./check.sh) `./check.sh`", "echo $('{0}/check.sh') `'{0}/check.sh'`"),
    ("node -r ./check.sh hooks/check.py", "node -r '{0}/check.sh' '{0}/hooks/check.py'"),
    ("deno run hooks/check.py", "deno run '{}/hooks/check.py'"),
    ("sudo -u user ./check.sh", "sudo -u user '{}/check.sh'"),
    ('sudo -u "$USER" -n ./check.sh', "sudo -u \"$USER\" -n '{}/check.sh'"),
    ("timeout -s KILL 5 nice ./check.sh src/a", "timeout -s KILL 5 nice '{}/check.sh' src/a"),
    ("env -u LANG python hooks/check.py", "env -u LANG python '{}/hooks/check.py'"),
    ("stdbuf -o L bash check.sh", "stdbuf -o L bash '{}/check.sh'"),
    ("(./check.sh) & { ./check.sh; }", "('{0}/check.sh') & {{ '{0}/check.sh'; }}"),
]
KEPT = [
    "ruff format .", "check", "git diff --quiet -- src/a.py", "/bin/true ./x", "python -m compileall src", "",
    "node -e 'x' ./y", "cat hooks/nothing", "exit 1", "$HOME/bin/check x", "~/bin/check", '"$X/y" z', "sh -s ./x",
    "python - ./x", "awk '{print}' file", "eval", "A=b", "jq -e '.tool' | grep -q 'x'", "sh -c 'exit 1'", "sh",
    "bash --norc", "deno", "bash -O", "bash -O extglob", "sed -f", "python \"$X\"", "perl -e 1 it's", "echo 3>x",
    "sh -c \"echo $HOME\"", "sudo -n make target", "env -i /bin/jq src/a.json",
]  # fmt: skip


@pytest.mark.parametrize(("command", "wanted"), FOUND)
def test_a_relative_program_or_script_is_that_of_the_folder(folder, command, wanted):
    assert hooks.resolved_hook_command(command, str(folder)) == wanted.format(folder)


@pytest.mark.parametrize("command", KEPT)
def test_arguments_and_what_is_found_by_its_name_stay(folder, command):
    assert hooks.resolved_hook_command(command, str(folder)) == command


def test_every_shell_and_wrapper_that_grants_know_is_known_to_hooks(folder):
    for name in sorted(SHELLS):
        assert hooks.resolved_hook_command(f"{name} ./check.sh", str(folder)) == f"{name} '{folder}/check.sh'"
    for name in sorted(COMMAND_WRAPPERS):
        assert hooks.resolved_hook_command(f"{name} sh -u ./check.sh", str(folder)).endswith("check.sh'")
        assert not runs_nothing([name, "x"])


def test_commands_for_a_shell_are_looked_into(folder, tmp_path):
    made = hooks.resolved_hook_command("bash -c 'cd sub; ./check.sh \"$1\"' x", str(folder))
    (tmp_path / "sub").mkdir()
    assert subprocess.run(made, shell=True, cwd=tmp_path, capture_output=True, check=True).stdout == (
        b"of the data folder\n"
    )


def test_a_command_without_a_folder_stays_as_it_is():
    assert hooks.resolved_hook_command("./missing", "") == "./missing"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("./gone.sh", "/my data/gone.sh, which is not there"),
        ("./gone.sh || true", "gone.sh, which is not there"),
        ("python gone.py", "gone.py, which is not there"),
        ("/nowhere/x", "/nowhere/x, which is not there"),
        ("sudo -u user ./gone.sh", "gone.sh, which is not there"),
        ("env -i jq src/a.json", "src/a.json, which is not there"),
        ("sh -c './gone.sh'", "gone.sh, which is not there"),
        ("./*.sh", "relative path in ./\\*.sh; write an absolute path"),
        ("python hooks/$X.py", "relative path"),
        ('"$(./check.sh)"', "relative path"),
        ('sh -c "$(./check.sh) $X"', "relative path"),
        ('"`hooks/check.py`"', "relative path"),
        ("python check?", "relative path"),
        (
            'sh -c \'sh -c "sh -c \\"sh -c \\\\\\"sh -c ./x\\\\\\"\\""\'',
            "shells within shells|relative|not there",
        ),
    ],
)
def test_what_is_not_there_or_cannot_be_found_out_is_said(folder, command, says):
    with pytest.raises(hooks.UnresolvedHookPath, match=says):
        hooks.resolved_hook_command(command, str(folder))


def test_shells_within_shells_end(folder):
    command = "true"
    for _ in range(6):
        command = f"sh -c {hooks.shlex.quote(command)}"
    with pytest.raises(hooks.UnresolvedHookPath, match="shells within shells"):
        hooks.resolved_hook_command(command, str(folder))
    assert list(hooks.hook_protected_paths(command, str(folder), str(folder), ""))


# --- running ---------------------------------------------------------------------------------------


def users_own(command, folder, event="PreToolUse"):
    return HookRule(event=event, matcher="*", command=command, origin="config.json", folder=str(folder))


def test_a_hook_runs_the_file_of_its_folder_and_is_remembered_by_its_own_words(folder):
    world = World({})
    assert world.pre([users_own("./check.sh", folder)]) is None
    assert (world.commands, world.ran[0].command) == ([f"'{folder}/check.sh'"], "./check.sh")


def test_a_hook_that_vanished_blocks_and_names_the_file(folder):
    (folder / "check.sh").unlink()
    world = World({})
    verdict = world.pre([users_own("./check.sh || true", folder), hook("later")])
    assert (verdict.outcome, world.commands) == ("denied", [])
    assert f"the hook names {folder}/check.sh, which is not there" in verdict.reason
    assert world.ran[0].blocked
    after = World({})
    hooks = [users_own("./check.sh", folder, "PostToolUse")]
    asyncio.run(run_post_tool_hooks(hooks, payload(), after.run, after.ran.append))
    assert not after.ran[0].blocked
    assert "not there" in after.ran[0].output


# --- closed to agents ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "./tools/check.py", "python tools/check.py", "sh -c 'exec ./tools/check.py x'", "bash -c \"./tools/check.py\"",
        "lint --config=tools/check.py", "lint -c tools/check.py", "{work}/tools/check.py", "check.py",
        "env A=b timeout 3 check.py", "cat < tools/check.py", "python \"$X\"; ./tools/check.py",
    ],
)  # fmt: skip
def test_no_agent_writes_what_an_active_hook_names(tmp_path, command):
    work = tmp_path / "work"
    (work / "tools").mkdir(parents=True)
    (work / "tools/check.py").write_text("exit 1")
    (work / "tools/check.py").chmod(0o755)
    (work / "bin").mkdir()
    (work / "bin/check.py").symlink_to("../tools/check.py")
    made = command.replace("{work}", str(work))
    path = f"{work}/bin:/usr/bin"
    named = tuple(hooks.hook_protected_paths(made, str(tmp_path / "data"), str(work), path))
    where = context(work, hook_files=named)
    refused = screen_call(GateCall(tool="create_file", parameters={"path": "tools/check.py"}), where)
    assert refused.outcome == "refused"
    assert "named by a hook" in refused.reason
    other = screen_call(GateCall(tool="create_file", parameters={"path": "tools/other.py"}), where)
    assert not hasattr(other, "outcome")


def test_a_script_that_is_not_there_yet_may_not_be_made_by_an_agent(tmp_path):
    named = tuple(hooks.hook_protected_paths("sh tools/check.sh", str(tmp_path), str(tmp_path), ""))
    where = context(tmp_path, hook_files=named)
    refused = screen_call(GateCall(tool="create_file", parameters={"path": "tools/check.sh"}), where)
    assert refused.outcome == "refused"


def test_a_path_has_no_relative_entries():
    joined = os.pathsep.join(("/a", ".", "", "b/c", "/d"))
    assert hooks.absolute_search_path(joined) == os.pathsep.join(("/a", "/d"))
