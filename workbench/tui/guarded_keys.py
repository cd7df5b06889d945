"""Holds deciding keys for 300 ms and sends typed bursts to the composer instead.

When a key counts is decided in `decision_guard`; what it does is its row in the table of keys.
"""

import time
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import Struct
from textual import events

from workbench.text.safe import safe_text
from workbench.tui import keymap
from workbench.tui.decision_guard import BURST_KEYS, BURST_SECONDS, CancelledKey, DecisionGuard, KeyPress
from workbench.tui.main.bars import FooterKey
from workbench.tui.render_context import call_once_after

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.main.screen import MainScreen

TEXT_MOVED_TO_COMPOSER: Final = (
    "You typed text, so no key decided. It is in the composer; esc takes it out again."
)
TEXT_IN_HISTORY: Final = "You typed text, so no key decided. ↑ in the composer brings it back."
TEXT_DROPPED: Final = "You typed text, so no key acted. Nothing here can read it."
SCREEN_CHANGED: Final = "Nothing was done: the screen changed before the key counted. Press it again."
OTHER_KEY_FOLLOWED: Final = "Nothing was done: another key came right behind it. Press it again, alone."
_UNGUARDED_KEYS: Final = frozenset({"escape", "ctrl+c"})
"""Keys that never wait, whatever their row says: the ways back, and to stop an agent."""
_MOVING: Final = ("replay.", "list.row-")
"""How the ids of keys begin that only move what a replay shows."""
_LATE_SECONDS: Final = 0.05
"""Seconds behind its time from which the keys of a busy moment are waited for."""
_TURN_SECONDS: Final = 0.02
_MAX_TURNS: Final = 50


class _WaitingKey(Struct):
    """What a deciding key does when its time has come."""

    key_id: str
    owner: Any
    act: Callable[[], object]
    about: Hashable


class _TypedText(Struct):
    """What was typed where keys decide."""

    text: str
    last: float
    before: str | None
    """What stood in the composer; None where the words are only kept."""


class GuardedKeys:
    """Deciding keys and typed text of one app."""

    def __init__(self, app: "WorkbenchApp") -> None:
        self._app = app
        self.guard = DecisionGuard()
        self._press: KeyPress | None = None
        self._waiting: _WaitingKey | None = None
        self._typed: _TypedText | None = None
        self._turns = 0
        self.is_committing = False

    @property
    def _main(self) -> "MainScreen":
        return self._app.main

    @property
    def _shown(self) -> "MainScreen":
        """Return the screen that can say something: the one on show, or what lies under a dialog."""
        screen = self._app.screen
        return cast("MainScreen", screen) if hasattr(screen, "rule") else self._main

    def _say(self, words: str) -> None:
        """Say a sentence where it is seen: in the dialog that lies over the screen, if one does."""
        screen = cast("Any", self._app.screen)
        if hasattr(screen, "said"):
            screen.say(words)
        else:
            self._shown.say(words, is_kept=False)

    @property
    def _is_past(self) -> bool:
        """Return whether the app shows recordings only: nothing decides there, nothing reads words."""
        return "replay" in self._main.INNER

    @property
    def pending_id(self) -> str:
        """Return the id of the key that waits; empty for none."""
        return "" if self.guard.pending is None else self.guard.pending.key_id

    # --- at its arrival ---------------------------------------------------------------------------

    def arrived(self, event: events.Event) -> KeyPress:
        """Take note of a key or a paste before anything is done for it."""
        moment = self._app.monotonic() - max(0.0, time.monotonic() - event.time)
        if isinstance(event, events.Key):
            text = (event.character or "") if event.is_printable else ""
            press, cancelled = self.guard.pressed(event.key, text, moment)
        else:
            press, cancelled = self.guard.pressed("paste", getattr(event, "text", "") or " ", moment)
        if cancelled is not None:
            self._cancelled(cancelled)
        return press

    def _cancelled(self, cancelled: CancelledKey) -> None:
        self._waiting = None
        last = self._press
        if cancelled.why == "taken back":
            self._say("Taken back: nothing was done.")
        elif cancelled.why != "held":
            text = self.guard.text_until(last) if cancelled.why == "burst" and last is not None else ""
            if not (last is not None and self._offer(text, last.at)):
                self._say(OTHER_KEY_FOLLOWED)
        self._show()

    # --- when its turn has come -------------------------------------------------------------------

    def takes(self, event: events.Event, press: KeyPress, *, is_text: bool) -> bool:
        """Do what is to be done for a key here; False where it goes its way.

        Args:
            event: The key or the paste.
            press: The same, as it was taken note of.
            is_text: Whether it only writes into the text field that has the focus.
        """
        self._press = press
        if press.takes_back:
            return True
        if self._main.is_leaving and self._app.screen is self._main:
            return self._while_leaving(event, press)
        if self._goes_on_typing(event, press):
            return True
        if is_text:
            press.is_field = True
            return False
        if isinstance(event, events.Paste):
            return self._pasted(event, press)
        if not isinstance(event, events.Key):
            return False
        return self._takes_back_text(event) or self._waits_in_field(event) or self._is_word(press)

    def _pasted(self, event: events.Paste, press: KeyPress) -> bool:
        if _is_text_field(self._app.focused):
            press.is_field = True
            return False
        self._offer(self.guard.text_until(press) if event.text else "", press.at)
        return True

    def _while_leaving(self, event: events.Event, press: KeyPress) -> bool:
        """Let only the answer to the question through; the rest is kept."""
        key = event.key if isinstance(event, events.Key) else ""
        users = keymap.user_keymap(self._main)
        key_id = keymap.ids_by_key("app", users).get(key)
        if key == "escape":
            from workbench.tui.main.notifications import stay

            stay(self._main.context)
            self._end_typing()
        elif key_id == "app.leave":
            self._main.action_do(key_id)
        elif press.text:
            self._keep(press.text, press.at)
        return True

    def _goes_on_typing(self, event: events.Event, press: KeyPress) -> bool:
        """Add a key to what is typed, as long as it goes on without a pause."""
        typed = self._typed
        if typed is None:
            return False
        is_enter = isinstance(event, events.Key) and event.key == "enter"
        if press.at - typed.last >= BURST_SECONDS or not (press.text or is_enter):
            self._end_typing()
            return False
        typed.last = press.at
        self._add("\n" if is_enter else press.text)
        return True

    def _add(self, text: str) -> None:
        typed = self._typed
        if typed is None:
            return
        old, typed.text = typed.text, typed.text + text
        composer = self._main.composer
        if typed.before is None:
            if hasattr(composer, "history"):
                composer.history.grow(safe_text(old).strip(), safe_text(typed.text).strip())
        else:
            composer.input.type_in(text)

    def _end_typing(self) -> None:
        typed = self._typed
        if typed is not None and typed.before is None:
            self._typed = None

    def _takes_back_text(self, event: events.Key) -> bool:
        """Take what was typed out of the composer again, if it stands there as it came."""
        typed, composer = self._typed, self._main.composer
        if typed is None or typed.before is None:
            return False
        if event.key != "escape" or not composer.has_focus_within or composer.text != _joined_text(typed):
            if event.key in ("escape", "enter") or composer.text != _joined_text(typed):
                self._typed = None
            return False
        self._typed = None
        composer.history.add(typed.text.strip())
        composer.input.put(typed.before)
        composer.leave()
        self._main.say("Taken out again. ↑ in the composer brings it back.", is_kept=False)
        return True

    def _waits_in_field(self, event: events.Key) -> bool:
        """Let enter wait in the field of a dialog that decides by it."""
        screen = cast("Any", self._app.screen)
        if event.key != "enter" or not getattr(screen, "decides_by_enter", False):
            return False
        field = self._app.focused
        if field is None or not _is_text_field(field):
            return False
        submit = cast("Any", field).action_submit
        return self._wait("dialog.ok", screen, lambda: self._app.call_later(submit), after_words=True)

    def _is_word(self, press: KeyPress) -> bool:
        """Offer letters as text that mean nothing here, or open a text field in the middle of a word."""
        before = self.guard.count_in_word(press)
        reads_letters = _is_text_field(self._app.focused) or getattr(self._app.screen, "READS_LETTERS", False)
        if not press.text or before + 1 < BURST_KEYS or reads_letters:
            return False
        bound = self._app.screen.active_bindings.get(press.key)
        if bound is not None:
            row = keymap.find_key(bound.binding.id or "")
            if row is None or not row.opens_field or before < BURST_KEYS or not self._is_inside_word(press):
                return False
        return self._offer(self.guard.text_until(press), press.at)

    def _is_inside_word(self, press: KeyPress) -> bool:
        """Return whether a key that opens a text field came behind letters, not keys of a replay."""
        if not hasattr(self._app.screen, "player"):
            return True
        users = keymap.user_keymap(self._main)
        ids = {**keymap.ids_by_key("list", users), **keymap.ids_by_key("replay", users)}
        return not all(ids.get(key, "").startswith(_MOVING) for key in self.guard.keys_until(press))

    def words_before_field(self) -> str:
        """Return what was typed in one go up to the key that opens a field now, that key too.

        Empty where it came alone, or behind keys that did what they do: they moved, or went to a place.
        """
        press = self._press
        if press is None or not press.text:
            return ""
        keys = self.guard.keys_until(press)[:-1]
        return self.guard.text_until(press) if any(map(self._is_letter, keys)) else ""

    def _is_letter(self, key: str) -> bool:
        """Return whether a key means nothing on the screen on show, or decides: words may begin so."""
        bound = self._app.screen.active_bindings.get(key)
        row = None if bound is None else keymap.find_key(bound.binding.id or "")
        return row is None or row.decides

    def follows_text(self) -> bool:
        """Return whether the key that is handled now came right behind typed text."""
        return self._press is not None and self.guard.follows_text(self._press)

    def give_back(self, text: str) -> None:
        """Offer text to the composer that was typed into a field which opened in the middle of it."""
        if self._press is not None:
            self._offer(text, self._press.at)
            self._end_typing()

    # --- deciding keys ----------------------------------------------------------------------------

    def refuses(self, key_id: str) -> bool:
        """Return whether a key that is off was a letter of a text, which is offered then."""
        press = self._press
        if press is None or self.is_committing or not self._is_of_row(press, key_id):
            return False
        if not press.text or self.guard.count_before(press) + 1 < BURST_KEYS:
            return False
        return self._offer(self.guard.text_until(press), press.at)

    def holds(self, key_id: str, owner: Any) -> bool:
        """Return whether a key that just arrived has to wait before it is done; then it is done here.

        What a click, a command or the palette asks for has no key of its row, and is done at once.
        """
        press = self._press
        if self.is_committing or press is None or press.key in _UNGUARDED_KEYS:
            return False
        if self._is_past and key_id != "dialog.ok":
            return False
        if not self._is_of_row(press, key_id) or ask_key_owner(owner, "acts_at_once", key_id):
            return False
        again = getattr(owner, "action_do", None)
        act = (lambda: keymap.run_action(key_id, owner)) if again is None else (lambda: again(key_id))
        return self._wait(key_id, owner, act, after_words=key_id == "dialog.ok")

    def _is_of_row(self, press: KeyPress, key_id: str) -> bool:
        users = keymap.user_keymap(self._main)
        return keymap.ids_by_key(key_id.partition(".")[0], users).get(press.key) == key_id

    def _wait(self, key_id: str, owner: Any, act: Callable[[], object], *, after_words: bool) -> bool:
        press = self._press
        if press is None:
            return False
        answer = self.guard.begin(key_id, press, after_words=after_words)
        if answer == "pending":
            self._waiting, self._turns = _WaitingKey(key_id, owner, act, self._about(owner)), 0
            self._look_in(self.guard.pending.due - self._app.monotonic() if self.guard.pending else 0.0)
        elif answer in ("burst", "followed"):
            self._waiting = None
            if not self._offer(self.guard.text_until(press), press.at):
                self._say(OTHER_KEY_FOLLOWED)
        self._show()
        return True

    def _about(self, owner: Any) -> Hashable:
        app = self._app
        return (id(app.screen), id(app.focused), app.size, getattr(owner, "subject", None))

    def _look_in(self, seconds: float) -> None:
        # By the app's own queue: keys that have arrived by then are taken note of first.
        call_once_after(self._app, max(0.001, seconds), self.commit_due)

    def commit_due(self) -> None:
        """Do what a waiting key means, once its time has come and no key waits unread."""
        pending, waiting = self.guard.pending, self._waiting
        if pending is None or waiting is None:
            return
        now = self._app.monotonic()
        if now < pending.due:
            self._look_in(pending.due - now)
            return
        has_unread = self._app.has_unread_keys
        if self._turns < _MAX_TURNS and (
            has_unread or (now - pending.due > _LATE_SECONDS and not self._turns)
        ):
            self._turns += 1
            self._look_in(_TURN_SECONDS)
            return
        self._commit(waiting, is_certain=not has_unread)

    def _commit(self, waiting: _WaitingKey, *, is_certain: bool) -> None:
        due = self.guard.take_due(self._app.monotonic())
        self._waiting = None
        if due is None:
            return
        if not is_certain or waiting.about != self._about(waiting.owner):
            self._say(SCREEN_CHANGED)
        else:
            self.is_committing = True
            try:
                self._app.at_time_of(due.press.at, waiting.act)
            finally:
                self.is_committing = False
        self._show()

    # --- what is typed ----------------------------------------------------------------------------

    def _offer(self, text: str, moment: float) -> bool:
        """Put typed text into the composer, or keep it where there is none on the screen.

        In the replay of a recording alone nothing is text: each key does there what it does.
        """
        main = self._main
        if not text or self._is_past:
            return False
        self._restore_choices()
        if self._typed is not None and moment - self._typed.last >= BURST_SECONDS:
            self._typed = None
        if not main.takes_text:
            self._keep(text, moment)
            is_kept = main.presenter.has_model and hasattr(main.composer, "history")
            words = TEXT_IN_HISTORY if is_kept else TEXT_DROPPED
            self._say(words)
            return True
        composer = main.composer
        before = composer.text
        self._typed = _TypedText("", moment, before)
        self._typed.text = text
        composer.input.type_in(_separator_after(before) + text)
        composer.focus_input()
        main.say(TEXT_MOVED_TO_COMPOSER, is_kept=False)
        return True

    def _restore_choices(self) -> None:
        """Choose again what was chosen before the typed text: its first letters may have chosen."""
        main = self._main
        if self._press is None or not main.approvals.choosing.restore_choices(
            self.guard.text_start(self._press)
        ):
            return
        main.approvals.draw_detail()
        if main.pipeline.is_answering:
            main.pipeline.answer.draw_detail()

    def _keep(self, text: str, moment: float) -> None:
        """Keep typed text among what was said before."""
        if self._typed is None or self._typed.before is not None:
            self._typed = _TypedText("", moment, None)
        self._typed.last = moment
        self._add(text)

    def _show(self) -> None:
        """Say at once which key waits, and when none does any more."""
        main, waiting = self._shown, self._waiting
        if main.layout_controller.is_line_asked:
            label = "" if waiting is None else self._label(waiting)
            main.layout_controller.line_bar.show_pending(label)
        main.presenter.footer()

    def footer_keys(self) -> list[FooterKey]:
        """Return what the footer shows while a key waits; nothing for none."""
        waiting, press = self._waiting, self.guard.pending.press if self.guard.pending else None
        if waiting is None or press is None:
            return []
        return [
            FooterKey(keys=keymap.printed_key(press.key), label=f"{self._label(waiting)} …"),
            FooterKey(keys="esc", label="takes it back"),
        ]

    def _label(self, waiting: _WaitingKey) -> str:
        label_of = getattr(waiting.owner, "label_of", None)
        return label_of(waiting.key_id) if label_of else keymap.key_of(waiting.key_id).label


def ask_key_owner(owner: Any, name: str, key_id: str) -> bool:
    """Ask the owner of a key something about it that few owners know."""
    ask = getattr(owner, name, None)
    return bool(ask is not None and ask(key_id))


def _separator_after(before: str) -> str:
    return "\n" if before.strip() and not before.endswith("\n") else ""


def _joined_text(typed: _TypedText) -> str:
    before = typed.before or ""
    return before + _separator_after(before) + typed.text


def _is_text_field(widget: object) -> bool:
    return any(kind.__name__ in ("Input", "TextArea") for kind in type(widget).__mro__)
