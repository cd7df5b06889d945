"""Every golden session, sent out and taken in again elsewhere: the same events, rows and bytes."""

import json

import pytest
from msgspec.structs import asdict

from tests.support import golden
from workbench.backend.session_export import export_texts
from workbench.domain.values import SYSTEM_SESSION
from workbench.effects.clock import ManualClock
from workbench.formats.import_sources import find_sources
from workbench.host.session_import import ImportRequest, SilentProgress, import_sources
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal

OURS = ("position", "recorded_at", "opened_at")
"""What a journal says of itself: where an event stands in it, and when it was taken in."""


def import_folder(journal, folder):
    result = import_sources(
        journal, find_sources([str(folder)]), ImportRequest(is_again=True), SilentProgress()
    )
    return result.reports, result.added


def rows(journal, key):
    """Return everything that the tables say of a session."""
    found = [journal.session(key), *journal.calls(key), *journal.actions(session_id=key)]
    return [{name: value for name, value in asdict(row).items() if name not in OURS} for row in found]


def plain(lines):
    found = [json.loads(line) for line in lines]
    return [{name: value for name, value in line.items() if name not in OURS} for line in found]


def elsewhere(path):
    path.mkdir(mode=0o700)
    (path / "key").write_bytes(golden.KEY)
    (path / "key").chmod(0o600)
    return Journal.open(Home.open(path), ManualClock(1_900_000_000_000_000))


@pytest.mark.spec(1, 213)
@pytest.mark.parametrize("name", golden.names())
def test_what_leaves_comes_back_as_it_was(name, tmp_path):
    with golden.load(name, tmp_path / "one") as one:
        sessions = [session for session in one.sessions() if session.id != SYSTEM_SESSION]
        texts = {session.id: list(export_texts(one, session, "events")) for session in sessions}
        before = {key: rows(one, key) for key in texts}
    (tmp_path / "in").mkdir()
    for number, text in enumerate(texts.values()):
        (tmp_path / "in" / f"{number}.jsonl").write_text(
            "".join(f"{line}\n" for line in text), encoding="utf-8"
        )
    with elsewhere(tmp_path / "other") as other:
        reports, _ = import_folder(other, tmp_path / "in")
        told = [
            problem.message for report in reports for each in report.sessions for problem in each.problems
        ]
        assert not told and not [report.why_not for report in reports if report.why_not]
        for session in sessions:
            key = session.id
            again = plain(export_texts(other, other.session(key), "events"))
            withdrawn = [line for line in again if str(line.get("id", "")).endswith(".import")]
            asked = [row for row in before[key] if row.get("state") == "pending" and "digest" in row]
            assert len(withdrawn) == len(asked), "what waited there is withdrawn here, and nothing else"
            assert [line for line in again if line not in withdrawn] == plain(texts[key])
            if not asked:
                assert rows(other, key) == before[key]


def imported(folder, *files):
    """Import lines as files into a new home, and return the journal with what came of each."""
    (folder / "in").mkdir()
    for number, found in enumerate(files):
        text = "".join(f"{json.dumps(line)}\n" for line in found)
        (folder / "in" / f"{number}.jsonl").write_text(text, encoding="utf-8")
    journal = elsewhere(folder / "other")
    reports, _ = import_folder(journal, folder / "in")
    return journal, reports


def every_line(name):
    return [
        json.loads(line)
        for line in golden.lines(name)
        if '"session.created"' not in line and '"blob":' not in line
    ]


def test_a_session_whose_beginning_is_lost_begins_where_the_file_does(tmp_path):
    found = [line for line in every_line("fix-flaky-login") if line["session_id"] != SYSTEM_SESSION]
    journal, reports = imported(tmp_path, found)
    with journal:
        (session,) = [one for one in journal.sessions() if one.id != SYSTEM_SESSION]
        assert session.kind == "import" and journal.calls(session.id)
        told = [one.message for report in reports for each in report.sessions for one in each.problems]
        assert "the session's beginning is not there; it starts here" in told
        again, added = import_folder(journal, tmp_path / "in")
        assert again and not added, "the same file once more brings nothing"


def test_a_file_that_reaches_into_another_session_is_left_out_and_the_others_are_not(tmp_path):
    good = [json.loads(line) for line in golden.lines("fix-flaky-login")]
    stranger = {"id": "x-0", "session_id": "x", "sequence_number": 1, "at": "2026-11-21T12:00:00Z",
                "actor": {"kind": "user"}, "kind": "session.created", "body": {"title": "a stranger"}}  # fmt: skip
    action = next(line["action_id"] for line in good if line.get("action_id"))
    hostile = {**stranger, "id": "x-1", "action_id": action, "kind": "action.approved",
               "body": {"digest": "", "approved_until": "2026-11-21T12:00:00Z", "result_digest": ""}}  # fmt: skip
    taken_id = {
        **stranger,
        "session_id": "y",
        "id": good[-1]["id"],
        "kind": "prompt.submitted",
        "body": {"text": "mine"},
    }
    journal, reports = imported(
        tmp_path, good, [stranger, hostile], [{**stranger, "session_id": "y", "id": "y-0"}, taken_id]
    )
    with journal:
        titles = sorted(one.title for one in journal.sessions() if one.id != SYSTEM_SESSION)
        assert titles == sorted(
            [
                "a stranger",
                *(
                    one["body"]["title"]
                    for one in good
                    if one.get("kind") == "session.created" and one["session_id"] != SYSTEM_SESSION
                ),
            ]
        )
        assert [bool(report.why_not) for report in reports] == [False, True, False]
        assert "belongs to another session" in reports[1].why_not
        assert "another session here has an event with the id" in reports[2].sessions[0].problems[-1].message
        assert journal.session("x") is None and journal.session("y") is not None


@pytest.mark.parametrize("kind", ["prompt.submitted", "reply.completed"])
@pytest.mark.parametrize("is_gone", [False, True])
def test_an_export_of_the_same_id_that_says_something_else_is_a_second_session(tmp_path, kind, is_gone):
    good = [json.loads(line) for line in golden.lines("fix-flaky-login")]
    key = next(line["session_id"] for line in good if line.get("action_id"))
    good = [line for line in good if line.get("session_id") == key]
    other = json.loads(json.dumps(good))
    changed = [line for line in other if line["kind"] == kind][0 if kind == "prompt.submitted" else -1]
    changed["body"]["text"] = "another story"
    journal, _ = imported(tmp_path, good)
    with journal:
        before = rows(journal, key)
        (tmp_path / "in" / "second.jsonl").write_text("".join(json.dumps(line) + "\n" for line in other))
        if is_gone:
            (tmp_path / "in" / "0.jsonl").unlink()
        reports, added = import_folder(journal, tmp_path / "in")
        (second,) = (one for one, count in added.items() if count > 0)
        assert second != key and rows(journal, key) == before
        assert "both stay" in reports[-1].kept[0] and not reports[-1].sessions[0].problems
        assert len(journal.events(second)) == len(journal.events(key))
        texts = [getattr(event.body, "text", "") for event in journal.events(second)]
        assert texts.count("another story") == 1
        for table in (journal.calls, lambda one: journal.actions(session_id=one)):
            assert [row.state for row in table(second)] == [row.state for row in table(key)] != []
        assert {call.action_id for call in journal.calls(second)} - {None} == {
            row.id for row in journal.actions(session_id=second) if row.call_id
        }
        assert index_table_differences(journal) == []
        again = import_folder(journal, tmp_path / "in")
        assert not again[1], "the same files once more bring nothing"


def test_an_export_that_was_written_anew_at_its_place_is_said(tmp_path):
    good = [json.loads(line) for line in golden.lines("fix-flaky-login")]
    journal, _ = imported(tmp_path, good)
    with journal:
        last = [line for line in good if line["kind"] == "reply.completed"][-1]
        last["body"]["text"] = "another story"
        (path,) = (tmp_path / "in").iterdir()
        path.write_text("".join(json.dumps(line) + "\n" for line in good))
        reports, _ = import_folder(journal, tmp_path / "in")
        assert "says something else than what was here" in reports[0].kept[0]


def test_a_number_that_no_table_holds_is_left_out_with_its_line(tmp_path):
    found = [json.loads(line) for line in golden.lines("fix-flaky-login")]
    found[5]["actor"]["pid"] = 1 << 63
    journal, reports = imported(tmp_path, found)
    journal.close()
    told = [
        (one.line, one.message) for report in reports for each in report.sessions for one in each.problems
    ]
    told += [(one.line, one.message) for report in reports for one in report.strays]
    assert (6, "it is not an event: a number in it has over 64 bits") in told
