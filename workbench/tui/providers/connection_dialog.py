"""The page that shows a change of an agent's settings and asks whether it is written."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, Literal

from msgspec.structs import replace
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.render import cells
from workbench.render.cells import wrap_plain_text
from workbench.render.theme import ColorName
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.pager import WrappedLines
from workbench.views.agent_connections import AgentRow, ConnectionAnswers, ConnectionChange

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_COLOURS: dict[str, ColorName] = {"+": "added", "-": "removed", "@": "info"}


_LABEL_CELLS: Final = 18
_QuestionName = Literal["calls", "settings", "without workbench"]
_Question = tuple[_QuestionName, Mapping[str, ConnectionAnswers]]
"""Its name, and what each answer to it makes of all answers."""
_SCOPE_WORDS: Final = {"all": "every edit and command", "asked": "its own questions"}


def _questions(answers: ConnectionAnswers, scopes: Iterable[str]) -> list[_Question]:
    """Return the questions that have more than one answer."""
    calls = {_SCOPE_WORDS.get(scope, scope): replace(answers, scope=scope) for scope in scopes}
    settings = {
        "your own": replace(answers, is_project=False), "this folder's": replace(answers, is_project=True),
    }  # fmt: skip
    without = {
        "the agent asks": replace(answers, otherwise="ask"),
        "calls are denied": replace(answers, otherwise="deny"),
    }
    asked: list[_Question] = [("calls", calls), ("settings", settings), ("without workbench", without)]
    return [question for question in asked if len(question[1]) > 1]


class ConnectionDialog(Dialog, inherit_bindings=False):
    """The questions of a connection with their answers, a diff of settings, and keys."""

    BINDINGS = keymap.bindings("connection")
    BOX_CLASSES = "dialog-box pager-box"
    LEAVES = "connection.leave"
    DECIDES = True

    def __init__(
        self, context: "MainContext", row: AgentRow, change: ConnectionChange,
        then: Callable[[str, bool], None],
    ) -> None:  # fmt: skip
        """`then` gets what to say once it was written, and whether it was refused."""
        super().__init__("connection")
        self._main, self._row, self._change, self._then = context, row, change, then
        self._view = WrappedLines(())
        self._question = 0
        """Index of the question under the cursor."""
        self._note, self._keys = Static(id="connection-note"), Static(id="connection-keys")

    def compose_box(self) -> Iterable[Widget]:
        yield self._note
        yield self._view
        yield self._keys

    def opened(self) -> None:
        self.follow(self._view)
        self._view.focus()
        self._show_change()

    @property
    def decided(self) -> object:
        return None if self._change.why_not else self._change.number

    def scroll_lines(self, lines: int) -> None:
        """Scroll the diff."""
        self._view.scroll_to_line(self._view.first_line + lines)

    def scroll_pages(self, pages: int) -> None:
        """Scroll the diff by halves of what is on the screen."""
        self.scroll_lines(pages * max(1, self._view.size.height // 2))

    def _show_change(self) -> None:
        change, colours = self._change, ink(self)
        verb = "Disconnect" if change.is_removal else "Connect"
        self.set_titles(f"{verb} {change.title}", "")
        self._view.show_lines([
            cells.safe_content(line, colours.of(_COLOURS.get(line[:1], "foreground")), colours)
            for line in change.lines
        ])  # fmt: skip
        self.fill()

    def fill(self) -> None:
        """Say what would be written and what that means; then the keys."""
        change, colours, signs = self._change, ink(self), glyphs(self)
        texts: list[tuple[str, ColorName]] = []
        if change.why_not:
            texts.append((change.why_not, "waiting"))
        elif change.is_removal:
            texts.append((f"This takes workbench out of {change.path}.", "foreground"))
        else:
            texts.append((f"This is written into {change.path}.", "foreground"))
            texts.append((f"What comes here: {self._row.scopes.get(change.answers.scope, '')}", "muted"))
            if change.also:
                texts.append((change.also, "muted"))
        width = max(8, self.box.size.width - 4)
        lines = [
            (Content(" ") + part).stylize(colours.of(shade))  # type: ignore[arg-type]
            for text, shade in texts for part in wrap_plain_text(signs.line(text), width)
        ]  # fmt: skip
        self._note.update(Content("\n").join([*self._question_lines(width), *lines, Content("")]))
        users = keymap.user_keymap(self)
        hints = [
            (signs.line(keymap.printed_keys(key, users)), key.label)
            for key in sorted(keymap.keys_of_scopes(["connection"]), key=lambda key: key.footer)
            if key.footer
            and not (key.id == "connection.write" and change.why_not)
            and not (key.id in ("connection.other", "connection.question") and change.is_removal)
        ]
        self._keys.update(self.hint_row(hints, self._keys.size.width))
        self.call_after_refresh(self.note_drawn)

    def _question_lines(self, width: int) -> list[Content]:
        """Return each question with its answers; the one that counts is lit."""
        colours, signs, lines = ink(self), glyphs(self), list[Content]()
        for number, (name, answers) in enumerate(self._questions()):
            is_cursor = number == self._question
            bar = signs.of("cursor") if is_cursor else " "
            line = Content.assemble(
                (bar, colours.of("info")), (name.ljust(_LABEL_CELLS), colours.of("muted"))
            )
            for words, chosen in answers.items():
                is_lit = chosen == self._change.answers
                tone = colours.reverse("info") if is_lit else colours.of("foreground")
                line = Content.assemble(line, (f" {words} ", tone), " ")
            lines.append(cells.shorten_line(line, width, signs))
        return lines

    def _questions(self) -> list[_Question]:
        if self._change.is_removal:
            return []
        return _questions(self._change.answers, self._row.scopes)

    def move_question(self, step: int) -> None:
        """Move the cursor to another question."""
        if questions := self._questions():
            self._question = (self._question + step) % len(questions)
            self.fill()

    def change_answer(self) -> None:
        """Show the change for the other answer to the question under the cursor."""
        questions = self._questions()
        if not questions:
            return
        answers = list(questions[self._question][1].values())
        following = answers[(answers.index(self._change.answers) + 1) % len(answers)]
        self._main.agents.read_change(self._row.id, following, self._changed, self._refused, is_removal=False)

    def _changed(self, change: ConnectionChange) -> None:
        if self.is_attached:
            self._change = change
            self._arming.disarm()
            self._show_change()

    def _refused(self, why: str) -> None:
        if self.is_attached:
            self.say(why)

    def write(self) -> None:
        """Write what is shown."""
        if self._change.why_not:
            return
        if not self.end_arming():
            self.say(TOO_QUICK.format(key="enter"))
            return
        self._main.agents.write(self._change, self._then)
        self.dismiss()
