"""`incidents run --output-format s2`, and the results of a list as SARIF and JUnit."""

import json
from xml.etree import ElementTree

import pytest

from workbench import __version__

RUFF = [
    {"filename": "a.py", "code": "F401", "message": "`os` imported but unused",
     "location": {"row": 1, "column": 8}, "end_location": {"row": 1, "column": 10}},
    {"filename": "b.py", "code": "F401", "message": "`re` imported but unused",
     "location": {"row": 1, "column": 8}, "end_location": {"row": 1, "column": 10}},
]  # fmt: skip
EDIT = {"tool_call": {"id": "c1", "name": "replace_string_in_file", "arguments": {
    "path": "a.py", "old_string": "import os\n", "new_string": ""}}}  # fmt: skip


@pytest.fixture
def place(shell):
    for name, module in (("a.py", "os"), ("b.py", "re")):
        (shell.workspace / name).write_text(f"import {module}\nprint(1)\n")
    (shell.workspace / "ruff.json").write_text(json.dumps(RUFF))
    return shell


def worked(shell, *more):
    file = str(shell.workspace / "ruff.json")
    recording = shell.recording({"reply": [EDIT]}, {"reply": [{"text": "Done."}]})
    return shell(
        "incidents", "run", file, "--path", "a.py", "--recording", recording, "--on-approval", "deny", *more
    )


@pytest.mark.spec(134, 135, 136, 140, 141, 143, 150, 228)
def test_a_stream_of_s2_names_every_session_first_and_last_and_tells_progress(place):
    worked(place, "--output-format", "s2")
    rows = [json.loads(line) for line in place.out.splitlines()]
    sessions = [row["session"] for row in rows if "session" in row]
    assert "session" in rows[0] and rows[0]["session"]["id"] == rows[-1]["session"]["id"]
    assert [one["id"] for one in sessions] == [one["id"] for one in reversed(sessions)]
    assert len({one["id"] for one in sessions}) == 2
    last = rows[-1]["session"]
    assert len(last["incident_ids"]) == 1 and last["configuration"]["max_turns"] == 3
    assert last["stream_connection"]["last_message_at"]
    by_list = [one["status"] for one in sessions if one["id"] == last["id"]]
    assert by_list == ["Processing", "Completed"], "the result says Completed as well"
    child = next(one for one in reversed(sessions) if one["id"] != last["id"])
    assert (child["configuration"]["timeout"], child["configuration"]["max_turns"]) == (600, 50)
    told = [row["content"]["Progress"] for row in rows if "Progress" in row.get("content", {})]
    assert [one["percentage"] for one in told] == [0, 100]
    messages = [row for row in rows if "content" in row]
    numbers = {one["id"]: [] for one in sessions}
    for message in messages:
        numbers[message["session_id"]].append(message["sequence_number"])
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())
    assert len({message["id"] for message in messages}) == len(messages)


def test_results_leave_as_sarif_with_every_incident_and_its_outcome(place):
    worked(place)
    assert place("incidents", "results", "--format", "sarif") == 0
    (run,) = json.loads(place.out)["runs"]
    outcomes = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: result["properties"]["outcome"]
        for result in run["results"]
    }
    assert outcomes == {"a.py": "unchanged", "b.py": "open"}
    assert run["properties"]["source"] == "ruff.json"


def test_results_leave_as_junit(place):
    worked(place)
    assert place("incidents", "results", "--format", "junit") == 0
    tree = ElementTree.fromstring(place.out)
    assert [suite.get("name") for suite in tree] == ["a.py", "b.py"]
    assert (tree.get("tests"), tree.get("failures")) == ("2", "2")


def test_one_form_is_printed_at_a_time(place):
    worked(place)
    assert place("incidents", "results", "--json", "--format", "sarif") == 2


def test_an_export_of_a_list_names_its_incidents_as_s2_does(place):
    worked(place)
    lists = place.json("incidents", "list", "--json")
    assert place("sessions", "export", lists[0]["id"], "--format", "kaiak") == 0
    session = json.loads(place.out.splitlines()[0])["session"]
    assert len(session["incident_ids"]) == 1
    assert (session["configuration"]["timeout"], session["configuration"]["max_turns"]) == (600, 3)
    assert session["status"] == "Completed"


@pytest.mark.spec(163)
def test_a_result_names_the_version_as_s2_does_too(place):
    worked(place)
    metadata = place.json("incidents", "results", "--json")["metadata"]
    assert metadata["goose_version"] == metadata["version"] == __version__


@pytest.mark.spec(130, 229)
def test_a_plan_names_the_files_and_the_folder_of_each_prompt(place):
    file = str(place.workspace / "ruff.json")
    plan = place.json("incidents", "run", file, "--dry-run", "--json")
    assert [row["context_files"] for row in plan] == [["a.py"], ["b.py"]]
    assert {row["workspace_path"] for row in plan} == {str(place.workspace)}
    assert all(row["prompt"].startswith("Please help fix this code migration issue:") for row in plan)
