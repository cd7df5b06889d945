"""The arming of a pane: what is refused is said, and the keys are shown again when they count."""

import asyncio

from textual.widgets import Static

from tests.support.pane_host import Host
from workbench.tui.keyboard.arming import TOO_QUICK, PaneArming
from workbench.tui.keyboard.rule import ARM_SECONDS


class Asking(Static):
    subject, is_answerable = ("these bytes",), True


class HandHost(Host):
    at = 100.0

    def monotonic(self):
        return self.at

    @property
    def key_time(self):
        return self.at


def test_a_key_too_early_is_refused_in_words_and_one_in_time_is_not():
    async def go():
        pane, said, changes = Asking(), [], []
        app = HandHost(pane)
        async with app.run():
            arming = PaneArming(pane, on_change=lambda: changes.append(app.at), refuse=said.append)
            arming._drawn()
            assert changes == [100.0]
            assert not arming.confirm("a")
            assert said == [TOO_QUICK.format(key="a")]
            app.at += ARM_SECONDS
            assert arming.confirm("a")
            assert len(said) == 1
            arming.forget()
            assert not arming.is_armed_for_key and len(changes) == 2

    asyncio.run(go())
