"""A command's parts as its approval shows them: what each does, and what the rules in force say of it.

Owns the words; the judgement is the guard's. Slow the first time: it loads the shell's grammar.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from workbench.domain.rows import Rule
from workbench.domain.values import JsonObject
from workbench.tui.services import Services
from workbench.views.ruling import CommandParts, PartRow

if TYPE_CHECKING:
    from workbench.domain.values import ToolDescriptor
    from workbench.policy.parts import Part, Parts
    from workbench.policy.rules import Moment

_LASTING: Final = frozenset({"removes", "runs net", "writes"})


def command_parts(
    services: Services, tool: str, parameters: JsonObject, command: str, moment: "Moment"
) -> CommandParts | None:
    """Return the table of a command; None where one plain command says everything itself."""
    from workbench.policy import rules
    from workbench.policy.parts import parts

    found = parts(command, services.boundary(moment.workspace))
    standing = rules.in_force("allow", services.rules(), moment)
    descriptor = services.known_tools().get(tool)
    rows = tuple(_row(part, descriptor, parameters, standing) for part in found.parts)
    if len(rows) == 1 and not found.reasons and rows[0].sign == "waiting" and not rows[0].does:
        return None
    return CommandParts(rows=rows, notes=tuple(_notes(found)))


def _row(
    part: "Part", descriptor: "ToolDescriptor | None", parameters: JsonObject, standing: Sequence[Rule]
) -> PartRow:
    does = ", ".join(part.does)
    if part.reasons or {"runs net", "hidden", "mixed scripts"} & set(part.marks):
        return PartRow(text=part.text, does=does, sign="risk", says="never by rule", is_risky=True)
    rule = _covering(part, descriptor, parameters, standing)
    if rule is not None:
        return PartRow(text=part.text, does=does, sign="rule", says=f"{rule.id} allows it")
    return PartRow(
        text=part.text, does=does, sign="waiting", says="asks, no rule", is_risky="removes" in part.marks
    )


def _covering(
    part: "Part", descriptor: "ToolDescriptor | None", parameters: JsonObject, standing: Sequence[Rule]
) -> Rule | None:
    from workbench.policy import rules
    from workbench.policy.past import subject_of

    if descriptor is None or part.simple is None or not standing:
        return None
    alone = {**parameters, descriptor.command_parameter or "": part.simple.source}
    return rules.covering(standing, subject_of(descriptor, alone, ""), part.simple)


def _notes(found: "Parts") -> list[str]:
    notes: list[str] = []
    if found.left_out:
        notes.append(f"And {found.left_out} more parts.")
    if not found.is_certain:
        notes.append("These may not be all of its parts: it cannot be read with certainty.")
    if found.reasons:
        notes.append(f"No rule covers the whole line: {', '.join(found.reasons)}.")
    lasting = [str(n) for n, part in enumerate(found.parts, 1) if _LASTING & set(part.marks)]
    if lasting:
        which = f"part {lasting[0]} changes" if len(lasting) == 1 else f"parts {', '.join(lasting)} change"
        notes.append(f"Cannot be undone here: {which} what the workbench does not keep.")
    return notes
