"""Applies the rule for deciding keys to one app: asks for the second press, decides, moves text away.

The rule itself is `rule`; what a key does is its row in the table of keys, what it is about its owner says.
"""

import time
from typing import TYPE_CHECKING, Final, Literal

from textual import events

from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.dispatch import binding_of
from workbench.tui.keyboard.letters import ends_word, is_letter
from workbench.tui.keyboard.messages import (
    CANCELLED,
    LETTER_BEFORE_ENTER,
    NOT_PRESSED_AGAIN,
    OTHER_KEY_FOLLOWED,
    SCREEN_CHANGED,
    show_message,
)
from workbench.tui.keyboard.owner import KeyDialog, KeyOwner
from workbench.tui.keyboard.pending_key import PendingKey, PendingKeyPrompt, subject_on_screen
from workbench.tui.keyboard.press_log import KeyLog, KeyPress
from workbench.tui.keyboard.rule import (
    ARMED,
    NO_WORD,
    KeyState,
    Outcome,
    Role,
    Word,
    elapse,
    enter_counts,
    extend_word,
    follow,
    schedule,
)
from workbench.tui.keyboard.text_field import is_text_field, is_text_for
from workbench.tui.keyboard.typed_text import TypedText
from workbench.tui.render_context import call_once_after

if TYPE_CHECKING:
    from workbench.tui.keyboard.footer_keys import FooterKey
    from workbench.tui.keyboard.keyboard_app import KeyboardApp

Acceptance = Literal["run", "wait", "text", "refused"]
"""What becomes of a key: it does its own work, it is a press of a deciding key that waits for another one,
it is part of a text, or nothing is done for it."""
_UNGUARDED_KEYS: Final = frozenset({"escape", "ctrl+c"})
"""Keys that act at once, whatever their row says: the ways back, and to stop an agent."""
_LATE_SECONDS: Final = 0.05
"""Seconds behind its time from which the keys of a busy moment are waited for."""
_TURN_SECONDS: Final = 0.02
_MAX_TURNS: Final = 50


class KeyGuard:
    """The deciding keys of one app, and the text that is typed where they are."""

    def __init__(self, app: "KeyboardApp") -> None:
        self._app = app
        self.log = KeyLog()
        self.state: KeyState = ARMED
        self._word: Word = NO_WORD
        self._press: KeyPress | None = None
        self._pending: PendingKey | None = None
        self._prompt = PendingKeyPrompt(app)
        self._typed = TypedText(app)
        self._turns = 0

    @property
    def pending_id(self) -> str:
        """Return the id of the key that was pressed and does not count yet; empty for none."""
        return "" if self._pending is None else self._pending.key_id

    # --- at its arrival ---------------------------------------------------------------------------

    def record_key(self, event: events.Key | events.Paste) -> KeyPress:
        """Record a key or a paste before anything is done for it."""
        # A clock of its own is simulated: it does not know how long an event was on its way.
        clock = self._app.monotonic
        moment = min(event.time, clock()) if clock is time.monotonic else clock()
        if isinstance(event, events.Paste):
            return self.log.record("paste", event.text or " ", moment)
        text = (event.character or "") if event.is_printable else ""
        return self.log.record(event.key, text, moment)

    # --- when its turn has come -------------------------------------------------------------------

    def accept(self, event: events.Key | events.Paste, press: KeyPress) -> Acceptance:
        """Do what the keys before it make of a key, and return what becomes of it.

        Args:
            event: The key or the paste.
            press: The same, as it was recorded.
        """
        # What is due may open a text field: the key was not typed into that.
        is_letter_of_field = is_text_for(self._app.focused, event)
        self._pass_time(press.at)
        self._press, press.screen = press, id(self._app.screen)
        self._word = extend_word(self._word, press.key, press.text, press.at)
        if self._typed.continue_with(event, press):
            return "text"
        main = self._app.key_screen
        is_leaving = main.is_leaving and main.is_on_show
        if is_letter_of_field and not is_leaving:
            press.is_field = True
            self._word = NO_WORD
            self._set_state(ARMED)
            return "run"
        if isinstance(event, events.Paste) and is_text_field(self._app.focused):
            press.is_field = True
            return "run"
        done = self._accept_by_state(press)
        if done != "run":
            return done
        if is_leaving:
            return self._accept_while_leaving(press)
        if isinstance(event, events.Paste):
            self._move_text(self.log.text_until(press) if event.text else "", press.at)
            return "text"
        return "text" if self._typed.take_back(event) or self._is_text(press) else "run"

    def forget_key(self) -> None:
        """Forget the key that was handled last: what follows was asked for with the mouse."""
        self._press = None

    def _accept_by_state(self, press: KeyPress) -> Acceptance:
        """Apply what the keys before make of this one; `run` where it has its own meaning."""
        if self._pending is not None and self._pending.is_changed(self._app):
            self._end_pending(SCREEN_CHANGED)
        state, outcome = follow(self.state, press.key, press.text, press.at)
        self._set_state(state)
        if outcome == "pass":
            return "run"
        if outcome == "asks":
            self._show_pending()
        if outcome in ("asks", "settles", "held"):
            return "wait"
        self._pending = None
        self._show_pending()
        return self._end_run(outcome, press)

    def _end_run(self, outcome: Outcome, press: KeyPress) -> Acceptance:
        """Do what is due for a run of keys that another key ended; return what becomes of that key."""
        if outcome in ("text", "draft"):
            text = self.log.text_until(press) if outcome == "text" else self.log.text_before(press)
            return "text" if self._move_text(text, press.at) else "run"
        if outcome == "cancelled":
            show_message(self._app, CANCELLED)
            return "refused"
        show_message(self._app, OTHER_KEY_FOLLOWED)
        return "run"

    def _accept_while_leaving(self, press: KeyPress) -> Acceptance:
        """Let only the answer to the question through; the rest is kept."""
        main = self._app.key_screen
        if press.key == "escape":
            main.stay()
            self._typed.end()
            return "refused"
        if keymap.is_key_of("app.leave", press.key, self._app.user_keys):
            main.action_do("app.leave")
            return "wait"
        if press.text:
            self._typed.send_to_history(press.text, press.at)
        return "text"

    # --- letters that are not a key ---------------------------------------------------------------

    def _is_text(self, press: KeyPress) -> bool:
        """Suspect a letter that means nothing here; move one in a word that opens a field as text."""
        if not press.text or is_text_field(self._app.focused):
            return False
        binding = binding_of(self._app, press.key)
        if binding is None:
            return self._is_unknown(press)
        row = keymap.find_key(binding.id or "")
        if press.text.isdigit():
            # The number of a place is not a letter.
            press.is_used = True
        if row is None:
            return False
        if not row.decides:
            press.did = row.id
            self._set_state(schedule(self.state, press.key, press.at, "acts")[0])
        is_inside_word = row.opens_field and ends_word(self._app, self.log, press)
        return is_inside_word and self._move_text(self.log.text_until(press), press.at)

    def _is_unknown(self, press: KeyPress) -> bool:
        screen = self._app.screen
        if self._app.key_screen.is_recording:
            return False
        if isinstance(screen, KeyDialog):
            if screen.reads_key(press.key):
                return False
            if screen.DECIDES:
                return self._move_text(self.log.text_until(press), press.at)
        press.is_letter = True
        self._set_state(schedule(self.state, press.key, press.at, "nothing")[0])
        main = self._app.key_screen
        if main.is_on_show and (hint := main.hint_of_key(press.key)):
            show_message(self._app, hint)
        return False

    def words_before_field(self) -> str:
        """Return what was typed in one go up to the key that opens a field now, that key too.

        Empty where it came alone, or behind keys that did what they do: they moved, or went to a place.
        """
        press = self._press
        if press is None or not press.text:
            return ""
        keys = self.log.keys_until(press)[:-1]
        return self.log.text_until(press) if any(is_letter(self._app, key) for key in keys) else ""

    def follows_text(self) -> bool:
        """Return whether the key that is handled now came right behind typed text."""
        return self._press is not None and self.log.follows_text(self._press)

    def return_text(self, text: str) -> None:
        """Move a text to the composer that was typed into a field which opened in the middle of it."""
        if self._press is not None:
            self._move_text(text, self._press.at)
            self._typed.end()

    def _move_text(self, text: str, moment: float) -> bool:
        """Move typed text to the composer, or keep it where there is none on the screen.

        In the replay of a recording alone nothing is text: each key does there what it does.
        """
        main, press = self._app.key_screen, self._press
        if not text or main.is_recording:
            return False
        self._set_state(ARMED)
        if press is not None:
            main.restore_choices(self.log.text_start(press), self.log.done_until(press))
            self.log.mark_used(press)
        self._typed.send(text, moment)
        return True

    # --- deciding keys ----------------------------------------------------------------------------

    def mark_refused(self, key_id: str) -> None:
        """Note that a key is off: as a letter it did nothing."""
        press = self._press
        if press is None or not press.text or self._app.key_screen.is_recording:
            return
        if keymap.key_of(key_id).decides and keymap.is_key_of(key_id, press.key, self._app.user_keys):
            press.is_letter = True
            # As one that came too early: pressing it twice, as keys are pressed here, is not writing a text.
            self._set_state(schedule(self.state, press.key, press.at, "early")[0])

    def defers(self, key_id: str, owner: KeyOwner) -> bool:
        """Return whether a key that just arrived does not count now; its owner runs it once it does.

        What a click, a command or the palette asks for has no key of its row, and is done at once.
        """
        press = self._press
        if press is None or press.key in _UNGUARDED_KEYS or not keymap.key_of(key_id).decides:
            return False
        if self._app.key_screen.is_recording:
            return False
        if not keymap.is_key_of(key_id, press.key, self._app.user_keys):
            return False
        return self._schedule(key_id, owner, press) if press.text else self._refuses_control_key(press)

    def _refuses_control_key(self, press: KeyPress) -> bool:
        """Return whether enter or a control key does not count: it is held down, or behind letters."""
        if press.is_repeat:
            return True
        screen = self._app.screen
        if press.key != "enter" or not isinstance(screen, KeyDialog) or not screen.DECIDES:
            return False
        if enter_counts(self.log.last_letter(press), press.at):
            return False
        show_message(self._app, LETTER_BEFORE_ENTER)
        return True

    def _schedule(self, key_id: str, owner: KeyOwner, press: KeyPress) -> bool:
        """Begin to wait for a key that decides; return False where it only shows something now."""
        why = owner.why_early(key_id)
        role = _role(owner, key_id, why)
        state, outcome = schedule(self.state, press.key, press.at, role, is_in_word=self._word.is_mixed)
        self._set_state(state)
        press.is_letter = True
        if outcome == "early":
            owner.was_early(key_id)
            show_message(self._app, why)
            return True
        if outcome == "pass":
            return False
        about = subject_on_screen(self._app, owner, key_id)
        self._pending, self._turns = PendingKey(key_id, owner, press, about), 0
        if outcome == "asks":
            self._show_pending()
        return True

    def _end_pending(self, why: str) -> None:
        self._pending, self.state = None, ARMED
        show_message(self._app, why)
        self._show_pending()

    def _show_pending(self) -> None:
        self._prompt.refresh(self._pending, self.state)

    def footer_keys(self) -> "list[FooterKey]":
        """Return what the footer shows while a key waits; nothing for none."""
        pending = self._pending
        if pending is None:
            return []
        if pending.is_changed(self._app):
            self._app.call_later(self._cancel_changed)
            return []
        return pending.footer_keys(self.state)

    def _cancel_changed(self) -> None:
        if self._pending is not None and self._pending.is_changed(self._app):
            self._end_pending(SCREEN_CHANGED)

    # --- time -------------------------------------------------------------------------------------

    def _set_state(self, state: KeyState) -> None:
        is_other = state is not self.state
        self.state = state
        if is_other and state.due is not None:
            self._commit_in(state.due - self._app.monotonic())

    def _commit_in(self, seconds: float) -> None:
        # By the app's own queue: keys that have arrived by then are recorded first.
        call_once_after(self._app, max(0.001, seconds), self.commit_due)

    def commit_due(self) -> None:
        """Do what is due by now, once no key waits unread."""
        due, now = self.state.due, self._app.monotonic()
        if due is None:
            return
        if now < due:
            self._commit_in(due - now)
            return
        has_unread = self._app.has_unread_keys
        if self._turns < _MAX_TURNS and (has_unread or (now - due > _LATE_SECONDS and not self._turns)):
            self._turns += 1
            self._commit_in(_TURN_SECONDS)
            return
        self._pass_time(now, is_certain=not has_unread)

    def _pass_time(self, at: float, *, is_certain: bool = True) -> None:
        """Do what is due until a moment."""
        state, outcome = elapse(self.state, at)
        if state is self.state:
            return
        pending, self._pending, self._turns = self._pending, None, 0
        self.state = state
        if pending is None:
            return
        if outcome == "decide":
            self._commit(pending, is_certain=is_certain)
        else:
            show_message(self._app, NOT_PRESSED_AGAIN.format(key=pending.key))
        self._show_pending()

    def _commit(self, pending: PendingKey, *, is_certain: bool) -> None:
        """Have the owner of a key do what it decides, if nothing that it is about has changed."""
        if not is_certain or pending.is_changed(self._app):
            show_message(self._app, SCREEN_CHANGED)
            return
        self.log.mark_used(self._press or pending.press)
        self._word = NO_WORD
        self._app.key_time = pending.press.at
        # What it leads to was not asked for by a key of its own.
        press, self._press = self._press, None
        try:
            pending.owner.run_counted(pending.key_id)
        finally:
            self._press = press


def _role(owner: KeyOwner, key_id: str, why_early: str) -> Role:
    if why_early:
        return "early"
    if owner.shows_part(key_id):
        return "shows"
    return "alone" if owner.is_undoable(key_id) else "decides"
