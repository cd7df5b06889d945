"""Azure OpenAI: chat completions of deployments, with versioned addresses or the one without versions.

Source: the reference of Azure OpenAI (data plane inference, and the v1 API).
"""

from urllib.parse import quote, urlsplit, urlunsplit

from workbench.providers.openai_compatible import OpenAICompatible

_V1_PATH = "/openai/v1"


class AzureOpenAI(OpenAICompatible):
    """Asks a resource; a model is the name of a deployment there."""

    def chat_url(self, model: str) -> str:
        version = self.endpoint.api_version
        if not version:
            return super().chat_url(model)
        parts = urlsplit(self.endpoint.base_url)
        resource = parts.path.removesuffix(_V1_PATH)
        path = f"{resource}/openai/deployments/{quote(model, safe='')}/chat/completions"
        return urlunsplit(parts._replace(path=path, query=f"api-version={quote(version, safe='')}"))
