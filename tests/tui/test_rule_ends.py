"""What the ends of a rule that is made in the dialog come to."""

from types import SimpleNamespace

from tests.support.tables import each_row
from workbench.policy.rule_suggestions import SuggestedRule
from workbench.text.human import DAY_MICROS, MINUTE_MICROS
from workbench.tui.rules.rule_dialog import RuleDraft

NOW = 1_795_262_400_000_000


def draft(turn_id):
    one = SuggestedRule(tool="t", pattern_kind="glob", pattern="Bash(ls)", covers="exactly this")
    subject = SimpleNamespace(descriptor=SimpleNamespace(command_parameter=None))
    offer = SimpleNamespace(candidates=(one,), subject=subject)
    return RuleDraft(offer=offer, session_id="s", workspace="/w", created_from="a", turn_id=turn_id)


@each_row(
    ("scope_steps", "end_steps", "scope", "scope_id", "lasts"),
    [
        (0, 0, "session", "s", None),
        (0, 1, "turn", "t1", None),
        (0, 2, "session", "s", 10 * MINUTE_MICROS),
        (1, 0, "workspace", "/w", None),
        (1, 1, "workspace", "/w", 10 * MINUTE_MICROS),
        (2, 1, "always", None, 10 * MINUTE_MICROS),
        (2, 3, "always", None, 7 * DAY_MICROS),
    ],
)
def test_the_end_that_is_chosen_is_the_end_of_the_rule(scope_steps, end_steps, scope, scope_id, lasts):
    ruling = draft("t1")
    for _ in range(scope_steps):
        ruling.choose(1)
    ruling.to_field(1)
    for _ in range(end_steps):
        ruling.choose(1)
    made = ruling.rule(NOW)
    assert (made.scope, made.scope_id) == (scope, scope_id)
    assert made.expires_at == (None if lasts is None else NOW + lasts)


def test_what_was_asked_outside_of_a_turn_has_no_end_with_one():
    ruling = draft(None)
    ruling.to_field(1)
    for _ in range(4):
        ruling.choose(1)
        assert ruling.rule(NOW).scope == "session"
