"""Applies the rule for deciding keys to one app: asks for the second press, decides, moves text away.

The rule itself is `rule`; what a key does is its row in the table of keys.
"""

import time
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import Struct
from textual import events

from workbench.text.safe import safe_text
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.owner import KeyOwner
from workbench.tui.keyboard.press_log import WORD_KEYS, KeyLog, KeyPress
from workbench.tui.keyboard.rule import (
    ARMED,
    NO_WORD,
    RUN_SECONDS,
    KeyState,
    Outcome,
    Role,
    Word,
    elapse,
    enter_counts,
    extend_word,
    follow,
    schedule,
    sends_text,
)
from workbench.tui.main.bars import FooterKey
from workbench.tui.render_context import call_once_after
from workbench.tui.widgets.dialog import Dialog

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.main.screen import MainScreen

TEXT_MOVED_TO_COMPOSER: Final = (
    "You typed text, so no key decided. It is in the composer; esc takes it out again."
)
TEXT_IN_HISTORY: Final = "You typed text, so no key decided. ↑ in the composer brings it back."
TEXT_DROPPED: Final = "You typed text, so no key acted. Nothing here can read it."
SCREEN_CHANGED: Final = "Nothing was done: the screen changed before the key counted. Press it again."
OTHER_KEY_FOLLOWED: Final = "Nothing was done: another key came between the two presses."
CANCELLED: Final = "Cancelled: nothing was done."
NOT_PRESSED_AGAIN: Final = "Nothing was done: {key} was not pressed again."
LETTER_BEFORE_ENTER: Final = "Nothing was done: letters came just before enter. Press it again in 3 seconds."
DRAFT_HAS_TEXT: Final = "Not sent: what you typed stands behind your draft. enter again sends both."
_UNGUARDED_KEYS: Final = frozenset({"escape", "ctrl+c"})
"""Keys that act at once, whatever their row says: the ways back, and to stop an agent."""
_MOVING: Final = ("replay.", "list.row-")
"""How the ids of keys begin that only move what a replay shows."""
_LATE_SECONDS: Final = 0.05
"""Seconds behind its time from which the keys of a busy moment are waited for."""
_MOST_DIALOGS: Final = 8
_TURN_SECONDS: Final = 0.02
_MAX_TURNS: Final = 50
_NO_OWNER: Final = KeyOwner()


class _WaitingKey(Struct):
    """What a deciding key does once it counts."""

    key_id: str
    owner: Any
    press: KeyPress
    """The first press: what it is about was drawn for long enough by then."""
    about: Hashable


class _TypedText(Struct):
    """What was typed where keys decide."""

    text: str
    last: float
    before: str | None
    """What was in the composer; None where the words are only kept."""
    is_shown: bool = False
    """Whether enter has shown it behind the draft: the next one sends both."""


class GuardedKeys:
    """Deciding keys and typed text of one app."""

    def __init__(self, app: "WorkbenchApp") -> None:
        self._app = app
        self.log = KeyLog()
        self.state: KeyState = ARMED
        self._word: Word = NO_WORD
        self._press: KeyPress | None = None
        self._waiting: _WaitingKey | None = None
        self._typed: _TypedText | None = None
        self._turns = 0
        self._shown_words: tuple[KeyOwner, str] | None = None
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
        screen = self._app.screen
        if isinstance(screen, Dialog):
            screen.say(words)
        else:
            self._shown.say(words, is_kept=False)

    @property
    def _is_past(self) -> bool:
        """Return whether the app shows recordings only: nothing decides there, nothing reads words."""
        return "replay" in self._main.INNER

    @property
    def pending_id(self) -> str:
        """Return the id of the key that was pressed and does not count yet; empty for none."""
        return "" if self._waiting is None else self._waiting.key_id

    # --- at its arrival ---------------------------------------------------------------------------

    def arrived(self, event: events.Event) -> KeyPress:
        """Record a key or a paste before anything is done for it."""
        # A clock of its own is simulated: it does not know how long an event was on its way.
        clock = self._app.monotonic
        moment = min(event.time, clock()) if clock is time.monotonic else clock()
        if isinstance(event, events.Key):
            text = (event.character or "") if event.is_printable else ""
            return self.log.record(event.key, text, moment)
        return self.log.record("paste", getattr(event, "text", "") or " ", moment)

    # --- when its turn has come -------------------------------------------------------------------

    def takes(self, event: events.Event, press: KeyPress, *, is_text: bool) -> bool:
        """Do what is to be done for a key here; False where it does its own work.

        Args:
            event: The key or the paste.
            press: The same, as it was recorded.
            is_text: Whether it only writes into the text field that has the focus.
        """
        self._pass_time(press.at)
        self._press, press.screen = press, id(self._app.screen)
        self._word = extend_word(self._word, press.key, press.text, press.at)
        if self._continues_text(event, press):
            return True
        is_leaving = self._main.is_leaving and self._app.screen is self._main
        if is_text and not is_leaving:
            press.is_field = True
            self._word = NO_WORD
            self._set_state(ARMED)
            return False
        if isinstance(event, events.Paste) and _is_text_field(self._app.focused):
            press.is_field = True
            return False
        if self._is_done_by_state(press):
            return True
        if is_leaving:
            return self._while_leaving(event, press)
        if isinstance(event, events.Paste):
            self._offer(self.log.text_until(press) if event.text else "", press.at)
            return True
        return isinstance(event, events.Key) and (self._takes_back_text(event) or self._is_word(press))

    def forget_key(self) -> None:
        """Forget the key that was handled last: what follows was asked for with the mouse."""
        self._press = None

    def _is_done_by_state(self, press: KeyPress) -> bool:
        """Apply what the keys before make of this one; return whether nothing is left to be done for it."""
        waiting = self._waiting
        if waiting is not None and self._is_changed(waiting):
            self._end_waiting(SCREEN_CHANGED)
        state, outcome = follow(self.state, press.key, press.text, press.at)
        self._set_state(state)
        if outcome == "pass":
            return False
        if outcome == "asks":
            self._show()
        if outcome in ("asks", "settles", "held"):
            return True
        self._waiting = None
        self._show()
        return self._end_run(outcome, press)

    def _end_run(self, outcome: Outcome, press: KeyPress) -> bool:
        """Do what is due for a run of keys that another key ended; return whether that key is done."""
        if outcome == "text":
            return self._offer(self.log.text_until(press), press.at)
        if outcome == "cancelled":
            self._say(CANCELLED)
            return True
        if outcome == "draft":
            return self._offer(self.log.text_before(press), press.at)
        self._say(OTHER_KEY_FOLLOWED)
        return False

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

    # --- typed text that is still being typed -----------------------------------------------------

    def _continues_text(self, event: events.Event, press: KeyPress) -> bool:
        """Add a key to typed text that no text field takes yet; return whether it was done."""
        typed = self._typed
        if typed is None:
            return False
        is_enter = isinstance(event, events.Key) and event.key == "enter"
        if typed.before is not None and self._is_in_composer:
            if press.text and press.at - typed.last < RUN_SECONDS:
                typed.text, typed.last = typed.text + press.text, press.at
            return is_enter and self._ends_text(typed)
        if press.at - typed.last >= RUN_SECONDS or not (press.text or is_enter):
            self._end_typing()
            return False
        typed.last = press.at
        press.is_used = True
        if typed.before is not None and is_enter:
            if self._app.screen is self._main and not self._ends_text(typed):
                self._main.composer.send()
            self._typed = None
            return True
        self._add("\n" if is_enter else press.text)
        return True

    @property
    def _is_in_composer(self) -> bool:
        return self._app.screen is self._main and self._main.composer.has_focus_within

    def _ends_text(self, typed: _TypedText) -> bool:
        """Return whether enter behind typed text only shows it: there was a draft before."""
        if typed.is_shown or sends_text(typed.before or ""):
            self._typed = None
            return False
        typed.is_shown = True
        self._main.say(DRAFT_HAS_TEXT, is_kept=False)
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
        """Take what was typed out of the composer again, if it is unchanged there."""
        typed, composer = self._typed, self._main.composer
        if typed is None or typed.before is None:
            return False
        if event.key != "escape" or not composer.has_focus_within or composer.text != _joined_text(typed):
            if event.key == "escape" or composer.text != _joined_text(typed):
                self._typed = None
            return False
        self._typed = None
        composer.history.add(typed.text.strip())
        composer.input.put(typed.before)
        composer.leave()
        self._main.say("Taken out again. ↑ in the composer brings it back.", is_kept=False)
        return True

    # --- letters that are not a key ---------------------------------------------------------------

    def _is_word(self, press: KeyPress) -> bool:
        """Suspect a letter that means nothing here, and take one that opens a field in a word as text."""
        if not press.text or _is_text_field(self._app.focused):
            return False
        bound = self._app.screen.active_bindings.get(press.key)
        if bound is None:
            return self._is_unknown(press)
        row = keymap.find_key(bound.binding.id or "")
        if press.text.isdigit():
            # The number of a place is no letter.
            press.is_used = True
        if row is not None and not row.decides:
            press.did = row.id
        if row is None or not row.decides:
            self._set_state(
                self.state if row is None else schedule(self.state, press.key, press.at, "acts")[0]
            )
        is_inside = self.log.count_in_word(press) >= WORD_KEYS and self._is_inside_word(press)
        if row is None or not row.opens_field or not is_inside:
            return False
        return self._offer(self.log.text_until(press), press.at)

    def _is_unknown(self, press: KeyPress) -> bool:
        screen = self._app.screen
        if self._is_past or (isinstance(screen, Dialog) and screen.reads_key(press.key)):
            return False
        if isinstance(screen, Dialog) and screen.DECIDES:
            return self._offer(self.log.text_until(press), press.at)
        press.is_letter = True
        self._set_state(schedule(self.state, press.key, press.at, "nothing")[0])
        return False

    def _is_inside_word(self, press: KeyPress) -> bool:
        """Return whether a key that opens a text field came behind letters, not keys of a replay."""
        if not hasattr(self._app.screen, "player"):
            return True
        users = keymap.user_keymap(self._main)
        ids = {**keymap.ids_by_key("list", users), **keymap.ids_by_key("replay", users)}
        return not all(ids.get(key, "").startswith(_MOVING) for key in self.log.keys_until(press))

    def words_before_field(self) -> str:
        """Return what was typed in one go up to the key that opens a field now, that key too.

        Empty where it came alone, or behind keys that did what they do: they moved, or went to a place.
        """
        press = self._press
        if press is None or not press.text:
            return ""
        keys = self.log.keys_until(press)[:-1]
        return self.log.text_until(press) if any(map(self._is_letter, keys)) else ""

    def _is_letter(self, key: str) -> bool:
        """Return whether a key means nothing on the screen on show, or decides: words may begin so."""
        bound = self._app.screen.active_bindings.get(key)
        row = None if bound is None else keymap.find_key(bound.binding.id or "")
        return row is None or row.decides

    def follows_text(self) -> bool:
        """Return whether the key that is handled now came right behind typed text."""
        return self._press is not None and self.log.follows_text(self._press)

    def give_back(self, text: str) -> None:
        """Offer text to the composer that was typed into a field which opened in the middle of it."""
        if self._press is not None:
            self._offer(text, self._press.at)
            self._end_typing()

    # --- deciding keys ----------------------------------------------------------------------------

    def refuses(self, key_id: str) -> bool:
        """Note that a key is off: as a letter it did nothing. Return whether its reason is not needed."""
        press = self._press
        if press is None or self.is_committing or not self._is_of_row(press, key_id):
            return False
        if press.text and keymap.key_of(key_id).decides and not self._is_past:
            press.is_letter = True
            # As one that came too early: whoever presses it twice, as keys are pressed here, wrote no text.
            self._set_state(schedule(self.state, press.key, press.at, "early")[0])
        return False

    def holds(self, key_id: str, owner: Any) -> bool:
        """Return whether a key that just arrived does not count now; then it is done here once it does.

        What a click, a command or the palette asks for has no key of its row, and is done at once.
        """
        press = self._press
        if self.is_committing or press is None or press.key in _UNGUARDED_KEYS:
            return False
        if self._is_past or not self._is_of_row(press, key_id):
            return False
        return self._begins(key_id, owner, press) if press.text else self._refuses_control_key(press)

    def _refuses_control_key(self, press: KeyPress) -> bool:
        """Return whether enter or a control key does not count: it is held down, or behind letters."""
        if press.is_repeat:
            return True
        screen = self._app.screen
        if press.key != "enter" or not isinstance(screen, Dialog) or not screen.DECIDES:
            return False
        if enter_counts(self.log.last_letter(press), press.at):
            return False
        self._say(LETTER_BEFORE_ENTER)
        return True

    def _is_of_row(self, press: KeyPress, key_id: str) -> bool:
        users = keymap.user_keymap(self._main)
        return keymap.ids_by_key(key_id.partition(".")[0], users).get(press.key) == key_id

    def _begins(self, key_id: str, owner: Any, press: KeyPress) -> bool:
        asked = _owner(owner)
        why = asked.why_early(key_id)
        role = _role(asked, key_id, why)
        is_in_word = self._word.is_mixed
        state, outcome = schedule(self.state, press.key, press.at, role, is_in_word=is_in_word)
        self._set_state(state)
        press.is_letter = True
        if outcome == "early":
            asked.was_early(key_id)
            self._say(why)
            return True
        if outcome == "pass":
            return False
        self._waiting, self._turns = _WaitingKey(key_id, owner, press, ()), 0
        self._waiting.about = self._about(self._waiting)
        if outcome == "asks":
            self._show()
        return True

    def _about(self, waiting: _WaitingKey) -> Hashable:
        app = self._app
        return (
            id(app.screen),
            id(app.focused),
            app.size,
            _owner(waiting.owner).subject,
            self._label(waiting),
        )

    def _is_changed(self, waiting: _WaitingKey) -> bool:
        return waiting.about != self._about(waiting)

    # --- time -------------------------------------------------------------------------------------

    def _set_state(self, state: KeyState) -> None:
        is_other = state is not self.state
        self.state = state
        if is_other and state.due is not None:
            self._look_in(state.due - self._app.monotonic())

    def _look_in(self, seconds: float) -> None:
        # By the app's own queue: keys that have arrived by then are recorded first.
        call_once_after(self._app, max(0.001, seconds), self.commit_due)

    def commit_due(self) -> None:
        """Do what is due by now, once no key waits unread."""
        due, now = self.state.due, self._app.monotonic()
        if due is None:
            return
        if now < due:
            self._look_in(due - now)
            return
        has_unread = self._app.has_unread_keys
        if self._turns < _MAX_TURNS and (has_unread or (now - due > _LATE_SECONDS and not self._turns)):
            self._turns += 1
            self._look_in(_TURN_SECONDS)
            return
        self._pass_time(now, is_certain=not has_unread)

    def _pass_time(self, at: float, *, is_certain: bool = True) -> None:
        """Do what is due until a moment."""
        state, outcome = elapse(self.state, at)
        if state is self.state:
            return
        waiting, self._waiting, self._turns = self._waiting, None, 0
        self.state = state
        if waiting is None:
            return
        if outcome == "decide":
            self._commit(waiting, is_certain=is_certain)
        else:
            self._say(NOT_PRESSED_AGAIN.format(key=keymap.printed_key(waiting.press.key)))
        self._show()

    def _commit(self, waiting: _WaitingKey, *, is_certain: bool) -> None:
        if not is_certain or self._is_changed(waiting):
            self._say(SCREEN_CHANGED)
            return
        self.log.mark_used(self._press or waiting.press)
        self._word = NO_WORD
        self.is_committing = True
        try:
            self._app.at_time_of(waiting.press.at, lambda: _act(waiting))
        finally:
            self.is_committing = False

    # --- what is typed ----------------------------------------------------------------------------

    def _offer(self, text: str, moment: float) -> bool:
        """Put typed text into the composer, or keep it where there is none on the screen.

        In the replay of a recording alone nothing is text: each key does there what it does.
        """
        main = self._main
        if not text or self._is_past:
            return False
        self._set_state(ARMED)
        self._restore_choices()
        if self._press is not None:
            self.log.mark_used(self._press)
        self._close_dialogs()
        if not main.takes_text:
            self._keep(text, moment)
            is_kept = main.presenter.has_model and hasattr(main.composer, "history")
            words = TEXT_IN_HISTORY if is_kept else TEXT_DROPPED
            self._say(words)
            return True
        composer = main.composer
        before = composer.text
        self._typed = _TypedText(text, moment, before)
        composer.input.type_in(_separator_after(before) + text)
        main.layout_controller.focus_composer()
        main.say(TEXT_MOVED_TO_COMPOSER, is_kept=False)
        return True

    def _close_dialogs(self) -> None:
        """Close what lies over the composer, or at least a dialog that decides: text was typed in it."""
        for _ in range(_MOST_DIALOGS):
            screen = self._app.screen
            if not isinstance(screen, Dialog) or not (screen.DECIDES or self._main.takes_text):
                return
            screen.leave()
            if self._app.screen is screen:
                screen.dismiss()

    def _restore_choices(self) -> None:
        """Choose again what was chosen before the typed text: its first letters may have chosen."""
        main = self._main
        did = self.log.done_until(self._press) if self._press is not None else []
        if did.count("approvals.folders") % 2:
            main.context.folders.toggle()
        if self._press is None or not main.approvals.choosing.restore_choices(
            self.log.text_start(self._press)
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

    # --- what is shown ----------------------------------------------------------------------------

    def _end_waiting(self, words: str) -> None:
        self._waiting, self.state = None, ARMED
        self._say(words)
        self._show()

    def _show(self) -> None:
        """Say at once that a key has to be pressed again, and when it need not be any more."""
        waiting = self._waiting
        if self._shown_words is not None:
            self._shown_words[0].show_waiting(self._shown_words[1], "")
            self._shown_words = None
        if waiting is not None:
            owner = _owner(waiting.owner)
            self._shown_words = owner, waiting.key_id
            owner.show_waiting(waiting.key_id, self._words(waiting))
        self._shown.presenter.footer()

    def _words(self, waiting: _WaitingKey) -> str:
        """Return what is shown while a key waits: `a again: approve 2 of 3`."""
        key, label = keymap.printed_key(waiting.press.key), self._label(waiting)
        if self.state.phase == "settle":
            return f"{key}: {label}"
        if self._is_alone(waiting):
            return f"{key}: {label} in a moment"
        return f"{key} again: {label}" if self.state.is_last else f"{key} twice again: {label}"

    def _is_alone(self, waiting: _WaitingKey) -> bool:
        return self.state.alone_at is not None and self.state.key == waiting.press.key

    def footer_keys(self) -> list[FooterKey]:
        """Return what the footer shows while a key waits; nothing for none."""
        waiting = self._waiting
        if waiting is None:
            return []
        if self._is_changed(waiting):
            self._app.call_later(self._revoke)
            return []
        keys, _, label = self._words(waiting).partition(" ")
        return [FooterKey(keys=keys, label=f"{label} ·"), FooterKey(keys="esc", label="cancels")]

    def _revoke(self) -> None:
        if self._waiting is not None and self._is_changed(self._waiting):
            self._end_waiting(SCREEN_CHANGED)

    def _label(self, waiting: _WaitingKey) -> str:
        return _owner(waiting.owner).asked_label_of(waiting.key_id)


def _owner(owner: Any) -> KeyOwner:
    return owner if isinstance(owner, KeyOwner) else _NO_OWNER


def _role(owner: KeyOwner, key_id: str, why_early: str) -> Role:
    if why_early:
        return "early"
    if owner.shows_part(key_id):
        return "shows"
    return "alone" if owner.is_undoable(key_id) else "decides"


def _act(waiting: _WaitingKey) -> None:
    again = getattr(waiting.owner, "action_do", None)
    if again is None:
        keymap.run_action(waiting.key_id, waiting.owner)
    else:
        again(waiting.key_id)


def _separator_after(before: str) -> str:
    return "\n" if before.strip() and not before.endswith("\n") else ""


def _joined_text(typed: _TypedText) -> str:
    before = typed.before or ""
    return before + _separator_after(before) + typed.text


def _is_text_field(widget: object) -> bool:
    return any(kind.__name__ in ("Input", "TextArea") for kind in type(widget).__mro__)
