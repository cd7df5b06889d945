"""Tables of model servers by their usual port, and of services by the variable that holds their key."""

from typing import Final

from msgspec import Struct

from workbench.config.keys import OLLAMA, OPENAI_COMPATIBLE


class LocalServer(Struct, frozen=True, kw_only=True):
    """A program that serves models on this machine."""

    name: str
    """Name of the provider that is offered."""
    label: str
    port: int
    kind: str = OPENAI_COMPATIBLE.name
    api_path: str = "/v1"
    """Path in the provider's base_url; the models are asked for at `/v1/models`."""


class KeyVariable(Struct, frozen=True, kw_only=True):
    """A service whose key is in a variable of a usual name."""

    variable: str
    name: str
    label: str
    kind: str = OPENAI_COMPATIBLE.name
    base_url: str
    model: str | None = None
    address_env: str = ""
    """Variable with another address: the key is meant for that one."""
    address_path: str = ""
    """Added to the value of `address_env`."""


LOCAL_SERVERS: Final = (
    LocalServer(name="ollama", label="Ollama", port=11434, kind=OLLAMA.name, api_path=""),
    LocalServer(name="llama-cpp", label="llama.cpp", port=8080),
    LocalServer(name="lm-studio", label="LM Studio", port=1234),
    LocalServer(name="vllm", label="vLLM", port=8000),
)
