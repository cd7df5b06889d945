"""`workbench sessions export` of the screen: each golden session, hostile ones, wrong options; nothing is written."""

import json
import re
from xml.etree import ElementTree

import pyte
import pytest

from tests.support import golden
from workbench.cli import session_film
from workbench.domain.values import SYSTEM_SESSION
from workbench.formats import film as formats_film
from workbench.tui.journal_source import JournalFeed
from workbench.tui.replay.replay_source import ReplaySource
from workbench.tui.replay_app import ReplayApp


@pytest.fixture
def session(request, tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    with golden.load(getattr(request, "param", "rename-handler"), home) as journal:
        return next(one for one in journal.sessions() if one.id != SYSTEM_SESSION and one.parent_id is None)


def said(svg):
    root = ElementTree.fromstring(svg)
    return "\n".join("".join(one.itertext()) for one in root.iter() if one.tag.endswith("}text"))


@pytest.mark.spec(140, 165)
@pytest.mark.parametrize("session", ["hostile-text", "secrets"], indirect=True)
def test_no_control_and_no_secret_leaves(shell, session):
    secret = re.compile(r"AKIA[0-9A-Z]{16}|ghp_\w{20}|sk-\w{20}|BEGIN [A-Z ]*PRIVATE KEY")
    for form, *more in (("svg", "--animate"), ("html",), ("cast",)):
        assert shell("sessions", "export", session.id, "--format", form, "--frames", "12", *more) == 0
        assert not secret.search(shell.out)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shell.out)
        assert shell.out.count("<script") == (2 if form == "html" else 0)
        if form == "cast":
            for line in shell.out.splitlines()[1:]:
                data = json.loads(line)[2]
                assert "\x1b" not in re.sub(r"\x1b\[(\?(25|7)[hl]|2J|\d+(;\d+)*m|\d+;1H|\d+G)", "", data)


@pytest.mark.spec(140)
def test_a_picture_shows_the_moment(shell, session):
    assert shell("sessions", "export", session.id, "--format", "svg", "--at", "50%") == 0
    half = said(shell.out)
    assert shell("sessions", "export", session.id, "--format", "svg") == 0
    assert "rename handler" in half
    for key in ("esc", "leave", "fork from here", "event ", "all keys"):
        assert key not in half, "nobody presses keys of a picture"
    assert half != said(shell.out)
    assert shell("sessions", "export", session.id, "--format", "svg", "--theme", "workbench-light") == 0
    assert 'fill="#fbfbfa"' in shell.out


def test_a_film_begins_and_ends_where_pictures_do(shell, session, tmp_path):
    file = tmp_path / "film.html"
    assert (
        shell(
            "sessions",
            "export",
            session.id,
            "--format",
            "html",
            "--at",
            "#30",
            "--frames",
            "12",
            "--output",
            str(file),
        )
        == 0
    )
    assert shell.out == ""
    assert "film.html" in shell.err
    source = file.read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="film">(.*?)</script>', source)[1])
    assert 0 < data["start"] < data["length"]
    assert [frame[0] for frame in data["frames"]] == sorted({frame[0] for frame in data["frames"]})
    last = [None] * data["height"]
    for _, _, changed, _ in data["frames"]:
        for row, number in zip(changed[::2], changed[1::2], strict=True):
            last[row] = "".join(data["rows"][number][3::4])
    assert shell("sessions", "export", session.id, "--format", "svg") == 0
    words = set(said(shell.out).split())
    assert {word for row in last for word in row.split() if word.isalnum()} <= words


@pytest.mark.spec(144)
def test_nothing_is_written_answered_or_listened_to(shell, session, monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("a film has no side effect")

    for name in ("append", "submit", "transact"):
        monkeypatch.setattr(f"workbench.journal.journal.Journal.{name}", forbidden)
    monkeypatch.setattr(JournalFeed, "start", forbidden)
    monkeypatch.setattr("workbench.tui.journal_source.sealed_changes", forbidden)
    monkeypatch.setattr("workbench.tui.journal_source.action_hunks", forbidden)
    monkeypatch.setattr("workbench.tui.journal_source.exact_parameters", forbidden)
    assert shell("sessions", "export", session.id, "--format", "cast", "--frames", "20") == 0


def test_what_stands_around_a_change_is_not_read_in_a_replay(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "workbench.tui.journal_source.sealed_changes", lambda *_: pytest.fail("sealed bytes were read")
    )
    with golden.load("rename-handler", tmp_path / "home") as journal:
        session = next(one for one in journal.sessions() if one.id != SYSTEM_SESSION)
        source = ReplaySource(journal, session)
        for index in range(1, len(source.timeline) + 1):
            source.seek(index)
            assert [source.base_lines(one) for one in source.actions(9)] == [{}] * len(source.actions(9))


def test_idle_times_are_short_or_kept_and_thinning_is_said(shell, session):
    lengths = {}
    for idle in ("short", "keep"):
        assert (
            shell("sessions", "export", session.id, "--format", "cast", "--frames", "12", "--idle", idle) == 0
        )
        lengths[idle] = json.loads(shell.out.splitlines()[0])["duration"]
        assert "make more than 12 frames" in shell.err
        assert sum(json.loads(line)[1] == "o" for line in shell.out.splitlines()[1:]) <= 13
    assert lengths["keep"] > lengths["short"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--at", "999%"), "not a moment of this recording"),
        (("--at", "999:00"), "Name one of 0:00 to "),
        (("--size", "10x5"), "not a size from 40x12"),
        (("--size", "9999x9999"), "not a size"),
        (("--size", "١٢٠x٣٦"), "not a size"),
        (("--frames", "1"), "not a number from 2"),
        (("--theme", "solarized"), "invalid choice"),
        (("--animate", "--seconds", "0"), "not a number of seconds from 1 to 600"),
        (("--animate", "--format", "html"), "--animate is for pictures"),
    ],
)
def test_wrong_options_are_said(shell, session, words, why):
    assert shell("sessions", "export", session.id, "--format", "svg", *words) == 2
    assert why in shell.err
    assert shell.out == ""


def test_a_folder_that_is_not_there_is_said(shell, session, tmp_path):
    file = tmp_path / "none" / "x.svg"
    assert shell("sessions", "export", session.id, "--format", "svg", "--output", str(file)) == 1
    assert f"Nothing was exported.\nThere is no folder {file.parent}." in shell.err


def test_other_formats_go_into_a_file_too(shell, session, tmp_path):
    for form in ("events", "markdown"):
        assert shell("sessions", "export", session.id, "--format", form) == 0
        printed = shell.out
        file = tmp_path / form
        assert shell("sessions", "export", session.id, "--format", form, "--output", str(file)) == 0
        assert file.read_text(encoding="utf-8") == printed


@pytest.mark.parametrize("session", ["bump-deps"], indirect=True)
def test_a_file_has_the_colours_of_its_theme_on_every_terminal(shell, session, monkeypatch):
    pictures = []
    for no_color in (False, True):
        monkeypatch.setenv("NO_COLOR", "1") if no_color else monkeypatch.delenv("NO_COLOR", raising=False)
        assert shell("sessions", "export", session.id, "--format", "svg", "--at", "#13") == 0
        pictures.append(shell.out)
    assert pictures[0] == pictures[1]


def test_a_film_shows_the_detail_of_the_row_under_the_cursor_at_every_moment(tmp_path, monkeypatch):
    seen = []
    settled = session_film.HeadlessReplay.frame

    def frame(replay, at):
        pane = replay._screen.approvals
        seen.append((pane.queue.cursor, pane.detail and pane.detail.id, replay._screen.state.pending))
        return settled(replay, at)

    monkeypatch.setattr(session_film.HeadlessReplay, "frame", frame)
    # As on a slow machine: the screen puts off what it makes of a row.
    monkeypatch.setattr(ReplayApp, "has_unread_keys", True)
    with golden.load("bump-deps", tmp_path / "home") as journal:
        session = next(one for one in journal.sessions() if one.id != SYSTEM_SESSION)
        options = session_film.FilmOptions(
            journal=journal, source=ReplaySource(journal, session), session=session, theme="workbench-dark",
            size=(100, 30),
        )  # fmt: skip
        film = session_film.run_coroutine(
            lambda: session_film.render_film(options, 1, Witness, lambda _: None)
        )
    assert [cursor for cursor, _, _ in seen] == [detail for _, detail, _ in seen]
    asks = [bool(pending) for _, _, pending in seen]
    assert True in asks and False in asks
    lefts = {frame.part.left for frame in film.frames if frame.part}
    assert len(lefts) == 2, "what asks, else the conversation"


class Witness:
    """Takes frames as the writer does, and keeps them to be compared with what a terminal reads back."""

    def __init__(self, film):
        self.tape, self.frames = formats_film.CastWriter(film), []

    def add(self, frame):
        self.tape.add(frame)
        self.frames.append(frame)


@pytest.mark.spec(140)
@pytest.mark.parametrize("name", ["hostile-text", "release-run"])
def test_a_terminal_that_plays_a_cast_shows_each_frame(name, tmp_path):
    with golden.load(name, tmp_path / "home") as journal:
        session = next(
            one for one in journal.sessions() if one.id != SYSTEM_SESSION and one.parent_id is None
        )
        shoot = session_film.FilmOptions(
            journal=journal, source=ReplaySource(journal, session), session=session, theme="workbench-dark",
            size=(100, 30), most=16,
        )  # fmt: skip
        seen = session_film.run_coroutine(lambda: session_film.render_film(shoot, 1, Witness, lambda _: None))
    head, *lines = [json.loads(line) for line in seen.tape.end()]
    screen = pyte.Screen(head["width"], head["height"])
    stream, painted = pyte.Stream(screen), [line for line in lines if line[1] == "o"]
    assert len(painted) == len(seen.frames) + 1
    for (at, _, data), frame in zip(painted, seen.frames, strict=False):
        stream.feed(data)
        assert at == frame.at / 1_000_000
        for row, runs in zip(screen.display, frame.rows, strict=True):
            told = "".join(part for part, _ in runs)
            if told.isascii():
                assert row == told
            assert [one for one in row.split() if one.isascii()] == [
                one for one in told.split() if one.isascii()
            ]
    assert len(seen.frames) > 5
