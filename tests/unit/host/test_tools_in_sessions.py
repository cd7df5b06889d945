"""Every tool in a session: asked, answered, run, recorded, told to the model."""

import json

import pytest

from tests.support.stage import call, exchange, recording, result, text
from tests.support.web import Web
from workbench.domain.events import CallFinished, CallProposed

AUTO = {"approvals": {"read_only": "auto"}}


def one(name, **arguments):
    return recording(
        exchange(call("c1", name, **arguments)),
        exchange(text("done")),
    )


def finished(stage, call_id="c1"):
    row = stage.calls()[call_id]
    bodies = [e.body for e in stage.journal.call_events(row.id) if isinstance(e.body, CallFinished)]
    return bodies[-1]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("list_dir", {"path": "."}, "src/"),
        ("file_search", {"pattern": "*.py"}, "src/a.py"),
        ("grep_search", {"pattern": "needle"}, "src/a.py:2:needle"),
        ("terminal_last_command", {}, "No command was run"),
        ("context_read", {"path": "src/a.py"}, "one\nneedle\n"),
        ("read_file", {"path": "src/a.py", "start_line": 2}, "needle\n"),
    ],
)
def test_a_reading_tool_asks_by_default_and_reads_when_it_may(staged, name, arguments, words):
    stage = staged(one(name, **arguments), files={"src/a.py": "one\nneedle\n"}).begin()
    stage.drive()
    (action,) = stage.waiting()
    assert action.kind == "tool" and stage.calls()["c1"].state == "pending"
    stage.approve(action)
    stage.drive()
    assert stage.calls()["c1"].state == "succeeded"
    assert words in finished(stage).preview
    assert stage.session().status == "ready"

    auto = staged(one(name, **arguments), files={"src/a.py": "one\nneedle\n"}, config=AUTO).begin()
    auto.drive()
    assert auto.waiting() == [] and words in finished(auto).preview


def test_a_folder_is_created_when_a_human_agrees(staged):
    stage = staged(one("create_directory", path="a/b")).begin()
    stage.drive()
    (action,) = stage.waiting()
    assert (action.verb, action.target) == ("write", "a/b")
    assert not (stage.workspace / "a").exists()
    stage.approve(action)
    stage.drive()
    found = finished(stage)
    assert (stage.workspace / "a/b").is_dir()
    assert (found.state, found.files_affected, found.metadata["created"]) == (
        "succeeded", ("a", "a/b"), ["a", "a/b"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src", "is there already"),
        ("src/a.py", "there is a file"),
        (".git/x", "belongs to git"),
        ("..", "outside"),
    ],
)
def test_a_folder_that_cannot_be_created_is_never_asked_about(staged, path, words):
    stage = staged(one("create_directory", path=path), files={"src/a.py": ""}).begin()
    stage.drive()
    assert stage.waiting() == []
    (proposed,) = stage.bodies(CallProposed)
    assert proposed.verdict.outcome == "refused" and words in proposed.verdict.reason


def test_the_last_command_is_told_as_its_agent_was_told(staged):
    script = recording(
        exchange(call("c1", "run_in_terminal", command="echo out; exit 3")),
        exchange(call("c2", "terminal_last_command")),
        exchange(text("done"), expect=result("c2", "succeeded", contains="echo out")),
    )
    stage = staged(script, config={"approvals": {"read_only": "auto", "allow": ["Bash(*)"]}}).begin()
    stage.drive()
    for action in stage.waiting():
        stage.approve(action)
    stage.drive()
    assert finished(stage, "c2").preview.splitlines()[0] == "$ echo out; exit 3"
    assert "[failed (exit code 3) after" in finished(stage, "c2").preview
    assert finished(stage, "c2").preview.endswith("out")


def test_what_may_not_be_read_is_not_found_by_a_search(staged):
    files = {".env": "KEY=needle\n", "a": "needle\n"}
    config = {"approvals": {"read_only": "auto", "deny": ["Read(.env)"]}}
    stage = staged(one("grep_search", pattern="needle"), files=files, config=config).begin()
    stage.drive()
    assert finished(stage).preview == "a:1:needle"


@pytest.mark.spec(69)
def test_the_content_of_a_file_may_be_larger_than_another_output(staged):
    stage = staged(one("read_file", path="f"), files={"f": "x" * 99 + "\n"}, config=AUTO).begin()
    stage.drive()
    assert len(finished(stage).preview) == 100
    long = staged(one("read_file", path="f"), files={"f": ("x" * 99 + "\n") * 3000}, config=AUTO).begin()
    long.drive()
    assert 90_000 < len(finished(long).preview.encode()) <= 102_400


@pytest.mark.spec(204)
def test_a_result_that_is_not_what_the_tool_says_fails_the_call(staged, monkeypatch):
    from workbench.tools.list_directory import ListDir

    real = ListDir.read

    def lying(self, parameters, place):
        from msgspec.structs import replace

        return replace(real(self, parameters, place), metadata={"entries": "many"})

    monkeypatch.setattr(ListDir, "read", lying)
    stage = staged(one("list_dir", path="."), config=AUTO).begin()
    stage.drive()
    found = finished(stage)
    assert (found.state, found.detail) == ("failed", "bad result")
    assert "output schema" in found.error and "entries" in found.error
    json.dumps(found.error)


# --- fetch_webpage ---------------------------------------------------------------------------------


@pytest.fixture
def web():
    server = Web()
    yield server
    server.close()


LOOPBACK = {"fetch": {"allow_loopback": True}}


def test_a_page_is_fetched_when_a_human_agrees(staged, web):
    web.page("/x", "<h1>Needle</h1>")
    stage = staged(one("fetch_webpage", url=web.url("/x")), config=LOOPBACK).begin()
    stage.drive()
    (action,) = stage.waiting()
    assert (action.verb, action.target, web.seen) == ("fetch", web.url("/x"), [])
    stage.approve(action)
    stage.drive()
    found = finished(stage)
    assert "Needle" in found.preview and found.metadata["status"] == 200


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "file:///etc/passwd", "http://127.0.0.1:1/", "x"])
def test_an_address_that_is_never_fetched_is_never_asked_about(staged, url):
    stage = staged(one("fetch_webpage", url=url)).begin()
    stage.drive()
    (proposed,) = stage.bodies(CallProposed)
    assert (stage.waiting(), proposed.verdict.outcome, proposed.verdict.step) == ([], "refused", "paths")


def test_a_redirect_goes_no_further_than_the_grant_that_let_it_pass(staged, web):
    web.redirect("/a", "/b").page("/b", "secret")
    config = {**LOOPBACK, "approvals": {"allow": [f"WebFetch({web.url('/a')})"]}}
    stage = staged(one("fetch_webpage", url=web.url("/a")), config=config).begin()
    stage.drive()
    assert stage.waiting() == []
    assert "what allowed the first address does not cover it" in finished(stage).error
    assert "/b" not in [path for path, _ in web.seen]


def test_a_redirect_to_what_is_denied_is_not_followed(staged, web):
    web.redirect("/a", "/b").page("/b", "secret")
    config = {**LOOPBACK, "approvals": {"deny": [f"WebFetch({web.url('/b')})"]}}
    stage = staged(one("fetch_webpage", url=web.url("/a")), config=config).begin()
    stage.drive()
    stage.approve(stage.waiting()[0])
    stage.drive()
    assert finished(stage).state == "failed" and "deny" in finished(stage).error
    assert "/b" not in [path for path, _ in web.seen]
