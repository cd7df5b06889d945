"""A command and a path with odd spaces are marked in rows and details; the words of a question are not."""

from tests.unit.render.inks import DARK
from tests.unit.views.making import NOW, action
from workbench.cli.approval_display import _parameter_lines
from workbench.domain.events import ActionOpened
from workbench.render.action_detail import _command_lines
from workbench.views.action_detail import action_detail
from workbench.views.approvals import queue_rows

COMMAND = "rm -rf\u00a0x"
MARKED = "rm -rf⟨U+00A0⟩x"


def test_rows_and_details_of_commands_mark_them():
    asked = action(tool="run_in_terminal", verb="run", target=COMMAND)
    (row,) = queue_rows([asked], {}, NOW)
    assert row.target == MARKED
    opened = ActionOpened(
        action_kind="tool", tool="run_in_terminal", target=COMMAND, digest="d", created_at=NOW,
        expires_at=None, verb="run", cwd="/w", prompt="", choices=(), parameters={"command": COMMAND},
    )  # fmt: skip
    detail = action_detail(asked, opened, (), NOW)
    assert detail.command == COMMAND, "what is copied is what would run"
    assert [line.plain for line in _command_lines(detail, 60, DARK)] == [MARKED]


def test_approvals_show_marks_them_in_commands_and_paths_only():
    assert _parameter_lines("command", COMMAND, None) == [f"  command: {MARKED}"]
    assert _parameter_lines("path", "a\u2003b", None) == ["  path: a⟨U+2003⟩b"]
    assert _parameter_lines("content", "oui\u00a0!", None) == ["  content: oui\u00a0!"]


def test_the_words_of_a_question_keep_theirs():
    (row,) = queue_rows([action(kind="gate", verb="ask", target="Continuer\u00a0?")], {}, NOW)
    assert row.target == "Continuer\u00a0?"
