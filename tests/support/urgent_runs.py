"""Eight runs in which something waits, failed or runs: what must be seen of them within five seconds."""

from tests.support.drawn_runs import Written
from workbench.domain.events import RunChanged
from workbench.domain.values import StepPlan

TIMES = {
    "checkout": 1.4, "deps": 1, "lint": 2, "types": 3, "build-api": 4, "build-web": 6.1, "build-docs": 3,
    "review": 50, "e2e": 70, "scan": 60, "links": 1, "bundle": 1, "publish": 12, "notes": 8,
}  # fmt: skip
SHOP = (
    StepPlan(id="checkout", kind="command"),
    StepPlan(id="deps", kind="command", needs=("checkout",)),
    StepPlan(id="lint", kind="command", needs=("deps",)),
    StepPlan(id="types", kind="command", needs=("deps",)),
    StepPlan(id="build-api", kind="command", needs=("deps",)),
    StepPlan(id="build-web", kind="command", needs=("deps",)),
    StepPlan(id="build-docs", kind="command", needs=("deps",)),
    StepPlan(id="review", needs=("types", "build-api"), persona="reviewer"),
    StepPlan(id="e2e", kind="command", needs=("build-api", "build-web")),
    StepPlan(id="scan", kind="command", needs=("build-web",)),
    StepPlan(id="links", kind="command", needs=("build-docs",), attempts=2),
    StepPlan(id="bundle", kind="command", needs=("lint", "review", "e2e", "scan", "links")),
    StepPlan(id="release", name="release?", kind="gate", needs=("bundle",)),
    StepPlan(id="publish", kind="command", needs=("release",)),
    StepPlan(id="notes", needs=("release",)),
    StepPlan(id="announce", kind="command", needs=("publish", "notes")),
)
EARLY = ("checkout", "deps", "lint", "types", "build-api", "build-web", "build-docs")


def usual(journal, workspace, plans=SHOP, times=TIMES):
    """An earlier run that completed: it tells how long the steps usually take."""
    run = Written(journal, workspace, plans, run="run-0", number=0)
    for plan in plans:
        run.done(plan.id, times.get(plan.id, 2))
    run.say(RunChanged(status="completed"))
    journal.clock.advance(3_600)


def begun(journal, workspace, done=EARLY, plans=SHOP):
    usual(journal, workspace, plans)
    run = Written(journal, workspace, plans, number=1)
    for step in done:
        run.done(step, TIMES.get(step, 2))
    return run


def tolerated(run, step="links", detail="it ended with exit code 3: 2 links lead nowhere"):
    """A step that fails twice, and its run goes on."""
    run.step(step, "running")
    run.step(step, "retrying", detail=detail, duration_ms=900)
    run.step(step, "running", attempt=2)
    run.step(step, "completed", attempt=2, duration_ms=900, is_warned=True, has_failed=True, detail=detail)


def many_rails(journal, workspace):
    """In its middle: one step asks, one failed and its run goes on, one runs."""
    run = begun(journal, workspace)
    tolerated(run)
    run.done("e2e", 70)
    run.step("scan", "running")
    run.ask("review", target="docs/review.md", minutes=6.9)
    run.journal.clock.advance(41)
    return run


def one_gate(journal, workspace):
    run = begun(journal, workspace, [plan.id for plan in SHOP[:12]])
    run.ask("release", target="Publish tonight?", minutes=8.2)
    return run


def one_failure(journal, workspace):
    run = begun(journal, workspace, [plan.id for plan in SHOP[:8]])
    run.step("e2e", "running", "failed", detail="it ended with exit code 1: test_cart", duration_ms=41_000)
    run.say(RunChanged(status="failed", detail="e2e failed"))
    return run


def folded(journal, workspace):
    """Twenty packages that are alike, and a matrix of which one item asks and one failed."""
    lints = [StepPlan(id=f"lint-{n}", kind="command", needs=("start",)) for n in range(70)]
    plans = (
        StepPlan(id="start"), *lints,
        StepPlan(id="tests", kind="command", needs=("start",), is_matrix=True),
        StepPlan(id="end", needs=(*(plan.id for plan in lints), "tests")),
    )  # fmt: skip
    run = begun(journal, workspace, ["start"], plans)
    for plan in lints[:40]:
        run.done(plan.id)
    run.step("lint-41", "running", "failed", detail="exit 2")
    run.step("tests", "running", items=tuple(f"tests[py3{n}]" for n in range(12)))
    for n, state in enumerate(("completed", "failed", "waiting", "running")):
        run.step(f"tests[py3{n}]", "running", matrix="tests", item=f"py3{n}")
        if state != "running":
            run.step(f"tests[py3{n}]", state, matrix="tests", item=f"py3{n}", duration_ms=9_000)
    return run


def retried(journal, workspace):
    run = begun(journal, workspace)
    run.step("links", "running")
    run.step("links", "retrying", detail="it ended with exit code 3", duration_ms=900)
    run.step("links", "running", attempt=2)
    run.ask("review", target="src/shop/deep/below/router_of_the_whole_shop.py", minutes=3)
    return run


def cancelled(journal, workspace):
    run = begun(journal, workspace)
    run.step("e2e", "running", "failed", detail="the background process was lost", duration_ms=3_000)
    for step in ("scan", "bundle", "release", "publish", "notes", "announce"):
        run.step(step, "cancelled")
    run.say(RunChanged(status="cancelled", detail="by you"))
    return run


def two_hundred(journal, workspace):
    """200 steps in 20 stages of 10, each of which needs two of the stage before."""
    plans = tuple(
        StepPlan(
            id=f"{'abcdefghij'[n]}-stage-{stage}",
            kind="command",
            needs=(f"{'abcdefghij'[n]}-stage-{stage - 1}", f"{'abcdefghij'[n - 1]}-stage-{stage - 1}")
            if stage
            else (),
        )
        for stage in range(20)
        for n in range(10)
    )
    run = begun(journal, workspace, [plan.id for plan in plans[:90]], plans)
    tolerated(run, "a-stage-9")
    run.step("b-stage-9", "running", "failed", detail="it ended with exit code 1", duration_ms=1_000)
    run.ask("c-stage-9", target="deploy/prod.yaml")
    run.step("d-stage-9", "running")
    return run


def done(journal, workspace):
    run = begun(journal, workspace, [plan.id for plan in SHOP])
    run.say(RunChanged(status="completed"))
    return run


RUNS = {
    "gate": one_gate, "failure": one_failure, "rails": many_rails, "folded": folded, "retried": retried,
    "cancelled": cancelled, "large": two_hundred, "done": done,
}  # fmt: skip
