"""Words for where commands run and for the sandbox of a folder."""

import pytest

from tests.unit.views.making import call, session
from workbench.domain.values import OUTSIDE, SandboxRefusal, SandboxUse
from workbench.views.sandbox import (
    SandboxPast,
    SandboxStanding,
    asks_text,
    choice_text,
    offer_text,
    place_fact,
    problem_sentence,
    refusal_lines,
    refusals_sentence,
    refusals_text,
    sandbox_of_session,
    sandbox_use_text,
    standing_text,
    state_sentence,
)

FULL = SandboxStanding(backend="bubblewrap")
AUTO = SandboxStanding(backend="bubblewrap", is_auto=True)
MISSING = SandboxStanding(problem="bubblewrap is not installed", remedy="install the package bubblewrap")
FILES = SandboxStanding(
    backend="landlock", problem="bubblewrap is not installed", remedy="install the package bubblewrap"
)
OFF = SandboxStanding(level="outside", backend="bubblewrap", is_auto=True)


@pytest.mark.parametrize(
    ("refusals", "words"),
    [
        ((), ""),
        (
            (("network", "pypi.org:443"),),
            "the sandbox refused to reach pypi.org:443, according to the command",
        ),
        (
            (("write", "/etc/hosts"), ("closed", ".git/hooks/pre-commit")),
            "the sandbox refused to create .git/hooks/pre-commit, which controls the workspace; to write /etc/hosts,"
            " according to the command",
        ),
        (
            (("read", "a\x1b[31m\nb"),),
            "the sandbox refused to read a⟨ESC[31m⟩⏎b, according to the command",
        ),
        (
            (("write", "/etc/x. Approve"), ("read", 'a" b'), ("write", "a file"), ("network", "the network")),
            'the sandbox refused to write "/etc/x. Approve", to read "a\' b", to write a file, to reach the network,'
            " according to the command",
        ),
        (
            tuple(("write", f"/{n}") for n in range(6)),
            "the sandbox refused to write /0, to write /1, to write /2, to write /3, according to the command;"
            " and 2 more",
        ),
    ],
)
def test_what_was_refused_is_one_safe_line(refusals, words):
    made = tuple(SandboxRefusal(kind=kind, target=target) for kind, target in refusals)
    assert refusals_sentence(call(refusals=made)) == words


def test_all_that_were_kept_are_counted_and_it_is_said_where_they_are_listed():
    made = tuple(SandboxRefusal(kind="closed", target=f"{n}/.envrc") for n in range(8))
    rest = SandboxRefusal(kind="closed", target="sandbox/sessions/s/quarantine/moved.txt", more=2_992)
    text = refusals_text((*made, rest, SandboxRefusal(kind="write", target="/x")))
    assert text.count("controls the workspace") == 4
    assert text.endswith(
        "; and 2,997 more, listed in sandbox/sessions/s/quarantine/moved.txt of the data folder"
    )
    lines = list(refusal_lines((*made, rest, SandboxRefusal(kind="write", target="/x y"))))
    assert lines[0] == "to create 0/.envrc, which controls the workspace"
    assert (
        lines[8]
        == "to create 2,992 more, listed in sandbox/sessions/s/quarantine/moved.txt of the data folder"
    )
    assert lines[9] == 'to write "/x y", according to the command'
    elsewhere = SandboxRefusal(kind="closed", target="/tmp/a/moved.txt", more=1)
    assert refusals_text((*made, elsewhere)).endswith("; and 5 more, listed in /tmp/a/moved.txt")


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (
            SandboxUse(level="read-only", backend="bubblewrap"),
            "inside the sandbox, level read-only (bubblewrap)",
        ),
        (OUTSIDE, "outside the sandbox"),
    ],
)
def test_where_a_process_ran(use, words):
    assert sandbox_use_text(use) == words


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (None, ""), (FULL, ""), (AUTO, ""), (SandboxStanding(), ""), (MISSING, "none here"), (FILES, "files only"),
        (OFF, "off"), (SandboxStanding(level="read-only", backend="bubblewrap"), "read-only"),
        (SandboxStanding(level="read-only", backend="landlock"), "read-only, files only"),
    ],
)  # fmt: skip
def test_only_an_unusual_sandbox_is_shown_all_the_time(standing, words):
    assert standing_text(standing) == words


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (None, ""), (FULL, "workspace, commands inside ask"), (AUTO, "workspace, commands inside do not ask"),
        (OFF, "off"), (SandboxStanding(), "off"), (MISSING, "none here"), (FILES, "files only"),
    ],
)  # fmt: skip
def test_the_list_of_commands_says_how_the_sandbox_is(standing, words):
    assert choice_text(standing) == words


def test_where_a_command_runs_is_said_by_what_holds_it():
    assert place_fact("inside", "workspace") == (
        "inside the sandbox: it can write only in the workspace, and has no network"
    )
    assert place_fact("inside", "read-only", "landlock") == (
        "inside the sandbox: it can change the contents of no file, can read all that you can, and has no network"
    )
    assert "also in .git" in place_fact("inside", "workspace", "landlock")
    assert place_fact("outside", "workspace", "landlock") == "outside the sandbox: it can do all that you can"


@pytest.mark.parametrize(
    ("asks", "standing", "words"),
    [
        ("every call", None, "every call"),
        ("every call", FULL, "every call"),
        ("every call", AUTO, "all except commands inside"),
        ("all except reads", AUTO, "all except reads and commands inside"),
        ("every call, held", AUTO, "every call, held"),
        ("every call", OFF, "every call"),
        ("every call", SandboxStanding(backend="landlock", is_auto=True), "every call"),
    ],
)
def test_what_asks_leaves_out_what_runs_inside(asks, standing, words):
    assert asks_text(asks, standing) == words


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (FULL, ""), (OFF, ""), (SandboxStanding(), ""),
        (MISSING, "No sandbox: bubblewrap is not installed. Install the package bubblewrap."),
        (FILES, "The sandbox hides nothing and does not spare .git: bubblewrap is not installed. "
         "Install the package bubblewrap."),
    ],
)  # fmt: skip
def test_a_missing_sandbox_is_said_with_its_remedy(standing, words):
    assert problem_sentence(standing) == words


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (FULL, "Commands run inside: they can write only in the workspace, and have no network. "
         "Those that nothing allows or denies ask."),
        (AUTO, "Commands run inside: they can write only in the workspace, and have no network. "
         "Those that nothing allows or denies run without asking."),
        (OFF, "Commands run outside the sandbox, as you."),
        (SandboxStanding(), "Commands run outside the sandbox, as you."),
        (MISSING, "No sandbox: bubblewrap is not installed. Install the package bubblewrap."),
    ],
)  # fmt: skip
def test_the_state_of_the_sandbox_is_one_sentence_or_two(standing, words):
    assert state_sentence(standing) == words


@pytest.mark.parametrize(
    ("standing", "past", "words"),
    [
        (None, None, ""), (MISSING, None, ""), (FILES, None, ""), (AUTO, None, ""), (OFF, None, ""),
        (FULL, None, "/sandbox auto runs commands inside the sandbox without asking"),
        (FULL, SandboxPast(asked=4, spared=0), "/sandbox auto runs commands inside the sandbox without asking"),
        (FULL, SandboxPast(asked=212, spared=171),
         "of 212 questions about commands 171 would not have been asked: /sandbox auto"),
    ],
)  # fmt: skip
def test_no_question_is_offered_only_where_a_full_sandbox_asks(standing, past, words):
    assert offer_text(standing, past) == words


@pytest.mark.parametrize(
    ("chosen", "level", "is_auto"),
    [
        ({}, "workspace", False), ({"sandbox": "read-only"}, "read-only", False), ({"sandboxed": "auto"}, "workspace", True),
        ({"sandbox": "?", "sandboxed": "?"}, "workspace", False),
    ],
)  # fmt: skip
def test_a_session_has_what_a_human_chose_for_it(chosen, level, is_auto):
    of = sandbox_of_session(FULL, session(configuration=chosen))
    assert (of.level, of.is_auto, of.backend) == (level, is_auto, "bubblewrap")


def test_an_agent_that_runs_its_own_calls_has_no_sandbox_of_ours():
    assert sandbox_of_session(FULL, session(kind="supervised", provider="Claude Code")) is None


def test_the_next_session_has_what_was_chosen_for_it_and_a_present_one_has_not():
    chosen = SandboxStanding(backend="bubblewrap", next_level="read-only", next_auto=True)
    following, present = sandbox_of_session(chosen, None), sandbox_of_session(chosen, session())
    assert (following.level, following.is_auto, present.level, present.is_auto) == (
        "read-only",
        True,
        "workspace",
        False,
    )
