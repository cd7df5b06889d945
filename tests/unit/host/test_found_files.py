"""Files that an agent left otherwise than was approved, or wrote unasked: what is asked, kept and put back."""

import json
import os

import pytest
from msgspec.structs import replace

from tests.support.fake_agent import settled_calls, supervise, waiting_row
from tests.support.stage import USER, recording
from tests.support.waits import until_true
from workbench.changes.decision import action_hunks
from workbench.domain.events import CallFinished, ErrorRaised, FileChanged, UndoRequested
from workbench.domain.values import Decision, SelectedHunk
from workbench.formats.kaiak_export import kaiak_messages
from workbench.formats.session_markdown import markdown_blocks
from workbench.journal.decisions import decide_action
from workbench.supervised import machine
from workbench.tui.approvals import approval_selection as selection
from workbench.tui.approvals.approval_selection import ApprovalSelection, approval_key_label
from workbench.tui.pane import DecisionReported
from workbench.views.action_detail import AS_FOUND, action_detail, why_not_answerable

CHANGE = {"file_path": "b.txt", "old_string": "two", "new_string": "2"}
BASE, FOUND = b"one\ntwo\nthree\n", b"one\n2\nevil\n"
PATCH = """*** Begin Patch
*** Update File: a.txt
@@
-a
+A
*** Update File: b.txt
@@
-two
+2
*** End Patch"""


@pytest.fixture
def stage(staged):
    return staged(recording(), files={"a.txt": "a\n", "b.txt": BASE, "c.txt": "x x\n"})


def deny(stage, *patterns):
    config = {"config_version": 1, "approvals": {"deny": list(patterns)}}
    (stage.root / "home" / "config.json").write_text(json.dumps(config))


async def found_row(stage, agent, tool, given, write):
    """Have a call approved after which `write` was done in its place; returns the row about the files."""
    agent.ask("n1", tool, given, "c1")
    stage.approve(await waiting_row(stage))
    await agent.answer("n1")
    write()
    agent.done(tool, given, "c1")
    return await waiting_row(stage)


def write(stage, **files):
    def act():
        for name, data in files.items():
            (stage.workspace / name.replace("_", ".")).write_bytes(data)

    return act


def shown(stage, action):
    """Return the detail of a row as the screen shows it, and how the keys that answer it are called."""
    opened = stage.opened(action)
    detail = action_detail(action, opened, action_hunks(opened, stage.journal.blobs), stage.journal.now())
    labels = [
        approval_key_label(f"approvals.{key}", detail, ApprovalSelection(), is_split=False, width=120)
        for key in ("approve", "reject")
    ]
    return detail, [
        label.removeprefix("see 1 more hunk, then ").removeprefix("see the rest, then ") for label in labels
    ]


def test_the_row_shows_what_the_call_did_to_the_file_and_names_its_answers(stage):
    async def scenario(agent):
        found = await found_row(stage, agent, "Edit", CHANGE, write(stage, b_txt=FOUND))
        detail, labels = shown(stage, found)
        (hunk,) = detail.hunks
        assert [text for sign, text in hunk.lines if sign == "+"] == ["2", "evil"]
        assert [text for sign, text in hunk.lines if sign == "-"] == ["two", "three"]
        assert (detail.kind, detail.verb, labels) == ("files", "found", ["keep", "put back"])
        assert "b.txt: written with other bytes (+1 -1 lines against what was approved)" in detail.prompt
        assert (detail.added, detail.removed, detail.left_seconds) == (2, 2, None)
        part = Decision(action_id=found.id, verdict="approve", selection=(SelectedHunk(hunk=1, lines=(1,)),))
        assert decide_action(stage.journal, part, found.digest, USER).why == "choice"
        assert stage.approve(found).ok

    supervise(stage, scenario)
    assert stage.read("b.txt") == FOUND
    assert shown(stage, stage.journal.actions(stage.session_id)[-1])[0].state_word == "kept"


def test_a_row_about_found_files_is_no_proposal_in_anything_that_reads_it(stage):
    choosing = ApprovalSelection()

    async def scenario(agent):
        found = await found_row(stage, agent, "Edit", CHANGE, write(stage, b_txt=FOUND))
        detail, _ = shown(stage, found)
        assert selection.why_not_select(detail, choosing) == AS_FOUND == why_not_answerable(detail, "edit")
        assert choosing.approval(detail).decision.selection is None
        assert "taken" not in selection.position_caption(detail, choosing)
        said = [
            selection.answered_sentence(about, DecisionReported(found.id, verdict, None), "left")
            for about, verdict in (
                (detail, "approve"),
                (detail, "reject"),
                (replace(detail, files=()), "reject"),
            )
        ]
        assert [words.partition(":")[0] for words in said] == [
            "Kept", "To be put back", "Noted, nothing can be put back",
        ]  # fmt: skip
        assert decide_action(stage.journal, Decision(
            action_id=found.id, verdict="approve", choice="approve"), found.digest, USER).ok  # fmt: skip

    supervise(stage, scenario)
    events, rows = [*stage.journal.events(stage.session_id)], stage.journal.actions(stage.session_id)
    detail, _ = shown(stage, rows[-1])
    assert (detail.state_word, "of the call" in selection.why_no_undo(detail)) == ("kept", True)
    proposed = [message for message in kaiak_messages(events) if "FileModification" in str(message)]
    blocks = "\n".join(markdown_blocks(stage.session(), events, stage.journal.calls(stage.session_id), rows))
    assert blocks.count("### Proposed") == blocks.count("### Found") == 1
    assert not any(rows[-1].id in str(message) for message in proposed)


def test_a_rejected_file_is_put_back_only_if_it_is_still_as_it_was_found(stage):
    async def scenario(agent):
        found = await found_row(stage, agent, "Edit", CHANGE, write(stage, b_txt=FOUND))
        write(stage, b_txt=b"of a human\n")()
        stage.reject(found)
        (error,) = await until_true(lambda: stage.bodies(ErrorRaised))
        assert "b.txt" in error.message and error.details

    supervise(stage, scenario)
    assert stage.read("b.txt") == b"of a human\n"


def test_only_what_differs_is_asked_about_and_put_back(stage):
    async def scenario(agent):
        found = await found_row(
            stage, agent, "apply_patch", {"patch": PATCH}, write(stage, a_txt=b"A\n", b_txt=FOUND)
        )
        assert [plan.path for plan in stage.opened(found).files] == ["b.txt"]
        stage.reject(found)
        await until_true(lambda: stage.read("b.txt") == BASE)
        await settled_calls(stage)

    async def later(agent):
        await run_one_by_one(stage, agent, ("Bash", {"command": "ls"}))

    supervise(stage, scenario)
    supervise(stage, later)
    assert stage.read("a.txt") == b"A\n" and len(stage.bodies(UndoRequested)) == 1


def test_a_patch_that_was_written_in_part_can_be_put_back_whole(stage):
    async def scenario(agent):
        found = await found_row(stage, agent, "apply_patch", {"patch": PATCH}, write(stage, a_txt=b"A\n"))
        assert [plan.path for plan in stage.opened(found).files] == ["a.txt"]
        assert "b.txt: not written" in found.target
        stage.reject(found)
        await until_true(lambda: stage.read("a.txt") == b"a\n")
        await settled_calls(stage)

    supervise(stage, scenario)


def test_a_file_that_cannot_be_read_is_named_and_nothing_is_put_back(stage):
    def make_fifo():
        (stage.workspace / "b.txt").unlink()
        os.mkfifo(stage.workspace / "b.txt")

    async def scenario(agent):
        found = await found_row(stage, agent, "Edit", CHANGE, make_fifo)
        detail, labels = shown(stage, found)
        assert labels == ["keep", "not kept"] and "Nothing can be put back" in detail.prompt
        stage.reject(found)
        agent.run("Bash", {"command": "true"}, "c2")
        await until_true(lambda: "c2" in stage.calls() and stage.calls()["c2"].finished_at)

    supervise(stage, scenario)
    assert stage.bodies(ErrorRaised) == [] and not (stage.workspace / "b.txt").is_file()


@pytest.mark.parametrize("data", [FOUND, b"one\n2\nthree\n", BASE])
def test_what_a_call_writes_after_it_counted_as_interrupted_is_looked_at(stage, monkeypatch, data):
    """Its agent seemed to be gone, and says later that the call has ended; it says so twice."""
    monkeypatch.setattr(machine, "RETURN_SECONDS", 0.0)
    seen = []

    async def leaves(agent):
        agent.ask("n1", "Edit", CHANGE, "c1")
        stage.approve(await waiting_row(stage))
        await agent.answer("n1")
        agent.disconnect()
        await until_true(lambda: stage.calls()["c1"].state == "interrupted")
        agent.connect(agent.link)
        write(stage, b_txt=data)()
        for _ in range(2):
            agent.done("Edit", CHANGE, "c1")
        await run_one_by_one(stage, agent, ("Bash", {"command": "ls"}))
        seen.extend(stage.waiting())

    supervise(stage, leaves)
    assert len(stage.bodies(FileChanged)) == (data != BASE)
    assert [row.target.partition(":")[0] for row in seen] == (["b.txt"] if data == FOUND else [])


# --- calls that were made without asking -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("secret/key.txt", "Write(secret/**)"),
        (".workbench/config.json", "may not write it"),
        (".vscode/tasks.json", "runs or obeys it"),
        ("../elsewhere.txt", "outside the folder"),
        ("plain.txt", ""),
    ],
)
def test_an_unasked_write_is_asked_about_only_where_it_matters(stage, path, names):
    deny(stage, "Write(secret/**)")

    async def scenario(agent):
        agent.run("Write", {"file_path": path, "content": "x\n"}, "c1")
        await settled_calls(stage)
        agent.end_turn()
        await until_true(lambda: stage.session().status == "ready")
        rows = stage.waiting()
        assert bool(rows) == bool(names)
        assert all(names in stage.opened(row).prompt for row in rows)
        assert all("Nothing can be put back" in stage.opened(row).prompt for row in rows)

    supervise(stage, scenario)
    (finished,) = stage.bodies(CallFinished)
    assert names == "may not write it" or "the bytes before are not known" in finished.summary


def test_a_denied_command_that_ran_unasked_is_a_row_that_names_the_denial(stage):
    deny(stage, "Bash(rm *)")

    async def scenario(agent):
        agent.run("Bash", {"command": "rm -rf build"}, "c1")
        row = await waiting_row(stage)
        assert "Bash(rm *)" in stage.opened(row).prompt
        assert stage.reject(row).ok
        gone = str(stage.workspace / "gone")
        agent.done("Bash", {"command": "rm -rf gone"}, "c2", cwd=gone)
        assert (await waiting_row(stage)).id != row.id
        agent.done("Bash", {"command": "ls"}, "c3", cwd=gone)
        await until_true(lambda: "c3" in stage.calls())

    supervise(stage, scenario)
    assert len(stage.waiting()) == 1


def test_a_denied_file_that_was_read_unasked_is_a_row_and_others_are_not(stage):
    deny(stage, "Read(b.txt)")

    async def scenario(agent):
        agent.done("Read", {"file_path": "a.txt"}, "c1")
        agent.done("Read", {"file_path": str(stage.workspace / "b.txt")}, "c2")
        row = await waiting_row(stage)
        assert "Read(b.txt)" in stage.opened(row).prompt and stage.opened(row).files == ()

    supervise(stage, scenario)
    assert [body.files_affected for body in stage.bodies(CallFinished)] == [(), ()]


def test_the_files_of_a_patch_in_an_unasked_command_are_looked_at(stage):
    patch = "*** Begin Patch\n*** Add File: .envrc\n+x\n*** End Patch"

    async def scenario(agent):
        agent.done("Bash", {"command": f"apply_patch <<'EOF'\n{patch}\nEOF"}, "c1")
        row = await waiting_row(stage)
        assert ".envrc" in stage.opened(row).prompt

    supervise(stage, scenario)


def test_the_bytes_before_an_unasked_edit_are_recorded_where_only_one_edit_leads_there(stage):
    deny(stage, "Edit(b.txt)")

    async def scenario(agent):
        agent.run("Edit", CHANGE, "c1")
        row = await waiting_row(stage)
        assert shown(stage, row)[1] == ["keep", "put back"]
        stage.reject(row)
        await until_true(lambda: stage.read("b.txt") == BASE)
        await settled_calls(stage)

    supervise(stage, scenario)
    assert [body.path for body in stage.bodies(FileChanged)] == ["b.txt", "b.txt"]


async def run_one_by_one(stage, agent, *calls):
    """Have calls run unasked, each when the one before it is recorded."""
    for number, (tool, given) in enumerate(calls, len(stage.journal.calls(stage.session_id)) + 1):
        agent.run(tool, given, f"c{number}")
        await until_true(lambda name=f"c{number}": name in stage.calls() and stage.calls()[name].finished_at)


def changed_bytes(stage):
    """Return the recorded changes as bytes before and after; None if there is no file."""
    unseal = stage.journal.blobs.read
    return [
        tuple(ref and unseal(ref) for ref in (body.before_ref, body.after_ref))
        for body in stage.bodies(FileChanged)
    ]


def edit(path, old, new, **more):
    return "Edit", {"file_path": path, "old_string": old, "new_string": new, **more}


def test_the_bytes_before_an_unasked_change_are_recorded_only_where_they_are_known(stage):
    known = edit("c.txt", "x x", "y")

    async def scenario(agent):
        await run_one_by_one(
            stage, agent,
            edit("b.txt", "two", ""), edit("a.txt", "a", "a-one"), edit("a.txt", "-", "a"), known,
            edit("c.txt", "y", ""), ("Write", {"file_path": "c.txt", "content": "z"}),
            ("Write", {"file_path": "c.txt", "content": "z"}), ("Write", {"file_path": "n.txt", "content": "n"}),
        )  # fmt: skip

    supervise(stage, scenario)
    # A deletion may have been anywhere, and a whole file tells nothing; but an earlier change tells of both.
    assert changed_bytes(stage) == [
        (b"a\n", b"a-one\n"), (b"a-one\n", b"aaone\n"), (b"x x\n", b"y\n"), (b"y\n", b"\n"), (b"\n", b"z"),
    ]  # fmt: skip
    said = {row.provider_call_id: row for row in stage.journal.calls(stage.session_id)}
    unknown = [body.summary for body in stage.bodies(CallFinished) if "not known" in body.summary]
    assert len(unknown) == 2 and len(said) == 8


def test_an_unasked_call_that_failed_and_left_its_file_alone_is_no_row(stage):
    deny(stage, "Edit(b.txt)")

    async def scenario(agent):
        agent.run("Edit", CHANGE, "c1")
        stage.approve(await waiting_row(stage))
        await run_one_by_one(stage, agent, ("Edit", CHANGE))

    supervise(stage, scenario)
    assert [row.state for row in stage.journal.calls(stage.session_id)] == ["succeeded", "failed"]
    assert stage.waiting() == [] and len(stage.bodies(FileChanged)) == 1


def test_what_another_wrote_in_between_is_part_of_the_bytes_before(stage):
    async def scenario(agent):
        await run_one_by_one(stage, agent, edit("a.txt", "a", "1"))
        (stage.workspace / "a.txt").write_bytes(b"of a human: 1\n")
        await run_one_by_one(stage, agent, edit("a.txt", "1", "2"))

    supervise(stage, scenario)
    assert changed_bytes(stage)[-1] == (b"of a human: 1\n", b"of a human: 2\n")


def test_an_edit_that_failed_has_changed_nothing_though_its_new_text_is_there(stage):
    async def scenario(agent):
        await run_one_by_one(stage, agent, edit("b.txt", "not there", "two"))

    supervise(stage, scenario)
    assert changed_bytes(stage) == []
