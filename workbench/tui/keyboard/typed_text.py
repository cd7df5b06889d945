"""Text that was typed where keys decide, and its way to the composer or to the history of what was said."""

from typing import Final

from msgspec import Struct
from textual import events

from workbench.text.safe import safe_text
from workbench.tui.keyboard.keyboard_app import KeyboardApp
from workbench.tui.keyboard.messages import (
    DRAFT_HAS_TEXT,
    TEXT_BEHIND_DRAFT,
    TEXT_DROPPED,
    TEXT_IN_HISTORY,
    TEXT_MOVED_TO_COMPOSER,
    TEXT_TAKEN_BACK,
    show_message,
)
from workbench.tui.keyboard.owner import KeyDialog
from workbench.tui.keyboard.press_log import KeyPress
from workbench.tui.keyboard.rule import RUN_SECONDS, sends_text

_MOST_DIALOGS: Final = 8


class _Text(Struct):
    """What was typed where keys decide."""

    text: str
    last: float
    draft: str | None
    """What was in the composer; None where the words are only kept."""
    is_shown: bool = False
    """Whether enter has shown it behind the draft: the next one sends both."""

    @property
    def whole(self) -> str:
        """Return the draft with the text behind it."""
        draft = self.draft or ""
        return draft + _separator_after(draft) + self.text


class TypedText:
    """The text of one app that is still being typed; at most one."""

    def __init__(self, app: KeyboardApp) -> None:
        self._app = app
        self._typed: _Text | None = None

    # --- where it goes ----------------------------------------------------------------------------

    def send(self, text: str, moment: float) -> None:
        """Put a text into the composer, or keep it where there is none on the screen."""
        main = self._app.key_screen
        self._close_dialogs()
        if main.takes_text:
            self._send_to_composer(text, moment)
            return
        self.send_to_history(text, moment)
        show_message(self._app, TEXT_IN_HISTORY if main.keeps_text else TEXT_DROPPED)

    def _send_to_composer(self, text: str, moment: float) -> None:
        main = self._app.key_screen
        composer = main.composer
        draft = composer.text
        self._typed = _Text(text, moment, draft)
        composer.input.type_in(_separator_after(draft) + text)
        main.focus_composer()
        main.say(TEXT_MOVED_TO_COMPOSER if sends_text(draft) else TEXT_BEHIND_DRAFT, is_kept=False)

    def send_to_history(self, text: str, moment: float) -> None:
        """Keep a text among what was said before."""
        if self._typed is None or self._typed.draft is not None:
            self._typed = _Text("", moment, None)
        self._typed.last = moment
        self._append(self._typed, text)

    def _close_dialogs(self) -> None:
        """Close what lies over the composer, or at least a dialog that decides: text was typed in it."""
        for _ in range(_MOST_DIALOGS):
            screen = self._app.screen
            if not isinstance(screen, KeyDialog):
                return
            if not (screen.DECIDES or self._app.key_screen.takes_text):
                return
            screen.close()

    def _append(self, typed: _Text, text: str) -> None:
        before, typed.text = typed.text, typed.text + text
        main = self._app.key_screen
        if typed.draft is None:
            main.remember_text(safe_text(before).strip(), safe_text(typed.text).strip())
        else:
            main.composer.input.type_in(text)

    # --- the keys behind it -----------------------------------------------------------------------

    def continue_with(self, event: events.Key | events.Paste, press: KeyPress) -> bool:
        """Add a key to a text that no text field takes yet; return whether it is done with that."""
        typed = self._typed
        if typed is None:
            return False
        is_enter = isinstance(event, events.Key) and event.key == "enter"
        if typed.draft is not None and self._is_in_composer:
            if press.text and press.at - typed.last < RUN_SECONDS:
                typed.text, typed.last = typed.text + press.text, press.at
            return is_enter and self._is_only_shown(typed)
        if press.at - typed.last >= RUN_SECONDS or not (press.text or is_enter):
            self.end()
            return False
        typed.last = press.at
        press.is_used = True
        if typed.draft is not None and is_enter:
            self._send_by_enter(typed)
        else:
            self._append(typed, "\n" if is_enter else press.text)
        return True

    @property
    def _is_in_composer(self) -> bool:
        main = self._app.key_screen
        return main.is_on_show and main.composer.has_focus_within

    def _send_by_enter(self, typed: _Text) -> None:
        main = self._app.key_screen
        if main.is_on_show and not self._is_only_shown(typed):
            main.composer.send()
        self._typed = None

    def _is_only_shown(self, typed: _Text) -> bool:
        """Return whether enter behind the text only shows it: there was a draft before."""
        if typed.is_shown or sends_text(typed.draft or ""):
            self._typed = None
            return False
        typed.is_shown = True
        self._app.key_screen.say(DRAFT_HAS_TEXT, is_kept=False)
        return True

    def end(self) -> None:
        """Add no more to a text that is only kept."""
        if self._typed is not None and self._typed.draft is None:
            self._typed = None

    def take_back(self, event: events.Key) -> bool:
        """Take the text out of the composer again at escape, if it is unchanged there."""
        main, typed = self._app.key_screen, self._typed
        if typed is None or typed.draft is None:
            return False
        composer = main.composer
        is_unchanged = composer.text == typed.whole
        if event.key != "escape" or not is_unchanged or not composer.has_focus_within:
            if event.key == "escape" or not is_unchanged:
                self._typed = None
            return False
        self._typed = None
        composer.history.add(typed.text.strip())
        composer.input.put(typed.draft)
        composer.leave()
        main.say(TEXT_TAKEN_BACK, is_kept=False)
        return True


def _separator_after(draft: str) -> str:
    return "\n" if draft.strip() and not draft.endswith("\n") else ""
