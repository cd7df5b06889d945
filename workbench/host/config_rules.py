"""Bring the rules of the configuration into the journal, where their uses are counted.

Owns the match between a config file's rule and its row: by its own id. The file itself is never written.
"""

import os

from workbench.config.layers import load
from workbench.config.values import Loaded
from workbench.domain.events import RuleAdded
from workbench.domain.values import Actor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.rules import add_rule, revoke_rule

SYSTEM = Actor(kind="system")


def adopt(journal: Journal, home: Home, workspace: str) -> None:
    """Add the rules that are new in the user's configuration and revoke those that are gone from it."""
    from pathlib import Path

    loaded = load(Path(home.path), Path(workspace), trusted=False, env=os.environ, options={})
    sync(journal, loaded)


def sync(journal: Journal, loaded: Loaded) -> None:
    """Make the journal's rules of origin `config` those that `loaded` holds."""
    wanted = {rule.id: rule for rule in loaded.config.auto_approval_rules}
    known = {rule.external_id: rule for rule in journal.rules() if rule.origin == "config"}
    for external_id, rule in known.items():
        if external_id not in wanted:
            revoke_rule(journal, rule.id, SYSTEM)
    for external_id, rule in wanted.items():
        if external_id not in known:
            body = RuleAdded(
                rule="", effect="allow", origin="config", scope="always", tool=rule.tool_name,
                pattern_kind="regex", pattern=rule.param_pattern, description=rule.description,
                external_id=external_id,
            )  # fmt: skip
            add_rule(journal, body, SYSTEM)
