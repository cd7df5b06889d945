"""The dialog that makes a rule of a waiting call: candidates, scope, end, effect, and a backtest.

Saved only by a key that came after the dialog had stood.
"""

# A rule that is made on the screen answers no change and no command that waits. Saving it adds the rule; the
# call it was made from is then answered by hand, for the digest that was drawn, and only if all of it was on
# the screen. Other calls that the rule covers still wait: nobody has looked at them, and an approval never
# moves to other bytes. Only reads, which bind no bytes, are released (`host/gate_runner.py`).

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace
from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.domain.events import RuleAdded
from workbench.domain.rows import Rule
from workbench.domain.tools import PATCH_TOOL
from workbench.domain.values import Decision, JsonObject, Place, RuleEffect, RuleScope, ToolDescriptor
from workbench.render import cells
from workbench.render.rule_dialog import rule_dialog_lines
from workbench.text.human import DAY_MICROS, MINUTE_MICROS, SECOND_MICROS, sentence
from workbench.tui.backend import AskedCall, Backend
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK
from workbench.tui.pane import DecisionMade
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.line_view import ListExtent
from workbench.tui.widgets.pane_frame import extent_text
from workbench.views.action_detail import ActionDetail
from workbench.views.approvals import NO_FOLDER, Folder
from workbench.views.data_source import SealedContentGone
from workbench.views.rule_dialog import Backtest, BacktestRow, DialogField, RuleCandidateRow, RuleDialogModel
from workbench.views.status_icons import StatusName

if TYPE_CHECKING:
    from workbench.policy.rule_suggestions import RuleSuggestions, SuggestedRule
    from workbench.tui.main.context import MainContext

_SCOPE_CHOICES: Final[tuple[tuple[RuleScope, str], ...]] = (
    ("session", "this session"), ("workspace", "this workspace"), ("always", "everywhere"),
)  # fmt: skip
_EFFECT_CHOICES: Final[tuple[tuple[RuleEffect, str], ...]] = (
    ("allow", "allow"), ("ask", "always ask"), ("deny", "deny"),
)  # fmt: skip
_PLACE_CHOICES: Final[tuple[tuple[Place, str], ...]] = (
    ("inside", "inside the sandbox"), ("outside", "outside, as you"),
)  # fmt: skip
_FIELDS: Final = 3
"""Fields of every rule; one that allows commands has one more."""
_TURN_ENDS: Final = "this turn"
_END_CHOICES: Final = {
    "session": ("the session ends", _TURN_ENDS, "in 10 min", "24:00"),
    "workspace": ("no end", "in 10 min", "24:00", "in 7 days"),
    "always": ("no end", "in 10 min", "24:00", "in 7 days"),
}
RUNS_OUTSIDE: Final = (
    "Its commands run as you: they can write anywhere and use the network. "
    "What runs files of the workspace asks."
)
_APPROVED_STATES: Final = frozenset({"approved", "executing", "succeeded", "failed", "interrupted"})
MAX_PAST_ROWS: Final = 3
_MOST_PAST_ROWS: Final = 30


class RuleDraft(Struct, kw_only=True):
    """Everything chosen for one rule."""

    offer: "RuleSuggestions"
    session_id: str
    workspace: str
    created_from: str
    """The action that it is made from."""
    turn_id: str | None = None
    """The turn that asks; None for what was asked outside of one."""
    folder: Folder = NO_FOLDER
    """The workspace as the screen names it."""
    own: "list[SuggestedRule]" = field(default_factory=list["SuggestedRule"])
    """What the user wrote by hand."""
    cursor: int = 0
    at_field: int = 0
    scope: int = 0
    end: int = 0
    effect: int = 0
    place: int = 0

    @property
    def candidates(self) -> "Sequence[SuggestedRule]":
        """Return what is offered, then what was written by hand; judged for the chosen effect."""
        return [*self.offer.candidates, *self.own]

    @property
    def candidate(self) -> "SuggestedRule":
        """Return the candidate under the cursor."""
        return self.candidates[self.cursor]

    @property
    def chosen_effect(self) -> RuleEffect:
        """Return what the rule would do."""
        return _EFFECT_CHOICES[self.effect][0]

    @property
    def subject(self) -> tuple[object, ...]:
        """Return what the saving key is about: any change of it starts the wait anew."""
        candidate = self.candidate
        return (candidate.pattern_kind, candidate.pattern, self.scope, self.end, self.effect, self.place)

    def move(self, rows: int) -> None:
        """Go to a wider (1) or narrower (-1) rule."""
        self.cursor = max(0, min(self.cursor + rows, len(self.candidates) - 1))

    def to_field(self, step: int) -> None:
        """Go to another field."""
        self.at_field = (self.at_field + step) % (_FIELDS + self.allows_commands)

    def choose(self, step: int) -> None:
        """Choose another option of the field."""
        match self.at_field:
            case 0:
                self.scope = max(0, min(self.scope + step, len(_SCOPE_CHOICES) - 1))
                self.end = 0
            case 1:
                self.end = max(0, min(self.end + step, len(self._ends()) - 1))
            case 2:
                self.effect = max(0, min(self.effect + step, len(_EFFECT_CHOICES) - 1))
            case _:
                self.place = max(0, min(self.place + step, len(_PLACE_CHOICES) - 1))

    @property
    def allows_commands(self) -> bool:
        """Return whether the rule would allow commands, so that it says where they run."""
        is_command = self.offer.subject.descriptor.command_parameter is not None
        return is_command and self.chosen_effect == "allow"

    @property
    def chosen_place(self) -> Place | None:
        """Return where the commands run that the rule would allow; None where it allows none."""
        return _PLACE_CHOICES[self.place][0] if self.allows_commands else None

    def _ends(self) -> tuple[str, ...]:
        ends = _END_CHOICES[_SCOPE_CHOICES[self.scope][0]]
        return tuple(end for end in ends if end != _TURN_ENDS or self.turn_id is not None)

    def refused(self, one: "SuggestedRule") -> str:
        """Return why a candidate may not be saved with the chosen effect; empty if it may."""
        from workbench.policy.rule_suggestions import suggestion_refusal

        if self.chosen_effect == "allow":
            return one.refused
        return suggestion_refusal(one, self.offer.subject, self.chosen_effect)

    def write(self, pattern: str) -> None:
        """Add a pattern that the user wrote, and go to it."""
        from workbench.policy.rule_suggestions import SuggestedRule, suggestion_refusal

        before = self.candidate
        suggestion = SuggestedRule(
            tool=before.tool, pattern_kind=before.pattern_kind, pattern=pattern.strip(), covers="your own"
        )
        subject = self.offer.part_subject or self.offer.subject
        self.own.append(replace(suggestion, refused=suggestion_refusal(suggestion, subject)))
        self.cursor = len(self.candidates) - 1

    def rule(self, now: int) -> RuleAdded:
        """Return the rule that would be saved; the journal numbers it."""
        candidate, scope = self.candidate, _SCOPE_CHOICES[self.scope][0]
        scope = "turn" if self._ends()[self.end] == _TURN_ENDS else scope
        ids = {"turn": self.turn_id, "session": self.session_id, "workspace": self.workspace}
        return RuleAdded(
            rule="", effect=self.chosen_effect, origin="user", scope=scope, scope_id=ids.get(scope),
            tool=candidate.tool, pattern_kind=candidate.pattern_kind, pattern=candidate.pattern,
            description=f"{candidate.covers}: {candidate.pattern}"[:200], expires_at=self._expires_at(now),
            created_from=self.created_from, place=self.chosen_place,
        )  # fmt: skip

    def _expires_at(self, now: int) -> int | None:
        midnight = datetime.fromtimestamp(now / SECOND_MICROS).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
        match self._ends()[self.end]:
            case "24:00":
                return round((midnight + timedelta(days=1)).timestamp() * SECOND_MICROS)
            case "in 10 min":
                return now + 10 * MINUTE_MICROS
            case "in 7 days":
                return now + 7 * DAY_MICROS
            case _:
                return None

    def shown(self, past: Backtest | None, now: int, on_save: str) -> RuleDialogModel:
        """Return the dialog.

        Args:
            past: what the candidate would have done; None while it is counted.
            now: the moment, in microseconds.
            on_save: what enter does besides saving.
        """
        rows = tuple(
            RuleCandidateRow(
                pattern=candidate.pattern, covers=candidate.covers, refused=self.refused(candidate)
            )
            for candidate in self.candidates
        )
        refused = rows[self.cursor].refused
        fields = (
            DialogField(name="where", options=self._scope_words(), chosen=self.scope),
            DialogField(name="until", options=self._ends(), chosen=self.end),
            DialogField(
                name="effect", options=tuple(words for _, words in _EFFECT_CHOICES), chosen=self.effect
            ),
            *self._place_fields(),
        )
        return RuleDialogModel(
            now=now, about=self.offer.about, part_words=_part_sentence(self.offer), candidates=rows,
            cursor=self.cursor, fields=fields, field=self.at_field, effect=self.chosen_effect, past=past,
            on_save="" if refused else on_save, why_off=f"refused: {refused}" if refused else "",
            notes=(*self._notes(), "Deny rules still win. Every use shows § and its number."),
        )  # fmt: skip

    def _place_fields(self) -> tuple[DialogField, ...]:
        if not self.allows_commands:
            return ()
        options = tuple(words for _, words in _PLACE_CHOICES)
        return (DialogField(name="runs", options=options, chosen=self.place),)

    def _scope_words(self) -> tuple[str, ...]:
        """Return where a rule can hold; a workspace that is not the screen's is named."""
        other = f"folder {self.folder.name}" if self.folder.is_other else ""
        return tuple(other if other and scope == "workspace" else words for scope, words in _SCOPE_CHOICES)

    @property
    def rest_note(self) -> str:
        """Return which lines still ask although a rule allows a part of them; empty if there are none."""
        if self.offer.part is None or self.offer.parts < 2 or self.chosen_effect != "allow":
            return ""
        return "Lines with other parts still ask until a rule covers each part."

    def _notes(self) -> tuple[str, ...]:
        """Return what is to be said of the candidate before it is saved."""
        where = f"The folder {self.folder.name} is {self.folder.path}, not the one of this screen."
        notes = (where, *self._candidate_notes()) if self.folder.is_other else self._candidate_notes()
        return (*notes, RUNS_OUTSIDE) if self.chosen_place == "outside" else notes

    def _candidate_notes(self) -> tuple[str, ...]:
        from workbench.policy.rule_validation import rule_notes

        candidate, descriptor = self.candidate, self.offer.subject.descriptor
        return rule_notes(
            tool=candidate.tool, pattern_kind=candidate.pattern_kind, pattern=candidate.pattern,
            known_tools={descriptor.id: descriptor}, effect=self.chosen_effect,
        )  # fmt: skip


def _part_sentence(offer: "RuleSuggestions") -> str:
    if offer.part is None:
        return ""
    return f"part {offer.part} of {offer.parts}: every part has to be covered before the line is not asked"


def draft_rule(
    backend: Backend, tool: str, parameters: JsonObject, *, session_id: str, workspace: str,
    created_from: str, now: int, folder: Folder = NO_FOLDER, turn_id: str | None = None,
    place: Place = "inside",
) -> "RuleDraft | str":  # fmt: skip
    """Return what can be chosen for a call, or why no rule can cover it.

    Args:
        backend: know tools and rules.
        tool: id of the call's tool.
        parameters: as the agent wrote them.
        session_id: whose call it is.
        workspace: absolute path.
        created_from: the action.
        now: the moment, in microseconds.
        folder: the workspace as the screen names it.
        turn_id: the turn that asks.
        place: where the commands run that the rule allows, until it is chosen.
    """
    from workbench.policy import rules
    from workbench.policy.rule_suggestions import suggest_rules

    if tool == PATCH_TOOL:
        return "no rule is made of a patch; Edit(src/**) covers an agent's patch that only edits such files"
    descriptor = backend.rules.known_tools().get(tool)
    if descriptor is None:
        return "no rule can be made here: this tool is not known"
    moment = rules.RuleMoment(
        session_id=session_id, workspace=workspace, run_id=None, now=now, turn_id=turn_id
    )
    standing = rules.rules_in_force("allow", backend.rules.all_rules(), moment)
    suggestions = suggest_rules(
        descriptor, parameters, workspace, standing, backend.rules.command_boundary(workspace)
    )
    if not suggestions.candidates:
        return suggestions.why_none or "no rule can be made of this call"
    return RuleDraft(
        offer=suggestions, session_id=session_id, workspace=workspace, created_from=created_from,
        folder=folder, turn_id=turn_id, place=[key for key, _ in _PLACE_CHOICES].index(place),
    )  # fmt: skip


def backtest_candidate(
    asked: Sequence[AskedCall], one: "SuggestedRule", effect: RuleEffect, backend: Backend
) -> Backtest:
    """Return what a candidate would have done with calls that were asked about."""
    from workbench.policy import rules
    from workbench.policy.rule_suggestions import unsaved_rule
    from workbench.policy.rules import call_subject

    descriptor = backend.rules.known_tools()[one.tool]
    rule = unsaved_rule(one, effect)
    matched = [
        past
        for past in asked
        if rules.rule_covers(rule, call_subject(descriptor, past.call.parameters, past.workspace))
    ]
    return _outcomes(asked, matched, MAX_PAST_ROWS)


def _outcomes(asked: Sequence[AskedCall], matched: Sequence[AskedCall], most_rows: int) -> Backtest:
    states = [past.call.state for past in matched]
    notable = [past for past in matched if past.call.state in ("rejected", "expired")]
    others = [past for past in matched if past not in notable]
    return Backtest(
        asks=len(asked), sessions=len({past.call.session_id for past in asked}),
        since=min((past.call.requested_at for past in asked), default=None), matched=len(matched),
        approved=sum(state in _APPROVED_STATES for state in states), rejected=states.count("rejected"),
        expired=states.count("expired"),
        look_at=tuple(map(_past_row, [*notable, *others][:most_rows])),
    )  # fmt: skip


def backtest_rule(
    rule: Rule, tools: Iterable[ToolDescriptor], asked_calls: Callable[[str], Sequence[AskedCall]]
) -> Backtest:
    """Return what a rule would have done with the calls of a tool (`asked_calls`) that were asked about."""
    from workbench.policy import rules
    from workbench.policy.rule_suggestions import rule_concerns_tool
    from workbench.policy.rules import call_subject

    asked, matched = list[AskedCall](), list[AskedCall]()
    for descriptor in tools:
        if rule_concerns_tool(rule, descriptor):
            of_tool = asked_calls(descriptor.id)
            asked += of_tool
            matched += [
                past
                for past in of_tool
                if rules.rule_covers(rule, call_subject(descriptor, past.call.parameters, past.workspace))
            ]
    return _outcomes(asked, matched, _MOST_PAST_ROWS)


def _past_row(past: AskedCall) -> BacktestRow:
    signs: dict[str, StatusName] = {"rejected": "rejected", "expired": "expired", "cancelled": "cancelled"}
    state = past.call.state
    return BacktestRow(
        sign=signs.get(state, "ok" if state in _APPROVED_STATES else "waiting"),
        text=past.call.target or past.call.tool,
        when=past.call.requested_at, session_title=past.session_title,
        why="nobody was there" if state == "expired" else "",
    )  # fmt: skip


_ORDER: Final = "narrowest first"
_KEYS_ROOM: Final = 44
"""Cells that what enter does, and the way back, get of the row of keys."""


def open_rule_dialog(context: "MainContext", detail: ActionDetail) -> None:
    """Open the dialog for an action that waits, or say why no rule can cover it."""
    state = context.state
    action = state.actions.get(detail.id)
    if action is None:
        return
    session = state.sessions.get(detail.session_id)
    workspace = session.workspace if session else context.folders.of_action(action.id)
    try:
        parameters = state.source.exact_parameters(action)
    except SealedContentGone as error:
        context.say(error.why, is_error=True)
        return
    draft = draft_rule(
        context.backend, action.tool or "", parameters, session_id=action.session_id,
        workspace=workspace, created_from=action.id, now=state.source.now(), folder=detail.folder,
        turn_id=action.turn_id, place=_place_of_rule(context, detail),
    )  # fmt: skip
    if isinstance(draft, str):
        context.say(sentence(draft))
        return
    context.app.push_screen(RuleDialog(context, detail, draft))


def _place_of_rule(context: "MainContext", detail: ActionDetail) -> Place:
    """Return where a rule of an action lets commands run: outside only where its own row leaves a sandbox."""
    leaves = detail.level is not None and context.widgets.approvals.choosing.place_of(detail) == "outside"
    return "outside" if leaves else "inside"


class RuleDialog(Dialog, inherit_bindings=False):
    """The dialog over the main screen."""

    BINDINGS = keymap.bindings("always")
    LEAVES = "always.leave"
    DECIDES = True

    def __init__(self, context: "MainContext", detail: ActionDetail, made: RuleDraft) -> None:
        super().__init__("always")
        self._width = 0
        self._main, self._detail, self._ruling = context, detail, made
        self._asked: Sequence[AskedCall] | None = None
        self._past: dict[tuple[object, ...], Backtest] = {}
        self._page, self._keys = Static(id="always-page"), Static(id="always-keys")
        self._scroll = VerticalScroll(self._page, id="always-scroll", can_focus=False)
        self._input = Input(id="always-input", select_on_focus=False, compact=True)
        self._input.cursor_blink = False

    def compose_box(self) -> Iterable[Widget]:
        yield self._scroll
        yield self._input
        yield self._keys

    def opened(self) -> None:
        self._title = f"Always… {self._ruling.candidate.tool}"
        self.set_titles(self._title, _ORDER)
        self._input.display = False
        self.set_focus(None)
        self.fill()
        self._count()

    # --- what is shown --------------------------------------------------------------------------

    @property
    def decided(self) -> tuple[object, ...] | None:
        return None if self._input.display else (self._detail.digest, *self._ruling.subject)

    def _past_key(self) -> tuple[object, ...]:
        candidate = self._ruling.candidate
        return (candidate.pattern_kind, candidate.pattern, self._ruling.chosen_effect)

    def fill(self) -> None:
        model = self._ruling.shown(
            self._past.get(self._past_key()), self._main.state.source.now(), self._on_save()
        )
        self._width = self._scroll.size.width
        lines, cursor_line = rule_dialog_lines(model, max(20, self._width), ink(self), glyphs(self))
        self._page.update(Content("\n").join(lines))
        self._keys.update(self._key_line(model.on_save, model.why_off))
        self._say_more()
        height = self._scroll.size.height
        if height and not self._scroll.scroll_offset.y <= cursor_line < self._scroll.scroll_offset.y + height:
            self._scroll.scroll_to(y=max(0, cursor_line - 1), animate=False)
        self.call_after_refresh(self._drawn)

    def _say_more(self) -> None:
        """Say in the lower border how far the page goes and where there is more of it."""
        first, total = self._scroll.scroll_offset.y, self._page.size.height
        extent = ListExtent(first=first, last=min(total, first + self._scroll.size.height), total=total)
        self.set_titles(self._title, "  ".join(filter(None, (extent_text(extent, glyphs(self)), _ORDER))))

    def _on_save(self) -> str:
        if self._ruling.chosen_effect == "ask":
            return "save; this call still waits"
        if self._ruling.chosen_effect == "deny":
            return "save, and reject this call"
        return "save; this call still waits: " + self._why_by_hand() if self._why_by_hand() else (
            "save, and approve this call"
        )  # fmt: skip

    def _why_by_hand(self) -> str:
        """Return why saving does not approve the call as well; empty if it does."""
        choosing, detail = self._main.widgets.approvals.choosing, self._detail
        if detail.id in choosing.edits:
            return "your text waits for a"
        if detail.hunks and choosing.taken_of(detail).words():
            return "only a part of it is taken"
        return "not all of it was on the screen" if choosing.unseen(detail) else ""

    def _key_line(self, on_save: str, why_off: str) -> Content:
        colours = ink(self)
        info, faint = colours.of("info", bold=True), colours.of("faint")
        if self._input.display:
            pairs = [("enter", "try it"), ("esc", "back to the rules")]
        else:
            pairs = [("j k", "rule"), ("tab", "field"), ("h l", "choose"), ("e", "edit")]
            # What enter does stands whole where it can; the others are the same in every dialog.
            while pairs and self._keys.size.width < _KEYS_ROOM + sum(3 + len(f"{k} {w}") for k, w in pairs):
                pairs.pop()
            pairs.append(("esc", "back"))
        parts = [Content.assemble((keys, info), f" {words}") for keys, words in pairs]
        if not self._input.display:
            ok = Content.assemble(("enter", info), f" {on_save}") if on_save else Content.styled(
                f"enter {why_off}", faint
            )  # fmt: skip
            room = max(16, self._keys.size.width - sum(part.cell_length + 3 for part in parts) - 2)
            parts.insert(0, cells.shorten_line(ok, room, glyphs(self)))
        return Content.assemble(" ", Content("   ").join(parts))

    def _drawn(self) -> None:
        self._say_more()
        if self._scroll.size.width != self._width:
            # The first frame knew no width.
            self.fill()
            return
        self.note_drawn()

    # --- the past -------------------------------------------------------------------------------

    def _count(self) -> None:
        """Try the candidate under the cursor on the past, in a thread; the dialog is usable meanwhile."""
        key, candidate, effect = self._past_key(), self._ruling.candidate, self._ruling.chosen_effect
        if key in self._past or self._ruling.refused(candidate):
            return
        backend, app = self._main.backend, self._main.app

        def work() -> None:
            asked = self._asked if self._asked is not None else backend.rules.asked_calls(candidate.tool)
            asked = [past for past in asked if past.call.action_id != self._detail.id]
            backtest = backtest_candidate(asked, candidate, effect, backend)
            app.call_from_thread(self._counted, key, asked, backtest)

        self.run_worker(
            work, group="past", description="try a rule", thread=True, exit_on_error=False, exclusive=False
        )

    def _counted(self, key: tuple[object, ...], asked: Sequence[AskedCall], backtest: Backtest) -> None:
        self._asked = asked
        self._past[key] = backtest
        if self.is_attached:
            self.fill()

    # --- what keys ask for ----------------------------------------------------------------------

    def reaches_key(self, key_id: str) -> bool:
        is_typed = self._input.display and key_id != "always.leave"
        return not is_typed and super().reaches_key(key_id)

    def move(self, rows: int) -> None:
        """Go to another rule."""
        self._ruling.move(rows)
        self._changed()

    def to_field(self, step: int) -> None:
        """Go to another field."""
        self._ruling.to_field(step)
        self.fill()

    def choose(self, step: int) -> None:
        """Choose in the field."""
        self._ruling.choose(step)
        self._changed()

    def _changed(self) -> None:
        self.fill()
        self._count()

    def scroll_page(self, rows: int) -> None:
        """Scroll what does not fit."""
        self._scroll.scroll_relative(y=rows, animate=False)
        self.call_after_refresh(self._say_more)

    def edit(self) -> None:
        """Write the pattern by hand, from the one under the cursor."""
        self._arming.disarm()
        self._input.display = True
        self._input.value = self._ruling.candidate.pattern
        self._input.focus()
        self.fill()

    @on(Input.Submitted)
    def _written(self, message: Input.Submitted) -> None:
        message.stop()
        if message.value.strip():
            self._ruling.write(message.value)
        self._close_input()
        self._changed()

    def _close_input(self) -> None:
        self._input.display = False
        self.set_focus(None)

    def leave(self) -> None:
        if self._input.display:
            self._close_input()
            self.fill()
            return
        self.dismiss()

    def save(self) -> None:
        """Save the rule, then answer the call by hand for what was drawn."""
        candidate = self._ruling.candidate
        if why := self._ruling.refused(candidate):
            self.say(f"Not saved: {candidate.pattern} {why}")
            return
        if not self.end_arming():
            self.say(TOO_QUICK.format(key="enter"))
            return
        rule = self._ruling.rule(self._main.state.source.now())
        self._main.tasks.add_rule(rule, self._answer(), self._ruling.rest_note)
        self.dismiss()

    def _answer(self) -> DecisionMade | None:
        """Return the answer that goes with the rule; None where the call still waits."""
        detail, effect = self._detail, self._ruling.chosen_effect
        if effect == "deny":
            return DecisionMade(Decision(action_id=detail.id, verdict="reject"), detail.digest)
        if effect == "ask" or self._why_by_hand():
            return None
        return self._main.widgets.approvals.choosing.approval(detail)
