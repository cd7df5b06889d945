"""`workbench rules backtest`: what a rule would have done in all past sessions; nothing is saved.

Owns walking through the calls of the journal. Recorded parameters are scrubbed, so a pattern that is about a
secret finds nothing; it says so by counting calls, not by guessing.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.place import opened
from workbench.cli.render.facts import Facts, moment
from workbench.cli.rules.pattern import add_pattern, draft
from workbench.cli.tools.listing import all_tools
from workbench.domain.rows import Call, Rule
from workbench.journal.journal import Journal
from workbench.policy import rules
from workbench.policy.past import as_own, is_about, is_copied, subject_of
from workbench.text.safe import one_line

EXAMPLE = "workbench rules backtest Bash 'Bash(git diff *)' --glob"
_SHOWN = 40


def configure(parser: ArgumentParser) -> None:
    """Add the rule."""
    add_pattern(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Try the rule on every call there was."""
    body = draft(options, "tried on the past", None, None)
    rule = Rule(
        id="new", effect=body.effect, origin="user", scope="always", tool=body.tool, pattern=body.pattern,
        pattern_kind=body.pattern_kind, description=body.description, created_at=0,
    )  # fmt: skip
    with opened() as (_, journal):
        of_tool, matched = 0, list[Call]()
        for call, is_matched in tried(journal, rule):
            of_tool += 1
            matched += [call] if is_matched else []
    if options.json:
        console.json({"calls": of_tool, "matched": [_facts(call) for call in matched]})
        return DONE
    verb = {"allow": "allowed", "ask": "asked about", "deny": "denied"}[body.effect]
    console.say(f"It would have {verb} {len(matched)} of {of_tool} calls of {one_line(body.tool, 40)}.")
    rows = [f"{call.state:<12} {one_line(call.target or call.tool, 80)}" for call in matched[-_SHOWN:]]
    if rows:
        console.say("\n".join(rows))
    if len(matched) > _SHOWN:
        console.say(f"These are the last {_SHOWN}; --json has all.")
    return DONE


def tried(journal: Journal, rule: Rule) -> Iterator[tuple[Call, bool]]:
    """Yield every call of a tool that a rule is about, once, and whether the rule covers it."""
    known = {tool.id: tool for tool in all_tools()}
    for session in journal.sessions():
        for call in journal.calls(session.id):
            if call.replaced_by is not None or is_copied(session, call):
                continue
            tool, parameters = as_own(call.tool, call.parameters)
            descriptor = known.get(tool)
            if descriptor is not None and is_about(rule, descriptor):
                yield call, rules.covers(rule, subject_of(descriptor, parameters, session.workspace))


def _facts(call: Call) -> Facts:
    return {
        "id": call.id,
        "session_id": call.session_id,
        "tool": call.tool,
        "target": call.target,
        "state": call.state,
        "requested_at": moment(call.requested_at),
    }
