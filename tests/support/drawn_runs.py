"""Runs made of events by hand, for what draws them: a nightly run in the middle, and large ones."""

from workbench.domain.events import (
    ActionOpened,
    ArtifactStored,
    ContractChecked,
    RunRequested,
    RunStarted,
    SessionCreated,
    StepChanged,
)
from workbench.domain.values import Actor, Choice, StepPlan, Usage
from workbench.pipelines.lost_steps import CHOICES

USER = Actor(kind="user", pid=1, via="cli")
HOST = Actor(kind="host", pid=2)
MINUTE = 60_000_000
GATE = (Choice(key="yes", label="Deploy"), Choice(key="no", label="Stop"))

NIGHTLY = (
    StepPlan(id="plan", persona="planner"),
    StepPlan(id="api", needs=("plan",), contract="json_schema"),
    StepPlan(id="web", needs=("plan",), attempts=3),
    StepPlan(id="docs", needs=("plan",), attempts=2, contract="json_schema", persona="writer"),
    StepPlan(id="tests", kind="command", needs=("api", "web", "docs"), is_matrix=True),
    StepPlan(id="release", name="release?", kind="gate", needs=("tests",)),
    StepPlan(id="deploy", kind="command", needs=("release",)),
    StepPlan(id="notes", needs=("release",)),
    StepPlan(id="summary", needs=("deploy", "notes")),
)


class Written:
    """A run whose events a test writes one by one."""

    def __init__(self, journal, workspace, plans, *, run="run-1", name="nightly", number=41):
        self.journal, self.run, self.plans = journal, run, plans
        created = SessionCreated(session_kind="pipeline", title=name, workspace=workspace, number=number)
        self.say(created, RunRequested(pipeline=name), actor=USER)
        self.say(RunStarted(pipeline=name, steps=plans))

    def say(self, *bodies, step=None, actor=HOST, action=None):
        made = [self.journal.event(one, self.run, actor, step=step, action_id=action) for one in bodies]
        self.journal.append(made)

    def step(self, step, *states, **more):
        self.say(*(StepChanged(state=state, **more) for state in states), step=step)

    def done(self, step, seconds=4.0, **more):
        self.step(step, "running")
        self.step(step, "completed", duration_ms=round(seconds * 1000), **more)

    def ask(self, step, target="release?", action="gate-1", minutes=14.7, choices=GATE, **more):
        self.step(step, "running")
        self.say(StepChanged(state="waiting", **more), step=step, action=action)
        now = self.journal.now()
        opened = ActionOpened(
            action_kind="gate", tool=None, target=target.partition("\n")[0], digest=f"d-{action}", created_at=now,
            expires_at=now + round(minutes * MINUTE), verb="gate", prompt=target,
            choices=choices,
            subject={"run": self.run, "pipeline": "nightly #41", "step": step},
        )  # fmt: skip
        self.say(opened, step=step, action=action)


def nightly(journal, workspace):
    """Return a run in the middle: three are done, one has only warned, items run, a gate asks."""
    run = Written(journal, workspace, NIGHTLY)
    run.done("plan", usage=Usage(input_tokens=30_000, output_tokens=4_000))
    run.step("api", "running")
    run.say(ContractChecked(contract="json_schema", outcome="passed", source="out/api.json"), step="api")
    run.step("api", "completed", duration_ms=72_000)
    run.step("web", "running")
    run.step("web", "retrying", detail="exit 1", duration_ms=9_000)
    run.step("web", "running", "completed", attempt=2, duration_ms=48_000)
    run.step("docs", "running")
    for attempt in (1, 2):
        if attempt == 2:
            run.step("docs", "retrying", detail="the contract does not hold")
            run.step("docs", "running", attempt=2, workspace="/workspace/.runs/docs")
        problems = ('/pages/3/title: "" is too short', '/pages/7/links/0: "../old#top" is not a uri')
        checked = ContractChecked(
            contract="json_schema",
            outcome="failed",
            source="out/index.json",
            attempt=attempt,
            problems=problems,
        )
        run.say(checked, step="docs")
    stored = ArtifactStored(
        name="index", artifact_kind="file", digest="d", path="out/index.json", type="json", size_bytes=4_200
    )
    run.say(stored, step="docs")
    run.step(
        "docs",
        "completed",
        attempt=2,
        duration_ms=31_000,
        is_warned=True,
        detail="the contract does not hold",
    )
    run.step("tests", "running", items=tuple(f"tests[py3{n}]" for n in range(12)))
    for n in range(12):
        item = f"tests[py3{n}]"
        run.say(StepChanged(state="running", matrix="tests", item=f"py3{n}"), step=item)
        if n < 9:
            run.step(item, "completed", matrix="tests", item=f"py3{n}", duration_ms=41_000)
    run.ask("release")
    return run


def lost(journal, workspace):
    """Return a run that waits, because the process of a command was lost."""
    plans = (
        StepPlan(id="build", kind="command"),
        StepPlan(id="deploy", kind="command", needs=("build",)),
        StepPlan(id="smoke", kind="command", needs=("deploy",)),
    )
    run = Written(journal, workspace, plans, name="ship", number=7)
    run.done("build")
    words = (
        "deploy was running when its process was lost; how it ended is not known\n"
        "the process that ran it ended first\n\nIt printed last:\nuploading 3 of 8 files"
    )
    detail = "its process was lost while it ran, and how it ended is not known"
    run.ask("deploy", words, choices=CHOICES, detail=detail, output="uploading 3 of 8 files\n")
    return run
