"""What command lines need that a sandbox does not give: by a table, and in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import bounded_work
from tests.unit.policy.sandbox_lines import GIT_READS, GIT_WRITES, NEEDS, NOTHING
from workbench.policy.shell.analysis import view_command
from workbench.policy.shell.sandbox_needs import SandboxNeed, line_needs, needs_text, sandbox_needs
from workbench.policy.shell.sandbox_written_paths import home_folder, place_of
from workbench.policy.shell.wrapped_command import wrapped_command


def needs(line, workspace="/w", folder=""):
    return ", ".join(f"{need.kind} {need.word}" for need in line_needs(line, workspace, folder))


@pytest.mark.parametrize("line", (*NOTHING, *GIT_READS))
def test_lines_that_need_nothing(line):
    assert needs(line) == ""


@pytest.mark.parametrize(("line", "expected"), NEEDS.items())
def test_lines_that_need_something(line, expected):
    assert needs(line) == expected.replace("HOME/x", f"{home_folder()}/x")


@pytest.mark.parametrize("line", GIT_WRITES)
def test_lines_that_write_git(line):
    assert {need.kind for need in line_needs(line, "/w", "")} == {"git"}


def test_a_line_begins_in_its_folder_and_every_path_is_followed(tmp_path):
    workspace = tmp_path.resolve() / "w"
    (workspace / "sub").mkdir(parents=True)
    (workspace / "link").symlink_to("/usr/share")
    (workspace / "ring").symlink_to("ring")
    root, sub = str(workspace), str(workspace / "sub")
    assert needs("touch ../x", root, sub) == ""
    assert needs("touch ../.git/x", root, sub) == "git ../.git/x"
    assert needs("touch link/x", root) == "outside link/x"
    assert needs("touch ring/x", root) == ""
    assert needs(f"touch {'x' * 300}/y", root) == ""
    assert needs("touch x", "", "/opt") == "outside /opt/x"
    assert needs("touch x", "", "") == ""


def test_a_view_of_a_line_is_read_as_the_line():
    line = "git commit -m x && npm ci"
    assert sandbox_needs(view_command(line, "/w"), "/w", "/w") == line_needs(line, "/w", "/w")


def test_a_place_that_cannot_be_a_path_is_none():
    assert place_of("a\0b", "/w") is None
    assert place_of("x", None) is None


@pytest.mark.parametrize(
    ("needed", "text"),
    [
        ([], ""),
        (["git git commit"], "git commit writes .git, which the sandbox keeps read-only"),
        (
            ["git git add", "git git commit", "git git tag"],
            "git add, git commit and git tag write .git, which the sandbox keeps read-only",
        ),
        (
            ["network npm install", "outside /etc/hosts", "outside ../x", "outside make install"],
            "npm install needs the network, which the sandbox does not have; /etc/hosts and ../x cannot be written in"
            " the sandbox; make install writes outside the workspace, which the sandbox does not allow",
        ),
        (
            ["privilege sudo", "daemon docker ps", "daemon gpg"],
            "sudo needs rights that the sandbox takes away; docker ps and gpg need a program outside the sandbox",
        ),
    ],
)
def test_needs_in_words(needed, text):
    split = [need.partition(" ") for need in needed]
    assert needs_text([SandboxNeed(kind=kind, word=word) for kind, _, word in split]) == text


def test_a_line_has_at_most_eight_needs_and_short_words_without_secrets():
    key = "sk-ant-api03-" + "abcdefgh" * 11
    assert len(line_needs(" ; ".join(f"touch /opt/{number}" for number in range(40)), "/w", "")) == 8
    (need,) = line_needs(f"touch /opt/{key}", "/w", "")
    assert key not in need.word
    (need,) = line_needs(f"touch '/opt/{'x' * 90}\nb'", "/w", "")
    assert len(need.word) <= 60 and "\n" not in need.word


HOSTILE = {
    "executed": "find " + "-exec find " * 4000, "texts": "cat " + "<<a " * 3000 + "\n" + "a\n" * 2000,
    "inner shells": "bash -c '" * 3000, "substitutions": "$(" * 5000, "wrappers": "env " * 4000,
    "redirects": ">" * 16000, "words": "git " * 4000, "options": "sudo -u " * 2000, "commands": "git add x;" * 1600,
}  # fmt: skip


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_hostile_lines_are_read_with_bounded_work(line):
    with bounded_work():
        line_needs(f"git status; {line}", "/w", "")


@given(st.text(alphabet=st.sampled_from("git add>/\\'\"$(`)~-|&;\n<EOFc:={}*sudo\0é "), max_size=60))
def test_any_text_is_read(line):
    for need in line_needs(line, "/w", ""):
        assert need.word and len(need.word) <= 60


@pytest.mark.parametrize("words", [("env",), ("timeout", "5"), ("nice", "-n", "5")])
def test_a_wrapper_without_a_command_runs_none(words):
    assert wrapped_command(words) == ()


def test_wrappers_are_followed_up_to_a_depth():
    assert needs("env env git push") == needs("git push")
    assert needs(f"{'env ' * 40}git push") == ""
