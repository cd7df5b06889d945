"""Tables of model servers by their usual port, and of services by the variable that holds their key."""

from typing import Final

from msgspec import Struct

from workbench.config.keys import ANTHROPIC, OLLAMA, OPENAI_COMPATIBLE


class LocalServer(Struct, frozen=True, kw_only=True):
    """A program that serves models on this machine; it lists them at `/v1/models`."""

    name: str
    """Name of the provider that is offered."""
    label: str
    port: int
    kind: str = OPENAI_COMPATIBLE.name
    api_path: str = "/v1"
    """Path in the provider's base_url."""


class KeyVariable(Struct, frozen=True, kw_only=True):
    """A service whose key is in a variable of a usual name."""

    variable: str
    name: str
    """Name of the provider that is offered."""
    label: str
    base_url: str
    kind: str = OPENAI_COMPATIBLE.name
    model: str | None = None
    """A name that the service keeps pointing at a current model; None where it has no such name."""
    address_env: str = ""
    """Variable that names another address: where it is set the key is meant for that one."""
    address_path: str = ""
    """Added to the value of `address_env`."""


LOCAL_SERVERS: Final = (
    LocalServer(name="ollama", label="Ollama", port=11434, kind=OLLAMA.name, api_path=""),
    LocalServer(name="llama-cpp", label="llama.cpp", port=8080),
    LocalServer(name="lm-studio", label="LM Studio", port=1234),
    LocalServer(name="vllm", label="vLLM", port=8000),
)
KEY_VARIABLES: Final = (
    KeyVariable(
        variable="OPENAI_API_KEY", name="openai", label="OpenAI", base_url="https://api.openai.com/v1",
        address_env="OPENAI_BASE_URL",
    ),
    KeyVariable(
        variable="ANTHROPIC_API_KEY", name="anthropic", label="Anthropic",
        kind=ANTHROPIC.name, base_url="https://api.anthropic.com", address_env="ANTHROPIC_BASE_URL",
    ),
    KeyVariable(
        variable="GEMINI_API_KEY", name="gemini", label="Google Gemini", model="gemini-flash-latest",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
    ),
    KeyVariable(
        variable="OPENROUTER_API_KEY", name="openrouter", label="OpenRouter", model="openrouter/auto",
        base_url="https://openrouter.ai/api/v1",
    ),
    KeyVariable(
        variable="MISTRAL_API_KEY", name="mistral", label="Mistral", model="mistral-medium-latest",
        base_url="https://api.mistral.ai/v1",
    ),
    KeyVariable(
        variable="GROQ_API_KEY", name="groq", label="Groq", base_url="https://api.groq.com/openai/v1",
        address_env="GROQ_BASE_URL", address_path="/openai/v1",
    ),
    KeyVariable(
        variable="DEEPSEEK_API_KEY", name="deepseek", label="DeepSeek", model="deepseek-flash",
        base_url="https://api.deepseek.com",
    ),
    KeyVariable(variable="XAI_API_KEY", name="xai", label="xAI", base_url="https://api.x.ai/v1"),
    KeyVariable(
        variable="TOGETHER_API_KEY", name="together", label="Together", base_url="https://api.together.xyz/v1",
    ),
    KeyVariable(
        variable="FIREWORKS_API_KEY", name="fireworks", label="Fireworks",
        base_url="https://api.fireworks.ai/inference/v1",
    ),
    KeyVariable(
        variable="CEREBRAS_API_KEY", name="cerebras", label="Cerebras", base_url="https://api.cerebras.ai/v1",
    ),
)  # fmt: skip
"""In the order in which they are offered."""
