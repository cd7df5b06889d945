"""What `rules add` and `rules backtest` are told about a rule, and the refusal of one that may not be.

Owns the options that describe a rule. It saves nothing.
"""

from argparse import ArgumentParser, Namespace

from workbench.cli.errors import Refusal
from workbench.cli.tools.listing import all_tools
from workbench.domain.events import RuleAdded
from workbench.policy import rules

SCOPES = ("always", "workspace")
EFFECTS = ("allow", "ask", "deny")


def add_pattern(parser: ArgumentParser) -> None:
    """Add tool, pattern and effect."""
    parser.add_argument("tool", metavar="TOOL", help="id of the tool; with --glob also a name such as Bash")
    parser.add_argument("pattern", metavar="PATTERN", help="regular expression over the parameters as JSON")
    parser.add_argument("--glob", action="store_true", help="PATTERN is such as Bash(git diff *)")
    parser.add_argument("--effect", choices=EFFECTS, default="allow", help="what it does (default: allow)")


def draft(options: Namespace, description: str, scope_id: str | None, expires_at: int | None) -> RuleAdded:
    """Return the rule that the options describe.

    Raises:
        Refusal: It may not be saved; every reason is named.
    """
    kind = "glob" if options.glob else "regex"
    scope = "always" if scope_id is None else "workspace"
    found = rules.problems(
        tool=options.tool, pattern_kind=kind, pattern=options.pattern, description=description,
        known_tools={tool.id: tool for tool in all_tools()}, effect=options.effect, scope=scope,
    )  # fmt: skip
    if found:
        raise Refusal("no rule was added", "; ".join(found), "say more exactly what it is about")
    return RuleAdded(
        rule="", effect=options.effect, origin="user", scope=scope, scope_id=scope_id, tool=options.tool,
        pattern_kind=kind, pattern=options.pattern, description=description, expires_at=expires_at,
    )  # fmt: skip
