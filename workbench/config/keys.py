"""What a setting may be: kinds of values, their conversion, the rows of the key table, kinds of providers."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, cast, get_args, get_origin
from urllib.parse import urlsplit

from msgspec import NODEFAULT, Meta, Struct, ValidationError, convert
from msgspec.structs import fields

from workbench.text.human import parse_iso_time
from workbench.text.json_nodes import LocatedNode
from workbench.text.safe import has_hidden_characters

CONFIG_VERSION = 1
LARGEST_INTEGER = 1 << 40
PROVIDER_NAME_PATTERN = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
AllowsLess = Callable[[object, object], bool]
"""Given a new and the present value: does the new one allow less?"""


class ProviderKind(Struct, frozen=True, kw_only=True):
    """A kind of provider: what the configuration says of it, and the class that asks it."""

    name: str
    client: str = ""
    """Module and class in `workbench.providers`, which is loaded when a client is made; empty: no server."""
    default_base_url: str | None = None
    api_path: str = ""
    """Path of the interface, added to an address that has none."""
    extra_path: str = ""
    """A path that is often written and does not belong there; it is taken off."""
    key_header: str = "Authorization"
    """The header that a key is sent in; `Authorization` has `Bearer` before it."""
    takes_tokens: bool = False
    """A key that is a signed token (RFC 7519) goes into `Authorization` all the same."""
    usual_context_tokens: int | None = None
    """Tokens of context where nothing says how many; None where a kind says nothing about it."""
    address_hint: str = "an OpenAI-compatible endpoint; it often ends in /v1"
    """What base_url must be, for remedies."""

    @property
    def has_server(self) -> bool:
        """Whether it asks a server; otherwise it plays a recording."""
        return bool(self.client)

    def server_url(self, base_url: str) -> str:
        """Return the address with the path of the interface, without a slash at its end."""
        base_url = base_url.rstrip("/")
        if self.extra_path:
            base_url = base_url.removesuffix(self.extra_path)
        return base_url if urlsplit(base_url).path else base_url + self.api_path

    def authorization(self, key: str) -> dict[str, str]:
        """Return the header that carries a key."""
        is_token = self.takes_tokens and key.startswith("eyJ") and key.count(".") == 2
        if self.key_header == "Authorization" or is_token:
            return {"Authorization": f"Bearer {key}"}
        return {self.key_header: key}


OPENAI_COMPATIBLE = ProviderKind(name="openai-compatible", client="openai_compatible:OpenAICompatible")
OLLAMA = ProviderKind(
    name="ollama", client="ollama_chat:OllamaChat", default_base_url="http://localhost:11434",
    extra_path="/v1", usual_context_tokens=32_768,
    address_hint="the address of an Ollama server, such as http://localhost:11434, without a path",
)  # fmt: skip
ANTHROPIC = ProviderKind(
    name="anthropic", client="anthropic_messages:AnthropicMessages",
    default_base_url="https://api.anthropic.com", api_path="/v1", key_header="x-api-key", takes_tokens=True,
    usual_context_tokens=200_000,
    address_hint="an endpoint of the Anthropic Messages API; it often ends in /v1",
)  # fmt: skip
AZURE_OPENAI = ProviderKind(
    name="azure-openai", client="openai_compatible:AzureOpenAI", api_path="/openai/v1", key_header="api-key",
    takes_tokens=True,
    address_hint="the endpoint of an Azure OpenAI resource, such as https://NAME.openai.azure.com",
)  # fmt: skip
OPENAI_RESPONSES = ProviderKind(
    name="openai-responses", client="openai_responses:OpenAIResponses",
    default_base_url="https://api.openai.com", api_path="/v1",
    address_hint="an endpoint of OpenAI's Responses; it often ends in /v1",
)  # fmt: skip
RECORDED = ProviderKind(name="recorded")
PROVIDER_KINDS = {
    kind.name: kind
    for kind in (RECORDED, OPENAI_COMPATIBLE, OLLAMA, ANTHROPIC, AZURE_OPENAI, OPENAI_RESPONSES)
}


class InvalidValue(Exception):
    """A value that its key does not accept: what it must be, where, the key below it, a remedy."""

    def __init__(self, expected: str, node: LocatedNode, key: str = "", remedy: str = "") -> None:
        super().__init__(expected)
        self.expected = expected
        self.node = node
        self.key = key
        self.remedy = remedy


SHORT_TEXT = "a text that is not empty"
Text = Annotated[str, Meta(max_length=4096, pattern=r"\S", extra={"words": SHORT_TEXT})]
"""A text of one line that is not empty."""
PatternText = Annotated[Text, Meta(extra={"words": 'a pattern such as "Bash(git push*)"'})]
FOLDER_NAME = Meta(
    max_length=4096,
    pattern=r"^(?:/.*|~(?:/.*)?)$",
    extra={"words": 'a folder such as "/home/you" or "~/shop"'},
)
ShellCommand = Annotated[Text, Meta(extra={"words": "a shell command"})]


def text_kind(words: str, form: str = "", limit: int = 4096) -> Any:
    """Return the kind of a text of one line that is not empty; optionally of one form."""
    pattern = f"^(?:{form})$" if form else r"\S"
    return Annotated[str, Meta(max_length=limit, pattern=pattern, extra={"words": words})]


def list_kind(item: Any, items: str) -> Any:
    return Annotated[list[item], Meta(extra={"words": f"a list of {items}"})]


def text_map_kind(words: str, key: Any, value: Any) -> Any:
    return Annotated[dict[key, value], Meta(extra={"words": words})]


def _checked_url(node: LocatedNode) -> str:
    value = str(node.value)
    parts = urlsplit(value)
    if "@" in parts.netloc:
        remedy = "Name the variable that holds the key in key_env."
        raise InvalidValue("a URL without user and password", node, remedy=remedy)
    is_web_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    if not is_web_address or re.search(r"\s", value) or parts.query or parts.fragment:
        raise ValueError(value)
    return value


def _checked_time(node: LocatedNode) -> int:
    return parse_iso_time(str(node.value))


URL: Any = Annotated[
    str,
    Meta(
        max_length=4096,
        extra={
            "words": 'a URL with scheme and host, such as "http://localhost:11434"',
            "parse": _checked_url,
            "schema": {"type": "string", "format": "uri", "pattern": "^https?://[^@?#\\s]+$"},
        },
    ),
]
"""An address with scheme and host, without a password."""
Timestamp = Annotated[
    int,
    Meta(
        extra={
            "words": 'a time such as "2026-11-21T12:00:00Z"',
            "parse": _checked_time,
            "schema": {"type": "string", "format": "date-time"},
        }
    ),
]
"""An ISO 8601 time, kept as microseconds since the epoch."""


def kind_parts(kind: Any) -> tuple[Any, dict[str, Any]]:
    """Return the plain type of a kind, and what is said of it: bounds, words, description."""
    base, *metas = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    facts: dict[str, Any] = {}
    for meta in metas:
        bounds = {name: getattr(meta, name) for name in ("ge", "gt", "le", "description")}
        facts |= {name: value for name, value in bounds.items() if value is not None} | (meta.extra or {})
    return base, facts


def kind_words(kind: Any) -> str:
    base, facts = kind_parts(kind)
    if "words" in facts:
        return facts["words"]
    if get_origin(base) is Literal:
        quoted = [f'"{option}"' for option in get_args(base)]
        return " or ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]
    if base is bool:
        return "true or false"
    if base is int:
        low, high = facts["ge"], facts["le"]
        return f"a whole number from {low} to {high}" if low < high else str(low)
    lower = f"from {facts['ge']:.10g}" if "ge" in facts else f"greater than {facts['gt']:g}"
    return f"{facts.get('what', 'a number')} {lower}, at most {facts['le']:.10g}"


def record_fields(record: type[Struct]) -> dict[str, tuple[Any, bool]]:
    """Return the members that a record may have in a file: their kind, and whether they must be there."""
    return {
        field.name: (field.type if field.required else get_args(field.type)[0], field.required)
        for field in fields(record)
        if field.name != "origin"
    }


def convert_node(node: LocatedNode, kind: Any) -> Any:
    """Convert a value, each of its members by itself; a record becomes a dict of what is there.

    Raises InvalidValue: it does not fit; says which member, and where it stands.
    """
    base, facts = kind_parts(kind)
    if "record" in facts and node.members is not None:
        return _convert_record(node, kind, record_fields(facts["record"]))
    if get_origin(base) is list:
        if node.items is None:
            raise InvalidValue(kind_words(kind), node)
        return [
            _convert_member(f"[{number}]", item, get_args(base)[0]) for number, item in enumerate(node.items)
        ]
    if get_origin(base) is dict:
        return _convert_text_map(node, kind)
    if isinstance(base, type) and issubclass(base, Struct):
        return _convert_record(node, kind, record_fields(base))
    is_free_text = isinstance(node.value, str) and node.value.strip() and get_origin(base) is not Literal
    if is_free_text and (has_hidden_characters(str(node.value)) or "\n" in str(node.value)):
        raise InvalidValue(f"{kind_words(kind)}, on one line and without hidden characters", node)
    try:
        convert(node.value, str if "parse" in facts else kind)
        return facts["parse"](node) if "parse" in facts else node.value
    except (ValidationError, ValueError):
        raise InvalidValue(kind_words(kind), node) from None


def _convert_text_map(node: LocatedNode, kind: Any) -> dict[str, object]:
    if node.members is None:
        raise InvalidValue(kind_words(kind), node)
    key_kind, value_kind = get_args(kind_parts(kind)[0])
    converted: dict[str, object] = {}
    for name, member in node.members.items():
        key = LocatedNode(value=name, line=member.key_line, column=member.key_column)
        _convert_member(name[:40], key, key_kind)
        converted[name] = _convert_member(name[:40], member, value_kind)
    return converted


def _convert_record(
    node: LocatedNode, kind: Any, members: Mapping[str, tuple[Any, bool]]
) -> dict[str, object]:
    words = kind_words(kind)
    if node.members is None:
        raise InvalidValue(words, node)
    for name in node.members:
        if name not in members:
            raise InvalidValue(f"named {' or '.join(members)}", node.members[name], name[:40])
    for name, (_, is_required) in members.items():
        if is_required and name not in node.members:
            raise InvalidValue(f'{words} with "{name}"', node)
    return {
        name: _convert_member(name, member, members[name][0])
        for name, member in node.members.items()
        if member.value is not None or members[name][1]
    }


def _convert_member(name: str, node: LocatedNode, kind: Any) -> object:
    try:
        return convert_node(node, kind)
    except InvalidValue as unfit:
        raise InvalidValue(unfit.expected, unfit.node, joined_key(name, unfit.key), unfit.remedy) from None


def joined_key(name: str, rest: str) -> str:
    """Return a dotted key with what stands below it: `hooks` and `[0].matcher`."""
    return f"{name}{rest}" if rest.startswith("[") or not rest else f"{name}.{rest}"


class ConfigKey(Struct, frozen=True, kw_only=True):
    """One setting."""

    path: str
    """Dotted, as files have it."""
    attribute: str
    """Dotted, as `Config` has it."""
    kind: Any
    """The type of the value in a file, with its bounds."""
    default: object
    meaning: str
    narrows: AllowsLess | None = None
    """Whether an untrusted workspace may set it so; None: never."""
    is_strict: bool = False
    """A value that cannot be read is fatal: with the default less would be denied."""
    is_united: bool = False
    """A list to which every layer adds."""


def setting(meaning: str, *, kind: Any = None, **facts: Any) -> Meta:
    """Describe a member of a section that is a setting.

    `kind` is the type of its value in a file, where that is another one than the member's; `narrows`,
    `is_strict` and `is_united` are those of its `ConfigKey`.
    """
    return Meta(description=meaning, extra={"key": facts, **({} if kind is None else {"kind": kind})})


def section_keys(section: type[Struct], path: str = "", attribute: str = "") -> Iterator[ConfigKey]:
    """Yield the keys of a section and of those in it, in their order."""
    for member in fields(section):
        member_type: Any = member.type
        if isinstance(member_type, type) and issubclass(member_type, Struct):
            yield from section_keys(member_type, f"{path}{member.encode_name}.", f"{attribute}{member.name}.")
            continue
        is_optional = get_origin(member_type) not in (None, Annotated)
        kind = cast("Any", get_args(member_type)[0] if is_optional else member_type)
        facts = kind_parts(kind)[1]
        if "key" in facts:
            default = member.default_factory() if member.default_factory is not NODEFAULT else member.default
            yield ConfigKey(
                path=f"{path}{member.encode_name}", attribute=f"{attribute}{member.name}",
                kind=facts.get("kind", kind), default=None if default is NODEFAULT else default,
                meaning=facts["description"], **facts["key"],
            )  # fmt: skip


def is_smaller(new: object, present: object) -> bool:
    return isinstance(new, int | float) and isinstance(present, int | float) and new <= present


def is_smaller_limit(new: object, present: object) -> bool:
    """Return whether a limit is at most the other; 0 is no limit."""
    return new != 0 and (present == 0 or is_smaller(new, present))


def is_value(value: object) -> AllowsLess:
    """Return the test whether a new value is this one."""
    return lambda new, _present: new == value


def always_allows_less(_new: object, _present: object) -> bool:
    return True
