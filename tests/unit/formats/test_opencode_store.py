"""OpenCode's database and the log beside it, read without a trace; what is none is refused."""

import io
import json

import apsw
import pytest

from workbench.domain import events as e
from workbench.domain.fold import MemoryTables
from workbench.formats import detect, opencode
from workbench.formats.detect import UnknownFormat

SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text,
    version text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
    time_updated integer, data text);
"""
T0 = 1_764_000_000_000


def filled(path, *, wal=False):
    database = apsw.Connection(str(path))
    if wal:
        database.execute("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0")
    database.execute(SCHEMA)
    database.execute(
        "INSERT INTO session VALUES ('ses_1', 'p', NULL, '/shop', 'Rename', '1.2', ?, ?)", (T0, T0)
    )
    database.execute(
        "INSERT INTO session VALUES ('ses_2', 'p', 'ses_1', '/shop', 'Look', '1.2', ?, ?)", (T0, T0)
    )
    tool = {
        "type": "tool", "callID": "k", "tool": "edit",
        "state": {"status": "completed", "input": {"filePath": "a.py", "oldString": "1", "newString": "2"}, "output": "ok"},
    }  # fmt: skip
    for key, session, role, parts in (
        ("msg_2", "ses_1", "assistant", [{"type": "text", "text": "done"}, tool]),
        ("msg_1", "ses_1", "user", [{"type": "text", "text": "rename it"}]),
        ("msg_3", "ses_2", "user", [{"type": "text", "text": "look"}]),
    ):
        data = json.dumps({"role": role, "modelID": "m", "providerID": "p"})
        database.execute(
            "INSERT INTO message VALUES (?, ?, ?, 0, ?)", (key, session, T0 + int(key[-1]), data)
        )
        for at, part in enumerate(parts):
            database.execute(
                "INSERT INTO part VALUES (?, ?, ?, ?, 0, ?)",
                (f"prt_{key}{at}", key, session, T0, json.dumps(part)),
            )
    return database


def made(data):
    opened = detect.open_file(
        io.BytesIO(data), "x.db", 0, None, store=lambda _: None, current_id=lambda key: key
    )
    return opened, list(opened.events)


def test_sessions_messages_and_parts_come_in_their_order(tmp_path):
    filled(tmp_path / "x.db").close()
    opened, events = made((tmp_path / "x.db").read_bytes())
    rows = MemoryTables().fold(events)
    parent, child = rows.sessions.values()
    assert (opened.format, parent.title, parent.workspace, child.parent_id) == (
        "opencode",
        "Rename",
        "/shop",
        parent.id,
    )
    assert [one.body.text for one in events if isinstance(one.body, e.PromptSubmitted)] == [
        "rename it",
        "look",
    ]
    assert [(call.tool, call.state) for call in rows.calls.values()] == [("edit", "succeeded")]
    assert parent.created_at == T0 * 1000


def test_what_is_only_in_the_log_is_read_and_nothing_is_written(tmp_path):
    writer = filled(tmp_path / "x.db", wal=True)
    data, log = (tmp_path / "x.db").read_bytes(), (tmp_path / "x.db-wal").read_bytes()
    assert len(log) > len(data)
    _, events = made(opencode.apply_write_ahead_log(data, log))
    assert len({event.session_id for event in events}) == 2
    cut = opencode.apply_write_ahead_log(data, log[: len(log) - 100])
    assert len(cut) <= len(opencode.apply_write_ahead_log(data, log))
    assert opencode.apply_write_ahead_log(data, b"no log of any kind, but long enough for one") == data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.db", "x.db-shm", "x.db-wal"]
    writer.close()


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("CREATE TABLE other (a)", "none of OpenCode"),
        (
            "CREATE TABLE message (a); CREATE TABLE part (a); CREATE VIEW session AS SELECT 1 AS id",
            "none of OpenCode",
        ),
    ],
)
def test_a_database_of_others_is_refused(tmp_path, sql, why):
    database = apsw.Connection(str(tmp_path / "x.db"))
    database.execute(sql)
    database.close()
    with pytest.raises(UnknownFormat, match=why):
        made((tmp_path / "x.db").read_bytes())


def test_a_damaged_database_says_so(tmp_path):
    filled(tmp_path / "x.db").close()
    data = bytearray((tmp_path / "x.db").read_bytes())
    with pytest.raises(UnknownFormat, match="cannot be read"):
        made(bytes(data[:20]) + b"\xff" * 3000)
    data[4096 * 3 :] = b"\xa5" * (len(data) - 4096 * 3)
    try:
        opened, _ = made(bytes(data))
    except UnknownFormat:
        return
    assert opened.strays or any(one.problems for one in opened.summaries)


def test_a_part_that_is_no_json_is_kept_and_told(tmp_path):
    database = filled(tmp_path / "x.db")
    database.execute("INSERT INTO part VALUES ('prt_z', 'msg_2', 'ses_1', ?, 0, '{broken')", (T0,))
    database.close()
    opened, _ = made((tmp_path / "x.db").read_bytes())
    assert [one.message for one in opened.summaries[0].problems] == [
        "not understood, kept as it is: part.damaged"
    ]
