"""`workbench config migrate`: bring a configuration file to the form of this version, and keep a copy.

Owns the only write to a configuration file. A file that cannot be read as JSON is left as it is.
"""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import cast

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Refusal
from workbench.cli.place import opened, workspace_of
from workbench.config.layers import USER_FILE, WORKSPACE_FILE
from workbench.config.migrating import migrated
from workbench.config.sources import Unreadable, read_file
from workbench.domain.values import JsonObject
from workbench.effects.files import FileRefused, read_bounded, write_atomic
from workbench.host.ancestry import refuse_inside_agents

EXAMPLE = """workbench config migrate --dry-run
workbench config migrate --workspace"""

_SUFFIX = ".before-migration"


def configure(parser: ArgumentParser) -> None:
    """Add which file and whether it is written."""
    parser.add_argument("--workspace", action="store_true", help=f"{WORKSPACE_FILE} of this workspace")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be changed")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Migrate the file."""
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "change the configuration")
        path = (
            Path(workspace_of(options.directory)) / WORKSPACE_FILE
            if options.workspace
            else home.path / USER_FILE
        )
    changes = _migrate(path, may_be_link=not options.workspace, is_dry=options.dry_run)
    is_written = bool(changes) and not options.dry_run
    if options.json:
        console.json({"file": str(path), "changes": list(changes), "written": is_written})
        return DONE
    for change in changes:
        console.say(change)
    console.say(_last_line(path, changes, is_written))
    return DONE


def _migrate(path: Path, *, may_be_link: bool, is_dry: bool) -> tuple[str, ...]:
    what = f"{path} was not migrated"
    try:
        root = read_file(path, may_be_link=may_be_link)
        if root is None:
            return ()
        found = migrated(cast("JsonObject", root.value))
        if found.changes and not is_dry:
            _write(path, json.dumps(found.content, ensure_ascii=False, indent=2) + "\n")
    except Unreadable as error:
        place = f" (line {error.line})" if error.line else ""
        raise Refusal(what, f"{error.reason.rstrip('.')}{place}", error.remedy) from None
    except FileRefused as error:
        raise Refusal(what, error.why, error.remedy) from None
    return found.changes


def _write(path: Path, text: str) -> None:
    """Write the new file, the old one beside it first; a link stays one and its target is written."""
    real = path.resolve()
    mode = real.stat().st_mode & 0o777
    write_atomic(real.with_name(real.name + _SUFFIX), read_bounded(real) or b"", mode)
    write_atomic(real, text.encode(), mode)


def _last_line(path: Path, changes: tuple[str, ...], is_written: bool) -> str:
    if not changes:
        return f"{path} needs no change." if path.exists() else f"There is no {path}."
    return (
        f"{path} was written; the old one is {path.name}{_SUFFIX}." if is_written else "Nothing was written."
    )
