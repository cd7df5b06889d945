"""Incidents for the screen on this machine: a file becomes a list, requests are recorded, code is bounded."""

import json

import pytest

from tests.support.stage import Stage, recording
from workbench.backend.incidents import LINES_AROUND, LocalIncidents
from workbench.domain import events as e
from workbench.domain.incidents import IncidentOptions
from workbench.domain.values import Refused
from workbench.host.incident_requests import IncidentsRefused
from workbench.tui.backend import BackendError
from workbench.views.incidents import decode_incidents

CODE = "".join(f"line {n}\n" for n in range(1, 41))
FOUND = [
    {"filename": "a.py", "code": "F401", "message": "`os` imported but unused", "fix": None, "url": None,
     "location": {"row": 20, "column": 1}, "end_location": {"row": 20, "column": 9}, "noqa_row": 20, "cell": None},
    {"filename": "gone.py", "code": "E711", "message": "Comparison to None", "fix": None, "url": None,
     "location": {"row": 2, "column": 1}, "end_location": {"row": 2, "column": 3}, "noqa_row": 2, "cell": None},
]  # fmt: skip


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path, recording(), files={"a.py": CODE, "ruff.json": json.dumps(FOUND)})
    yield made
    made.close()


@pytest.fixture
def backend(stage):
    return LocalIncidents(stage.home, stage.journal, str(stage.workspace))


def bodies(stage, list_id, kind):
    return [event.body for event in stage.journal.events(list_id) if isinstance(event.body, kind)]


def test_a_file_of_the_workspace_becomes_a_list(stage, backend):
    told = []
    list_id = backend.open("ruff.json", lambda words: not told.append(words))
    (listed,) = bodies(stage, list_id, e.IncidentsListed)
    assert (listed.source, listed.format, listed.count) == ("ruff.json", "ruff", 2)
    assert stage.journal.session(list_id).kind == "incidents"


def test_a_missing_file_is_named_and_makes_no_list(stage, backend):
    with pytest.raises(BackendError, match=r"none\.json was not read"):
        backend.open("none.json", lambda _: True)
    with pytest.raises(IncidentsRefused, match=r"none\.json was not read"):
        backend.open("none.json ! ruff check", lambda _: True)
    assert stage.journal.sessions(kinds=["incidents"]) == []


def test_reading_ends_where_nobody_wants_it_any_more(stage, backend):
    (stage.workspace / "many.json").write_text(json.dumps([FOUND[0]] * 3_000))
    with pytest.raises(BackendError, match="cancelled"):
        backend.open("many.json", lambda _: False)
    assert stage.journal.sessions(kinds=["incidents"]) == []


def test_what_is_asked_is_recorded_by_the_user(stage, backend):
    list_id = backend.open("ruff.json", lambda _: True)
    (listed,) = bodies(stage, list_id, e.IncidentsListed)
    first, second = json.loads(stage.journal.blobs.read(listed.incidents_ref))
    options = IncidentOptions(max_turns=2)
    backend.start(list_id, [first["id"]], options)
    backend.cancel(list_id)
    backend.dismiss(list_id, [first["id"], second["id"]], "generated")
    (asked,) = bodies(stage, list_id, e.IncidentsRequested)
    assert (asked.ids, asked.options) == ((first["id"],), options)
    assert len(bodies(stage, list_id, e.IncidentsCancelRequested)) == 1
    assert backend.dismissed() == {first["fingerprint"]: "generated", second["fingerprint"]: "generated"}
    assert stage.journal.events(list_id)[-1].actor.kind == "user"
    backend.dismiss(list_id, [second["id"]], "")
    assert backend.dismissed() == {first["fingerprint"]: "generated"}


def test_options_name_the_model_that_would_be_asked(stage, backend):
    settings = {
        "providers": {
            "local": {"kind": "openai-compatible", "base_url": "http://127.0.0.1:1/v1", "model": "m"}
        }
    }
    (stage.home.path / "config.json").write_text(json.dumps({"default_provider": "local", **settings}))
    assert backend.options() == IncidentOptions(provider="local", model="m")


def test_code_is_the_lines_around_and_says_why_there_are_none(stage, backend):
    excerpt = backend.code("a.py", 20)
    assert [line.number for line in excerpt.lines] == list(range(20 - LINES_AROUND, 21 + LINES_AROUND))
    assert excerpt.lines[LINES_AROUND].text == "line 20"
    assert [line.number for line in backend.code("a.py", 0).lines] == list(range(1, 2 + LINES_AROUND))
    assert backend.code("a.py", 400).problem == "The file has no line 400 any more."
    assert backend.code("gone.py", 2).problem and not backend.code("gone.py", 2).lines
    (stage.workspace / "b.bin").write_bytes(b"\0\1\2\n")
    assert backend.code("b.bin", 1).problem == "It is not a text file."
    (stage.workspace / "latin.py").write_bytes(b"x = '\xe9'\n")
    assert backend.code("latin.py", 1).lines[0].text == "x = 'é'"


def test_code_never_leaves_the_workspace_or_follows_links(stage, backend, tmp_path):
    (tmp_path / "secret.txt").write_text("secret\n")
    (stage.workspace / "link.txt").symlink_to(tmp_path / "secret.txt")
    for path in ("../secret.txt", "link.txt", str(tmp_path / "secret.txt")):
        excerpt = backend.code(path, 1)
        assert not excerpt.lines and excerpt.problem


def test_long_lines_are_cut_and_later_lines_keep_their_numbers(stage, backend):
    (stage.workspace / "long.py").write_text("x" * 50_000 + "\nsecond\n")
    first, second = backend.code("long.py", 1).lines
    assert len(first.text) == 2_000 and (second.number, second.text) == (2, "second")


def test_a_prompt_is_the_seeds_text_at_the_line_of_now(stage, backend):
    list_id = backend.open("ruff.json", lambda _: True)
    (listed,) = bodies(stage, list_id, e.IncidentsListed)
    first = decode_incidents(stage.journal.blobs.read(listed.incidents_ref))[0]
    assert "File: a.py\nLine: 31\n" in backend.prompt(first, 31)


# --- a checker's command ------------------------------------------------------------------------------------


def listed(stage, list_id):
    return bodies(stage, list_id, e.IncidentsListed)[0]


def test_a_command_is_run_and_checks_its_own_list(stage, backend):
    found = listed(stage, backend.open("cat ruff.json", lambda _: True))
    assert (found.source, found.checker, found.format, found.count) == (
        "cat ruff.json", "cat ruff.json", "ruff", 2,
    )  # fmt: skip


def test_a_file_with_a_command_behind_it_is_checked_by_that(stage, backend):
    found = listed(stage, backend.open("ruff.json ! ruff check --output-format json", lambda _: True))
    assert (found.source, found.checker) == ("ruff.json", "ruff check --output-format json")


def test_the_checker_of_the_settings_checks_files_that_name_none(stage, backend):
    assert backend.checker() == "" and listed(stage, backend.open("ruff.json", lambda _: True)).checker == ""
    (stage.home.path / "config.json").write_text(json.dumps({"incidents": {"checker": "ruff check"}}))
    assert backend.checker() == "ruff check"
    assert listed(stage, backend.open("ruff.json", lambda _: True)).checker == "ruff check"
    assert listed(stage, backend.open("ruff.json ! mypy", lambda _: True)).checker == "mypy"


def test_a_command_that_prints_prose_makes_no_list_and_says_what_it_has_to_print(stage, backend):
    with pytest.raises(BackendError, match=r"The checker gave no list\..*SARIF"):
        backend.open("echo all is well", lambda _: True)
    with pytest.raises(BackendError, match=r"reports/none\.sarif was not read\. It does not exist"):
        backend.open("reports/none.sarif", lambda _: True)
    assert stage.journal.sessions(kinds=["incidents"]) == []


def test_a_command_that_hangs_is_ended_when_nobody_wants_it_any_more(stage, backend):
    told = []

    def goes_on(words):
        told.append(words)
        return False

    with pytest.raises(BackendError, match="cancelled"):
        backend.open("sleep 600", goes_on)
    assert told[0].startswith("Running sleep 600")


def test_paused_work_is_continued(stage, backend):
    list_id = backend.open("ruff.json", lambda _: True)
    backend.go_on(list_id)
    assert len(bodies(stage, list_id, e.ContinueRequested)) == 1


def test_the_name_of_a_file_that_is_opened_is_never_read_as_a_command(stage, backend):
    ruff = (stage.workspace / "ruff.json").read_bytes()
    for name in ("ruff.json ! touch made", "touch made"):
        (stage.workspace / name).write_bytes(ruff)
        found = listed(stage, backend.open_file(str(stage.workspace / name), "", lambda _: True))
        assert (found.source, found.checker) == (name, "")
        (stage.workspace / name).unlink()
        with pytest.raises(Refused, match="was not read"):
            backend.open_file(name, "", lambda _: True)
    assert not (stage.workspace / "made").exists()
