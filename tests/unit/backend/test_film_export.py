"""Films that the screen asks for: written by a process of their own, refused with a reason, nothing left behind."""

from xml.etree import ElementTree

import pytest

from tests.support import golden
from workbench.backend import library
from workbench.backend.library import LocalLibrary
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal.home import Home
from workbench.tui.backend import BackendError, ExportRequest


@pytest.fixture
def stage(tmp_path):
    home = tmp_path / "home"
    with golden.load("rename-handler", home) as journal:
        session = next(
            one for one in journal.sessions() if one.id != SYSTEM_SESSION and one.parent_id is None
        )
        yield Home.open(home), journal, str(tmp_path), session


@pytest.mark.spec(140)
def test_a_picture_of_the_moment_is_written(stage, tmp_path):
    home, journal, here, session = stage
    wanted = ExportRequest(session_id=session.id, path="now.svg", index=40, size=(9, 900), theme="nord")
    told = []
    said = library.export_film(journal, here, wanted, told.append)
    assert said.startswith(f"Written: {tmp_path}/now.svg, ")
    root = ElementTree.parse(tmp_path / "now.svg").getroot()
    assert root.get("viewBox") == f"0 0 {40 * 8.4 + 24:g} {150 * 18 + 24}"
    assert not list(home.logs.glob("export-*"))
    with pytest.raises(BackendError, match="there already"):
        library.export_film(journal, here, wanted, told.append)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("x.mp4", "ends in none of .html .cast .svg"),
        ("x", "ends in none"),
        ("gone/x.svg", "no folder"),
        ("", "ends"),
    ],
)
def test_a_name_that_cannot_be_written_is_refused_before_anything_starts(stage, monkeypatch, path, why):
    _, journal, here, session = stage
    monkeypatch.setattr(library, "start_workbench", lambda *_: pytest.fail("a process was started"))
    with pytest.raises(BackendError, match=why):
        library.export_film(journal, here, ExportRequest(session_id=session.id, path=path), print)


def test_an_export_that_fails_is_told_with_its_last_words(stage):
    home, journal, here, _ = stage
    with pytest.raises(BackendError, match=r"Not written: .*nobody"):
        library.export_film(journal, here, ExportRequest(session_id="nobody", path="x.svg"), lambda _: None)
    assert not list(home.logs.glob("export-*"))


def test_the_library_writes_films_by_their_ending(stage, tmp_path):
    home, journal, here, session = stage
    said = LocalLibrary(home, journal, here).export(session.id, "film.svg")
    assert said.startswith("Written: ")
    assert (tmp_path / "film.svg").read_text().startswith("<svg")
