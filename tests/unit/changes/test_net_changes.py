"""Several writes of a file as one change back or forth, and what that would do to the file as it is now."""

import pytest

from workbench.changes.undo import FileWrite, look_at_file, net_changes
from workbench.domain.values import BlobRef
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage


def keyed(data):
    return f"k:{data.decode()}"


def ref(text):
    return BlobRef(f"sealed:{text}")


def write(call, path, before, after, mode=0o644):
    """Return a write of a text over another; None is no file."""
    return FileWrite(
        call_id=call, path=path, mode=mode,
        before=None if before is None else keyed(before.encode()), before_ref=before and ref(before),
        after=None if after is None else keyed(after.encode()), after_ref=after and ref(after),
    )  # fmt: skip


TWICE = [write("c1", "a.py", "one", "two"), write("c2", "a.py", "two", "three", 0o755)]


def test_several_writes_of_a_file_come_to_its_first_content_and_again_to_its_last():
    (back,) = net_changes(TWICE)
    assert (back.expected, back.wanted, back.calls) == ("k:three", "k:one", ("c1", "c2"))
    assert (back.wanted_ref, back.mode, back.is_continuous) == (ref("one"), 0o644, True)
    (again,) = net_changes(TWICE, is_redo=True)
    assert (again.expected, again.wanted, again.wanted_ref) == ("k:one", "k:three", ref("three"))
    assert again.mode == 0o755


def test_files_are_apart_and_one_that_comes_out_as_it_went_in_is_left_out():
    there_and_back = [write("c3", "b.py", "x", "y"), write("c4", "b.py", "y", "x")]
    made = write("c5", "new.py", None, "n")
    assert [change.path for change in net_changes([made, *there_and_back, *TWICE])] == ["a.py", "new.py"]


def test_a_write_over_what_somebody_else_had_made_is_noticed():
    (change,) = net_changes([write("c1", "a.py", "one", "two"), write("c2", "a.py", "theirs", "three")])
    assert not change.is_continuous


def seen(writes, now, kept=("one", "two", "three", "x")):
    """Return what undoing writes would do to a file with a text, None where there is none."""

    def image(path):
        if isinstance(now, Exception):
            raise now
        return None if now is None else FileImage(data=now.encode(), mode=0o600, size=len(now), links=1)

    def unseal(blob):
        text = blob.removeprefix("sealed:")
        return text.encode() if text in kept else None

    (net,) = net_changes(writes)
    return look_at_file(net, image, keyed, unseal)


@pytest.mark.parametrize(
    ("writes", "now", "state", "wanted", "mode"),
    [
        (TWICE, "three", "ready", b"one", 0o600),
        (TWICE, "somebody's", "stale", b"one", 0o600),
        (TWICE, None, "stale", b"one", 0o644),
        ([write("c1", "a.py", None, "x")], "x", "ready", None, 0o600),
        ([write("c1", "a.py", "x", None)], None, "ready", b"x", 0o644),
        ([write("c1", "a.py", "one", "two"), write("c2", "a.py", "theirs", "three")], "three", "stale", b"one", 0o600),
        ([write("c1", "a.py", "gone", "x")], "x", "lost", None, 0o600),
    ],
)  # fmt: skip
def test_what_a_file_would_become(writes, now, state, wanted, mode):
    file = seen(writes, now)
    assert (file.state, file.wanted, file.mode) == (state, wanted, mode)
    assert file.can_be_taken == (state in ("ready", "stale"))
    assert file.now == (None if now is None else now.encode())


def test_a_file_that_is_already_what_is_wanted_is_no_change():
    assert seen(TWICE, "one") is None
    assert seen([write("c1", "a.py", None, "x")], None) is None


def test_a_file_that_cannot_be_read_is_refused_and_not_taken():
    file = seen(TWICE, FileRefused("a.py", "it is a link", "name the file itself"))
    assert (file.state, file.present, file.wanted, file.mode) == ("refused", None, b"one", 0o644)
    assert not file.can_be_taken
