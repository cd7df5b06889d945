"""`sessions export --all`: every session as a whole file, and no other file touched."""

import json

import pytest

from tests.support.stage import Stage, exchange, recording, text
from tests.unit.cli.conftest import Screen, Stream
from workbench.cli import session_export_folder
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.domain.values import SYSTEM_SESSION
from workbench.formats import seed_files


@pytest.fixture
def home(tmp_path, monkeypatch):
    stage = Stage(tmp_path / "stage", recording(exchange(text("Hello."))))
    for title in ("one", "two", "three"):
        stage.begin(title, title=title).drive()
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))
    yield stage
    stage.close()


def ids(home):
    return {row.id for row in home.journal.sessions() if row.id != SYSTEM_SESSION}


@pytest.mark.spec(1)
def test_every_session_is_a_file_of_the_seeds_form(shell, home, tmp_path):
    folder = tmp_path / "out"
    assert shell("sessions", "export", "--all", str(folder)) == 0
    assert shell.out == "" and "3 sessions written to" in shell.err
    files = {path.name: json.loads(path.read_bytes()) for path in folder.iterdir()}
    assert set(files) == {f"{key}.json" for key in ids(home)}
    for name, document in files.items():
        assert name == f"{document['id']}.json"
        assert list(seed_files.wink_violations(document)) == []
        shell("sessions", "export", document["id"], "--format", "wink")
        assert json.loads(shell.out) == document


@pytest.mark.parametrize(
    ("form", "suffix"), [("events", "jsonl"), ("markdown", "md"), ("transcript", "html")]
)
def test_a_format_has_the_bytes_of_a_single_export(shell, home, tmp_path, form, suffix):
    folder = tmp_path / "out"
    found = shell.json("sessions", "export", "--all", str(folder), "--format", form, "--json")
    assert (found["format"], found["total"], found["is_complete"]) == (form, 3, True)
    for row in found["sessions"]:
        one = tmp_path / "one"
        shell("sessions", "export", row["id"], "--format", form, "--output", str(one))
        assert (folder / row["file"]).read_bytes() == one.read_bytes()
        assert (row["file"], row["bytes"]) == (f"{row['id']}.{suffix}", one.stat().st_size)


def test_what_is_there_is_left_and_said(shell, home, tmp_path):
    folder = tmp_path / "out"
    first, second, third = sorted(ids(home))
    folder.mkdir()
    (folder / f"{first}.json").write_text("mine")
    (folder / f"{second}.json").symlink_to("nowhere")
    assert shell("sessions", "export", "--all", str(folder)) == 1
    assert (
        "1 session written" in shell.err and f"{first}.json was not written: it is there already" in shell.err
    )
    assert (folder / f"{first}.json").read_text() == "mine"
    assert not (folder / "nowhere").exists()
    (folder / f"{second}.json").unlink()
    (folder / f"{second}.json").mkdir()
    found = shell.json("sessions", "export", "--all", str(folder), "--replace", "--json")
    states = {row["id"]: row["state"] for row in found["sessions"]}
    assert states == {first: "written", second: "failed", third: "written"}
    assert json.loads((folder / f"{first}.json").read_bytes())["id"] == first


def test_names_are_safe_and_never_collide(home):
    from msgspec.structs import replace

    row = home.session()
    rows = [replace(row, id=key) for key in ("../up", "A/b", "a_b", "A_B", "a_b-2", "x" * 300)]
    names = [name for _, name in session_export_folder._named_sessions(rows, "wink")]
    assert names[:5] == ["___up.json", "A_b.json", "a_b-2.json", "A_B-3.json", "a_b-2-2.json"]
    assert len({name.casefold() for name in names}) == len(rows) and max(map(len, names)) < 120


def test_ctrl_c_leaves_whole_files_only(shell, home, tmp_path, monkeypatch):
    folder, written = tmp_path / "out", []
    texts = session_export_folder.export_texts

    def stopping(journal, session, form):
        yield from texts(journal, session, form)
        written.append(session.id)
        if len(written) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(session_export_folder, "export_texts", stopping)
    assert shell("sessions", "export", "--all", str(folder), "--json") == 130
    (path,) = folder.iterdir()
    assert json.loads(path.read_bytes())["id"] == written[0]
    found = json.loads(shell.out)
    assert [row["id"] for row in found["sessions"]] == [written[0]]
    assert (found["total"], found["is_complete"]) == (3, False)


def test_progress_is_on_stderr(home, tmp_path):
    console = Console(Stream(), Screen())
    assert dispatch(["sessions", "export", "--all", str(tmp_path / "out")], console) == 0
    assert "3 of 3  " in console.err.getvalue() and console.out.getvalue() == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ID", "--all", "out"], "leave ID or --all out"),
        (["--all", "out", "--output", "x"], "leave --output out"),
        (["--all", "out", "--format", "svg"], "name one of"),
        ([], "no session is named"),
        (["ID", "--replace"], "--replace belongs to --all"),
        (["ID", "--json"], "--json belongs to --all"),
    ],
)
def test_what_cannot_be_combined_is_said(shell, home, words, said):
    assert shell("sessions", "export", *words) == 2
    assert said.casefold() in shell.err.casefold()
    assert not (shell.workspace / "out").exists()


def test_only_commands_have_the_log_of_one(shell, home, tmp_path):
    assert shell("sessions", "export", "--all", str(tmp_path / "out"), "--format", "cmd") == 0
    assert "0 sessions written" in shell.err
