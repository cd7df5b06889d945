"""What a human's answer comes to: the bytes it seals, the digest that names them, and what it refuses."""

import hashlib

import pytest
from msgspec.structs import replace

from workbench.changes.decision import (
    SealedBytesMissing,
    action_hunks,
    approval_outcome,
    exact_parameters,
    result_digest,
    seal_decision,
    sealed_changes,
)
from workbench.domain.events import ActionOpened
from workbench.domain.values import Decision, FilePlan, SelectedHunk

BEFORE = b"a\n" + b"x\n" * 30 + b"h\n"
AFTER = b"A\n" + b"x\n" * 30 + b"H\n"


class Blobs:
    def __init__(self):
        self.held = {}

    def seal(self, data):
        ref = f"sealed/{len(self.held)}"
        self.held[ref] = data
        return ref

    def read(self, ref):
        return self.held.get(ref)

    def keyed(self, data):
        return hashlib.sha256(b"key" + data).hexdigest()


@pytest.fixture
def blobs():
    return Blobs()


def opened(blobs, files=True, **changed):
    plan = FilePlan(
        path="x.txt", base=blobs.keyed(BEFORE), after=blobs.keyed(AFTER), mode=0o644,
        base_ref=blobs.seal(BEFORE), after_ref=blobs.seal(AFTER),
    )  # fmt: skip
    return ActionOpened(
        action_kind="tool", tool="replace_string_in_file", target="x.txt", parameters={"path": "x.txt"},
        digest="proposed", files=(plan,) if files else (), **{"created_at": 1, "expires_at": 2, **changed},
    )  # fmt: skip


def sealed(action, blobs, edited=None, verdict="approve", **more):
    return seal_decision(action, Decision(action_id="a1", verdict=verdict, **more), blobs, edited)


def test_an_approval_as_shown_comes_to_what_was_proposed(blobs):
    action = opened(blobs)
    (change,) = sealed_changes(action.files, blobs)
    assert (change.before, change.after) == (BEFORE, AFTER)
    assert approval_outcome(action, blobs, None, None) == ((change,), "proposed")
    plain = sealed(action, blobs)
    assert (plain.selection, plain.edited, plain.result_digest) == (None, None, None)


def test_some_hunks_are_sealed_and_named_by_another_digest(blobs):
    action = opened(blobs)
    assert len(action_hunks(action, blobs)) == 2
    made = sealed(action, blobs, selection=(SelectedHunk(hunk=1),))
    wanted = BEFORE.replace(b"a\n", b"A\n")
    assert wanted in blobs.held.values()
    (change,), digest = approval_outcome(action, blobs, [SelectedHunk(hunk=1)], None)
    assert change.after == wanted
    assert made.result_digest == digest == result_digest(action, [change], blobs) != "proposed"
    assert made.selection == (SelectedHunk(hunk=1),)


def test_an_edited_file_is_sealed_and_referred_to(blobs):
    action = opened(blobs)
    made = sealed(action, blobs, {"x.txt": b"mine\n"})
    assert {path: blobs.read(ref) for path, ref in made.edited.items()} == {"x.txt": b"mine\n"}
    assert made.result_digest not in (None, "proposed")


def test_a_rejection_carries_no_bytes(blobs):
    made = sealed(opened(blobs), blobs, verdict="reject", selection=(SelectedHunk(hunk=1),), reason="no")
    assert (made.verdict, made.reason, made.selection, made.result_digest) == ("reject", "no", None, None)


def test_an_action_without_files_has_nothing_to_choose_from(blobs):
    with pytest.raises(ValueError, match="changes no file"):
        sealed(opened(blobs, files=False), blobs, selection=(SelectedHunk(hunk=1),))


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_sealed_bytes_that_are_gone_or_damaged_are_said(blobs, damage):
    action = opened(blobs)
    ref = action.files[0].after_ref
    if damage == "gone":
        del blobs.held[ref]
    else:
        blobs.held[ref] = b"other"
    with pytest.raises(SealedBytesMissing) as caught:
        sealed_changes(action.files, blobs)
    assert "x.txt" in caught.value.why
    assert caught.value.remedy


def test_a_file_that_is_made_or_removed_has_one_side(blobs):
    plan = FilePlan(path="n", base=None, after=blobs.keyed(b"n"), mode=0o644, after_ref=blobs.seal(b"n"))
    (change,) = sealed_changes((plan,), blobs)
    assert (change.before, change.after) == (None, b"n")


def test_parameters_are_those_that_the_agent_wrote(blobs):
    recorded = {"token": "mark"}
    assert exact_parameters(recorded, None, blobs) == recorded
    assert exact_parameters(recorded, blobs.seal(b'{"token":"real"}'), blobs) == {"token": "real"}
    with pytest.raises(SealedBytesMissing, match="parameters"):
        exact_parameters(recorded, "sealed/nothing", blobs)


def test_a_file_that_is_removed_has_nothing_to_seal(blobs):
    gone = FilePlan(path="gone", base=blobs.keyed(b"g"), after=None, mode=0o644, base_ref=blobs.seal(b"g"))
    action = opened(blobs)
    both = replace(action, files=(*action.files, gone))
    made = sealed(both, blobs, {"x.txt": b"mine\n"})
    assert made.result_digest
    assert [change.after for change in approval_outcome(both, blobs, None, {"x.txt": b"mine\n"})[0]] == [
        b"mine\n",
        None,
    ]


def test_a_selection_of_everything_is_a_plain_approval(blobs):
    action = opened(blobs)
    action = replace(action, digest=result_digest(action, sealed_changes(action.files, blobs), blobs))
    pieces = (SelectedHunk(hunk=1, lines=(1, 2)), SelectedHunk(hunk=2))
    assert sealed(action, blobs, selection=pieces).selection is None
    part = sealed(action, blobs, selection=pieces[:1])
    assert (part.selection, part.result_digest != action.digest) == (pieces[:1], True)
