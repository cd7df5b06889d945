"""The rules screen: origin, scope, uses and end of each rule; add, edit, revoke, backtest.

A rule is revoked only by typing its number.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Input, Static

from workbench.domain.events import RuleAdded
from workbench.domain.rows import Rule
from workbench.domain.values import RuleEffect, RuleScope
from workbench.render import cells
from workbench.render.cells import wrap_plain_text
from workbench.render.rules import rule_detail_lines, rule_head_strip, rule_strip
from workbench.text import human
from workbench.tui import keymap
from workbench.tui.main.bars import Footer, FooterKey
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.tui.widgets.pane_frame import ColumnHeader, PaneTitle
from workbench.views.rules import RuleRow, rule_rows

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_RULE_PATTERN: Final = re.compile(
    r"(?:(?P<effect>allow|ask|deny)\s+)?(?P<pattern>(?P<tool>[A-Za-z_][\w.]*)(?:\(.*\))?)(?P<all>\s+everywhere)?",
    re.DOTALL,
)
RULE_SYNTAX: Final = "Write it as Bash(git diff *), deny Bash(git push *), or allow Read(docs/**) everywhere."


def parse_rule(words: str, workspace: str, old: Rule | None = None) -> RuleAdded | str:
    """Return the rule that was typed, or how one is typed.

    Args:
        words: What was typed.
        workspace: Where it holds, unless it says everywhere.
        old: The rule that it is to stand for: its place, its end and its words are kept.
    """
    match = _RULE_PATTERN.fullmatch(words.strip())
    if match is None:
        return RULE_SYNTAX
    scope: RuleScope = "always" if match["all"] else "workspace"
    scope_id = None if match["all"] else workspace
    if old is not None and old.scope not in ("always", "workspace") and not match["all"]:
        scope, scope_id = old.scope, old.scope_id
    return RuleAdded(
        rule="", effect=cast("RuleEffect", match["effect"] or "allow"), origin="user", scope=scope,
        scope_id=scope_id, tool=match["tool"], pattern_kind="glob", pattern=match["pattern"],
        description=old.description if old else f"written by hand: {match['pattern']}"[:200],
        expires_at=old.expires_at if old else None,
    )  # fmt: skip


def rule_text(rule: Rule) -> str:
    """Return a rule as one would type it."""
    everywhere = " everywhere" if rule.scope == "always" else ""
    return f"{rule.effect} {rule.pattern}{everywhere}"


def renewed_rule(rule: Rule) -> RuleAdded:
    """Return a rule that was taken back as one that can be added anew; it gets another number."""
    return RuleAdded(
        rule="", effect=rule.effect, origin="user", scope=rule.scope, scope_id=rule.scope_id, tool=rule.tool,
        pattern_kind=rule.pattern_kind, pattern=rule.pattern, description=rule.description,
        expires_at=rule.expires_at, created_from=rule.created_from,
    )  # fmt: skip


_NO_RULES = (
    "No rule: every call is asked about.",
    "A writes one here.",
    "A on a call that waits offers what would fit it, tried on the past.",
)


def open_rules(context: "MainContext") -> None:
    """Open the rules over a main screen."""
    context.app.push_screen(RulesScreen(context))


class RuleList(RowList):
    """The rules."""

    def __init__(self) -> None:
        super().__init__(key="rules-list")
        self.rules: dict[str, RuleRow] = {}

    def show_rules(self, rows: Sequence[RuleRow]) -> None:
        """Show rules; the cursor stays where it is."""
        self.rules = {row.id: row for row in rows}
        self.set_ids(list(self.rules))
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        row = self.rules[placed.row_id]
        return rule_strip(
            row, width, ink(self), glyphs(self), is_cursor=placed.is_cursor, has_focus=placed.is_focused
        )


class RulesScreen(Dialog, inherit_bindings=False):
    """A page below the header: the list over its detail, a line for words and the keys below."""

    AUTO_FOCUS = ""
    BINDINGS = keymap.bindings("rules")

    def __init__(self, context: "MainContext") -> None:
        super().__init__("rules")
        self._main = context
        self._title = PaneTitle("Rules", 6)
        self._title.set_focused(True)
        self._list, self._detail = RuleList(), Static(id="rules-detail")
        self._heads = ColumnHeader(lambda width: rule_head_strip(width, ink(self), glyphs(self)))
        self._said, self._keys = Static(id="rules-said"), Footer()
        self._input = Input(id="rules-input", select_on_focus=False, compact=True)
        self._input.cursor_blink = False
        self._rules: Sequence[Rule] = ()
        self._wrong: dict[str, tuple[str, ...]] = {}
        self._asks, self._wanted, self._has_past = "", "", False
        self._tried: dict[str, str] = {}
        self._revoked: Rule | None = None
        self._edited: Rule | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="rules-box"):
            yield self._title
            yield self._heads
            yield self._list
            yield self._detail
            yield self._said
            yield self._input
            yield self._keys

    def on_mount(self) -> None:
        self._input.display = False
        self.follow(self._list)
        self._list.focus()
        self._read()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap anew."""
        del event
        self.call_after_refresh(self._show_detail)

    # --- what is shown --------------------------------------------------------------------------

    def _read(self) -> None:
        self._rules = self._main.backend.rules.all_rules()
        self._wrong = self._warnings()
        self._show()

    def _warnings(self) -> dict[str, tuple[str, ...]]:
        from workbench.policy.rule_validation import warnings_by_rule

        return warnings_by_rule(self._rules, self._main.backend.rules.known_tools())

    def _show(self) -> None:
        state = self._main.state
        rows = rule_rows(
            self._rules, state.source.now(), workspace=self._main.status.workspace,
            session_id=state.current.id if state.current else None,
            titles={key: session.title for key, session in state.sessions.items()},
            wanted=self._wanted, has_past=self._has_past, warnings=self._wrong,
        )  # fmt: skip
        count = f"{len(rows)} rule{'' if len(rows) == 1 else 's'}"
        past = ", with revoked and expired ones" if self._has_past else ""
        wanted = glyphs(self).line(f"filter “{self._wanted}”") if self._wanted else "in force first"
        muted = ink(self).of("muted")
        self._title.show(cells.safe_content(f"{count}{past}", muted), cells.safe_content(wanted, muted))
        self._list.show_rules(rows)
        self._list.display = self._heads.display = bool(rows)
        self._detail.set_class(not rows, "-alone")
        if rows and not self._input.display:
            self._list.focus()
        self._show_detail()
        self._show_keys()

    def _show_detail(self) -> None:
        row, colours = self._row, ink(self)
        width = max(20, self._detail.size.width)
        if row is None:
            nothing = f"Nothing matches “{self._wanted}”. esc clears the filter."
            lines = (nothing,) if self._wanted else _NO_RULES
            words = [part for line in lines for part in wrap_plain_text(glyphs(self).line(line), width - 2)]
            self._detail.update(Content("\n").join([Content(""), *(Content(" ") + part for part in words)]))
            return
        tried = self._tried.get(row.id)
        extra = [cells.safe_content(f" {tried}", colours.of("foreground"), colours)] if tried else []
        self._detail.update(Content("\n").join([Content(""), *rule_detail_lines(row, width, colours, extra)]))

    def _show_keys(self) -> None:
        rule = [("e", "edit"), ("D", "revoke"), ("b", "the past")]
        pairs = [("j k", "rule"), ("A", "add"), *rule] if self._row else [("A", "add")]
        pairs += [("u", "undo")] if self._revoked else []
        pairs += [("/", "filter")] if self._row or self._wanted else []
        pairs += [("d", "revoked ones")]
        if self._input.display:
            pairs = [("enter", {"revoke": "revoke it", "filter": "filter"}.get(self._asks, "save it"))]
        pairs.insert(1, ("esc", "back"))  # kept where there is no room for all
        right = None if self._input.display else FooterKey(keys="?", label="all keys")
        self._keys.show([FooterKey(keys=keys, label=words) for keys, words in pairs], right)

    @property
    def _row(self) -> RuleRow | None:
        return self._list.rules.get(self._list.cursor or "")

    @on(RowList.Moved)
    def _moved(self) -> None:
        self._show_detail()

    def _say(self, words: str) -> None:
        self._said.update(cells.safe_content(f" {human.sentence(words)}", ink(self).of("muted")))

    # --- what keys ask for ----------------------------------------------------------------------

    def action_do(self, key_id: str) -> None:
        if not self._input.display or key_id == "rules.leave":
            super().action_do(key_id)

    @property
    def decides_by_enter(self) -> bool:
        """Return whether enter in the line does more than to look for something."""
        return self._input.display and self._asks != "filter"

    def on_key(self, event: events.Key) -> None:
        """Go to another place by its number."""
        if event.key in "0123457" and len(event.key) == 1 and not self._input.display:
            event.stop()
            self.dismiss()
            self._main.go_to(int(event.key))

    def move(self, rows: int) -> None:
        """Go to another rule."""
        self._list.move(rows)

    def toggle_past(self) -> None:
        """Show or hide what does not hold any more."""
        self._has_past = not self._has_past
        self._show()

    def ask_filter(self) -> None:
        """Ask for the words of the filter."""
        self._ask("filter", self._wanted, "Words that a rule has to hold:")

    def ask_to_revoke(self) -> None:
        """Ask for the number of the rule, to be typed out."""
        row = self._row
        if row is None or row.state in ("revoked", "expired"):
            self._say("There is no rule in force under the cursor.")
            return
        self._ask(
            "revoke", "", f"Revoke {row.id}? What it covers is judged without it from now on. Type {row.id}:"
        )

    def ask_to_add(self) -> None:
        """Ask for a rule, to be typed out."""
        self._edited = None
        self._ask("add", "", RULE_SYNTAX)

    def ask_to_edit(self) -> None:
        """Ask for the rule under the cursor, written anew."""
        row = self._row
        rule = next(
            (candidate for candidate in self._rules if row is not None and candidate.id == row.id), None
        )
        if rule is None or row is None or row.state in ("revoked", "expired"):
            self._say("There is no rule in force under the cursor.")
        elif rule.pattern_kind != "glob":
            self._say("It is a regular expression: workbench rules add writes such rules.")
        else:
            self._edited = rule
            self._ask("add", rule_text(rule), f"{rule.id} is revoked and stands anew as you write it:")

    def undo(self) -> None:
        """Put back what was just revoked, under another number: numbers are never used again."""
        rule, self._revoked = self._revoked, None
        if rule is None:
            self._say("Nothing was revoked here since the rules were opened.")
        else:
            self._add(renewed_rule(rule))

    def _add(self, rule: "RuleAdded") -> None:
        if reason := self._main.backend.may_answer():
            self._say(reason)
            return
        try:
            added = self._main.backend.rules.add_rule(rule)
        except Exception as error:  # noqa: BLE001 whatever a service says is told, nothing is hidden
            self._say(str(error))
            return
        old, self._edited = self._edited, None
        self._main.tasks.rules_changed()
        if old is not None:
            self._revoke(old.id)
        self._read()
        self._list.put_cursor(added.id)
        self._say(f"{added.id} {added.effect}s {added.pattern}.")

    def _ask(self, purpose: str, value: str, words: str) -> None:
        self._asks = purpose
        self._say(words)
        self._input.value = value
        self._input.display = True
        self._input.focus()
        self._show_keys()

    @on(Input.Submitted)
    def _answered(self, message: Input.Submitted) -> None:
        message.stop()
        row, words = self._row, message.value.strip()
        self._close()
        if self._asks == "filter":
            self._wanted = words
            self._show()
        elif self._asks == "add":
            self._typed(words)
        elif row is not None and words.casefold() == row.id.casefold():
            self._revoke(row.id)
        else:
            self._say("Nothing was revoked: that was not its number.")

    def _typed(self, words: str) -> None:
        rule = parse_rule(words, self._main.status.workspace, self._edited)
        if isinstance(rule, str):
            self._say(f"Nothing was saved. {rule}")
        else:
            self._add(rule)

    def _close(self) -> None:
        self._input.display = False
        self._list.focus()
        self._say("")
        self._show_keys()

    def _revoke(self, number: str) -> None:
        reason = self._main.backend.may_answer()
        if reason:
            self._say(reason)
            return
        try:
            rule = self._main.backend.rules.revoke_rule(number)
        except Exception as error:  # noqa: BLE001 whatever a service says is told, nothing is hidden
            self._say(f"Not revoked. {error}")
            return
        more = (
            " It comes from a configuration file: take it out there too." if rule.origin == "config" else ""
        )
        self._revoked = rule
        self._say(f"{rule.id} is revoked.{more} u puts it back.")
        self._main.tasks.rules_changed()
        self._read()

    def backtest(self) -> None:
        """Count in a thread what the rule would have done with the calls that were asked about."""
        row = self._row
        rule = next((rule for rule in self._rules if row is not None and rule.id == row.id), None)
        if rule is None:
            return
        backend, app = self._main.backend, self._main.app

        def work() -> None:
            from workbench.tui.rules.rule_dialog import backtest_sentence

            app.call_from_thread(self._counted, rule.id, backtest_sentence(rule, backend))

        self._tried[rule.id] = "The past is being counted."
        self._show_detail()
        self.run_worker(
            work, group="past", description="try a rule", thread=True, exit_on_error=False, exclusive=False
        )

    def _counted(self, number: str, words: str) -> None:
        self._tried[number] = words
        if self.is_attached:
            self._show_detail()

    def help(self) -> None:
        """Show the keys."""
        from workbench.tui.main.info_pages import HelpScreen

        self._main.app.push_screen(HelpScreen("Rules", keymap.keys_of_scopes(["rules"]), None))

    def open_palette(self) -> None:
        """Go back, and open the palette: its commands are about what lies below."""
        self.dismiss()
        self.call_later(self._main.do_key, "app.palette")

    def leave(self) -> None:
        if self._input.display:
            self._close()
        elif self._wanted:
            self._wanted = ""
            self._show()
        else:
            self.dismiss()
