"""The dialog that makes a rule of the call under the cursor: candidates, where, until, effect, the past.

Owns that a rule is saved only by a key that came after the dialog had stood, and that leaving saves nothing.
The call itself is answered by hand, for the digest that was drawn: a rule never answers what already waits.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from textual import on
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.draw import cells
from workbench.draw.ruling import dialog_lines
from workbench.tui import keymap, ruling
from workbench.tui.arming import TOO_QUICK, Arming
from workbench.tui.messages import Decide
from workbench.tui.screens.roomy import RoomyScreen
from workbench.tui.services import AskedCall
from workbench.tui.theme import drawing, glyphs, ink
from workbench.views.detail import ActionDetail
from workbench.views.ruling import Past
from workbench.views.source import Gone

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_KEYS_ROOM: Final = 44
"""Cells that what enter does, and the way back, get of the row of keys."""


def open_always(screen: "MainScreen", detail: ActionDetail) -> None:
    """Open the dialog for an action that waits, or say why no rule can cover it."""
    state = screen.state
    action = state.actions.get(detail.id)
    session = state.sessions.get(detail.session_id)
    if action is None:
        return
    try:
        parameters = state.source.exact_parameters(action)
    except Gone as error:
        screen.say(error.why, is_error=True)
        return
    made = ruling.ruling(
        screen.services, action.tool or "", parameters, session_id=action.session_id,
        workspace=session.workspace if session else screen.workspace, created_from=action.id,
        now=state.source.now(),
    )  # fmt: skip
    if isinstance(made, str):
        screen.say(f"{made[0].upper()}{made[1:]}.")
        return
    screen.textual.push_screen(AlwaysScreen(screen, detail, made))


class AlwaysScreen(RoomyScreen, inherit_bindings=False):
    """The dialog over the main screen."""

    AUTO_FOCUS = ""
    BINDINGS = keymap.bindings("always")
    LEAVES = "always.leave"

    def __init__(self, main: "MainScreen", detail: ActionDetail, made: ruling.Ruling) -> None:
        super().__init__("always-screen")
        self._width = 0
        self._main, self._detail, self._ruling = main, detail, made
        self._asked: Sequence[AskedCall] | None = None
        self._past: dict[tuple[object, ...], Past] = {}
        self._arming = Arming()
        self._page, self._keys = Static(id="always-page"), Static(id="always-keys")
        self._scroll = VerticalScroll(self._page, id="always-scroll", can_focus=False)
        self._input = Input(id="always-input", select_on_focus=False, compact=True)
        self._input.cursor_blink = False

    def compose_box(self) -> Iterable[Widget]:
        """Yield page, field, keys."""
        with Vertical(id="always-box"):
            yield self._scroll
            yield self._input
            yield self._keys

    def on_mount(self) -> None:
        """Show the narrowest rule and begin to count the past."""
        box = self.query_one("#always-box")
        box.border_title = cells.content(f"Always… {self._ruling.candidate.tool}")  # type: ignore[assignment]
        box.border_subtitle = cells.content("narrowest first")  # type: ignore[assignment]
        self._input.display = False
        self.set_focus(None)
        self._show()
        self._count()

    def resized(self) -> None:
        """Lay out in another size; the saving key waits again."""
        self._arming.disarm()
        self.call_after_refresh(self._show)

    # --- what is shown --------------------------------------------------------------------------

    def _subject(self) -> tuple[object, ...]:
        return (self._detail.digest, *self._ruling.subject)

    def _past_key(self) -> tuple[object, ...]:
        one = self._ruling.candidate
        return (one.pattern_kind, one.pattern, self._ruling.chosen_effect)

    def _show(self) -> None:
        made = self._ruling.shown(
            self._past.get(self._past_key()), self._main.state.source.now(), self._on_save()
        )
        self._width = self._scroll.size.width
        lines, at = dialog_lines(made, max(20, self._width), ink(self), glyphs(self))
        self._page.update(Content("\n").join(lines))
        self._keys.update(self._key_line(made.on_save, made.why_off))
        height = self._scroll.size.height
        if height and not self._scroll.scroll_offset.y <= at < self._scroll.scroll_offset.y + height:
            self._scroll.scroll_to(y=max(0, at - 1), animate=False)
        self.call_after_refresh(self._drawn)

    def _on_save(self) -> str:
        if self._ruling.chosen_effect == "ask":
            return "save; this call still waits"
        if self._ruling.chosen_effect == "deny":
            return "save, and reject this call"
        return "save; this call still waits: " + self._why_by_hand() if self._why_by_hand() else (
            "save, and approve this call"
        )  # fmt: skip

    def _why_by_hand(self) -> str:
        """Return why saving does not approve the call as well; empty if it does."""
        choosing, detail = self._main.approvals.choosing, self._detail
        if detail.id in choosing.edits:
            return "your text waits for a"
        if detail.hunks and choosing.taken_of(detail).words():
            return "only a part of it is taken"
        return "not all of it was on the screen" if choosing.unseen(detail) else ""

    def _key_line(self, on_save: str, why_off: str) -> Content:
        colours = ink(self)
        info, faint = colours.of("info", bold=True), colours.of("faint")
        if self._input.display:
            pairs = [("enter", "try it"), ("esc", "back to the rules")]
        else:
            pairs = [("j k", "rule"), ("tab", "field"), ("h l", "choose"), ("e", "edit")]
            # What enter does stands whole where it can; the others are the same in every dialog.
            while pairs and self._keys.size.width < _KEYS_ROOM + sum(3 + len(f"{k} {w}") for k, w in pairs):
                pairs.pop()
            pairs.append(("esc", "back"))
        parts = [Content.assemble((keys, info), f" {words}") for keys, words in pairs]
        if not self._input.display:
            ok = Content.assemble(("enter", info), f" {on_save}") if on_save else Content.styled(
                f"enter {why_off}", faint
            )  # fmt: skip
            room = max(16, self._keys.size.width - sum(part.cell_length + 3 for part in parts) - 2)
            parts.insert(0, cells.shorten(ok, room, glyphs(self)))
        return Content.assemble(" ", Content("   ").join(parts))

    def _drawn(self) -> None:
        if self._scroll.size.width != self._width:
            # The first frame knew no width.
            self._show()
            return
        if self.is_active and not self._input.display:
            self._arming.drawn(self._subject(), drawing(self).monotonic())

    # --- the past -------------------------------------------------------------------------------

    def _count(self) -> None:
        """Try the candidate under the cursor on the past, in a thread; the dialog is usable meanwhile."""
        key, one, effect = self._past_key(), self._ruling.candidate, self._ruling.chosen_effect
        if key in self._past or self._ruling.refused(one):
            return
        services, app = self._main.services, self._main.textual

        def work() -> None:
            asked = self._asked if self._asked is not None else services.asked_calls(one.tool)
            asked = [past for past in asked if past.call.action_id != self._detail.id]
            found = ruling.backtest(asked, one, effect, services)
            app.call_from_thread(self._counted, key, asked, found)

        self.run_worker(
            work, group="past", description="try a rule", thread=True, exit_on_error=False, exclusive=False
        )

    def _counted(self, key: tuple[object, ...], asked: Sequence[AskedCall], found: Past) -> None:
        self._asked = asked
        self._past[key] = found
        if self.is_attached:
            self._show()

    # --- what keys ask for ----------------------------------------------------------------------

    def action_do(self, key_id: str) -> None:
        """Do what the table says."""
        if not self._input.display or key_id == "always.leave":
            super().action_do(key_id)

    def move(self, rows: int) -> None:
        """Go to another rule."""
        self._ruling.move(rows)
        self._changed()

    def to_field(self, step: int) -> None:
        """Go to another field."""
        self._ruling.to_field(step)
        self._show()

    def choose(self, step: int) -> None:
        """Choose in the field."""
        self._ruling.choose(step)
        self._changed()

    def _changed(self) -> None:
        self._show()
        self._count()

    def scroll_page(self, rows: int) -> None:
        """Scroll what does not fit."""
        self._scroll.scroll_relative(y=rows, animate=False)

    def edit(self) -> None:
        """Write the pattern by hand, from the one under the cursor."""
        self._arming.disarm()
        self._input.display = True
        self._input.value = self._ruling.candidate.pattern
        self._input.focus()
        self._show()

    @on(Input.Submitted)
    def _written(self, message: Input.Submitted) -> None:
        message.stop()
        if message.value.strip():
            self._ruling.write(message.value)
        self._close_input()
        self._changed()

    def _close_input(self) -> None:
        self._input.display = False
        self.set_focus(None)

    def leave(self) -> None:
        """Leave the field, else the dialog; nothing is saved."""
        if self._input.display:
            self._close_input()
            self._show()
            return
        self.dismiss()

    def save(self) -> None:
        """Save the rule, then answer the call by hand for what was drawn."""
        one = self._ruling.candidate
        if why := self._ruling.refused(one):
            self._main.say(f"Not saved: {one.pattern} {why}")
            return
        draw = drawing(self)
        if not self._arming.take(self._subject(), draw.key_time, is_repeated=draw.is_key_repeated):
            self._main.say(TOO_QUICK.format(key="enter"))
            return
        self._main.requests.add_rule(self._ruling.rule(self._main.state.source.now()), self._answer())
        self.dismiss()

    def _answer(self) -> Decide | None:
        """Return the answer that goes with the rule; None where the call still waits."""
        detail, effect = self._detail, self._ruling.chosen_effect
        if effect == "deny":
            return Decide(detail.id, "reject", detail.digest)
        if effect == "ask" or self._why_by_hand():
            return None
        return self._main.approvals.choosing.approval(detail)
