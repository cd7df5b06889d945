"""The shell line of a hook: quoted for every shell, silent without our files, and found again in settings."""

import shlex
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.bridge.hook_line import hook_line, parse_hook_line

SHELLS = ("sh", "bash", "dash", "zsh", "fish")
CLIENT = """import sys
sys.stdout.write(repr(sys.argv[1:]) + sys.stdin.read())
sys.exit(7)
"""
WORDS = ["claude", "PreToolUse", '/it\'s "data" $HOME', "ask", "960", "/py thon", "a'b"]


@pytest.fixture
def client(tmp_path):
    path = tmp_path / 'it\'s a $(touch x) "folder" ü' / "hook_client.py"
    path.parent.mkdir()
    path.write_text(CLIENT)
    return path


def run(shell, line, cwd):
    return subprocess.run(
        [shell, "-c", line], input="in", cwd=cwd, capture_output=True, text=True, check=False
    )


def words_of(python, client, otherwise="ask"):
    return [str(python), "-I", "-S", str(client), *WORDS[:3], otherwise, *WORDS[4:]]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_client_gets_its_words_and_its_exit_code_counts(shell, client, tmp_path):
    ended = run(shell, hook_line(words_of(sys.executable, client)), tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, repr(WORDS) + "in", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [client.parent.name]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("otherwise", ["ask", "deny", "leave"])
def test_it_is_silent_without_our_files_and_denies_only_where_that_was_chosen(
    shell, otherwise, client, tmp_path
):
    line = hook_line(words_of(tmp_path / "it's no python", client, otherwise))
    ended = run(shell, line, tmp_path)
    if otherwise == "deny":
        assert (ended.returncode, ended.stdout) == (2, "")
        assert (
            ended.stderr
            == f"The Python that workbench was connected with is gone: {tmp_path}/it's no python\n"
        )
    else:
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    client.unlink()
    ended = run(shell, line, tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@given(
    TEXTS,
    TEXTS,
    TEXTS,
    st.sampled_from(["ask", "deny", "leave"]),
    st.integers(0, 9999),
    st.lists(TEXTS, max_size=3),
)
def test_a_line_is_found_again(folder, python, data, otherwise, seconds, start):
    client = f"/{folder}/hook_client.py"
    words = [python, "-I", "-S", client, "qwen", "Stop", data, otherwise, str(seconds)]
    if "exec" in start:
        return  # nothing that starts the background process has such a word
    found = parse_hook_line(hook_line([*words, *start]))
    assert found is not None
    assert [found.python, found.client, found.agent, found.event, found.data] == [
        python,
        client,
        "qwen",
        "Stop",
        data,
    ]
    assert (found.otherwise, found.seconds) == (otherwise, seconds)


@pytest.mark.parametrize(
    "command",
    [
        None, 3, "", "hook_client.py", "exec hook_client.py", "echo 'hook_client.py", "cat /x/hook_client.py",
        "exec python -I -S /x/hook_client.py claude Stop /d ask many", "exec python -I -S /x/my_client.py a b c d 1",
        "exec python -I -S my_hook_client.py a b c d 1", shlex.join(["exec", "/x/hook_client.py", "x" * 30_000]),
    ],
)  # fmt: skip
def test_commands_of_others_are_not_ours(command):
    assert parse_hook_line(command) is None
