"""Files that did not change are not opened again; those that did, vanished or were read otherwise are."""

import json
import os
from pathlib import Path

import pytest

from workbench.domain.values import Actor
from workbench.formats import assemble
from workbench.formats.import_sources import ImportSource, find_sources
from workbench.host import session_import
from workbench.host.session_import import ImportRequest, SilentProgress, import_sources
from workbench.journal.home import Home
from workbench.journal.imported_files import forget_missing_files, imported_files
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal
from workbench.journal.maintenance import delete_session

USER = Actor(kind="user", via="cli")


def lines(session, *texts, folder="/shop"):
    return "".join(
        json.dumps(
            {"type": "user", "uuid": f"{session}{n}", "sessionId": session, "cwd": folder,
             "timestamp": f"2026-11-21T12:00:{n:02}Z", "message": {"role": "user", "content": text}}
        ) + "\n"
        for n, text in enumerate(texts)
    )  # fmt: skip


@pytest.fixture
def journal(tmp_path):
    with Journal.open(Home.open(tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "in"
    place.mkdir()
    for name in ("s1", "s2"):
        (place / f"{name}.jsonl").write_text(lines(name, f"say {name}"))
    (place / "notes.txt").write_text("words of nobody")
    return place


@pytest.fixture
def opened(monkeypatch):
    names = []
    whole = ImportSource.open

    def note(self):
        names.append(Path(self.name).name)
        return whole(self)

    monkeypatch.setattr(ImportSource, "open", note)
    return names


def again(journal, folder, **wish):
    return import_sources(journal, find_sources([str(folder)]), ImportRequest(**wish), SilentProgress())


def titles(journal):
    return sorted(session.title for session in journal.sessions() if session.origin)


def test_what_did_not_change_is_not_opened_and_is_reported_as_it_was(journal, folder, opened):
    first = again(journal, folder)
    assert sorted(opened) == ["notes.txt", "s1.jsonl", "s2.jsonl"]
    opened.clear()
    second = again(journal, folder)
    assert (opened, second.unchanged, second.added) == ([], 3, {})
    assert [report.is_unchanged for report in second.reports] == [True, True]
    assert {s.session_id for r in second.reports for s in r.sessions} == {
        s.session_id for r in first.reports for s in r.sessions
    }
    assert [s.key for r in second.reports for s in r.sessions] == ["s1", "s2"]


def test_a_file_that_grew_or_shrank_is_read_and_no_other(journal, folder, opened):
    again(journal, folder)
    opened.clear()
    with (folder / "s1.jsonl").open("a") as file:
        file.write(lines("s1", "say s1", "and more").splitlines(keepends=True)[1])
    grown = again(journal, folder)
    assert (opened, list(grown.added.values())) == (["s1.jsonl"], [-1])
    opened.clear()
    (folder / "s1.jsonl").write_text(lines("s1", "say s1"))
    again(journal, folder)
    assert opened == ["s1.jsonl"]
    assert index_table_differences(journal) == []


def test_a_file_of_the_same_size_and_time_with_another_inode_is_read(journal, folder, opened):
    path = folder / "s1.jsonl"
    again(journal, folder)
    before = path.stat()
    (folder / "new").write_text(lines("s1", "say s9"))
    os.utime(folder / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    (folder / "new").replace(path)
    opened.clear()
    again(journal, folder)
    assert set(opened) == {"s1.jsonl"}


def test_what_an_older_reader_read_is_read_again(journal, folder, opened, monkeypatch):
    monkeypatch.setattr(session_import, "READ_AS", assemble.READ_AS - 1)
    again(journal, folder)
    monkeypatch.undo()
    assert [row.read_by for row in imported_files(journal).values() if row.sessions] == [
        str(assemble.READ_AS - 1)
    ] * 2
    result = again(journal, folder)
    assert result.unchanged == 0
    assert again(journal, folder).unchanged == 3


def test_a_new_format_reads_again_what_was_none_and_nothing_else(journal, folder, opened, monkeypatch):
    again(journal, folder)
    opened.clear()
    known = session_import.detect.format_names()
    monkeypatch.setattr(session_import.detect, "format_names", lambda: [*known, "novel"])
    again(journal, folder)
    assert opened == ["notes.txt"]


def test_all_is_read_where_that_is_wanted(journal, folder, opened):
    again(journal, folder)
    opened.clear()
    assert again(journal, folder, is_again=True).unchanged == 0
    assert len(opened) == 3


def test_a_file_that_is_gone_leaves_its_session_and_is_read_when_it_is_back(journal, folder, opened):
    again(journal, folder)
    text = (folder / "s1.jsonl").read_text()
    (folder / "s1.jsonl").unlink()
    assert again(journal, folder).unchanged == 2
    assert titles(journal) == ["say s1", "say s2"]
    assert forget_missing_files(journal) == 1
    opened.clear()
    (folder / "s1.jsonl").write_text(text)
    assert (again(journal, folder).added, opened) == ({}, ["s1.jsonl"])


def test_a_deleted_session_comes_back_only_where_its_file_is_named(journal, folder, opened):
    again(journal, folder)
    (gone,) = (session for session in journal.sessions() if session.title == "say s1")
    delete_session(journal, gone.id, USER)
    assert again(journal, folder, returns_deleted=False).unchanged == 3
    assert titles(journal) == ["say s2"]
    with (folder / "s1.jsonl").open("a") as file:
        file.write(lines("s1", "say s1", "and more").splitlines(keepends=True)[1])
    result = again(journal, folder, returns_deleted=False)
    assert (result.left_out, titles(journal)) == (1, ["say s2"])
    assert again(journal, folder, returns_deleted=False).unchanged == 3
    again(journal, folder)
    assert titles(journal) == ["say s1", "say s2"]


def test_a_file_that_is_replaced_while_it_is_read_is_read_the_next_time(journal, folder, monkeypatch):
    path = folder / "s1.jsonl"
    whole = ImportSource.open

    def replaced(self):
        stream = whole(self)
        if self.name == str(path):
            (folder / "new").write_text(lines("s1", "say s1", "later"))
            (folder / "new").replace(path)
        return stream

    monkeypatch.setattr(ImportSource, "open", replaced)
    again(journal, path)
    monkeypatch.undo()
    result = again(journal, path)
    assert (result.unchanged, list(result.added.values())) == (0, [-1])


def test_half_a_line_is_taken_when_it_is_whole(journal, folder):
    path = folder / "s1.jsonl"
    first, second = lines("s1", "one", "two words").splitlines(keepends=True)
    path.write_text(first + second[:40])
    again(journal, path)
    assert [
        e.body.text for s in journal.sessions() for e in journal.events(s.id) if e.kind == "prompt.submitted"
    ] == ["one"]
    path.write_text(first + second)
    again(journal, path)
    (session,) = (session for session in journal.sessions() if session.origin)
    texts = [event.body.text for event in journal.events(session.id) if event.kind == "prompt.submitted"]
    assert texts == ["one", "two words"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_without_permission_is_said(journal, folder):
    closed = folder / "closed"
    closed.mkdir(mode=0)
    result = again(journal, folder)
    assert [(r.name, r.why_not) for r in result.reports if r.name == str(closed)] == [
        (str(closed), "Permission denied")
    ]


def test_a_folder_that_cannot_be_listed_is_said(journal, folder, monkeypatch):
    (folder / "closed").mkdir()
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = again(journal, folder)
    assert [r.why_not for r in result.reports if r.name.endswith("closed")] == ["Permission denied"]


def test_what_is_left_out_leaves_no_byte(journal, folder):
    (folder / "s3.jsonl").write_text(lines("s3", "say secret", folder="/private/shop"))
    wish = {"leaves_out": lambda created: created.workspace == "/private/shop", "left_out_mark": "m"}
    result = again(journal, folder, **wish)
    assert (result.left_out, titles(journal)) == (1, ["say s1", "say s2"])
    assert again(journal, folder, **wish).unchanged == 4
    again(journal, folder)
    assert titles(journal) == ["say s1", "say s2", "say secret"]


def test_a_path_is_kept_as_a_digest_and_scrubbed(journal, tmp_path):
    token = "ghp_" + "a1B2" * 9
    place = tmp_path / token
    place.mkdir()
    (place / "s1.jsonl").write_text(lines("s1", "one"))
    again(journal, place)
    (row,) = imported_files(journal).values()
    assert token not in f"{row.path}{row.key}"
    assert again(journal, place).unchanged == 1
