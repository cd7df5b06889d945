"""Web addresses that an agent names: whether they may be fetched, and which IP address is connected to."""

# A web address that could be read in two ways is refused (a backslash, `0x7f.1`, a percent sign in a host),
# also where both readings are harmless. Anycast services in special blocks are denied with their block: no
# page is there.

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final, Literal
from urllib.parse import quote, urljoin

from msgspec import Struct

from workbench.text.safe import one_line

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
SPECIAL_BLOCKS: Final = (
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "a private network"),
    ("100.64.0.0/10", "a provider's shared network"),
    ("127.0.0.0/8", "this machine"),
    ("168.63.129.16/32", "a cloud's own service"),  # public by number, answered by the host machine
    ("169.254.0.0/16", "the local link"),
    ("172.16.0.0/12", "a private network"),
    ("192.0.0.0/24", "protocol assignments"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "retired relays"),
    ("192.168.0.0/16", "a private network"),
    ("198.18.0.0/15", "benchmarks"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/128", "this network"),
    ("::1/128", "this machine"),
    ("64:ff9b:1::/48", "local address translation"),
    ("100::/64", "discarding"),
    ("100:0:0:1::/64", "a dummy prefix"),
    ("2001::/23", "protocol assignments"),
    ("2001:db8::/32", "documentation"),
    ("3fff::/20", "documentation"),
    ("5f00::/16", "segment routing"),
    ("fc00::/7", "a private network"),
    ("fe80::/10", "the local link"),
    ("fec0::/10", "a private network"),
    ("ff00::/8", "multicast"),
)
_ALLOCATED_IPV6: Final = ipaddress.IPv6Network("2000::/3")
"""All that is allocated for global use; the rest of IPv6 is not allocated yet."""
# (prefix, bits below the embedded IPv4 address): RFC 4291 2.5.5, RFC 2765, RFC 6052, RFC 3056.
_IPV4_CARRIER_BLOCKS: Final = (
    ("::ffff:0:0/96", 0),
    ("::ffff:0:0:0/96", 0),
    ("64:ff9b::/96", 0),
    ("2002::/16", 80),
)


def parse_ip_address(text: str) -> IpAddress | None:
    """Return the address that a text writes; None for odd numbers, zones and octal forms."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def is_loopback_address(address: IpAddress) -> bool:
    """Say whether an address is in 127.0.0.0/8 or ::1, not wrapped in another one."""
    return address in ipaddress.ip_network("127.0.0.0/8" if address.version == 4 else "::1/128")


def non_public_reason(address: IpAddress) -> str | None:
    """Return the block of an address that is not on the public internet; None for a public one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            return "the local link"
        inner = carried_ipv4(address)
        if inner is not None:
            reason = non_public_reason(inner)
            return reason and f"{inner} inside it, {reason}"
    reason = _special_block_of(address)
    if reason is None and isinstance(address, ipaddress.IPv6Address) and address not in _ALLOCATED_IPV6:
        return "an unallocated range"
    return reason


def carried_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address carries, if any: packets end up there."""
    for network, shift in _carrier_networks():
        if address in network:
            return ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF)
    # ISATAP (RFC 5214): the interface part names the IPv4 address of a tunnel's end.
    if int(address) >> 32 & 0xFDFFFFFF == 0x00005EFE:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _special_block_of(address: IpAddress) -> str | None:
    return next(
        (
            name
            for network, name in _special_networks()
            if network.version == address.version and address in network
        ),
        None,
    )


@cache
def _special_networks() -> tuple[tuple[IpNetwork, str], ...]:
    return tuple((ipaddress.ip_network(text), name) for text, name in SPECIAL_BLOCKS)


@cache
def _carrier_networks() -> tuple[tuple[ipaddress.IPv6Network, int], ...]:
    return tuple((ipaddress.IPv6Network(text), shift) for text, shift in _IPV4_CARRIER_BLOCKS)


MAX_REDIRECTS: Final = 5
MAX_URL_LENGTH: Final = 8_192
"""Characters of an address; servers accept about this many."""
_MAX_HOST_LENGTH: Final = 253
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_URL: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<slashes>/*)(?P<rest>.*)", re.DOTALL)
_AUTHORITY_END: Final = re.compile(r"[/?#]")
_HOST_LABEL: Final = re.compile(r"[a-z0-9_-]{1,63}")
_NUMERIC_LABEL: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_KEPT_CHARACTERS: Final = "%/:?#[]@!$&'()*+,;=~|"
HostLookup = Callable[[str], Sequence[str]]
"""Returns the addresses of a host name; empty, or an OSError or LookupError, means that there is none."""


class UrlRules(Struct, frozen=True, kw_only=True):
    """What a user allows: the section `fetch` of the configuration."""

    allow_loopback: bool = False
    """Whether 127.0.0.0/8 and ::1 may be reached; never by a redirect from elsewhere."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names, compared whole; empty means any. A listed name lifts no check of its addresses."""


class ParsedUrl(Struct, frozen=True, kw_only=True):
    """An address taken apart: what its text alone says."""

    scheme: str
    host: str
    """Lower case, without a trailing dot, in ASCII; an IPv6 address without brackets."""
    port: int
    target: str
    """Path and query as they are sent, in ASCII."""
    address: IpAddress | None
    """The host, where it is written as an address."""

    @property
    def authority(self) -> str:
        """Return host and port as the header `Host` has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """Return the whole address, without a fragment."""
        return f"{self.scheme}://{self.authority}{self.target}"


class UrlVerdict(Struct, frozen=True, kw_only=True):
    """What was said of an address, and where a connection may go."""

    verdict: Literal["allow", "deny"]
    reason: str
    place: ParsedUrl | None = None
    addresses: tuple[str, ...] = ()
    """In the order of the answer; empty if denied."""
    is_loopback: bool = False


class UrlRefused(Exception):
    """An address may not be used; the message is the reason."""


def check_url(
    url: str, resolve: HostLookup, rules: UrlRules | None = None, before: Sequence[UrlVerdict] = ()
) -> UrlVerdict:
    """Judge one address, and every internet address that its name has.

    `resolve` is asked once, and only for names: the caller connects to the addresses of the verdict, so a
    second answer of the name server changes nothing. `before` are the verdicts of earlier redirects.
    """
    rules = rules or UrlRules()
    try:
        if len(before) > MAX_REDIRECTS:
            raise UrlRefused(f"more than {MAX_REDIRECTS} redirects")
        place = parse_url(_redirect_url(before[-1].place, url) if before else url)
        _require_allowed_host(place, rules)
        addresses = (
            (place.address,) if place.address is not None else _looked_up_addresses(place.host, resolve)
        )
        is_loopback = _require_allowed_addresses(place, addresses, rules, before)
    except UrlRefused as error:
        return UrlVerdict(verdict="deny", reason=str(error))
    listed = tuple(str(address) for address in addresses)
    reason = "this machine, which the configuration allows" if is_loopback else "a public address"
    return UrlVerdict(verdict="allow", reason=reason, place=place, addresses=listed, is_loopback=is_loopback)


def check_url_hops(
    url: str, redirects: Iterable[str], resolve: HostLookup, rules: UrlRules | None = None
) -> UrlVerdict:
    """Judge an address and its redirects: the last verdict, or the first that denies."""
    hops = [check_url(url, resolve, rules)]
    for number, location in enumerate(redirects, 1):
        if hops[-1].verdict == "deny":
            break
        verdict = check_url(location, resolve, rules, hops)
        if verdict.verdict == "deny":
            return UrlVerdict(verdict="deny", reason=f"redirect {number}: {verdict.reason}")
        hops.append(verdict)
    return hops[-1]


def url_objection(url: str, rules: UrlRules | None = None) -> str | None:
    """Return why an address can be refused by its text alone, without asking a name server."""
    rules = rules or UrlRules()
    try:
        place = parse_url(url)
        _require_allowed_host(place, rules)
        if place.address is not None:
            _require_allowed_addresses(place, (place.address,), rules, ())
    except UrlRefused as error:
        return str(error)
    return None


# --- reading ---------------------------------------------------------------------------------------


def parse_url(url: str) -> ParsedUrl:
    """Take an address apart; `UrlRefused` unless it is http or https, names no user, has one reading."""
    _require_plain(url)
    match = _URL.fullmatch(url)
    if match is None:
        raise UrlRefused("has no scheme; begin with https://")
    scheme = match["scheme"].lower()
    if scheme not in _DEFAULT_PORTS:
        raise UrlRefused(f"{one_line(scheme, 20)} addresses are not fetched, only http and https")
    if len(match["slashes"]) != 2:
        raise UrlRefused(f"write {scheme}:// with two slashes and a host")
    end = _AUTHORITY_END.search(match["rest"])
    cut = end.start() if end else len(match["rest"])
    host, port = _split_authority(match["rest"][:cut])
    name, address = _parse_host(host)
    return ParsedUrl(
        scheme=scheme,
        host=name,
        port=_port(port, scheme),
        target=_request_target(match["rest"][cut:]),
        address=address,
    )


def _redirect_url(place: ParsedUrl | None, location: str) -> str:
    _require_plain(location)
    if place is None or _URL.fullmatch(location):
        return location
    try:
        return urljoin(place.url, location)
    except ValueError:
        raise UrlRefused(f"{one_line(location, 80)} cannot be read as an address") from None


def _require_plain(url: str) -> None:
    if len(url) > MAX_URL_LENGTH:
        raise UrlRefused(f"longer than {MAX_URL_LENGTH} characters")
    for character in url:
        if character.isspace() or unicodedata.category(character) in ("Cc", "Cf", "Cs"):
            raise UrlRefused(f"holds a space or hidden character (U+{ord(character):04X}); percent-encode it")
    if "\\" in url:
        raise UrlRefused("holds a backslash, which some programs read as a slash; write / or %5C")


def _split_authority(authority: str) -> tuple[str, str | None]:
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
        return _DEFAULT_PORTS[scheme]
    if not (text.isascii() and text.isdigit()) or len(text) > 5 or not 1 <= int(text) <= 65_535:
        raise UrlRefused(f"port {one_line(text, 12)} is none; ports go from 1 to 65535")
    return int(text)


def _parse_host(text: str) -> tuple[str, IpAddress | None]:
    if text.startswith("["):
        address = parse_ip_address(text[1:-1])
        if address is None or address.version != 6 or "%" in text:
            raise UrlRefused("its brackets do not hold an IPv6 address without a zone")
        return str(address), address
    name = normalized_host(text)
    if _NUMERIC_LABEL.fullmatch(name.rpartition(".")[2]) is None:
        return name, None
    address = parse_ip_address(name)
    if address is None:
        raise UrlRefused(
            f"{one_line(name, 60)} is an unusual way to write an IP address; write four decimal numbers"
        )
    return str(address), address


def normalized_host(text: str) -> str:
    """Return a host name for comparison (lower case, no trailing dot, `xn--`), or raise `UrlRefused`."""
    name = unicodedata.normalize("NFKC", text).lower().replace("\u3002", ".").removesuffix(".")
    if not name:
        raise UrlRefused("names no host")
    if not name.isascii():
        name = _ascii_host(name)
    if len(name) > _MAX_HOST_LENGTH or not all(_HOST_LABEL.fullmatch(label) for label in name.split(".")):
        raise UrlRefused(f"{one_line(name, 80)} cannot be the name of a host")
    return name


def _ascii_host(name: str) -> str:
    import idna

    try:
        return idna.encode(name, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        raise UrlRefused(f"{one_line(name, 80)} cannot be the name of a host") from None


def _request_target(text: str) -> str:
    path = text.partition("#")[0]
    return quote(path if path.startswith("/") else f"/{path}", safe=_KEPT_CHARACTERS)


# --- judging ---------------------------------------------------------------------------------------


def _require_allowed_host(place: ParsedUrl, rules: UrlRules) -> None:
    if rules.allowed_hosts and place.host not in {
        _normalized_allowed_host(name) for name in rules.allowed_hosts
    }:
        raise UrlRefused(f"{one_line(place.host, 80)} is not in fetch.allowed_hosts")


def _normalized_allowed_host(name: str) -> str:
    try:
        return _parse_host(name)[0]
    except UrlRefused:
        return ""


def _looked_up_addresses(host: str, resolve: HostLookup) -> tuple[IpAddress, ...]:
    try:
        answer = tuple(dict.fromkeys(resolve(host)))
    except (OSError, LookupError) as error:
        raise UrlRefused(f"{one_line(host, 80)} has no address ({one_line(str(error), 80)})") from None
    if not answer:
        raise UrlRefused(f"{one_line(host, 80)} has no address")
    addresses = [(text, parse_ip_address(text)) for text in answer]
    for text, address in addresses:
        if address is None:
            raise UrlRefused(f"{one_line(host, 80)} leads to {one_line(text, 60)}, which is no address")
    return tuple(address for _, address in addresses if address is not None)


def _require_allowed_addresses(
    place: ParsedUrl, addresses: Sequence[IpAddress], rules: UrlRules, before: Sequence[UrlVerdict]
) -> bool:
    """Return whether all addresses are this machine; every one of them has to be allowed."""
    near = [is_loopback_address(address) for address in addresses]
    is_loopback = rules.allow_loopback and all(near)
    if not is_loopback:
        for address in addresses:
            if (why := non_public_reason(address)) is not None:
                subject = "" if place.address is not None else f"{one_line(place.host, 80)} leads to "
                raise UrlRefused(f"{subject}{address}: {why}, not the public internet")
    elif any(not hop.is_loopback for hop in before):
        raise UrlRefused("a redirect from elsewhere leads to this machine")
    return is_loopback
