"""Rows of every state, in both alphabets, and nothing hostile in any of them."""

import pytest
from rows_cli import HOSTILE, NOW, RAW, action, call, session

from tests.support.tables import each_row
from workbench.changes.diff import FileChange, make_hunks
from workbench.cli import row_json
from workbench.cli.approval_display import (
    detail_json,
    detail_lines,
    diff_lines,
    file_change_lines,
    hunk_headings,
    selection_text,
)
from workbench.cli.console import status_icons_for
from workbench.cli.rows import ActionRow, action_line, call_line, session_line, spoken_action, waiting_lines
from workbench.domain.events import ActionOpened
from workbench.domain.values import Choice, SelectedHunk
from workbench.views.status_icons import action_status, call_status

UTF, ASCII = status_icons_for("utf-8"), status_icons_for("ascii")


@each_row(
    "row, its_call, sign, plain, word",
    [
        (action(), None, "◆", "*", "waiting"),
        (action(stale_paths=("a",)), None, "≠", "%", "stale"),
        (action(state="approved"), None, "✓", "v", "approved"),
        (action(state="approved"), call(), "✓", "v", "approved"),
        (action(state="approved", selection=(SelectedHunk(hunk=1),)), call(), "◧", "/", "partly"),
        (action(state="approved", edited={"a": "sealed:1"}), None, "✓", "v", "edited"),
        (action(state="approved"), call(state="failed"), "×", "x", "failed"),
        (action(state="approved"), call(state="interrupted"), "?", "?", "outcome unknown"),
        (action(state="approved"), call(state="executing"), "●", "@", "running"),
        (action(state="rejected"), call(state="rejected"), "∅", "0", "rejected"),
        (action(state="expired"), call(state="expired"), "◇", "~", "expired"),
        (action(state="cancelled"), None, "–", "_", "withdrawn"),
        (action(state="superseded"), None, "–", "_", "replaced"),
    ],
)
def test_every_state_of_an_action_has_a_sign_and_a_word(row, its_call, sign, plain, word):
    meaning, found = action_status(row, its_call)
    assert (UTF.of(meaning), ASCII.of(meaning), found) == (sign, plain, word)
    assert action_line(ActionRow(action=row, call=its_call), UTF, NOW).startswith(f"{sign} {word}")


@each_row(
    "row, sign, word",
    [
        (call(), "✓", "ok"),
        (call(state="failed"), "×", "failed"),
        (call(state="rejected"), "∅", "rejected"),
        (call(state="rejected", action_id=None), "×", "not allowed"),
        (call(state="expired"), "◇", "expired"),
        (call(state="interrupted"), "?", "outcome unknown"),
        (call(state="cancelled"), "–", "cancelled"),
        (call(state="executing"), "●", "running"),
        (call(state="pending"), "◆", "waiting"),
        (call(state="pending", action_id=None), "◯", "todo"),
        (call(state="approved"), "◯", "approved"),
    ],
)
def test_every_state_of_a_call_has_a_sign_and_a_word(row, sign, word):
    meaning, found = call_status(row)
    assert (UTF.of(meaning), found) == (sign, word)


def test_rows_as_they_are_read():
    assert action_line(ActionRow(action=action(), title="rename handler"), UTF, NOW) == (
        "◆ waiting  3f2a0000  edit  src/shop/router.py  +9 −4  rename handler  4:59"
    )
    assert call_line(call(state="failed", exit_code=1, error="it ended\nbadly"), ASCII) == (
        "x failed  replace_string_in_file  src/shop/router.py  exit 1  12 ms: it ended⏎badly"
    )
    parked = session(reason="parked")
    assert session_line(parked, "5e550000", 2, UTF, NOW).startswith("◆ 5e550000  waiting ")
    assert session_line(parked, "5e550000", 0, UTF, NOW).startswith("– 5e550000  paused (parked) ")


@pytest.mark.parametrize(
    ("status", "reason", "begins"),
    [
        ("ready", None, "✓ 5e550000  ready "),
        ("ready", "failed", "× 5e550000  failed "),
        ("paused", "failed", "× 5e550000  failed "),
        ("paused", "unattended", "◇ 5e550000  expired "),
        ("processing", None, "● 5e550000  running "),
        ("terminated", None, "– 5e550000  ended "),
    ],
)
def test_a_session_is_listed_as_what_it_is(status, reason, begins):
    assert session_line(session(status=status, reason=reason), "5e550000", 0, UTF, NOW).startswith(begins)


def test_the_words_of_line_mode():
    asked = ActionRow(action=action(), title="rename handler", hunks=3)
    assert spoken_action(1, asked, NOW) == (
        "1 edit src/shop/router.py, 3 hunks, plus 9 minus 4, session rename handler, 5 minutes left."
    )


def test_a_waiting_row_names_the_command_that_answers_it():
    assert "workbench approvals approve 3f2a0000-0000-4000-8000-000000000001" in waiting_lines(
        action(), UTF, NOW
    )
    assert "workbench approvals answer 3f2a" in waiting_lines(action(kind="gate"), UTF, NOW)


OPENED = ActionOpened(
    action_kind="tool", tool="t", target=HOSTILE, digest="d", created_at=NOW, expires_at=NOW, cwd=HOSTILE,
    prompt=HOSTILE, choices=(Choice(key=HOSTILE, label=HOSTILE),),
)  # fmt: skip
CHANGE = FileChange(
    path=HOSTILE, before=b"a\n", after=f"a\n{HOSTILE}\n".encode("utf-8", "replace"), mode=0o644
)


@each_row(
    "lines",
    [
        [action_line(ActionRow(action=action(target=HOSTILE), title=HOSTILE), UTF, NOW)],
        [spoken_action(1, ActionRow(action=action(target=HOSTILE), title=HOSTILE), NOW)],
        [waiting_lines(action(target=HOSTILE), UTF, NOW)],
        [call_line(call(tool=HOSTILE, target=HOSTILE, state="failed", error=HOSTILE), UTF)],
        [session_line(session(title=HOSTILE, model=HOSTILE), "5e55", 0, UTF, NOW)],
        diff_lines(make_hunks([CHANGE])),
        hunk_headings(make_hunks([CHANGE])),
        file_change_lines([FileChange(path=HOSTILE, before=None, after=b"x", mode=0o644)]),
        detail_lines(
            ActionRow(action=action(target=HOSTILE, reason=HOSTILE, state="rejected", decided_at=NOW), title=HOSTILE),
            OPENED, {HOSTILE: HOSTILE, "many": f"{HOSTILE}\n{HOSTILE}", "list": [HOSTILE]}, make_hunks([CHANGE]), [CHANGE], UTF, NOW,
        ),
    ],
)  # fmt: skip
def test_nothing_hostile_reaches_a_row_raw(lines):
    text = "\n".join(lines)
    assert text and not [raw for raw in RAW if raw in text]


def test_a_diff_numbers_hunks_and_changed_lines_as_they_are_named():
    before = b"".join(b"line %d\n" % n for n in range(30))
    after = before.replace(b"line 2\n", b"two\n").replace(b"line 25\n", b"")
    lines = diff_lines(make_hunks([FileChange(path="a.py", before=before, after=after, mode=0o644)]))
    assert lines[0] == "a.py"
    assert [line for line in lines if "hunk" in line] == [
        "  hunk 1 of 2  @@ -1,6 +1,6 @@",
        "  hunk 2 of 2  @@ -23,7 +23,6 @@",
    ]
    assert [line for line in lines if line[:5].strip().isdigit()] == [
        "    1  -line 2", "    2  +two", "    1  -line 25",
    ]  # fmt: skip


def test_a_changed_line_end_is_seen_and_a_common_one_is_not():
    whole = diff_lines(make_hunks([FileChange(path="a", before=b"a\r\n", after=b"b\r\n", mode=0o644)]))
    assert "lines end in CR LF" in whole[1] and not any("U+000D" in line for line in whole)
    moved = diff_lines(make_hunks([FileChange(path="a", before=b"a\n", after=b"a\r\n", mode=0o644)]))
    assert any("⟨U+000D⟩" in line for line in moved)


def test_files_without_lines_are_named():
    changes = [
        FileChange(path="new", before=None, after=b"x\n", mode=0o644),
        FileChange(path="gone", before=b"x\n", after=None, mode=0o644),
        FileChange(path="bin", before=b"\0", after=b"\0\0", mode=0o644),
        FileChange(path="text", before=b"a\n", after=b"b\n", mode=0o644),
    ]
    assert file_change_lines(changes) == [
        "new: new file, 2 B", "gone: deleted, it had 2 B", "bin: binary, 1 B before, 2 B after",
    ]  # fmt: skip


def test_a_selection_in_words():
    assert (
        selection_text((SelectedHunk(hunk=1), SelectedHunk(hunk=3, lines=(2, 3))))
        == "hunk 1 and lines 2, 3 of hunk 3"
    )
    assert selection_text(()) == "nothing"


LISTED = ["id", "session_id", "call_id", "kind", "tool", "target", "added", "removed", "digest", "created_at",
          "expires_at", "state", "supersedes", "warnings"]  # fmt: skip


@pytest.mark.spec(205)
def test_the_json_of_an_action_in_a_list():
    found = row_json.action_json(action(warnings=("hidden",)))
    assert list(found) == LISTED
    assert found["created_at"] == "2023-11-14T22:13:20.000000Z" and found["warnings"] == ["hidden"]
    assert row_json.action_json(action(expires_at=None))["expires_at"] is None


def test_the_json_of_one_action_has_its_decision_and_outcome():
    row = action(
        state="approved", decided_by="user (cli, pid 4)", decided_at=NOW, selection=(SelectedHunk(hunk=1),)
    )
    found = detail_json(row, OPENED, {"a": 1}, make_hunks([CHANGE]), call(exit_code=0))
    assert found["decision"]["by"] == "user (cli, pid 4)"
    assert found["decision"]["selection"] == [{"hunk": 1, "lines": None}]
    assert (found["outcome"]["state"], found["outcome"]["exit_code"]) == ("succeeded", 0)
    assert found["hunks"][0]["index"] == 1 and found["parameters"] == {"a": 1}
    assert detail_json(action(), OPENED, {}, (), None)["decision"] is None


@pytest.mark.spec(210)
def test_the_json_of_a_call_tells_who_what_when_and_how_it_ended():
    found = row_json.call_json(call(parameters={"path": "a"}, verdict_by="default", finished_at=NOW))
    wanted = {
        "tool",
        "parameters",
        "verdict_by",
        "approval_method",
        "requested_at",
        "finished_at",
        "state",
        "summary",
    }
    assert wanted <= set(found)


def test_the_json_of_a_session():
    found = row_json.session_json(session(reason="parked"), 2)
    assert (found["reason"], found["waiting"]) == ("parked", 2)
    assert found["usage"] == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
