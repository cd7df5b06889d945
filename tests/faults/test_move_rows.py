"""A driver that moves or deletes a file dies at each point: the bytes are always in one of the places."""

import pytest

from tests.faults.test_approval_rows import ends, rests, written
from tests.support.scenarios import Scenario, asked, call
from workbench.domain import events

pytestmark = pytest.mark.faults

MOVE = Scenario(
    name="move",
    script=asked(call("c1", "move_file", path="a.txt", new_path="d/b.txt")),
    files={"a.txt": "a\n"},
    end={"a.txt": None, "d/b.txt": "a\n"},
)
DELETE = Scenario(
    name="delete",
    script=asked(call("c1", "delete_file", path="a.txt")),
    files={"a.txt": "a\n"},
    end={"a.txt": None},
)


@pytest.mark.parametrize(
    ("death", "detail"),
    [
        (("call.executing", 1), "nothing written"),
        (("apply.staged", 1), "nothing written"),
        (("apply.renaming", 1), "nothing written"),
        (("apply.renamed", 1), "rolled back"),
        (("apply.renaming", 2), "rolled back"),
        (("apply.renamed", 2), "recovered"),
        (("apply.done", 1), "recovered"),
        (("call.finished_effect", 1), "recovered"),
    ],
    ids=str,
)
def test_h_dies_while_it_moves_a_file(on_stage, death, detail):
    stage = on_stage(MOVE)
    assert stage.die(death).code == 137
    assert "a\n" in written(stage).values()
    row, session = rests(stage)
    assert (row.detail, session.reason) == (detail, "host lost")
    assert written(stage) == ({"d/b.txt": "a\n"} if detail == "recovered" else {"a.txt": "a\n"})
    with stage.at_work():
        told = [(body.path, body.moved_from) for body in stage.bodies(events.FileChanged)]
    assert told == ([("d/b.txt", "a.txt"), ("a.txt", None)] if detail == "recovered" else [])
    ends(stage)


@pytest.mark.parametrize(
    ("death", "detail"),
    [(("apply.renaming", 1), "nothing written"), (("apply.renamed", 1), "recovered")],
    ids=str,
)
def test_h_dies_while_it_deletes_a_file(on_stage, death, detail):
    stage = on_stage(DELETE)
    assert stage.die(death).code == 137
    row, _ = rests(stage)
    assert row.detail == detail
    assert written(stage) == ({} if detail == "recovered" else {"a.txt": "a\n"})
    ends(stage)
