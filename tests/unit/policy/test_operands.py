"""What a granted command may touch: its words resolved as the kernel would, in the folder that it runs in."""

import os
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.growth import assert_grows_with_length
from tests.unit.policy.gate_cases import context, rule
from workbench.domain.values import PermissionPattern
from workbench.policy.gate import GateCall, judge_screened_call, recheck_call, screen_call
from workbench.policy.shell.analysis import SimpleCommand, view_command
from workbench.policy.shell.command_paths import (
    CommandBoundary,
    boundary_objection,
    boundary_objections,
    is_within_boundary,
    path_candidates,
)

EVERYTHING = (PermissionPattern(text="Bash", origin="config.json:3"),)


class Place:
    """A workspace with all that is protected in and around it."""

    def __init__(self, top):
        self.top, self.root, self.data = top, top / "work", top / "data"
        for folder in ("src/deep", "sub", "docs", ".git/hooks", "lib/.git", "bare/refs", "bare/objects"):
            (self.root / folder).mkdir(parents=True)
        self.data.mkdir()
        for name in (".env", "src/x", "README.md", ".git/config", "bare/HEAD", "sub/.workbench.json"):
            (self.root / name).write_text("x")
        (self.root / ".workbench.json").write_text(
            '{"hooks": {"PreToolUse": [{"command": "sh scripts/check.sh"}]}}'
        )
        (self.root / "scripts").mkdir()
        (self.root / "scripts/check.sh").write_text("exit 0")
        for name, target in (
            ("out", "/etc"), ("far", top), ("in", "src/deep"), ("secret", ".env"), ("round", "round"),
            ("settings", ".git/config"), ("a,b", "/etc"), ("-l", "/etc"), ("a\nb", "/etc"), ("m=n", "/etc"),
            ("key", self.data / "key"),
        ):  # fmt: skip
            (self.root / name).symlink_to(target)

    def context(self, **changed):
        given = {"allow": EVERYTHING, "protected": (str(self.data),), **changed}
        return context(self.root, **given)

    def verdict(self, line, **changed):
        whole = tuple(
            PermissionPattern(text=f"Bash({simple.source})") for simple in view_command(line).commands
        )
        where = self.context(**{"allow": (*EVERYTHING, *whole), **changed})
        passed = screen_call(GateCall(tool="run_in_terminal", parameters={"command": line}), where)
        return judge_screened_call(passed, where)

    def why(self, line, **changed):
        """Return why a line asks although everything is allowed; empty if it does not."""
        line = line.replace("ROOT", str(self.root)).replace("DATA", str(self.data))
        verdict = self.verdict(line, **changed)
        assert verdict.outcome in ("allowed", "ask")
        if verdict.outcome == "allowed":
            return ""
        return verdict.reason.removeprefix("no rule can cover it: ").replace(str(self.top), "TOP")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("operands").resolve())


DENIED = {"deny": (PermissionPattern(text="Read(.env*)", origin="config.json:1"),)}


# --- what is closed to file tools is closed to commands --------------------------------------------


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "cp src/x ../data/config.json",
            "../data/config.json is in the data folder, which is closed to agents",
        ),
        ("cat DATA/key", "TOP/data/key is in the data folder, which is closed to agents"),
        ("cat key", "key is in the data folder, which is closed to agents"),
        ("cp -r DATA src/s", "TOP/data is in the data folder, which is closed to agents"),
        ("ls ../data", "../data is in the data folder, which is closed to agents"),
        ("cat < ../data/key", "../data/key is in the data folder, which is closed to agents"),
        ("touch .workbench.json", ".workbench.json controls this workspace"),
        ("touch .Workbench.JSON", ".Workbench.JSON controls this workspace"),
        ("cat workbench.yaml", "workbench.yaml controls this workspace"),
        ("mv x .git/config", ".git/config belongs to git"),
        ("cat .GIT/config", ".GIT/config belongs to git"),
        ("cat settings", "settings belongs to git"),
        ("mkdir .workbench/pipelines", ".workbench/pipelines controls this workspace"),
        ("cat .agents/notes.md", ".agents/notes.md controls this workspace"),
        ("cat .Agents", ".Agents controls this workspace"),
        ("cp src/x scripts/check.sh", "scripts/check.sh is run by the configuration of this workspace"),
        ("touch bare/config", "bare/config belongs to git"),
        ("touch bare/hooks/x", "bare/hooks/x belongs to git"),
        ("cp src/x .bashrc", ".bashrc is run or obeyed by your shell or login"),
    ],
)
def test_a_word_that_leads_to_what_is_protected_asks(place, line, why):
    assert place.why(line).partition(": ")[2] == why


@pytest.mark.parametrize(
    "line",
    [
        "cat /etc/passwd", "cat ../x", "cat out/passwd", "cat src/../../x", "cat in/../../../x", "cat far/work/src/x/../../../y",
        "dd if=/etc/x", "tar --file=/etc/x", "grep -f/etc/x y", "grep -rnf../x y", "tar -C/etc -cf x", "tar -xvf../x",
        "x --path a:/etc/x", "x a,../x", "x --mount=type=bind,src=/etc,dst=y", "curl -s file:/etc/hostname",
        "x file:///etc/hostname", "curl -s FILE:%2Fetc/hostname", "x @/etc/x", "x -d@/etc/x", "x 'y=<../z'",
        "cat '~/x'", "x --file=~/x", "cat '~root/x'", "cat -- -l/passwd", "cat 'a,b/passwd'", "x --file=a,b/passwd",
        "cat 'a\nb/passwd'", "x m=n/passwd", "x ';k=/etc'", "git add ':(top)/etc/y'", "ls /tmp", "ls /",
        "cat https://x/../../../../etc/x", "X=/etc/y make", "../tool a", "far/tool", "./out/tool a", "cat /dev/./null",
        "x sqlite:////etc/y", "x 'a:b,c=d;e:f,g=h:i,j=k,l=/etc'",
        "x a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9,k=/etc,l=1", "tar -vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvf../x",
    ],
)  # fmt: skip
def test_a_word_that_leaves_the_workspace_asks(place, line):
    assert place.why(line).endswith("leaves the workspace"), place.why(line)


@pytest.mark.parametrize(
    "line",
    [
        "cat src/x", "cat ROOT/src/x", "cat ./src/../README.md", "cat in/y", "cat far/work/README.md", "ls .", "ls", "ls -la src",
        "grep -rn x .", "find . -name '*.py'", "git status", "git add .", "git show HEAD~1:src/x", "git log -- src",
        "pytest -q tests/a.py::test_b -k 'x and y'", "echo a:b,c=d", "curl -s https://localhost:8000/api,x",
        "curl -s http://h/a=/b", "x --url=https://h/x", "cat /dev/null", "cat - < /dev/stdin", "diff x /dev/null",
        "cat src/x > /dev/null", "git clone git@h.example:a/b.git", "/usr/bin/ls src", "./run.sh", "src/tool",
        "make -C sub", "gcc -Isrc/inc -Ldocs/lib x.c", "cmake -Bbuild/x -S.", "git log -Sa/b", "tar tf x.tar", "tar czf x.tgz src",
        "cp src/x src/y", "cp -r src sub", "cp -t sub src/x", "cp -tsub src/x", "cp --target-directory=sub src/x", "mv src/x sub/", "rm -rf sub/x", "rm -r docs", "ln -s x src/y",
        "cp x", "cp", "7z l x", "patch --dry-run", "cpio -t", "rsync -a src docs", "for i in ../x; do make; done",
        "cat HEAD refs", "x --", "x ''", "x a=", "cat .gitignore .github/x", "ls bare",
    ],
)  # fmt: skip
def test_words_within_the_workspace_pass(place, line):
    assert place.why(line) == ""


def test_a_word_that_is_known_to_be_text_is_no_path(place):
    simple = SimpleCommand(words=("grep", "/etc/passwd", "src"), written=("grep", "/etc/passwd", "src"))
    where = CommandBoundary(workspace=str(place.root))
    assert boundary_objection([simple], where) == "grep /etc/passwd src: /etc/passwd leaves the workspace"
    assert boundary_objection([replace(simple, text=frozenset({1}))], where) == ""
    removal = SimpleCommand(words=("rm", "x", "."), written=("rm", "x", "."), text=frozenset({2}))
    assert boundary_objection([removal], where) == ""


# --- what is denied to be read ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "cat .env", "cat < .env", "cat < '.env'", "cat sub/../.env", "cp .env x", "git show HEAD:.env", "x --file=.env",
        "x -f.env", "cat secret", "cat .ENV.local", "cd sub && cat ../.env", "x @.env",
    ],
)  # fmt: skip
def test_a_word_that_names_what_may_not_be_read_asks_and_says_so(place, line):
    assert place.why(line, **DENIED).startswith(line.rpartition("&& ")[2].partition(" <")[0])
    assert place.why(line, **DENIED).endswith("is denied here")
    assert place.why(line) == ""


def test_it_names_the_file_that_may_not_be_read(place):
    assert place.why("cat .env", **DENIED) == "cat .env: reading .env is denied here"


def test_a_rule_that_denies_reading_counts_too(place):
    for kind, pattern in (("glob", "Read(.env)"), ("regex", '"path":"\\.env')):
        standing = rule(effect="deny", tool="read_file", pattern_kind=kind, pattern=pattern)
        assert place.why("cat .env", rules=(standing,)) == "cat .env: reading .env is denied here"
        assert place.why("cat README.md", rules=(standing,)) == ""


def test_what_is_denied_to_another_tool_is_not_asked_for(place):
    for denied in ("Write(.env)", "Edit(src/**)", "Bash(rm *)", "WebFetch"):
        assert place.why("cat .env src/x", deny=(PermissionPattern(text=denied),)) == ""
    assert (
        place.why("cat .env", rules=(rule(effect="deny", tool="create_file", pattern="Write(.env)"),)) == ""
    )


def test_where_all_reading_is_denied_a_word_that_names_no_file_is_none(place):
    denied = {"deny": (PermissionPattern(text="Read"),)}
    assert place.why("git status", **denied) == ""
    assert place.why("cat src/x", **denied) == "cat src/x: reading src/x is denied here"
    assert place.why("ls .", **denied) == "ls .: reading . is denied here"


def test_a_deny_of_the_command_itself_stays_a_deny(place):
    where = place.context(deny=(PermissionPattern(text="Bash(cat *)"), *DENIED["deny"]))
    found = screen_call(GateCall(tool="run_in_terminal", parameters={"command": "cat .env"}), where)
    assert (found.outcome, found.pattern) == ("denied", "Bash(cat *)")


# --- where a command runs --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("cd /elsewhere && make test", "after cd /elsewhere: outside the workspace"),
        ("cd /elsewhere; npm test", "after cd /elsewhere: outside the workspace"),
        ("cd .. && pytest", "after cd ..: outside the workspace"),
        ("cd out && cargo test", "after cd out: outside the workspace"),
        ("cd && make", "after cd: outside the workspace"),
        ("cd - && make", "after cd -: outside the workspace"),
        ("cd -LP src && make", "after cd -LP src: outside the workspace"),
        ("cd a b && make", "after cd a b: outside the workspace"),
        ("chdir /elsewhere && make", "after chdir /elsewhere: outside the workspace"),
        ("cd in && cd ../../.. && make", "after cd ../../..: outside the workspace"),
        ("cd src; cd .. && make", "after cd ..: outside the workspace"),
        ("(cd /elsewhere); make", "after cd /elsewhere: outside the workspace"),
        ("cd /elsewhere", "cd /elsewhere: /elsewhere leaves the workspace"),
        ("cd", "cd: it leaves the workspace"),
        ("cd round && make", "cd round: round: its links lead in a circle"),
        ("cd .git && ls", "cd .git: .git belongs to git"),
        ("while true; do cd src; done", "cd src: a cd in a loop cannot be followed"),
        ("cd src && cat ../../x", "cat ../../x: ../../x leaves the workspace"),
        ("cd src; cat ../x", "cat ../x: ../x leaves the workspace"),
        ("cd src | cat ../x", "cat ../x: ../x leaves the workspace"),
        ("cd src & cat ../x", "cat ../x: ../x leaves the workspace"),
        ("cd src || cat ../x", "cat ../x: ../x leaves the workspace"),
        ("make || cd src && cat ../x", "cat ../x: ../x leaves the workspace"),
        ("make | cd src && cat ../x", "cat ../x: ../x leaves the workspace"),
        ("! cd src && cat ../x", "cat ../x: ../x leaves the workspace"),
        ("(cd src) && cat ../x", "cat ../x: ../x leaves the workspace"),
        ("if cd src; then ls; fi; cat ../x", "cat ../x: ../x leaves the workspace"),
        ("cd in && cd ../.. && cat x", "after cd ../..: outside the workspace"),
    ],
)
def test_behind_a_cd_everything_is_judged_where_it_runs(place, line, why):
    assert place.why(line) == why


@pytest.mark.parametrize(
    "line",
    [
        "cd ROOT && git status && ./run.sh", "cd ROOT/ && make", "cd ROOT/src && make", "cd src && cat ../README.md",
        "cd src && cd .. && cat README.md", "cd src && make | cat ../x", "cd src && cd deep && cat ../../README.md",
        "(cd src && cat ../x)", "cd src; cat x", "cd ROOT; cat src/x", "cd -- src && ls", "cd -P src && ls", "cd '' && ls",
        "for i in 1 2; do cd ROOT && make; done", "cd in && cat ../x",
    ],
)  # fmt: skip
def test_a_cd_within_the_workspace_is_followed(place, line):
    assert place.why(line) == ""


def test_a_cd_to_the_workspace_needs_no_grant_of_its_own(place):
    allowed = {"allow": (PermissionPattern(text="Bash(pytest *)"),)}
    assert place.why("cd ROOT && pytest -q", **allowed) == ""
    assert "no pattern" in place.why("cd src && pytest -q", **allowed)
    assert "no pattern" in place.why("cd ROOT && make", **allowed)
    assert "no pattern" in place.why("cd ROOT", **allowed)
    by_rule = {"allow": (), "rules": (rule(pattern="Bash(pytest *)"),)}
    assert place.why("cd ROOT && pytest -q", **by_rule) == ""
    by_regex = {"allow": (), "rules": (rule(pattern_kind="regex", pattern="cd /.*/work"),)}
    assert "no pattern" in place.why("cd ROOT && make", **by_regex)
    within = {"ceiling": (PermissionPattern(text="Bash(pytest *)"),)}
    assert place.why("cd ROOT && pytest -q", **within) == ""
    line = f"cd {place.root} && make"
    assert screen_call(
        GateCall(tool="run_in_terminal", parameters={"command": line}), place.context(**within)
    ).outcome == "denied"  # fmt: skip
    denied = place.context(deny=(PermissionPattern(text="Bash(cd *)"),))
    assert (
        screen_call(GateCall(tool="run_in_terminal", parameters={"command": line}), denied).outcome
        == "denied"
    )


def test_an_option_that_names_a_folder_counts_for_the_other_words(place):
    assert place.why("tar -C in -cf x ../../../y").endswith("leaves the workspace")
    for option in ("-C src/deep", "-Csrc/deep", "--directory=src/deep", "--cwd src/deep"):
        (place.root / "src/deep/away").symlink_to("/etc")
        assert place.why(f"make {option} away/passwd").endswith("away/passwd leaves the workspace")
        (place.root / "src/deep/away").unlink()
    assert place.why("x --colour=red -C") == ""


def test_too_many_folders_are_not_followed(place):
    line = "; ".join(f"cd {name}" for name in "abcdef")
    assert place.why(line).endswith("it changes the folder too often to follow")


# --- whole folders -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("cp -r . sub", ". holds what controls this workspace"),
        ("cp -r sub/. .", "./. holds what controls this workspace"),
        ("cp -r sub/ .", ". holds what controls this workspace"),
        ("cp -rT sub .", ". holds what controls this workspace"),
        ("rsync -a sub/ ROOT", "TOP/work holds what controls this workspace"),
        (
            "cp src/.workbench.json .",
            "src/.workbench.json: it controls agents where its folder is opened as a workspace",
        ),
        (
            "cp -t . src/.workbench.json",
            "src/.workbench.json: it controls agents where its folder is opened as a workspace",
        ),
        ("cd sub && mv x ../.workbench.json", "../.workbench.json controls this workspace"),
        ("mv sub/scripts .", "./scripts holds what controls this workspace"),
        ("mv scripts old", "scripts holds what controls this workspace"),
        ("mv lib old", "lib holds a repository of git"),
        ("rm -rf .", ". holds what controls this workspace"),
        ("rm -rf -- lib", "lib holds a repository of git"),
        ("chmod -R a+w ROOT", "TOP/work holds what controls this workspace"),
        ("tar xf x.tar", "it writes names that an archive gives"),
        ("tar -xzf x.tgz", "it writes names that an archive gives"),
        ("tar --extract -f x.tar", "it writes names that an archive gives"),
        ("tar -C scripts -xf x.tar", "it writes names that an archive gives"),
        ("unzip x.zip", "it writes names that an archive gives"),
        ("unzip -d scripts x.zip", "it writes names that an archive gives"),
        ("cpio -id < x", "it writes names that an archive gives"),
        ("7z x y", "it writes names that an archive gives"),
        ("patch -p1 < x", "it writes names that a patch gives"),
        ("cd sub && ln -s ../x ../y", "../x leaves the workspace"),
    ],
)
def test_a_folder_that_holds_what_is_protected_is_not_changed_as_a_whole(place, line, why):
    assert place.why(line).partition(": ")[2] == why


def test_links_in_a_circle_and_links_out_hold_nothing(place):
    assert "circle" in place.why("rm -rf round")
    assert "circle" in place.why("cp src/x round")


def test_a_workspace_around_the_data_folder_is_not_searched_as_a_whole(place):
    where = CommandBoundary(workspace=str(place.top), closed=(str(place.data),))

    def why(line):
        return boundary_objection(view_command(line, str(place.top)).commands, where)

    said = "holds the data folder, which is closed to agents"
    for line in ("grep -r key .", "rg key", "find work/..", "cat work/src/x && ls"):
        assert why(line).endswith(said), line
    for line in ("rg key work", "cat work/src/x", "git status", f"cd {place.top} && git status", "du round"):
        assert line.startswith(("rg", "du")) or why(line) == "", line


def test_what_other_programs_run_by_themselves_is_not_written(place):
    def why(line, **more):
        where = CommandBoundary(workspace=str(place.root), unwritable=is_run, **more)
        return boundary_objection(view_command(line, str(place.root)).commands, where)

    def is_run(real):
        return "an editor runs it" if real.endswith(".envrc") else None

    for line in ("touch .envrc", "cp src/.envrc .", "cp src/x .envrc", "rm .envrc", "mkdir sub/.envrc"):
        assert why(line).endswith(".envrc: an editor runs it"), line
    for line in ("cat .envrc", "touch x", "cp src/x ."):
        assert why(line) == "", line


# --- odd words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (r"cat $'\xff/x'", "\ufffd/x is not valid text"),
        ("cat round/x", "round/x: its links lead in a circle"),
    ],
)
def test_a_word_that_cannot_be_looked_up_asks(place, line, why):
    assert place.why(line).partition(": ")[2] == why


def test_half_a_surrogate_pair_cannot_be_looked_up(place):
    simple = SimpleCommand(words=("cat", "\ud800"), written=("cat", "x"))
    assert "cannot be looked up" in boundary_objection([simple], CommandBoundary(workspace=str(place.root)))
    lone = SimpleCommand(words=("rm", "\ud800", "-C"), written=("rm", "x"), text=frozenset({1, 2}))
    assert boundary_objection([lone], CommandBoundary(workspace=str(place.root))) == ""


def test_a_folder_that_may_not_be_entered_cannot_be_looked_up(place, monkeypatch):
    def refuse(path, *_, real=os.lstat, **more):
        if str(path).endswith("/shut"):
            raise PermissionError(13, "no")
        return real(path, *_, **more)

    monkeypatch.setattr(os, "lstat", refuse)
    assert place.why("cat shut/x").endswith("shut/x cannot be looked up")
    assert place.why("rm -r 'shut'").endswith("shut cannot be looked up")


def test_what_is_too_long_for_a_path_is_none(place):
    for word in ("x" * 300, f"../{'x' * 300}", "../" * 2000, "a/" * 20_000):
        assert place.why(f"cat {word}") == "", len(word)
    assert place.why(f"cat {'a,' * 600}").endswith("its paths are too many or too long to check")
    assert place.why("cat " + "c,d=" * 100) == ""
    assert place.why(f"rm {'x' * 300}") == ""
    assert place.why(f"make -C {'x' * 300}") == ""
    line = "cat " + " ".join(f"-{'a' * 30}{n}" for n in range(1_400))
    assert place.why(line).endswith("its paths are too many or too long to check")


def test_a_reason_shows_no_secret_and_the_end_of_a_long_path(place):
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    told = place.why(f"cat ../{secret}")
    assert secret not in told
    told = place.why(f"cat ../{'deep/' * 40}end.txt")
    assert told.endswith("deep/end.txt leaves the workspace")
    assert len(told) < 200


@pytest.mark.parametrize(
    "pattern", ["cat .en*", "cat .en?", "cat .en[v]", "cat .{env,x}", "cat ~/x", "cat ~root"]
)
def test_what_the_shell_would_expand_is_not_plain(pattern):
    assert not view_command(pattern).plain


def test_pieces_of_a_word():
    assert set(path_candidates("--a=b:c")) == {"--a=b:c", "--a=b", "--a", "b", "b:c", "c"}
    assert set(path_candidates("-xf.e")) == {"-xf.e", "f.e", ".e"}
    assert set(path_candidates("-If/e", "I")) == {"-If/e", "f/e"}
    assert set(path_candidates("-name/e", "*")) == {"-name/e", "ame/e"}
    assert set(path_candidates("@a")) == {"@a", "a"}
    assert path_candidates("x" * 5000) == ("x" * 5000,)


# --- all who grant ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        {"allow": (PermissionPattern(text="Bash(cat *)"),)},
        {"allow": (), "rules": (rule(pattern="Bash(cat *)"),)},
        {"allow": (), "rules": (rule(pattern="Bash(cat ../x)"),)},
        {"allow": (), "rules": (rule(pattern_kind="regex", pattern='"command":"cat '),)},
        {
            "allow": (),
            "run_id": "run-1",
            "rules": (rule(scope="run", scope_id="run-1", pattern="Bash(cat *)"),),
        },
    ],
)
def test_no_grant_covers_it_whoever_gave_it(place, changed):
    assert place.verdict("cat ../x", **changed, protected=()).outcome == "ask"
    assert place.why("cat ../x", **changed) == "cat ../x: ../x leaves the workspace"


def test_it_is_judged_again_at_execution(place):
    made = GateCall(tool="run_in_terminal", parameters={"command": "cat swap"})
    assert recheck_call(made, place.context()).outcome == "allowed"
    (place.root / "swap").symlink_to("/etc/passwd")
    try:
        assert recheck_call(made, place.context()).outcome == "ask"
    finally:
        (place.root / "swap").unlink()


def test_where_nobody_can_answer_it_is_denied(place):
    verdict = place.verdict("cat ../x", can_ask=False)
    assert verdict.outcome == "denied"
    assert "../x leaves the workspace" in verdict.reason


def test_each_command_of_a_line_has_its_own_reason(place):
    where = CommandBoundary(workspace=str(place.root))
    seen = view_command("cat src/x && cat ../x; cd /etc && ls").commands
    assert boundary_objections(seen, where) == (
        "", "../x leaves the workspace", "/etc leaves the workspace",
        "after cd /etc: outside the workspace",
    )  # fmt: skip
    assert not is_within_boundary(seen, where)
    assert is_within_boundary(seen[:1], where)


def test_a_workspace_that_is_the_whole_machine_has_no_outside():
    assert is_within_boundary(view_command("cat /nowhere/x y").commands, CommandBoundary(workspace="/"))


def test_a_workspace_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    where = CommandBoundary(workspace=str(tmp_path))
    for word in ("bin/x", ".local/bin/x", ".ssh/id", ".profile"):
        assert boundary_objection(view_command(f"cat {word}").commands, where).endswith(
            "your shell or login"
        ), word
    assert is_within_boundary(view_command("cat notes/x").commands, where)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_git_obeys_elsewhere_belongs_to_it(tmp_path, kind):
    if kind == "file":
        (tmp_path / ".git").write_text("gitdir: store/x\n")
    else:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git/commondir").write_text("../store/x\n")
    (tmp_path / "store/x").mkdir(parents=True)
    where = CommandBoundary(workspace=str(tmp_path))
    assert boundary_objection(view_command("cat store/x/config").commands, where).endswith("belongs to git")
    assert is_within_boundary(view_command("cat store/y").commands, where)


# --- bounds and laws ------------------------------------------------------------------------------


def test_the_work_of_judging_grows_with_the_words_of_a_line_and_not_faster(place):
    def line(word, words):
        return "cat " + " ".join(word.format(n) for n in range(words))

    for word, words in (
        ("w{}", 10_000),
        ("w{}", 3_900),
        (f"-{'a' * 30}{{}}", 1_400),
        ("a{}:b:c:d:e:f", 1_400),
    ):
        assert_grows_with_length(place.verdict, line(word, words // 8), line(word, words))


_NAMES = st.sampled_from(
    ["src", "x", "..", ".", "out", "far", "in", "secret", ".env", ".git", "settings", "config", "sub", "round",
     "work", "data", "key", "a,b", ".workbench.json", "ROOT", "TOP", "etc", "passwd", ""]
)  # fmt: skip
_PATHS = st.lists(_NAMES, min_size=1, max_size=5).map("/".join)
_FRONTS = st.sampled_from(["", "-f", "--file=", "if=", "@", "a:", "x,", "/"])
_MOVES = st.sampled_from(
    ["", "cd src && ", "cd in && ", "cd src; ", "(cd sub && ls) && ", "cd ROOT && ", "cd out; "]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    _MOVES,
    st.sampled_from(["cat", "cp", "cp -r", "mv"]),
    st.lists(st.tuples(_FRONTS, _PATHS), min_size=1, max_size=3),
)
def test_no_word_that_leads_out_or_to_what_is_protected_is_ever_allowed(place, move, program, words):
    def made(text):
        return text.replace("ROOT", str(place.root)).replace("TOP", str(place.top))

    line = made(f"{move}{program} " + " ".join(front + path for front, path in words))
    if place.verdict(line, **DENIED).outcome != "allowed":
        return
    for folder in _folders(place, made(move)):
        for _, path in words:
            for text in {made(path), made(f"/{path}")} if ("/", path) in words else {made(path)}:
                real = os.path.realpath(f"{folder}/{text}" if not text.startswith("/") else text)
                assert (real + "/").startswith(f"{place.root}/"), line
                inner = os.path.relpath(real, place.root)
                assert inner != ".env" and inner.partition("/")[0] not in (".git", ".workbench.json"), line


def _folders(place, move):
    if "src;" in move:
        return [place.root, place.root / "src"]
    return [{"cd src && ": place.root / "src", "cd in && ": place.root / "in"}.get(move, place.root)]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=string.printable + "é\u200b", max_size=40))
def test_any_word_has_pieces_and_gets_an_answer(place, word):
    assert word in path_candidates(word)
    simple = SimpleCommand(words=("x", word), written=("x", word))
    assert isinstance(boundary_objection([simple], CommandBoundary(workspace=str(place.root))), str)
