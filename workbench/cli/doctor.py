"""`workbench doctor`: look at the data folder and prove the journal, or make its tables anew.

Owns the list of checks. It changes nothing unless `--rebuild` asks for the index tables to be made anew
from the events; events are never changed.
"""

import os
import stat
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED
from workbench.cli.place import opened
from workbench.effects.locks import is_held
from workbench.host.ancestry import refuse_inside_agents
from workbench.journal.delete import compact, finish_deletes
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.rebuild import differences, integrity, rebuild
from workbench.journal.retention import may_be_gone
from workbench.journal.schema import SCHEMA_VERSION

EXAMPLE = """workbench doctor
workbench doctor --rebuild
workbench doctor --provider local --probe"""

_MOST = 20
"""Problems of one check that are listed for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    fact: str
    problems: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the JSON object has besides."""


def configure(parser: ArgumentParser) -> None:
    """Add what it may do and how it prints."""
    parser.add_argument("--rebuild", action="store_true", help="make the index tables anew from the events")
    parser.add_argument("--provider", metavar="NAME", help="look at this provider only")
    parser.add_argument("--base-url", metavar="URL", help="look at the server there")
    parser.add_argument("--key-env", metavar="NAME", help="the environment variable that holds its key")
    parser.add_argument("--model", metavar="NAME", help="the model to look for")
    parser.add_argument(
        "--probe", action="store_true", help="ask the model two short questions: what can it do?"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Check everything; 1 when something is wrong."""
    from workbench.cli.doctor_models import check_words, configuration, models

    check_words(options)
    with opened() as (home, journal):
        if options.rebuild:
            refuse_inside_agents(journal, home, "rebuild the tables")
            finish_deletes(journal)
            rebuild(journal)
            compact(journal)
        checks = [check(home, journal) for check in CHECKS]
        checks.append(configuration(options, home, journal))
        checks += models(options, home, journal)
    is_well = not any(check.problems for check in checks)
    if options.json:
        console.json({
            "ok": is_well,
            "home": str(home.path),
            "rebuilt": bool(options.rebuild),
            "checks": [
                {
                    "name": one.name, "ok": not one.problems, "fact": one.fact,
                    "problems": list(one.problems), **one.more,
                }
                for one in checks
            ],
        })  # fmt: skip
    else:
        _tell(checks, console, was_rebuilt=options.rebuild)
    return DONE if is_well else FAILED


def _tell(checks: Iterable[Check], console: Console, *, was_rebuilt: bool) -> None:
    if was_rebuilt:
        console.say("The index tables were made anew from the events.")
    for check in checks:
        sign, word = (
            (console.signs.of("failed"), "wrong") if check.problems else (console.signs.of("ok"), "ok")
        )
        console.say(f"{sign} {word:<5}  {check.name}: {check.fact}")
        for problem in check.problems[:_MOST]:
            console.say(f"    {problem}")
        if len(check.problems) > _MOST:
            console.say(f"    … and {len(check.problems) - _MOST} more")


# --- the checks -----------------------------------------------------------------------------------


def _home(home: Home, journal: Journal) -> Check:
    del journal
    return Check(name="data folder", fact=str(home.path))


def _permissions(home: Home, journal: Journal) -> Check:
    del journal
    places = [home.path, home.run, home.blobs, home.logs, home.database, home.path / "key"]
    problems = [problem for path in places if (problem := _open_to_others(path))]
    return Check(name="permissions", fact="folders 0700, files 0600", problems=tuple(problems))


def _open_to_others(path: Path) -> str | None:
    try:
        found = path.stat()
    except OSError as error:
        return f"{path}: {error.strerror}"
    if found.st_uid != os.geteuid():
        return f"{path} belongs to user {found.st_uid}"
    if stat.S_IMODE(found.st_mode) & 0o077:
        return f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):o})"
    return None


def _database(home: Home, journal: Journal) -> Check:
    del home
    return Check(
        name="database", fact=f"{journal.last_position()} events", problems=tuple(integrity(journal))
    )


def _schema(home: Home, journal: Journal) -> Check:
    del home
    with journal.reader.snapshot() as database:
        found = database.execute("PRAGMA user_version").fetchall()[0][0]
    problems = () if found == SCHEMA_VERSION else (f"it is {found}, this program writes {SCHEMA_VERSION}",)
    return Check(name="schema", fact=f"version {found}", problems=problems)


def _tables(home: Home, journal: Journal) -> Check:
    del home
    problems = tuple(differences(journal))
    remedy = "; workbench doctor --rebuild makes them anew" if problems else ""
    return Check(name="tables", fact=f"compared with the events{remedy}", problems=problems)


def _stored_bytes(home: Home, journal: Journal) -> Check:
    del home
    with journal.reader.snapshot() as database:
        rows = database.execute("SELECT DISTINCT ref FROM blob_ref").fetchall()
    states = {str(row[0]): journal.blobs.state(str(row[0])) for row in rows}
    let_go = may_be_gone(journal, (ref for ref, state in states.items() if state == "missing"))
    problems = tuple(
        f"{ref} is {state}" for ref, state in states.items() if state != "whole" and ref not in let_go
    )
    kept_until = f", {len(let_go)} of ended sessions were let go" if let_go else ""
    return Check(name="stored bytes", fact=f"{len(rows)} are referred to{kept_until}", problems=problems)


def _drivers(home: Home, journal: Journal) -> Check:
    living = [host for host in journal.hosts() if is_held(home.driver_lock(host.id))]
    shown = [f"{host.driver} pid {host.pid} in {host.workspace}" for host in living]
    return Check(name="drivers", fact=", ".join(shown) or "none lives")


def _sqlite(home: Home, journal: Journal) -> Check:
    del home
    with journal.reader.snapshot() as database:
        version = database.execute("SELECT sqlite_version()").fetchall()[0][0]
    return Check(name="SQLite", fact=str(version))


CHECKS: tuple[Callable[[Home, Journal], Check], ...] = (
    _home, _permissions, _database, _schema, _tables, _stored_bytes, _drivers, _sqlite,
)  # fmt: skip
"""In the order in which they are told."""
