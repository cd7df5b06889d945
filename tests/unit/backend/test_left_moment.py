"""What ended between the end of one screen and the beginning of the next."""

from tests.support.stage import USER, Stage, exchange, recording, text
from workbench.backend.local_backend import LocalBackend
from workbench.domain.events import MarkAdded
from workbench.effects.clock import ManualClock


def test_what_ended_since_a_screen_was_left_is_found_once_for_each_session(tmp_path):
    script = recording(exchange(text("one")), exchange(text("two")))
    stage = Stage(tmp_path, script, clock=ManualClock())
    backend = LocalBackend(stage.home, stage.journal, str(stage.workspace))
    stage.begin(title="early")
    stage.drive()
    assert backend.ends_since_left() == (), "no screen was left here yet"
    stage.journal.clock.advance(1)
    backend.keep_left()
    assert list(backend.ends_since_left()) == []
    stage.journal.clock.advance(1)
    first = stage.session_id
    stage.begin(title="late")
    stage.drive()
    stage.journal.append([stage.journal.event(MarkAdded(label="x"), first, USER)])
    assert [(end.title, end.what, end.state) for end in backend.ends_since_left()] == [
        ("late", "turn", "ended")
    ]
    stage.journal.clock.advance(1)
    backend.keep_left()
    assert list(backend.ends_since_left()) == []
    stage.close()


def test_a_file_that_cannot_be_read_says_nothing(tmp_path):
    stage = Stage(tmp_path, recording(exchange(text("one"))), clock=ManualClock())
    backend = LocalBackend(stage.home, stage.journal, str(stage.workspace))
    backend.keep_left()
    (kept,) = (stage.home.path / "left").iterdir()
    kept.write_text("soon")
    assert backend.ends_since_left() == ()
    stage.close()
