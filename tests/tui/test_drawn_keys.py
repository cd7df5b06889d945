"""A key that is drawn in the content works from every focus, or its press says on the screen why not.

The keys are read from what is drawn: words in the colour of keys, and control keys in any sentence.
"""

import re

import pytest

from tests.support import drawn_runs
from tests.support.stage import Stage
from tests.tui.screens import FILES, THREE, play, staged
from workbench.domain.values import StepPlan
from workbench.effects.clock import ManualClock
from workbench.host import workspace_trust
from workbench.tui.keyboard.keymap import _PRINTED

FOCUSES = ("composer", "0", "1", "2", "3", "4")
NAMED = {printed: key for key, printed in _PRINTED.items()} | {
    name: name for name in ("enter", "space", "tab", "escape")
}
CONTROL = re.compile(r"\bctrl\+[a-z]\b")


def keys_in(text):
    """Return the keys that a drawn text names, as Textual names them; empty where it names other things."""
    words = text.split()
    keys = [NAMED.get(word, word) for word in words]
    is_named = all(len(word) == 1 or word in NAMED or CONTROL.fullmatch(word) for word in words)
    return keys if is_named and len(words) <= 2 and not text.isspace() else []


def drawn_keys(shown):
    """Return the keys that are drawn in the body: what is above composer and footer, below the header."""
    colour, found = shown.app.ink.of("info", bold=True).rich_style.color, set()
    rows = shown.app.screen._compositor.render_strips()
    for strip in rows[1:-2]:
        found |= set(CONTROL.findall(strip.text))
        for segment in strip:
            style = segment.style
            if style is not None and style.bold and style.color == colour and segment.text.isascii():
                found |= set(keys_in(segment.text))
    return sorted(found - {"ctrl+o", "ctrl+j"} if shown.main.composer.is_empty else found)


async def rest(shown, focus):
    """Leave what a key opened, and put the hand where the next one is pressed."""
    for _ in range(3):
        await shown.press("escape")
    shown.main.composer.input.clear()
    shown.main.rule.say("")
    await shown.press("i" if focus == "composer" else focus)
    shown.hand.waits(5.0)
    shown.approvals.show_answers()
    await shown.settle()


async def walk(shown, *, least):
    """Press each key that is drawn from each focus."""
    seen = set()
    for focus in FOCUSES:
        await rest(shown, focus)
        for key in drawn_keys(shown):
            await rest(shown, focus)
            if key not in drawn_keys(shown):
                continue  # Only drawn for another pane.
            seen.add(key)
            before = shown.text, shown.app.focused, shown.app.screen
            await shown.press_once(key)
            after = shown.text, shown.app.focused, shown.app.screen
            assert shown.said or after != before, f"{key} does nothing from {focus}, and nothing is said"
    assert seen >= least, seen


def test_where_rows_wait(tmp_path):
    async def body(shown):
        await walk(shown, least={"r", "R", "space"})

    play(staged(tmp_path), body, size=(160, 48))


def test_where_the_workspace_is_not_trusted(tmp_path):
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files={**FILES, ".workbench.json": "{}"})
    stage.begin()
    workspace_trust.open_trust_question(stage.journal, str(stage.workspace))

    async def body(shown):
        await walk(shown, least={"ctrl+t"})

    play(stage, body, size=(160, 48), goes_to_queue=False)


@pytest.mark.campaign
def test_where_a_gate_waits_next_to_its_graph(tmp_path):
    async def body(shown):
        plans = (StepPlan(id="release", kind="gate"),)
        run = drawn_runs.Written(shown.stage.journal, str(shown.stage.workspace), plans)
        run.ask("release", action=shown.stage.journal.clock.new_id())
        await shown.look()
        await walk(shown, least={"r"})

    play(staged(tmp_path), body, size=(160, 48))


def test_where_nothing_was_done_yet(tmp_path):
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files=FILES)
    stage.trust()

    async def body(shown):
        await shown.press("escape", "2")
        await walk(shown, least={"ctrl+n"})

    play(stage, body, size=(160, 48), goes_to_queue=False)
