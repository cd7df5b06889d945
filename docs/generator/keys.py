"""The page of keys, from the tables that the screen itself reads."""

from collections.abc import Iterator, Sequence
from typing import Any

from docs.generator.tables import GENERATED, code, prose, sentence, table
from workbench.tui.keyboard.keymap import Key, printed_key
from workbench.tui.keyboard.table import all_rows

_HEAD = f"""# Keys

{GENERATED}

Every key by the place in which it counts. `?` shows the keys of the place that has the focus, and `ctrl+p`
finds a command by its name.

A letter that decides something is pressed twice, and only a row that was on the screen for half a second is
decided; such keys say “Pressed twice”. `approvals.single_press` lets one press decide edits that can be undone.

A gate's own letter (`key: b` in its file) answers it, pressed twice, where the letter has no other meaning
and begins no doubled word such as “ssh”; the row shows the key that works for each answer.

The setting `ui.keymap` gives an action other keys, by its id:

```json
{{"ui": {{"keymap": {{"approvals.approve": "Y", "list.row-down": "ctrl+j, down"}}}}}}
```
"""
SCOPES = {
    "app": "Everywhere", "agents": "All agents", "list": "In every list", "composer": "Composer",
    "approvals": "Place 2: approvals", "lines": "Choosing lines of a diff", "diff": "A diff in full",
    "answer": "Answering a question", "trust": "Answering about trust", "batch": "Answering many at once",
    "conversation": "Place 1: conversation", "queue": "Queued messages", "undo": "Undoing changes",
    "tools": "Place 3: tools", "pipeline": "Place 4: pipeline", "runs": "Runs of all sessions",
    "step": "A step in full", "gate": "A gate next to its graph", "launch": "Starting a pipeline", "new-pipeline": "Making a pipeline",
    "compare": "Comparing two runs", "times": "Times of a run", "rail": "Place 0: sessions",
    "library": "Place 5: library", "find": "Finding sessions", "session-diff": "All changes of a session",
    "rules": "Place 6: rules", "always": "Making a rule", "statistics": "Place 7: statistics",
    "incidents": "Place 8: findings", "incident": "A finding in full", "incident-start": "Having findings fixed",
    "providers": "Place 9: providers", "provider": "The form of a provider", "connections": "Agents to connect",
    "connection": "What connecting changes", "replay": "Replay", "beside": "Two sessions side by side",
    "first": "The first screen", "demo": "The demo", "dialog": "Dialogs",
}  # fmt: skip
"""The title of each scope, in the order of the page."""
_OF_GATES = "choice"
"""The scope of letters that files give to answers; its rows are one sentence of the page."""


def keys_page() -> str:
    """Return the whole page. Raises KeyError for a scope without a title."""
    rows: dict[str, list[Key[Any]]] = {scope: [] for scope in SCOPES}
    for row in all_rows():
        if row.scope != _OF_GATES:
            rows[row.scope].append(row)
    lines = [_HEAD]
    for scope, title in SCOPES.items():
        lines += [f"## {title}", "", *_scope_table(rows[scope])]
    return "\n".join(lines).rstrip() + "\n"


def _scope_table(rows: Sequence[Key[Any]]) -> Iterator[str]:
    yield from table(
        ("keys", "what it does", "id"), ((_keys(row), _meaning(row), code(row.id)) for row in rows)
    )


def _keys(row: Key[Any]) -> str:
    return " ".join(code(printed_key(key)) for key in row.keys)


def _meaning(row: Key[Any]) -> str:
    text = row.tooltip if row.tooltip != "this page" else "show the keys of this place"
    is_twice = row.decides and len(row.keys[0]) == 1
    return sentence(prose(text)) + (" Pressed twice." if is_twice else "")
