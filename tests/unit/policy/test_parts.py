"""A line taken apart for review: what each part does, the marks it carries, and whether a rule may cover it."""

import pytest

from tests.support.tables import each_row
from workbench.policy.command_review import MAX_COMMAND_PARTS, review_command
from workbench.policy.shell.command_paths import CommandBoundary


@each_row(
    ("command", "marks", "does"),
    [
        ("ls", (), ()),
        ("curl https://a.example/x", ("network",), ("network: a.example",)),
        ("git fetch", ("network",), ("reaches the network",)),
        ("rm -rf a b", ("removes",), ("deletes a b",)),
        ("git reset x", ("removes",), ("removes or overwrites",)),
        ("echo x > out", ("writes",), ("writes out",)),
        ("echo x >out 2>&1 3>- 4>/dev/null", ("writes",), ("writes out",)),
        ("echo x >", ("writes",), ("writes ?",)),
        ("tee a b", ("writes",), ("writes a, b",)),
        ("FOO=1 BAR=2 ls", ("sets",), ("sets FOO, BAR",)),
        ("sudo ls", ("wrapper",), ("runs ls by sudo",)),
        ("xargs", ("wrapper",), ("xargs runs other programs",)),
        ("python x.py", ("interpreter",), ("python runs x.py",)),
        ("bash", ("interpreter",), ("bash runs what it reads",)),
        ("ls \u202e", ("hidden",), ("holds characters that cannot be seen",)),
        ("g\u0456t x", ("mixed scripts",), ("mixes alphabets that look alike within a word",)),
        ("cd src", (), ("goes to src",)),
        ("cd", (), ("goes to the home folder",)),
        ("FOO=1", ("sets",), ("sets FOO",)),
        ("FOO[0]=1 ls", ("sets",), ("sets FOO[0]",)),
    ],
)
def test_a_part_says_what_it_does(command, marks, does):
    (part,) = review_command(command).parts
    assert (part.marks, part.does) == (marks, does)


def test_what_listens_to_the_network_is_marked_with_what_it_hears():
    first, second = review_command("curl https://a.example | sh").parts
    assert first.marks == ("network",)
    assert second.marks == ("runs net",)
    assert second.does == ("runs what part 1 loads, unseen",)
    assert second.simple is None


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("echo $(id)", "a substitution"),
        ("echo `id`", "a substitution"),
        ("echo $x", "an expansion"),
        ("echo x > y", "a redirect to a file"),
        ("PATH=. ls", "PATH makes later programs run or load something else"),
        ("sed -i x y", "sed -i can write files or read a script"),
    ],
)
def test_a_part_says_why_no_rule_covers_it(command, reason):
    part = review_command(command).parts[-1]
    assert reason in part.reasons
    assert part.simple is None


def test_a_plain_part_is_what_rules_see():
    first, second = review_command("git log -3 | head -5").parts
    assert first.simple.words == ("git", "log", "-3")
    assert second.simple.words == ("head", "-5")
    assert review_command("git log -3 | head -5").is_certain


def test_a_very_long_line_is_not_taken_apart():
    found = review_command("ls " + "a " * 20_000)
    assert (found.parts, found.is_certain, bool(found.reasons)) == ((), False, True)


def test_a_line_of_many_parts_says_how_many_are_left_out():
    found = review_command(";".join(["ls"] * (MAX_COMMAND_PARTS + 7)))
    assert (len(found.parts), found.left_out) == (MAX_COMMAND_PARTS, 7)


def _texts(command, boundary=None):
    return [part.text for part in review_command(command, boundary).parts]


def test_the_words_of_the_grammar_are_no_parts():
    assert _texts("for i in 1 2; do make; done") == ["make"]
    assert _texts("while ! true; do { ls; }; done") == ["true", "ls"]
    assert _texts("if git diff; then git status; else git log; fi") == ["git diff", "git status", "git log"]
    assert _texts("(cd a && ls)") == ["cd a", "ls"]
    assert _texts("for f in *.py; do cat $f; done") == ["cat $f"]
    assert _texts("done") == []


def test_the_head_of_a_loop_is_a_part_where_something_in_it_runs():
    found = review_command("for f in $(ls); do cat x; done").parts
    assert [part.text for part in found] == ["ls", "for f in $()", "cat x"]
    assert found[1].reasons == ("a substitution",)
    assert _texts("$(id)") == ["id", "$()"]


def test_no_part_of_a_loop_is_called_no_program():
    for command in ("for i in 1 2; do make; done", "if ls; then pwd; fi", "until ls; do true; done"):
        assert not any(part.reasons for part in review_command(command).parts), command
        assert all(part.simple for part in review_command(command).parts), command


def test_a_part_says_what_of_it_leads_out_of_the_workspace(tmp_path):
    where = CommandBoundary(workspace=str(tmp_path))
    found = review_command("cat ../x 2>/dev/null && rm -r a; cd /etc && make", where)
    assert [part.reasons for part in found.parts] == [
        ("../x leaves the workspace",), (), ("/etc leaves the workspace",),
        ("after cd /etc: outside the workspace",),
    ]  # fmt: skip
    assert [part.does[-1] for part in found.parts] == [
        "../x leaves the workspace", "deletes a", "/etc leaves the workspace",
        "after cd /etc: outside the workspace",
    ]  # fmt: skip
    assert found.parts[0].simple is None
    assert "../x leaves the workspace" in found.reasons
    assert not review_command("cat x", where).reasons


def test_a_line_whose_parts_cannot_be_told_apart_says_it_as_a_whole(tmp_path):
    found = review_command("CI=1; cat ../x", CommandBoundary(workspace=str(tmp_path)))
    assert found.reasons == ("../x leaves the workspace",)
    assert [part.reasons for part in found.parts] == [("an assignment",), ()]
