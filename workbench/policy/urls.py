"""Web addresses that an agent names: whether they may be fetched, and which address is connected to.

Owns reading an address strictly (whatever two programs could read in two ways is refused), the list of
hosts, and the judgement of every hop and every answer of a name server. It opens no connection and asks no
name server: answers are given to it, and what it lets pass names the addresses that it has judged.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote, urljoin

from workbench.policy import addresses
from workbench.text.safe import one_line

MOST_REDIRECTS: Final = 5
LONGEST: Final = 8_192
"""Characters of an address; S0 names none, servers take about this much."""

_LONGEST_HOST: Final = 253
_PORTS: Final = {"http": 80, "https": 443}
_URL: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<slashes>/*)(?P<rest>.*)", re.DOTALL)
_AUTHORITY_END: Final = re.compile(r"[/?#]")
_LABEL: Final = re.compile(r"[a-z0-9_-]{1,63}")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNSAFE: Final = "%/:?#[]@!$&'()*+,;=~|"
"""What stays as it is when a path or query is made ASCII."""

Resolve = Callable[[str], Sequence[str]]
"""Returns the addresses of a host name; empty, or an OSError or LookupError, means that there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRules:
    """What a user allows: the section `fetch` of the configuration."""

    allow_loopback: bool = False
    """Whether 127.0.0.0/8 and ::1 may be reached; never by a redirect from elsewhere."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names, compared whole; empty means any. A listed name lifts no check of its addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An address taken apart: what its text alone says."""

    scheme: str
    host: str
    """Lower case, without a trailing dot, in ASCII; an IPv6 address without brackets."""
    port: int
    target: str
    """Path and query as they are sent, in ASCII."""
    address: addresses.Address | None
    """The host, where it is written as an address."""

    @property
    def authority(self) -> str:
        """Return host and port as the header `Host` has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """Return the whole address, without a fragment."""
        return f"{self.scheme}://{self.authority}{self.target}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlVerdict:
    """What was said of an address, and where a connection may go."""

    verdict: Literal["allow", "deny"]
    reason: str
    place: Place | None = None
    addresses: tuple[str, ...] = ()
    """What may be connected to, in the order of the answer; empty if denied."""
    is_loopback: bool = False


class UrlRefused(Exception):
    """An address may not be used; the message is the reason."""


def check(
    url: str, resolve: Resolve, rules: UrlRules | None = None, before: Sequence[UrlVerdict] = ()
) -> UrlVerdict:
    """Judge one address, and every internet address that its name has.

    Args:
        url: As the agent, or a redirect, named it.
        resolve: Asked once, and only for names; the caller connects to what the verdict lists, so that a
            second answer of the name server changes nothing.
        rules: What the user allows.
        before: Verdicts of the hops that led here; empty for the first.
    """
    rules = rules or UrlRules()
    try:
        if len(before) > MOST_REDIRECTS:
            raise UrlRefused(f"more than {MOST_REDIRECTS} redirects")
        place = parse(_joined(before[-1].place, url) if before else url)
        _require_listed(place, rules)
        found = (place.address,) if place.address is not None else _answers(place.host, resolve)
        is_loopback = _judged(place, found, rules, before)
    except UrlRefused as error:
        return UrlVerdict(verdict="deny", reason=str(error))
    listed = tuple(str(address) for address in found)
    reason = "this machine, which the configuration allows" if is_loopback else "a public address"
    return UrlVerdict(verdict="allow", reason=reason, place=place, addresses=listed, is_loopback=is_loopback)


def check_hops(
    url: str, redirects: Iterable[str], resolve: Resolve, rules: UrlRules | None = None
) -> UrlVerdict:
    """Judge an address and the redirects that follow: the last verdict, or the first that denies."""
    hops = [check(url, resolve, rules)]
    for number, location in enumerate(redirects, 1):
        if hops[-1].verdict == "deny":
            break
        found = check(location, resolve, rules, hops)
        if found.verdict == "deny":
            return UrlVerdict(verdict="deny", reason=f"redirect {number}: {found.reason}")
        hops.append(found)
    return hops[-1]


def objection(url: str, rules: UrlRules | None = None) -> str | None:
    """Return why an address can be refused by its text alone, without asking a name server."""
    rules = rules or UrlRules()
    try:
        place = parse(url)
        _require_listed(place, rules)
        if place.address is not None:
            _judged(place, (place.address,), rules, ())
    except UrlRefused as error:
        return str(error)
    return None


# --- reading ---------------------------------------------------------------------------------------


def parse(url: str) -> Place:
    """Take an address apart.

    Raises:
        UrlRefused: It is no http or https address, names a user, or could be read in two ways.
    """
    _require_plain(url)
    found = _URL.fullmatch(url)
    if found is None:
        raise UrlRefused("names no scheme; begin with https://")
    scheme = found["scheme"].lower()
    if scheme not in _PORTS:
        raise UrlRefused(f"{one_line(scheme, 20)} addresses are not fetched, only http and https")
    if len(found["slashes"]) != 2:
        raise UrlRefused(f"write {scheme}:// with two slashes and a host")
    end = _AUTHORITY_END.search(found["rest"])
    cut = end.start() if end else len(found["rest"])
    host, port = _split(found["rest"][:cut])
    name, address = _host(host)
    return Place(
        scheme=scheme,
        host=name,
        port=_port(port, scheme),
        target=_target(found["rest"][cut:]),
        address=address,
    )


def _joined(place: Place | None, location: str) -> str:
    """Return where a redirect leads; one without a scheme is read from where it was found."""
    _require_plain(location)
    if place is None or _URL.fullmatch(location):
        return location
    try:
        return urljoin(place.url, location)
    except ValueError:
        raise UrlRefused(f"{one_line(location, 80)} cannot be read as an address") from None


def _require_plain(url: str) -> None:
    if len(url) > LONGEST:
        raise UrlRefused(f"longer than {LONGEST} characters")
    for character in url:
        if character.isspace() or unicodedata.category(character) in ("Cc", "Cf", "Cs"):
            raise UrlRefused(f"holds a space or hidden character (U+{ord(character):04X}); percent-encode it")
    if "\\" in url:
        raise UrlRefused("holds a backslash, which some programs read as a slash; write / or %5C")


def _split(authority: str) -> tuple[str, str | None]:
    """Return host and port of an authority; the port None where there is no colon."""
    if "@" in authority:
        raise UrlRefused("names a user before the host; leave that out")
    if authority.startswith("["):
        host, bracket, rest = authority.partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise UrlRefused("its brackets do not hold an IPv6 address")
        return host + bracket, rest[1:] if rest else None
    host, colon, port = authority.partition(":")
    return host, port if colon else None


def _port(text: str | None, scheme: str) -> int:
    if not text:
        return _PORTS[scheme]
    if not (text.isascii() and text.isdigit()) or len(text) > 5 or not 1 <= int(text) <= 65_535:
        raise UrlRefused(f"port {one_line(text, 12)} is none; ports go from 1 to 65535")
    return int(text)


def _host(text: str) -> tuple[str, addresses.Address | None]:
    if text.startswith("["):
        address = addresses.parsed(text[1:-1])
        if address is None or address.version != 6 or "%" in text:
            raise UrlRefused("its brackets do not hold an IPv6 address without a zone")
        return str(address), address
    name = host_name(text)
    if _NUMBER.fullmatch(name.rpartition(".")[2]) is None:
        return name, None
    address = addresses.parsed(name)
    if address is None:
        raise UrlRefused(f"{one_line(name, 60)} is another way to write an address; write four plain numbers")
    return str(address), address


def host_name(text: str) -> str:
    """Return a host name as names are compared: lower case, no trailing dot, letters of others as `xn--`.

    Raises:
        UrlRefused: It is none.
    """
    name = unicodedata.normalize("NFKC", text).lower().replace("\u3002", ".").removesuffix(".")
    if not name:
        raise UrlRefused("names no host")
    if not name.isascii():
        name = _ascii(name)
    if len(name) > _LONGEST_HOST or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise UrlRefused(f"{one_line(name, 80)} cannot be the name of a host")
    return name


def _ascii(name: str) -> str:
    import idna

    try:
        return idna.encode(name, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        raise UrlRefused(f"{one_line(name, 80)} cannot be the name of a host") from None


def _target(text: str) -> str:
    """Return path and query, without the fragment."""
    path = text.partition("#")[0]
    return quote(path if path.startswith("/") else f"/{path}", safe=_UNSAFE)


# --- judging ---------------------------------------------------------------------------------------


def _require_listed(place: Place, rules: UrlRules) -> None:
    if rules.allowed_hosts and place.host not in {_listed(name) for name in rules.allowed_hosts}:
        raise UrlRefused(f"{one_line(place.host, 80)} is not in fetch.allowed_hosts")


def _listed(name: str) -> str:
    try:
        return _host(name)[0]
    except UrlRefused:
        return ""


def _answers(host: str, resolve: Resolve) -> tuple[addresses.Address, ...]:
    try:
        answer = tuple(dict.fromkeys(resolve(host)))
    except (OSError, LookupError) as error:
        raise UrlRefused(f"{one_line(host, 80)} has no address ({one_line(str(error), 80)})") from None
    if not answer:
        raise UrlRefused(f"{one_line(host, 80)} has no address")
    found = [(text, addresses.parsed(text)) for text in answer]
    for text, address in found:
        if address is None:
            raise UrlRefused(f"{one_line(host, 80)} leads to {one_line(text, 60)}, which is no address")
    return tuple(address for _, address in found if address is not None)


def _judged(
    place: Place, found: Sequence[addresses.Address], rules: UrlRules, before: Sequence[UrlVerdict]
) -> bool:
    """Return whether all addresses are this machine; every one of them has to be allowed."""
    near = [addresses.is_loopback(address) for address in found]
    is_loopback = rules.allow_loopback and all(near)
    if not is_loopback:
        for address in found:
            if (why := addresses.objection(address)) is not None:
                raise UrlRefused(f"{_leads(place, address)}: {why}, not the public internet")
    elif any(not hop.is_loopback for hop in before):
        raise UrlRefused("a redirect from elsewhere leads to this machine")
    return is_loopback


def _leads(place: Place, address: addresses.Address) -> str:
    return str(address) if place.address is not None else f"{one_line(place.host, 80)} leads to {address}"
