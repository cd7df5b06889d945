"""The table of a shell command that waits: its parts, what each does, and which rule covers it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from workbench.domain.rows import Rule
from workbench.domain.values import JsonObject
from workbench.tui.backend import Backend
from workbench.views.action_detail import CommandPartRow, CommandParts

if TYPE_CHECKING:
    from workbench.domain.values import ToolDescriptor
    from workbench.policy.command_review import CommandPart, CommandReview
    from workbench.policy.rules import RuleMoment


_LASTING_EFFECTS: Final = frozenset({"removes", "runs net", "writes"})


def command_review_table(
    backend: Backend, tool: str, parameters: JsonObject, command: str, moment: "RuleMoment"
) -> CommandParts | None:
    """Return the table of a command; None where one plain command says everything itself."""
    from workbench.policy import rules
    from workbench.policy.command_review import review_command

    review = review_command(command, backend.rules.command_boundary(moment.workspace))
    standing = rules.rules_in_force("allow", backend.rules.all_rules(), moment)
    descriptor = backend.rules.known_tools().get(tool)
    rows = tuple(_part_row(part, descriptor, parameters, standing) for part in review.parts)
    if len(rows) == 1 and not review.reasons and rows[0].sign == "waiting" and not rows[0].does:
        return None
    return CommandParts(rows=rows, notes=tuple(_review_notes(review)))


def _part_row(
    part: "CommandPart", descriptor: "ToolDescriptor | None", parameters: JsonObject, standing: Sequence[Rule]
) -> CommandPartRow:
    does = ", ".join(part.does)
    if part.reasons or {"runs net", "hidden", "mixed scripts"} & set(part.marks):
        return CommandPartRow(text=part.text, does=does, sign="risk", says="never by rule", is_risky=True)
    rule = _covering_rule(part, descriptor, parameters, standing)
    if rule is not None:
        return CommandPartRow(text=part.text, does=does, sign="rule", says=f"{rule.id} allows it")
    return CommandPartRow(
        text=part.text, does=does, sign="waiting", says="asks (no rule)", is_risky="removes" in part.marks
    )


def _covering_rule(
    part: "CommandPart", descriptor: "ToolDescriptor | None", parameters: JsonObject, standing: Sequence[Rule]
) -> Rule | None:
    from workbench.policy import rules
    from workbench.policy.rules import call_subject

    if descriptor is None or part.simple is None or not standing:
        return None
    alone = {**parameters, descriptor.command_parameter or "": part.simple.source}
    return rules.first_rule_passing(standing, call_subject(descriptor, alone, ""), part.simple)


def _review_notes(review: "CommandReview") -> list[str]:
    notes: list[str] = []
    if review.left_out:
        notes.append(f"And {review.left_out} more parts.")
    if not review.is_certain:
        notes.append("These may not be all of its parts: it cannot be read with certainty.")
    if review.reasons:
        notes.append(f"No rule covers the whole line: {', '.join(review.reasons)}.")
    lasting = [str(n) for n, part in enumerate(review.parts, 1) if _LASTING_EFFECTS & set(part.marks)]
    if lasting:
        which = f"part {lasting[0]} changes" if len(lasting) == 1 else f"parts {', '.join(lasting)} change"
        notes.append(f"Cannot be undone here: {which} what the workbench does not keep.")
    return notes
