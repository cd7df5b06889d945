"""Runs that failed because a question was not answered: a recorded fact, whatever the messages say."""

import pytest

from workbench.cli.errors import EXIT_FAILED, EXIT_UNANSWERED
from workbench.cli.pipeline_driving import pipeline_exit_code
from workbench.domain.values import NOBODY_ASKED
from workbench.host.steps import run_driver
from workbench.journal.decisions import expire_due_actions

GATE = "  - {id: g, gate: {prompt: go?}}\n"
BELOW = "  - {id: p, pipeline: low, input: x}\n"
LOW = f"kind: WavePipeline\nmetadata: {{name: low}}\nsteps:\n{GATE}"
FAILS = '  - {id: s, exec: {type: command, source: "echo the token expired and nobody knows; exit 1"}}\n'


def expire(here, run):
    expire_due_actions(here.journal)


def deny(reason):
    return lambda here, run: here.answer(run, "reject", reason=reason)


@pytest.mark.parametrize(
    ("steps", "answer", "code"),
    [
        (GATE, expire, EXIT_UNANSWERED),
        (BELOW, expire, EXIT_UNANSWERED),
        (GATE, deny(NOBODY_ASKED), EXIT_UNANSWERED),
        (GATE, deny("nobody wants it, and it expired"), EXIT_FAILED),
        (FAILS, None, EXIT_FAILED),
    ],
)
def test_the_exit_code_of_a_failed_run(runs, steps, answer, code, monkeypatch):
    if answer is expire:
        monkeypatch.setattr(run_driver, "approval_window_minutes", lambda *_: 0.0)
    here = runs(files={".wave/pipelines/low.yaml": LOW})
    row = here.run(steps)
    if answer is not None:
        assert row.status == "waiting"
        answer(here, row.pipeline_id)
        row = here.drive(row.pipeline_id)
    assert row.status == "failed"
    assert pipeline_exit_code(here.journal, row, (), is_interrupted=False) == code


def test_a_gate_that_nobody_can_answer(runs):
    here = runs()
    row = here.drive(here.request(here.pipeline(GATE)), can_ask=False)
    assert pipeline_exit_code(here.journal, row, (), is_interrupted=False) == EXIT_UNANSWERED
