"""A file that grew is gone on with where it was left, and comes to what reading all of it comes to."""

import json
import random
import sqlite3

import pytest

from tests.unit.formats.test_claude_code import answers, asks, line
from workbench.domain.codec import body_json
from workbench.formats import assemble, detect
from workbench.formats.import_sources import find_sources
from workbench.host.session_import import ImportRequest, SilentProgress, import_sources
from workbench.journal.home import Home
from workbench.journal.imported_files import imported_files
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal

KEY = "ghp_" + "a1B2" * 9
"""Fabricated: it only looks like a token."""


def claude_lines():
    """Prompts, thoughts, calls side by side, refusals, a rewind, a history that is told again."""
    rows = []
    for n in range(0, 60, 6):
        rows += [
            line(n, "user", f"step {n}"),
            line(
                n + 1,
                "assistant",
                [{"type": "thinking", "thinking": "hm"}],
                message={"id": f"m{n}", "model": "big"},
            ),
            {**asks(n + 2, f"t{n}", "Bash", command=f"echo {KEY} {n}"), "uuid": f"u{n + 2}"},
            {
                **asks(
                    n + 3, f"v{n}", "Edit", file_path="/home/me/shop/a.py", old_string="a", new_string=f"b{n}"
                )
            },
            answers(n + 4, f"v{n}", "done"),
            answers(
                n + 5, f"t{n}", "The user doesn't want to proceed with this tool use", is_error=n % 12 == 0
            ),
        ]
    for n, row in enumerate(rows):
        row["timestamp"] = f"2026-11-21T12:{n // 60:02}:{n % 60:02}Z"
    rows[36]["parentUuid"] = rows[17]["uuid"]
    copies = [{**row, "uuid": f"again-{row['uuid']}"} for row in rows[:12]]
    return [json.dumps(row) + "\n" for row in [*rows[:48], *copies, *rows[48:]]]


def codex_lines():
    def item(n, kind, **payload):
        return {"timestamp": f"2026-11-21T12:00:{n % 60:02}.000Z", "type": kind, "payload": payload}

    rows = [
        item(0, "session_meta", id="c1", cwd="/shop", cli_version="0.1", timestamp="2026-11-21T12:00:00Z"),
        item(0, "turn_context", model="big", approval_policy="on-request"),
    ]
    for n in range(1, 50, 4):
        said = {"role": "user", "content": [{"type": "input_text", "text": f"do {n}"}]}
        rows += [
            item(n, "response_item", type="message", **said),
            item(n + 1, "response_item", type="function_call", name="shell", call_id=f"k{n}",
                 arguments=json.dumps({"command": ["echo", KEY]})),
            item(n + 2, "response_item", type="function_call_output", call_id=f"k{n}", output="ok"),
            item(n + 3, "event_msg", type="token_count", info={
                "total_token_usage": {"input_tokens": 10 * n, "output_tokens": n},
                "last_token_usage": {"input_tokens": 10, "output_tokens": 1}}),
        ]  # fmt: skip
    return [json.dumps(row) + "\n" for row in rows]


def imported(journal, path, **wish):
    return import_sources(journal, find_sources([str(path)]), ImportRequest(**wish), SilentProgress())


def told(journal):
    return {
        session.id: [
            (event.id, event.at, event.kind, body_json(event), event.turn_id, event.call_id)
            for event in journal.events(session.id)
        ]
        for session in journal.sessions(limit=100)
        if session.origin
    }


@pytest.fixture
def assembled(monkeypatch):
    """Count the records that are assembled and those that are passed over."""
    counts = {"take": 0, "pass_over": 0}
    for name in counts:
        whole = getattr(assemble.Assembler, name)

        def note(self, item, name=name, whole=whole):
            counts[name] += 1
            return whole(self, item)

        monkeypatch.setattr(assemble.Assembler, name, note)
    monkeypatch.setattr(detect, "_POINT_LINES", 3)
    return counts


@pytest.mark.parametrize("made", [claude_lines, codex_lines])
@pytest.mark.parametrize("seed", range(4))
def test_growth_in_pieces_comes_to_what_the_whole_file_does(tmp_path, assembled, made, seed):
    rows, chance = made(), random.Random(seed)
    data = "".join(rows).encode()
    cuts = sorted({*chance.sample(range(len(rows[0]), len(data)), 7), len(data)})
    path = tmp_path / "grown.jsonl"
    with Journal.open(Home.open(tmp_path / "pieces")) as journal:
        for cut in cuts:
            with path.open("ab") as file:
                file.write(data[file.tell() : cut])
            imported(journal, path)
        pieces = told(journal)
        assert index_table_differences(journal) == []
        assert imported(journal, path).unchanged == 1
    assert assembled["pass_over"] > 40
    with Journal.open(Home.open(tmp_path / "whole")) as journal:
        imported(journal, path)
        assert told(journal) == pieces
    for home in ("pieces", "whole"):
        with sqlite3.connect(tmp_path / home / "journal.db") as database:
            stored = str(database.execute("SELECT group_concat(body) FROM event").fetchall())
            stored += str(database.execute("SELECT * FROM imported_file").fetchall())
        assert KEY not in stored


def test_a_file_that_begins_otherwise_is_read_whole(tmp_path, assembled):
    rows, path = claude_lines(), tmp_path / "changed.jsonl"
    path.write_text("".join(rows[:30]))
    with Journal.open(Home.open(tmp_path / "home")) as journal:
        imported(journal, path)
        (row,) = imported_files(journal).values()
        assert row.point and KEY not in row.point
        with path.open("r+") as file:  # the same file, another word in what was read
            file.write("".join(rows[:30]).replace("step 6", "stop 6") + "".join(rows[30:]))
        assembled["take"] = 0
        imported(journal, path)
        assert assembled["take"] > 60 > assembled["pass_over"]
        assert "stop 6" in str(told(journal))


def test_a_session_that_was_deleted_or_cut_is_read_whole(tmp_path, assembled):
    rows, path = claude_lines(), tmp_path / "gone.jsonl"
    path.write_text("".join(rows[:30]))
    with Journal.open(Home.open(tmp_path / "home")) as journal:
        imported(journal, path)
        (row,) = imported_files(journal).values()
        point = json.loads(row.point)
        journal.change(
            lambda live: live.database.execute(
                "UPDATE event SET id = 'x' || id WHERE id = ?",
                (f"{point['state']['session_id']}.{point['state']['count']}",),
            )
        )
        path.write_text("".join(rows))
        assembled["pass_over"] = 0
        imported(journal, path)
        assert assembled["pass_over"] == 0
