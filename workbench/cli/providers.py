"""`workbench providers add, list, test, remove`: the providers of config.json, without an editor."""

import os
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.cli.arguments import add_json_option, add_yes_option, confirm
from workbench.cli.console import Console
from workbench.cli.context import session_label
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.config.keys import OPENAI_COMPATIBLE, PROVIDER_KINDS
from workbench.config.layers import USER_CONFIG_FILE
from workbench.config.provider_edit import ProviderDraft, ProviderRefused
from workbench.config.types import Config, LoadedConfig, ProviderSettings
from workbench.domain.rows import Session
from workbench.effects.files import workspace_path
from workbench.host.host_locks import live_host
from workbench.host.host_status import missing_key_variables, missing_keys_sentence
from workbench.host.provider_config import (
    config_with,
    provider_rows,
    put_provider,
    remove_provider,
    require_editable_config,
)
from workbench.host.session_requests import sessions_naming
from workbench.host.workspace_config import load_workspace_config
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.safe import one_line
from workbench.views.providers import FoundModel, ProviderReport, ProviderRow

if TYPE_CHECKING:
    from workbench.cli.row_json import JsonFields
    from workbench.host.model_selection import AvailableModels

_SERVER_KINDS: Final = tuple(kind.name for kind in PROVIDER_KINDS.values() if kind.has_server)
_MOST_MODELS_SHOWN: Final = 12
_MOST_SESSIONS_SHOWN: Final = 8
_LABEL_CELLS: Final = 7

ADD_EXAMPLE = """workbench providers add local --base-url http://127.0.0.1:8080/v1 --default
workbench providers add ollama --kind ollama --model qwen3-coder:30b
workbench providers add hosted --base-url https://HOST/v1 --model NAME --key-env MODELS_API_KEY
workbench providers add company --base-url https://HOST/v1 --model NAME --key-command 'pass show models'"""


def configure_add(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="what to call it, such as local")
    parser.add_argument(
        "--kind", choices=_SERVER_KINDS, default=OPENAI_COMPATIBLE.name,
        help=f"how it is spoken to (default: {OPENAI_COMPATIBLE.name})",
    )  # fmt: skip
    parser.add_argument("--base-url", metavar="URL", help="its address; ollama has a usual one")
    parser.add_argument("--model", metavar="MODEL", help="the model to ask when none is named")
    key = parser.add_mutually_exclusive_group()
    key.add_argument("--key-env", metavar="VAR", help="the NAME of the variable that holds the key")
    key.add_argument("--key-command", metavar="CMD", help="a shell command that prints the key")
    parser.add_argument("--default", action="store_true", help="new sessions ask it")
    parser.add_argument("--replace", action="store_true", help="replace a provider of that name")
    parser.add_argument("--no-test", action="store_true", help="write it without asking the server first")
    add_json_option(parser)


def execute_add(options: Namespace, console: Console) -> int:
    """Test it and write it; 1 where the test fails, and nothing is written then."""
    draft = ProviderDraft(
        name=options.name, kind=options.kind, base_url=options.base_url, model=options.model,
        key_env=options.key_env, key_command=options.key_command,
    )  # fmt: skip
    with open_journal(human_only="add a provider") as journal:
        workspace = workspace_path(options.directory)
        home = journal.home
        report = _tested(draft, load_workspace_config(journal, workspace), home, options, console)
        line = put_provider(home, draft, is_default=options.default, may_replace=options.replace)
        loaded = load_workspace_config(journal, workspace)
        notes = list(_notes_after_add(journal, workspace, loaded, draft))
    console.note_lines(notes)
    console.note_lines(map(str, loaded.problems))
    facts: JsonFields = {
        "name": draft.name, **draft.members, "file": str(home.path / USER_CONFIG_FILE),
        "is_default": options.default, "test": report_json(report) if report else None, "notes": list(notes),
    }  # fmt: skip
    lines = [line, *([_well_line(report)] if report else [])]
    return console.result(facts, lines, is_json=options.json)


def _tested(
    draft: ProviderDraft, loaded: LoadedConfig, home: Home, options: Namespace, console: Console
) -> ProviderReport | None:
    """Check a draft and ask its server, unless that is not wanted; nothing is written yet."""
    try:
        config = config_with(loaded.config, draft, str(home.path / USER_CONFIG_FILE))
    except ProviderRefused as error:
        raise UsageError(
            "no provider was added", error.why, error.remedy or "see workbench providers add --help"
        ) from None
    existing = loaded.config.providers.get(draft.name)
    if existing is not None and existing.origin.layer == "user" and not options.replace:
        _require_same(draft, existing)
    if options.no_test:
        return None
    require_editable_config(home)
    report = probe(config, draft.name, draft.model, console)
    if report.problems:
        remedy = "fix that, or write it as it is with --no-test"
        raise Refusal(
            f"the provider {draft.name} was not added", f"the test failed: {report.problems[0]}", remedy
        )
    return report


def _require_same(draft: ProviderDraft, existing: ProviderSettings) -> None:
    """Refuse before anything is asked where another provider has the name."""
    address = draft.base_url or PROVIDER_KINDS[draft.kind].default_base_url
    settings = (draft.kind, address, draft.model, draft.key_env, draft.key_command)
    if (existing.kind, existing.base_url, existing.model, existing.key_env, existing.key_command) != settings:
        why = f"there is a provider {draft.name} already, with other settings"
        raise Refusal("no provider was added", why, "choose another name, or add --replace")


def _notes_after_add(
    journal: Journal, workspace: str, loaded: LoadedConfig, draft: ProviderDraft
) -> Iterator[str]:
    provider = loaded.config.providers.get(draft.name)
    if provider is None or provider.origin.layer != "user":
        yield f"{draft.name} is set elsewhere too, and that counts here: workbench providers list."
    if draft.key_env and not os.environ.get(draft.key_env, "").strip():
        yield f"{draft.key_env} is not set in this shell."
    yield from background_notes(journal, workspace, loaded, draft.name)


def background_notes(journal: Journal, workspace: str, loaded: LoadedConfig, name: str) -> Iterator[str]:
    """Say that the background process of a folder lacks the key of a provider which this shell has."""
    provider, host = loaded.config.providers.get(name), live_host(journal.home, journal, workspace)
    missing = missing_key_variables(host, loaded.config, os.environ) if host else ()
    if provider is not None and provider.key_env is not None and provider.key_env in missing:
        yield f"{missing_keys_sentence([provider.key_env])} workbench host restart starts one that has it."


LIST_EXAMPLE = """workbench providers list
workbench providers list --offline --json"""


def configure_list(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--offline", action="store_true", help="ask no server for its models and look for no local ones"
    )
    add_json_option(parser)


def execute_list(options: Namespace, console: Console) -> int:
    from workbench.host.model_discovery import find_keys, find_models, without_known
    from workbench.host.model_selection import AvailableModels, available_models
    from workbench.host.provider_keys import register_secrets

    with open_journal() as journal:
        workspace = workspace_path(options.directory)
        loaded = load_workspace_config(journal, workspace)
        rows = provider_rows(loaded, live_host(journal.home, journal, workspace))
        file = str(journal.home.path / USER_CONFIG_FILE)
    register_secrets(loaded.config)
    if not options.offline and (count := sum(row.has_server for row in rows)):
        console.note(f"Asking {count} {'server' if count == 1 else 'servers'} for models, up to 5 s.")
    models = AvailableModels(models=()) if options.offline else available_models(loaded.config, None)
    discovered = without_known(find_keys(), loaded.config) if options.offline else find_models(loaded.config)
    console.note_lines(map(str, loaded.problems))
    facts: JsonFields = {
        "providers": [_row_json(row, models) for row in rows],
        "found": [{**found_json(model), "add": add_command(model)} for model in discovered],
        "file": file,
    }
    lines = [*_row_lines(rows, models), *_found_lines(discovered)]
    return console.result(facts, lines, is_json=options.json)


def _row_json(row: ProviderRow, available: "AvailableModels") -> "JsonFields":
    return {
        "name": row.name, "kind": row.kind, "base_url": row.base_url or None, "model": row.model or None,
        "models": [model.model for model in available.models if model.provider == row.name],
        "models_unknown": available.silent.get(row.name), "key": row.key,
        "key_env": row.key_name if row.key == "variable" else None,
        "is_key_here": row.is_key_here, "is_key_in_background": row.is_key_in_background,
        "is_default": row.is_default, "file": row.file,
    }  # fmt: skip


def found_json(model: FoundModel) -> "JsonFields":
    """Return what was found as JSON."""
    return {
        "name": model.provider, "kind": model.kind, "base_url": model.base_url, "model": model.model,
        "models": list(model.models), "key_env": model.key_env, "source": model.source,
    }  # fmt: skip


def _row_lines(rows: Sequence[ProviderRow], available: "AvailableModels") -> Iterator[str]:
    if not rows:
        yield "No provider is set up."
    for row in rows:
        yield f"{row.name}{' (default)' if row.is_default else ''}  {row.kind}  {row.base_url}".rstrip()
        names = [model.model for model in available.models if model.provider == row.name]
        if row.model:
            yield _fact("model", one_line(row.model, 120))
        if row.name in available.silent:
            yield _fact("models", f"not known: {available.silent[row.name]}")
        elif names:
            more = f" and {len(names) - _MOST_MODELS_SHOWN} more" if len(names) > _MOST_MODELS_SHOWN else ""
            first_names = ", ".join(one_line(name, 80) for name in names[:_MOST_MODELS_SHOWN])
            yield _fact("models", first_names + more)
        if row.has_server:
            yield _fact("key", row.key_words)
        yield _fact("from", row.file)


def _fact(label: str, value: str) -> str:
    return f"  {label:<{_LABEL_CELLS}} {value}"


def _found_lines(discovered: Sequence[FoundModel]) -> Iterator[str]:
    if discovered:
        yield ""
        yield "Found here and not in the configuration:"
    for model in discovered:
        yield f"  {model.source}"
        yield f"    {add_command(model)}"


def add_command(model: FoundModel) -> str:
    """Return the command that adds what was found; a model that has to be chosen stands as MODEL."""
    words = ["workbench", "providers", "add", model.provider]
    words += ["--kind", model.kind] if model.kind != OPENAI_COMPATIBLE.name else []
    words += ["--base-url", model.base_url, "--model", model.model or "MODEL"]
    words += ["--key-env", model.key_env] if model.key_env else []
    return shlex.join(words)


TEST_EXAMPLE = """workbench providers test local
workbench providers test local --model qwen3-coder:30b --json"""


def configure_test(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a provider of the configuration")
    parser.add_argument("--model", metavar="MODEL", help="the model to ask instead of its own")
    add_json_option(parser)


def execute_test(options: Namespace, console: Console) -> int:
    """Test it; 1 where agents cannot work with it."""
    with open_journal() as journal:
        workspace = workspace_path(options.directory)
        loaded = load_workspace_config(journal, workspace)
        notes = list(background_notes(journal, workspace, loaded, options.name))
    if options.name not in loaded.config.providers:
        names = ", ".join(loaded.config.providers) or "none"
        why = f"there is no provider “{one_line(options.name, 40)}”"
        raise UsageError("nothing was tested", why, f"the providers are: {names}")
    report = probe(loaded.config, options.name, options.model, console)
    if options.json:
        console.json(report_json(report))
    elif report.is_well:
        console.say(_well_line(report))
    console.note_lines((*notes, *(() if options.json else report.problems)))
    return EXIT_OK if report.is_well else EXIT_FAILED


def probe(config: Config, name: str, model: str | None, console: Console) -> ProviderReport:
    """Test a provider, with its progress on stderr."""
    from workbench.host.provider_probe import probe_provider

    return probe_provider(config, name, model, console.note)


def report_json(report: ProviderReport) -> "JsonFields":
    """Return what a test has shown as JSON."""
    from workbench.cli.doctor import probe_json

    return {
        "ok": report.is_well, "name": report.provider, "base_url": report.base_url,
        "models": [{"id": model.id, "context": model.context} for model in report.models],
        "probe": probe_json(report) if report.model else None, "problems": list(report.problems),
        "seconds": round(report.seconds, 1),
    }  # fmt: skip


def _well_line(report: ProviderReport) -> str:
    from workbench.host.provider_probe import capability_text

    return f"{report.provider} works: {capability_text(report)} ({report.seconds:.1f} s)."


REMOVE_EXAMPLE = """workbench providers remove hosted
workbench providers remove hosted --yes"""


def configure_remove(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a provider of your config.json")
    add_yes_option(parser)
    add_json_option(parser)


def execute_remove(options: Namespace, console: Console) -> int:
    """Remove it, after asking; 1 where that is declined."""
    with open_journal(human_only="remove a provider") as journal:
        loaded = load_workspace_config(journal, workspace_path(options.directory))
        _require_own(loaded, options.name, journal.home.path / USER_CONFIG_FILE)
        require_editable_config(journal.home, without=options.name)
        sessions = sessions_naming(journal, options.name)
        console.note_lines(_session_lines(journal, sessions, options.name))
        question = f"Remove the provider {options.name}?"
        if not options.yes and not confirm(
            console, question, "remove", what="nothing was removed", remedy="use --yes"
        ):
            console.say("Nothing was removed.")
            return EXIT_FAILED
        line = remove_provider(journal.home, options.name)
    facts = {"removed": options.name, "sessions": [session.id for session in sessions]}
    return console.result(facts, [line], is_json=options.json)


def _require_own(loaded: LoadedConfig, name: str, file: Path) -> None:
    provider = loaded.config.providers.get(name)
    if provider is not None and provider.origin.layer not in ("user", "default"):
        why = f"{name} is set in {provider.origin.where()}, not in {file}"
        raise Refusal("nothing was removed", why, "remove it there")


def _session_lines(journal: Journal, sessions: Sequence[Session], provider: str) -> Iterator[str]:
    if not sessions:
        return
    many = "1 session asks" if len(sessions) == 1 else f"{len(sessions)} sessions ask"
    yield f"{many} {provider}, and cannot continue until /model names another one:"
    for session in sessions[:_MOST_SESSIONS_SHOWN]:
        yield f"  {session_label(journal, session)}  {one_line(session.workspace, 80)}"
    if len(sessions) > _MOST_SESSIONS_SHOWN:
        yield f"  … and {len(sessions) - _MOST_SESSIONS_SHOWN} more"
