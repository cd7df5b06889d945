"""What a provider can do: its models, and whether one of them answers and calls tools."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from workbench.config.model_names import default_model_of
from workbench.config.types import Config
from workbench.domain.messages import FailurePart
from workbench.host.provider_keys import register_secrets
from workbench.host.session_provider import EndpointUnavailable, has_server, server_provider, usable_providers
from workbench.providers.base import ListedModel, ModelsNotListed, ProbeResult, Provider
from workbench.providers.errors import CONTINUE_HINT
from workbench.text.human import sentence
from workbench.text.safe import one_line
from workbench.views.providers import OfferedModel, ProviderReport, ProviderStatus

OnProgress = Callable[[str], None]
"""Is told what is being done, a short sentence each."""
_UNLISTED_STATUSES = (401, 403, 404, 405, 501)
"""Answers of services that list no models, or not to every key, and answer chats all the same."""
_MOST_MODELS_SHOWN = 8


def probe_provider(
    config: Config, name: str, model: str | None = None, on_progress: OnProgress | None = None
) -> ProviderReport:
    """Ask a provider for its models, and a model for two short replies, one with a tool call.

    Waits up to minutes for a server that loads its model: call it in a thread. Raises nothing: what goes
    wrong is among `problems`.
    """
    started = time.monotonic()
    register_secrets(config)
    report = ProviderReport(provider=name, base_url="")
    if not has_server(name, config):
        usable = ", ".join(usable_providers(config)) or "none"
        why = f"There is no provider “{one_line(name, 40)}” with a server. There are: {usable}."
        return replace(report, problems=(why,))
    try:
        provider = server_provider(config, name)
    except EndpointUnavailable as error:
        return replace(report, problems=(f"{error.why} {error.remedy}",))
    probe = _probe(provider, config, model, on_progress or (lambda _: None))
    report = asyncio.run(probe)
    return replace(report, seconds=time.monotonic() - started)


async def _probe(
    provider: Provider, config: Config, model: str | None, on_progress: OnProgress
) -> ProviderReport:
    seconds = float(config.api_timeout_seconds)
    address = provider.endpoint.base_url if provider.endpoint else provider.name
    report = ProviderReport(provider=provider.name, base_url=address)
    wanted_model = model or _model_in_settings(config, provider.name)
    on_progress(f"Asking {address} for its models.")
    try:
        listed = await provider.list_models(seconds)
    except ModelsNotListed as error:
        if wanted_model is None or error.failure.status not in _UNLISTED_STATUSES:
            return replace(report, problems=(failure_text(error.failure),))
    else:
        report = replace(report, models=offered_models(listed))
        problems = (*missing_model_problems(report, wanted_model), *_undecided_problems(report, wanted_model))
        if problems:
            return replace(report, problems=problems)
    chosen = wanted_model or report.models[0].id
    on_progress(f"Asking {chosen} for two short replies; it may have to be loaded first.")
    result = await provider.probe(chosen, seconds)
    return with_result(report, chosen, result)


def _model_in_settings(config: Config, name: str) -> str | None:
    default = default_model_of(config, name)
    return default or config.providers[name].model if name in config.providers else default


def offered_models(listed: Iterable[ListedModel]) -> tuple[OfferedModel, ...]:
    """Return models as rows."""
    return tuple(
        OfferedModel(
            id=model.id, context=model.context, abilities=model.abilities, is_loaded=model.is_loaded
        )
        for model in listed
    )  # fmt: skip


def provider_status(
    config: Config, name: str, seconds: float, on_progress: OnProgress | None = None
) -> ProviderStatus:
    """Ask a provider's server for its models and what each can do, within so many seconds a question.

    Call it in a thread; `on_progress` is told inside the loop that asks. Raises nothing.
    """
    register_secrets(config)
    try:
        provider = server_provider(config, name)
    except EndpointUnavailable as error:
        return ProviderStatus(provider=name, why_not=f"{error.why} {error.remedy}")

    async def ask() -> tuple[ListedModel, ...]:
        if on_progress is not None:
            on_progress(f"Asking {name} for its models.")
        return await provider.describe_models(seconds)

    try:
        return ProviderStatus(provider=name, models=offered_models(asyncio.run(ask())))
    except ModelsNotListed as error:
        return ProviderStatus(provider=name, why_not=failure_text(error.failure))


def missing_model_problems(report: ProviderReport, model_name: str | None) -> Iterator[str]:
    """Yield why a server does not have what is wanted: no model at all, or not this one."""
    if not report.models:
        yield "It offers no model. Load one there."
    elif model_name is not None and model_name not in {model.id for model in report.models}:
        quoted = one_line(model_name, 80)
        yield f"{report.base_url} lists no model “{quoted}”. It has {model_names(report.models)}."


def _undecided_problems(report: ProviderReport, model_name: str | None) -> Iterator[str]:
    if model_name is None and len(report.models) > 1:
        yield f"No model is named, and it has {model_names(report.models)}. Name one with --model."


def model_names(models: tuple[OfferedModel, ...]) -> str:
    """Name some models: `3 models: a (8,192 tokens), b, c`."""
    if not models:
        return "no models"
    names = [f"{model.id} ({model.context:,} tokens)" if model.context else model.id for model in models]
    rest = f" and {len(names) - _MOST_MODELS_SHOWN} more" if len(names) > _MOST_MODELS_SHOWN else ""
    count = "1 model" if len(names) == 1 else f"{len(names)} models"
    return f"{count}: {', '.join(names[:_MOST_MODELS_SHOWN])}{rest}"


def with_result(report: ProviderReport, model: str, result: ProbeResult) -> ProviderReport:
    """Add to a report what two replies of a model have shown."""
    listed_context = next(
        (listed_model.context for listed_model in report.models if listed_model.id == model), None
    )
    return replace(
        report, model=model, answers=result.failure is None, streams=result.streams,
        calls_tools=result.calls_tools, counts_tokens=result.counts_tokens, thinks=result.thinks,
        context=result.context or listed_context, problems=tuple(_missing_capabilities(model, result)),
    )  # fmt: skip


def _missing_capabilities(model: str, result: ProbeResult) -> Iterator[str]:
    if result.failure is not None:
        yield failure_text(result.failure)
    elif not result.calls_tools:
        why = f" {failure_text(result.tools_failure)}" if result.tools_failure else ""
        remedy = "Take a model that calls tools; llama.cpp needs --jinja for it."
        yield f"{model} called no tool when asked to, and an agent cannot work without.{why} {remedy}"


def capability_text(report: ProviderReport) -> str:
    """Say what the model of a report can do: `qwen3 streams, calls tools, counts tokens, …`."""
    if not report.answers:
        return f"{report.model} did not answer"
    return f"{report.model} {report.ability_words}"


def failure_text(failure: FailurePart) -> str:
    """Return a failure as sentences: what and why, then the remedy."""
    return f"{sentence(failure.message)} {failure.remedy.removesuffix(CONTINUE_HINT)}".strip()
