"""`incidents` from end to end in this process: files and checkers, options, outputs, exit codes, refusals."""

import json
import re
import uuid
from contextlib import closing

import pytest
from msgspec.structs import replace

from tests.support.chat_server import ChatServer, called, said
from tests.support.incident_lists import FAULTS, FIX_NONE, FIX_OS, FIX_SYS, RUFF, edit
from tests.support.tables import each_row
from workbench.effects.fault_points import arm_fault
from workbench.host.host_locks import driver_identity
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock, is_lease_live, take_lease

ALLOW = {"config_version": 1, "approvals": {"allow": ["Edit"]}}


@pytest.fixture
def project(shell):
    (shell.workspace / "a.py").write_text(FAULTS)
    allow(ALLOW)
    return shell


def allow(config):
    home = Home.open()
    (home.path / "config.json").write_text(json.dumps(config))


def ruff(line, code="F401", message="m", path="a.py"):
    return {"code": code, "filename": path, "message": message, "location": {"row": line, "column": 1}}


def report(shell, *entries, name="report.json"):
    path = shell.folder / name
    path.write_text(json.dumps(list(entries)))
    return str(path)


def agents(shell):
    return ("--recording", shell.recording(*FIX_OS, *FIX_SYS, *FIX_NONE))


@pytest.mark.spec(131, 162)
def test_a_checker_alone_makes_the_list_and_every_incident_is_fixed(project):
    assert project("incidents", "run", "--checker", RUFF, *agents(project)) == 0
    assert (project.workspace / "a.py").read_text() == "\n\ndef f(x):\n    return x is None\n"
    lines = project.out.splitlines()
    assert [line.split()[1] for line in lines[:3]] == ["fixed"] * 3
    assert "Completed: 3 fixed" in lines[3] and "changed  a.py" in project.out
    assert "3 incidents from ruff" in project.err


@pytest.mark.spec(159, 163)
def test_the_result_is_one_object(project):
    found = project.json("incidents", "run", "--checker", RUFF, *agents(project), "--json")
    assert (found["status"], found["exit"], found["counts"]) == ("Completed", 0, {"fixed": 3})
    assert found["files_modified"] == ["a.py"] and found["errors"] == []
    assert found["metadata"]["tool_calls_count"] == 3
    assert project.json("incidents", "results", "--json") == {k: v for k, v in found.items() if k != "exit"}
    (listed,) = project.json("incidents", "list", "--json")
    assert (listed["id"], listed["status"], listed["states"]) == (
        found["session_id"],
        "completed",
        {"fixed": 3},
    )


def test_more_findings_than_a_list_holds_are_said_where_the_plan_is_printed(project, monkeypatch):
    from workbench.formats.findings import read

    monkeypatch.setattr(read, "MOST_INCIDENTS", 20)
    file = report(project, *[ruff(line, message=f"m{line}") for line in range(1, 31)], "no finding")
    assert project("incidents", "run", file, "--dry-run") == 0
    assert "It has 30 findings; the first 20 are listed, 10 are left out." in project.err
    assert "20 incidents would be asked about" in project.err


def test_a_plan_is_looked_up_once_and_not_for_every_row(project, monkeypatch):
    from workbench.cli import incidents

    class Ids(tuple):
        reads = 0

        def __iter__(self):
            Ids.reads += 1
            return super().__iter__()

    plan = incidents.plan_incidents
    monkeypatch.setattr(
        incidents, "plan_incidents", lambda *given: replace(made := plan(*given), ids=Ids(made.ids))
    )
    file = report(project, *[ruff(line, message=f"m{line}") for line in range(1, 31)])
    assert project("incidents", "run", file, "--dry-run") == 0
    assert "30 incidents would be asked about" in project.err and Ids.reads <= 2


def test_events_are_one_a_line(project):
    project("incidents", "run", "--checker", RUFF, *agents(project), "--output-format", "stream-json")
    events = [json.loads(line) for line in project.out.splitlines()]
    kinds = [event["kind"] for event in events]
    assert kinds.count("incident.started") == kinds.count("incident.ended") == 3
    assert len({event["id"] for event in events}) == len(events)


def test_not_all_fixed_is_exit_1(project):
    words = (
        "incidents",
        "run",
        report(project, ruff(1)),
        "--recording",
        project.recording({"reply": [{"text": "No."}]}),
    )
    assert project(*words) == 1
    assert "unchanged" in project.out


def test_a_question_is_parked_and_its_answer_lets_it_go_on(project, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    allow({"config_version": 1})
    words = (
        "incidents",
        "run",
        "--checker",
        RUFF,
        "--rule",
        "E711",
        *agents(project),
        "--on-approval",
        "park",
    )
    assert project(*words) == 3
    (waiting,) = [row for row in project.json("approvals", "list", "--json") if row["kind"] == "tool"]
    assert waiting["id"] in project.out or waiting["target"] == "a.py"
    (row,) = [row for row in project.json("incidents", "show", "--json") if row["rule"] == "E711"]
    assert row["state"] == "waiting"
    assert project("approvals", "approve", waiting["id"]) == 0
    assert project("incidents", "resume") == 0
    assert "fixed" in project.out and "1 of" not in project.out


def test_what_nobody_may_answer_is_exit_4(project):
    allow({"config_version": 1})
    words = (
        "incidents",
        "run",
        "--checker",
        RUFF,
        "--rule",
        "E711",
        *agents(project),
        "--on-approval",
        "deny",
    )
    assert project(*words) == 4
    assert (project.workspace / "a.py").read_text() == FAULTS


@each_row(
    "checker,parked",
    [
        ("echo nobody: no checker here; exit 1", False),
        (f"echo '{json.dumps([ruff(1, message='nobody answered in time')])}'", True),
    ],
)
def test_words_of_a_checker_about_nobody_are_not_exit_4(project, monkeypatch, checker, parked):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    here = report(project, ruff(1, message="nobody answered in time"))
    silent = project.recording({"reply": [{"text": "No."}]})
    words = ("incidents", "run", here, "--checker", checker, "--max-turns", "1", "--recording", silent)
    assert project(*words, "--on-approval", "park") == (3 if parked else 1)
    if parked:
        (waiting,) = [row for row in project.json("approvals", "list", "--json") if row["kind"] == "finding"]
        assert project("approvals", "answer", waiting["id"], "--choice", "keep") == 0
        assert project("incidents", "resume") == 1


def test_words_of_a_rejection_about_nobody_are_not_exit_4(project, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    allow({"config_version": 1})
    words = ("incidents", "run", "--checker", RUFF, "--rule", "E711", *agents(project))
    assert project(*words, "--on-approval", "park") == 3
    (waiting,) = [row for row in project.json("approvals", "list", "--json") if row["kind"] == "tool"]
    assert project("approvals", "reject", waiting["id"], "--reason", "nobody answered in time") == 0
    assert project("incidents", "resume") == 1
    assert "rejected" in project.out


def test_a_finding_that_nobody_could_be_asked_about_is_exit_4(project):
    silent = project.recording({"reply": [{"text": "No."}]})
    words = ("incidents", "run", "--checker", RUFF, "--rule", "E711", "--max-turns", "1")
    assert project(*words, "--recording", silent, "--on-approval", "deny") == 4


def test_a_finding_that_stays_is_a_question_with_choices(project, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    wrong = (
        {"when": {"prompt_contains": "`os`"}, "reply": [edit("c1", "import os\n", "import os\n\n")]},
        {"when": {"tool_result": {"id": "c1"}}, "reply": [{"text": "Done."}]},
    )
    words = (
        "incidents",
        "run",
        "--checker",
        RUFF,
        "--rule",
        "F401",
        "--max-turns",
        "1",
        "--on-approval",
        "park",
    )
    assert project(*words, "--recording", project.recording(*wrong)) == 3
    told = project.out
    (waiting,) = [row for row in project.json("approvals", "list", "--json") if row["kind"] == "finding"]
    assert f"workbench approvals answer {waiting['id']}" in told
    assert project("approvals", "answer", waiting["id"], "--choice", "later") != 0
    assert project("approvals", "show", waiting["id"]) == 0
    assert "still finds this" in project.out and "undo" in project.out
    assert project("approvals", "answer", waiting["id"], "--choice", "keep") == 0
    project("incidents", "resume", "--on-approval", "deny")
    rows = project.json("incidents", "results", "--json")["incidents"]
    assert rows[0]["outcome"] == "unchanged"


def test_the_checker_of_a_workspace_counts_only_when_it_is_trusted(project):
    (project.workspace / ".workbench.json").write_text(
        json.dumps({"config_version": 1, "incidents": {"checker": RUFF}})
    )
    assert project("incidents", "run", "--dry-run") == 2
    assert "neither a file nor a checker" in project.err.casefold()
    assert project("trust", "--yes") == 0
    assert project("incidents", "run", "--dry-run") == 0
    assert f".workbench.json line 1: {RUFF}" in project.err
    assert project.out.count("Please analyze the file") == 3


@each_row(
    "words,asked",
    [
        ((), 3),
        (("--rule", "F*"), 2),
        (("--rule", "F401", "--rule", "E711"), 3),
        (("--severity", "error,critical"), 3),
        (("--severity", "info"), 0),
        (("--path", "a.py"), 3),
        (("--path", "src"), 0),
        (("--only", "27e9"), 1),
    ],
)
def test_filters_say_what_is_asked(project, words, asked):
    plan = project.json("incidents", "run", "--checker", RUFF, "--dry-run", "--json", *words)
    assert len(plan) == asked
    assert all(row["prompt"].startswith("Please help fix") for row in plan)


def test_a_dry_run_asks_nothing_and_shows_the_prompts(project):
    assert project("incidents", "run", "--checker", RUFF, "--dry-run") == 0
    assert project.out.count("Please analyze the file") == 3
    assert "Nothing was asked" in project.err
    assert project.json("sessions", "list", "--json") != []
    assert (project.workspace / "a.py").read_text() == FAULTS


def test_a_root_of_another_machine_is_said(project):
    path = report(project, ruff(1, path="/builds/shop/a.py"), ruff(1, path="/builds/shop/gone.py"))
    assert project("incidents", "run", path, "--dry-run") == 0
    assert "Their paths start with /builds/shop" in project.err
    assert "there is no such file" in project.err


def test_a_baseline_leaves_what_is_new(project):
    before = report(project, ruff(1, message="old"), name="before.json")
    now = report(project, ruff(1, message="old"), ruff(2, message="new"))
    plan = project.json("incidents", "run", now, "--baseline", before, "--dry-run", "--json")
    assert [row["message"] for row in plan] == ["new"]
    assert "1 were known before" in project.err or "known before" in project.err


def test_an_incident_is_dismissed_and_open_again(project):
    project("incidents", "run", "--checker", RUFF, "--dry-run")
    (first, *_) = project.json("incidents", "show", "--json")
    assert project("incidents", "dismiss", first["id"][:6], "--reason", "the API needs it") == 0
    (row, *_) = project.json("incidents", "show", "--json")
    assert (row["state"], row["dismissed"], row["reason"]) == ("skipped", True, "the API needs it")
    assert project("incidents", "dismiss", first["id"], "--undo") == 0
    assert project.json("incidents", "show", "--json")[0]["dismissed"] is False


def test_a_list_is_shown_and_filtered(project):
    assert project("incidents", "list") == 0 and "No list of incidents yet" in project.err
    project("incidents", "run", "--checker", RUFF, "--dry-run")
    (listed,) = project.json("incidents", "list", "--json")
    assert project("incidents", "show", listed["id"][:8], "rule:E7") == 0
    assert project.out.count("\n") == 1 and "E711" in project.out
    assert project("incidents", "results") == 0 and "nothing asked for" in project.out


@each_row(
    "words,code,said",
    [
        (("incidents", "run"), 2, "neither a file nor a checker"),
        (("incidents", "run", "a.py", "--max-turns", "21"), 2, "--max-turns is at most 20"),
        (("incidents", "run", "gone.json"), 1, "It does not exist"),
        (("incidents", "run", "a.py"), 1, "none of SARIF"),
        (("incidents", "run", "a.py", "--severity", "loud"), 2, "there is no severity loud"),
        (("incidents", "run", "--checker", "echo hello"), 1, "the checker gave no list"),
        (("incidents", "run", "--checker", "exit 3"), 1, "it ended with 3"),
        (("incidents", "run", "a.py", "--recording", "gone.json"), 1, "there is no such file"),
        (("incidents", "show"), 1, "has no list of incidents"),
        (("incidents", "resume", "zzzz"), 1, "there is no session"),
        (("incidents", "dismiss", "x", "--reason", " "), 2, "the reason is empty"),
        (("incidents", "cancel"), 1, "has no list of incidents"),
    ],
)
def test_what_cannot_be_done_says_why(project, words, code, said):
    more = () if words[1] != "run" or "--recording" in words else ("--recording", project.recording())
    assert project(*words, *more) == code, project.err
    assert said.casefold() in project.err.casefold(), project.err


def test_a_session_that_is_no_list_is_refused(project):
    project("run", "-p", "hi", "--recording", project.recording({"reply": [{"text": "Hello."}]}))
    (session,) = project.json("sessions", "list", "--json")
    assert project("incidents", "show", session["id"]) == 1
    assert "is not a list of incidents" in project.err


def test_a_list_whose_asked_findings_have_ended_is_not_paused(project):
    assert project("incidents", "run", "--checker", RUFF, *agents(project), "--rule", "F401") == 0
    (listed,) = project.json("incidents", "list", "--json")
    assert (listed["status"], listed["states"]) == ("paused", {"open": 1, "fixed": 2})
    assert project("incidents", "list") == 0
    assert (" ready " in project.out, "paused" in project.out) == (True, False), project.out


def test_cancel_ends_what_waits(project, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    monkeypatch.setattr("workbench.cli.incident_lists._CANCEL_SECONDS", 0.1)
    allow({"config_version": 1})
    project("incidents", "run", "--checker", RUFF, *agents(project), "--on-approval", "park")
    assert project("incidents", "cancel", "--reason", "wrong branch") == 0
    assert project("incidents", "resume") == 1
    rows = project.json("incidents", "results", "--json")
    assert (rows["status"], rows["counts"]) == ("Cancelled", {"skipped": 3})
    assert [row["kind"] for row in project.json("approvals", "list", "--json")] == ["trust"]


def test_resume_follows_whoever_works_on_the_list_already(project, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    allow({"config_version": 1})
    project("incidents", "run", "--checker", RUFF, *agents(project), "--on-approval", "park")
    (listed,) = project.json("incidents", "list", "--json")
    with Journal.open(Home.open()) as journal:
        driver = driver_identity(journal, str(project.workspace), "host")
        with DriverLock(journal, driver):
            take_lease(journal, listed["id"], driver)
            assert project("incidents", "resume", "--on-approval", "park") == 3
    assert "works on it; what it does is printed here" in project.err


def test_a_list_that_is_resumed_is_driven_by_the_command_from_its_request_on(project, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    allow({"config_version": 1})
    project("incidents", "run", "--checker", RUFF, *agents(project), "--on-approval", "park")
    (listed,) = project.json("incidents", "list", "--json")
    found = []

    def look():
        with Journal.open(Home.open()) as journal:
            found.append(is_lease_live(journal.home, journal.lease(listed["id"])))

    with arm_fault("run.requested", look):
        project("incidents", "resume", "--on-approval", "park")
    assert found == [True]


def test_what_is_new_after_a_change_is_named(project):
    worse = (
        {
            "when": {"prompt_contains": "`os`"},
            "reply": [edit("c1", "import os\n", "import re\nimport csv\n")],
        },
        {"when": {"tool_result": {"id": "c1"}}, "reply": [{"text": "Done."}]},
    )
    words = (
        "incidents",
        "run",
        "--checker",
        RUFF,
        "--only",
        "27e9",
        "--max-turns",
        "1",
        "--on-approval",
        "park",
    )
    assert project(*words, "--recording", project.recording(*worse)) == 3
    assert "  new  a.py:2 F401  `csv` imported but unused" in project.out


def test_a_list_that_came_from_a_file_dismisses_nothing_and_runs_nothing(project):
    entries = [ruff(1, message="`os` imported but unused")]
    project("incidents", "run", report(project, *entries), *agents(project), "--dry-run")
    (listed,) = project.json("incidents", "list", "--json")
    (row,) = project.json("incidents", "show", "--json")
    project("incidents", "dismiss", row["id"], "--reason", "as the file says")
    project("sessions", "export", listed["id"])
    text = project.out.replace('"checker":""', '"checker":"touch made"')
    for key in set(re.findall(r'"(?:id|session_id)": ?"([0-9a-f-]{36})"', text)):
        text = text.replace(key, str(uuid.uuid4()))
    assert project("sessions", "delete", listed["id"], "--yes") == 0
    foreign = project.workspace / "foreign.jsonl"
    foreign.write_text(text)
    assert project("sessions", "import", str(foreign)) == 0, project.err
    (imported,) = project.json("incidents", "list", "--json")
    assert project("incidents", "resume") == 1 and "Nothing was continued." in project.err
    assert "has no list" in project.err, "the newest one is of those that were made here"
    assert project("incidents", "resume", imported["id"]) == 1 and "It was imported" in project.err
    assert project("incidents", "dismiss", row["id"], "--list", imported["id"], "--undo") == 1
    project("incidents", "run", report(project, *entries), *agents(project), "--dry-run")
    (own,) = [one for one in project.json("incidents", "show", "--json")]
    assert not own["dismissed"] and not (project.workspace / "made").exists()


@pytest.mark.spec(165)
def test_what_is_recorded_of_a_batch_plays_again_without_a_model(project):
    """Every session of the batch has the same ids of calls, as models without ids of their own have."""
    edits = [("import os\n", ""), ("import sys\n", ""), ("x == None", "x is None")]
    answers = [
        part
        for old, new in edits
        for part in (
            called(
                "replace_string_in_file", json.dumps({"path": "a.py", "old_string": old, "new_string": new})
            ),
            said("Done."),
        )
    ]
    kept, before = project.folder / "kept.json", (project.workspace / "a.py").read_text()
    words = ("incidents", "run", "--checker", RUFF, "--batch", "one", "--json")
    with closing(ChatServer(*answers)) as server:
        local = {"kind": "openai-compatible", "base_url": server.base_url, "model": "m"}
        allow({**ALLOW, "providers": {"local": local}})
        first = project.json(*words, "--provider", "local", "--record", str(kept))
        assert len(server.asked) == 6
    fixed = (project.workspace / "a.py").read_text()
    assert (first["counts"], fixed) == ({"fixed": 3}, "\n\ndef f(x):\n    return x is None\n")
    (project.workspace / "a.py").write_text(before)
    again = project.json(*words, "--recording", str(kept))
    assert (project.workspace / "a.py").read_text() == fixed
    assert [again[name] for name in ("counts", "files_modified")] == [
        first[name] for name in ("counts", "files_modified")
    ]
    assert again["metadata"]["tool_calls_count"] == first["metadata"]["tool_calls_count"] == 3


@pytest.mark.parametrize(
    ("more", "code", "said_why"),
    [
        (["--record", "there.json"], 1, "is there already"),
        (["--record", "no/folder.json"], 1, "there is no folder"),
        (["--record", "new.json", "--recording", "there.json"], 2, "leave --record or --recording out"),
    ],
)
def test_where_nothing_can_be_recorded_no_incident_is_worked_on(project, monkeypatch, more, code, said_why):
    monkeypatch.chdir(project.folder)
    (project.folder / "there.json").write_text("{}")
    assert project("incidents", "run", "--checker", RUFF, *more) == code
    told = project.err.casefold()
    assert said_why in told and "no incident was worked on" in told
