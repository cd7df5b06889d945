"""`workbench doctor`: check the data folder, the journal, the configuration and the model servers."""

import asyncio
import os
import stat
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct, field, to_builtins

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, UsageError
from workbench.cli.hold import hold_json, hold_line
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import row_fields
from workbench.cli.run_output import ticking
from workbench.config.keys import URL, InvalidValue, convert_node
from workbench.config.model_names import default_model_of, split_default_model
from workbench.config.types import Config, LoadedConfig
from workbench.domain.values import Json
from workbench.effects.clock import SystemClock
from workbench.effects.file_locks import is_lock_held
from workbench.effects.files import workspace_path
from workbench.host.box_folders import folders_of_moved
from workbench.host.job_folders import orphaned_jobs
from workbench.host.lost_boxes import lost_boxes
from workbench.host.model_selection import UNNAMED_PROVIDER
from workbench.host.provider_keys import register_secrets
from workbench.host.provider_probe import (
    capability_text,
    failure_text,
    missing_model_problems,
    model_names,
    offered_models,
    with_result,
)
from workbench.host.session_provider import (
    EndpointUnavailable,
    has_server,
    provider_kind,
    server_provider,
    usable_providers,
)
from workbench.host.workspace_config import load_workspace_config
from workbench.journal import index_tables, maintenance
from workbench.journal.database import SCHEMA_VERSION
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.session_queries import weight_of_kind
from workbench.providers.base import ModelsNotListed, Provider
from workbench.text.human import countdown_text, counted, size_text
from workbench.text.json_nodes import node_of_value
from workbench.text.safe import one_line
from workbench.views.providers import OfferedModel, ProviderReport

EXAMPLE = """workbench doctor
workbench doctor --rebuild
workbench doctor --provider local --probe"""
_MOST_PROBLEMS_SHOWN = 20
"""Problems of one check that are listed for a person."""


class Check(Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    fact: str
    problems: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the JSON object has besides."""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--rebuild", action="store_true", help="rebuild the index tables from the events")
    parser.add_argument("--provider", metavar="NAME", help="check only this provider")
    parser.add_argument("--base-url", metavar="URL", help="check the server at URL")
    parser.add_argument("--key-env", metavar="NAME", help="the environment variable that holds its key")
    parser.add_argument("--model", metavar="NAME", help="the model to look for")
    parser.add_argument(
        "--probe", action="store_true", help="send the model two short prompts to see what it can do"
    )
    add_json_option(parser)


def execute(options: Namespace, console: Console) -> int:
    """Check everything; 1 when something is wrong."""
    require_consistent_options(options)
    with open_journal(human_only="rebuild the tables" if options.rebuild else "") as journal:
        home = journal.home
        if options.rebuild:
            maintenance.finish_deletions(journal)
            index_tables.rebuild_index_tables(journal)
            maintenance.compact_database(journal)
        checks = [check(journal) for check in JOURNAL_CHECKS]
        workspace = workspace_path(options.directory)
        loaded = load_workspace_config(journal, workspace)
    checks += [_check_settings(loaded), _check_grants(loaded), _check_limits(loaded.config)]
    checks.append(_check_connections(home, loaded.config, workspace))
    checks.append(_check_notices(home.path, loaded.config))
    checks += _check_model_servers(options, loaded.config, console)
    is_well = not any(check.problems for check in checks)
    if options.json:
        console.json({
            "ok": is_well,
            "home": str(home.path),
            "rebuilt": bool(options.rebuild),
            "checks": [
                {
                    "name": check.name, "ok": not check.problems, "fact": check.fact,
                    "problems": list(check.problems), **check.more,
                }
                for check in checks
            ],
        })  # fmt: skip
    else:
        _print_checks(checks, console, was_rebuilt=options.rebuild)
    return EXIT_OK if is_well else EXIT_FAILED


def _print_checks(checks: Iterable[Check], console: Console, *, was_rebuilt: bool) -> None:
    if was_rebuilt:
        console.say("The index tables were rebuilt from the events.")
    for check in checks:
        sign, word = (
            (console.signs.of("failed"), "wrong") if check.problems else (console.signs.of("ok"), "ok")
        )
        console.say(f"{sign} {word:<5}  {check.name}: {check.fact}")
        for problem in check.problems[:_MOST_PROBLEMS_SHOWN]:
            console.say(f"    {problem}")
        if len(check.problems) > _MOST_PROBLEMS_SHOWN:
            console.say(f"    … and {len(check.problems) - _MOST_PROBLEMS_SHOWN} more")


# --- the checks -----------------------------------------------------------------------------------


def _check_home(journal: Journal) -> Check:
    return Check(name="data folder", fact=str(journal.home.path))


def _check_permissions(journal: Journal) -> Check:
    home = journal.home
    places = [home.path, home.run, home.blobs, home.logs, home.database, home.path / "key"]
    problems = [problem for path in places if (problem := _permission_problem(path))]
    return Check(name="permissions", fact="folders 0700, files 0600", problems=tuple(problems))


def _permission_problem(path: Path) -> str | None:
    try:
        status = path.stat()
    except OSError as error:
        return f"{path}: {error.strerror}"
    if status.st_uid != os.geteuid():
        return f"{path} belongs to user {status.st_uid}"
    if stat.S_IMODE(status.st_mode) & 0o077:
        return f"{path} is open to others (mode {stat.S_IMODE(status.st_mode):o})"
    return None


def _count_events(journal: Journal) -> int:
    """Return how many events there are: positions of deleted ones are never used again."""
    with journal.snapshot() as database:
        return int(database.execute("SELECT count(*) FROM event").get)


def _check_database(journal: Journal) -> Check:
    return Check(
        name="database",
        fact=f"{_count_events(journal):,} events",
        problems=tuple(index_tables.database_problems(journal)),
    )


def _check_schema(journal: Journal) -> Check:
    with journal.snapshot() as database:
        version = database.execute("PRAGMA user_version").fetchall()[0][0]
    problems = (
        () if version == SCHEMA_VERSION else (f"it is {version}, this program writes {SCHEMA_VERSION}",)
    )
    return Check(name="schema", fact=f"version {version}", problems=problems)


def _check_tables(journal: Journal) -> Check:
    problems = tuple(index_tables.index_table_differences(journal))
    remedy = "; workbench doctor --rebuild rebuilds them" if problems else ""
    return Check(name="tables", fact=f"compared with the events{remedy}", problems=problems)


def _check_stored_bytes(journal: Journal) -> Check:
    with journal.snapshot() as database:
        rows = database.execute("SELECT DISTINCT ref FROM blob_ref").fetchall()
    states = {str(row[0]): journal.blobs.state(str(row[0])) for row in rows}
    released = maintenance.expired_blobs(
        journal, (ref for ref, state in states.items() if state == "missing")
    )
    problems = tuple(
        f"{ref} is {state}" for ref, state in states.items() if state != "whole" and ref not in released
    )
    kept_until = f", {len(released)} of ended sessions were let go" if released else ""
    return Check(name="stored bytes", fact=f"{len(rows)} in use{kept_until}", problems=problems)


def _check_supervised(journal: Journal) -> Check:
    """Return what the sessions of agents take that run their own calls."""
    with journal.snapshot() as database:
        weight = weight_of_kind(database, "supervised")
    stored = sum(journal.blobs.size(ref) for ref in weight.blobs)
    fact = (
        f"{weight.sessions:,} with {weight.events:,} events ({size_text(weight.event_bytes)}), "
        f"{weight.calls:,} calls, {weight.actions:,} questions, {len(weight.blobs):,} stored bytes "
        f"({size_text(stored)})"
    )
    more = row_fields(weight, "sessions events calls actions event_bytes")
    more["stored_bytes"] = stored
    return Check(name="supervised sessions", fact=fact if weight.sessions else "none", more=more)


def _check_processes(journal: Journal) -> Check:
    living = [host for host in journal.hosts() if is_lock_held(journal.home.driver_lock(host.id))]
    names = {"host": "background process", "run": "workbench run"}
    shown = [f"{names.get(host.driver, host.driver)} (pid {host.pid}) in {host.workspace}" for host in living]
    orphans = orphaned_jobs(journal.home, journal)
    facts = [*shown, *(f"a command of {orphan.session[:8]} that its driver left" for orphan in orphans)]
    more: dict[str, Json] = {"commands": [f"{orphan.session}/{orphan.mark}" for orphan in orphans]}
    return Check(name="processes", fact=", ".join(facts) or "none", more=more if orphans else {})


def _check_boxes(journal: Journal) -> Check:
    """Name the workspaces in which a command inside the sandbox was lost with its process."""
    lost = lost_boxes(str(journal.home.path))
    names = [os.fsencode(box.workspace).decode("utf-8", "replace") for box in lost]
    rows = [(name, round(box.days)) for name, box in zip(names, lost, strict=True)]
    shown = [f"in {one_line(name, 160)}, {counted(days, 'day')} ago" for name, days in rows]
    after = ". The next command inside looks at what it left there"
    fact = f"lost {'; '.join(shown[:_MOST_PROBLEMS_SHOWN])}{after}" if lost else "none was lost"
    moved = [one_line(folder, 400) for folder in folders_of_moved(str(journal.home.path))]
    if moved:
        more_moved = f" and {len(moved) - _MOST_PROBLEMS_SHOWN} more" * (len(moved) > _MOST_PROBLEMS_SHOWN)
        fact += (
            f". What was moved out of workspaces is in {', '.join(moved[:_MOST_PROBLEMS_SHOWN])}{more_moved}"
        )
    more: dict[str, Json] = {
        "lost": [{"workspace": name, "days": days} for name, days in rows],
        "moved": [*moved],
    }
    return Check(name="commands in the sandbox", fact=fact, more=more)


def _check_hold(journal: Journal) -> Check:
    fact = hold_line(journal) or "agents are not held"
    return Check(name="hold", fact=fact, more={"hold": hold_json(journal)})


def _check_sqlite(journal: Journal) -> Check:
    with journal.snapshot() as database:
        version = database.execute("SELECT sqlite_version()").fetchall()[0][0]
    return Check(name="SQLite", fact=str(version))


JOURNAL_CHECKS: tuple[Callable[[Journal], Check], ...] = (
    _check_home, _check_permissions, _check_database, _check_schema, _check_tables, _check_stored_bytes,
    _check_supervised, _check_processes, _check_boxes, _check_hold, _check_sqlite,
)  # fmt: skip
"""In the order in which they are told."""


def require_consistent_options(options: Namespace) -> None:
    """Refuse options that do not go together."""
    if options.base_url is None:
        return
    try:
        convert_node(node_of_value(options.base_url), URL)
    except InvalidValue as unfit:
        raise UsageError(
            "nothing was looked at", f"--base-url must be {unfit.expected}", "correct it"
        ) from None


def _check_settings(loaded: LoadedConfig) -> Check:
    fact = "workbench config validate" if loaded.problems else "nothing is wrong in any configuration file"
    return Check(name="settings", fact=fact, problems=tuple(map(str, loaded.problems)))


def _check_grants(loaded: LoadedConfig) -> Check:
    """Check the patterns that allow calls: too wide is no fault, and is said."""
    from workbench.host import driver_context
    from workbench.tools.registry import tool_registry

    wide = driver_context.wide_allow_pattern_notes(loaded, tool_registry().descriptors())
    count = len(loaded.config.approvals.allow)
    fact = f"{count} pattern{'' if count == 1 else 's'} in approvals.allow"
    return Check(name="grants", fact="; ".join((fact, *wide)), more={"notes": list(wide)})


def _check_notices(home: Path, config: Config) -> Check:
    """Return which command carries notices, and what it names that is not there."""
    from workbench.policy.hooks import UnresolvedHookPath, resolved_hook_command
    from workbench.secrets.scrubber import scrub

    command = config.notify.command
    if command is None:
        return Check(name="notices", fact="no notify.command is set")
    try:
        resolved_hook_command(command, str(home))
        problems: tuple[str, ...] = ()
    except UnresolvedHookPath as error:
        problems = (f"notify.command: {error}",)
    shown = one_line(scrub(command).text, 120)
    return Check(name="notices", fact=f"{shown} (workbench notify test tries it)", problems=problems)


def _check_limits(config: Config) -> Check:
    """Return what limits of tokens and cost are set, and which models the limits of cost cannot count."""
    from workbench.config.model_prices import PRICES_DATE, PriceList

    tokens, cost = to_builtins(config.limits.tokens), to_builtins(config.limits.cost)
    facts = [f"limits.tokens.{scope} {limit:,}" for scope, limit in tokens.items() if limit]
    facts += [f"limits.cost.{scope} ${limit:,.2f}" for scope, limit in cost.items() if limit]
    prices = PriceList.of(config)
    named = {
        (name, model)
        for name, provider in config.providers.items()
        if (model := provider.model or default_model_of(config, name))
    }
    unpriced = sorted(f"{name} {model}" for name, model in named if prices.price(name, model) is None)
    if any(cost.values()) and unpriced:
        facts.append(f"not counted as cost, their price is not known: {one_line(', '.join(unpriced), 200)}")
    fact = "; ".join(facts) or "none of tokens or cost is set"
    more = {"tokens": tokens, "cost": cost, "unpriced": unpriced, "prices_date": PRICES_DATE}
    return Check(name="limits", fact=fact, more=more)


def _check_connections(home: Home, config: Config, workspace: str) -> Check:
    """Check the hooks in the settings of other agents: whether they still lead here, and for how long."""
    from workbench.config.windows import longest_window_minutes
    from workbench.host.found_agents import find_agents

    agents = find_agents(home, longest_window_minutes(config.approvals), workspace)
    connected = [(found, one) for found in agents for one in found.connections]
    problems = [
        f"{found.agent.name}, {one.path}: {text}" for found, one in connected for text in one.problems
    ]
    problems += [
        f"{found.agent.name}: {text}" for found in agents if found.connections for text in found.obstacles
    ]
    names = ", ".join(f"{found.agent.name} in {one.path}" for found, one in connected)
    more = {"connected": [{"agent": found.agent.id, "file": one.path} for found, one in connected]}
    return Check(name="connected agents", fact=names or "none", problems=tuple(problems), more=more)


def _check_model_servers(options: Namespace, config: Config, console: Console) -> list[Check]:
    """Return a check for each provider that can be asked, or for the one that is named."""
    register_secrets(config)
    names = _provider_names(options, config)
    if not names:
        fact = "none is set up; workbench providers list shows what can be added"
        return [Check(name="providers", fact=fact)]
    return [asyncio.run(_check_provider(options, config, name, console)) for name in names]


def _provider_names(options: Namespace, config: Config) -> tuple[str, ...]:
    if options.provider is not None:
        return (options.provider,)
    return (UNNAMED_PROVIDER,) if options.base_url is not None else usable_providers(config)


async def _check_provider(options: Namespace, config: Config, name: str, console: Console) -> Check:
    title = f"provider {one_line(name, 40)}"
    if not has_server(name, config):
        known = ", ".join(usable_providers(config)) or "none"
        why = (
            f"It is of the kind {provider_kind(name, config)}."
            if name in config.providers
            else "No such provider is set up."
        )
        return Check(name=title, fact="not looked at", problems=(f"{why} What can be asked: {known}.",))
    chosen: dict[str, Json] = {"base_url": options.base_url, "key_env": options.key_env}
    try:
        provider = server_provider(config, name, chosen)
    except EndpointUnavailable as error:
        return Check(name=title, fact="has no address", problems=(str(error),))
    return await _check_server(title, provider, config, options, console)


@asynccontextmanager
async def _counting(console: Console, words: str) -> AsyncGenerator[None]:
    """Show on a terminal what is awaited, and for how long."""
    clock = SystemClock()
    began = clock.monotonic()

    def tick() -> None:
        passed = countdown_text(int(clock.monotonic() - began))
        console.status(f"{console.signs.of('running')} {words}  {passed}  ctrl+c stops")

    try:
        async with ticking(tick, is_on=console.has_status):
            yield
    finally:
        console.clear_status()


async def _check_server(
    title: str, provider: Provider, config: Config, options: Namespace, console: Console
) -> Check:
    seconds = float(config.api_timeout_seconds)
    address = provider.endpoint.base_url if provider.endpoint else provider.name
    try:
        async with _counting(console, f"{title}: asking for its models"):
            models = offered_models(await provider.list_models(seconds))
    except ModelsNotListed as error:
        return Check(name=title, fact=address, problems=(failure_text(error.failure),))
    more: dict[str, object] = {
        "base_url": address,
        "models": [{"id": model.id, "context": model.context} for model in models],
    }
    report = ProviderReport(provider=provider.name, base_url=address, models=models)
    problems = list(missing_model_problems(report, options.model))
    facts = [f"{address}, {model_names(models)}"]
    if options.probe and not problems:
        model = _model_to_probe(config, provider.name, models, options)
        if model is None:
            problems.append("No model is named, and there is not exactly one. Name one with --model.")
        else:
            async with _counting(console, f"{title}: asking {one_line(model, 40)} two short prompts"):
                probed = await provider.probe(model, seconds)
            report = with_result(report, model, probed)
            facts.append(capability_text(report))
            problems += report.problems
            more["probe"] = probe_json(report)
    return Check(name=title, fact="; ".join(facts), problems=tuple(problems), more=more)


def _model_to_probe(
    config: Config, name: str, models: tuple[OfferedModel, ...], options: Namespace
) -> str | None:
    provider = config.providers.get(name)
    named, default = split_default_model(config)
    default = default if (named or config.default_provider or name) == name else None
    only = models[0].id if len(models) == 1 else None
    return options.model or (provider.model if provider else None) or only or default or None


def probe_json(report: ProviderReport) -> "dict[str, Json]":
    """Return what the model of a report can do as JSON."""
    return row_fields(report, "model answers streams calls_tools counts_tokens thinks context")
