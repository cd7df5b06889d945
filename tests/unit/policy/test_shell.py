"""Commands as patterns see them: what is plain, and what a deny has to reach."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.policy.shell import LONGEST, view

PLAIN = [
    "git diff --stat main",
    "pytest -q tests/test_a.py",
    "npm test",
    "make test",
    "./run.sh --fast",
    "git log -3 --oneline HEAD^",
    "ls",
    "uv run pytest -q",
    "cargo test --workspace",
]

UNPLAIN = [
    "",
    "   ",
    "git diff; rm x",
    "git diff && rm x",
    "git diff & rm x",
    "git diff | sh",
    "git diff\nrm x",
    "git diff $(rm x)",
    "git diff `rm x`",
    "git diff > out",
    "cat < in",
    "git log --format='%h'",
    'echo "a"',
    "echo $HOME",
    "ls *.py",
    "ls ?",
    "ls [ab]",
    "echo {a,b}",
    "(ls)",
    "FOO=1 ls",
    "PATH=. ls",
    "ls ~",
    "ls \\x",
    "! ls",
    "ls # x",
    "ls\tx",
    "ls \u00e9",
    "ls\u202e",
    "sudo ls",
    "env ls",
    "timeout 5 ls",
    "xargs ls",
    "command ls",
    "exec ls",
    "nohup ls",
    "find . -name x",
    "/usr/bin/sudo ls",
    "bash x.sh",
    "python3.11 x.py",
    "/opt/bin/python x.py",
    "sh",
    "eval ls",
    ". x",
    "source x",
    "cd x",
    "export A",
    "if x",
    "git -c core.pager=x log",
    "git diff --output=x",
    "git diff --outp=x",
    "git diff --ext-diff",
    "rg --pre ./x y",
    "sort -no x y",
    "tar -I x -cf y z",
    "make SHELL=./x test",
    "-x",
    "x" * (LONGEST + 1),
]


@pytest.mark.parametrize("command", PLAIN)
def test_a_command_of_plain_words_is_plain(command: str):
    assert view(command).reasons == ()
    assert view(command).plain


@pytest.mark.parametrize("command", UNPLAIN)
def test_a_command_that_could_do_more_than_it_says_is_not_plain(command: str):
    seen = view(command)
    assert not seen.plain
    assert seen.reasons


REACHING = [
    "git push",
    "  git push  ",
    "git  push",
    "git\tpush",
    "ls; git push",
    "ls;git push",
    "ls && git push",
    "ls || git push",
    "ls & git push",
    "ls | git push",
    "ls |& git push",
    "ls\ngit push",
    "echo $(git push)",
    'echo "$(git push)"',
    'echo "a $(echo "$(git push)") b"',
    "echo `git push`",
    'echo "`git push`"',
    "cat <(git push)",
    "(git push)",
    "( ls; (git push) )",
    "{ git push; }",
    "if true; then git push; fi",
    "while git push; do :; done",
    "f() { git push; }; f",
    "! git push",
    "A=1 git push",
    "A=1 B='x y' git push",
    "env git push",
    "env -i A=1 git push",
    "sudo git push",
    "sudo -u root git push",
    "sudo -u root -- env A=1 nohup git push",
    "nohup git push &",
    "time git push",
    "time -p git push",
    "timeout 5 git push",
    "timeout -k 1 5s git push",
    "xargs git push",
    "echo x | xargs -n 1 -I {} git push {}",
    "command git push",
    "command -- git push",
    "exec git push",
    "exec -a x git push",
    "nice git push",
    "nice -n 10 git push",
    "stdbuf -oL git push",
    "setsid git push",
    "busybox env git push",
    "/usr/bin/env git push",
    "/usr/bin/git push",
    "./git push",
    "../../bin/git push",
    "GIT push",
    "sudo /usr/bin/git push",
    "git -C /tmp push",
    "git --no-pager push",
    "git -c a=b --no-pager -C x push",
    "git --git-dir=x --work-tree y push",
    "'git' push",
    '"git" "push"',
    "g''it pu\"sh\"",
    "gi\\t push",
    "git \\\npush",
    "git $EMPTY push",
    "git ${EMPTY} push",
    "git $(true) push",
    "{git,push}",
    "$'git' push",
    "bash -c 'git push'",
    'bash -c "git push"',
    "bash -lc 'cd x && git push'",
    "sh -c 'A=1 sudo git push'",
    "/bin/sh -c 'git push'",
    "bash -c \"bash -c 'git push'\"",
    "eval git push",
    "eval 'git push'",
    "trap 'git push' EXIT",
    "echo 'git push' | sh",
    "sh <<EOF\ngit push\nEOF",
    "sh <<< 'git push'",
    "python3 -c 'import os; os.system(\"git push\")'",
    "python -c \"import subprocess; subprocess.run(['git', 'push'])\"",
    "perl -e 'system(\"git push\")'",
    "find . -exec git push ;",
    "find . -exec sh -c 'git push' \\;",
    "git push>/dev/null",
    ">/dev/null git push",
    "2>&1 git push",
    "< /dev/null git push",
    "case x in x) git push;; esac",
    "echo don't; git push",
    'echo "unclosed; git push',
    "ssh host git push",
    "ssh host 'git push'",
    "coproc git push",
    "watch -n 1 git push",
    "echo ${X:-$(git push)}",
]


@pytest.mark.parametrize("command", REACHING)
def test_a_deny_sees_the_command_wherever_it_stands(command: str):
    assert any(text.startswith("git push") for text in view(command).reach)


@pytest.mark.parametrize(
    "command",
    [
        "git pull",
        "echo git push",
        "git commit -m 'git push later'",
        "grep -rn 'git push' .",
        "git pushx",
        "mygit push",
    ],
)
def test_a_deny_does_not_see_what_is_only_said(command: str):
    assert not any(text == "git push" or text.startswith("git push ") for text in view(command).reach)


def test_segments_are_the_simple_commands_with_quotes_taken_off():
    seen = view("git log --format='%h' && echo \"a b\"; ls")
    assert seen.segments == ("git log --format=%h", "echo a b", "ls")
    assert seen.is_certain


@pytest.mark.parametrize(
    "command", ["echo 'x", 'echo "x', "echo $(x", "echo `x", "echo $'x'", "echo ${x:-y}"]
)
def test_what_cannot_be_read_for_certain_is_said(command: str):
    assert not view(command).is_certain


SHELL_TEXT = st.text(alphabet=string.ascii_lowercase[:4] + " ;&|()`'\"\\$<>{}\n=-/", max_size=60)


@settings(max_examples=300, deadline=None)
@given(SHELL_TEXT)
def test_any_text_can_be_looked_at_and_plain_means_one_segment_as_written(command: str):
    seen = view(command)
    assert command in seen.reach
    if seen.plain:
        assert seen.segments == (" ".join(command.split()),)


@settings(max_examples=200, deadline=None)
@given(SHELL_TEXT, SHELL_TEXT, st.sampled_from([";", "\n", "&&", "||", "|", "&"]))
def test_a_command_behind_a_separator_is_always_reached(before: str, after: str, separator: str):
    command = f"a{separator}git push"
    assert "git push" in view(command).reach
    quiet = before.translate({ord(sign): " " for sign in "'\"\\$`(){}<>"})
    assert "git push" in view(f"{quiet}{separator}git push\n{after}").reach


@pytest.mark.parametrize(
    "hostile",
    ["(" * 5000, "$(" * 5000, "`" * 5000, "a " * 8000, "sudo " * 3000, "env -a " * 2000, '"$(' * 4000],
)
def test_a_hostile_command_is_looked_at_in_time(hostile: str):
    import time

    started = time.process_time()
    view(hostile)
    assert time.process_time() - started < 1.0
