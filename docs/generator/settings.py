"""The page of settings, from the table of settings."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from docs.generator.tables import GENERATED, code, prose, sentence, table
from workbench.config.describe import plain_json
from workbench.config.keys import (
    LARGEST_INTEGER,
    PROVIDER_KINDS,
    SHORT_TEXT,
    ConfigKey,
    kind_parts,
    kind_words,
    record_fields,
)
from workbench.config.layer_reader import variable_name
from workbench.config.layers import ONLY_OF_USER
from workbench.config.types import (
    CONFIG_KEYS,
    PROVIDER_KEYS,
    ApprovalWindow,
    AutoApprovalRule,
    TokenPrices,
    ToolHook,
)

_HEAD = f"""# Settings

{GENERATED}

Every setting: what it may be, its default, and who may set it. `workbench config show` prints each value that
counts and where it comes from; `workbench config schema` prints the JSON Schema, for your editor.

## Where settings come from

A later place replaces an earlier one. Lists with “adds” are joined instead.

| place | what it is |
|---|---|
| the program | the defaults below |
| `config.json` in the data folder | your own; `workbench doctor` prints that folder |
| `.workbench.json` in a folder | the workspace's own; see the column “workspace” |
| the environment | `WORKBENCH_` and the name in capitals, with `_` for each dot: {code(variable_name("approvals.window_minutes"))} |
| options | of the command that is typed |

The column “workspace” says what `.workbench.json` may do:

- **yours only**: no workspace sets it, trusted or not.
- **trusted**: it counts once you trust the folder.
- **stricter**: an untrusted folder may set it where that allows less; a trusted one may set any value.
- **adds**: each place adds to the list, and none takes away.
"""
_UNITS = {
    "minutes": "minutes", "seconds": "seconds", "bytes": "bytes", "days": "days", "percent": "percent",
    "tokens": "tokens", "lines": "lines",
}  # fmt: skip
_UNBOUNDED = re.compile(rf" from (\d+) to {LARGEST_INTEGER}")
_RECORDS: Mapping[str, type[Any]] = {
    "A window of `approvals.windows`": ApprovalWindow,
    "A rule of `auto_approval_rules`": AutoApprovalRule,
    "A hook of `hooks.PreToolUse` and `hooks.PostToolUse`": ToolHook,
    "Prices of `prices` and of a provider": TokenPrices,
}


def settings_page() -> str:
    """Return the whole page."""
    lines = [_HEAD]
    whole = [key for key in CONFIG_KEYS if "." not in key.path]
    lines += ["## General", "", *_key_table(whole)]
    inner = [key for key in CONFIG_KEYS if "." in key.path]
    for section, keys in groupby(inner, key=lambda key: key.path.rpartition(".")[0]):
        lines += [f"## {section}", "", *_key_table(keys)]
    lines += ["## providers", "", *_providers()]
    for title, record in _RECORDS.items():
        lines += [f"### {title}", "", *_record_table(record)]
    return "\n".join(lines).rstrip() + "\n"


def _key_table(keys: Iterable[ConfigKey]) -> Iterator[str]:
    rows = [(code(key.path), _default(key), _who(key), _meaning(key)) for key in keys]
    yield from table(("setting", "default", "workspace", "meaning"), rows)


def _providers() -> Iterator[str]:
    yield "Each member of `providers` is a provider, by a name of yours; its members stand below that name."
    yield "A workspace replaces a provider as a whole, and only once it is trusted."
    yield ""
    rows = [(code(f"providers.NAME.{key.path}"), _meaning(key)) for key in PROVIDER_KEYS]
    yield from table(("setting", "meaning"), rows)
    yield from table(
        ("kind", "address where none is set"),
        (
            (
                code(kind.name),
                code(kind.default_base_url) if kind.default_base_url else _no_address(kind.has_server),
            )
            for kind in PROVIDER_KINDS.values()
        ),
    )


def _no_address(has_server: bool) -> str:
    return "none: `base_url` has to be set" if has_server else "it plays a recording and asks no server"


def _record_table(record: type[Any]) -> Iterator[str]:
    rows = [
        (
            code(name),
            "yes" if is_required else "no",
            f"{sentence(prose(kind_parts(kind)[1]['description']))} {_phrase(kind)}".strip(),
        )
        for name, (kind, is_required) in record_fields(record).items()
    ]
    yield from table(("member", "required", "meaning"), rows)


def _value(kind: Any) -> str:
    return prose(_UNBOUNDED.sub(r", at least \1", kind_words(kind)))


def _default(key: ConfigKey) -> str:
    if key.default is None:
        return "unset"
    return code(json.dumps(plain_json(key.default), ensure_ascii=False))


def _who(key: ConfigKey) -> str:
    if key.path in ONLY_OF_USER:
        return "yours only"
    if key.is_united:
        return "adds" if key.narrows else "trusted, adds"
    return "stricter" if key.narrows else "trusted"


def _meaning(key: ConfigKey) -> str:
    unit = _UNITS.get(key.path.rpartition("_")[2], "")
    text = sentence(prose(key.meaning))
    in_unit = f"In {unit}." if unit and unit not in text.lower() else ""
    return " ".join(filter(None, (text, in_unit, _phrase(key.kind))))


def _phrase(kind: Any) -> str:
    """Return what a value may be, unless it is any text."""
    value = _value(kind)
    return "" if value == SHORT_TEXT else f"Value: {value}."
