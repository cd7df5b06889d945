"""A gate answered beside its graph: opened by a key, armed, drawn before it is approved, never by typed words."""

import pytest
from msgspec.structs import replace

from tests.support import drawn_runs
from tests.support.drawn_runs import HOST
from tests.tui.screens import counted
from tests.tui.test_pipeline_pane import play as play
from tests.unit.render.test_talk_detail import made, proposal
from tests.unit.views.making import action
from workbench.domain.events import ActionOpened, ActionSuperseded, StepChanged
from workbench.domain.values import Actor, Choice, Decision, StepPlan
from workbench.journal.decisions import decide_action, expire_due_actions
from workbench.tui.approvals.choice_keys import choice_of_letters, shown_choice_keys

ENDS = (Choice(key="yes", label="Deploy"), Choice(key="no", label="Stop"))


async def press(s, *keys):
    """Press keys slowly: each after what stands on the screen could be read."""
    for key in keys:
        s.hand.waits()
        await s.press(key)


def answers(s):
    kinds = ("action.approved", "action.rejected")
    return [event for event in s.run.journal.events() if event.kind in kinds]


def refused(s):
    return [event.body.why for event in s.run.journal.events() if event.kind == "answer.refused"]


def ask_again(s, prompt, action="gate-2"):
    """Let another question stand in for the gate's, as after a restart with another text."""
    journal, now = s.run.journal, s.run.journal.now()
    old = journal.event(
        ActionSuperseded(successor=action, why="refreshed"), s.run.run, HOST, action_id="gate-1"
    )
    body = ActionOpened(
        action_kind="gate", tool=None, target=prompt, digest=f"d-{action}", created_at=now, verb="gate",
        expires_at=now + 60_000_000, prompt=prompt, choices=ENDS, supersedes="gate-1",
    )  # fmt: skip
    journal.append([old, journal.event(body, s.run.run, HOST, step="release", action_id=action)])


def long_question(journal, workspace):
    plans = (StepPlan(id="plan"), StepPlan(id="release", kind="gate", needs=("plan",)))
    run = drawn_runs.Written(journal, workspace, plans)
    run.done("plan")
    run.ask("release", target="\n".join(f"line {number}" for number in range(60)))
    return run


def asking_edit(journal, workspace):
    """A step whose agent wants to change a file."""
    run = drawn_runs.Written(journal, workspace, (StepPlan(id="plan"), StepPlan(id="notes", needs=("plan",))))
    run.done("plan")
    run.step("notes", "running")
    now = journal.now()
    opened = ActionOpened(
        action_kind="tool", tool="create_file", target="notes.md", digest="d-edit", created_at=now,
        expires_at=now + 60_000_000, verb="write",
    )  # fmt: skip
    run.say(StepChanged(state="waiting"), step="notes", action="edit-1")
    run.say(opened, step="notes", action="edit-1")
    return run


def test_a_opens_the_choices_and_a_second_a_gives_the_chosen_one_for_what_was_drawn(play):
    async def body(s):
        await press(s, "a")
        assert (s.main.place, s.pane.is_answering) == (4, True)
        for words in ("release ◆ asks you", "■ Deploy", "a deploy", "enter its row"):
            assert words in s.text, words
        assert answers(s) == []
        await press(s, "a")
        (answer,) = answers(s)
        told = (answer.action_id, answer.body.choice, answer.body.result_digest, answer.body.seen)
        assert told == ("gate-1", "yes", "d-gate-1", "all")
        assert (s.main.place, s.pane.is_answering, s.main.places.is_zoomed) == (4, False, False)

    play(body)


def test_the_keys_of_an_open_gate_do_what_they_say(play):
    async def body(s):
        await press(s, "a", "escape")
        assert (s.main.place, s.pane.is_answering, answers(s)) == (4, False, [])
        await press(s, "a", "enter")
        assert (s.main.place, s.main.approvals.queue.cursor, answers(s)) == (2, "gate-1", [])
        assert not s.main.places.is_zoomed
        await press(s, "4", "a", "l")
        assert "■ Stop" in s.text
        assert "a stop" in s.text
        await press(s, "a")
        assert [answer.body.choice for answer in answers(s)] == ["no"]

    play(body)


@pytest.mark.parametrize(
    ("scopes", "users", "free"),
    [
        (("answer", "approvals", "list"), {}, {"b", "B"}),
        (("gate", "list"), {}, {"b", "B", "d", "m"}),
        (("gate", "list"), {"gate.row": "b"}, {"B", "d", "m"}),
    ],
)
def test_the_keys_of_a_gate_are_free_where_no_other_key_has_them(scopes, users, free):
    keys = ["b", "B", "d", "m", "y", "n", "a", "1", "again", "s", "o", ""]
    choices = tuple(Choice(key=key, label=f"L{key}") for key in keys)
    gate = made(action(kind="gate", target="x?"), proposal(prompt="x?", choices=choices))
    letters = choice_of_letters(gate, scopes, users)
    assert letters == {key: key for key in free}
    shown = shown_choice_keys(gate, "y", letters)
    assert {key: shown[key] for key in ("b", "y", "n", "a")} == {
        "b": "b" if "b" in free else "h×4 a",
        "y": "a",
        "n": "l a",
        "a": "l l a",
    }
    assert choice_of_letters(replace(gate, is_pending=False), scopes, users) == {}
    assert choice_of_letters(replace(gate, kind="question"), scopes, users) == {}


def test_each_answer_of_any_number_shows_its_key():
    choices = tuple(Choice(key=f"c{n}", label=f"L{n}") for n in range(12))
    gate = made(action(kind="gate", target="x?"), proposal(prompt="x?", choices=choices))
    for at, chosen in enumerate(choices):
        for n, (key, shown) in enumerate(shown_choice_keys(gate, chosen.key, {}).items()):
            *moves, last = shown.replace("×", " ").split()
            count = int(moves[1]) if moves[1:] and moves[1].isdigit() else len(moves)
            assert (key, last, count) == (f"c{n}", "a", abs(n - at))
            assert not moves or moves[0] == ("l" if n > at else "h")


def own_keys(journal, workspace):
    """A gate whose file names a key of its own, and keys of ours."""
    choices = (Choice(key="b", label="Ship"), Choice(key="y", label="Wait"), Choice(key="s", label="Stop"))
    plans = (StepPlan(id="plan"), StepPlan(id="release", kind="gate", needs=("plan",)))
    run = drawn_runs.Written(journal, workspace, plans)
    run.done("plan")
    run.ask("release", choices=choices)
    return run


@pytest.mark.parametrize("place", ["4", "2"])
def test_a_gate_is_answered_by_the_key_that_its_file_names(play, place):
    async def body(s):
        await press(s, place, *(["a"] if place == "4" else []), "l")
        # What is taken, or begins words, says which key works instead.
        for words in ("b    □ Ship", "a    ■ Wait", "l a  □ Stop"):
            assert words in s.text, words
        s.hand.waits()
        await s.pilot.press(*"build")
        s.hand.waits()
        assert answers(s) == [] and s.main.composer.text.endswith("build")
        await press(s, "escape", place, *(["a"] if place == "4" else []), "b")
        (answer,) = answers(s)
        assert (answer.action_id, answer.body.choice) == ("gate-1", "b")

    play(body, own_keys)


def test_r_rejects_the_gate(play):
    async def body(s):
        await press(s, "a", "r")
        assert [answer.kind for answer in answers(s)] == ["action.rejected"]

    play(body)


def test_a_key_that_comes_too_early_answers_nothing(play):
    async def body(s):
        await press(s, "a")
        s.hand.at -= 0.4  # as if the second key had been pressed before the choices stood
        await s.pilot.press("a")
        await counted(s.app)
        await s.settle()
        assert answers(s) == []
        assert "Too quick" in s.main.rule.said

    play(body)


def test_a_gate_whose_text_changed_since_it_was_drawn_is_not_answered(play):
    async def body(s):
        await press(s, "a")
        s.main._feed.stop()  # the screen has not heard of it when the key counts
        ask_again(s, "delete everything?")
        await press(s, "a")
        assert answers(s) == []
        assert refused(s) == ["superseded"]

    play(body)


def test_a_gate_that_changes_while_its_key_waits_is_not_answered(play):
    async def body(s):
        await press(s, "a")
        s.hand.waits()
        await s.pilot.press("a")
        assert s.app.guarded.pending_id == "gate.answer"
        ask_again(s, "delete everything?")
        await s.look()
        await counted(s.app)
        await s.settle()
        assert (answers(s), refused(s)) == ([], [])
        assert "the screen changed" in s.main.rule.said
        assert "delete everything?" in s.text
        shown = s.pane.answer
        assert shown.size.height == shown.rows_wanted(s.pane.size.width), "as many rows as it needs, at once"
        await press(s, "a")
        assert [answer.action_id for answer in answers(s)] == ["gate-2"]

    play(body)


def test_an_expired_gate_is_not_answered_and_stays_in_view(play):
    async def body(s):
        await press(s, "a")
        s.run.journal.clock.advance(3_600)
        await press(s, "a")
        assert answers(s) == []
        assert "expired" in s.main.rule.said
        expire_due_actions(s.run.journal)
        await s.look()
        assert "release ◇ expired" in s.text
        await press(s, "a")
        assert answers(s) == []

    play(body)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
def test_what_was_not_drawn_of_a_gate_is_shown_first(play, size):
    async def body(s):
        await press(s, "a")
        assert "line 59" not in s.text
        assert "a see" in s.text
        pressed = 0
        while "line 59" not in s.text or "Deploy" not in s.text:
            await press(s, "a")
            assert answers(s) == []
            pressed += 1
            assert pressed < 20
        await press(s, "a", "a")
        assert len(answers(s)) == 1

    play(body, long_question, size=size)


def test_a_dialog_over_an_open_gate_begins_the_wait_anew(play):
    async def body(s):
        await press(s, "a", "?", "escape")
        s.hand.at -= 0.4
        await s.pilot.press("a")
        await counted(s.app)
        await s.settle()
        assert answers(s) == []

    play(body)


def test_a_focus_that_went_and_came_back_begins_the_wait_anew(play):
    async def body(s):
        await press(s, "a", "i")
        assert s.main.composer.has_focus_within
        await press(s, "escape")
        assert s.pane.is_answering
        s.hand.at -= 0.4
        await s.pilot.press("a")
        await counted(s.app)
        await s.settle()
        assert answers(s) == []

    play(body)


def test_another_pane_closes_the_gate_and_the_room_that_it_took(play):
    async def body(s):
        await press(s, "a")
        assert s.main.places.is_zoomed
        await press(s, "2")
        assert (s.main.place, s.main.places.is_zoomed, s.pane.is_answering) == (2, False, False)
        assert "4 Pipeline" in s.text

    play(body)


def test_a_cursor_that_goes_on_closes_the_gate(play):
    async def body(s):
        await press(s, "a", "n")
        assert s.graph.cursor != "release"
        assert not s.pane.is_answering
        assert answers(s) == []

    play(body)


def test_the_cursor_that_follows_the_run_stays_on_an_open_gate_and_goes_on_after_it(play):
    async def body(s):
        assert (s.graph.cursor, s.graph.follows_run) == ("release", True)
        await press(s, "a")
        action = s.run.journal.action("gate-1")
        said = Decision(action_id="gate-1", verdict="approve", choice="yes")
        assert decide_action(s.run.journal, said, action.digest, Actor(kind="user", via="cli")).ok
        s.run.step("release", "running", "completed", duration_ms=9_000)
        await s.look()
        assert (s.graph.cursor, s.pane.is_answering) == ("release", True)
        await press(s, "escape")
        assert (s.graph.cursor, s.pane.is_answering) == ("docs", False)

    play(body)


@pytest.mark.parametrize("key", ["a", "enter"])
def test_a_step_that_waits_with_an_edit_is_answered_in_its_row(play, key):
    async def body(s):
        assert "a to its row" in s.text
        await press(s, key)
        assert (s.main.place, s.main.approvals.queue.cursor) == (2, "edit-1")
        assert answers(s) == []

    play(body, asking_edit)


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
def test_every_size_shows_question_choices_and_graph(play, size):
    async def body(s):
        await press(s, "a")
        for words in ("release ◆ asks you", "■ Deploy", "□ Stop", "◯ deploy"):
            assert words in s.text, words

    play(body, size=size)
