"""A matrix of thousands: only what changed is read and made again, and only what is seen is listed."""

from tests.support import drawn_runs
from tests.tui.test_pipeline_pane import play as play
from workbench.domain.events import RunChanged, StepChanged
from workbench.domain.values import StepPlan
from workbench.effects.clock import ManualClock
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.journal_source import JournalSource, RunEventIndex
from workbench.tui.run_store import RunStore

PLANS = (
    StepPlan(id="list"),
    StepPlan(id="m", needs=("list",), is_matrix=True),
    StepPlan(id="z", needs=("m",)),
)


def many(count):
    def make(journal, workspace):
        run = drawn_runs.Written(journal, workspace, PLANS)
        run.done("list")
        run.step("m", "running", items=tuple(f"m[{n}]" for n in range(count)))
        run.journal.append(
            [
                journal.event(
                    StepChanged(state="running", matrix="m", item=str(n)),
                    run.run,
                    drawn_runs.HOST,
                    step=f"m[{n}]",
                )
                for n in range(count)
            ]
        )
        return run

    return make


def test_ten_thousand_items_are_one_step_and_open_to_eight_lines(play):
    async def body(s):
        await s.press("z", "/", *"m", "enter")
        assert "m (10000)" in s.text
        assert "10000 run" in s.text
        await s.press("space")
        assert "9993 more" in s.text
        s.run.step("m[77]", "failed", matrix="m", item="77", detail="exit 1")
        await s.look()
        rows = [line for line in s.text.splitlines() if "×" in line]
        assert any("77" in line for line in rows)
        await s.press("J")
        assert "● " in s.text
        await s.press("space")
        assert "▼" not in s.text

    play(body, many(10_000))


def opened(tmp_path, count):
    journal = Journal.open(Home.open(tmp_path / "home"), clock=ManualClock())
    run = many(count)(journal, "/w")
    source = JournalSource(journal, "/w")
    return journal, run, source


def test_a_change_reads_the_step_it_is_about_and_makes_the_item_anew(tmp_path):
    journal, run, source = opened(tmp_path, 30)
    runs = RunStore(source)
    runs.load()
    before = runs.view((), journal.now())
    read = []
    real = source.run_step
    source.run_step = lambda *names: read.append(names) or real(*names)
    source.run_steps = None
    run.step("m[7]", "completed", matrix="m", item="7", duration_ms=5_000)
    runs.note(journal.events(run.run)[-1])
    runs.read([run.run])
    after = runs.view((), journal.now())
    assert read == [("run-1", "m[7]")]
    assert (after.steps[1].counts.done, after.steps[1].counts.running) == (1, 29)
    assert (before.steps[1].items[7].state, after.steps[1].items[7].state) == ("running", "completed")
    assert runs.view((), journal.now()).steps[1].items[7] is after.steps[1].items[7]
    journal.close()


def test_the_view_of_rows_read_one_by_one_is_that_of_all_read_anew(tmp_path):
    journal, run, source = opened(tmp_path, 5)
    runs = RunStore(source)
    runs.load()
    runs.view((), journal.now())
    position = journal.last_position()
    journal.clock.advance(9)
    for n, state in ((0, "completed"), (3, "failed"), (4, "cancelled")):
        run.step(f"m[{n}]", state, matrix="m", item=str(n), duration_ms=1_000)
    run.step("m", "failed", detail="one of 5")
    for event in journal.events(run.run, position):
        runs.note(event)
    runs.read([run.run])
    anew = RunStore(source)
    anew.load()
    assert runs.view((), journal.now()) == anew.view((), journal.now())
    journal.close()


def test_a_matrix_has_all_its_items_as_soon_as_its_list_is_known_and_never_grows(tmp_path):
    journal, _run, source = opened(tmp_path, 0)
    watching = RunStore(source)
    watching.load()
    assert watching.view((), journal.now()).steps[1].items == ()
    position = journal.last_position()
    other = drawn_runs.Written(journal, "/w", PLANS, run="run-2", number=42)
    other.done("list")
    other.step("m", "running", items=tuple(f"m[{n}]" for n in range(14)))
    other.say(StepChanged(state="running", matrix="m", item="3"), step="m[3]")
    for event in journal.events(other.run, position):
        watching.note(event)
    watching.read([other.run])
    late = RunStore(source)
    late.load()
    for runs in (watching, late):
        step = runs.view((), journal.now(), other.run).steps[1]
        assert [item.id for item in step.items] == [f"m[{n}]" for n in range(14)]
        assert (step.counts.running, step.counts.todo) == (1, 13)
    journal.close()


def test_events_of_a_step_are_read_once_and_then_only_new_ones(tmp_path):
    journal, run, source = opened(tmp_path, 3)
    asked = []

    def read(session, after, limit):
        found = source.events(session, after, limit)
        asked.append(len(found))
        return found

    events = RunEventIndex(read)
    assert [event.step for event in events.of(run.run, "m")] == ["m", "m[0]", "m[1]", "m[2]"]
    run.step("m[1]", "completed", matrix="m", item="1")
    assert [event.step for event in events.of(run.run, "m")][-1] == "m[1]"
    assert asked[-1] == 1
    assert events.of(run.run, "nothing") == ()
    journal.close()


def test_what_a_matrix_took_before_is_known_although_it_does_no_work_itself(tmp_path):
    journal, run, source = opened(tmp_path, 2)
    journal.clock.advance(20)
    for n in range(2):
        run.step(f"m[{n}]", "completed", matrix="m", item=str(n), duration_ms=9_000)
    run.step("m", "completed")
    run.done("z")
    run.say(RunChanged(status="completed"))
    drawn_runs.Written(journal, "/w", PLANS, run="run-2", number=42)
    runs = RunStore(source)
    runs.load()
    shown = runs.view((), journal.now(), "run-2")
    assert runs.before(shown) == {"list": 4.0, "m": 20.0, "z": 4.0}
    journal.close()


def test_the_times_of_items_that_are_only_counted_stand_beside_their_number(play):
    def make(journal, workspace):
        run = many(12)(journal, workspace)
        for at in range(12):
            more = {"detail": "exit 1"} if at == 3 else {}
            state = "failed" if at == 3 else "completed"
            run.step(f"m[{at}]", state, matrix="m", item=str(at), duration_ms=1000 * (at + 1), **more)
        return run

    async def body(s):
        await s.press("z", "/", *"m", "enter", "space")
        (line,) = [line for line in s.text.splitlines() if "5 more" in line]
        assert line.split("5 more")[1].split()[:3] == ["8.0", "s…12", "s"]

    play(body, make)


def test_a_list_that_stands_in_the_file_is_counted_before_it_is_begun(play):
    def make(journal, workspace):
        plans = (StepPlan(id="first"), StepPlan(id="m", needs=("first",), is_matrix=True, item_count=6))
        run = drawn_runs.Written(journal, workspace, plans)
        run.step("first", "running")
        return run

    async def body(s):
        await s.press("z")
        assert "m (6)" in s.text

    play(body, make)


def test_of_very_many_items_only_those_at_work_or_failed_are_made_and_all_are_counted(tmp_path, monkeypatch):
    from workbench.graph.run_graph import graph_steps
    from workbench.views import pipeline

    journal, run, source = opened(tmp_path, 30)
    for n in range(25):
        run.step(f"m[{n}]", "failed" if n == 3 else "completed", matrix="m", item=str(n))
    runs = RunStore(source)
    runs.load()
    every = runs.view((), journal.now()).steps[1]
    monkeypatch.setattr(pipeline, "MOST_SHOWN_ITEMS", 20)
    few = runs.view((), journal.now()).steps[1]
    assert (few.counts, few.item_count) == (every.counts, every.item_count) == (every.counts, 30)
    assert [item.id for item in few.items] == ["m[3]", *(f"m[{n}]" for n in range(25, 30))]
    structure = graph_steps(runs.view((), journal.now()))
    assert (structure[1].items, structure[1].item_count) == (None, 30)
    run.step("m[26]", "completed", matrix="m", item="26")
    runs.note(journal.events(run.run)[-1])
    runs.read([run.run])
    assert graph_steps(runs.view((), journal.now())) == structure
    journal.close()
