"""The bundled example: it can be played, asks for three things, and has a branch for every answer."""

import json

import pytest

from workbench.changes.diff import FileChange, make_hunks
from workbench.cli.demo import EXAMPLE_FOLDER, copy_example
from workbench.cli.errors import Refusal
from workbench.domain.messages import ToolCallPart
from workbench.providers.recording import load_recording

RECORDING = load_recording(EXAMPLE_FOLDER / "recording.json")


def calls(exchange):
    return [timed.part for timed in exchange.reply if isinstance(timed.part, ToolCallPart)]


def asking():
    return [exchange for exchange in RECORDING.exchanges if len(calls(exchange)) == 3]


def test_the_agent_reads_two_files_and_then_asks_for_three_things():
    assert [call.name for call in calls(RECORDING.exchanges[0])] == ["read_file", "read_file"]
    for exchange in asking():
        assert [(call.id, call.name) for call in calls(exchange)] == [
            ("edit", "replace_string_in_file"), ("file", "create_file"), ("tests", "run_in_terminal"),
        ]  # fmt: skip
    assert len(asking()) == 2


def test_the_edit_has_three_hunks_and_is_one_replacement():
    for exchange in asking():
        given = json.loads(calls(exchange)[0].arguments)
        before = (EXAMPLE_FOLDER / "project" / given["path"]).read_text()
        assert before.count(given["old_string"]) == 1
        after = before.replace(given["old_string"], given["new_string"])
        change = FileChange(path=given["path"], before=before.encode(), after=after.encode(), mode=0o644)
        assert len(make_hunks([change])) == 3


@pytest.mark.parametrize(
    "call_id, outcomes",
    [
        ("read_router", {"succeeded", "rejected", "expired"}),
        ("read_tests", {"rejected", "expired"}),
        ("edit", {"rejected", "partial", "expired"}),
        ("file", {"rejected", "expired"}),
        ("tests", {"succeeded", "failed", "rejected", "expired"}),
    ],
)
def test_there_is_a_branch_for_every_answer(call_id, outcomes):
    conditions = [exchange.when for exchange in RECORDING.exchanges if exchange.when]
    assert outcomes <= {when.outcome for when in conditions if when.tool_result_id == call_id}


def test_a_demo_is_laid_out_once(tmp_path):
    place = copy_example(tmp_path / "demo")
    assert (place.project / "shop" / "router.py").read_bytes() == (
        EXAMPLE_FOLDER / "project/shop/router.py"
    ).read_bytes()
    assert place.recording.exists() and not list(place.folder.rglob("__pycache__"))
    (place.project / "shop" / "router.py").write_text("mine")
    copy_example(tmp_path / "demo")
    assert (place.project / "shop" / "router.py").read_text() == "mine"


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(Refusal, match="holds other things"):
        copy_example(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
