"""The rules screen: origin, scope, uses and end of each rule; add, edit, revoke, backtest.

A rule is revoked only by typing its number.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from msgspec.structs import replace
from textual import on
from textual.containers import Container, Vertical
from textual.content import Content
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.domain.events import RuleAdded
from workbench.domain.machines import ENDED_RUN_STATES, TERMINAL_SESSION_STATES
from workbench.domain.rows import Rule
from workbench.domain.values import Place, RuleEffect, RuleScope
from workbench.journal.session_queries import open_turns
from workbench.render import cells
from workbench.render.rule_backtest import backtest_lines
from workbench.render.rules import rule_detail_lines, rule_head_strip, rule_strip
from workbench.text import human
from workbench.tui.backend import AskedCall, error_text
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.footer_keys import FooterKey, footer_keys
from workbench.tui.list_page import page
from workbench.tui.list_page.place import empty_page, no_match
from workbench.tui.list_page.reader import run_in_thread
from workbench.tui.list_page.screen import ListScreen
from workbench.tui.places import place_number
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.line_view import JumpTarget, RowList, RowPlacement
from workbench.tui.widgets.list_height import list_height
from workbench.tui.widgets.pane_frame import ColumnHeader, Divider, PaneTitle
from workbench.tui.widgets.text_view import TextView
from workbench.views.rule_dialog import Backtest
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
        expires_at=old.expires_at if old else None, place=old.place if old else None,
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
        expires_at=rule.expires_at, created_from=rule.created_from, place=rule.place,
    )  # fmt: skip


_TWO_COLUMNS_FROM: Final = 140
"""Columns from which the rule under the cursor is shown next to the list, else below it."""
_ROWS_KEPT: Final = 8
"""Rows of the list above a long detail."""
_PAST_ROWS: Final = 3
"""Past calls that are named below the list."""
_CALLS_TRIED: Final = 200
"""Calls of each tool, the newest, on which the rule under the cursor is tried without a key."""
_OTHER_PLACE: Final[Mapping[Place, Place]] = {"inside": "outside", "outside": "inside"}
_NO_RULES = (
    "No rules yet",
    "A rule allows or denies calls like one you know, without asking. A on a call that waits offers those"
    " that fit it, tried on the past.",
    (("rules.add", "write one here"),),
)


_GHOST: Final = (
    "§ R1   allow   Bash(git diff *)     this workspace, until revoked",
    "§ R2   deny    Bash(git push *)     everywhere, until revoked",
)


def open_place(context: "MainContext") -> "RulesScreen":
    """Return the rules of a main screen."""
    return RulesScreen(context)


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


class RuleDetail(TextView, can_focus=False):
    """What is known of the rule under the cursor; its title says how much of it is not on the screen."""

    def __init__(self) -> None:
        super().__init__(key="rules-detail")
        self._wrapped: Callable[[int], list[Content]] = lambda _: []

    def show(self, wrapped: Callable[[int], list[Content]]) -> None:
        """Show lines; `wrapped` returns them for a width in cells."""
        self._wrapped = wrapped
        self.on_width(self.width)

    def lines_for(self, width: int) -> list[Content]:
        return self._wrapped(max(20, width))


class RulesScreen(ListScreen, inherit_bindings=False):
    """A page below the header: the list over its detail, a line for words and the keys below."""

    PLACE = place_number("rules")
    NAME = "Rules"
    NO_ROW = "there is no rule here"
    BINDINGS = keymap.bindings("rules")
    BOX_CLASSES = ""
    SAYS_EXTENT = False

    def __init__(self, context: "MainContext") -> None:
        rows = RuleList()
        super().__init__("rules", context, rows)
        self._rule_list = rows
        self._title = PaneTitle(self.NAME, self.PLACE)
        self._title.set_focused(True)
        self._title.follow(self._list)
        self._detail = RuleDetail()
        self._detail_title = PaneTitle("", key="rules-detail-title")
        self._detail_title.follow(self._detail)
        self._heads = ColumnHeader(lambda width: rule_head_strip(width, ink(self), glyphs(self)))
        self._said, self._keys = Static(id="rules-said"), Footer()
        self._input = Input(id="rules-input", select_on_focus=False, compact=True)
        self._input.cursor_blink = False
        self.rules: Sequence[Rule] = ()
        self._wrong: dict[str, tuple[str, ...]] = {}
        self._commands: frozenset[str] = frozenset()
        """The numbers of rules that allow commands."""
        self._ended: set[str] = set()
        self._asks, self._wanted, self._has_past = "", "", False
        self._tried: dict[str, Backtest | None] = {}
        """What rules would have done with past calls; None while calls are being counted."""
        self._asked: dict[str, Sequence[AskedCall]] = {}
        """Calls of a tool that were asked about, newest first, read once."""
        self._tries_soon: Timer | None = None
        self._divider = Divider(key="rules-divider", top="┬")
        self._first, self._second = Vertical(id="rules-first"), Vertical(id="rules-second")
        self.revoked: Rule | None = None
        """The one that was revoked here last and can be put back."""
        self._edited: Rule | None = None

    def compose_box(self) -> Iterable[Widget]:
        with Container(id="rules-columns"):
            with self._first:
                yield self._title
                yield self._heads
                yield self._list
            yield self._divider
            with self._second:
                yield self._detail_title
                yield self._detail
        yield self._said
        yield self._input
        yield self._keys

    def opened(self) -> None:
        self._input.display = False
        super().opened()
        self._read()

    # --- what is shown --------------------------------------------------------------------------

    def _read(self) -> None:
        self.rules = self._main.backend.rules.all_rules()
        self._wrong, self._ended = self._warnings(), self._ended_scopes()
        self._commands = self._command_rules()
        self._show()

    def _ended_scopes(self) -> set[str]:
        """Return the sessions, turns and runs that have ended, or are gone, of those that rules hold for."""
        journal = self._main.app.journal
        scopes = {rule.scope_id for rule in self.rules if rule.scope in ("session", "run")}
        ended: set[str] = set()
        for scope_id in scopes - {None}:
            key = scope_id or ""
            session, run = journal.session(key), journal.pipeline_state(key)
            is_run_over = run is not None and run.status in ENDED_RUN_STATES
            if session is None or session.status in TERMINAL_SESSION_STATES or is_run_over:
                ended.add(key)
        turns = {rule.scope_id for rule in self.rules if rule.scope == "turn" and rule.scope_id}
        return ended | (turns - open_turns(journal) if turns else turns)

    def _command_rules(self) -> frozenset[str]:
        """Return the numbers of rules that allow command lines, of which it matters where they run."""
        from workbench.policy.rules import allows_commands

        tools = self._main.backend.rules.known_tools().values()
        return frozenset(rule.id for rule in self.rules if allows_commands(rule, tools))

    def _warnings(self) -> dict[str, tuple[str, ...]]:
        from workbench.policy.rule_validation import warnings_by_rule

        return warnings_by_rule(self.rules, self._main.backend.rules.known_tools())

    def _senses(self) -> dict[str, tuple[tuple[str, str], ...]]:
        from workbench.policy.denial_senses import sense_facts_by_rule

        return sense_facts_by_rule(self.rules)

    def _show(self) -> None:
        state = self._main.state
        rows = rule_rows(
            self.rules, state.source.now(), workspace=self._main.status.workspace,
            session_id=state.current.id if state.current else None,
            titles={key: session.title for key, session in state.sessions.items()},
            wanted=self._wanted, has_past=self._has_past, warnings=self._wrong, ended=self._ended,
            senses=self._senses(), open_turn=state.current.open_turn if state.current else None,
            commands=self._commands,
        )  # fmt: skip
        count = human.counted(len(rows), "rule")
        past = ", with revoked, expired and ended ones" if self._has_past else ""
        wanted = glyphs(self).line(f"filter “{self._wanted}”") if self._wanted else "in force first"
        muted = ink(self).of("muted")
        self._title.show(cells.safe_content(f"{count}{past}", muted), cells.safe_content(wanted, muted))
        self._rule_list.show_rules(rows)
        self._list.display = self._heads.display = bool(rows)
        self._detail_title.display = bool(rows)
        if rows and not self.is_typing:
            self._list.focus()
        self._show_detail()
        self._try_soon()
        self._show_keys()

    def resized(self) -> None:
        """Put the detail next to the list where both have room."""
        super().resized()
        self._fit()

    @property
    def _is_wide(self) -> bool:
        return self.size.width >= _TWO_COLUMNS_FROM

    def _fit(self) -> None:
        is_wide = self._is_wide and bool(self._rule_list.rules)
        self.set_class(is_wide, "-two-columns")
        self._divider.display = is_wide
        if is_wide:
            self._list.styles.height = "1fr"
            return
        body = self._first.size.height + self._second.size.height - 2
        self._list.styles.height = list_height(
            self._list.line_count, max(0, body), self._detail.line_count, keeps=_ROWS_KEPT
        )

    def _show_detail(self) -> None:
        row = self._row
        if row is None:
            self._detail.show(self._empty_lines)
            return
        has_past, past = row.id in self._tried, self._tried.get(row.id)
        now = self._main.state.source.now()

        def wrapped(width: int) -> list[Content]:
            colours, signs = ink(self), glyphs(self)
            shown = (
                past if past is None or self._is_wide else replace(past, look_at=past.look_at[:_PAST_ROWS])
            )
            below = backtest_lines(shown, row.effect, now, width, colours, signs) if has_past else []
            return rule_detail_lines(row, width, colours, [Content(""), *below] if below else [])

        self._detail_title.show(cells.safe_content(row.pattern, ink(self).of("muted")), name=row.id)
        self._detail.show(wrapped)
        self._fit()

    def _empty_lines(self, width: int) -> list[Content]:
        words, ghost = (no_match(self._wanted), ()) if self._wanted else (_NO_RULES, _GHOST)
        return empty_page(self, words, width, self._detail.size.height, ghost)

    def _show_keys(self) -> None:
        if self.is_typing:
            does = {"revoke": "revoke it", "filter": "filter"}.get(self._asks, "save it")
            self._keys.show([FooterKey(keys="enter", label=does), FooterKey(keys="esc", label="back")], None)
            return
        help_key = keymap.printed_keys(keymap.key_of("rules.help"), keymap.user_keymap(self))
        self._keys.show(footer_keys("rules", self), FooterKey(keys=help_key, label="all keys"))

    @property
    def _row(self) -> RuleRow | None:
        return self._rule_list.rules.get(self._list.cursor or "")

    def row_moved(self, message: RowList.Moved) -> None:
        del message
        self._show_detail()
        self._detail.scroll_to_line(0)
        self._try_soon()
        self._show_keys()

    def say(self, text: str) -> None:
        """Say a sentence in the line below the rules."""
        self._said.update(cells.safe_content(f" {human.sentence(text)}", ink(self).of("muted")))

    # --- what keys ask for ----------------------------------------------------------------------

    def reaches_key(self, key_id: str) -> bool:
        is_typed = self.is_typing and key_id != "rules.leave"
        return not is_typed and super().reaches_key(key_id)

    def refuse(self, why: str) -> None:
        self.say(why)

    def after_key(self, key_id: str) -> None:
        del key_id
        self._show_keys()

    @property
    def has_row(self) -> bool:
        return self._row is not None

    @property
    def over(self) -> str:
        """Return which rule under the cursor is in force no longer, and why; empty where it is in force."""
        row = self._row
        # A run or session that ended may go on: its rules can be revoked.
        is_over = row is not None and row.state in ("revoked", "expired")
        return f"{row.id} is {row.state} already" if row is not None and is_over else ""

    @property
    def is_typing(self) -> bool:
        return self._input.display

    def scroll_detail(self, direction: int) -> None:
        """Scroll what is known of the rule by half of what is seen, down (1) or up (-1)."""
        rows = max(1, self._detail.size.height // 2)
        self._detail.scroll_to_line(self._detail.first_line + direction * rows)

    def jump_targets(self) -> Iterator[JumpTarget]:
        """Yield what letters lead to: the rules on the screen."""
        for target in self._list.jump_targets():
            yield JumpTarget(self._list.region.offset + target.at, target.go)

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
        if row is not None:
            words = f"Revoke {row.id}? From now on calls are judged without it. Type {row.id}:"
            self._ask("revoke", "", words)

    def ask_to_add(self) -> None:
        """Ask for a rule, to be typed out."""
        self._edited = None
        self._ask("add", "", RULE_SYNTAX)

    def ask_to_edit(self) -> None:
        """Ask for the rule under the cursor, written anew."""
        row = self._row
        rule = next(
            (candidate for candidate in self.rules if row is not None and candidate.id == row.id), None
        )
        if rule is None:
            return
        if rule.pattern_kind != "glob":
            self.say("It is a regular expression: workbench rules add writes such rules.")
        else:
            self._edited = rule
            self._ask("add", rule_text(rule), f"{rule.id} is revoked, and this rule added instead:")

    def undo(self) -> None:
        """Put back what was just revoked, under another number: numbers are never used again."""
        rule, self.revoked = self.revoked, None
        if rule is not None:
            self._add(renewed_rule(rule))

    def _add(self, rule: "RuleAdded") -> None:
        if reason := self._main.backend.may_answer():
            self.say(reason)
            return
        try:
            added = self._main.backend.rules.add_rule(rule)
        except Exception as error:  # noqa: BLE001 whatever a service says is told, nothing is hidden
            self.say(error_text(error))
            return
        old, self._edited = self._edited, None
        self._main.tasks.rules_changed()
        if old is not None:
            self._revoke(old.id)
        self._read()
        self._list.put_cursor(added.id)
        self.say(f"{added.id} {human.EFFECT_VERBS[added.effect]} {added.pattern}.")

    def _ask(self, purpose: str, value: str, words: str) -> None:
        self._asks = purpose
        self.say(words)
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
            self.say("Nothing was revoked: that was not its number.")

    def _typed(self, words: str) -> None:
        rule = parse_rule(words, self._main.status.workspace, self._edited)
        if isinstance(rule, str):
            self.say(f"Nothing was saved. {rule}")
        else:
            self._add(rule)

    def _close(self) -> None:
        self._input.display = False
        self._list.focus()
        self.say("")
        self._show_keys()

    def _revoke(self, number: str) -> None:
        reason = self._main.backend.may_answer()
        if reason:
            self.say(reason)
            return
        try:
            rule = self._main.backend.rules.revoke_rule(number)
        except Exception as error:  # noqa: BLE001 whatever a service says is told, nothing is hidden
            self.say(f"Not revoked. {error_text(error)}")
            return
        more = (
            " It comes from a configuration file: take it out there too." if rule.origin == "config" else ""
        )
        self.revoked = rule
        self.say(f"{rule.id} is revoked.{more} u puts it back.")
        self._main.tasks.rules_changed()
        self._read()

    def why_not_place(self) -> str:
        """Return why nobody can say where the commands of the rule under the cursor run."""
        row = self._row
        if row is None or self.over:
            return self.why_no_row() or self.over
        return "" if row.place is not None else "this rule allows no commands"

    def label_of(self, key_id: str) -> str:
        row = self._row
        if key_id == "rules.place" and row is not None and row.place is not None:
            return f"run {_OTHER_PLACE[row.place]}"
        return super().label_of(key_id)

    def place(self) -> None:
        """Let the commands that the rule allows run on the other side of the sandbox."""
        row = self._row
        if row is None or row.place is None:
            return
        if reason := self._main.backend.may_answer():
            self.say(reason)
            return
        try:
            rule = self._main.backend.rules.place_rule(row.id, _OTHER_PLACE[row.place])
        except Exception as error:  # noqa: BLE001 whatever a service says is told, nothing is hidden
            self.say(f"Nothing was changed. {error_text(error)}")
            return
        self._main.tasks.rules_changed()
        self._read()
        more = " A configuration file has it too: say it there." if rule.origin == "config" else ""
        self.say(f"What {rule.id} allows runs {rule.place} the sandbox from now on.{more}")

    # --- the past -------------------------------------------------------------------------------

    def _try_soon(self) -> None:
        """Try the rule under the cursor on the newest calls once the cursor rests."""
        if self._tries_soon is not None:
            self._tries_soon.stop()
        self._tries_soon = self.set_timer(page.PREVIEW_AFTER, partial(self._try, _CALLS_TRIED))

    def backtest(self) -> None:
        """Try the rule under the cursor on all calls that are known."""
        if self._row is not None:
            self._tried.pop(self._row.id, None)
        self._try(None)

    def _try(self, most: int | None) -> None:
        """Try in a thread the rule under the cursor on so many of the newest calls that were asked about."""
        row = self._row
        rule = next((rule for rule in self.rules if row is not None and rule.id == row.id), None)
        if rule is None or rule.id in self._tried:
            return
        backend, app = self._main.backend, self._main.app

        def work() -> None:
            from workbench.tui.rules.rule_dialog import backtest_rule

            tools = backend.rules.known_tools().values()
            past = backtest_rule(rule, tools, lambda tool: self._asked_calls(tool)[:most])
            app.call_from_thread(self._counted, rule.id, past)

        self._tried[rule.id] = None
        self._show_detail()
        run_in_thread(self, work, "try a rule")

    def _asked_calls(self, tool: str) -> Sequence[AskedCall]:
        if tool not in self._asked:
            self._asked[tool] = self._main.backend.rules.asked_calls(tool)
        return self._asked[tool]

    def _counted(self, number: str, past: Backtest) -> None:
        self._tried[number] = past
        if self.is_attached:
            self._show_detail()

    def help(self) -> None:
        """Show the keys."""
        from workbench.tui.main.info_pages import HelpScreen

        keys = keymap.keys_of_scopes(["rules", "agents"])
        self._main.app.push_screen(HelpScreen(self.NAME, keys, None, self.why_not))

    def open_palette(self) -> None:
        """Open the palette over the rules: their commands stand in it first."""
        from workbench.tui.main.palette import open_palette

        open_palette(self._main.app.main, page=self)

    def levels(self) -> Iterable[Callable[[], bool]]:
        return self._leave_field, self._leave_filter

    def _leave_field(self) -> bool:
        if not self.is_typing:
            return False
        self._close()
        return True

    def _leave_filter(self) -> bool:
        if not self._wanted:
            return False
        self._wanted = ""
        self._show()
        return True
