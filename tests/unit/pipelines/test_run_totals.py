"""Tokens and money of a run: those of its child sessions, also where steps play recordings."""

import json

from tests.unit.pipelines.test_relay import said
from workbench.cli.console import status_icons_for
from workbench.cli.pipeline_output import run_line
from workbench.tui.journal_source import JournalSource
from workbench.tui.state import ScreenState

STEPS = """\
- id: a
  persona: builder
  exec: {type: prompt, source: Say.}
- id: b
  persona: reader
  exec: {type: prompt, source: Say.}
"""


def test_a_run_counts_the_tokens_of_its_steps_and_prices_the_model_of_a_recording(runs):
    here = runs()
    prices = {"m": {"input_per_million": 1_000, "output_per_million": 0}}
    (here.home.path / "config.json").write_text(json.dumps({"prices": prices}))
    here.record("a", said("One.", tokens=110))
    here.record("b", said("Two.", tokens=210))
    row = here.run(STEPS)
    sessions = here.journal.sessions(parent_id=row.pipeline_id)
    assert {(one.provider, one.model) for one in sessions} == {("recorded", "m")}
    assert (row.usage.total_tokens, row.usage.cost_microdollars) == (320, 300_000)
    assert "320 tok $0.30" in run_line(row, status_icons_for("utf-8"), here.journal.now())
    state = ScreenState(JournalSource(here.journal, str(here.root)))
    state.load(row.pipeline_id)
    assert (state.run_totals.done, state.run_totals.total, state.used_tokens) == (2, 2, 320)
    assert state.runs.view((), here.journal.now()).tokens == 320
    state.choose(next(one.id for one in sessions if one.usage.total_tokens == 110))
    assert (state.run_totals, state.used_tokens) == (None, 110)
