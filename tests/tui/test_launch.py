"""The launch form: the dry run is read before anything runs, grants are taken one by one, enter begins it."""

import io

import pytest
from msgspec.structs import replace

from tests.support.waits import until_true
from tests.tui.screens import counted
from tests.tui.test_pipeline_pane import play as play
from workbench.backend.runs import LocalRuns
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.domain.events import RunRequested
from workbench.domain.values import StepPlan
from workbench.tui.backend import BackendError
from workbench.tui.pipeline.graph_picture import LARGE_GRAPH_STEPS
from workbench.views.pipeline import GrantOffer, LaunchPlan, LaunchProblem, PipelineChoice, PlannedStep

MANIFEST = """\
apiVersion: v1
kind: WaveManifest
metadata: {name: shop}
adapters:
  own: {binary: workbench, mode: headless}
  other: {binary: "true", mode: headless}
personas:
  planner:
    adapter: own
    system_prompt_file: planner.md
    permissions: {allowed_tools: ["Read", "Bash(git log *)", "Telepathy"]}
  guest: {adapter: other, system_prompt_file: planner.md}
runtime: {max_concurrent_workers: 2}
"""
NIGHTLY = """\
kind: WavePipeline
metadata: {name: nightly, description: builds and releases}
input: {source: cli, example: the login page}
steps:
  - id: plan
    persona: planner
    exec: {type: prompt, source: "Plan it for {{ input }}."}
  - {id: look, persona: guest, exec: {type: prompt, source: Look at it.}}
  - {id: build, type: command, script: make all, dependencies: [plan, look]}
  - id: release
    type: gate
    dependencies: [build]
    gate: {type: approval, prompt: Release it?, choices: [{key: y, label: Release}, {key: n, label: Stop}]}
"""
BROKEN = """\
kind: WavePipeline
metadata: {name: broken}
steps:
  - {id: a, type: command, script: make, dependencies: [b]}
  - {id: b, type: command, dependencies: [nobody]}
"""


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "shop" / ".wave" / "pipelines"
    folder.mkdir(parents=True)
    (tmp_path / "shop" / "wave.yaml").write_text(MANIFEST)
    (tmp_path / "shop" / "planner.md").write_text("You plan.")
    (folder / "nightly.yaml").write_text(NIGHTLY)
    (folder / "broken.yaml").write_text(BROKEN)
    return tmp_path / "shop"


CHOICES = (
    PipelineChoice(name="broken", file="/w/broken.yaml", steps=2, is_broken=True),
    PipelineChoice(name="nightly", file="/w/nightly.yaml", description="builds and releases", steps=2),
)
NIGHTLY_PLAN = LaunchPlan(
    name="nightly",
    file="/w/nightly.yaml",
    input_hint="for example the login page",
    steps=(
        PlannedStep(
            id="plan", wave=1, kind="prompt", who="planner", does="Plan it.", asks="asks before its calls",
            is_asking=True, facts="30 min",
        ),
        PlannedStep(
            id="build", wave=2, kind="command", who="command", does="make all", asks="runs without asking",
            is_asking=False,
        ),
    ),
    plans=(StepPlan(id="plan"), StepPlan(id="build", kind="command", needs=("plan",))),
    grants=(
        GrantOffer(pattern="Read", whose="planner", origin="wave.yaml:9"),
        GrantOffer(pattern="Bash(git log *)", whose="planner", origin="wave.yaml:9"),
        GrantOffer(pattern="Telepathy", whose="planner", origin="wave.yaml:9", refused="it is not registered"),
    ),
)  # fmt: skip
BROKEN_PLAN = LaunchPlan(
    name="broken", file="/w/broken.yaml", why_not="there is no step nobody",
    findings=(LaunchProblem(place="broken.yaml:5:36", message="there is no step nobody", stops=True),),
)  # fmt: skip


class Service:
    """Plans as they are above; remembers what it was asked to begin."""

    def __init__(self, refusal="", nightly=None):
        self.begun, self.refusal, self.nightly = [], refusal, nightly

    def plan(self, file):
        return BROKEN_PLAN if "broken" in file else self.nightly or NIGHTLY_PLAN

    def launch(self, wish):
        if self.refusal:
            raise BackendError(self.refusal)
        self.begun.append(wish)
        return "run-1"

    def services(self):
        return {
            "pipeline_choices": lambda: CHOICES, "launch_plan": self.plan, "launch": self.launch,
            "pipeline_names": lambda: ["nightly", "broken"],
        }  # fmt: skip


async def slowly(s, *keys):
    for key in keys:
        s.hand.waits()
        await s.press(key)


def test_without_a_run_the_pane_says_which_key_starts_one(play):
    async def body(s):
        assert "found, L starts one" in s.text  # in the title: the pane is folded
        await s.press("z")
        assert "L   start one" in s.text

    play(body, None, **Service().services())


def test_the_form_shows_problems_with_their_places_and_begins_nothing(play):
    service = Service()

    async def body(s):
        await slowly(s, "L", "enter", "enter")
        assert "broken.yaml:5:36" in s.text
        assert "No run can start: there is no step nobody" in s.text
        assert service.begun == []

    play(body, None, **service.services())


def test_the_pipeline_of_the_run_on_show_is_chosen_and_its_dry_run_shown(play):
    service = Service()

    async def body(s):
        await slowly(s, "L")
        for words in (
            "dry run, nothing has run",
            "asks before its calls",
            "runs without asking",
            "0 of 3 granted",
            "for example the login page",
            "never    planner  wave.yaml:9  it is not registered",
        ):
            assert words in s.text, words

    play(body, **service.services())


def test_input_and_grants_go_with_the_run_and_it_is_shown(play):
    service = Service()

    async def body(s):
        await slowly(s, "L", "i", *"the cart", "enter", "G", "k", "space", "G", "space")
        assert "Telepathy is never granted: it is not registered." in s.text
        await slowly(s, "k", "enter")
        (wish,) = service.begun
        assert (wish.file, wish.input, wish.grants) == ("/w/nightly.yaml", "the cart", ("Bash(git log *)",))
        assert s.main.place == 4
        assert "nightly #41 has started." in s.main.rule.said

    play(body, **service.services())


def test_what_was_typed_stands_in_the_steps(play):
    plan = replace(NIGHTLY_PLAN.steps[0], does="Plan it for {{ input }}.")
    service = Service(nightly=replace(NIGHTLY_PLAN, steps=(plan, *NIGHTLY_PLAN.steps[1:])))

    async def body(s):
        await slowly(s, "L")
        assert "Plan it for {{ input }}." in s.text
        await slowly(s, "i", *"the cart")
        assert "Plan it for the cart." in s.text

    play(body, **service.services())


def test_a_missing_input_is_asked_for_once(play):
    service = Service(nightly=replace(NIGHTLY_PLAN, input_steps=("plan",)))

    async def body(s):
        await slowly(s, "L", "enter")
        assert "No input, and plan uses it: enter again starts without" in s.text
        assert service.begun == []
        await slowly(s, "enter")
        assert [wish.input for wish in service.begun] == [""]

    play(body, **service.services())


def test_an_input_that_was_typed_is_not_asked_for(play):
    service = Service(nightly=replace(NIGHTLY_PLAN, input_steps=("plan",)))

    async def body(s):
        await slowly(s, "L", "i", "x", "enter", "enter")
        assert [wish.input for wish in service.begun] == ["x"]

    play(body, **service.services())


def test_all_grants_are_taken_and_left_by_one_key(play):
    service = Service()

    async def body(s):
        await slowly(s, "L", "T", "enter")
        assert service.begun[0].grants == ("Read", "Bash(git log *)")
        await slowly(s, "L", "T", "T", "enter")
        assert service.begun[1].grants == ()

    play(body, **service.services())


def test_keys_typed_ahead_begin_nothing(play):
    service = Service()

    async def body(s):
        await s.pilot.press("L", "enter", "T", "enter")
        await counted(s.app)
        await s.settle()
        assert service.begun == []
        await s.press("L")
        s.hand.waits(-0.5)
        await s.pilot.press("enter")
        await counted(s.app)
        await s.settle()
        assert service.begun == []
        await slowly(s, "escape")
        assert "Start a pipeline" not in s.text

    play(body, **service.services())


def test_a_refusal_stays_in_the_form(play):
    async def body(s):
        await slowly(s, "L", "enter")
        assert "Nothing acts here." in s.text
        assert "Start a pipeline" in s.text

    play(body, **Service("Nothing acts here.").services())


def test_input_of_several_lines_comes_from_the_editor(play):
    service = Service()

    async def body(s):
        await slowly(s, "L", "ctrl+o")
        assert "one  (and 1 lines more)" in s.text
        await slowly(s, "enter")
        assert service.begun[0].input == "one\ntwo"

    play(body, open_editor=lambda name, data: b"one\ntwo\n", **service.services())


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 36), (160, 48)])
def test_every_size_shows_keys_and_steps(play, size):
    async def body(s):
        await slowly(s, "L", "tab", "tab", "j")
        assert "enter start" in s.text
        assert "build" in s.text

    play(body, size=size, **Service().services())


LONG_PLAN = LaunchPlan(
    name="nightly",
    file="/w/nightly.yaml",
    steps=(
        PlannedStep(
            id="links", wave=1, kind="command", who="command", does="echo broken link: docs/api.md; exit 3",
            asks="runs without asking", is_asking=False, facts="2 attempts  then warn  10 min",
        ),
        PlannedStep(
            id="release", wave=2, kind="gate", who="gate", does="Publish tonight?",
            asks="asks you: publish / not yet", is_asking=True,
        ),
    ),
    plans=(StepPlan(id="links", kind="command"), StepPlan(id="release", kind="gate", needs=("links",))),
    grants=NIGHTLY_PLAN.grants,
)  # fmt: skip


def test_nothing_is_cut_where_there_is_room_and_columns_begin_below_each_other(play):
    async def body(s):
        await slowly(s, "L")
        links, release = (
            next(line for line in s.text.splitlines() if f" {name} " in line and mark in line)
            for name, mark in (("links", "attempts"), ("release", "asks you"))
        )
        assert "echo broken link: docs/api.md; exit 3" in links
        assert "2 attempts  then warn  10 min" in links
        assert "asks you: publish / not yet" in release
        assert links.index("echo broken") == release.index("Publish tonight?")
        assert links.index("runs without") == release.index("asks you")

    service = Service()
    service.plan = lambda file: LONG_PLAN
    play(body, size=(160, 48), **service.services())


def test_what_the_marked_step_does_is_wrapped_below_the_plan_and_its_graph_is_centred(play):
    task = (
        "Plan the release and write down what changed, who is touched by it and in which order it goes. " * 3
    )
    plan = replace(NIGHTLY_PLAN, steps=(replace(NIGHTLY_PLAN.steps[0], does=task), NIGHTLY_PLAN.steps[1]))

    async def body(s):
        await slowly(s, "L", "tab", "tab")
        prompt, graph = s.main.app.screen.query_one("#launch-prompt"), s.main.app.screen._graph
        rows = [line[prompt.region.x : prompt.region.right] for line in s.text.splitlines()]
        first, second = rows[prompt.region.y : prompt.region.bottom]
        assert first.startswith("    plan  Plan the release and write down")
        assert second.rstrip().endswith("…")
        assert s.text.count("builds and releases") == 1
        assert "2 pipelines" in s.text
        left = graph.region.x - prompt.region.x
        assert abs(left - (prompt.region.right - graph.region.x - graph.picture.width)) <= 1
        assert "may ask you" in s.text
        (row,) = (line for line in s.text.splitlines() if "□ Read" in line)
        assert "asks     planner  wave.yaml:9" in row

    play(body, size=(160, 48), **Service(nightly=plan).services())


@pytest.mark.spec(89)
def test_the_form_says_what_the_manifest_says_of_its_project(play):
    async def body(s):
        await slowly(s, "L")
        assert "shop: sells things  (https://example.org/shop)" in s.text

    service = Service()
    service.plan = lambda file: replace(
        NIGHTLY_PLAN, project="shop: sells things  (https://example.org/shop)"
    )
    play(body, size=(120, 36), **service.services())


def test_only_the_bar_marks_the_choice_and_groups_stand_apart(play):
    async def body(s):
        await slowly(s, "L")
        form = s.text.split("Start a pipeline")[1]
        chosen = next(line for line in form.splitlines() if "builds and releases" in line)
        assert "▌" in chosen
        assert "●" not in chosen
        lines = form.splitlines()
        grants = next(number for number, line in enumerate(lines) if "What agents may do" in line)
        assert lines[grants - 1].strip("│ ") == ""

    play(body, **Service().services())


@pytest.mark.parametrize(("size", "is_drawn"), [((160, 48), True), ((80, 22), False)])
def test_the_graph_of_what_would_run_stands_where_there_is_room(play, size, is_drawn):
    async def body(s):
        await slowly(s, "L", "tab", "tab", "j")
        graph = s.app.screen._graph
        assert bool(graph.display) == is_drawn
        if is_drawn:
            assert graph.cursor == "build"
            assert graph.virtual_size.height <= graph.size.height
            lines = graph.render_lines(graph.size.region)
            assert any("plan" in line.text and "build" in line.text for line in lines)

    play(body, size=size, **Service().services())


def chain(count, name="step"):
    """Return steps that need one another in turn: their graph is wider than any form."""
    needs = ((), *((f"{name}-{number}",) for number in range(count - 1)))
    return tuple(StepPlan(id=f"{name}-{number}", needs=before) for number, before in enumerate(needs))


async def left_out(s):
    """Wait for the graph to be hidden: the form and the graph are laid out by events of their own."""
    await until_true(lambda: s.app.screen.plan and not s.app.screen._graph.display, s.pilot.pause)


def test_a_graph_that_does_not_fit_is_left_out(play):
    async def body(s):
        await slowly(s, "L")
        await left_out(s)
        assert "runs without asking" in s.text

    service = Service()
    service.plan = lambda file: replace(NIGHTLY_PLAN, plans=chain(200))
    play(body, size=(120, 36), **service.services())


@pytest.mark.parametrize(("count", "name"), [(LARGE_GRAPH_STEPS, "step"), (LARGE_GRAPH_STEPS + 1, "stop")])
def test_a_graph_that_needs_the_same_room_as_the_one_before_is_left_out_too(play, count, name):
    """The same steps are not drawn anew; for others in a thread the form is not laid out anew."""

    async def body(s):
        await slowly(s, "L")
        await left_out(s)
        await slowly(s, "up")
        await until_true(lambda: "again" in s.text, s.pilot.pause)
        await left_out(s)

    service = Service()
    service.plan = lambda file: (
        replace(NIGHTLY_PLAN, plans=chain(count, name), input_hint="again")
        if "broken" in file
        else replace(NIGHTLY_PLAN, plans=chain(count))
    )
    play(body, size=(120, 36), **service.services())


def test_a_graph_is_not_left_out_for_the_room_that_the_plan_before_had_left(play):
    """The first plan has more rows, so its graph has less room; the second graph fits only into what it gets."""

    async def body(s):
        await slowly(s, "L")
        graph = s.app.screen._graph
        await until_true(lambda: graph.display and graph.picture, s.pilot.pause)
        less = graph.size.height
        await slowly(s, "up")
        await until_true(lambda: graph.picture and len(graph.picture.places) == 16, s.pilot.pause)
        await s.settle()
        assert graph.display and graph.size.height > less
        assert less < graph.virtual_size.height <= graph.size.height, "else the test shows nothing"

    rows = tuple(replace(NIGHTLY_PLAN.steps[1], id=f"row-{number}") for number in range(14))
    wide = tuple(StepPlan(id=f"step-{number}") for number in range(16))
    service = Service()
    service.plan = lambda file: (
        replace(NIGHTLY_PLAN, plans=wide) if "broken" in file else replace(NIGHTLY_PLAN, steps=rows)
    )
    play(body, size=(160, 48), **service.services())


def test_nothing_found_is_said(play):
    async def body(s):
        await slowly(s, "L")
        assert "No pipeline was found" in s.main.rule.said

    play(body, None)


# --- the service over a real project -------------------------------------------------------------


@pytest.fixture
def launching(project, tmp_path):
    from workbench.journal.home import Home
    from workbench.journal.journal import Journal

    home = Home.open(tmp_path / "own")
    journal = Journal.open(home)
    yield LocalRuns(home, journal, str(project)), journal
    journal.close()


def trusted(journal, project):
    from tests.support.stage import USER
    from workbench.host.workspace_trust import grant_trust

    grant_trust(journal, str(project), False, USER)


def test_a_plan_says_who_asks_and_what_may_be_granted(launching, project):
    service, journal = launching
    trusted(journal, project)
    assert [(one.name, one.steps) for one in service.pipeline_choices()] == [("broken", 2), ("nightly", 4)]
    plan = service.launch_plan(str(project / ".wave/pipelines/nightly.yaml"))
    assert plan.input_steps == ("plan",)
    assert plan.why_not == ""
    assert [(one.wave, one.id, one.who, one.asks) for one in plan.steps] == [
        (1, "plan", "planner", "asks before its calls; 3 may be granted"),
        (1, "look", "guest", "true decides by itself what it does"),
        (2, "build", "command", "runs without asking"),
        (3, "release", "gate", "asks you: Release / Stop"),
    ]
    assert [(one.pattern, one.whose, bool(one.refused)) for one in plan.grants] == [
        ("Read", "planner", False),
        ("Bash(git log *)", "planner", False),
        ("Telepathy", "planner", True),
    ]
    assert plan.input_hint == "for example the login page"
    assert plan.project == ""


@pytest.mark.spec(89)
def test_a_plan_says_what_the_manifest_says_of_its_project(launching, project):
    service, journal = launching
    trusted(journal, project)
    manifest = project / "wave.yaml"
    manifest.write_text(f"{manifest.read_text()}\nrepo: https://example.org/shop\n")
    plan = service.launch_plan(str(project / ".wave/pipelines/nightly.yaml"))
    assert plan.project.endswith("  (https://example.org/shop)")


def test_a_plan_has_the_edges_of_its_graph(launching, project):
    services, _ = launching
    plan = services.launch_plan(str(project / ".wave" / "pipelines" / "nightly.yaml"))
    assert {step.id: step.needs for step in plan.plans}["build"] == ("plan", "look")


def test_a_timer_waits_and_asks_nobody_here_and_on_the_command_line(launching, project):
    service, journal = launching
    file = project / ".wave/pipelines/later.yaml"
    gate = "{id: pause, gate: {type: timer, timeout: 5s}}"
    file.write_text(f"kind: WavePipeline\nmetadata: {{name: later}}\nsteps:\n  - {gate}\n")
    trusted(journal, project)
    (step,) = service.launch_plan(str(file)).steps
    assert (step.asks, step.is_asking, step.facts) == ("waits 5 s", False, "")
    out = io.StringIO()
    dispatch(["pipeline", "run", str(file), "--dry-run", "-C", str(project)], Console(out, io.StringIO()))
    assert "pause                    waits 5 s\n" in out.getvalue()


def test_a_broken_pipeline_is_shown_with_line_and_column(launching, project):
    service, journal = launching
    trusted(journal, project)
    plan = service.launch_plan(str(project / ".wave/pipelines/broken.yaml"))
    assert plan.why_not
    places = {one.place for one in plan.findings if one.stops}
    assert all(place.startswith(".wave/pipelines/broken.yaml:") for place in places)
    assert len(places) >= 2


def test_an_untrusted_workspace_begins_nothing_and_says_so(launching, project):
    service, _ = launching
    assert "not trusted" in service.launch_plan(str(project / ".wave/pipelines/nightly.yaml")).why_not


def test_a_launch_is_a_request_with_its_grants(launching, project, monkeypatch):
    from workbench.views.pipeline import LaunchRequest

    service, journal = launching
    trusted(journal, project)
    (project / "what.md").write_text("the cart")
    file = str(project / ".wave/pipelines/nightly.yaml")
    run_id = service.launch(LaunchRequest(file=file, input="@what.md", grants=("Read",)))
    wanted = next(e.body for e in journal.events(run_id) if isinstance(e.body, RunRequested))
    assert (wanted.input, wanted.grants) == ("the cart", ("Read",))
    assert [rule.pattern for rule in journal.rules()] == ["Read"]
    with pytest.raises(BackendError, match="There is no file"):
        service.launch(LaunchRequest(file=file, input="@nothing.md"))
