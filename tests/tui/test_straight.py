"""A key that goes straight does what it would do by the long way, and goes the long way where somebody takes keys."""

import asyncio

import pytest
from textual import events
from textual.app import App
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input

from workbench.tui.keyboard.dispatch import dispatch_key


def binds(*keys, first=False):
    return [Binding(key, f"did('{key}')", priority=first) for key in keys]


class Told(Widget, can_focus=True):
    BINDINGS = binds("a", "b", "c", "q")

    def check_action(self, action, parameters):
        return parameters != ("c",)

    def action_did(self, key):
        self.app.done.append((type(self).__name__, key))


class Hearing(Told):
    def on_key(self, event):
        self.app.done.append(("heard", event.key))


class Named(Told):
    def key_a(self):
        self.app.done.append(("named", "a"))


class Around(Vertical):
    BINDINGS = binds("a", "c", "d")
    action_did = Told.action_did


class Dialog(ModalScreen):
    BINDINGS = binds("c")
    action_did = Told.action_did

    def compose(self):
        yield Told(id="in-dialog")


class Keys(App):
    BINDINGS = binds("d", "e", "x") + binds("q", first=True)
    action_did = Told.action_did

    def __init__(self, straight):
        super().__init__()
        self.done, self.straight, self.went = [], straight, []

    def compose(self):
        with Around():
            yield Told()
            yield Hearing()
            yield Named()
            yield Input()

    async def on_event(self, event):
        if self.straight and isinstance(event, events.Key) and not event.is_forwarded:
            self.went.append(await dispatch_key(self, event))
            if self.went[-1]:
                return
        await super().on_event(event)


def pressed(kind, keys, *, straight, dialog=False):
    """Press keys on a kind of widget; return what was done and which keys went straight."""

    async def run():
        app = Keys(straight)
        async with app.run_test() as pilot:
            app.query_one(kind).focus()
            if dialog:
                await app.push_screen(Dialog())
                app.screen.query_one("#in-dialog").focus()
            await pilot.pause()
            await pilot.press(*keys)
            return app.done, app.went, app.screen.focused.id

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("kind", "dialog", "straight"),
    [(Told, False, "abcdeqx"), (Told, True, "abcqx"), (Hearing, False, ""), (Named, False, "bcdeqx"), (Input, False, "")],
    ids=str,
)  # fmt: skip
def test_a_key_does_the_same_on_both_ways(kind, dialog, straight):
    keys = [*"abcdeqxz", "escape"]
    long, _, _ = pressed(kind, keys, straight=False, dialog=dialog)
    short, went, _ = pressed(kind, keys, straight=True, dialog=dialog)
    assert short == long
    done = {key for _, key in long}
    assert [key for key, did in zip(keys, went, strict=True) if did] == [
        key for key in straight if key in done
    ]
