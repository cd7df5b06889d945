"""The conversation of one session: what was said, thought, called and noticed, and its keys.

Owns the title, what of a block is copied or opened, and when a key of a block is off. It sends messages and
never writes; blocks are folded by `views.transcript` and drawn by `TranscriptView`.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from textual.content import Content
from textual.widget import Widget

from workbench.domain.rows import Session
from workbench.draw.cells import content
from workbench.tui import keymap, theme
from workbench.tui.messages import OpenDetail, PartWanted
from workbench.tui.panes.base import Pane
from workbench.tui.panes.shown import ConversationShown
from workbench.tui.panes.transcript import TranscriptView
from workbench.views.transcript import (
    Block,
    CallLine,
    ErrorBlock,
    Notice,
    Output,
    Prompt,
    Text,
    Thought,
    Transcript,
)

_EMPTY: Final = (("", "No session yet."), ("", ""), ("", "Write below what you want done; enter sends it."))
_NO_WORD: Final = (("", "Nothing was said yet."), *_EMPTY[1:])
_NO_MODEL: Final = (
    ("", "No model is set up."),
    ("", ""),
    ("", "Any OpenAI-compatible server will do:"),
    ("", "workbench run -p TEXT --base-url URL"),
    ("", ""),
    ("d", "the demo: a recorded agent on a"),
    ("", "   copy of an example. No network."),
    ("", ""),
    ("p", "how to set one up for good"),
)
"""Key and words of each line; the first line is the sentence itself."""

_NO_ERROR: Final = "There is no error to answer here."


class ConversationPane(Pane):
    """Place 1."""

    PLACE: ClassVar[int] = 1
    NAME: ClassVar[str] = "Conversation"
    SCOPES: ClassVar[tuple[str, ...]] = ("conversation", "list")
    BINDINGS: ClassVar = [*keymap.bindings("conversation", "list")]

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.view = TranscriptView(key="conversation-view")
        self._transcript: Transcript | None = None
        self._session: Session | None = None
        self._part = ""
        self._is_asked = False

    def compose_body(self) -> Iterable[Widget]:
        """Yield the transcript."""
        yield self.view

    @property
    def focus_view(self) -> Widget:
        """Return the transcript."""
        return self.view

    def show(self, view: ConversationShown) -> None:
        """Show the conversation of a session, or what of it changed."""
        self._session, self._transcript = view.session, view.transcript
        self._is_asked = False
        unread, was, self._part = self.view.unread, self._part, view.part
        self.view.has_later = bool(view.part)
        self.view.empty = self._empty_lines(view)
        if view.changed is None or view.changed:
            self.view.show_blocks(view.transcript.blocks, view.changed)
            if was != view.part:
                self.view.unread = unread
        self._show_title()

    def on_block_view_looked(self, message: TranscriptView.Looked) -> None:
        """Say whether there is more below, and ask for another part of a long one where this one ends."""
        message.stop()
        self._show_title()
        view = self.view
        if self._is_asked or view.is_following or not view.blocks:
            return
        page = view.size.height
        if view.first_line < page:
            self._ask_for_part("earlier")
        elif self._part and view.first_line + 2 * page >= view.line_count:
            self._ask_for_part("later")

    def _ask_for_part(self, where: str, step: int = 0) -> None:
        self._is_asked = True
        self.post_message(PartWanted(where, step))

    def part_shown(self) -> None:
        """Note that a part that was asked for is shown, or that there is none."""
        self._is_asked = False

    def on_transcript_view_opened(self, message: TranscriptView.Opened) -> None:
        """Open what was clicked twice."""
        message.stop()
        self.open_row()

    # --- the title ------------------------------------------------------------------------------

    def _show_title(self) -> None:
        ink = theme.ink(self)
        session = self._session
        title = content(session.title, ink.of("muted"), ink) if session else Content("")
        self.set_title(title, Content("  ").join(part for part in self._right() if part.plain))

    def _right(self) -> Sequence[Content]:
        ink, glyphs = theme.ink(self), theme.glyphs(self)
        facts = self._transcript.facts if self._transcript else None
        new = Content("")
        if self.view.unread and not self.view.is_following:
            new = Content.styled(f"{glyphs.of('new')} {self.view.unread} new", ink.of("info"))
        if self._part:
            return new, Content.styled(self._part, ink.of("muted"))
        if self._session is not None and self._session.status == "paused":
            return new, Content.assemble((glyphs.of("waiting"), ink.of("waiting")), " paused")
        if facts is None or not facts.turns:
            return (new,)
        turn = Content(f"turn {facts.turns}")
        if facts.is_working:
            turn = Content.assemble((glyphs.of("running"), ink.of("info")), " ", turn)
        return new, turn

    def _empty_lines(self, view: ConversationShown) -> list[Content]:
        ink = theme.ink(self)
        without: Sequence[tuple[str, str]] = _EMPTY if view.has_model else _NO_MODEL
        if view.opening:
            without = [("", line) for line in view.opening]
        (_, sentence), *rest = _NO_WORD if view.session else without
        rest = [] if self.is_past else rest
        lines = [Content(""), Content.assemble("   ", (sentence, ink.of("foreground", bold=True)))]
        for key, words in rest:
            shown = (f"{key}  ", ink.of("info", bold=True)) if key else ""
            lines.append(Content.assemble("   ", shown, (words, ink.of("muted"))))
        return lines

    # --- list keys ------------------------------------------------------------------------------

    def move(self, rows: int) -> None:
        """Move to the block after or before."""
        self.view.move(rows)

    def move_to_end(self, *, is_last: bool) -> None:
        """Go to the first block, or to the end and stay there."""
        if not (is_last and self._part):
            self.view.move_to_end(is_last=is_last)
        self._ask_for_part("end" if is_last else "first")

    def move_to_problem(self, step: int) -> None:
        """Go to the next or previous prompt, error or notice that wants something."""
        if not self.view.move_to_problem(step):
            self._ask_for_part("earlier" if step < 0 else "later", step)

    def open_row(self) -> None:
        """Go from a call to its question or its record; fold or open anything else."""
        block = self.view.cursor_block
        if isinstance(block, CallLine):
            self.post_message(OpenDetail("conversation", block.call_id))
        elif self.can_fold:
            self.fold()

    def copy_text(self) -> str:
        """Return the text of the block under the cursor."""
        block = self.view.cursor_block
        return "" if block is None else _plain(block)

    # --- its own keys ---------------------------------------------------------------------------

    @property
    def can_fold(self) -> bool:
        """Return whether something under the cursor can be folded or opened."""
        block = self.view.cursor_block
        return isinstance(block, Thought | Output) or (isinstance(block, CallLine) and block.has_output)

    def fold(self) -> None:
        """Fold or open the thought or output under the cursor; its first line keeps its place."""
        block = self.view.cursor_block
        if block is None or self._transcript is None:
            return
        changed = self._transcript.toggle(block.id)
        if isinstance(block, Output):
            self.view.put_cursor(f"call:{block.call_id}")
        self.view.stay()
        self.view.show_blocks(self._transcript.blocks, changed)
        self.view.stay_no_more()

    @property
    def error(self) -> ErrorBlock | None:
        """Return the error that waits for an answer, if there is one."""
        return next((b for b in reversed(self.view.blocks) if isinstance(b, ErrorBlock) and b.keys), None)

    def label_of(self, key_id: str) -> str:
        """Say whether space opens or folds."""
        block = self.view.cursor_block
        if key_id == "conversation.fold" and isinstance(block, Thought | CallLine | Output):
            return "open" if block.is_folded else "fold"
        return super().label_of(key_id)

    def why_off(self, key_id: str) -> str:
        """Say why a key does nothing now."""
        if key_id == "conversation.fold" and not self.can_fold:
            return "Only thoughts and outputs can be folded."
        if key_id in ("conversation.retry", "conversation.log") and self.error is None:
            return _NO_ERROR
        if key_id == "conversation.continue-turn" and not self._is_paused:
            return "Nothing is paused here."
        return _OFF.get(key_id, "")

    @property
    def _is_paused(self) -> bool:
        return self._session is not None and self._session.status == "paused"


_OFF: Final = {
    "list.filter": "A conversation has no filter.",
    "list.order": "A conversation is always in the order of time.",
}


def _plain(block: Block) -> str:
    match block:
        case Prompt() | Text() | Thought() | Output() | Notice():
            return block.text
        case CallLine():
            return block.target or block.tool
        case ErrorBlock():
            return "\n".join(part for part in (block.message, block.details, block.remedy) if part)
