"""Contracts in runs: what agents are told of them, JSON that is repaired, tests that are counted, reviews."""

import json

import pytest

from tests.unit.pipelines.test_relay import said
from workbench.views.event_text import event_line

WRITTEN = 'Here it is:\n```json\n{"a": 1, // first\n}\n```\n'


def writes(line, more="", contract="", name="o", path="o.json"):
    return (
        f"- id: w\n  exec: {{type: command, source: {line!r}}}\n"
        f"  output_artifacts: [{{name: {name}, path: {path}}}]\n"
        f"  handover: {{contract: {{type: json_schema, schema: {{type: object, required: [a]}}{contract}}}}}\n{more}"
    )


READ = """\
- id: r
  dependencies: [w]
  memory: {inject_artifacts: [{step: w, artifact: o, as: o.json}]}
  exec: {type: command, source: cat artifacts/o.json}
  output_artifacts: [{name: seen, source: stdout}]
"""


def artifact(here, run, name):
    (found,) = [b for _, b in here.bodies(run, "artifact.stored") if b.name == name]
    return found


@pytest.mark.spec(101, 104)
def test_mended_json_is_handed_on_and_what_was_written_stays(runs, tmp_path):
    (tmp_path / "written.txt").write_text(WRITTEN)
    here = runs()
    row = here.run(writes(f"cat {tmp_path / 'written.txt'} > o.json", READ))
    assert row.status == "completed", row.error_message
    body = artifact(here, row.pipeline_id, "o")
    assert body.repairs == ("code fence", "words around it", "comment", "trailing comma")
    assert here.journal.blobs.read(body.written_ref) == WRITTEN.encode()
    seen = artifact(here, row.pipeline_id, "seen")
    assert json.loads(here.journal.blobs.read(seen.content_ref)) == {"a": 1}
    assert (here.home.path / "workspaces" / row.pipeline_id / "w" / "o.json").read_text() == WRITTEN
    ((_, check),) = here.bodies(row.pipeline_id, "contract.checked")
    assert (check.outcome, check.repairs) == ("passed", body.repairs)
    (event,) = [e for e in here.journal.events(row.pipeline_id) if e.kind == "contract.checked"]
    assert "repaired: code fence" in event_line(event, None, None)
    here.check()


@pytest.mark.parametrize(
    ("contract", "written", "said"),
    [
        (", allow_recovery: false", WRITTEN, "o.json is not JSON"),
        ("", '{"a": NaN}', "NaN is not JSON"),
        ("", 'so {"b": 1,} it is', "'a' is a required property"),
    ],
)
def test_what_may_not_be_mended_or_is_wrong_all_the_same_fails(runs, tmp_path, contract, written, said):
    (tmp_path / "written.txt").write_text(written)
    here = runs()
    row = here.run(writes(f"cat {tmp_path / 'written.txt'} > o.json", contract=contract))
    assert row.status == "failed" and said in row.error_message
    assert not here.bodies(row.pipeline_id, "artifact.stored")


ASKED = """\
- id: a
  persona: %s
  exec: {type: prompt, source: Look.}
  output_artifacts: [{name: out, path: out.json}]
  handover: {contract: {type: json_schema, schema: {type: object, required: [verdict]}, max_retries: 1}}
"""


def prompts(here, run, step="a"):
    """Return the prompts of the sessions of a run's steps, in order."""
    sessions = sorted(here.journal.sessions(parent_id=run, kinds=("step",)), key=lambda one: one.created_at)
    return [
        "\n".join(e.body.text for e in here.journal.events(one.id) if e.kind == "prompt.submitted")
        for one in sessions
    ]


@pytest.mark.spec(101)
def test_the_agent_is_told_the_contract_and_on_a_retry_what_failed(runs):
    here = runs()
    here.record("a", said("done"))
    row = here.run(ASKED % "builder")
    assert row.status == "failed"
    first, second = prompts(here, row.pipeline_id)
    assert "Required: verdict." in first and '"verdict": "<value>"' in first
    assert "Required: verdict." in second and "out was not left at out.json" in second
    assert "Attempt 2" not in first
