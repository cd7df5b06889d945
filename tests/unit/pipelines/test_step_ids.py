"""No two programs of a run have one id: a machine that knows them by it never gives an old result back."""

from tests.unit.pipelines.projects import MANIFEST
from workbench.domain.step_messages import StepEvent
from workbench.pipelines.executor import StepMachine
from workbench.pipelines.step_process import ProcessEnd

PASSED = '{"type": "result", "result": "{\\"verdict\\": \\"pass\\", \\"summary\\": \\"fine\\"}"}\n'


class Remembering:
    """A machine that runs nothing, and remembers how each id ended: contracts fail in the first attempt."""

    def __init__(self):
        self.started, self.ends = [], {}

    def __call__(self, here):
        return StepMachine(workspaces=here.workspaces, processes=self)

    async def start(self, job):
        self.started.append(job.id)
        is_bad = job.id.part == "contract-2" and job.id.attempt == 1
        self.ends.setdefault(job.id, ProcessEnd(code=1 if is_bad else 0))
        return Remembered(self.ends[job.id], PASSED if job.id.part.startswith("review") else "")

    async def find(self, step, started):
        return None

    def leave(self): ...


class Remembered:
    started = StepEvent(kind="progress")

    def __init__(self, end, text):
        self.end, self.text = end, text

    def abandon(self): ...

    async def follow(self, on_output, on_stdout, stop):
        (on_stdout or on_output)(self.text.encode())
        return self.end


STEPS = """
  - id: a
    retry: {max_attempts: 2}
    exec: {type: command, source: "true"}
    handover:
      contracts:
        - {type: test_suite, command: one}
        - {type: test_suite, command: two}
        - {type: agent_review, persona: reader, criteria: it is there}
        - {type: agent_review, persona: reader, criteria: it is good}
"""


def test_every_program_of_an_attempt_has_an_id_of_its_own(runs):
    here, machine = runs(manifest=MANIFEST.replace("binary: workbench", "binary: x")), Remembering()
    row = here.run(STEPS, machine=machine)
    assert (row.status, row.error_message) == ("completed", "")
    assert len(set(machine.started)) == len(machine.started)
    parts = [(step.attempt, step.part) for step in machine.started]
    assert parts == [
        (1, ""), (1, "contract-1"), (1, "contract-2"),
        (2, ""), (2, "contract-1"), (2, "contract-2"), (2, "review"), (2, "review-2"),
    ]  # fmt: skip
    outcomes = [body.outcome for _, body in here.bodies(row.pipeline_id, "contract.checked")]
    assert outcomes == ["passed", "failed", "passed", "passed", "passed", "passed"]
