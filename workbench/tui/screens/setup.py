"""The page that says how a model is set up: which file, what to write into it for which server, what then.

Owns words only. It writes nothing and asks no server.
"""

from typing import TYPE_CHECKING

from workbench.tui.screens.reading import ReadingScreen

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_PAGE = """\
A model is named in one file, which you write. Any one of these three is enough:

    {file}

llama.cpp (llama-server --jinja -m model.gguf), or any server of yours that speaks OpenAI's chat completions

    {{ "default_provider": "local", "providers": {{ "local": {{
        "kind": "openai-compatible", "base_url": "http://127.0.0.1:8080/v1", "model": "NAME" }} }} }}

Ollama

    {{ "default_provider": "ollama", "providers": {{ "ollama": {{
        "kind": "ollama", "base_url": "http://localhost:11434", "model": "qwen3-coder:30b" }} }} }}

A hosted server; key_env names the variable that holds its key, the key itself is never stored

    {{ "default_provider": "hosted", "providers": {{ "hosted": {{
        "kind": "openai-compatible", "base_url": "https://HOST/v1", "model": "NAME",
        "key_env": "MODELS_API_KEY" }} }} }}

Then          ctrl+n, write what you want done, enter. A saved file counts within a minute.
Try it        workbench doctor --provider local --probe
Once only     workbench run -p TEXT --base-url http://127.0.0.1:8080/v1
Without one   d on the first page is the demo, 5 imports sessions of other programs"""


def open_setup(screen: "MainScreen") -> None:
    """Show how a model is set up."""
    text = _PAGE.format(file=f"    {screen.services.config_file()}")
    screen.textual.push_screen(ReadingScreen("Set up a model", text.splitlines()))
