import pytest

from tests.support.tables import each_row
from tests.unit.views.making import MINUTE, NOW, action, call, hunk, session
from workbench.domain.events import ActionOpened, CallFinished, OutputStreamed
from workbench.domain.values import Choice, FilePlan, SelectedHunk
from workbench.views import action_detail
from workbench.views.action_detail import ActionWarning
from workbench.views.file_changes import FileDetail
from workbench.views.tools import streamed_output


def proposal(**more):
    facts = {
        "action_kind": "tool",
        "tool": "t",
        "target": "x",
        "digest": "d",
        "created_at": NOW,
        "expires_at": None,
        "cwd": "/w",
    }
    return ActionOpened(**{**facts, **more})


def plan(path, base="1", after="2"):
    return FilePlan(path=path, base=base, after=after, mode=0o644)


def made(row=None, opened=None, hunks=(), **more):
    return action_detail.action_detail(row or action(), opened or proposal(), hunks, NOW, **more)


def test_what_was_left_of_a_decided_one_is_known():
    row = action(state="approved", decided_at=NOW, decided_by="user", selection=(SelectedHunk(hunk=2),))
    found = made(row, proposal(files=(plan("a"),)), (hunk(1, "a"), hunk(2, "a")))
    assert found.was_taken is not None
    assert [found.was_taken.state_of(n) for n in (1, 2)] == ["left", "taken"]
    assert made().was_taken is None


def test_a_text_of_the_users_own_counts_its_own_lines_and_says_when_it_is_not_shown():
    row = action(state="approved", decided_at=NOW, decided_by="user", edited={"a": "sealed:1"}, added=9)
    own = (hunk(1, "a", (("+", "x"), ("+", "y"))),)
    opened = proposal(files=(plan("a"),))
    assert (made(row, opened, own, is_own_text=True).added, made(row, opened, own).added) == (2, 9)
    assert made(row, opened, own).bar[-1] == "Below is what was proposed, not what was written."
    assert made(row, opened, own, is_own_text=True).bar == ("By you.",)


def test_files_with_their_hunks():
    hunks = (hunk(1, "a"), hunk(2, "a"), hunk(3, "b", (("+", "x"),)))
    found = made(
        opened=proposal(files=(plan("a"), plan("b", None), plan("c"))), hunks=hunks, session=session()
    )
    assert found.files == (
        FileDetail(path="a", change="modify", hunks=hunks[:2], added=4, removed=2),
        FileDetail(path="b", change="create", hunks=hunks[2:], added=1),
        FileDetail(path="c", change="modify", note="no lines to show"),
    )
    assert (found.hunks, found.digest, found.session_title) == (hunks, "d-a1", "rename handler")


@pytest.mark.parametrize(
    ("file", "warnings", "note"),
    [
        (plan("a", None, "1"), (), "new and empty"),
        (plan("a", "1", None), (), "deleted, it was empty"),
        (plan("a", "1", "1"), (), "only its mode changes"),
        (plan("a"), ("binary",), "binary"),
        (plan("a", None), ("binary",), "binary"),
    ],
)
def test_why_there_is_nothing_to_see(file, warnings, note):
    assert made(opened=proposal(files=(file,), warnings=warnings)).files[0].note == note


def test_hunks_of_a_file_that_no_plan_names_are_shown_all_the_same():
    assert [file.path for file in made(hunks=(hunk(1, "odd"),)).files] == ["odd"]


def test_a_command_and_its_other_parameters():
    given = {"command": "make\n", "timeout_seconds": 5, "env": {"b": 1, "a": 2}}
    found = made(action(verb="run"), proposal(parameters=given))
    assert (found.command, found.cwd) == ("make\n", "/w")
    assert found.parameters == (("limit", "5 s"), ("env", '{"a":2,"b":1}'))
    exact = made(action(verb="run"), proposal(parameters=given), parameters={"command": "exact"})
    assert exact.command == "exact"


def test_the_last_lines_that_a_command_printed_and_of_how_many():
    row = action(state="approved", decided_at=NOW, decided_by="user", verb="run")
    opened = proposal(parameters={"command": "ls"})
    printed = CallFinished(state="succeeded", preview="\n".join(f"line {n}" for n in range(1, 21)))
    found = made(row, opened, finished=printed)
    assert (found.output[0], found.output[-1], found.output_lines) == ("line 13", "line 20", 20)
    assert made(row, opened).output == ()
    # What another tool gave back is in the conversation and under 3: it may be a whole file.
    assert made(action(state="approved", verb="read"), finished=printed).output == ()


def test_a_trust_question_is_not_rejected_but_put_off():
    assert made(action(kind="trust", state="rejected")).decision_word == "not now"
    assert made(action(kind="trust", state="approved")).decision_word == "trusted"
    assert made(action(kind="gate", state="rejected")).decision_word == "rejected"


def test_parameters_that_the_diff_shows_are_left_out():
    given = {"path": "a", "old_string": "x", "new_string": "y", "command": "no command of an edit"}
    found = made(opened=proposal(parameters=given, files=(plan("a"),)), hunks=(hunk(1, "a"),))
    assert (found.parameters, found.command) == ((("path", "a"), ("command", "no command of an edit")), None)


def test_questions():
    choices = (Choice(key="trust", label="Trust it"),)
    found = made(
        action(kind="trust", expires_at=None),
        proposal(prompt="Trust?", choices=choices, subject={"files": ["a"]}),
    )
    assert (found.prompt, found.choices, found.subject) == ("Trust?", choices, (("files", '["a"]'),))
    assert found.left_seconds is None


def test_warnings_in_words():
    found = made(action(warnings=("deletes", "odd\x1b", "stale"), stale_paths=("a",)))
    assert found.warnings == (
        ActionWarning(word="deletes", sentence="It deletes a file."),
        ActionWarning(word="odd⟨U+001B⟩", sentence="Look twice."),
    )


@pytest.mark.parametrize(
    ("row", "files", "expected"),
    [
        (action(), (plan("a"),), False),
        (action(warnings=("stale",)), (plan("a"),), False),
        (action(warnings=("hidden",)), (plan("a"),), True),
        (action(), (plan("a"), plan("b", "1", None)), True),
    ],
)
def test_what_must_be_seen_whole(row, files, expected):
    assert made(row, proposal(files=files)).must_see_all is expected


@pytest.mark.parametrize(
    ("row", "first"),
    [
        (action(), None),
        (
            action(stale_paths=("a",)),
            "The file was changed by something else. What you see was made for the old text.",
        ),
        (action(state="expired"), "Nobody answered in time. Nothing was done."),
        (action(state="approved", decided_by="user (cli, pid 41)"), "By you, with workbench approvals."),
        (action(state="rejected", decided_by="user", reason="too\nwide"), "By you: “too⏎wide”"),
        (action(state="cancelled", reason="why"), "The question was withdrawn: “why”"),
        (action(state="superseded"), "Another one replaces it."),
    ],
)
def test_the_bar(row, first):
    bar = made(row).bar
    assert (bar[0] if bar else None) == first


def test_what_came_of_it():
    row = action(state="approved")
    assert made(row, call=call(state="failed", exit_code=1)).outcome == "failed: exit 1"
    assert (
        made(row, call=call(state="failed", error="disk\nfull", exit_code=1)).outcome == "failed: disk⏎full"
    )
    assert made(row, call=call()).outcome == "ok"
    assert made(action(), call=call(state="pending")).outcome == ""


FILE = proposal(files=(plan("a"),))


@each_row(
    ("row", "opened", "verdict", "why"),
    [
        (action(), FILE, "approve", ""),
        (action(stale_paths=("a",)), FILE, "approve", ""),
        (action(state="expired"), FILE, "approve", "it is expired"),
        (action(state="rejected"), FILE, "reject", "it is rejected"),
        (action(expires_at=None), FILE, "extend", "it does not expire"),
        (action(extensions=4), FILE, "extend", "it was extended 4 times, that is all"),
        (action(extensions=3), FILE, "extend", ""),
        (action(), FILE, "edit", ""),
        (action(stale_paths=("a",)), FILE, "edit", "the file changed; make the new diff first"),
        (action(), proposal(), "edit", "only the text of a file can be edited"),
        (action(), proposal(files=(plan("a", "1", None),)), "edit", "only the text of a file can be edited"),
    ],
)
def test_why_not(row, opened, verdict, why):
    assert action_detail.why_not_answerable(made(row, opened), verdict) == why


def test_time_left():
    found = made(action(expires_at=NOW + 4 * MINUTE))
    assert (found.left_seconds, found.urgency, found.is_pending) == (240.0, "soon", True)


def test_of_how_many_lines_the_last_are_is_what_was_printed_not_what_is_kept():
    row = action(state="approved", decided_at=NOW, decided_by="user", verb="run")
    opened = proposal(parameters={"command": "ls"})
    preview = "\n".join(f"line {n}" for n in range(1, 21))
    cut = CallFinished(state="succeeded", preview=preview, metadata={"output_lines": 200_000})
    assert made(row, opened, finished=cut).output_lines == 200_000


def test_a_running_command_shows_its_last_lines_so_far():
    row = action(state="approved", decided_at=NOW, decided_by="user", verb="run")
    opened = proposal(parameters={"command": "ls"})
    pieces = [OutputStreamed(offset=0, text="a\nb\n"), OutputStreamed(offset=4, text="c")]
    found = made(row, opened, streamed=streamed_output(pieces))
    assert (found.output, found.output_lines) == (("a", "b", "c"), 3)
    assert streamed_output([]) == ""
