"""The room of the keyboard: what becomes of a press, who runs its row, and what it asks by type."""

import ast
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

import workbench.tui.keyboard
from tests.support.tables import each_row
from tests.tui.screens import play, staged
from tests.tui.test_typing import STATES, batch, composer, edit, leaving
from workbench.tui.approvals.approvals_pane import ApprovalsPane
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.dispatch import binding_of
from workbench.tui.keyboard.guard import KeyGuard
from workbench.tui.keyboard.table import all_rows
from workbench.tui.keyboard.text_field import is_text_field
from workbench.tui.main.prompt_bar import PromptBarInput

ROOM = Path(workbench.tui.keyboard.__file__).parent
CHARACTERS = [keymap.normalized_key(chr(code)) for code in range(33, 127)]


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


def recorded(monkeypatch, kind, name):
    """Record what a method returns, each time that it is called."""
    real, found = getattr(kind, name), []

    def method(*args, **more):
        found.append(real(*args, **more))
        return found[-1]

    monkeypatch.setattr(kind, name, method)
    return found


@pytest.mark.parametrize(
    ("keys", "outcomes"),
    [
        (["r", "r"], ["run", "wait"]),
        (["r", "n"], ["run", "text"]),
        (["r", "escape"], ["run", "refused"]),
        (["r", "down"], ["run", "run"]),
        (["h", "h"], ["run", "run"]),
    ],
    ids=str,
)
def test_a_press_has_one_of_four_outcomes(stage, monkeypatch, keys, outcomes):
    async def body(shown):
        accepted = recorded(monkeypatch, KeyGuard, "accept")
        for key in keys:
            await shown.press_once(key, wait=0.3 if accepted else 1.0)
        assert accepted == outcomes

    play(stage, body)


def test_a_decision_enters_the_action_of_its_pane_once_and_runs_its_row_once(stage, monkeypatch):
    async def body(shown):
        entered = recorded(monkeypatch, ApprovalsPane, "action_do")
        counted = recorded(monkeypatch, ApprovalsPane, "run_counted")
        await shown.press_once("r")
        assert (len(entered), len(counted)) == (1, 0)
        await shown.press_once("r", wait=0.3)
        await shown.pass_due()
        assert (len(entered), len(counted), len(shown.stage.waiting())) == (1, 1, 2)

    play(stage, body)


def test_a_row_that_is_off_by_the_time_its_key_counts_is_refused_and_not_run(stage, monkeypatch):
    async def body(shown):
        await shown.press_once("r")
        await shown.press_once("r", wait=0.3)
        monkeypatch.setattr(shown.approvals, "forbids", lambda key_id: "it is off by now")
        await shown.pass_due()
        assert (len(shown.stage.waiting()), shown.said) == (3, "It is off by now.")

    play(stage, body)


def test_what_a_decision_leads_to_is_not_asked_for_again(stage, monkeypatch):
    """Another row of the same key that the action runs itself was not pressed: it waits for nothing."""

    async def body(shown):
        ran = []
        monkeypatch.setattr(shown.approvals.actions, "extend", lambda: ran.append("extend"))
        reject = shown.approvals.actions.reject

        def reject_and_extend():
            reject()
            shown.approvals.run_key("approvals.extend")

        monkeypatch.setattr(shown.approvals.actions, "reject", reject_and_extend)
        monkeypatch.setattr(keymap, "is_key_of", lambda *_: True)
        await shown.press("r")
        assert (len(shown.stage.waiting()), ran, shown.app.guarded.pending_id) == (2, ["extend"], "")

    play(stage, body)


def test_the_binding_of_a_letter_is_the_one_that_the_framework_finds(stage):
    async def body(shown):
        seen = set()
        for reach in STATES:
            if reach in (composer, leaving):
                continue
            await edit(shown)
            await reach(shown)
            await shown.settle()
            active = shown.app.screen.active_bindings
            for key in CHARACTERS:
                found, there = binding_of(shown.app, key), active.get(key)
                assert (found and found.id) == (there and there.binding.id), (reach.__name__, key)
            seen.add(tuple(sorted((key, active[key].binding.id) for key in CHARACTERS if key in active)))
            while shown.app.screen is not shown.main:
                await shown.press("escape")
            await shown.press("escape", "2")
        assert len(seen) == 14, "most states have keys of their own"

    play(stage, body)


def test_in_a_text_field_no_letter_has_a_binding(stage):
    async def body(shown):
        await shown.press("i")
        assert {key for key in CHARACTERS if binding_of(shown.app, key) is not None} == set()

    play(stage, body)


def test_a_text_field_is_what_writes_letters():
    assert is_text_field(Input()) and is_text_field(TextArea())
    assert issubclass(PromptBarInput, Input)
    assert not is_text_field(None) and not is_text_field(ApprovalsPane())


@each_row("row", all_rows(), ids=lambda row: row.id)
def test_a_key_is_that_of_one_row_of_its_scope(row):
    for users in ({}, {"approvals.approve": "f8, ?", "app.leave": "f9"}):
        of_scope = keymap.ids_by_key(row.scope, users)
        names = {key for key, key_id in of_scope.items() if key_id == row.id}
        assert {key for key in of_scope if keymap.is_key_of(row.id, key, users)} == names


def test_the_room_asks_no_object_by_the_name_of_an_attribute_or_of_a_class():
    for path in sorted(ROOM.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            assert called not in ("hasattr", "getattr"), (path.name, node.lineno)
            assert not (isinstance(node, ast.Attribute) and node.attr == "__name__"), (path.name, node.lineno)


@pytest.mark.parametrize("keys", [["q", "q"], ["ctrl+q", "ctrl+q"], ["ctrl+q", "q", "q"]], ids=str)
def test_who_has_pressed_the_leaving_key_twice_has_left_though_something_waits(stage, keys):
    async def body(shown):
        for key in keys:
            assert shown.app.is_running
            await shown.press_once(key, wait=0.3)
        if shown.app.is_running:
            await shown.pass_due()
        assert not shown.app.is_running

    play(stage, body)


def test_one_letter_that_means_nothing_closes_a_dialog_that_decides_and_is_text(stage):
    async def body(shown):
        await batch(shown)
        await shown.press_once("z")
        assert (shown.app.screen, shown.main.composer.text) == (shown.main, "z")
        assert len(shown.stage.waiting()) == 3

    play(stage, body)
