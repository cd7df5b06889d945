"""What a real session looks like through every view: nothing here is made by hand but the answers."""

import pytest

from tests.support.stage import Stage, call, exchange, recording, text
from workbench.changes.decision import action_hunks
from workbench.domain.values import DEFAULT_APPROVAL_MINUTES
from workbench.views import action_detail, approvals, detail_pages, sessions, tools
from workbench.views.conversation import Transcript

LINES = "".join(f"line {n}\n" for n in range(30))
SCRIPT = recording(
    exchange(
        text("I will edit."),
        call("c1", "replace_string_in_file", path="a.py", old_string="line 2\n", new_string="LINE 2\nNEW\n"),
        call("c2", "run_in_terminal", command="echo hi; exit 3"),
        call("c3", "create_file", path="n.txt", content="x\n"),
    ),
    exchange(text("done")),
)


@pytest.fixture
def stage(tmp_path):
    found = Stage(tmp_path, SCRIPT, files={"a.py": LINES}).begin("rename it")
    found.drive()
    yield found
    found.close()


def test_before_the_answers(stage):
    journal = stage.journal
    actions, now = journal.actions(), journal.now()
    known = {row.id: row for row in journal.sessions()}
    rows = approvals.queue_rows(actions, known, now)
    window = DEFAULT_APPROVAL_MINUTES * 60.0
    assert [(row.verb, row.target, row.added, row.removed, row.left_seconds) for row in rows] == [
        ("edit", "a.py", 2, 1, window), ("run", "echo hi; exit 3", 0, 0, window), ("write", "n.txt", 1, 0, window),
    ]  # fmt: skip
    edit, run, _ = stage.waiting()
    found = action_detail.action_detail(
        edit, stage.opened(edit), action_hunks(stage.opened(edit), journal.blobs), now
    )
    assert [(file.path, file.change, file.added, file.removed, len(file.hunks)) for file in found.files] == [
        ("a.py", "modify", 2, 1, 1)
    ]
    assert found.parameters == (("path", "a.py"),)
    assert action_detail.action_detail(run, stage.opened(run), (), now).command == "echo hi; exit 3"
    assert sessions.header_facts(journal.sessions(), actions, now, workspace="/w").waiting == 3
    assert [(row.sign, row.waiting) for row in sessions.session_rows(journal.sessions(), actions)] == [
        ("waiting", 3)
    ]


def test_after_the_answers(stage):
    edit, run, write = stage.waiting()
    stage.approve(edit)
    stage.approve(run)
    stage.reject(write, "no thanks")
    stage.drive()
    journal = stage.journal
    events = journal.events(stage.session_id)
    found = Transcript(stage.session_id)
    found.apply_all(events)
    lines = [block for block in found.blocks if block.id.startswith("call:")]
    assert [(line.sign, line.right if line.sign != "ok" else "", line.note_quote) for line in lines] == [
        ("ok", "", ""), ("failed", "exit 3", ""), ("rejected", "rejected", "no thanks"),
    ]  # fmt: skip
    texts = [block.text for block in found.blocks if block.id.startswith(("text:", "prompt:"))]
    assert texts == ["rename it", "I will edit.", "done"]
    assert not found.facts.is_working
    durable = Transcript(stage.session_id)
    durable.apply_all(event for event in events if event.body.DURABLE)
    assert durable.blocks == found.blocks
    rows = tools.tool_rows(
        journal.calls(stage.session_id), {row.id: row for row in journal.actions()}, journal.now()
    )
    assert [(row.word, row.by) for row in rows] == [("ok", "you"), ("failed", "you"), ("rejected", "you")]
    second = journal.calls(stage.session_id)[1]
    full = detail_pages.call_detail(second, journal.action(second.action_id), events)
    assert full.sections[0].lines == ("hi",)
    assert [words for _, _, words in full.moments][-1] == "exit 3"
    changed = sessions.changed_files(events, {row.id: row for row in journal.actions()})
    assert [(file.path, file.added, file.removed, file.action_id) for file in changed] == [
        ("a.py", 2, 1, edit.id)
    ]
