"""What is chosen in the dialog that makes a rule: candidate, place, end, effect; and its trial on the past.

Owns the way from a call to the rule that would be saved. It saves nothing and knows no widget; the analysis
of commands is imported when it is first used.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from workbench.domain.events import RuleAdded
from workbench.domain.rows import Rule
from workbench.domain.values import JsonObject, RuleEffect, RuleScope
from workbench.tui.services import AskedCall, Services
from workbench.views.ruling import CandidateRow, Choosable, Past, PastRow, RuleDialog
from workbench.views.signs import Meaning

if TYPE_CHECKING:
    from workbench.policy.candidates import Candidate, Offer

_MICROS: Final = 1_000_000
_SCOPES: Final[tuple[tuple[RuleScope, str], ...]] = (
    ("session", "this session"), ("workspace", "this workspace"), ("always", "everywhere"),
)  # fmt: skip
_EFFECTS: Final[tuple[tuple[RuleEffect, str], ...]] = (
    ("allow", "allow"), ("ask", "always ask"), ("deny", "deny"),
)  # fmt: skip
_ENDS: Final = {
    "session": ("the session ends", "today 24:00"),
    "workspace": ("no end", "today 24:00", "in 7 days"),
    "always": ("no end", "today 24:00", "in 7 days"),
}
_APPROVED: Final = frozenset({"approved", "executing", "succeeded", "failed", "interrupted"})
_MOST_LOOKED_AT: Final = 3


@dataclass(slots=True, kw_only=True)
class Ruling:
    """Everything chosen for one rule."""

    offer: "Offer"
    session_id: str
    workspace: str
    created_from: str
    """The action that it is made from."""
    own: "list[Candidate]" = field(default_factory=list["Candidate"])
    """What the user wrote by hand."""
    cursor: int = 0
    at_field: int = 0
    scope: int = 0
    end: int = 0
    effect: int = 0

    @property
    def candidates(self) -> "Sequence[Candidate]":
        """Return what is offered, then what was written by hand; judged for the chosen effect."""
        return [*self.offer.candidates, *self.own]

    @property
    def candidate(self) -> "Candidate":
        """Return the candidate under the cursor."""
        return self.candidates[self.cursor]

    @property
    def chosen_effect(self) -> RuleEffect:
        """Return what the rule would do."""
        return _EFFECTS[self.effect][0]

    @property
    def subject(self) -> tuple[object, ...]:
        """Return what the saving key is about: any change of it starts the wait anew."""
        one = self.candidate
        return (one.pattern_kind, one.pattern, self.scope, self.end, self.effect)

    def move(self, rows: int) -> None:
        """Go to a wider (1) or narrower (-1) rule."""
        self.cursor = max(0, min(self.cursor + rows, len(self.candidates) - 1))

    def to_field(self, step: int) -> None:
        """Go to another field."""
        self.at_field = (self.at_field + step) % 3

    def choose(self, step: int) -> None:
        """Choose another option of the field."""
        match self.at_field:
            case 0:
                self.scope = max(0, min(self.scope + step, len(_SCOPES) - 1))
                self.end = 0
            case 1:
                self.end = max(0, min(self.end + step, len(self._ends()) - 1))
            case _:
                self.effect = max(0, min(self.effect + step, len(_EFFECTS) - 1))

    def _ends(self) -> tuple[str, ...]:
        return _ENDS[_SCOPES[self.scope][0]]

    def refused(self, one: "Candidate") -> str:
        """Return why a candidate may not be saved with the chosen effect; empty if it may."""
        from workbench.policy.candidates import refusal

        if self.chosen_effect == "allow":
            return one.refused
        return refusal(one, self.offer.subject, self.chosen_effect)

    def write(self, pattern: str) -> None:
        """Add a pattern that the user wrote, and go to it."""
        from workbench.policy.candidates import Candidate, refusal

        before = self.candidate
        made = Candidate(
            tool=before.tool, pattern_kind=before.pattern_kind, pattern=pattern.strip(), covers="your own"
        )
        subject = self.offer.part_subject or self.offer.subject
        self.own.append(replace(made, refused=refusal(made, subject)))
        self.cursor = len(self.candidates) - 1

    def rule(self, now: int) -> RuleAdded:
        """Return the rule that would be saved; the journal numbers it."""
        one, scope = self.candidate, _SCOPES[self.scope][0]
        ids = {"session": self.session_id, "workspace": self.workspace}
        return RuleAdded(
            rule="", effect=self.chosen_effect, origin="user", scope=scope, scope_id=ids.get(scope),
            tool=one.tool, pattern_kind=one.pattern_kind, pattern=one.pattern,
            description=f"{one.covers}: {one.pattern}"[:200], expires_at=self._expires_at(now),
            created_from=self.created_from,
        )  # fmt: skip

    def _expires_at(self, now: int) -> int | None:
        midnight = datetime.fromtimestamp(now / _MICROS).replace(hour=0, minute=0, second=0, microsecond=0)
        match self._ends()[self.end]:
            case "today 24:00":
                return round((midnight + timedelta(days=1)).timestamp() * _MICROS)
            case "in 7 days":
                return now + 7 * 86_400 * _MICROS
            case _:
                return None

    def shown(self, past: Past | None, now: int, on_save: str) -> RuleDialog:
        """Return the dialog.

        Args:
            past: what the candidate would have done; None while it is counted.
            now: the moment, in microseconds.
            on_save: what enter does besides saving.
        """
        rows = tuple(
            CandidateRow(pattern=one.pattern, covers=one.covers, refused=self.refused(one))
            for one in self.candidates
        )
        refused = rows[self.cursor].refused
        fields = (
            Choosable(name="where", options=tuple(words for _, words in _SCOPES), chosen=self.scope),
            Choosable(name="until", options=self._ends(), chosen=self.end),
            Choosable(name="effect", options=tuple(words for _, words in _EFFECTS), chosen=self.effect),
        )
        return RuleDialog(
            now=now, about=self.offer.about, part_words=_part_words(self.offer), candidates=rows,
            cursor=self.cursor, fields=fields, field=self.at_field, effect=self.chosen_effect, past=past,
            on_save="" if refused else on_save, why_off=f"refused: {refused}" if refused else "",
            notes=(*self._notes(), "Deny rules still win. Every use shows § and its number."),
        )  # fmt: skip

    def _notes(self) -> tuple[str, ...]:
        """Return what is to be said of the candidate before it is saved."""
        from workbench.policy.rule_notes import notes

        one, descriptor = self.candidate, self.offer.subject.descriptor
        return notes(
            tool=one.tool, pattern_kind=one.pattern_kind, pattern=one.pattern,
            known_tools={descriptor.id: descriptor}, effect=self.chosen_effect,
        )  # fmt: skip


def _part_words(offer: "Offer") -> str:
    if offer.part is None:
        return ""
    return f"part {offer.part} of {offer.parts}: every part has to be covered before the line is not asked"


def ruling(
    services: Services, tool: str, parameters: JsonObject, *, session_id: str, workspace: str,
    created_from: str, now: int,
) -> "Ruling | str":  # fmt: skip
    """Return what can be chosen for a call, or why no rule can cover it.

    Args:
        services: know tools and rules.
        tool: id of the call's tool.
        parameters: as the agent wrote them.
        session_id: whose call it is.
        workspace: absolute path.
        created_from: the action.
        now: the moment, in microseconds.
    """
    from workbench.policy import rules
    from workbench.policy.candidates import offer

    descriptor = services.known_tools().get(tool)
    if descriptor is None:
        return "no rule can be made here: this tool is not known"
    moment = rules.Moment(session_id=session_id, workspace=workspace, run_id=None, now=now)
    standing = rules.in_force("allow", services.rules(), moment)
    made = offer(descriptor, parameters, workspace, standing, services.boundary(workspace))
    if not made.candidates:
        return made.why_none or "no rule can be made of this call"
    return Ruling(offer=made, session_id=session_id, workspace=workspace, created_from=created_from)


def backtest(asked: Sequence[AskedCall], one: "Candidate", effect: RuleEffect, services: Services) -> Past:
    """Return what a candidate would have done with calls that were asked about."""
    from workbench.policy import rules
    from workbench.policy.candidates import as_rule
    from workbench.policy.past import subject_of

    descriptor = services.known_tools()[one.tool]
    rule = as_rule(one, effect)
    matched = [
        past
        for past in asked
        if rules.covers(rule, subject_of(descriptor, past.call.parameters, past.workspace))
    ]
    states = [past.call.state for past in matched]
    notable = [past for past in matched if past.call.state in ("rejected", "expired")]
    return Past(
        asks=len(asked), sessions=len({past.call.session_id for past in asked}),
        since=min((past.call.requested_at for past in asked), default=None), matched=len(matched),
        approved=sum(state in _APPROVED for state in states), rejected=states.count("rejected"),
        expired=states.count("expired"),
        look_at=tuple(map(_looked_at, [*notable, *matched][:_MOST_LOOKED_AT])),
    )  # fmt: skip


def tried(rule: Rule, services: Services) -> str:
    """Return in a sentence what a rule would have done with the calls that were asked about."""
    from workbench.policy import rules
    from workbench.policy.past import is_about, subject_of

    asked, matched = 0, list[AskedCall]()
    for descriptor in services.known_tools().values():
        if not is_about(rule, descriptor):
            continue
        for past in services.asked_calls(descriptor.id):
            asked += 1
            if rules.covers(rule, subject_of(descriptor, past.call.parameters, past.workspace)):
                matched.append(past)
    rejected = sum(past.call.state == "rejected" for past in matched)
    word = {"allow": "allowed", "ask": "asked about", "deny": "denied"}[rule.effect]
    return f"Would have {word} {len(matched)} of {asked} asks; {rejected} of them were rejected."


def _looked_at(past: AskedCall) -> PastRow:
    signs: dict[str, Meaning] = {"rejected": "rejected", "expired": "expired", "cancelled": "cancelled"}
    state = past.call.state
    return PastRow(
        sign=signs.get(state, "ok" if state in _APPROVED else "waiting"),
        text=past.call.target or past.call.tool,
        when=past.call.requested_at, session_title=past.session_title,
        why="nobody was there" if state == "expired" else "",
    )  # fmt: skip
