"""Gates that the pipeline answers itself: `auto`, and `default` once nobody answered in time."""

import pytest

from tests.unit.pipelines.projects import command, project
from workbench.journal.decisions import expire_due_actions
from workbench.pipelines.load import load_pipeline

CHOICES = (
    "choices: [{key: ship, label: Ship it, target: s}, {key: stop, target: _fail}, {key: more, target: a}]"
)


def gate(words, rest=CHOICES):
    return (
        command("a")
        + f"- {{id: g, dependencies: [a], gate: {{prompt: go?, {words}{', ' + rest if rest else ''}}}}}\n"
        + command(
            "s",
            "echo {{ gate.g.choice }}",
            dependencies="[g]",
            output_artifacts="[{name: o, source: stdout}]",
        )
    )


def moves(here, run):
    return [(b.state, b.detail) for s, b in here.bodies(run, "step.changed") if s == "g"]


def said(here, run):
    return [here.journal.blobs.read(b.content_ref) for _, b in here.bodies(run, "artifact.stored")]


@pytest.mark.parametrize(
    ("words", "choice", "status"),
    [("auto: true", b"Ship it\n", "completed"), ("auto: true, default: ship", b"Ship it\n", "completed"), ("auto: true, default: stop", None, "failed")],
)  # fmt: skip
def test_a_gate_with_auto_asks_nobody(runs, words, choice, status):
    here = runs()
    row = here.run(gate(words))
    assert row.status == status
    assert said(here, row.pipeline_id) == ([choice] if choice else [])
    assert not here.bodies(row.pipeline_id, "action.opened")
    assert moves(here, row.pipeline_id)[-1][1].startswith("answered by the pipeline: ")
    here.check()


def test_a_gate_with_auto_and_no_choices_is_passed(runs):
    here = runs()
    row = here.run(
        command("a")
        + "- {id: g, dependencies: [a], gate: {prompt: go?, auto: true}}\n"
        + command("s", dependencies="[g]")
    )
    assert (row.status, moves(here, row.pipeline_id)[-1]) == (
        "completed",
        ("completed", "answered by the pipeline: yes (auto)"),
    )


def test_a_way_back_that_nobody_chose_ends(runs):
    here = runs()
    row = here.run(gate("auto: true, default: more"))
    assert row.status == "failed" and "max_visits is 10" in row.error_message
    assert (
        len(
            [
                b
                for s, b in here.bodies(row.pipeline_id, "step.changed")
                if s == "a" and b.state == "completed"
            ]
        )
        == 10
    )


def test_the_default_counts_once_nobody_answered_in_time(runs):
    here = runs()
    run = here.request(here.pipeline(gate("default: ship, timeout: 1ms")))
    here.drive(run)
    expire_due_actions(here.journal)
    row = here.drive(run)
    assert row.status == "completed", row.error_message
    assert "default, nobody answered in time" in moves(here, run)[-1][1] and said(here, run) == [b"Ship it\n"]
    here.check()


def test_the_default_counts_at_once_where_nobody_can_answer(runs):
    here = runs()
    row = here.drive(here.request(here.pipeline(gate("default: ship"))), can_ask=False)
    assert (row.status, said(here, row.pipeline_id)) == ("completed", [b"Ship it\n"])


def test_a_human_who_answers_in_time_is_heard(runs):
    here = runs()
    run = here.request(here.pipeline(gate("default: ship")))
    here.drive(run)
    here.answer(run, choice="stop")
    assert here.drive(run).status == "failed"


@pytest.mark.parametrize("rest", [CHOICES, ""])
def test_a_default_that_is_no_choice_is_an_error(tmp_path, rest):
    found = load_pipeline(project(tmp_path, gate("default: other", rest))).report.found
    assert "wrong_value" in [problem.code for problem in found]
