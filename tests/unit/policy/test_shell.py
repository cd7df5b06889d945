"""Commands as patterns see them: what is plain, and what a deny has to reach."""

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.growth import assert_grows_with_length
from tests.support.tables import each_row
from workbench.policy.shell.analysis import MAX_COMMAND_LENGTH, view_command

PLAIN = [
    "git diff --stat main",
    "pytest -q tests/test_a.py",
    "pytest -q -k 'a and b'",
    "npm test",
    "make test",
    "./run.sh --fast",
    "git log -3 --oneline HEAD^ HEAD~1 a..b",
    "git stash show stash@{0}",
    "git log @{u}..HEAD",
    "git commit -m 'fix: a; b && c | d > e'",
    'git commit -m "one\ntwo"',
    "git switch -c feature",
    "git config --get user.name",
    "ls",
    "cargo test --workspace -- --nocapture",
    "git log | head -5",
    "git log |& head -5",
    "npm test 2>&1 | tail -20",
    "npm test >/dev/null 2>&1",
    "npm test &>/dev/null",
    "npm test 2>/dev/null || true",
    "ls >&2",
    "echo a 2>&-",
    "ls && pwd; whoami\nid",
    "ls &",
    "(ls; pwd)",
    "{ ls; pwd; }",
    "! ls",
    "if ls; then pwd; elif id; then pwd; else whoami; fi",
    "for f in a b; do ls; done",
    "while ls; do sleep 1; done",
    "case x in x) ls;; esac",
    "[ -f x ] && ls",
    "test -d x || ls",
    "ls # what is here; rm x",
    "ls\t-l",
    "ls \\\n -l",
    "ls\\\n -l",
    "ls &&\\\ncat",
    "echo \u00e9 '\U0001f600'",
    "echo 'a $HOME `x`' \"b\" c\\ d",
    'echo "costs 5$" "a\\"b" \\$x',
    "echo $'a\\tb\\x41'",
    "CI=1 NODE_ENV=test LC_ALL=C npm test",
    "export CI=1 && npm test",
    "set -euo pipefail; npm test",
    "wc -l < a.txt",
    "cat < /dev/null",
    "cat <<< 'a b'",
    "cat <<'EOF'\nhi $x `y`\nEOF",
    "cat <<EOF\nhi there\nEOF\nls",
    "find . -name '*.py' -type f -newer x",
    "fd -e py",
    "sed -n '1,20p' a.txt",
    "sed 's/a/b/g; s|x|y|; $d' a.txt",
    "sed -E -e 's/a+/b/' -e '/x/d' a.txt",
    "awk '{print $1}' a.txt",
    "awk -F, -v n=1 '{ printf \"%s\\n\", $2 }' a.txt",
    "sort -k2,2 -t, -u a.txt",
    "uniq -c a.txt",
    "tee /dev/null",
    "tar -xzf a.tgz",
    "tar tzf a.tgz",
    "rg -n 'foo|bar' src",
    "curl -fsSL -X POST -H 'A: b' https://example.com/",
    "jq '.a | .b' x.json",
    "command -v git",
    "cd src && ls",
    "docker ps",
    "docker compose logs web",
    "curl -s -o /dev/null -w '%{http_code}' https://example.com",
    "git log --since='2 weeks ago' --pretty=format:'%h %an'",
    "git show HEAD:src/a.py",
    "cat a.txt | grep -v '^#' | sort | uniq -c | sort -rn | head -10",
    "kubectl get pods",
    "git push --set-upstream origin x",
    "python --version",
    "tr a-z A-Z",
    "echo a{b}c {}",
    "head -c 10 /dev/null",
]
"""Lines of simple commands and nothing more: if each is allowed, so are they."""

SPELLED = [
    ("python -m pytest -q", "python -m pytest"),
    ("python -m sqlite3 shop.db", "python -m sqlite3"),
    ("python3.11 -u manage.py test", "python3.11 -u manage.py"),
    ("bash build.sh --fast", "bash build.sh"),
    ("node script.js", "node script.js"),
    ("npx eslint .", "npx eslint"),
    ("npm exec eslint .", "npm exec eslint"),
    ("uv run pytest -q", "uv run pytest"),
    ("uv run --with x python -m pytest -q", "uv run --with x python -m pytest"),
    ("go run ./cmd/x -v", "go run ./cmd/x"),
]
"""What runs another program by its name: a pattern has to say which."""

UNPLAIN = [
    "",
    "   ",
    "# only words",
    "git diff $(rm x)",
    "git diff `rm x`",
    'git diff "$(rm x)"',
    "git diff > out",
    "git diff >> out",
    "git diff >| out",
    "git diff &> out",
    "git diff >& out",
    "git diff 2> out",
    "git diff <> out",
    "cat < /dev/tcp/example.com/80",
    "{ ls; cat; } < x",
    "cat <<EOF\n$x\nEOF",
    "cat <<EOF\n`x`\nEOF",
    "cat <<EOF",
    "cat <(ls)",
    "ls >(cat)",
    "ls 2>&1\\\neval",
    "l\\\ns",
    "ls &\\\n& cat",
    "ls 2\\\n>x",
    "echo $HOME",
    "echo ${x}",
    'echo "$x"',
    "echo $((1))",
    "((1))",
    "[[ -f x ]]",
    "let x=1",
    'echo $"x"',
    "ls *.py",
    "ls ?",
    "ls [ab]",
    "echo {a,b}",
    "echo {1..3}",
    "echo {a,'b c'}",
    "PATH=. ls",
    "LD_PRELOAD=./x ls",
    "GIT_SSH_COMMAND=x git fetch",
    "x=(1 2)",
    "x[1]=2 ls",
    "export PATH=.",
    "export -f x",
    "declare x=1",
    "readonly x",
    "unset x",
    "for PATH in .; do ls; done",
    "for ((;;)); do ls; done",
    "select x in a; do ls; done",
    "f() { ls; }",
    "function f { ls; }",
    "alias ls=rm",
    "trap ls EXIT",
    "ls ~",
    "ls ~root/x",
    "make x=~/y",
    "ls\u202e",
    "ls\u200b",
    "ls \r",
    "ls\u00a0-l\x00",
    '"git push" x',
    "'' x",
    "sudo ls",
    "env ls",
    "timeout 5 ls",
    "ls | xargs cat",
    "command ls",
    "exec ls",
    "nohup ls",
    "time ls",
    "/usr/bin/sudo ls",
    "sh",
    "ls | sh",
    "sh -c ls",
    "bash -lc ls",
    "python -c 1",
    "python -Bc 1",
    "python -",
    "python",
    "perl -ne 1 x",
    "node -e 1",
    "node --eval=1",
    "npx -c ls",
    "uv run python -c 1",
    "uv run",
    "deno eval 1",
    "docker run x",
    "docker exec x ls",
    "docker compose exec web sh",
    "tar -I /dev/null -cf x y",
    "kubectl exec x ls",
    "eval ls",
    ". x",
    "source x",
    "if x",
    "ls ;; ls",
    "ls )",
    "ls 'x",
    'ls "x',
    "find . -exec rm x ;",
    "find . -delete",
    "find . -fprint x",
    "fd -x rm",
    "sed -i s/a/b/ x",
    "sed -n 'w out' x",
    "sed 's/a/b/w out' x",
    "sed 's/a/b/e' x",
    "sed 1e x",
    "sed -f x y",
    "awk '{ print > \"x\" }' y",
    "awk '{ system(\"x\") }' y",
    "awk '{ \"x\" | getline }' y",
    "awk -f x y",
    "git -c core.pager=x log",
    "git -C x log",
    "git --exec-path=x log",
    "git diff --ext-diff",
    "git rebase -x ls main",
    "git rebase --exec=ls main",
    "git bisect run ls",
    "git submodule foreach ls",
    "git config alias.x '!ls'",
    "git grep -Oless x",
    "git clone -c a=b x",
    "git fetch --upload-pack=x y",
    "git clone ext::sh x",
    "cd x && ./run.sh",
    "rg --pre ./x y",
    "sort --compress-program=x y",
    "uniq a b",
    "tee out",
    "tee -a out",
    "tar -I x -cf y z",
    "tar cIf x y z",
    "tar -xf y --to-command=x",
    "tar -cf y --checkpoint-action=exec=x z",
    "make SHELL=./x test",
    "make -f x",
    "less +!ls x",
    "man -P ls x",
    "vim x",
    "printf -v x y",
    "test -v x",
    "-x",
    "ls " + "x " * 5000,
    "x" * (MAX_COMMAND_LENGTH + 1),
]


@each_row("command", PLAIN)
def test_a_command_of_plain_words_is_plain(command: str):
    assert view_command(command).reasons == ()
    assert view_command(command).plain


@each_row("command", UNPLAIN)
def test_a_command_that_could_do_more_than_it_says_is_not_plain(command: str):
    seen = view_command(command)
    assert not seen.plain
    assert seen.reasons


WRITING = [
    "curl -o x -s https://example.com",
    "curl -Oo /dev/null https://example.com/x",
    "git diff --output=x",
    "git diff --outp=x",
    "sort -no x y",
    "curl -o x https://example.com",
    "curl -sSLo x https://example.com",
    "curl -O https://example.com/x",
    "wget -qOx http://a.example",
]


@each_row("command", WRITING)
def test_a_command_that_writes_where_an_option_says_is_spelled_out_as_a_whole(command: str):
    (simple,) = view_command(command).commands
    assert simple.literal == frozenset(range(len(simple.words)))


@each_row(("command", "spelled"), SPELLED)
def test_a_program_that_runs_another_has_to_be_spelled_out(command: str, spelled: str):
    (simple,) = view_command(command).commands
    assert " ".join(simple.words[: simple.spelled]) == spelled


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


@each_row("command", REACHING)
def test_a_deny_sees_the_command_wherever_it_stands(command: str):
    assert any(text.startswith("git push") for text in view_command(command).deny_texts)


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
    assert not any(
        text == "git push" or text.startswith("git push ") for text in view_command(command).deny_texts
    )


def test_segments_are_the_simple_commands_with_quotes_taken_off():
    seen = view_command("git log --format='%h' && echo \"a b\"; ls")
    assert seen.segments == ("git log --format=%h", "echo a b", "ls")
    assert seen.is_certain


@pytest.mark.parametrize("command", ["echo 'x", 'echo "x', "echo $(x", "echo `x", "echo ${x:-y}"])
def test_what_cannot_be_read_for_certain_is_said(command: str):
    assert not view_command(command).is_certain


SHELL_TEXT = st.text(alphabet=string.ascii_lowercase[:4] + " ;&|()`'\"\\$<>{}\n=-/", max_size=60)


@settings(max_examples=300, deadline=None)
@given(SHELL_TEXT)
def test_any_text_can_be_looked_at_and_plain_means_that_every_word_is_accounted_for(command: str):
    seen = view_command(command)
    assert command in seen.deny_texts
    assert bool(seen.reasons) is not seen.plain
    if seen.plain:
        # A dollar sign in front of anything else is one: of `a$` a shell makes `a$`.
        unescaped = re.sub(r"\\.", "", command, flags=re.DOTALL)
        assert not re.search(r"\$[a-z({$\-'\"`]", unescaped) or "'" in command or '"' in command
        assert len(seen.segments) == len(seen.commands) > 0


@settings(max_examples=200, deadline=None)
@given(SHELL_TEXT, SHELL_TEXT, st.sampled_from([";", "\n", "&&", "||", "|", "&"]))
def test_a_command_behind_a_separator_is_always_reached(before: str, after: str, separator: str):
    command = f"a{separator}git push"
    assert "git push" in view_command(command).deny_texts
    quiet = before.translate({ord(sign): " " for sign in "'\"\\$`(){}<>"})
    assert "git push" in view_command(f"{quiet}{separator}git push\n{after}").deny_texts


HOSTILE = [
    ("a=(", 30_000), (">", 100_000), ("<<a\n", 25_000), ("a|", 50_000), ("${", 50_000), ("ls;", 33_000),
    ("x", 100_000), ("\\ ", 50_000), ("'", 99_999), ("{,", 50_000), ("(", 5000), ("$(", 5000), ("`", 5000),
    ("a ", 8000), ("sudo ", 3000), ("env -a ", 2000), ('"$(', 4000), ("a=(", 290), ("rm x;", 3000),
]  # fmt: skip


@each_row(("piece", "times"), HOSTILE)
def test_a_hostile_command_is_looked_at_in_time(piece: str, times: int):
    def view(text: str):
        view_command(f"python -c '{text}'")
        view_command(text)

    assert_grows_with_length(view, piece * (times // 8), piece * times)


@each_row(
    ("line", "words"),
    [
        ("ls 2>&1 src", ("ls", "src")),
        ("git 2>/dev/null push", ("git", "push")),
        ("cat a >/dev/null b >/dev/null c", ("cat", "a", "b", "c")),
        ("cat a <b c", ("cat", "a", "c")),
        ("cat a <<< b c", ("cat", "a", "c")),
        ("cat 2>/dev/null 'b c'", ("cat", "b c")),
        ("X=1 cat >/dev/null b", ("cat", "b")),
        ("[ -f x ] >/dev/null b", ("[", "-f", "x", "]", "b")),
        ("export A=1 >/dev/null B=2", ("export", "A=1", "B=2")),
        ("if cat >/dev/null b; then true; fi", ("cat", "b")),
        ("for i in a; do cat >/dev/null b; done", ("cat", "b")),
        ("X=1 >/dev/null rm -rf a", ("rm", "-rf", "a")),
    ],
)
def test_a_word_behind_a_redirect_belongs_to_its_command(line, words):
    assert view_command(line).commands[0].words == words


@pytest.mark.parametrize(
    "line",
    [
        "find . >/dev/null -delete", "find . 2>&1 -exec id {} +", "find . <<E -delete\nx\nE",
        "export A=1 >/dev/null PATH=2", "{ ls; } >/dev/null b",
    ],
)  # fmt: skip
def test_a_word_behind_a_redirect_is_judged(line):
    assert not view_command(line).plain


@pytest.mark.parametrize("target", ["/w", "/w/", "-- /w"])
def test_a_cd_to_where_the_line_runs_anyway_moves_nothing(target):
    seen = view_command(f"cd {target} && git status && ./run", "/w")
    assert seen.plain
    assert [simple.stays for simple in seen.commands] == [True, False, False]
    assert [simple.words[0] for simple in seen.commands_to_cover] == ["git", "./run"]
    assert seen.without_redundant_cd.segments == ("git status", "./run")


@pytest.mark.parametrize(
    "line",
    [
        "cd /w/sub && ./run", "cd /w && cd sub && ./run", "cd sub; (cd /w); ./run", "cd /v && ./run",
        "chdir sub && ./run",
    ],
)  # fmt: skip
def test_a_relative_program_behind_another_cd_is_not_plain(line):
    assert not view_command(line, "/w").plain


def test_a_cd_that_does_more_is_no_such_cd():
    for line in ("cd /w", "X=1 cd /w && ls", "cd /w <x && ls", "cd /w x && ls", "cd -P /w && ls"):
        assert view_command(line, "/w").commands_to_cover == view_command(line, "/w").commands, line
    assert not view_command("cd /w && ./x").plain
    assert not view_command("cd w && ./x", "w").plain


def test_a_command_knows_what_stands_before_it():
    seen = view_command("a && b || c\nd |\n e; ! f && (g; h); for i in x y; do j; done")
    assert [simple.behind for simple in seen.commands] == [
        "", "&&", "||", "\n", "|", "; !", "&& (", ";", ") ; for ; do",
    ]  # fmt: skip
    assert [simple.words[0] for simple in seen.commands if simple.is_repeated] == ["j"]


def test_every_cd_of_a_very_long_line_is_kept_in_its_place():
    line = "cd a;ls;cd b;ls;" + ";".join(["cat x"] * 500)
    assert [simple.words[-1] for simple in view_command(line).commands][:4] == ["a", "ls", "b", "ls"]
    assert len(view_command(";".join(["cat x"] * 500)).commands) == 1
