"""The telemetry id of a session (S4): every structured line about the session names it, and it finds them."""

import json

import pytest

SAY = {"reply": [{"text": "Hello."}]}


@pytest.fixture
def session(shell):
    """Return a session that said one thing, in full."""
    assert shell("run", "-p", "x", "--recording", shell.recording(SAY)) == 0, shell.err
    (row,) = shell.json("sessions", "list", "--json")
    return shell.json("sessions", "show", row["id"], "--json")


@pytest.mark.spec(187)
def test_each_event_of_a_session_is_a_line_with_its_telemetry_id(shell, session):
    assert shell("sessions", "export", session["id"]) == 0
    recorded = [json.loads(line)["id"] for line in shell.out.splitlines()[1:] if '"kind"' in line]
    assert shell("sessions", "show", session["id"], "--events") == 0, shell.err
    lines = [json.loads(line) for line in shell.out.splitlines()]
    assert [line["id"] for line in lines] == recorded and len(recorded) > 5
    assert {line["telemetry_id"] for line in lines} == {session["telemetry_id"]}
    assert {line["session_id"] for line in lines} == {session["id"]}


@pytest.mark.spec(187)
def test_a_telemetry_id_finds_its_session_and_nothing_else(shell, session):
    assert shell("run", "-p", "y", "--recording", shell.recording(SAY)) == 0
    by_telemetry = shell.json("sessions", "show", session["telemetry_id"], "--json")
    assert by_telemetry["id"] == session["id"]
    assert shell("sessions", "show", session["telemetry_id"], "--events") == 0
    assert {json.loads(line)["session_id"] for line in shell.out.splitlines()} == {session["id"]}
    other = session["telemetry_id"][::-1]
    assert shell("sessions", "show", other, "--events") == 1
    assert "No id starts with that" in shell.err


@pytest.mark.spec(187)
def test_the_telemetry_id_of_an_imported_session_of_s4_finds_it_and_comes_back(shell):
    telemetry_id = "0f0e0d0c-0b0a-4908-8706-050403020100"
    document = {
        "id": "s4", "provider": "ollama", "systemPrompt": "be good", "activeTools": [], "pendingApprovals": [],
        "telemetryId": telemetry_id, "messages": [
            {"role": "system", "content": "be good", "timestamp": "2026-01-01T00:00:00Z"},
            {"role": "user", "content": "read it", "timestamp": "2026-01-01T00:00:01Z"},
        ],
    }  # fmt: skip
    file = shell.folder / "s4.json"
    file.write_text(json.dumps(document))
    (row,) = shell.json("sessions", "import", str(file), "--json")["sessions"]
    assert shell.json("sessions", "show", telemetry_id, "--json")["id"] == row["id"]
    assert shell("sessions", "export", row["id"], "--format", "assistant") == 0
    assert json.loads(shell.out.splitlines()[0])["telemetryId"] == telemetry_id
