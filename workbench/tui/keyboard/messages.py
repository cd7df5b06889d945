"""What the screen says about a key that did not count, and about text that no key was."""

from typing import Final

from workbench.tui.keyboard.keyboard_app import KeyboardApp
from workbench.tui.keyboard.owner import KeyDialog, KeyScreen

TEXT_MOVED_TO_COMPOSER: Final = "You typed text, so no key decided. enter sends it, esc takes it out again."
TEXT_BEHIND_DRAFT: Final = (
    "You typed text, so no key decided. It is behind your draft; esc takes it out again."
)
TEXT_IN_HISTORY: Final = "You typed text, so no key decided. ↑ in the composer brings it back."
TEXT_DROPPED: Final = "You typed text, so no key acted. Nothing here can read it."
TEXT_TAKEN_BACK: Final = "Taken out again. ↑ in the composer brings it back."
SCREEN_CHANGED: Final = "Nothing was done: the screen changed before the key counted. Press it again."
OTHER_KEY_FOLLOWED: Final = "Nothing was done: another key came between the two presses."
CANCELLED: Final = "Cancelled: nothing was done."
NOT_PRESSED_AGAIN: Final = "Nothing was done: {key} was not pressed again."
LETTER_BEFORE_ENTER: Final = "Nothing was done: letters came just before enter. Press it again in 3 seconds."
DRAFT_HAS_TEXT: Final = "Not sent: what you typed stands behind your draft. enter again sends both."


def screen_on_show(app: KeyboardApp) -> KeyScreen:
    """Return the screen that has a line for sentences: the one on show, or the app's own under it."""
    screen = app.screen
    return screen if isinstance(screen, KeyScreen) else app.key_screen


def show_message(app: KeyboardApp, text: str) -> None:
    """Show a sentence where it is seen: in the dialog that lies over the screen, if one does."""
    screen = app.screen
    if isinstance(screen, KeyDialog):
        screen.say(text)
    else:
        screen_on_show(app).say(text, is_kept=False)
