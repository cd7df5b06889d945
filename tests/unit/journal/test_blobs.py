"""Stored bytes: named by keyed digest, whole or absent, swept when nothing refers to them."""

import hashlib
import hmac
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.journal.scenes import USER, start
from workbench.domain.events import PromptSubmitted
from workbench.effects import fault_points
from workbench.journal.errors import JournalError, JournalFailed, JournalFull
from workbench.journal.journal import Journal
from workbench.journal.maintenance import sweep_unused_blobs


def path_of(journal: Journal, ref: str) -> Path:
    return journal.home.blobs / ref.replace(":", "/")


def files(journal: Journal) -> list[str]:
    return sorted(path.name for path in journal.home.blobs.rglob("*") if path.is_file())


def age(path: Path, hours: float) -> None:
    then = time.time() - hours * 3600
    os.utime(path, (then, then))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@given(data=st.binary(max_size=200))
def test_bytes_come_back_exactly(journal: Journal, data: bytes) -> None:
    assert journal.blobs.read(journal.blobs.seal(data)) == data
    assert journal.blobs.read(journal.blobs.record(data)) == data


def test_a_name_is_a_keyed_digest_and_the_same_bytes_are_one_private_file(journal: Journal) -> None:
    ref = journal.blobs.seal(b"secret")
    digest = hmac.new(journal.home.key, b"secret", hashlib.sha256).hexdigest()
    assert ref == f"sealed:{digest}"
    assert journal.blobs.keyed(b"secret") == digest
    assert journal.blobs.seal(b"secret") == ref
    assert files(journal) == [digest]
    assert path_of(journal, ref).stat().st_mode & 0o777 == 0o600
    assert journal.blobs.record(b"secret") == f"recorded:{digest}"


def test_damaged_bytes_are_not_given_out_but_named_and_healed(journal: Journal) -> None:
    ref = journal.blobs.seal(b"data")
    path_of(journal, ref).write_bytes(b"date")
    assert (journal.blobs.read(ref), journal.blobs.state(ref)) == (None, "damaged")
    assert journal.blobs.damaged == {ref}
    assert journal.blobs.seal(b"data") == ref
    assert (journal.blobs.read(ref), journal.blobs.damaged) == (b"data", set())


@pytest.mark.parametrize("ref", ["sealed:" + "0" * 64, "sealed:../../key", "key", "other:" + "0" * 64, ""])
def test_what_is_no_blob_is_missing(journal: Journal, ref: str) -> None:
    assert (journal.blobs.read(ref), journal.blobs.state(ref), journal.blobs.has(ref)) == (
        None,
        "missing",
        False,
    )
    assert not journal.blobs.remove(ref)


def test_a_link_in_the_place_of_a_blob_is_not_given_out(journal: Journal) -> None:
    ref = journal.blobs.seal(b"data")
    path = path_of(journal, ref)
    path.unlink()
    path.symlink_to(journal.home.path / "key")
    assert journal.blobs.read(ref) is None


def test_the_sweep_takes_only_what_is_old_and_unused(journal: Journal) -> None:
    start(journal)
    used, unused, young = (journal.blobs.seal(data) for data in (b"used", b"unused", b"young"))
    journal.append([journal.event(PromptSubmitted(text="x", text_ref=used), "s", USER)])
    leftover = journal.home.blobs / "sealed" / f".workbench-{'0' * 32}.tmp"
    leftover.write_bytes(b"half")
    for path in (path_of(journal, used), path_of(journal, unused), leftover):
        age(path, 2)
    assert sweep_unused_blobs(journal) == 2
    assert files(journal) == sorted(ref.partition(":")[2] for ref in (used, young))


def test_storing_again_keeps_the_sweep_away(journal: Journal) -> None:
    ref = journal.blobs.seal(b"again")
    age(path_of(journal, ref), 2)
    journal.blobs.seal(b"again")
    assert sweep_unused_blobs(journal) == 0
    assert journal.blobs.has(ref)


@pytest.mark.spec(72)
@pytest.mark.parametrize(("point", "left"), [("journal.blob_written", 0), ("journal.blob_renamed", 1)])
def test_a_blob_is_whole_or_absent_wherever_storing_stops(journal: Journal, point: str, left: int) -> None:
    with fault_points.arm_fault(point, OSError(5, "stop")), pytest.raises(JournalFailed, match="stop"):
        journal.blobs.seal(b"data")
    names = [name for name in files(journal) if not name.startswith(".")]
    assert len(names) == left
    assert journal.blobs.read(journal.blobs.seal(b"data")) == b"data"


def test_a_full_disk_is_said_so(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.effects.file_primitives.write_all", full)
    with pytest.raises(JournalFull) as caught:
        journal.blobs.seal(b"data")
    assert isinstance(caught.value, JournalError)
    assert files(journal) == []
