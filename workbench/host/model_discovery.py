"""Models that answer on this machine, and keys in the environment, that are not in the configuration yet."""

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, cast
from urllib.parse import urlsplit

from msgspec.structs import replace

from workbench.config.keys import PROVIDER_KINDS, URL, InvalidValue, convert_node
from workbench.config.known_providers import KEY_VARIABLES, LOCAL_SERVERS, KeyVariable, LocalServer
from workbench.config.types import Config
from workbench.effects.http import is_loopback
from workbench.effects.loopback_http import LOOPBACK_ADDRESSES, loopback_get
from workbench.text.json_nodes import node_of_value
from workbench.text.safe import one_line
from workbench.views.providers import FoundModel

DISCOVERY_SECONDS: Final = 0.9
"""All servers are asked at once and have this long together."""
_MODELS_PATH: Final = "/v1/models"
_MAX_MODELS: Final = 200
_MAX_MODEL_NAME: Final = 200
_NO_CHAT: Final = re.compile(r"embed|rerank|whisper|\btts\b|\bbge-", re.IGNORECASE)
"""In names of models that do not chat."""


def find_models(
    config: Config, env: Mapping[str, str] = os.environ, servers: Sequence[LocalServer] = LOCAL_SERVERS
) -> tuple[FoundModel, ...]:
    """Return what was found and the configuration does not have, local servers first; takes up to 1 s.

    Call it in a thread. Asks loopback addresses only, sends no key and follows no redirect.
    """
    return without_known((*find_local_models(servers), *find_keys(env)), config)


def find_local_models(servers: Sequence[LocalServer] = LOCAL_SERVERS) -> tuple[FoundModel, ...]:
    """Return the servers of this machine that list models, in the order of the table; takes up to 1 s."""
    if not servers:
        return ()
    until = time.monotonic() + DISCOVERY_SECONDS
    with ThreadPoolExecutor(max_workers=len(servers), thread_name_prefix="find models") as pool:
        answers = [pool.submit(_found_server, server, until) for server in servers]
    return tuple(model for answer in answers if (model := answer.result()) is not None)


def find_keys(env: Mapping[str, str] = os.environ) -> tuple[FoundModel, ...]:
    """Return the services whose key is in the environment; an empty variable does not count."""
    rows = (row for row in KEY_VARIABLES if row.kind in PROVIDER_KINDS and env.get(row.variable, "").strip())
    return tuple(model for row in rows if (model := _found_key(row, env)) is not None)


def without_known(found: Iterable[FoundModel], config: Config) -> tuple[FoundModel, ...]:
    """Leave out what the configuration has, by its address or its variable; give the rest free names."""
    addresses = {
        _server_key(provider.base_url) for provider in config.providers.values() if provider.base_url
    }
    variables = {provider.key_env for provider in config.providers.values() if provider.key_env}
    used_names = set(config.providers)
    unknown: list[FoundModel] = []
    for model in found:
        if _server_key(model.base_url) in addresses or model.key_env in variables:
            continue  # the same server under another name
        name = next(name for name in _numbered_names(model.provider) if name not in used_names)
        used_names.add(name)
        addresses.add(_server_key(model.base_url))
        unknown.append(replace(model, provider=name))
    return tuple(unknown)


def _found_server(server: LocalServer, until: float) -> FoundModel | None:
    for address in LOOPBACK_ADDRESSES:
        if (left := until - time.monotonic()) <= 0:
            return None
        models = _listed_models(loopback_get(address, server.port, _MODELS_PATH, left))
        if models:
            host = f"[{address}]" if ":" in address else address
            count = "1 model" if len(models) == 1 else f"{len(models)} models"
            return FoundModel(
                provider=server.name, kind=server.kind, base_url=f"http://{host}:{server.port}{server.api_path}",
                model=next((name for name in models if not _NO_CHAT.search(name)), None), models=models,
                source=f"{host}:{server.port} ({server.label}'s usual port), {count}",
            )  # fmt: skip
    return None


def _listed_models(body: bytes | None) -> tuple[str, ...]:
    """Return the names in a list of models; nothing for an answer that is none."""
    try:
        answer = json.loads(body or b"")
    except (ValueError, RecursionError):
        return ()
    data = cast("dict[str, object]", answer).get("data") if isinstance(answer, dict) else None
    items = cast("list[object]", data)[:_MAX_MODELS] if isinstance(data, list) else ()
    names = (cast("dict[str, object]", item).get("id") for item in items if isinstance(item, dict))
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and _is_usable_name(name)))


def _is_usable_name(name: str) -> bool:
    return bool(name.strip()) and one_line(name, _MAX_MODEL_NAME) == name


def _found_key(row: KeyVariable, env: Mapping[str, str]) -> FoundModel | None:
    base_url, address_note = row.base_url, ""
    if row.address_env and (address := env.get(row.address_env, "").strip()):
        base_url = address.rstrip("/") + row.address_path
        address_note = f" at the address of {row.address_env}"
    try:
        convert_node(node_of_value(base_url), URL)
    except InvalidValue:
        return None
    return FoundModel(
        provider=row.name, kind=row.kind, base_url=base_url, model=None if address_note else row.model,
        key_env=row.variable, source=f"{row.label}{address_note}, {row.variable} is set",
    )  # fmt: skip


def _server_key(url: str) -> tuple[str, int | None, str]:
    """Return what two addresses of the same server have in common."""
    parts = urlsplit(url)
    host = "this machine" if is_loopback(url) else parts.hostname or ""
    return host, parts.port, "" if is_loopback(url) else parts.path.rstrip("/")


def _numbered_names(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}-{number}" for number in range(2, 1_000_000))
