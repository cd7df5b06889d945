"""Secrets that this process was told of: keys of providers, which have no form of their own to know them by.

Owns the one list of them, which only grows and dies with the process. It must never be written anywhere, and
gives nothing back but texts in which they are replaced.
"""

import json
from typing import Final
from urllib.parse import quote

KIND: Final = "provider-key"
MARK: Final = f"⟨secret: {KIND}⟩"

SHORTEST: Final = 8
"""Characters. What is shorter ("none", "ollama") is a placeholder, and would be found in ordinary words."""

_forms: list[str] = []
"""Longest first, so that a key that is the beginning of another leaves nothing of it."""


def remember(secret: str) -> None:
    """Have a secret replaced from now on wherever texts are scrubbed, also escaped in JSON or an address."""
    if len(secret) < SHORTEST or secret in MARK:
        return
    escaped = json.dumps(secret)[1:-1]
    for form in (secret, escaped, escaped.replace("/", "\\/"), quote(secret, safe=""), quote(secret)):
        if form not in _forms:
            _forms.append(form)
    _forms.sort(key=len, reverse=True)


def replaced(text: str) -> str:
    """Return a text with the mark in the place of every known secret."""
    for form in _forms:
        if form in text:
            text = text.replace(form, MARK)
    return text
