"""One field of the form that adds a provider: label, text, and a sentence or choices below."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from workbench.text.safe import safe_text
from workbench.tui.render_context import context_of
from workbench.views.provider_form import looks_like_key

_MAX_CHARS: Final = 4_096
"""Letters of a field; config.json takes no more."""
_REFUSED_SECONDS: Final = 1.0
"""What is typed within this time behind a refused key belongs to it."""


class FieldSpec(Struct, frozen=True):
    """A field of the form."""

    id: str
    label: str
    hint: str


FIELDS: Final = (
    FieldSpec("kind", "kind", "↑ ↓ chooses how the server is spoken to"),
    FieldSpec("base_url", "address", "where it answers, such as http://127.0.0.1:8080/v1"),
    FieldSpec("key_env", "key variable", "the NAME of the variable that holds the key; empty for none"),
    FieldSpec("key_command", "key command", "or a shell command that prints the key; empty for none"),
    FieldSpec("model", "model", "the model to use"),
    FieldSpec("name", "name", "the name it has here"),
    FieldSpec("is_default", "new sessions", "whether new sessions use it: yes or no"),
)


class FieldInput(Input):
    """The text of a field. A text that looks like a key never becomes its value."""

    class KeyRefused(Message):
        """A text that looks like a key was refused."""

        def __init__(self, field_id: str) -> None:
            super().__init__()
            self.field_id = field_id

    def __init__(self, spec: FieldSpec, value: str) -> None:
        self._field_id, self._refused_at = spec.id, float("-inf")
        super().__init__(value, id=f"provider-{spec.id}", select_on_focus=False, compact=True)
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """Refuse a key and what is typed right behind it; make visible what is hidden."""
        if not self.is_mounted:
            return value
        value = safe_text(value[:_MAX_CHARS], keep_newlines=False)
        now = context_of(self).monotonic()
        is_key = looks_like_key(value, is_variable=self._field_id == "key_env")
        if is_key or (value and now - self._refused_at < _REFUSED_SECONDS):
            self._refused_at = now
            self.post_message(self.KeyRefused(self._field_id))
            return ""
        return value

    def forgive(self) -> None:
        """Take what is typed from now on: the user came back to the field."""
        self._refused_at = float("-inf")


class ProviderField(Vertical):
    """Label and text, and below them a sentence or choices."""

    def __init__(self, spec: FieldSpec, value: str) -> None:
        super().__init__(id=f"provider-field-{spec.id}", classes="provider-field")
        self.spec, self.input = spec, FieldInput(spec, value)
        self.note = Static(classes="provider-note")
        self.choices: Sequence[str] = ()
        self.is_checked = False
        """Whether what is wrong is said: the field was left, or saving was tried."""
        self.suggestion = ""
        """What we let stand in the field last."""
        self.refusal = ""

    @property
    def is_own(self) -> bool:
        """Return whether the user wrote what stands here, so that no suggestion may take its place."""
        return self.input.value not in ("", self.suggestion)

    def compose(self) -> ComposeResult:
        with Horizontal(classes="provider-row"):
            yield Static(f" {self.spec.label}", classes="provider-label")
            yield self.input
        yield self.note
