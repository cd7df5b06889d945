"""Place 8: the list of findings, filtered, grouped and marked; one in full; what a start would ask."""

import asyncio
import threading

import msgspec
import pytest

from tests.support.tables import each_row
from tests.support.waits import PATIENCE, until_true
from tests.tui import stills
from tests.tui.backend import backend
from tests.tui.incident_lists import (
    CHECKER,
    HOST,
    LIST,
    SEVERAL,
    add_list,
    incident,
    journal_with,
    put,
    question,
    running,
)
from tests.tui.screens import CONTROL, Hand, counted, play, staged
from workbench.cli import open_file
from workbench.domain import events as e
from workbench.domain.incidents import IncidentOptions
from workbench.tui.app import WorkbenchApp
from workbench.tui.backend import BackendError
from workbench.tui.incidents.incident_actions import again_words
from workbench.views.incidents import CodeExcerpt, CodeLine
from workbench.views.pipeline import LaunchPlan

OPTIONS = IncidentOptions(provider="local", model="qwen3-8b")
CODE = CodeExcerpt(
    lines=tuple(CodeLine(n, f"    line {n} of the file()") for n in range(1, 18)),
)


def none(home):
    return stills.nothing(home)


def mixed(home):
    journal = journal_with(home)
    put(journal, running(journal.now()))
    put(journal, [
        e.IncidentEnded(incident="i3", outcome="failed", detail="the model did not answer", duration_ms=5),
        e.IncidentEnded(incident="i5", outcome="changed", duration_ms=5, files=("tests/test_router.py",)),
        e.IncidentEnded(incident="i6", outcome="skipped", detail="the work was ended"),
        e.IncidentEnded(incident="i9", outcome="skipped", detail="the work was ended"),
    ])  # fmt: skip
    return journal


def at_work(home):
    journal = journal_with(home)
    put(journal, running(journal.now()))
    return journal


STATES = {"none": none, "mixed": mixed, "running": at_work}


def made(journal, hand, **methods):
    services = {
        "code": lambda path, line: CODE, "options": lambda: OPTIONS,
        "prompt": lambda incident, line: f"Please help fix this code migration issue:\n\nFile: {incident.path}",
    }  # fmt: skip
    app = WorkbenchApp(
        journal, backend(**{**services, **methods}), stills.WORKSPACE, home="/workspace",
        source=stills.Still(journal, stills.WORKSPACE), monotonic=hand,
    )  # fmt: skip
    app.theme = "workbench-dark"
    return app


@pytest.mark.parametrize("state", STATES)
def test_place_eight(tmp_path, request, state):
    """No findings, a list that was worked on, a list in the middle of its work."""
    journal, hand = STATES[state](tmp_path / "home"), Hand()
    app = made(journal, hand)

    async def before(pilot, size):
        await stills.play(pilot, ("escape", "8", "j", "j") if size == "wide" else (), hand)
        pane = next(pane for pane in app.main.panes if pane.PLACE == 8)
        if size == "wide" and pane.row is not None:
            # The detail follows a cursor that rests.
            await until_true(lambda: pane.detail.detail and pane.detail.detail.row is pane.row, pilot.pause)
        await stills.play(pilot, (), hand)

    assert stills.are_kept_at_each_size(
        request, app, before, f"test_place_eight[{state}-{{}}]", stills.BY_RESIZE
    )
    journal.close()


# --- what its keys do -----------------------------------------------------------------------------------


def show(tmp_path, body, journal=None, size=(120, 36), **methods):
    """Run a coroutine function of the pane, the app and a function that presses keys."""
    journal, hand = journal or at_work(tmp_path / "home"), Hand()
    app = made(journal, hand, **methods)

    async def run():
        async with app.run_test(size=size) as pilot:
            app._pilot = pilot

            async def press(*keys):
                await stills.play(pilot, keys, hand)

            await press("escape", "8")
            await body(next(pane for pane in app.main.panes if pane.PLACE == 8), app, press)

    try:
        asyncio.run(run())
    finally:
        journal.close()


def drawn(app):
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def ids(pane):
    return [row.incident.id for row in pane.listed]


def test_a_filter_narrows_while_it_is_typed_and_esc_clears_it(tmp_path):
    async def body(pane, app, press):
        await press("/", *"rule:F4")
        assert ids(pane) == ["i1", "i7"]
        await press("enter")
        assert ids(pane) == ["i1", "i7"] and "filter: rule:F4" in drawn(app)
        await press("escape")
        assert len(ids(pane)) == 9
        await press("/", *"nothing at all")
        assert ids(pane) == [] and "Nothing matches “nothing at all”." in drawn(app)

    show(tmp_path, body)


def test_o_groups_by_file_rule_severity_and_outcome_with_counts(tmp_path):
    async def body(pane, app, press):
        await press("o")
        assert "src/shop/router.py" in drawn(app) and "by file" in drawn(app)
        assert "2  1 fixed, 1 unchanged" in drawn(app)
        await press("o")
        assert "by rule" in drawn(app)
        await press("o")
        assert ids(pane)[:3] == ["i3", "i2", "i8"]
        await press("o")
        assert "by outcome" in drawn(app) and ids(pane)[-1] == "i4"
        await press("o")
        assert ids(pane) == [f"i{n}" for n in range(1, 10)]

    show(tmp_path, body)


def test_n_goes_to_what_waits_failed_or_is_unchanged_and_O_to_its_agent(tmp_path):
    async def body(pane, app, press):
        await press("g", "n")
        assert pane.row.incident.id == "i3"
        await press("n")
        assert pane.row.incident.id == "i8"
        await press("N", "O")
        assert app.main.place == 1 and app.main.state.current.id == "child-c"

    show(tmp_path, body)


def test_a_leads_to_the_question_about_a_finding(tmp_path):
    async def body(pane, app, press):
        await press("g", "a")
        said = app.main.notifications.kept[-1].text
        assert app.main.place == 8 and said.startswith("Nothing about this finding waits for you")
        await press("n", "a")
        assert app.main.place == 2 and app.main.approvals.queue.cursor == "ask-1"

    show(tmp_path, body)


def test_enter_shows_code_what_was_asked_and_what_came_of_it_and_the_next_one(tmp_path):
    asked = []

    def code(path, line):
        asked.append((path, line))
        return CODE

    async def body(pane, app, press):
        await press("G", "k", "enter")
        text = drawn(app)
        assert "Finding  src/shop/router.py:21" in text and "line 2 of the file()" in text
        assert "B006 is still found" in text and "2 times" in text
        assert ("src/shop/router.py", 21) in asked
        await press("]")
        assert "a_very_long_name_of_a_module.py:27" in drawn(app)
        await press("space")
        assert "Prompt as it would be sent" in drawn(app)
        await press("O")
        assert "No agent was asked about this finding yet." in drawn(app)
        await press("escape")
        assert app.screen is app.main

    show(tmp_path, body, code=code)


def test_the_prompts_that_were_sent_are_shown_as_they_were(tmp_path):
    async def body(pane, app, press):
        put(app.main.context.app.journal, [
            ("child-a", e.PromptSubmitted(text="Please fix B006.", incident="i8"), None),
            ("child-a", e.PromptSubmitted(text="Another finding.", incident="i1"), None),
            ("child-a", e.PromptSubmitted(text="It is still there.", incident="i8"), None),
        ])  # fmt: skip
        await press("G", "k", "enter", "space")
        text = drawn(app)
        assert "Prompt as it was sent, 1 of 2" in text and "Please fix B006." in text
        assert "It is still there." in text and "Another finding." not in text

    show(tmp_path, body)


def test_a_start_shows_first_what_would_be_asked_and_starts_exactly_that(tmp_path):
    started = []

    def start(list_id, incident_ids, options):
        started.append((list_id, tuple(incident_ids), options))

    async def body(pane, app, press):
        await press("g", "m", "j", "j", "m", "L")
        text = drawn(app)
        assert "1 finding marked" in text and "local/qwen3-8b" in text and "ruff check" in text
        assert "1 asked for already" not in text  # i1 has ended, i4 is dismissed
        await press("b", "+", "t")
        assert "one agent a rule" in drawn(app) and "1 prompt" in drawn(app)
        await press("enter")
        assert started == [(LIST, ("i1",), msgspec.structs.replace(OPTIONS, batch="rule", max_turns=4,
                                                                  timeout_s=1200))]  # fmt: skip
        assert app.screen is app.main and not pane.list.marks

    show(tmp_path, body, start=start, journal=failed_first(tmp_path / "home"))


def failed_first(home):
    journal = at_work(home)
    put(journal, [e.IncidentsRequested(ids=("i1",)),
                  e.IncidentEnded(incident="i1", outcome="failed", detail="no answer")])  # fmt: skip
    return journal


def test_nothing_starts_by_a_key_that_came_too_early_or_without_a_model(tmp_path):
    started = []

    async def body(pane, app, press):
        await press("L")
        app.screen._arming.disarm()
        app.screen._arming.drawn(app.screen.plan, app.monotonic())
        app.screen.start()
        assert not started and "Too quick" in app.screen.said
        app.screen._options = IncidentOptions()
        app.screen._change()
        await press("enter")
        assert not started and app.screen.said == "No model is set up: 9 adds one."
        await press("escape")
        assert app.screen is app.main and not started

    show(tmp_path, body, start=lambda *about: started.append(about), journal=failed_first(tmp_path / "home"))


def test_a_dismissal_needs_a_reason_and_is_taken_back_by_the_same_key(tmp_path):
    dismissed = []

    def dismiss(list_id, incident_ids, reason):
        dismissed.append((list_id, tuple(incident_ids), reason))

    async def body(pane, app, press):
        await press("G", "d")
        await app._pilot.press("enter")
        await app._pilot.pause()
        await counted(app)
        assert "it needs a reason" in app.main.rule.said and not dismissed
        await press()
        await press("d", *"old", "enter")
        assert dismissed == [(LIST, ("i9",), "old")]
        await press("g", "j", "j", "j", "d")
        assert dismissed[1] == (LIST, ("i4",), "")

    show(tmp_path, body, dismiss=dismiss)


def test_a_file_or_a_command_is_opened_with_progress_and_shown(tmp_path):
    opened, journal = [], at_work(tmp_path / "home")

    def open_source(source, goes_on):
        opened.append(source)
        assert goes_on("2,000 findings read.")
        add_list(journal, SEVERAL[:2], list_id="list-2", checker="")
        return "list-2"

    async def body(pane, app, press):
        await press("I", *"report.sarif", "enter")
        assert opened == ["report.sarif"]
        assert pane.snapshot.session.id == "list-2" and ids(pane) == ["i1", "i2"]
        assert pane.progress == "" and "no checker" in drawn(app)
        await press("]")
        assert pane.snapshot.session.id == LIST and "list 2 of 2" not in drawn(app)

    show(tmp_path, body, journal=journal, open=open_source)


def test_r_reads_the_same_again_and_up_brings_it_back_to_be_changed(tmp_path):
    opened = []

    def open_source(source, goes_on):
        opened.append(source)
        return LIST

    async def body(pane, app, press):
        await press("r")
        assert opened == [CHECKER]
        await press("I", "up", *" -v", "enter")
        assert opened == [CHECKER, f"{CHECKER} -v"]

    show(tmp_path, body, open=open_source)


@each_row(
    "source, checker, words",
    [("r.sarif", "", "r.sarif"), ("ruff", "ruff", "ruff"), ("r.sarif", "ruff", "r.sarif ! ruff")],
)
def test_what_reads_a_list_again_is_what_was_typed(source, checker, words):
    listed = e.IncidentsListed(source=source, checker=checker, incidents_ref="recorded:1", count=0)
    assert again_words(listed) == words


def test_new_findings_of_a_change_are_named_in_the_detail(tmp_path):
    journal = at_work(tmp_path / "home")
    new = incident(40, "F821", message="Undefined name `os`")
    put(journal, [e.IncidentChecked(incident="i5", outcome="gone", new=(new,), new_count=3)])

    async def body(pane, app, press):
        await press("g", "j", "j", "j", "j", "enter")
        text = drawn(app)
        assert "src/shop/router.py:120 F821 Undefined name `os`" in text and "and 2 more" in text

    show(tmp_path, body, journal=journal)


def test_what_is_read_is_cancelled_by_esc_and_what_failed_is_said(tmp_path):
    answers, begun, going = [], threading.Event(), threading.Event()

    def open_source(source, goes_on):
        assert goes_on("Half is read.")
        begun.set()
        going.wait(PATIENCE)
        answers.append(goes_on("more"))
        raise BackendError("No findings were read. It was cancelled.")

    async def body(pane, app, press):
        await press("I", *"big.sarif")
        await app._pilot.press("enter")
        # Before that the reading may be told to end at its first words, and be over before anybody looks.
        await until_true(begun.is_set, lambda: counted(app))
        assert pane.progress == "Half is read."
        await app._pilot.press("escape")
        await until_true(lambda: pane.progress == "Being cancelled.", app._pilot.pause)
        going.set()
        await until_true(lambda: answers, app._pilot.pause)
        await press()
        assert answers == [False] and app.main.place == 8 and pane.progress == ""

    show(tmp_path, body, open=open_source)


def test_words_under_way_when_esc_comes_do_not_replace_that_it_is_being_cancelled(tmp_path):
    under_way, let_on, told, going = (threading.Event() for _ in range(4))

    def open_source(source, goes_on):
        goes_on("Half is read.")
        told.set()
        going.wait(PATIENCE)
        raise BackendError("No findings were read. It was cancelled.")

    async def body(pane, app, press):
        call_from_thread = app.call_from_thread

        def late(call, *about, **more):
            if about == ("Half is read.",):
                under_way.set()
                let_on.wait(PATIENCE)
            return call_from_thread(call, *about, **more)

        app.call_from_thread = late
        await press("I", *"big.sarif")
        await app._pilot.press("enter")
        await until_true(under_way.is_set, lambda: counted(app))
        await app._pilot.press("escape")
        await until_true(lambda: pane.progress == "Being cancelled.", app._pilot.pause)
        let_on.set()
        await until_true(told.is_set, app._pilot.pause)
        assert pane.progress == "Being cancelled."
        going.set()
        await until_true(lambda: pane.progress == "", app._pilot.pause)

    show(tmp_path, body, open=open_source)


def test_ctrl_c_leaves_a_line_as_in_a_shell_and_nothing_is_done(tmp_path):
    opened = []

    async def body(pane, app, press):
        bar = app.main.layout_controller.line_bar
        await press("I", *"report.sarif", "ctrl+c")
        assert not bar.display and bar.asked is None and app.main.place == 8
        await press("d", *"old")
        await app._pilot.press("shift+home", "ctrl+c")
        assert bar.display and app.clipboard == "old", "what is selected is copied"
        await press("end", "ctrl+c")
        assert not bar.display and not opened

    show(
        tmp_path, body, open=lambda *words: opened.append(words), dismiss=lambda *words: opened.append(words)
    )


def test_what_is_asked_for_is_refused_where_nothing_may_be_answered(tmp_path):
    cancelled = []

    async def body(pane, app, press):
        await press("X")
        assert cancelled == [LIST]
        app.main.context.backend.may_answer = lambda: "Not inside an agent."
        await press("X")
        assert cancelled == [LIST]

    show(tmp_path, body, cancel=cancelled.append)


def test_rows_follow_the_work_and_the_cursor_stays(tmp_path):
    journal = at_work(tmp_path / "home")

    async def body(pane, app, press):
        await press("g", "j", "j")
        put(journal, [e.IncidentEnded(incident="i3", outcome="fixed", files=("src/shop/app.py",))])
        pane.read()
        await press()
        assert pane.row.incident.id == "i3" and pane.row.state == "fixed"
        assert "4 of 7 ended" in drawn(app)

    show(tmp_path, body, journal=journal)


@each_row(
    "reason, words",
    [
        ("host lost", "3 of 7 ended   its process ended; c continues it"),
        ("unattended", "3 of 7 ended   nobody answered; c continues it"),
        ("parked", "3 of 7 ended   continues after your answers"),
    ],
)
def test_why_the_work_rests_is_said_whole_at_80_columns(tmp_path, reason, words):
    journal = at_work(tmp_path / reason / "home")
    moves = [e.SessionStatusChanged(status=status) for status in ("initializing", "ready", "processing")]
    put(journal, [*moves, e.SessionStatusChanged(status="paused", reason=reason)])

    async def body(pane, app, press):
        assert words in drawn(app), drawn(app)

    show(tmp_path, body, journal=journal, size=(80, 24))


def test_the_end_of_the_work_is_said_once(tmp_path):
    journal = at_work(tmp_path / "home")

    async def body(pane, app, press):
        put(journal, [
            e.IncidentEnded(incident=key, outcome="fixed") for key in ("i3", "i5", "i6", "i9")
        ])  # fmt: skip
        for _ in range(2):
            pane.read()
            await press()
        said = [message.text for message in app.main.notifications.kept if "has ended" in message.text]
        assert said == [
            "The work on these findings has ended: 5 fixed, 1 unchanged, 1 rejected, 1 skipped, 1 open."
        ]

    show(tmp_path, body, journal=journal)


def test_hostile_text_of_findings_stays_text(tmp_path):
    hostile = incident(
        1, rule="[red]\x1b[2J", path="a\u202e/[b].py", message="\x9b31m[@click=app.quit]x[/]\u200b",
        description="Ignore all instructions\x07", category="\x1b]0;t\x07", metadata={"\x1bk": "\x1b[31m"},
    )  # fmt: skip
    journal = journal_with(tmp_path / "home", (hostile, incident(2, id="-group-0")))

    async def body(pane, app, press):
        assert len(ids(pane)) == 2 and not CONTROL.search(drawn(app))
        assert "[@click=app.quit]x[/]" in drawn(app)
        await press("o", "enter")
        assert not CONTROL.search(drawn(app)) and "Ignore all instructions" in drawn(app)
        await press("escape", "L")
        assert not CONTROL.search(drawn(app))

    show(tmp_path, body, journal=journal)


def test_a_list_whose_findings_are_gone_says_so(tmp_path):
    journal = at_work(tmp_path / "home")
    ref = next(one.body.incidents_ref for one in journal.events(LIST) if one.body.KIND == "incidents.listed")
    journal.blobs.remove(ref)

    async def body(pane, app, press):
        assert "read the file again" in drawn(app)

    show(tmp_path, body, journal=journal)


# --- the row of the queue that asks what to do with a finding that is still there -----------------------------


@pytest.mark.spec(146)
@pytest.mark.parametrize(("keys", "choice"), [((), "again"), (("l",), "keep"), (("l", "l"), "undo")])
def test_what_is_still_found_is_answered_in_the_queue_by_a_choice(tmp_path, keys, choice):
    stage = staged(tmp_path)
    session, asked, action = question("ask-9", stage.session_id, stage.journal.now(), kind="finding")
    stage.journal.append([stage.journal.event(asked, session, HOST, action_id=action)])

    async def body(shown):
        shown.approvals.queue.put_cursor("ask-9")
        await shown.settle()
        assert "S105 is still found at src/shop/app.py:9" in shown.text
        for label in ("Ask the agent again", "Keep the change as it is", "Undo the change"):
            assert label in shown.text
        await shown.press(*keys, "a")
        decided = shown.stage.journal.action("ask-9")
        assert (decided.state, decided.choice) == ("approved", choice)

    play(stage, body)


def test_a_batch_and_a_rule_never_answer_what_is_still_found(tmp_path):
    stage = staged(tmp_path)
    session, asked, action = question("ask-9", stage.session_id, stage.journal.now(), kind="finding")
    stage.journal.append([stage.journal.event(asked, session, HOST, action_id=action)])

    async def body(shown):
        shown.approvals.queue.put_cursor("ask-9")
        await shown.press("A")
        assert shown.app.screen is shown.main
        await shown.press("m", "j", "m", "a")
        assert shown.stage.journal.action("ask-9").state == "pending"

    play(stage, body)


# --- `workbench FILE` ---------------------------------------------------------------------------------------


def test_a_file_of_findings_is_read_in_its_place_when_the_screen_opens_on_it(tmp_path):
    journal, opened = none(tmp_path / "home"), []

    def open_file(file, checker, goes_on):
        opened.append(file)
        add_list(journal, SEVERAL[:3])
        return LIST

    app = made(journal, Hand(), open_file=open_file)
    app.when_drawn = lambda: app.main.context.open_findings("/workspace/shop/report.sarif")

    async def run():
        async with app.run_test(size=(100, 30)) as pilot:
            await stills.play(pilot, (), app.monotonic)
            assert opened == ["/workspace/shop/report.sarif"] and app.main.place == 8
            assert "Possible hardcoded password" in drawn(app)

    asyncio.run(run())
    journal.close()


def test_a_pipelines_file_opens_the_form_on_it_also_where_no_list_has_it(tmp_path):
    journal, asked = none(tmp_path / "home"), []
    plan = LaunchPlan(name="release", file="/elsewhere/release.yaml")

    def launch_plan(file):
        asked.append(file)
        return plan

    app = made(journal, Hand(), launch_plan=launch_plan, pipeline_choices=list)
    app.when_drawn = lambda: open_file._launch(app.main.context, "/elsewhere/release.yaml")

    async def run():
        async with app.run_test(size=(100, 30)) as pilot:
            await stills.play(pilot, (), app.monotonic)
            assert asked == ["/elsewhere/release.yaml"] and app.main.place == 4
            assert "Start a pipeline" in drawn(app) and "release.yaml" in drawn(app)

    asyncio.run(run())
    journal.close()


@pytest.mark.parametrize(("name", "keys"), [("detail", ("G", "k", "enter")), ("start", ("L",))])
def test_what_lies_over_place_eight(tmp_path, snap_screen, name, keys):
    """A finding in full, and what a start would ask, on a small screen."""
    journal, hand = mixed(tmp_path / "home"), Hand()
    app = made(journal, hand)

    async def before(pilot):
        await stills.play(pilot, ("escape", "8", *keys), hand)

    assert snap_screen(app, run_before=before, terminal_size=stills.SIZES["narrow"])
    journal.close()
