"""After-images written as patches: applied by the program's rules they are exactly what was chosen."""

import random

import pytest

from tests.support.sizes import size
from tests.support.tables import each_row
from tests.unit.changes import drawn_patches as drawn
from workbench.changes.begin_patch import PatchRefused, read_patch
from workbench.changes.decision import taken_bytes
from workbench.changes.diff import FileChange, make_hunks
from workbench.changes.patch_writer import EVERY_RULE, write_patch
from workbench.changes.patched_files import patched_files
from workbench.domain.values import SelectedHunk


def change(before, after, path="f", moved_from=None):
    return FileChange(path=path, before=before, after=after, mode=0o644, moved_from=moved_from)


def applied(patch, changes, line_ends):
    files = {each.path: each.before for each in changes}
    return files | {
        each.path: each.after for each in patched_files(read_patch(patch), files.get, line_ends=line_ends)
    }


LINES = b"".join(b"line %d\n" % number for number in range(40))


@each_row(
    ("changes", "patch"),
    [
        ([change(LINES, LINES.replace(b"20\n", b"twenty\n"))],
         "*** Update File: f\n@@\n line 17\n line 18\n line 19\n-line 20\n+line twenty\n line 21\n line 22\n line 23\n"),
        ([change(b"a\n", b"b\n")], "*** Update File: f\n@@\n-a\n+b\n*** End of File\n"),
        ([change(None, b"a\n\n")], "*** Add File: f\n+a\n+\n"),
        ([change(None, b"")], "*** Add File: f\n"),
        ([change(b"a", None)], "*** Delete File: f\n"),
        ([change(b"a\n", None), change(None, b"a\n", "g", "f")], "*** Update File: f\n*** Move to: g\n@@\n a\n"),
        ([change(b"a\n\n", None), change(None, b"b\n\n", "g", "f")], "*** Delete File: f\n*** Add File: g\n+b\n+\n"),
        ([change(None, b"a\n", "g", "f")], "*** Add File: g\n+a\n"),
        ([change(b"a\n", b"a\n"), change(b"b\n", None, "g")], "*** Delete File: g\n"),
        ([change(b"a\n\n", b"b\n\n")], "*** Add File: f\n+b\n+\n"),
    ],
)  # fmt: skip
def test_a_change_is_written_as_a_patch(changes, patch):
    assert write_patch(changes).decode() == f"*** Begin Patch\n{patch}*** End Patch\n"


def test_lines_that_may_be_markers_are_never_context():
    before = b"*** End Patch\na\n@@ x\n"
    for rule in EVERY_RULE:
        changes = [change(before, before.replace(b"a", b"b"))]
        assert applied(write_patch(changes), changes, rule)["f"] == changes[0].after


def test_a_place_that_few_lines_do_not_tell_gets_more_of_them():
    before = (b"x\n" * 10 + b"y\n") * 3
    changes = [change(before, before[:-12] + b"new\n" + before[-12:])]
    for rule in EVERY_RULE:
        assert applied(write_patch(changes), changes, rule)["f"] == changes[0].after


@each_row(
    ("changes", "rules"),
    [
        ([change(b"a\n", b"b")], EVERY_RULE),
        ([change(None, b"a")], EVERY_RULE),
        ([change(None, b"a\r\n")], EVERY_RULE),
        ([change(b"a\r\nb\r\n", b"a\r\nc\r\n")], EVERY_RULE),
        ([change(b"a\nb\n", b"a\r\nb\r\n")], EVERY_RULE),
        ([change(None, b"\xff\xfe\n")], EVERY_RULE),
        ([change(b"\xff\n", b"\xfe\n")], EVERY_RULE),
        ([change(b"\xff\n", None)], EVERY_RULE),
        ([change(b"\0\n", b"\0\0\n")], EVERY_RULE),
        ([change(None, b"a\n", " f")], EVERY_RULE),
        ([change(None, b"a\n", "f\n*** Delete File: g"), change(b"x", b"x", "g")], EVERY_RULE),
        ([change(b"a\n", b"a\n")], EVERY_RULE),
        ([], EVERY_RULE),
    ],
)
def test_what_cannot_be_written_is_an_error(changes, rules):
    with pytest.raises(PatchRefused):
        write_patch(changes, rules)


def test_line_ends_are_kept_where_the_program_keeps_them():
    changes = [change(b"a\r\nb\r\n", b"a\r\nc\r\n")]
    assert applied(write_patch(changes, ("preserved",)), changes, "preserved")["f"] == b"a\r\nc\r\n"


def drawn_changes(chance):
    """Return changes of a drawn tree: some edited, some made, some gone, some moved."""
    changes = []
    for name, text in drawn.tree(chance).items():
        before, kind = text.encode(), chance.randrange(8)
        after = edited(chance, text).encode()
        if kind == 0:
            changes.append(change(None, after, name))
        elif kind == 1:
            changes.append(change(before, None, name))
        elif kind == 2:
            changes += [
                change(before, None, name),
                change(None, chance.choice((before, after)), f"new {name}", name),
            ]
        else:
            changes.append(change(before, after, name))
    return changes


def edited(chance, text):
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = chance.randrange(len(lines) + 1)
        lines[place : place + chance.choice((0, 0, 1, 2))] = [
            chance.choice(drawn.WORDS) + end for _ in range(chance.choice((0, 1, 2)))
        ]
    return "".join(lines)


def chosen(chance, changes):
    """Return changes of which some hunks were taken."""
    hunks = make_hunks(changes)
    selection = tuple(SelectedHunk(hunk=hunk.index) for hunk in hunks if chance.random() < 0.6)
    edits = [each.before is not None and each.after is not None for each in changes]
    return [
        change(each.before, taken_bytes(each, hunks, selection), each.path) if is_edit else each
        for each, is_edit in zip(changes, edits, strict=True)
    ]


def test_drawn_choices_written_and_applied_are_the_chosen_bytes():
    written = refused = 0
    for run in range(size("WORKBENCH_WRITTEN_PATCHES", 400, 30_000)):
        chance = random.Random(drawn.SEED + run)
        changes = chosen(chance, drawn_changes(chance))
        for rules in ((chance.choice(EVERY_RULE),), EVERY_RULE):
            try:
                patch = write_patch(changes, rules)
            except PatchRefused:
                refused += 1
                continue
            written += 1
            for rule in rules:
                after = {each.path: each.after for each in changes}
                assert applied(patch, changes, rule) == after, (drawn.SEED + run, patch)
    assert written > refused > 0
