"""A small app that holds one pane as the screen would, and keeps every message that leaves it."""

import time
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.geometry import Offset
from textual.message import Message
from textual.screen import Screen

from workbench.domain.events import Event
from workbench.domain.rows import Session
from workbench.domain.values import Actor
from workbench.render.glyphs import UNICODE_GLYPHS
from workbench.render.theme import own_theme, own_theme_ink
from workbench.tui import pane
from workbench.tui.compositor import LayoutCompositor

STYLES = Path(__file__).resolve().parents[2] / "styles"
KINDS = tuple(
    kind
    for kind in vars(pane).values()
    if isinstance(kind, type) and issubclass(kind, Message) and kind.__module__ == pane.__name__
)

HOSTILE = (
    "[bold red]not markup[/]", "[@click=app.quit]press[/]", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07",
    "a\u202eb", "zero\u200bwidth", "\x00\x07\x08", "tag\U000e0041", "[", "]", "[/]", "\\[", "$(rm -rf /)", "𝔘𝔫𝔦 👩‍👩‍👧 漢字",
)  # fmt: skip


class Said:
    """A message that was posted, equal to another one of its kind with the same content."""

    def __init__(self, message):
        self.message = message

    def __getattr__(self, name):
        return getattr(self.message, name)

    def __eq__(self, other):
        return type(self.message) is type(other) and content(self.message) == content(other)

    def __repr__(self):
        return f"{type(self.message).__name__}({content(self.message)})"


def content(message):
    return {name: value for name, value in vars(message).items() if name[0] != "_" and name != "time"}


class Host(App):
    """One pane and nothing else."""

    CSS_PATH: ClassVar = [STYLES / "30-conversation.tcss", STYLES / "50-tools.tcss"]
    CSS = "Screen { layout: vertical; } Host ConversationPane, Host ToolsPane { height: 1fr; } Host Composer { dock: bottom; }"

    def __init__(self, *widgets, glyphs=UNICODE_GLYPHS):
        super().__init__()
        self.widgets = widgets
        self.ink, self.glyphs, self.painter = own_theme_ink("workbench-dark"), glyphs, None
        self.cursor_position = Offset(0, 0)
        self.heard = []

    def get_default_screen(self):
        """Return a screen that lays out as those of the program do."""
        screen = Screen(id="_default")
        screen._compositor = LayoutCompositor()
        return screen

    def get_theme_variable_defaults(self):
        return own_theme("workbench-dark").variables

    def on_mount(self):
        self.register_theme(own_theme("workbench-dark"))
        self.theme = "workbench-dark"

    def compose(self):
        yield from self.widgets

    async def put(self, pane):
        """Hold another pane in place of the one before."""
        for widget in self.widgets:
            await widget.remove()
        self.widgets = (pane,)
        await self.screen.mount(pane)

    def monotonic(self):
        return time.monotonic()

    @property
    def key_time(self):
        return time.monotonic()

    def hear(self, message):
        if isinstance(message, KINDS) and not any(message is one for one in self.heard):
            self.heard.append(message)

    def said(self, kind):
        return [Said(message) for message in self.heard if isinstance(message, kind)]

    def run(self, size=(58, 30)):
        return self.run_test(size=size, message_hook=self.hear)

    def lines(self):
        """Return the screen as text, one string a row."""
        return [
            "".join(segment.text for segment in strip) for strip in self.screen._compositor.render_strips()
        ]


class Told:
    """Events of one session, in order."""

    def __init__(self, session_id="s1"):
        self.session_id, self.events, self.at = session_id, [], 1_763_726_400_000_000

    def add(self, body, *, seconds=0.1, actor="agent", **more):
        self.at += int(seconds * 1_000_000)
        n = len(self.events) + 1
        event = Event(
            id=f"e{n}", session_id=self.session_id, at=self.at, actor=Actor(kind=actor), body=body, position=n,
            sequence_number=n, **more,
        )  # fmt: skip
        self.events.append(event)
        return event


def session(status="processing", **more):
    facts = {
        "id": "s1",
        "kind": "chat",
        "status": status,
        "created_at": 0,
        "updated_at": 0,
        "title": "rename handler",
    }
    return Session(**{**facts, **more})
