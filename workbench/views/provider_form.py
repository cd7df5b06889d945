"""The form that adds a provider: its fields and what is wrong in them. Pure; the engine checks once more."""

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from workbench.secrets import scrubber
from workbench.views.providers import FoundModel

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,255}")
_KEY: Final = re.compile(
    r"""(?:^|[\s=:"'])(?:(?:sk|pk|rk|xai|pplx|nvapi)-|gsk_|hf_|AIza|eyJ|gh[pousr]_)[\w.-]{12,}"""
    r"""|Bearer \S{12,}"""
)
"""Keys of model servers by their beginning, which not all are among the secrets that are searched for."""
_KEY_START: Final = re.compile(r"(?:sk|pk|rk|xai|pplx|nvapi)-|Bearer ")
"""Beginnings of keys that no name of a variable has."""
_MIN_KEY_CHARS: Final = 16
"""Letters from which a text without a pattern of names is taken for a key."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
KEY_REFUSED: Final = (
    "That looks like a key. It was removed: write the NAME of its variable, such as OPENAI_API_KEY."
)
KEY_REFUSED_ELSEWHERE: Final = "That looks like a key. It was removed: keys are never typed here."
SETUP_TEXT: Final = """\
Models are named in one file, which you may also write by hand. Any one of these is enough:

    {file}

llama.cpp (llama-server --jinja -m model.gguf), or any server of yours that speaks OpenAI's chat completions

    {{ "default_provider": "local", "providers": {{ "local": {{
        "kind": "openai-compatible", "base_url": "http://127.0.0.1:8080/v1", "model": "NAME" }} }} }}

Ollama; num_ctx is the context it is asked for

    {{ "default_provider": "ollama", "providers": {{ "ollama": {{
        "kind": "ollama", "base_url": "http://localhost:11434", "model": "qwen3-coder:30b",
        "num_ctx": 32768 }} }} }}

A hosted server; key_env names the variable that holds its key, the key itself is never stored

    {{ "default_provider": "hosted", "providers": {{ "hosted": {{
        "kind": "openai-compatible", "base_url": "https://HOST/v1", "model": "NAME",
        "key_env": "MODELS_API_KEY" }} }} }}

Anthropic

    {{ "default_provider": "anthropic", "providers": {{ "anthropic": {{
        "kind": "anthropic", "base_url": "https://api.anthropic.com", "model": "NAME",
        "key_env": "ANTHROPIC_API_KEY" }} }} }}

OpenAI, by its Responses: a model that thinks keeps its thoughts from call to call

    {{ "default_provider": "openai", "providers": {{ "openai": {{
        "kind": "openai-responses", "base_url": "https://api.openai.com/v1", "model": "NAME",
        "key_env": "OPENAI_API_KEY" }} }} }}

Azure OpenAI; the model is the name of your deployment

    {{ "default_provider": "azure", "providers": {{ "azure": {{
        "kind": "azure-openai", "base_url": "https://NAME.openai.azure.com", "model": "DEPLOYMENT",
        "key_env": "AZURE_OPENAI_API_KEY" }} }} }}

Azure OpenAI with a token of Entra ID, which a command prints, by the interface with versions

    {{ "default_provider": "azure", "providers": {{ "azure": {{
        "kind": "azure-openai", "base_url": "https://NAME.openai.azure.com", "model": "DEPLOYMENT",
        "api_version": "2024-10-21",
        "key_command": "az account get-access-token --resource https://cognitiveservices.azure.com \
--query accessToken -o tsv" }} }} }}

A key of your keyring: a command that prints it stands for key_env

    {{ "default_provider": "hosted", "providers": {{ "hosted": {{
        "kind": "openai-compatible", "base_url": "https://HOST/v1", "model": "NAME",
        "key_command": "secret-tool lookup service models" }} }} }}

Then          ctrl+n, write what you want done, enter. A saved file counts within a minute.
Try it        t on a provider in place 9, or workbench doctor --provider local --probe
Once only     workbench run -p TEXT --base-url http://127.0.0.1:8080/v1
Without one   d on the first page is the demo, 5 imports sessions of other programs"""
"""The set-up page; `file` is where the settings are."""


class ProviderFields(Struct, frozen=True, kw_only=True):
    """What stands in the form. It holds no key: only the name of a variable, or a command."""

    kind: str = "openai-compatible"
    base_url: str = ""
    model: str = ""
    key_env: str = ""
    key_command: str = ""
    name: str = ""
    is_default: bool = True


def fields_of(found: FoundModel) -> ProviderFields:
    """Return the form as it stands for what was found."""
    return ProviderFields(
        kind=found.kind, base_url=found.base_url, model=found.model or "", key_env=found.key_env or "",
        name=found.provider,
    )  # fmt: skip


def looks_like_key(text: str, *, is_variable: bool = False) -> bool:
    """Return whether a text seems to be a key itself.

    Args:
        text: what was typed.
        is_variable: whether the name of a variable is wanted: whatever is long and no such name counts.
    """
    text = text.strip()
    if scrubber.scrub(text).found or _KEY.search(text):
        return True
    if is_variable and _KEY_START.match(text):
        return True
    if not is_variable or len(text) < _MIN_KEY_CHARS:
        return False
    has_mixture = any(letter.isdigit() for letter in text) and any(letter.islower() for letter in text)
    return has_mixture or _VARIABLE.fullmatch(text) is None


def is_on_this_machine(base_url: str) -> bool:
    """Return whether an address is of this machine; whatever is not an address is not."""
    return _host(base_url) in _LOOPBACK


def _host(base_url: str) -> str:
    """Return the host of an address; empty of what is none."""
    try:
        return urlsplit(base_url).hostname or ""
    except ValueError:
        return ""


def draft_problems(draft: ProviderFields, kinds: Collection[str], names: Collection[str]) -> dict[str, str]:
    """Return what is wrong in a form, as a sentence by field; what nobody has to be asked for.

    Args:
        draft: the form.
        kinds: the kinds of provider that there are.
        names: the providers that are set up already.
    """
    problems = {
        "kind": "" if draft.kind in kinds else f"Choose one: {', '.join(kinds)}.",
        "base_url": _address_problem(draft.base_url),
        "model": "" if draft.model.strip() else "Name the model that is asked.",
        "key_env": _variable_problem(draft.key_env),
        "key_command": "Give a variable or a command, not both."
        if draft.key_env and draft.key_command
        else "",
        "name": _name_problem(draft.name, names),
    }
    return {field: problem for field, problem in problems.items() if problem}


def _address_problem(text: str) -> str:
    if not text.strip():
        return "Give its address, such as http://127.0.0.1:8080/v1."
    try:
        parts = urlsplit(text)
        port_is_zero = parts.port == 0
    except ValueError:
        return "That is not an address. It looks like http://127.0.0.1:8080/v1."
    if "@" in parts.netloc:
        return "No user or password here: name the variable that holds the key."
    if parts.scheme not in ("http", "https"):
        return "An address starts with http:// or https://."
    if not parts.hostname or port_is_zero or re.search(r"\s", text):
        return "That is not an address. It looks like http://127.0.0.1:8080/v1."
    return "Leave out everything from ? or # on." if parts.query or parts.fragment else ""


def _variable_problem(text: str) -> str:
    if not text or _VARIABLE.fullmatch(text):
        return ""
    return "A variable's name has letters, digits and _ only, such as OPENAI_API_KEY."


def _name_problem(text: str, names: Collection[str]) -> str:
    if not text:
        return "Give it a name, such as local."
    if not _NAME.fullmatch(text):
        return "A name has letters, digits, - and _ only, and starts with a letter or digit."
    return f"There is a provider “{text}” already. Choose another name." if text in names else ""


def suggested_name(draft: ProviderFields, names: Collection[str]) -> str:
    """Return a name for a provider that has none yet: of its server, and one that is free."""
    host = _host(draft.base_url)
    if is_on_this_machine(draft.base_url):
        stem = "local" if draft.kind == "openai-compatible" else draft.kind
    else:
        parts = [part for part in host.split(".") if part not in ("", "api", "www")]
        stem = parts[0] if parts else draft.kind
    stem = re.sub(r"[^A-Za-z0-9_-]", "-", stem).strip("-_")[:40] or "provider"
    numbered = (f"{stem}-{number}" for number in range(2, len(names) + 3))
    return stem if stem not in names else next(name for name in numbered if name not in names)


def matching_models(models: Collection[str], typed: str) -> list[str]:
    """Return the models that hold what is typed, those that begin with it first; all where none does."""
    prefix = typed.casefold().strip()
    matching = [name for name in models if prefix in name.casefold()]
    return sorted(matching, key=lambda name: not name.casefold().startswith(prefix)) or list(models)
