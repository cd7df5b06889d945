"""Refused calls of agent steps: counted from the calls, live, in a replay, and on the command line."""

from tests.unit.pipelines.projects import MANIFEST
from tests.unit.pipelines.test_relay import said
from workbench.cli.console import status_icons_for
from workbench.cli.pipeline_output import refused_by_step, run_report_json, step_line
from workbench.tui.journal_source import JournalSource
from workbench.tui.replay.replay_source import ReplaySource
from workbench.tui.state import ScreenState
from workbench.views.conversation_blocks import StepBlock

STEPS = """\
- id: ceiling
  persona: reader
  exec: {type: prompt, source: Write.}
- id: denied
  persona: builder
  exec: {type: prompt, source: Remove.}
- id: asked
  persona: builder
  exec: {type: prompt, source: Write twice.}
- id: free
  persona: builder
  exec: {type: prompt, source: Say.}
- id: each
  persona: reader
  strategy: {type: matrix, items: [a, b]}
  exec: {type: prompt, source: "Write {{ item }}."}
"""
WRITE = ("c1", "create_file", {"path": "a.md", "content": "a\n"})
REMOVE = ("c1", "run_in_terminal", {"command": "rm a.md"})


def test_refused_calls_are_counted_by_step_however_they_were_refused(runs):
    here = runs(manifest=MANIFEST)
    for step in ("ceiling", "each"):
        here.record(step, said("", WRITE), said("Then not."))
    here.record("denied", said("", REMOVE, ("c2", *REMOVE[1:])), said("Then not."))
    here.record(
        "asked", said("", WRITE, ("c2", "create_file", {"path": "b.md", "content": "b\n"})), said("Half.")
    )
    here.record("free", said("Nothing."))
    run = here.run(STEPS).pipeline_id
    while here.waiting(run):
        verdict = "reject" if here.waiting(run)[0].target == "a.md" else "approve"
        here.answer(run, verdict)
        row = here.drive(run)
    assert row.status == "completed", row.error_message
    refused = refused_by_step(here.journal, run)
    assert refused == {"ceiling": 1, "denied": 2, "asked": 1, "each": 2, "each[a]": 1, "each[b]": 1}
    fields = {
        step["step_id"]: step["refused_calls"] for step in run_report_json(here.journal, row, ())["steps"]
    }
    assert fields == {**refused, "free": 0}
    icons = status_icons_for("utf-8")
    lines = {step: step_line(here.step(run, step), icons, refused[step]) for step in ("asked", "free")}
    assert lines["asked"].startswith("  ! asked") and lines["asked"].endswith(" · 1 call refused")
    assert lines["free"].startswith("  ✓ free") and "refused" not in lines["free"]

    live, replay = (
        JournalSource(here.journal, str(here.root)),
        ReplaySource(here.journal, here.journal.session(run)),
    )
    replay.seek(len(replay.timeline))
    assert live.refused_calls(run) == replay.refused_calls(run) and len(live.refused_calls(run)) == 5
    for source in (live, replay):
        state = ScreenState(source)
        state.load(run)
        view = state.runs.view((), source.now(), run)
        signs = {step.id: step.status[0] for step in view.steps}
        assert signs == {"ceiling": "risk", "denied": "risk", "asked": "risk", "free": "ok", "each": "risk"}
        blocks = {one.step: one.shown_sign for one in state.transcript.blocks if isinstance(one, StepBlock)}
        assert {**blocks, **signs} == blocks
    replay.seek(1)
    assert not replay.refused_calls(run)
