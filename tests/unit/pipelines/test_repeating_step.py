"""A step whose agent repeats itself fails, and its pipeline says what comes after that."""

import pytest

STEP = """
  - id: plan
    persona: reader
    exec: {type: prompt, source: "do {{ input }}"}
"""


def shell(number):
    arguments = {"command": "ls"}
    return {"reply": [{"tool_call": {"id": f"c{number}", "name": "run_in_terminal", "arguments": arguments}}]}


@pytest.mark.spec(137)
def test_a_step_that_repeats_itself_fails_with_the_reason(runs):
    here = runs()
    here.record("plan", *(shell(number) for number in range(7)), {"reply": [{"text": "never said"}]})
    row = here.run(STEP, input="it")
    step = here.step(row.pipeline_id, "plan")
    assert (row.status, step.state) == ("failed", "failed")
    assert "the agent repeated the same call and got the same result" in step.error_message
    assert len(here.journal.calls(step.session_id)) == 5
    assert here.journal.session(step.session_id).status == "terminated"


def test_its_retries_decide_what_comes_then(runs):
    here = runs()
    here.record("plan.1", *(shell(number) for number in range(7)))
    here.record("plan.2", {"reply": [{"text": "Done."}]})
    row = here.run(STEP + "    retry: {max_attempts: 2, delay: 1ms}\n", input="it")
    assert row.status == "completed"
    assert here.step(row.pipeline_id, "plan").attempt == 2
