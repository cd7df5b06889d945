"""What a configuration says about calls: its rules brought into the journal, its patterns checked.

Owns the match between a config file's rule and its row: by its own id. A rule that S0 forbids is never
adopted, and the file itself is never written.
"""

from collections.abc import Iterator, Mapping

from workbench.config.values import AutoApprovalRule, Hook, Loaded, Origin, Pattern, Problem
from workbench.domain.events import RuleAdded
from workbench.domain.values import Actor, ToolDescriptor
from workbench.journal.journal import Journal
from workbench.journal.rules import add_rule, revoke_rule
from workbench.policy import globs, rule_notes, rules

SYSTEM = Actor(kind="system")

Tools = Mapping[str, ToolDescriptor]


def sync(journal: Journal, loaded: Loaded, tools: Tools) -> None:
    """Make the journal's rules of origin `config` those of the configuration that may be saved."""
    wanted = {rule.id: rule for rule in loaded.config.auto_approval_rules if not _forbidden(rule, tools)}
    known = {rule.external_id: rule for rule in journal.rules() if rule.origin == "config"}
    for external_id, row in known.items():
        rule = wanted.get(external_id or "")
        if rule is None or (rule.tool_name, rule.param_pattern) != (row.tool, row.pattern):
            revoke_rule(journal, row.id, SYSTEM)
        else:
            wanted.pop(rule.id)
    for rule in wanted.values():
        add_rule(journal, _body(rule), SYSTEM)


def _body(rule: AutoApprovalRule) -> RuleAdded:
    return RuleAdded(
        rule="", effect="allow", origin="config", scope="always", tool=rule.tool_name, pattern_kind="regex",
        pattern=rule.param_pattern, description=rule.description, external_id=rule.id,
    )  # fmt: skip


def problems(loaded: Loaded, tools: Tools) -> tuple[Problem, ...]:
    """Return what is wrong with the rules and patterns of a configuration, besides its form."""
    return tuple(_problems(loaded, tools))


def _problems(loaded: Loaded, tools: Tools) -> Iterator[Problem]:
    config = loaded.config
    for rule in config.auto_approval_rules:
        for why in (*_forbidden(rule, tools), *rules.notes(pattern_kind="regex", pattern=rule.param_pattern)):
            yield _problem(
                "auto_approval_rules", rule.origin, f"Rule {rule.id} is not used as it stands: {why}."
            )
    for key, patterns in (
        ("approvals.deny", config.approvals.deny),
        ("approvals.allow", config.approvals.allow),
    ):
        yield from (_problem(key, p.origin, note) for p in patterns for note in _notes(p))
    hooks: tuple[Hook, ...] = (*config.hooks.pre_tool_use, *config.hooks.post_tool_use)
    for hook in hooks:
        matcher = Pattern(text=hook.matcher, origin=hook.origin)
        yield from (_problem("hooks", hook.origin, note) for note in _notes(matcher))


def notes(loaded: Loaded, tools: Tools) -> tuple[str, ...]:
    """Return which patterns of `approvals.allow` are wider than a rule may be; they are used all the same."""
    return tuple(
        f"{pattern.origin.where()}: approvals.allow: {why}. It is used as it stands."
        for pattern in loaded.config.approvals.allow
        for why in rule_notes.width(pattern.text, tools)
    )


def _forbidden(rule: AutoApprovalRule, tools: Tools) -> tuple[str, ...]:
    return rules.problems(
        tool=rule.tool_name, pattern_kind="regex", pattern=rule.param_pattern, description=rule.description,
        known_tools=tools,
    )  # fmt: skip


def _notes(pattern: Pattern) -> Iterator[str]:
    for part in pattern.text.split("|"):
        for note in globs.parse(part.strip()).notes:
            if note.level != "note":
                yield note.text


def _problem(key: str, origin: Origin, message: str) -> Problem:
    return Problem(
        file=origin.file or origin.layer, line=origin.line, column=None, key=key, message=message,
        remedy="Correct it, or take it out.", fatal=False,
    )  # fmt: skip
