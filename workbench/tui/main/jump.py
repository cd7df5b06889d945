"""Jump: letters stand on panes, rows, hunks and steps; the next key puts focus and cursor there.

It only moves. Any other key cancels it and does nothing else.
"""

import string
from collections.abc import Sequence
from typing import ClassVar, Final, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.footer_keys import FooterKey
from workbench.tui.keyboard.keyboard_app import KeyboardApp
from workbench.tui.keyboard.messages import screen_on_show
from workbench.tui.pane import Pane, StatusMessage
from workbench.tui.render_context import ink
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.line_view import JumpTarget

LETTERS: Final = "asdfghjklqwertyuiopzxcvbnm"
"""Those under the fingers first."""
_BOUND: Final = string.ascii_letters + string.digits + string.punctuation
MAX_TARGETS: Final = len(LETTERS) ** 2
NOTHING_TO_JUMP_TO: Final = "There is nothing to jump to here."


def jump_codes(count: int) -> list[str]:
    """Return so many codes of one letter, or of two where there are more than letters.

    No code is the beginning of another; the first ones are the shortest.
    """
    pairs = 0 if count <= len(LETTERS) else -(-(count - len(LETTERS)) // (len(LETTERS) - 1))
    single = len(LETTERS) - min(pairs, len(LETTERS))
    codes = [*LETTERS[:single], *(first + second for first in LETTERS[single:] for second in LETTERS)]
    return codes[:count]


def open_jump(app: KeyboardApp) -> None:
    """Put letters on what the screen shows; what has the focus gets the shortest ones.

    A page without panes says itself what there is to go to: `jump_targets`.
    """
    panes = [pane for pane in app.screen.walk_children(Pane) if pane.region.area]
    panes.sort(key=lambda pane: not pane.has_pane_focus)
    owners = panes or [cast("Pane", app.screen)]
    targets = [
        target for owner in owners if hasattr(owner, "jump_targets") for target in owner.jump_targets()
    ]
    inside = [target for target in targets if app.screen.region.contains_point(target.at)][:MAX_TARGETS]
    if not inside:
        app.screen.post_message(StatusMessage(NOTHING_TO_JUMP_TO))
        return
    letters = JumpScreen(app, inside)
    app.push_screen(letters, lambda _: letters.go())


class JumpLabel(Widget):
    """The letters of one target."""

    def __init__(self, code: str, target: JumpTarget) -> None:
        super().__init__()
        self.code, self.target = code, target
        self._typed = 0
        self.styles.offset = target.at.x, target.at.y
        self.styles.width = len(code)

    def show_rest(self, typed: str) -> None:
        """Show what is left to type, or nothing where something else was typed."""
        self.display = self.code.startswith(typed)
        self._typed = len(typed)
        self.refresh()

    def render(self) -> Content:
        """Return the letters, reversed."""
        rest = self.code[self._typed :]
        return Content.styled(rest.ljust(len(self.code)), ink(self).reverse("info")).stylize("bold")


class JumpScreen(Dialog, inherit_bindings=False):
    """The letters over a screen, which is seen below them: a dialog without a box."""

    # Bound, so that letters typed quickly are not taken for a text.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(keymap.normalized_key(character), f"type({character!r})", show=False) for character in _BOUND
    ]

    def __init__(self, app: KeyboardApp, targets: Sequence[JumpTarget]) -> None:
        super().__init__("jump")
        self._keyboard = app
        codes = jump_codes(len(targets))
        self._labels = {code: JumpLabel(code, target) for code, target in zip(codes, targets, strict=True)}
        self._typed = ""
        self._chosen: JumpTarget | None = None
        self._keys = Footer()
        self._drawn_for: Size | None = None

    def compose(self) -> ComposeResult:
        yield from self._labels.values()
        yield self._keys

    def opened(self) -> None:
        self._keys.show([FooterKey(keys="a … z", label="goes there")], FooterKey(keys="esc", label="back"))

    def fit_box(self) -> None:
        """Do nothing: there is no box."""

    def resized(self) -> None:
        """Cancel in another size: what the letters stand on has moved."""
        if self._drawn_for not in (None, self.size):
            self.leave()
        self._drawn_for = self.size

    def say(self, text: str) -> None:
        """Say a sentence on the screen below, which is seen."""
        screen_on_show(self._keyboard).say(text, is_kept=False)

    def go(self) -> None:
        """Go where the letters that were typed lead; nowhere if they were cancelled."""
        if self._chosen is not None:
            self._chosen.go()

    def action_type(self, character: str) -> None:
        """Take a letter: go where it leads, or show what two letters are left."""
        typed = self._typed + character
        if typed in self._labels:
            self._chosen = self._labels[typed].target
            self.leave()
        elif any(code.startswith(typed) for code in self._labels):
            self._typed = typed
            for label in self._labels.values():
                label.show_rest(typed)
        else:
            self.leave()

    def on_key(self, event: events.Key) -> None:
        """Take a letter; let every other key cancel."""
        event.stop()
        if event.character is not None and event.character in _BOUND:
            self.action_type(event.character)
        else:
            self.leave()
