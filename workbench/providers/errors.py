"""Failures of model servers: a code, what did not happen and why, and the remedy.

What a server said is quoted as one bounded, scrubbed line and never followed.
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, cast
from urllib.parse import urlsplit

from workbench.domain.messages import FailurePart
from workbench.effects.http import HttpFailed
from workbench.providers.base import Endpoint, KeyMissing
from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line

MODEL_LOADING: Final = "model_loading"
KEY_MISSING: Final = "key_missing"
"""The code of a server that has not read its model yet: a wait, not an error."""
_MAX_QUOTE_CELLS: Final = 300
_OVERFLOW_CODES: Final = ("context_length_exceeded", "exceed_context_size_error", "string_above_max_length")
_OVERFLOW_WORDS: Final = (
    "context length", "context size", "context window", "exceeds the available context", "maximum context",
    "prompt is too long", "too many tokens", "input is too long",
)  # fmt: skip
_NO_TOOL_WORDS: Final = (
    "does not support tools", "does not support function", "tool use is not supported",
    "tools are not supported",
)  # fmt: skip
_QUOTA_CODES: Final = ("insufficient_quota", "billing_hard_limit_reached", "quota_exceeded", "billing_error")
_QUOTA_WORDS: Final = ("credit balance is too low",)
_FILTER_CODES: Final = ("content_filter", "responsibleaipolicyviolation")
_MISSING_MODEL_CODES: Final = ("model_not_found", "deploymentnotfound")
CONTINUE_HINT: Final = "Then continue the session."
"""How remedies end that a session waits for."""
HeaderFields = Mapping[str, str]


_ADDRESS: Final = "or correct base_url of {setting}. " + CONTINUE_HINT
_CONNECTION_FAILURES: Final = {
    "refused": ("server_down", "nothing answers at {url}{detail}", f"Start the server, {_ADDRESS}"),
    "unknown_host": (
        "unknown_host", "the address {host} cannot be found{detail}", f"Check the network, {_ADDRESS}",
    ),
    "tls": (
        "tls_failed", "the connection to {host} is not safe{detail}",
        f"Have its certificate fixed, {_ADDRESS}",
    ),
    "unreachable": (
        "server_unreachable", "{host} cannot be reached{detail}", f"Look at the network, {_ADDRESS}",
    ),
    "connect_timeout": (
        "server_unreachable", "{host} cannot be reached within {connect:g} s{detail}",
        f"Look at the network, {_ADDRESS}",
    ),
    "stalled": (
        "server_stalled",
        "{host} stopped in the middle of its reply and said nothing for {silence:g} s",
        "Continue to ask again; {setting}.silence_seconds makes the wait longer.",
    ),
    "silent": (
        "no_answer", "{host} did not start to answer within {first_token:g} s",
        "Look whether the server is busy; {setting}.first_token_seconds makes the wait longer.",
    ),
    "broken": (
        "reply_broken_off", "the connection to {host} broke before the reply was complete",
        "Look at the server's log, then continue to ask again.",
    ),
    "protocol": (
        "not_http", "what answers at {url} does not speak HTTP as expected",
        "Correct base_url of {setting}. " + CONTINUE_HINT,
    ),
}  # fmt: skip
"""Code, message and remedy by the kind of a failure; `stalled` is a silence after a part of the reply."""


def connection_failure(endpoint: Endpoint, error: HttpFailed, *, has_begun: bool = False) -> FailurePart:
    """Return the failure of a connection, before or after a part of the reply had come."""
    kind = "stalled" if error.kind == "silent" and has_begun else error.kind
    url = endpoint.base_url
    facts = {
        "url": url, "host": urlsplit(url).hostname or url, "setting": endpoint.setting,
        "detail": f" ({error.detail})" if error.detail else "", "connect": endpoint.connect_seconds,
        "silence": endpoint.silence_seconds, "first_token": endpoint.first_token_seconds,
    }  # fmt: skip
    code, message, remedy = _CONNECTION_FAILURES[kind]
    return _failure(code, message.format(**facts), remedy.format(**facts))


def broken_off_failure(endpoint: Endpoint) -> FailurePart:
    return connection_failure(endpoint, HttpFailed("broken"))


def not_a_completion_failure(endpoint: Endpoint, answered: str, kind: str = "") -> FailurePart:
    prefix = f"{kind}: " if kind else ""
    answer = f"{prefix}{quote_server_text(answered)}"
    why = f"{endpoint.base_url} answered something that is not a reply of a model: {answer}"
    remedy = f"base_url of {endpoint.setting} must be {endpoint.kind.address_hint}."
    return _failure("not_openai", why, remedy)


def too_large_failure(subject: str, most: str) -> FailurePart:
    remedy = "Continue to ask again, in smaller steps."
    return _failure("reply_too_large", f"{subject} is larger than {most}; the connection was closed", remedy)


def empty_reply_failure(stop: str | None) -> FailurePart:
    why = "the model answered with nothing"
    if stop == "length":
        why = "the model said nothing before its limit of tokens was reached"
        return _failure("empty_reply", why, "Raise max_tokens or the server's context size, then continue.")
    return _failure("empty_reply", why, "Continue to ask again, or say it in other words.")


def key_missing_failure(error: KeyMissing) -> FailurePart:
    return _failure(KEY_MISSING, error.why, error.remedy)


def _failure(code: str, message: str, remedy: str) -> FailurePart:
    return FailurePart(code=code, message=message, remedy=remedy)


# --- replies with a status ------------------------------------------------------------------------


def status_failure(
    endpoint: Endpoint, model: str, status: int, headers: HeaderFields, body: bytes
) -> FailurePart:
    """Return the failure that a reply with an error status means."""
    error = error_in_body(body)
    return error_object_failure(
        endpoint, model, status, error, headers, seen=body[:2_000].decode("utf-8", "replace")
    )


def error_object_failure(
    endpoint: Endpoint,
    model: str,
    status: int,
    error: Mapping[str, object],
    headers: HeaderFields | None = None,
    seen: str = "",
) -> FailurePart:
    """Return the failure that the object under `error` means.

    `status` is 0 for an error inside a stream; `seen` is the body, for a reply without an error object.
    """
    server_text = error_message(error) or seen
    words = quote_server_text(server_text)
    code, message, remedy = _code_message_remedy(endpoint, model, status, error, server_text, headers or {})
    is_final = code in ("quota_spent", "context_overflow", "prompt_filtered")
    return FailurePart(
        code=code, message=f"{message}: {words}" if words else message, remedy=remedy, status=status or None,
        retry_after_s=retry_after_seconds(headers or {}),
        recoverable=not is_final and _is_recoverable(status),
    )  # fmt: skip


def _code_message_remedy(
    endpoint: Endpoint,
    model: str,
    status: int,
    error: Mapping[str, object],
    server_text: str,
    headers: HeaderFields,
) -> tuple[str, str, str]:
    codes = {str(error.get(name)).lower() for name in ("code", "type") if error.get(name)}
    lowered, host = server_text.lower(), urlsplit(endpoint.base_url).hostname
    final = _final_failure(str(host), status, codes, lowered)
    if final is not None:
        return final
    if status in (401, 403):
        return _unauthorised_failure(endpoint, str(host), status)
    if status == 404 or codes & {*_MISSING_MODEL_CODES} or (status == 400 and _says_model_missing(lowered)):
        return _not_found_failure(endpoint, model, codes, lowered)
    if status == 400 and _contains_any(lowered, _NO_TOOL_WORDS):
        remedy = f"Take a model that calls tools: workbench doctor --provider {endpoint.name} lists them."
        return "no_tools", f'"{quote_server_text(model)}" cannot call tools, and an agent needs them', remedy
    if status == 429:
        return "rate_limited", f"{host} limits requests (429)", f"Wait a while. {CONTINUE_HINT}"
    if status == 503 and "loading" in lowered:
        return (
            MODEL_LOADING,
            f"{host} is still loading the model",
            f"Wait until it is loaded. {CONTINUE_HINT}",
        )
    if 300 <= status < 400:
        target = quote_server_text(headers.get("location", "")) or "an address that it does not name"
        remedy = f"Put the address that you trust into base_url of {endpoint.setting}."
        return "redirected", f"{endpoint.base_url} sends on to {target}, which is not followed", remedy
    if status >= 500:
        return f"http_{status}", f"{host} failed with status {status}", f"Look at its log. {CONTINUE_HINT}"
    if status == 0:
        return "provider_error", f"{host} broke its reply off with an error", "Continue to ask again."
    return (
        f"http_{status}",
        f"{host} refused the request with status {status}",
        (f"Look at the settings of {endpoint.setting}, or take another model. {CONTINUE_HINT}"),
    )


def _final_failure(host: str, status: int, codes: set[str], lowered: str) -> tuple[str, str, str] | None:
    """Return the failure of a conversation or an account that asking again does not help."""
    is_about_size = status in (0, 400, 413, 422) and _contains_any(lowered, _OVERFLOW_WORDS)
    if codes & {*_OVERFLOW_CODES} or is_about_size:
        remedy = "Start a new session, lower max_session_messages, or give the server a larger context."
        return "context_overflow", "the conversation is longer than the model's context", remedy
    if codes & {*_FILTER_CODES}:
        remedy = "Say it in other words, or take another model."
        return "prompt_filtered", f"{host} refused the conversation (content filter)", remedy
    if codes & {*_QUOTA_CODES} or status == 402 or _contains_any(lowered, _QUOTA_WORDS):
        return "quota_spent", f"{host} says that the quota is spent", "Look at your account there."
    return None


def _unauthorised_failure(endpoint: Endpoint, host: str, status: int) -> tuple[str, str, str]:
    if not endpoint.key_place:
        remedy = (
            f"Put the key into a variable of the environment and its name into {endpoint.setting}.key_env "
            "(or --key-env), then workbench host restart, and continue."
        )
        return "key_needed", f"{host} needs a key, and none is set", remedy
    verb = "does not take" if status == 401 else "does not allow this with"
    remedy = f"Check the key in {endpoint.key_place}, then workbench host restart, and continue."
    return "key_refused", f"{host} {verb} the key in {endpoint.key_place}", remedy


def _not_found_failure(endpoint: Endpoint, model: str, codes: set[str], lowered: str) -> tuple[str, str, str]:
    if "model" in lowered or codes & {*_MISSING_MODEL_CODES}:
        remedy = (
            f"workbench doctor --provider {endpoint.name} lists the models there are; name one with --model."
        )
        return "no_such_model", f'{endpoint.base_url} has no model "{quote_server_text(model)}"', remedy
    remedy = f"base_url of {endpoint.setting} must be {endpoint.kind.address_hint}."
    return "not_found", f"there is no chat endpoint at {endpoint.base_url}", remedy


def _says_model_missing(lowered: str) -> bool:
    is_about = "model" in lowered
    return is_about and _contains_any(lowered, ("not found", "does not exist", "not exist", "unknown model"))


def _contains_any(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)


def _is_recoverable(status: int) -> bool:
    return status == 0 or status in (408, 409, 425, 429) or status >= 500 or status in (401, 403, 404)


def error_in_body(body: bytes) -> Mapping[str, object]:
    try:
        return error_in_json(json.loads(body))
    except (ValueError, RecursionError):
        return {}


def error_in_json(document: object) -> Mapping[str, object]:
    """Return what a JSON value says about an error: an object, or a text as its message."""
    items = cast("list[object]", document) if isinstance(document, list) else [document]
    top = json_object(items[0] if items else None)
    error = top.get("error")
    if isinstance(error, str) and error:
        return {"message": error}
    if isinstance(error, dict):
        return cast("Mapping[str, object]", error)
    is_bare = top.get("object") == "error" or ("choices" not in top and ("detail" in top or "message" in top))
    return top if is_bare else {}


def error_message(error: Mapping[str, object]) -> str:
    for name in ("message", "detail", "code", "type"):
        value = error.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list | dict) and value:
            return json.dumps(value, ensure_ascii=True)
    return ""


def status_in_error(error: Mapping[str, object]) -> int:
    """Return the status that an error object names; 0 where it names none."""
    for name in ("status", "code"):
        status = error.get(name)
        if isinstance(status, str) and status.isdecimal() and len(status) == 3:
            status = int(status)
        if isinstance(status, int) and not isinstance(status, bool) and 400 <= status < 600:
            return status
    return 0


def quote_server_text(text: str) -> str:
    """Return foreign words as one short line, without secrets: servers repeat the keys they were given."""
    return one_line(scrub(text.encode("utf-8", "replace").decode()).text, _MAX_QUOTE_CELLS).strip()


# --- when to come back ----------------------------------------------------------------------------


def retry_after_seconds(headers: HeaderFields) -> float | None:
    """Return the seconds that a server asks to wait: `retry-after-ms`, else `Retry-After` (RFC 9110, 10.2.3).

    A date counts from the server's own `Date`, so that a clock that is wrong here does no harm.
    """
    milliseconds = _seconds_or_none(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _seconds_or_none(value)
    if seconds is not None or not value:
        return seconds
    until, now = _http_date(value), _http_date(headers.get("date", "")) or datetime.now(UTC)
    return None if until is None else max(0.0, (until - now).total_seconds())


def _seconds_or_none(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _http_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


ForeignObject = Mapping[str, object]


def json_object(value: object) -> ForeignObject:
    """Return a JSON object, an empty one for anything else."""
    return cast("ForeignObject", value) if isinstance(value, dict) else {}
