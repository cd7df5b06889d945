"""Drivers that end in order: a command continues without one, and a cancel of the run ends it."""

import os

import pytest

from tests.support.runs import USER
from tests.support.waits import until
from workbench.cli.pipeline_driving import running_commands_line
from workbench.effects.child_processes import terminate_leftovers
from workbench.effects.process_table import ProcessIdentity, is_running
from workbench.host.steps.run_requests import cancel_run, resume_run

WAITS = 'echo begun >> count; echo begun; read -r line < {fifo}; echo "$line"; echo ended >> count'
LOW = "kind: WavePipeline\nmetadata: {{name: {name}}}\nsteps:\n  - {step}\n"


class Held:
    """A run with a command that waits for a line, alone or in a pipeline below it."""

    def __init__(self, here, depth):
        self.here, self.fifo = here, here.root / "fifo"
        os.mkfifo(self.fifo)
        source = WAITS.format(fifo=self.fifo)
        step = f"{{id: s, workspace: {{root: ./}}, exec: {{type: command, source: '{source}'}}}}"
        for level in range(depth):
            path = here.root / f".wave/pipelines/low{level}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(LOW.format(name=f"low{level}", step=step))
            step = f"{{id: s, pipeline: low{level}, input: x}}"
        self.run = here.request(here.pipeline(f"  - {step}\n"))

    def printed(self, *_):
        return [text for one in self.runs() for text in self.texts(one)]

    def texts(self, run):
        return [body.text for _, body in self.here.bodies(run, "output.streamed")]

    def runs(self):
        return [row.pipeline_id for row in self.here.journal.pipeline_states()]

    def started(self):
        return [body for one in self.runs() for _, body in self.here.bodies(one, "process.started")]

    def command(self):
        (body,) = self.started()
        return identity_of(body)

    def leave(self):
        """Drive it until the command has begun, and end the driver in order."""
        self.here.drive(self.run, until=self.printed, seconds=20)
        return self.command()


def identity_of(body):
    return ProcessIdentity(pid=body.pid, group=body.group, start_time=body.start_time)


def write_line(fifo):
    """Write without waiting for a reader: the wrong command may be the one that reads."""
    os.write(os.open(fifo, os.O_RDWR | os.O_NONBLOCK), b"the line\n")


@pytest.fixture(params=[0, 2], ids=["own", "two below"])
def held(request, runs):
    held = Held(runs(), request.param)
    yield held
    for body in held.started():
        terminate_leftovers(identity_of(body), body.mark)


def test_a_command_continues_after_its_driver_and_the_next_one_follows_it(held):
    here = held.here
    command = held.leave()
    assert is_running(command)
    resume_run(here.journal, held.run, USER)

    def see(events):
        if any((event.kind, event.session_id) == ("run.started", held.run) for event in events):
            held.fifo.write_text("the line\n")

    row = here.drive(held.run, see=see, seconds=20)
    assert row.status == "completed", row.error_message
    assert here.read("count") == "begun\nended\n"
    assert "".join(held.printed()) == "begun\nthe line\n", "each byte is streamed once"
    assert not is_running(command)


def test_a_command_is_not_run_again_because_another_step_was_changed(held):
    here = held.here
    held.leave()
    above = here.root / "p.yaml"
    above.write_text(above.read_text() + '  - {id: more, exec: {type: command, source: "true"}}\n')
    resume_run(here.journal, held.run, USER, reads_files=True)

    def see(events):
        if any((event.kind, event.session_id) == ("run.started", held.run) for event in events):
            write_line(held.fifo)

    row = here.drive(held.run, see=see, seconds=20)
    assert (row.status, here.states(held.run)["more"]) == ("completed", "completed")
    assert here.read("count") == "begun\nended\n"


def test_a_cancel_ends_what_an_earlier_driver_left(held):
    here = held.here
    command = held.leave()
    cancel_run(here.journal, held.run, USER)
    assert here.drive(held.run, seconds=20).status == "cancelled"
    assert not is_running(command)
    assert here.read("count") == "begun\n"
    assert {here.journal.pipeline_state(one).status for one in held.runs()} == {"cancelled"}
    (end,) = [body for _, body in here.bodies(held.runs()[0], "step.changed") if body.state == "cancelled"]
    assert "what it did until then stays" in end.detail


def test_a_run_without_a_driver_names_the_commands_that_still_run(held):
    command = held.leave()
    line = running_commands_line(held.here.journal, held.run)
    assert line == f"Still running: s. workbench pipeline cancel {held.run[:8]} ends what still runs."
    held.fifo.write_text("the line\n")
    until(lambda: not running_commands_line(held.here.journal, held.run))
    assert not is_running(command)


def test_a_cancel_ends_what_runs(held):
    here, asked = held.here, []

    def ends(_):
        if held.printed() and not asked:
            asked.append(cancel_run(here.journal, held.run, USER))
        return False

    assert here.drive(held.run, until=ends, seconds=20).status == "cancelled"
    assert not is_running(held.command())
    assert here.read("count") == "begun\n"
    assert {here.journal.pipeline_state(one).status for one in held.runs()} == {"cancelled"}


REWORKED = """
  - {{id: s, workspace: {{root: ./}}, exec: {{type: command, source: "echo tried >> tries; exit 1"}},
     retry: {{on_failure: rework, rework_step: mend}}}}
  - {{id: mend, rework_only: true, workspace: {{root: ./}}, exec: {{type: command, source: '{waits}'}}}}
"""


@pytest.fixture
def reworked(runs):
    """A run whose driver ended while a rework step worked."""
    here = runs()
    fifo = here.root / "fifo"
    os.mkfifo(fifo)
    run = here.request(here.pipeline(REWORKED.format(waits=WAITS.format(fifo=fifo))))
    here.drive(run, until=lambda _: here.bodies(run, "output.streamed"), seconds=20)
    yield here, run, fifo
    for _, body in here.bodies(run, "process.started"):
        terminate_leftovers(identity_of(body), body.mark)


def test_a_rework_step_that_works_is_continued_and_its_step_not_run_again(reworked):
    here, run, fifo = reworked
    resume_run(here.journal, run, USER)

    def see(events):
        if any(event.kind == "run.started" for event in events):
            write_line(fifo)

    assert here.drive(run, see=see, seconds=20).status == "completed"
    assert (here.read("count"), here.read("tries")) == ("begun\nended\n", "tried\n")


def test_a_rework_step_that_works_is_ended_where_its_step_starts_again(reworked):
    here, run, _ = reworked
    (begun,) = [body for step, body in here.bodies(run, "process.started") if step == "mend"]
    resume_run(here.journal, run, USER, "s")
    here.drive(run, until=lambda _: here.read("count") == "begun\nbegun\n", seconds=20)
    assert not is_running(identity_of(begun))
    assert here.read("tries") == "tried\n" * 2


def test_a_rework_step_that_was_lost_is_not_run_again_without_an_answer(reworked):
    here, run, _ = reworked
    (job,) = [body for step, body in here.bodies(run, "process.started") if step == "mend"]
    (here.home.path / "jobs" / run / job.mark / "job.json").unlink()
    for _ in range(2):
        resume_run(here.journal, run, USER)
        here.drive(run, until=lambda c: c.is_waiting, seconds=20)
        assert here.states(run) == {"s": "retrying", "mend": "waiting"}
    assert (here.read("count"), here.read("tries")) == ("begun\n", "tried\n")


def test_a_run_that_ends_leaves_no_folder_of_a_command_not_even_of_an_earlier_driver(runs):
    here = runs()
    run = here.request(here.pipeline("  - {id: s, exec: {type: command, source: 'echo x'}}\n"))
    left = here.home.path / "jobs" / run / "left"
    left.mkdir(parents=True)
    (left / "out.0").write_text("printed")
    assert here.drive(run).status == "completed"
    assert not left.parent.exists()
