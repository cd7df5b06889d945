"""The one table of keys (UX section 7). Bindings, footer, help, palette and users' keymaps come from it.

Each room has its rows next to its classes; those of a room that is not open are loaded when they are needed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from workbench.tui.approvals.approval_keys import ANSWER, APPROVALS, BATCH, DIFF, LINES, TRUST
from workbench.tui.approvals.choice_keys import CHOICE
from workbench.tui.conversation.conversation_keys import COMPOSER, CONVERSATION, QUEUE, UNDO
from workbench.tui.keyboard.keymap import Key
from workbench.tui.main.main_keys import AGENTS, APP, DEMO, DIALOG, FIRST, LIST, RAIL
from workbench.tui.pipeline.launch_keys import LAUNCH
from workbench.tui.pipeline.new_pipeline_keys import NEW_PIPELINE
from workbench.tui.pipeline.pipeline_keys import GATE, PIPELINE, RUNS, STEP
from workbench.tui.pipeline.run_table_keys import COMPARE, TIMES
from workbench.tui.tools.tools_keys import TOOLS

Rows = tuple[Key[Any], ...]


def _rules() -> Iterator[Rows]:
    from workbench.tui.rules.rule_keys import ALWAYS, RULES

    yield from (ALWAYS, RULES)


def _replay() -> Iterator[Rows]:
    from workbench.tui.replay.replay_keys import BESIDE, REPLAY

    yield from (REPLAY, BESIDE)


def _library() -> Iterator[Rows]:
    from workbench.tui.library.library_keys import FIND, LIBRARY, SESSION_DIFF, STATISTICS

    yield from (LIBRARY, FIND, STATISTICS, SESSION_DIFF)


def _providers() -> Iterator[Rows]:
    from workbench.tui.providers.provider_keys import PROVIDER, PROVIDERS

    yield from (PROVIDERS, PROVIDER)


def _connections() -> Iterator[Rows]:
    from workbench.tui.providers.agent_keys import CONNECTION, CONNECTIONS

    yield from (CONNECTIONS, CONNECTION)


def _incidents() -> Iterator[Rows]:
    from workbench.tui.incidents.incident_keys import INCIDENT, INCIDENT_START, INCIDENTS

    yield from (INCIDENTS, INCIDENT, INCIDENT_START)


_AT_START: Final[Mapping[str, Rows]] = {
    rows[0].scope: rows
    for rows in (
        AGENTS, APP, LIST, APPROVALS, LINES, DIFF, CHOICE, ANSWER, TRUST, CONVERSATION, TOOLS, PIPELINE, RUNS,
        STEP, GATE, COMPOSER, FIRST, DEMO, DIALOG, BATCH, LAUNCH, NEW_PIPELINE, COMPARE, TIMES, RAIL, UNDO,
        QUEUE,
    )
}  # fmt: skip
_LATER: Final[Mapping[str, Callable[[], Iterator[Rows]]]] = {
    "always": _rules, "rules": _rules, "replay": _replay, "beside": _replay,
    "providers": _providers, "provider": _providers, "connections": _connections, "connection": _connections,
    "incidents": _incidents, "incident": _incidents, "incident-start": _incidents,
    "library": _library, "find": _library, "statistics": _library, "session-diff": _library,
}  # fmt: skip


def rows_of_scope(scope: str) -> Rows:
    """Return the rows of one scope; empty where there is no such scope."""
    if scope in _LATER:
        return next(rows for rows in _LATER[scope]() if rows[0].scope == scope)
    return _AT_START.get(scope, ())


def all_rows() -> Rows:
    """Return every row of the table."""
    return tuple(row for scope in (*_AT_START, *_LATER) for row in rows_of_scope(scope))


_CHAINS: Final = (
    ("approvals", "list", "app"),
    ("lines", "approvals", "app"),
    ("lines", "diff", "approvals", "list", "app"),
    ("diff", "approvals", "list", "app"),
    ("choice", "answer", "approvals", "list", "app"),
    ("trust", "answer", "approvals", "list", "app"),
    ("conversation", "list", "app"),
    ("tools", "list", "app"),
    ("pipeline", "list", "app"),
    ("step", "pipeline", "list", "app"),
    ("runs", "list", "app"),
    ("choice", "gate", "list", "app"),
    ("rail", "list", "app"),
    ("library", "list", "app"),
    ("statistics", "list", "app"),
    ("incidents", "list", "app"),
    *(
        ("beside", "replay", *inner, "list")
        for inner in (("diff", "approvals"), ("conversation",), ("tools",), ("step", "pipeline"))
    ),
    ("find",),
    ("queue",),
    *(
        ("replay", *inner, "list", "app")
        for inner in (
            ("diff", "approvals"),
            ("trust", "answer", "approvals"),
            ("conversation",),
            ("tools",),
            ("rail",),
            ("step", "pipeline"),
            ("runs",),
        )
    ),
    ("first", "list", "app"),
    ("demo", "list", "app"),
    ("composer",),
    ("dialog",),
    ("batch",),
    ("undo",),
    ("session-diff",),
    ("always",),
    ("rules",),
    ("launch",),
    ("new-pipeline",),
    ("compare",),
    ("times",),
    ("incident",),
    ("incident-start",),
    ("providers",),
    ("provider",),
    ("connections",),
    ("connection",),
)
CHAINS: Final = tuple((*chain, "agents") for chain in _CHAINS)
"""In each of these a key has one meaning, but for overrides that are declared."""
