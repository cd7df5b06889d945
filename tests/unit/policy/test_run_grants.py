"""A tool that a human granted as a whole for one run: every line of it but for closed places."""

import pytest
from msgspec.structs import replace

from tests.unit.policy.gate_cases import SHELL, context, rule
from tests.unit.policy.test_gate import call, globs, judged
from workbench.policy import run_grants
from workbench.policy.shell.command_paths import CommandBoundary

BARE = rule(scope="run", scope_id="r1", tool="Bash", pattern="Bash", origin="user")


@pytest.fixture
def where(tmp_path, monkeypatch):
    root = tmp_path / "work"
    (root / ".git/hooks").mkdir(parents=True)
    (root / "src").mkdir()
    (root / "src/a.md").write_text("")
    (root / "hooks-of-mine.sh").write_text("")
    home = tmp_path / "home"
    (home / ".local/share/workbench").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return context(root, rules=(BARE,), run_id="r1", protected=(str(home / ".local/share/workbench"),),
                   hook_files=(str(root / "hooks-of-mine.sh"),))  # fmt: skip


EVERYDAY = [
    "echo x > out.json", "cat <<'E' > out.json\n{\"a\": 1}\nE", "for f in src/*.md; do wc -l \"$f\"; done",
    "ls *.md", "python -c 'print(1)'", "ls | xargs -n1 echo", "sed -i s/a/b/ src/a.md", "echo $(date)",
    "cd src && ls .", "mkdir -p .wave/output && echo {} > .wave/output/plan.json", "ls 2>/dev/null",
    "git status; git add -A; git commit -m 'x'", "cat < src/a.md | sort", "test -f /etc/hostname && echo y",
    "for i in {1..30}; do echo $i; done", "cp src/{a,b}.md src/c", "ls .github", "cat .envrc.example",
    "echo look at systemctl", "echo x > .{a,b}", "ls .nothing*", "cd src && ls .", "env | sort", "echo '{\"a\": \"b\", \"c\": 1}' > x.json", "git log --format=%h", "git init x", "echo {a", "echo {ab}",
    "cat ../x /etc/hostname", "x=1; eval \"echo $x\"", "find . -name '**.md'", "",
]  # fmt: skip
ASKED = [
    ("echo x > .git/hooks/pre-commit", "belongs to git"),
    ("cd .git && echo x > hooks/pre-commit", "belongs to git"),
    ("echo x > .g\"i\"t/hooks/pre-commit", "belongs to git"),
    ("echo x > ../work/.git/hooks/p", "belongs to git"),
    ("for f in .gi*; do echo x > $f/hooks/p; done", "belongs to git"),
    ("d=.git; echo x > $d/hooks/p", "belongs to git"),
    ("cp src/a.md {.git,src}/x", "belongs to git"),
    ("git config alias.x '!sh'", "what git runs"),
    ("git -c core.hooksPath=src status", "what git runs"),
    ("cat ~/.local/share/workbench/journal.db", "belongs to workbench"),
    ("cp -r $HOME /tmp/x", "belongs to workbench"),
    ("cp -r \"${HOME}/.local\" /tmp/x", "belongs to workbench"),
    ("echo x >> ~/.bashrc", "your shell or login"),
    ("echo x > .envrc", "cannot be granted"),
    ("echo '{}' > wave.yaml", "controls this workspace"),
    ("echo x > .wave/pipelines/p.yaml", "controls this workspace"),
    ("echo x > .wave/output/../pipelines/p.yaml", "controls this workspace"),
    ("echo x > ../other/.workbench/pipelines/p.yaml", "controls this workspace"),
    ("echo x > hooks-of-mine.sh", "run by the configuration"),
    ("tee .gi{t,t}/hooks/pre-commit < x", "belongs to git"),
    ("tee .{f..h}it/hooks/pre-commit < x", "belongs to git"),
    ("tee .{{e,f}nv,g}rc", "cannot be granted"),
    ("cp x .g$'\\x69't/hooks/post-merge", "belongs to git"),
    ("cp x .g$'\\151't/hooks/post-merge", "belongs to git"),
    ("tee .workb{ench,x}.json", "controls this workspace"),
    ("cd sub && cp x .e?vrc", "may name a file that runs automatically"),
    ("cd sub && cp x .gi[t]/hooks/x", "may name a file that runs automatically"),
    ("echo x | crontab -", "starts programs later"),
    ("sudo at now < job", "starts programs later"),
    ("true; systemctl --user start x", "starts programs later"),
    ("gunzip .envrc.gz", "cannot be granted"),
    ("sort -o.envrc x", "cannot be granted"),
    ("echo x > ${f:-.envrc}", "cannot be granted"),
    ("git init --template=x", "what git runs"),
    ("git clone --templ x y", "what git runs"),
    ("mv src .vscode", "cannot be granted"),
    ("git mv src a/.github", "cannot be granted"),
    ("apply_patch < x", "its patch names"),
    ("cd .github/workflows && echo x > y.yml", "cannot be granted"),
    ("cd .vscode; echo x > tasks.json", "cannot be granted"),
    ("mkdir -p a/.agents && cd a/.agents && mkdir skills && echo x > skills/x", "cannot be granted"),
    ("cd src && cat .local/x; cd && cat .local/share/workbench/journal.db", "belongs to workbench"),
    ("cd && cat .local/share/workbench/journal.db", "belongs to workbench"),
    ("cd src; cat ../../home/.local/share/workbench/journal.db", "belongs to workbench"),
    ("cd src && cp x ../.git/hooks/pre-commit", "belongs to git"),
    ("tar -C .vscode -xf x.tar", "cannot be granted"),
    ("wget -P .vscode http://h/tasks.json", "cannot be granted"),
    ("find .github -exec sed -i s/a/b/ {} +", "cannot be granted"),
    ("/usr/bin/git config core.fsmonitor ./x", "what git runs"),
    ("git.exe config x y", "what git runs"),
    ("git clone -c core.fsmonitor=x y", "what git runs"),
    ("git maintenance start", "what git runs"),
    ("pre-commit install", "what git runs"),
    ("echo x > .env$\"\"rc", "cannot be granted"),
    ("echo x > .env``rc", "cannot be granted"),
    ("echo x > .env$()rc", "cannot be granted"),
    ("echo x > .env$@rc", "cannot be granted"),
    ("echo x > .env${y}rc", "cannot be granted"),
    ("echo x > .env${y:-r}c", "cannot be granted"),
    ("echo x > .e{n,'}'}vrc", "braces cannot be read"),
    ("echo x > .e{n,${x}}vrc", "braces cannot be read"),
    ("cat ${HOME:?}/.local/share/workbench/x", "belongs to workbench"),
    ("cp x '?envrc'", "may name a file that runs automatically"),
    ("echo x > /etc/cron.d/x", "starts programs later"),
    ("echo {1..9}{1..9}{1..9}{a,b}{1..99}{1..99}{a..z}{a..z}", "braces name more than"),
    ("echo " + "{a,b}" * 12, "braces name more than"),
    ("eval \"" + "x" * run_grants.LONGEST_LINE + "\"", "characters"),
]  # fmt: skip


@pytest.mark.parametrize("line", EVERYDAY)
def test_a_whole_grant_covers_every_line_that_names_no_closed_place(where, line):
    verdict = judged(call(command=line), where).verdict
    assert (verdict.outcome, verdict.by) == ("allowed", "R1"), verdict.reason


@pytest.mark.parametrize(("line", "why"), ASKED)
def test_it_covers_no_closed_place(where, line, why):
    verdict = judged(call(command=line), where).verdict
    assert (verdict.outcome, "the grant for this run does not cover it" in verdict.reason) == ("ask", True)
    assert why in verdict.reason


def test_hidden_characters_and_an_ended_trust_ask(where):
    verdict = judged(call(command="echo \u202e x > out"), where).verdict
    assert (verdict.outcome, "cannot be seen" in verdict.reason) == ("ask", True)
    verdict = judged(call(command="echo x"), replace(where, ended="the trust ended")).verdict
    assert (verdict.outcome, verdict.reason) == ("ask", "the trust ended")


@pytest.mark.parametrize("line", ["rm -rf x", "for f in x; do rm $f; done", "sh -c 'rm x'", "xargs rm < x"])
def test_a_deny_beats_it(where, line):
    denied = replace(where, deny=globs("Bash(rm *)"))
    assert judged(call(command=line), denied).verdict.outcome in ("denied", "ask")
    ruled = replace(where, rules=(BARE, replace(BARE, id="R2", effect="deny", pattern="Bash(rm *)")))
    assert judged(call(command="rm -rf x"), ruled).verdict.outcome == "denied"


def test_what_may_not_be_read_is_not_read_by_a_command(where):
    denied = replace(where, deny=globs("Read(src/*)"))
    verdict = judged(call(command="for f in src/a.md; do cat $f; done"), denied).verdict
    assert (verdict.outcome, "is denied" in verdict.reason) == ("ask", True)
    assert judged(call(command="for f in x; do cat $f; done"), denied).verdict.outcome == "allowed"


@pytest.mark.parametrize(
    "changed",
    [
        {"pattern": "Bash(echo *)"}, {"scope": "always"}, {"scope_id": "r2"}, {"origin": "config"},
        {"pattern_kind": "regex", "tool": "run_in_terminal", "pattern": "."}, {"tool": "*", "pattern": "*"},
        {"tool": "Write", "pattern": "Write"}, {"pattern": "Bash(x"}, {"effect": "ask"},
    ],
)  # fmt: skip
def test_nothing_narrower_or_wider_is_a_whole_grant(where, changed):
    narrower = replace(where, rules=(replace(BARE, **changed),))
    assert judged(call(command='x=1; eval "echo $x"'), narrower).verdict.outcome == "ask"


@pytest.mark.parametrize("pattern", ["Bash", "Bash(*)", "run_in_terminal", "Bash(**)"])
def test_all_spellings_of_the_whole_tool(where, pattern):
    assert run_grants.whole_tool_grant((replace(BARE, tool="Bash", pattern=pattern),), SHELL) is not None


def test_without_denials_and_governing_files_nothing_else_is_asked_for(tmp_path):
    assert run_grants.protected_place("echo x > y", CommandBoundary(workspace=str(tmp_path))) == ""


def test_a_line_with_too_much_to_look_at_asks(where, monkeypatch):
    many = "echo x{" + ",".join(map(str, range(run_grants.MOST_MATCHES + 1))) + "}"
    assert "braces name more than" in judged(call(command=many), where).verdict.reason
    monkeypatch.setattr(run_grants, "_MOST_LOOKUPS", 3)
    assert "too many folders" in judged(call(command="ls src a b c"), where).verdict.reason
