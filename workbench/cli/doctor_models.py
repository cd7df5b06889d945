"""`workbench doctor` on model servers: who answers, with which models, and what a model can do.

Owns the words of these checks. It asks a model something only where `--probe` says so: that may cost.
"""

import asyncio
from argparse import Namespace
from collections.abc import Iterator

from workbench.cli.doctor import Check
from workbench.cli.errors import Misuse, sentence
from workbench.cli.place import workspace_of
from workbench.config.kinds import Unfit, Url
from workbench.config.values import Config
from workbench.domain.messages import FailurePart
from workbench.domain.values import Json
from workbench.host import config_rules, trusting
from workbench.host.choosing import usable
from workbench.host.endpoints import KIND, NoEndpoint, endpoint_of, teach
from workbench.host.models import kind_of
from workbench.host.settings import Settings
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.providers.endpoint import Endpoint
from workbench.providers.failures import GO_ON
from workbench.providers.model_list import Model, NotListed, context_of, models_of
from workbench.providers.probe import Probed, probe
from workbench.text.located import node_of
from workbench.text.safe import one_line
from workbench.tools.registry import catalogue

_SHOWN = 8


def check_words(options: Namespace) -> None:
    """Refuse options that do not go together.

    Raises:
        Misuse: Says which.
    """
    if options.base_url is None:
        return
    try:
        Url().check(node_of(options.base_url))
    except Unfit as unfit:
        raise Misuse("nothing was looked at", f"--base-url must be {unfit.expected}", "correct it") from None


def configuration(options: Namespace, home: Home, journal: Journal) -> Check:
    """Return the check of the patterns that allow calls: too wide is no fault, and is said."""
    workspace = workspace_of(options.directory)
    loaded = Settings(home, workspace, {}).loaded(trusted=trusting.is_trusted(journal, workspace))
    wide = config_rules.notes(loaded, catalogue().descriptors())
    count = len(loaded.config.approvals.allow)
    fact = f"{count} pattern{'' if count == 1 else 's'} in approvals.allow"
    return Check(name="grants", fact="; ".join((fact, *wide)), more={"notes": list(wide)})


def models(options: Namespace, home: Home, journal: Journal) -> list[Check]:
    """Return a check for each provider that can be asked, or for the one that is named."""
    workspace = workspace_of(options.directory)
    trusted = trusting.is_trusted(journal, workspace)
    config = Settings(home, workspace, {}).loaded(trusted=trusted).config
    teach(config)
    names = _names(options, config)
    if not names:
        fact = "none is set up; README (Models) says how"
        return [Check(name="providers", fact=fact)]
    return [asyncio.run(_check(options, config, name)) for name in names]


def _names(options: Namespace, config: Config) -> tuple[str, ...]:
    if options.provider is not None:
        return (options.provider,)
    return (KIND,) if options.base_url is not None else usable(config)


async def _check(options: Namespace, config: Config, name: str) -> Check:
    title = f"provider {one_line(name, 40)}"
    kind = kind_of(name, config)
    if kind != KIND:
        known = ", ".join(usable(config)) or "none"
        why = f"It is of the kind {kind}." if name in config.providers else "No such provider is set up."
        return Check(name=title, fact="not looked at", problems=(f"{why} What can be asked: {known}.",))
    chosen: dict[str, Json] = {"base_url": options.base_url, "key_env": options.key_env}
    try:
        endpoint = endpoint_of(config, name, chosen)
    except NoEndpoint as error:
        return Check(name=title, fact="has no address", problems=(str(error),))
    return await _looked_at(title, endpoint, config, options)


async def _looked_at(title: str, endpoint: Endpoint, config: Config, options: Namespace) -> Check:
    seconds = float(config.api_timeout_seconds)
    try:
        found = await models_of(endpoint, seconds)
    except NotListed as error:
        return Check(name=title, fact=endpoint.base_url, problems=(words(error.failure),))
    more: dict[str, object] = {
        "base_url": endpoint.base_url,
        "models": [{"id": model.id, "context": model.context} for model in found],
    }
    problems = list(_missing(endpoint, found, options.model))
    facts = [f"{endpoint.base_url}, {_listed(found)}"]
    if options.probe and not problems:
        model = _chosen(config, endpoint, found, options)
        if model is None:
            problems.append("No model is named, and there is not exactly one. Name one with --model.")
        else:
            probed = await probe(endpoint, model)
            context = await context_of(endpoint, seconds) or _context(found, model)
            facts.append(_shown(model, probed, context))
            problems += _short_of(model, probed)
            more["probe"] = _probe_facts(model, probed, context)
    return Check(name=title, fact="; ".join(facts), problems=tuple(problems), more=more)


def words(failure: FailurePart) -> str:
    """Return a failure as sentences: what and why, then the remedy."""
    return f"{sentence(failure.message)} {failure.remedy.removesuffix(GO_ON)}".strip()


def _listed(found: tuple[Model, ...]) -> str:
    if not found:
        return "no models"
    names = [f"{model.id} ({model.context:,} tokens)" if model.context else model.id for model in found]
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    count = "1 model" if len(names) == 1 else f"{len(names)} models"
    return f"{count}: {', '.join(names[:_SHOWN])}{rest}"


def _missing(endpoint: Endpoint, found: tuple[Model, ...], wanted: str | None) -> Iterator[str]:
    if not found:
        yield "It offers no model. Load one there."
    elif wanted is not None and wanted not in {model.id for model in found}:
        yield f"{endpoint.base_url} lists no model “{one_line(wanted, 80)}”. It has {_listed(found)}."


def _chosen(config: Config, endpoint: Endpoint, found: tuple[Model, ...], options: Namespace) -> str | None:
    provider = config.providers.get(endpoint.name)
    default = config.default_model if config.default_provider in (None, endpoint.name) else None
    only = found[0].id if len(found) == 1 else None
    return options.model or (provider.model if provider else None) or only or default


def _context(found: tuple[Model, ...], name: str) -> int | None:
    return next((model.context for model in found if model.id == name), None)


def _shown(model: str, probed: Probed, context: int | None) -> str:
    can = [
        "streams" if probed.streams else "does not stream",
        "calls tools" if probed.calls_tools else "called no tool",
        "counts tokens" if probed.counts_tokens else "counts no tokens",
        *(["thinks aloud"] if probed.thinks else []),
        f"context of {context:,} tokens" if context else "context size not said",
    ]
    return f"{model} {', '.join(can)}" if probed.failure is None else f"{model} did not answer"


def _short_of(model: str, probed: Probed) -> Iterator[str]:
    if probed.failure is not None:
        yield words(probed.failure)
    elif not probed.calls_tools:
        why = f" {words(probed.tools_failure)}" if probed.tools_failure else ""
        remedy = "Take a model that calls tools; llama.cpp needs --jinja for it."
        yield f"{model} called no tool when asked to, and an agent cannot work without.{why} {remedy}"


def _probe_facts(model: str, probed: Probed, context: int | None) -> dict[str, object]:
    return {
        "model": model, "answers": probed.failure is None, "streams": probed.streams,
        "calls_tools": probed.calls_tools, "counts_tokens": probed.counts_tokens, "thinks": probed.thinks,
        "context": context,
    }  # fmt: skip
