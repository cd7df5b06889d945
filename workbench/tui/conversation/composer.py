"""The composer: where the user writes, with history, pasted text and the external editor.

Nothing is sent but by the key. Long pastes are kept behind placeholders. It sends messages; whether they
begin a session, go out or are queued is decided by the screen.
"""

# Text fields are made when somebody writes. The framework's text area takes 12 ms and 0.5 MB, the line at
# the bottom has seven widgets; where something waits the keys go to the queue, and a replay has no composer
# at all. What stands there until then says the same; a key that came early waits until the field is there.
#
# A long paste is a mark until it is sent. A text field lays out all of its lines at every key (1.3 s with 1
# MB). History, draft and editor know what the mark stands for; a mark that was changed stands for nothing,
# and then nothing is sent.
#
# A text field takes its own keys in the order of its queue. A binding with priority runs before characters
# that still wait there: words and enter that arrived together over a slow line were taken as enter first.

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import work
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.render.cells import safe_content, shorten_line
from workbench.text import human
from workbench.text.safe import safe_text
from workbench.tui import render_context
from workbench.tui.backend import MAX_LISTED_FILES, Backend, BackendError, error_text
from workbench.tui.keyboard.owner import KeyOwner
from workbench.tui.pane import (
    BackToPane,
    CommandTyped,
    ComposerModel,
    FirstWaiting,
    KeysChanged,
    NextPane,
    PromptSent,
    QueuedPromptEdited,
    StatusMessage,
    StopAgent,
)
from workbench.views.sessions import why_takes_no_message

if TYPE_CHECKING:
    from workbench.tui.conversation.completion import Completions, TypedWord
    from workbench.tui.conversation.completion_popup import CompletionPopup
    from workbench.tui.conversation.composer_input import ComposerInput
    from workbench.tui.conversation.prompt_history import PromptHistory

LONG_PASTE_LETTERS: Final = 6_000
"""Characters from which a text is folded: a text field lays all of its lines out anew at each key."""
LONG_PASTE_LINES: Final = 100
MAX_PASTE_LETTERS: Final = 8_000_000
"""Characters that are taken at once."""
_PLACEHOLDER: Final = re.compile(r"\[paste ([1-9][0-9]{0,5}): [0-9.,]+ [KMG]?B, [0-9,]+ lines?\]")


def is_long_paste(text: str) -> bool:
    """Return whether a text is folded."""
    return len(text) > LONG_PASTE_LETTERS or text.count("\n") >= LONG_PASTE_LINES


class PastePlaceholders:
    """The texts of one composer, kept as long as it is: what was said before may name them."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """Return the mark of a long text, a short text as it is."""
        if not is_long_paste(text):
            return text
        text = self.expand(text)
        known = next((mark for mark, held in self._texts.items() if held == text), None)
        if known is not None:
            return known
        size = human.size_text(len(text.encode(errors="replace")))
        lines = text.count("\n") + (not text.endswith("\n"))
        mark = f"[paste {len(self._texts) + 1}: {size}, {lines:,} line{'s' if lines > 1 else ''}]"
        self._texts[mark] = text
        return mark

    def expand(self, text: str) -> str:
        """Return a text with what its marks stand for."""
        return _PLACEHOLDER.sub(lambda match: self._texts.get(match[0], match[0]), text)

    def broken(self, text: str) -> str | None:
        """Return a mark of which only a part is in a text; None when all of them are whole."""
        for mark in self._texts:
            head, _, _ = mark.partition(" ")
            number, _, _ = mark.removeprefix(head).partition(":")
            pieces = (f"{head}{number}:", mark.removeprefix(head))
            if any(text.count(piece) > text.count(mark) for piece in pieces):
                return mark
        return None

    def mark_before(self, text: str) -> int:
        """Return the length of the mark that a text ends with; 0 without one."""
        begin = text.rfind("[paste ")
        return len(text) - begin if begin >= 0 and text[begin:] in self._texts else 0


_NARROW_COLUMNS: Final = 100
"""Columns below which the hint at the right is one short sentence."""
_AROUND: Final = 7
"""Cells of a row that are neither the title nor the words around it: sign, quotes, blanks."""
_MIN_TITLE_CELLS: Final = 12
"""Cells of the title that are shown, whatever else is."""
_LOST_EDIT: Final = "That message is not queued any more."
_TAKE_BACK_HINT: Final = "\u2191 takes it back"
_EDITED_NAME: Final = "message.md"


class _IdleInput(Static):
    """Stands where the text field will be, and says the same."""

    def on_click(self) -> None:
        """Let the user write."""
        self.query_ancestor(Composer).focus_input()


class _InputRow(Horizontal):
    """The sign, the text field or what stands for it, and the hint."""

    def __init__(self, composer: "Composer") -> None:
        super().__init__(id="composer-row")
        self._composer = composer

    def compose(self) -> ComposeResult:
        yield Static(Content(f" {render_context.glyphs(self).of('prompt')} "), id="composer-sign")
        yield from self._composer.parts()


class Composer(Vertical, KeyOwner):
    """The composer with its hint and the list of completions over it."""

    MAX_ROWS: ClassVar[int] = 8

    def __init__(self, backend: Backend, *, key: str | None = None) -> None:
        super().__init__(id=key)
        self._backend = backend
        self._shown = ComposerModel(session=None)
        self._pastes = PastePlaceholders()
        self._files: Sequence[str] | None = None
        self._models: Sequence[tuple[str, str]] | None = None
        self._is_dismissed = False
        self._field: ComposerInput | None = None
        self._offers: CompletionPopup | None = None
        self._row = _InputRow(self)
        self._idle, self._hint = _IdleInput(id="composer-idle"), Static(id="composer-hint")
        self._said = Content(), Content()
        self._was_empty = True
        self._edited: tuple[str, str] | None = None
        """The queued message that is being edited: its id and its text."""
        self._was_edit_lost = False
        """Whether the text was written for a message that is not queued any more, and enter says so first."""
        self.is_awaited = False
        """Whether it gets the focus as soon as the first frame is out."""

    @cached_property
    def history(self) -> "PromptHistory":
        """Return what was said before."""
        from workbench.tui.conversation.prompt_history import PromptHistory

        return PromptHistory()

    def compose(self) -> ComposeResult:
        yield self._row

    @property
    def offers(self) -> "CompletionPopup":
        """Return the list of completions, made when there are some for the first time."""
        if self._offers is None:
            from workbench.tui.conversation.completion_popup import CompletionPopup

            self._offers = CompletionPopup()
            self.mount(self._offers, before=self._row)
        return self._offers

    def _show_offer(self, completions: "Completions | None") -> None:
        if completions is not None or self._offers is not None:
            self.offers.show_offer(completions)

    @property
    def _offer(self) -> "Completions | None":
        """Return the completions on show."""
        return None if self._offers is None else self._offers.offer

    def after_key(self, key_id: str) -> None:
        del key_id
        self.post_message(KeysChanged())

    def parts(self) -> Iterable[Widget]:
        """Yield what is right of the sign."""
        yield self._idle if self._field is None else self._field
        yield self._hint

    @property
    def input(self) -> "ComposerInput":
        """Return the text field, made when it is first wanted: whoever only answers needs none."""
        if self._field is None:
            from workbench.tui.conversation.composer_input import ComposerInput

            self._field = ComposerInput(self)
            self._field.placeholder = self._said[0]
            if self._hint.is_attached:
                self._idle.display = False
                self._row.mount(self._field, before=self._hint)
        return self._field

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is written; with each key, so it does not put all lines together."""
        return self._field is None or self._field.document.end == (0, 0)

    @property
    def is_written_in(self) -> bool:
        """Return whether what is typed goes here, now or as soon as the first frame is out."""
        return self.is_awaited or self.has_focus_within

    def on_mount(self) -> None:
        self._say()

    def on_resize(self) -> None:
        """Say it in another width."""
        self._say()

    def show(self, view: ComposerModel) -> None:
        """Take whom a message would go to."""
        is_first = view.session is not None and self._shown.session is None
        if is_first or view.workspace != self._shown.workspace:
            self._files = None
        if (view.session and view.session.id) != (self._shown.session and self._shown.session.id):
            self._models = None
        is_elsewhere = (view.session and view.session.id) != (self._shown.session and self._shown.session.id)
        self._shown = view
        if self._edited is not None and (is_elsewhere or self._edited not in view.queue):
            self._lose_edited(is_elsewhere=is_elsewhere)
        self._say()

    def _lose_edited(self, *, is_elsewhere: bool) -> None:
        """Stop editing a message that is not queued any more, or not here; changed words stay unsent."""
        is_changed = self._edited is not None and self.draft != self._edited[1]
        self._edited, self._was_edit_lost = None, is_changed
        if not is_changed:
            self.input.clear()
        if not is_elsewhere:
            kept = " What is written here is not sent." if is_changed else ""
            self.post_message(StatusMessage(f"{_LOST_EDIT}{kept}"))

    def focus_input(self) -> None:
        """Give the text the focus."""
        self.input.focus()

    def begin(self, text: str) -> None:
        """Begin to write something, with what can follow it; `up` brings back the words that stood there."""
        if standing := self.text.strip():
            self.history.add(standing)
        self.focus_input()
        self.input.load_text(text)
        self.input.move_cursor(self.input.document.end)
        self._is_dismissed = False
        self.call_after_refresh(self._complete)

    @property
    def _textual(self) -> App[Any]:
        # Textual leaves the type of an app's return value open; nothing here depends on it.
        return cast("App[Any]", cast("Any", self).app)

    @property
    def text(self) -> str:
        """Return what is written, a folded paste as its mark."""
        return "" if self._field is None else self._field.text

    def folded(self, pasted: str) -> str:
        """Return what stands in the field for pasted text, and say so if it is a mark."""
        text = self._pastes.fold(safe_text(pasted))
        if is_long_paste(pasted):
            self.post_message(StatusMessage("Folded; enter sends it whole, ctrl+o opens it in the editor."))
        return text

    def mark_before(self, text: str) -> int:
        """Return the length of the mark of a folded paste that a line ends with."""
        return self._pastes.mark_before(text)

    def remember(self, said: Sequence[str]) -> None:
        """Take over what was said before, oldest first; what was written on this screen comes behind it."""
        self.history.put_before(said)

    def put_back(self, text: str) -> None:
        """Let words stand here again that were not sent, unless something else stands here by now."""
        if self.text.strip():
            self.history.add(text)
        else:
            self._put(text)

    @property
    def draft(self) -> str:
        """Return what is written, in full."""
        return self._pastes.expand(self.text)

    # --- what it says ---------------------------------------------------------------------------

    def _say(self) -> None:
        # Every key of every pane comes by here; what is set lays the whole screen out anew.
        placeholder, hint = self._placeholder(), self._hint_text()
        if not placeholder.is_same(self._said[0]):
            self._show_placeholder(placeholder)
        if not hint.is_same(self._said[1]):
            self._hint.update(hint, layout=hint.cell_length != self._said[1].cell_length)
        self._said = placeholder, hint

    def _show_placeholder(self, words: Content) -> None:
        if self._field is None:
            self._idle.update(words)
        else:
            self._field.placeholder = words

    def _placeholder(self) -> Content:
        view = self._shown
        if not view.has_model:
            return Content("")
        folder = f" in {safe_content(view.folder).plain}" if view.folder else ""
        if view.session is None:
            return Content(f"Say what you want done{folder}, @file, /command")
        if why := why_takes_no_message(view.session):
            short = why.partition(":")[0].rstrip(".")
            room = self.screen.size.width - self._hint_text().cell_length - _AROUND
            whole = f"{short}; ctrl+n starts a session, /command"
            return Content(whole if len(whole) <= room else short)
        before, after = "Message ", ", @file, /command"
        if not self.is_written_in and self.screen.size.width < _NARROW_COLUMNS:
            before, after = "i  to write to ", ""
        after = f"{folder}{after}"
        signs = render_context.glyphs(self)
        quotes = signs.line("“"), signs.line("”")
        room = self.screen.size.width - len(before + after) - self._hint_text().cell_length - _AROUND
        title = shorten_line(
            safe_content(view.session.title or "this session"), max(_MIN_TITLE_CELLS, room), signs
        ).plain
        return Content(f"{before}{quotes[0]}{title}{quotes[1]}{after}")

    def _hint_text(self) -> Content:
        view, ink = self._shown, render_context.ink(self)
        if self.is_empty:
            words = f"{len(view.queue)} queued  {_TAKE_BACK_HINT}" if view.queue else view.mode
            words = "enter takes it back  esc leaves it queued" if self._edited is not None else words
            return Content.styled(f"{words} ", ink.of("faint"))
        if self._edited is not None:
            return Content.styled("queued  enter changes it  esc leaves it ", ink.of("faint"))
        if self.screen.size.width < _NARROW_COLUMNS:
            return Content.styled("agent works; enter queues " if view.is_working else "", ink.of("faint"))
        parts = [f"{len(view.queue)} queued"] if view.queue else []
        parts += ["agent works; enter queues"] if view.is_working and not view.queue else []
        parts += ["ctrl+j new line", "ctrl+o editor"]
        return Content.styled("   ".join(parts) + " ", ink.of("faint"))

    def on_text_area_changed(self) -> None:
        """Offer completions for the word that is typed."""
        self._is_dismissed = False
        self._complete()
        self._say()
        if self.is_empty != self._was_empty:
            self._was_empty = self.is_empty
            self.post_message(KeysChanged())

    def on_text_area_selection_changed(self) -> None:
        """The cursor came to another word."""
        self._complete()

    def end_waiting(self) -> None:
        """Let keys go where the focus is."""
        self.is_awaited = False

    def on_descendant_focus(self) -> None:
        """Say what enter does."""
        self.end_waiting()
        self._say()

    def on_descendant_blur(self) -> None:
        """Close the list; files may change until the next time."""
        self._files = self._models = None
        self._show_offer(None)
        self._say()

    # --- completion -----------------------------------------------------------------------------

    def _complete(self) -> None:
        from workbench.tui.conversation.completion import (
            CompletionSources,
            completions_of,
            word_before_cursor,
        )

        row, column = self.input.cursor_location
        line = self.input.document.get_line(row)
        word = word_before_cursor(line[:column], is_first_line=row == 0)
        if word is None or self._is_dismissed or not self.input.has_focus:
            self._show_offer(None)
            return
        if self._asks_first(word):
            return
        known = CompletionSources(files=self._files or (), models=self._models or (), now=self._shown.now)
        completions = completions_of(word, known)
        self._show_offer(completions if completions.candidates else None)

    def _asks_first(self, word: "TypedWord") -> bool:
        """Ask for what a word can be, unless it is known; the list is shown when it is there."""
        if word.kind == "file" and self._files is None:
            self._read_files()
            return True
        if word.kind == "model" and self._models is None:
            self._models = ()
            session = self._shown.session
            self.post_message(StatusMessage("Asking which models there are.", is_kept=False))
            self._read_models(session.id if session is not None else "")
        return False

    @work(thread=True, group="files", exclusive=True, exit_on_error=False, description="list files")
    def _read_files(self) -> None:
        files = tuple(self._backend.of(self._shown.workspace).list_files())
        self._textual.call_from_thread(self._take_files, files)

    def _take_files(self, files: Sequence[str]) -> None:
        self._files = files
        if len(files) >= MAX_LISTED_FILES:
            many = f"@ offers the first {MAX_LISTED_FILES:,} files of this folder, and no others."
            self.post_message(StatusMessage(many))
        self._complete()

    @work(thread=True, group="models", exclusive=True, exit_on_error=False, description="list models")
    def _read_models(self, session_id: str) -> None:
        try:
            backend = self._backend.of(self._shown.workspace)
            models, note = backend.models.available_models(session_id)
        except Exception as error:  # noqa: BLE001 whatever a service says is told, nothing is hidden
            models, note = (), error_text(error)
        self._textual.call_from_thread(self._take_models, models, note)

    def _take_models(self, models: Sequence[tuple[str, str]], note: str) -> None:
        self._models = models
        self.post_message(
            StatusMessage(
                note or f"{len(models)} to choose from.",
                is_error=bool(note) and not models,
                is_kept=bool(note),
            )
        )
        self._complete()

    def complete(self) -> None:
        """Take the candidate; in an empty field go on to the next pane, as `tab` does everywhere else."""
        if self.take_offer():
            return
        if self.is_empty:
            self.post_message(NextPane())
        else:
            self.post_message(StatusMessage("Nothing to complete here: tab completes @file and /command."))

    def take_offer(self) -> bool:
        """Put the candidate under the cursor in the place of its word; False without one."""
        # What was typed a moment ago may not have come to the list yet.
        self._complete()
        chosen, offer = self.offers.chosen, self.offers.offer
        if chosen is None or offer is None:
            return False
        row, column = self.input.cursor_location
        mark = "@" if offer.word.kind == "file" else ""
        self.input.replace(f"{mark}{chosen} ", (row, offer.word.start), (row, column))
        self._show_offer(None)
        return True

    # --- keys -----------------------------------------------------------------------------------

    def send(self) -> None:
        """Take a candidate, carry out a command, send the words, or queue the edited ones."""
        if self._edited is not None:
            self._send_edited(*self._edited)
        elif self._was_edit_lost and not self.is_empty:
            self.post_message(StatusMessage(f"{_LOST_EDIT} enter again sends this as another one."))
        else:
            self._send_words()
        self._was_edit_lost = False

    def _send_words(self) -> None:
        from workbench.tui.conversation.completion import (
            COMMANDS_WITH_VALUE,
            command_words,
            mistyped_command_hint,
            parse_slash_command,
        )

        self._complete()
        offer = self._offer
        if self.take_offer() and offer is not None and offer.word.kind == "file":
            return
        if why := mistyped_command_hint(self.text):
            self.post_message(StatusMessage(why, is_error=True))
            return
        text, command = self.text.strip(), parse_slash_command(self.text.strip())
        if not text or command_words(self.text):
            self._ask_for_command(text)
            return
        session = self._shown.session
        if session is not None and command is None and (why := why_takes_no_message(session)):
            self.post_message(StatusMessage(f"Not sent. {why}", is_error=True))
            return
        if not self._shown.has_model:
            self.post_message(StatusMessage("Nothing was sent: no model is set up.", is_error=True))
            return
        broken = self._pastes.broken(text)
        if broken is not None:
            why = f"Nothing was sent: {broken} was changed, so it stands for nothing."
            self.post_message(StatusMessage(f"{why} ctrl+z brings it back, or delete it.", is_error=True))
            return
        if command is not None and command[0] in COMMANDS_WITH_VALUE and not command[1]:
            self.begin(f"/{command[0]} ")
            return
        self.history.add(text)
        self.input.clear()
        if command is not None:
            self.post_message(CommandTyped(*command))
            return
        if self._shown.is_working:
            self.post_message(StatusMessage("Queued. The agent reads it when this turn is over."))
        self.post_message(PromptSent(self._pastes.expand(text)))

    def _send_edited(self, prompt_id: str, before: str) -> None:
        """Queue the edited message in its place; without words it is taken back."""
        if broken := self._pastes.broken(self.text):
            self.post_message(StatusMessage(f"Nothing was changed: {broken} was changed.", is_error=True))
            return
        text, session = self.draft.strip(), self._shown.session
        self._edited = None
        self.input.clear()
        self.history.add(text or before)
        if text == before:
            self.post_message(StatusMessage("It stays queued as it was.", is_kept=False))
        elif session is not None:
            self.post_message(QueuedPromptEdited(session.id, prompt_id, text))

    def _take_queued(self) -> bool:
        """Bring the last queued message into an empty field, or the one before an unchanged one."""
        ids = [prompt_id for prompt_id, _ in self._shown.queue]
        if self._edited is None:
            place = len(ids) if self.is_empty else 0
        else:
            place = ids.index(self._edited[0]) if self.draft == self._edited[1] else 0
        if place > 0:
            self.edit_queued(ids[place - 1])
        return place > 0 or self._edited is not None

    def edit_queued(self, prompt_id: str) -> None:
        """Bring a queued message into the field; it stays queued until enter."""
        queued = next((queued for queued in self._shown.queue if queued[0] == prompt_id), None)
        if queued is not None:
            self._edited = queued
            self._put(queued[1])
            self._say()

    def _ask_for_command(self, text: str) -> None:
        """Have a command made of the words behind a `!`; without a message show the first that waits."""
        from workbench.tui.conversation.completion import command_words

        if not text:
            self.post_message(FirstWaiting())
        elif not self._shown.has_model:
            self.post_message(StatusMessage("Nothing was asked: no model is set up.", is_error=True))
        else:
            self.history.add(text)
            self.input.clear()
            self.post_message(StatusMessage("Asking for a command. Nothing runs it.", is_kept=False))
            self._suggest_command(self._pastes.expand(command_words(text)), text)

    @work(thread=True, group="command", exclusive=False, exit_on_error=False, description="suggest a command")
    def _suggest_command(self, words: str, text: str) -> None:
        from workbench.tui.conversation.completion import sendable_command

        try:
            made = self._backend.of(self._shown.workspace).suggest_command(words)
        except Exception as error:  # noqa: BLE001 whatever a service says is told, nothing is hidden
            self.post_message(StatusMessage(error_text(error), is_error=True))
            self._textual.call_from_thread(self.put_back, text)
            return
        self.post_message(StatusMessage(made.said))
        self._textual.call_from_thread(self.put_back, sendable_command(made.command))

    def stop_or_clear(self) -> None:
        """Stop the agent; where none works clear what is written, which stays among what was said before."""
        if self._shown.is_working:
            self.post_message(StopAgent())
        elif text := self.text.strip():
            self.history.add(text)
            self.input.clear()
            self.post_message(StatusMessage("Cleared. \u2191 brings it back."))
        else:
            self.post_message(StatusMessage("No agent works here. esc and then q q leaves."))

    def newline(self) -> None:
        """Begin a new line."""
        self.input.replace("\n", *self.input.selection)

    def up(self) -> None:
        """Go up in the list or the text; from the first line to what was said before."""
        if self._offer is not None:
            self.offers.move(-1)
        elif self.input.cursor_at_first_line:
            if not self._take_queued():
                self._put(self.history.earlier(self.text))
        else:
            self.input.action_cursor_up()

    def down(self) -> None:
        """Go down in the list or the text; from the last line to what was said after."""
        if self._offer is not None:
            self.offers.move(1)
        elif self.input.cursor_at_last_line:
            self._put(self.history.later())
        else:
            self.input.action_cursor_down()

    def _put(self, text: str | None) -> None:
        if text is None:
            return
        self.input.load_text(self._pastes.fold(text))
        self.input.move_cursor(self.input.document.end)
        self._is_dismissed = True
        self._show_offer(None)

    def leave(self) -> None:
        """Close the list, or go back to the pane; what is written stays."""
        if self._offer is not None:
            self._is_dismissed = True
            self._show_offer(None)
        elif self._edited is not None:
            self._edited = None
            self.input.clear()
            self.post_message(StatusMessage("It stays queued as it was.", is_kept=False))
        else:
            self.post_message(BackToPane())

    def edit(self) -> None:
        """Write in the user's editor; what was saved there replaces the text."""
        from workbench.tui.external_editor import edit_in_external_editor

        try:
            original = self._pastes.expand(self.text).encode()
            data = edit_in_external_editor(self._textual, self._backend, _EDITED_NAME, original)
        except BackendError as error:
            self.post_message(StatusMessage(str(error), is_error=True))
            return
        if data is not None and data != original:
            self._put(safe_text(data.decode(errors="replace")).rstrip("\n"))
