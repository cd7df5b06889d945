"""What went wrong at a model server, in words for people: what did not happen, why, what to do.

Owns every code and sentence of that kind, and which failures pass by themselves. What a server said is quoted
as one bounded line; it is never followed, and never the place where a key could be read.
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
from workbench.providers.endpoint import Endpoint, NoKey
from workbench.providers.openai_reply import as_object
from workbench.text.safe import one_line
from workbench.text.scrub import scrub

LOADING: Final = "model_loading"
"""The code of a server that has not read its model yet: a wait, not an error."""

_QUOTE_CELLS: Final = 300
_OVERFLOW_CODES: Final = ("context_length_exceeded", "exceed_context_size_error", "string_above_max_length")
_OVERFLOW_WORDS: Final = (
    "context length", "context size", "context window", "exceeds the available context", "maximum context",
    "prompt is too long", "too many tokens", "input is too long",
)  # fmt: skip
_QUOTA_CODES: Final = ("insufficient_quota", "billing_hard_limit_reached", "quota_exceeded")
GO_ON: Final = "Then continue the session."
"""How remedies end that a session waits for."""

Fields = Mapping[str, str]


def unreached(endpoint: Endpoint, error: HttpFailed, *, has_begun: bool = False) -> FailurePart:
    """Return the failure of a connection.

    Args:
        endpoint: Where it went.
        error: What happened.
        has_begun: Whether a part of the reply had come.
    """
    place, detail = endpoint.base_url, f" ({error.detail})" if error.detail else ""
    host = urlsplit(place).hostname or place
    address = f"or correct base_url of {endpoint.setting}"
    match error.kind:
        case "refused":
            why = f"nothing answers at {place}{detail}"
            return failure("server_down", why, f"Start the server, {address}. {GO_ON}")
        case "unknown_host":
            why = f"the host {host} cannot be found{detail}"
            return failure("unknown_host", why, f"Look at the network, {address}. {GO_ON}")
        case "tls":
            why = f"the connection to {host} is not safe{detail}"
            return failure("tls_failed", why, f"Have its certificate mended, {address}. {GO_ON}")
        case "unreachable" | "connect_timeout":
            waited = f" within {endpoint.connect_seconds:g} s" if error.kind == "connect_timeout" else ""
            why = f"{host} cannot be reached{waited}{detail}"
            return failure("server_unreachable", why, f"Look at the network, {address}. {GO_ON}")
        case "silent" if has_begun:
            silence = f"{endpoint.silence_seconds:g} s"
            why = f"{host} stopped in the middle of its reply and said nothing for {silence}"
            longer = f"{endpoint.setting}.silence_seconds makes the wait longer."
            return failure("server_stalled", why, f"Continue to ask again; {longer}")
        case "silent":
            why = f"{host} did not begin to answer within {endpoint.first_token_seconds:g} s"
            longer = f"{endpoint.setting}.first_token_seconds makes the wait longer."
            return failure("no_answer", why, f"Look whether the server is busy; {longer}")
        case "broken":
            return broken_off(endpoint)
        case "protocol":
            why = f"what answers at {place} does not speak HTTP as expected"
            return failure("not_http", why, f"Correct base_url of {endpoint.setting}. {GO_ON}")


def broken_off(endpoint: Endpoint) -> FailurePart:
    """Return the failure of a reply without an end."""
    host = urlsplit(endpoint.base_url).hostname
    why = f"the connection to {host} broke before the reply was complete"
    return failure("reply_broken_off", why, "Look at the server's log, then continue to ask again.")


def garbage(endpoint: Endpoint, seen: str, kind: str = "") -> FailurePart:
    """Return the failure of something that is no chat completion."""
    what = f"{kind}: " if kind else ""
    why = f"{endpoint.base_url} answered something that is no chat completion: {what}{quoted(seen)}"
    remedy = f"base_url of {endpoint.setting} must be an OpenAI-compatible endpoint; it often ends in /v1."
    return failure("not_openai", why, remedy)


def too_large(what: str, most: str) -> FailurePart:
    """Return the failure of a reply beyond a limit."""
    remedy = "Continue to ask again, in smaller steps."
    return failure("reply_too_large", f"{what} is larger than {most}; the connection was closed", remedy)


def empty(stop: str | None) -> FailurePart:
    """Return the failure of a reply that says nothing."""
    why = "the model answered with nothing"
    if stop == "length":
        why = "the model said nothing before its limit of tokens was reached"
        return failure("empty_reply", why, "Raise max_tokens or the server's context size, then continue.")
    return failure("empty_reply", why, "Continue to ask again, or say it in other words.")


def no_key(error: NoKey) -> FailurePart:
    """Return the failure of a key that is not there."""
    return failure("key_missing", error.why, error.remedy)


def failure(code: str, message: str, remedy: str) -> FailurePart:
    """Make a failure that a human's word can mend."""
    return FailurePart(code=code, message=message, remedy=remedy)


# --- replies with a status ------------------------------------------------------------------------


def refused(endpoint: Endpoint, model: str, status: int, headers: Fields, body: bytes) -> FailurePart:
    """Return the failure that a reply with an error status means."""
    error = error_of(body)
    return told(endpoint, model, status, error, headers, seen=body[:2_000].decode("utf-8", "replace"))


def told(
    endpoint: Endpoint,
    model: str,
    status: int,
    error: Mapping[str, object],
    headers: Fields | None = None,
    seen: str = "",
) -> FailurePart:
    """Return the failure that an error object means.

    Args:
        endpoint: Who said it.
        model: The model that was asked for.
        status: The HTTP status; 0 for an error inside a stream that names none.
        error: The object under `error`.
        headers: Of the reply, by lower-case name.
        seen: The body, for one without an error object.
    """
    said = error_text(error) or seen
    words = quoted(said)
    code, message, remedy = _meaning(endpoint, model, status, error, said, headers or {})
    is_final = code in ("quota_spent", "context_overflow")
    return FailurePart(
        code=code, message=f"{message}: {words}" if words else message, remedy=remedy, status=status or None,
        retry_after_s=retry_after(headers or {}), recoverable=not is_final and _is_recoverable(status),
    )  # fmt: skip


def _meaning(
    endpoint: Endpoint, model: str, status: int, error: Mapping[str, object], said: str, headers: Fields
) -> tuple[str, str, str]:
    codes = {str(error.get(name)).lower() for name in ("code", "type") if error.get(name)}
    lowered, host = said.lower(), urlsplit(endpoint.base_url).hostname
    if codes & {*_OVERFLOW_CODES} or (status in (0, 400, 413, 422) and _has(lowered, _OVERFLOW_WORDS)):
        remedy = "Begin a new session, lower max_session_messages, or give the server a larger context."
        return "context_overflow", "the conversation is longer than the model's context", remedy
    if codes & {*_QUOTA_CODES} or status == 402:
        return "quota_spent", f"{host} says that the quota is spent", "Look at your account there."
    if status in (401, 403):
        return _unauthorised(endpoint, str(host), status)
    if status == 404 or "model_not_found" in codes or (status == 400 and _names_no_model(lowered)):
        return _missing(endpoint, model, codes, lowered)
    if status == 429:
        return "rate_limited", f"{host} wants fewer requests", f"Wait a while. {GO_ON}"
    if status == 503 and "loading" in lowered:
        return LOADING, f"{host} is still loading the model", f"Wait until it is loaded. {GO_ON}"
    if 300 <= status < 400:
        target = quoted(headers.get("location", "")) or "an address that it does not name"
        remedy = f"Put the address that you trust into base_url of {endpoint.setting}."
        return "redirected", f"{endpoint.base_url} sends on to {target}, which is not followed", remedy
    if status >= 500:
        return f"http_{status}", f"{host} failed with status {status}", f"Look at its log. {GO_ON}"
    if status == 0:
        return "provider_error", f"{host} broke its reply off with an error", "Continue to ask again."
    return f"http_{status}", f"{host} refused the request with status {status}", _correct(endpoint)


def _unauthorised(endpoint: Endpoint, host: str, status: int) -> tuple[str, str, str]:
    if not endpoint.key_place:
        remedy = (
            f"Put the key into a variable of the environment and its name into {endpoint.setting}.key_env "
            "(or --key-env), then workbench host restart, and continue."
        )
        return "key_needed", f"{host} needs a key, and none is set", remedy
    verb = "does not take" if status == 401 else "does not allow this with"
    remedy = f"Check the key in {endpoint.key_place}, then workbench host restart, and continue."
    return "key_refused", f"{host} {verb} the key in {endpoint.key_place}", remedy


def _missing(endpoint: Endpoint, model: str, codes: set[str], lowered: str) -> tuple[str, str, str]:
    if "model" in lowered or "model_not_found" in codes:
        remedy = (
            f"workbench doctor --provider {endpoint.name} lists the models there are; name one with --model."
        )
        return "no_such_model", f'{endpoint.base_url} has no model "{quoted(model)}"', remedy
    remedy = f"Correct base_url of {endpoint.setting}; it often ends in /v1."
    return "not_found", f"there is no chat endpoint at {endpoint.base_url}", remedy


def _correct(endpoint: Endpoint) -> str:
    return f"Look at the settings of {endpoint.setting}, or take another model. {GO_ON}"


def _names_no_model(lowered: str) -> bool:
    is_about = "model" in lowered
    return is_about and _has(lowered, ("not found", "does not exist", "not exist", "unknown model"))


def _has(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)


def _is_recoverable(status: int) -> bool:
    return status == 0 or status in (408, 409, 425, 429) or status >= 500 or status in (401, 403, 404)


def error_of(body: bytes) -> Mapping[str, object]:
    """Return the error object of a body; empty where there is none."""
    try:
        return error_in(json.loads(body))
    except (ValueError, RecursionError):
        return {}


def error_in(found: object) -> Mapping[str, object]:
    """Return what a JSON value says about an error: an object, or a text as its message."""
    items = cast("list[object]", found) if isinstance(found, list) else [found]
    top = as_object(items[0] if items else None)
    error = top.get("error")
    if isinstance(error, str) and error:
        return {"message": error}
    if isinstance(error, dict):
        return cast("Mapping[str, object]", error)
    is_bare = top.get("object") == "error" or ("choices" not in top and ("detail" in top or "message" in top))
    return top if is_bare else {}


def error_text(error: Mapping[str, object]) -> str:
    """Return what an error object says."""
    for name in ("message", "detail", "code", "type"):
        found = error.get(name)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, list | dict) and found:
            return json.dumps(found, ensure_ascii=True)
    return ""


def status_in(error: Mapping[str, object]) -> int:
    """Return the status that an error object names; 0 where it names none."""
    for name in ("status", "code"):
        found = error.get(name)
        if isinstance(found, str) and found.isdecimal() and len(found) == 3:
            found = int(found)
        if isinstance(found, int) and not isinstance(found, bool) and 400 <= found < 600:
            return found
    return 0


def quoted(text: str) -> str:
    """Return foreign words as one short line, without secrets: servers repeat the keys they were given."""
    return one_line(scrub(text.encode("utf-8", "replace").decode()).text, _QUOTE_CELLS).strip()


# --- when to come back ----------------------------------------------------------------------------


def retry_after(headers: Fields) -> float | None:
    """Return the seconds that a server asks to wait: `retry-after-ms`, else `Retry-After` (RFC 9110, 10.2.3).

    A date counts from the server's own `Date`, so that a clock that is wrong here does no harm.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    until, now = _date(value), _date(headers.get("date", "")) or datetime.now(UTC)
    return None if until is None else max(0.0, (until - now).total_seconds())


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
