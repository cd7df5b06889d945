"""What an agent hears of a file that it may not read: nothing, from any tool, before a human answered."""

import string

import pytest

from tests.support.stage import call, exchange, recording, text
from workbench.domain.events import CallFinished, CallProposed

SECRET = "KEY=hunter2\n"
DENIED = {"approvals": {"deny": ["Read(.env*)"], "allow": ["Edit", "Write", "LS", "Grep", "Glob"]}}
ASKING = {}


def guess(number, letters, path=".env"):
    return call(
        f"c{number}", "replace_string_in_file", path=path, old_string=f"KEY={letters}", new_string="KEY=?"
    )


def verdicts(stage):
    return [body.verdict for body in stage.bodies(CallProposed)]


def ends(stage):
    return {(body.state, body.error) for body in stage.bodies(CallFinished)}


def played(staged, *calls, config, files=None, **more):
    stage = staged(
        recording(exchange(*calls), exchange(text("done"))),
        files=files or {".env": SECRET},
        config=config,
        **more,
    )
    stage.begin()
    stage.drive()
    return stage


@pytest.mark.parametrize("path", [".env", ".env.local", "sub/.env"])
def test_where_reading_is_denied_no_letter_of_a_file_can_be_guessed(staged, path):
    calls = [guess(number, letter, path) for number, letter in enumerate(string.ascii_lowercase)]
    stage = played(staged, *calls, config=DENIED, files={".env": SECRET, "sub/.env": SECRET, "a.txt": ""})
    assert {(said.outcome, said.step, said.reason) for said in verdicts(stage)} == {
        ("denied", "deny", f"read_file({path}) matches Read(.env*) in a deny list")
    }
    assert stage.waiting() == []
    assert stage.read(".env") == SECRET.encode()


@pytest.mark.parametrize(
    "config", [ASKING, {"approvals": {"allow": ["Edit"]}}], ids=["asks", "edits are granted"]
)
@pytest.mark.parametrize(
    ("letters", "content"),
    [("x", SECRET), ("hunter3", SECRET), ("h", SECRET + SECRET), ("h", None)],
    ids=["not there", "nearly there", "twice", "no file"],
)
def test_where_reading_asks_nothing_is_told_before_a_human_answered(staged, config, letters, content):
    files = {"a.txt": ""} | ({".env": content} if content else {})
    stage = played(staged, guess(1, letters), config=config, files=files)
    (action,) = stage.waiting()
    assert [said.outcome for said in verdicts(stage)] == ["ask"]
    assert verdicts(stage)[0].reason == (
        "reading this file asks, so a human answers before the agent is told what came of it"
    )
    shown = stage.opened(action)
    assert shown.files == () and shown.prompt.startswith("Not changed: ")
    assert shown.prompt.endswith("approve to tell it why, reject to tell it nothing.")
    assert ends(stage) == set()


def test_a_human_who_rejects_tells_nothing_of_the_file(staged):
    told = []
    for letters in ("x", "h"):
        stage = played(staged, guess(1, letters), config=ASKING)
        (action,) = stage.waiting()
        stage.reject(action)
        stage.drive()
        told.append(ends(stage))
    assert told[0] == told[1]


def test_a_human_who_approves_lets_the_agent_know_and_writes_nothing(staged):
    stage = played(staged, guess(1, "x"), config=ASKING)
    stage.approve(stage.waiting()[0])
    stage.drive()
    assert ends(stage) == {
        (
            "failed",
            "Not changed: old_string occurs 0 times in .env; read the file and copy the text exactly, spaces included.",
        )
    }
    assert stage.read(".env") == SECRET.encode()


def test_where_nobody_can_answer_it_is_denied_in_the_same_words(staged):
    told = set()
    for letters, content in (("x", SECRET), ("h", SECRET + SECRET)):
        stage = played(
            staged,
            guess(1, letters),
            config={"approvals": {"allow": ["Edit"]}},
            files={".env": content},
            can_ask=False,
        )
        told |= {(said.outcome, said.reason) for said in verdicts(stage)}
    assert told == {
        (
            "denied",
            "reading this file asks, so a human answers before the agent is told what came of it, and nobody can answer here",
        )
    }


@pytest.mark.parametrize("config", [{"approvals": {"read_only": "auto"}}, {"approvals": {"allow": ["Read"]}}])
def test_who_may_read_the_file_is_told_at_once(staged, config):
    stage = played(staged, guess(1, "x"), config=config)
    assert stage.waiting() == []
    assert "occurs 0 times" in verdicts(stage)[0].reason


@pytest.mark.parametrize(
    ("first", "is_known"),
    [
        (call("c0", "read_file", path=".env"), True), (call("c0", "context_read", path=".env"), True),
        (call("c0", "read_file", path=".env", start_line=1, end_line=1), False), (call("c0", "read_file", path="a.txt"), False),
    ],
)  # fmt: skip
def test_who_has_read_the_whole_file_is_told_at_once(staged, first, is_known):
    script = recording(exchange(first), exchange(guess(1, "x")), exchange(text("done")))
    stage = staged(script, files={".env": SECRET, "a.txt": ""}).begin()
    stage.drive()
    stage.approve(stage.waiting()[0])
    stage.drive()
    assert bool(stage.waiting()) is not is_known
    assert ("occurs 0 times" in verdicts(stage)[-1].reason) is is_known


@pytest.mark.parametrize("name", ["create_file", "create_directory"])
def test_that_a_denied_file_is_there_is_told_only_after_an_answer(staged, name):
    more = {"content": "x"} if name == "create_file" else {}
    stage = played(staged, call("c1", name, path=".env", **more), config=DENIED)
    (action,) = stage.waiting()
    stage.approve(action)
    stage.drive()
    ((state, error),) = ends(stage)
    assert state == "failed" and error.startswith("Not created: ")
    assert stage.read(".env") == SECRET.encode()


def test_a_list_names_nothing_that_reading_is_denied_of(staged):
    files = {".env": SECRET, "sub/.env": SECRET, "a.txt": "", "sub/b.txt": ""}
    stage = played(
        staged,
        call("c1", "list_dir", path="."),
        call("c2", "list_dir", path="sub"),
        config=DENIED,
        files=files,
    )
    shown = sorted(body.preview for body in stage.bodies(CallFinished))
    assert len(shown) == 2 and not any(".env" in preview for preview in shown)
    assert "b.txt" in shown[0] and "a.txt" in shown[1]


@pytest.mark.parametrize("name", ["grep_search", "file_search"])
def test_a_search_does_not_show_what_reading_is_denied_of(staged, name):
    pattern = "KEY" if name == "grep_search" else "**/.env"
    stage = played(staged, call("c1", name, pattern=pattern, include_ignored=True), config=DENIED)
    (body,) = stage.bodies(CallFinished)
    assert "hunter2" not in body.preview and ".env:" not in body.preview
    assert body.metadata.get("files", body.metadata.get("matches")) in (0, None)


def test_a_folder_below_which_nothing_may_be_read_is_not_listed(staged):
    config = {"approvals": {"deny": ["Read(secrets/**)"], "allow": ["LS"]}}
    stage = played(
        staged,
        call("c1", "list_dir", path="secrets"),
        call("c2", "list_dir", path="none"),
        config=config,
        files={"secrets/a": ""},
    )
    assert verdicts(stage)[0].outcome == "denied"
