"""`workbench config migrate`: write a configuration of an earlier version as this one reads it.

A copy of the old file is kept.
"""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.errors import Refusal
from workbench.config.layers import USER_CONFIG_FILE
from workbench.domain.values import WORKSPACE_CONFIG_FILE, JsonObject

if TYPE_CHECKING:
    from workbench.cli.row_json import JsonFields


MIGRATE_EXAMPLE = """workbench config migrate --dry-run
workbench config migrate --workspace"""
_BACKUP_SUFFIX = ".before-migration"


def configure_migrate(parser: ArgumentParser) -> None:
    parser.add_argument("--workspace", action="store_true", help=f"{WORKSPACE_CONFIG_FILE} of this workspace")
    parser.add_argument("--dry-run", action="store_true", help="only print what would change")
    add_json_option(parser)


def execute_migrate(options: Namespace, console: Console) -> int:
    from workbench.cli.journal_access import open_journal
    from workbench.effects.files import workspace_path

    with open_journal(human_only="change the configuration") as journal:
        path = (
            Path(workspace_path(options.directory)) / WORKSPACE_CONFIG_FILE
            if options.workspace
            else journal.home.path / USER_CONFIG_FILE
        )
    changes = _migrate_file(path, may_be_link=not options.workspace, is_dry=options.dry_run)
    is_written = bool(changes) and not options.dry_run
    facts: JsonFields = {"file": str(path), "changes": list(changes), "written": is_written}
    lines = [*changes, _closing_line(path, changes, is_written)]
    return console.result(facts, lines, is_json=options.json)


def _migrate_file(path: Path, *, may_be_link: bool, is_dry: bool) -> tuple[str, ...]:
    from workbench.config.config_file import UnreadableFile, read_config_file
    from workbench.config.migration import migrate_content
    from workbench.effects.file_primitives import FileRefused

    what = f"{path} was not migrated"
    try:
        root = read_config_file(path, may_be_link=may_be_link)
        if root is None:
            return ()
        migrated = migrate_content(cast("JsonObject", root.value))
        if migrated.changes and not is_dry:
            _write_with_backup(path, json.dumps(migrated.content, ensure_ascii=False, indent=2) + "\n")
    except UnreadableFile as error:
        place = f" (line {error.line})" if error.line else ""
        raise Refusal(what, f"{error.reason.rstrip('.')}{place}", error.remedy) from None
    except FileRefused as error:
        raise Refusal(what, error.why, error.remedy) from None
    return migrated.changes


def _write_with_backup(path: Path, text: str) -> None:
    from workbench.effects.path_files import read_bounded, write_atomic

    real = path.resolve()
    mode = real.stat().st_mode & 0o777
    write_atomic(real.with_name(real.name + _BACKUP_SUFFIX), read_bounded(real) or b"", mode)
    write_atomic(real, text.encode(), mode)


def _closing_line(path: Path, changes: tuple[str, ...], is_written: bool) -> str:
    if not changes:
        return f"{path} needs no change." if path.exists() else f"There is no {path}."
    return (
        f"{path} was written; the old one is {path.name}{_BACKUP_SUFFIX}."
        if is_written
        else "Nothing was written."
    )
