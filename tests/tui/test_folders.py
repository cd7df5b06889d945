"""One screen, every folder: the queue of all of them, answers that reach each, and folders that are gone."""

import asyncio
import json

import pytest

from tests.support.stage import Stage, call, exchange, recording, text
from tests.tui.screens import FILES, THREE, play, services, staged
from workbench.domain.events import PromptSubmitted
from workbench.host import workspace_trust
from workbench.render.glyphs import glyphs_for
from workbench.tui.backend import Backend

SHOWN = glyphs_for("unicode", "utf-8").of("shown")
OTHER = recording(
    exchange(text("In pipes."), call("p1", "create_file", path="docs/pipes.md", content="# Pipes\n")),
    exchange(text("Done there.")),
)


def begin_elsewhere(stage, name="pipes", script=OTHER, title="pipes work", *, is_asked=False):
    """Let an agent ask in another folder of the same home; return what waits there."""
    here, first, was = stage.workspace, stage.session_id, stage.recording
    stage.workspace = stage.root / name
    stage.workspace.mkdir(parents=True)
    stage.recording = stage.root / f"{name.replace('/', '-')}.json"
    stage.recording.write_text(json.dumps(script))
    if is_asked:
        workspace_trust.open_trust_question(stage.journal, str(stage.workspace))
    else:
        stage.trust()
    stage.begin("work there", title)
    stage.drive()
    waiting, other = stage.waiting(), stage.session_id
    stage.workspace, stage.session_id, stage.recording = here, first, was
    return other, waiting


@pytest.fixture
def two(tmp_path):
    stage = staged(tmp_path)
    stage.other, (stage.there,) = begin_elsewhere(stage)
    return stage


def header(shown):
    return shown.text.splitlines()[0]


def targets(shown):
    return [row.target for row in shown.approvals.rows if row.is_pending]


def test_w_shows_all_folders_with_their_names_and_only_then(two):
    kept = []

    async def body(shown):
        assert "docs/pipes.md" not in targets(shown)
        assert "1 waits in another folder, w shows it" in header(shown)
        await shown.press("w")
        assert "docs/pipes.md" in targets(shown)
        assert "all folders" in shown.text and "elsewhere" not in header(shown)
        assert {row.folder for row in shown.approvals.rows} == {"project", "pipes"}
        row = next(line for line in shown.text.splitlines() if "docs/pipes.md" in line)
        assert "pipes  write" in row.replace("pipes   write", "pipes  write")
        assert "4 waiting" in header(shown)
        await shown.press("w")
        assert "docs/pipes.md" not in targets(shown) and "all folders" not in shown.text.split("\n", 5)[2]
        assert kept == [True, False]

    play(two, body, size=(160, 40), keep_folders=lambda *, is_wide: kept.append(is_wide))


def test_a_sentence_that_begins_with_w_is_written_and_switches_nothing(two):
    async def body(shown):
        await shown.press(*"what ", wait=0.05)
        assert not shown.main.state.is_wide and shown.main.composer.text == "what "

    play(two, body)


def test_a_screen_begins_as_it_was_left_and_says_which_folder_a_row_acts_in(two, monkeypatch):
    monkeypatch.setattr(Backend, "is_wide", True)

    async def body(shown):
        assert "all folders" in shown.text and "docs/pipes.md" in targets(shown)
        shown.approvals.queue.put_cursor(two.there.id)
        await shown.settle()
        assert shown.approvals.detail.folder.path == "~/pipes"
        assert " folder  ~/pipes" in shown.text
        await shown.press("k")
        assert " folder  ~/project" not in shown.text

    play(two, body)


def test_an_answer_reaches_the_background_process_of_its_own_folder(two):
    started = []

    async def body(shown):
        await shown.press("w")
        shown.approvals.queue.put_cursor(two.there.id)
        await shown.settle()
        await shown.press("a")
        assert shown.state(two.there) == "approved"
        assert started[-1] == str(two.root / "pipes")
        started.clear()
        shown.approvals.queue.put_cursor(two.waiting()[0].id)
        await shown.settle()
        await shown.press("r")
        assert set(started) == {str(two.workspace)}

    play(two, body, ensure_host=lambda workspace: started.append(workspace) or "")


def test_the_count_follows_what_happens_in_other_folders(two):
    async def body(shown):
        two.session_id = two.other
        two.reject(two.there)
        await shown.look()
        assert "another folder" not in header(shown)
        await asyncio.to_thread(begin_elsewhere, two, "more")
        await shown.look()
        assert "1 waits in another folder" in header(shown)
        await shown.press("w")
        assert shown.main.state.elsewhere == {}

    play(two, body, size=(160, 40))


def test_a_short_header_still_says_that_something_waits_elsewhere(two):
    async def body(shown):
        assert "1 elsewhere, w" in header(shown)

    play(two, body, size=(80, 24))


def test_an_empty_queue_points_to_other_folders(tmp_path):
    stage = Stage(tmp_path, THREE, files=FILES)
    stage.trust()
    begin_elsewhere(stage)
    stage.session_id = ""

    async def body(shown):
        shown.main.go_to(2)
        await shown.settle()
        assert "Nothing waits in this folder." in shown.text
        assert "1 waits in another folder, w shows it." in shown.text
        await shown.press("w")
        assert targets(shown) == ["docs/pipes.md"]
        assert shown.main.state.current is None

    play(stage, body, goes_to_queue=False)


# --- the conversation follows the row -----------------------------------------------------------


def on_show(shown):
    return shown.main.state.current.id


def test_the_first_frame_shows_the_session_of_what_waits_first(tmp_path):
    stage = staged(tmp_path)
    first = stage.session_id
    stage.recording.write_text(json.dumps(recording(exchange(text("Newer, and it asks nothing.")))))
    stage.begin("newer", "newer")
    stage.drive()

    async def body(shown):
        assert (on_show(shown), shown.approvals.queue.current.session_id) == (first, first)
        rail = shown.main.rail.list
        assert rail.cursor == first and rail.rows[first].is_current

    play(stage, body, size=(160, 40), goes_to_queue=False)


def test_a_session_that_is_named_has_the_cursor_of_the_queue(two, monkeypatch):
    monkeypatch.setattr(Backend, "is_wide", True)

    async def body(shown):
        assert (on_show(shown), shown.approvals.queue.cursor) == (two.other, two.there.id)

    play(two, body, opens_on=two.other, goes_to_queue=False)


@pytest.mark.parametrize("key", ["enter", "1"])
def test_enter_and_1_show_the_session_of_the_row_and_moving_does_not(two, key):
    async def body(shown):
        await shown.press("w")
        shown.approvals.queue.put_cursor(two.waiting()[0].id)
        await shown.settle()
        while shown.approvals.queue.cursor != two.there.id:
            await shown.press("j")
        assert on_show(shown) == two.session_id
        await shown.press(key)
        assert on_show(shown) == two.other
        if key == "enter":
            assert shown.approvals.is_full
            await shown.press("escape")
        assert "pipes: pipes work" in shown.text and "In pipes." in shown.text
        rail = shown.main.rail.list
        assert rail.cursor == two.other and rail.rows[two.other].is_current
        marked = [line for line in shown.text.splitlines() if SHOWN in line]
        assert len(marked) == 1 and "pipes: pipes" in marked[0]

    play(two, body, size=(160, 40))


def test_1_from_elsewhere_shows_what_was_on_show(two):
    async def body(shown):
        await shown.press("w")
        shown.approvals.queue.put_cursor(two.there.id)
        await shown.press("3", "1")
        assert on_show(shown) == two.session_id

    play(two, body)


def test_the_mark_of_the_list_goes_to_a_new_session(tmp_path):
    stage = staged(tmp_path)

    def begin(words):
        return stage.begin(words, "brand new").session_id

    async def body(shown):
        first = stage.session_id
        await shown.press("ctrl+n", *"hi", "enter")
        await shown.look()
        rail = shown.main.rail.list
        assert on_show(shown) != first and rail.cursor == on_show(shown)
        assert [key for key, row in rail.rows.items() if row.is_current] == [on_show(shown)]

    play(stage, body, size=(160, 40), begin_session=begin)


def test_what_happens_elsewhere_does_not_end_a_new_session(two):
    async def body(shown):
        await shown.press("ctrl+n")
        two.session_id = two.other
        two.say("meanwhile")
        await shown.look()
        assert shown.main.state.current is None and "A new session." in shown.text

    play(two, body, size=(160, 40))


def test_a_message_to_another_folder_goes_to_its_agent_and_its_background_process(two):
    started = []

    async def body(shown):
        await shown.press("w")
        shown.approvals.queue.put_cursor(two.there.id)
        await shown.press("1", "i")
        assert "Message “pipes work” in pipes" in shown.text
        await shown.press(*"go", "enter")
        two.session_id = two.other
        assert [body.text for body in two.bodies(PromptSubmitted)][-1] == "go"
        assert started[-1] == str(two.root / "pipes")

    play(two, body, size=(160, 40), ensure_host=lambda workspace: started.append(workspace) or "")


# --- rules and trust ----------------------------------------------------------------------------


def test_a_rule_from_another_folder_belongs_to_that_folder_and_says_so(tmp_path):
    stage = staged(tmp_path)
    script = recording(exchange(call("p1", "run_in_terminal", command="ls docs")), exchange(text("Done.")))
    _, (there,) = begin_elsewhere(stage, script=script)

    async def body(shown):
        await shown.press("w")
        shown.approvals.queue.put_cursor(there.id)
        await shown.settle()
        await shown.press("A")
        assert "folder pipes" in shown.text and "The folder pipes is ~/pipes" in shown.text
        assert "this workspace" not in shown.text
        await shown.press("l", "enter")
        (rule,) = stage.journal.rules()
        assert (rule.scope, rule.scope_id) == ("workspace", str(stage.root / "pipes"))

    play(stage, body, size=(160, 48))


def test_a_trust_question_of_another_folder_names_it(tmp_path):
    stage = staged(tmp_path)
    begin_elsewhere(stage, is_asked=True)

    async def body(shown):
        await shown.press("w")
        rows = [row for row in shown.approvals.rows if row.verb == "trust"]
        assert [(row.target, row.folder) for row in rows] == [("~/pipes", "pipes")]
        shown.approvals.queue.put_cursor(rows[0].id)
        await shown.settle()
        assert "trust  ~/pipes" in shown.text
        await shown.press("ctrl+t")
        assert stage.journal.trust(str(stage.root / "pipes")) is not None

    play(stage, body, size=(160, 40))


def test_the_strictest_folder_says_whether_all_must_be_seen(two):
    class Strict(Backend):
        def requires_seen(self):
            return True

    async def body(shown):
        shown.main.context.tasks.read_asks()
        await shown.settle()
        assert not shown.approvals.choosing.requires_seen
        await shown.press("w")
        assert shown.approvals.choosing.requires_seen

    def of(workspace):
        return Strict() if workspace.endswith("pipes") else loose

    loose = services(two, requires_seen=lambda: False)
    play(two, body, requires_seen=lambda: False, of=of)


# --- folders that are gone ------------------------------------------------------------------------

GONE = "~/pipes is gone. Put it back, or reject what waits."


def test_rows_of_a_folder_that_is_gone_stay_and_cannot_be_approved(two):
    async def body(shown):
        await shown.press("w")
        row = shown.row("docs/pipes.md")
        assert row.state_word == "folder is gone"
        shown.approvals.queue.put_cursor(row.id)
        await shown.settle()
        assert "folder is gone  ~/pipes" in shown.text
        await shown.press("a")
        assert shown.said == f"Not approved. {GONE}"
        assert shown.state(two.there) == "pending"
        assert "folder is gone" not in {one.state_word for one in shown.approvals.rows if one.id != row.id}
        await shown.press("r")
        assert shown.state(two.there) == "rejected"

    play(two, body, folder_problem=lambda path: GONE if path.endswith("pipes") else "")


def test_a_folder_that_comes_back_can_be_answered_again(two):
    gone = {"pipes"}

    async def body(shown):
        await shown.press("w")
        assert shown.row("docs/pipes.md").state_word == "folder is gone"
        gone.clear()
        shown.main.context.folders.look()
        await shown.settle()
        assert shown.row("docs/pipes.md").state_word == ""
        shown.approvals.queue.put_cursor(two.there.id)
        await shown.settle()
        await shown.press("a")
        assert shown.state(two.there) == "approved"

    play(two, body, folder_problem=lambda path: GONE if gone and path.endswith("pipes") else "")


def test_nothing_is_sent_to_an_agent_whose_folder_is_gone(two):
    async def body(shown):
        await shown.press("w")
        shown.approvals.queue.put_cursor(two.there.id)
        await shown.press("1", "i", *"go", "enter")
        assert shown.main.composer.text == "go"
        two.session_id = two.other
        assert [body.text for body in two.bodies(PromptSubmitted)] == ["work there"]

    play(two, body, folder_problem=lambda path: GONE if path.endswith("pipes") else "")
