"""Internet addresses: which of them lead to the public internet, and to nothing nearer.

Owns the table of special blocks (the IANA special-purpose address registries, RFC 6890, as of 2025-10)
and taking an IPv4 address out of the IPv6 address that carries it. Anycast services inside a special block
(of routers, relays) are denied with it although the registries call them reachable: no page is there. It
never asks the network anything.
"""

import ipaddress
from collections.abc import Iterator
from functools import cache
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_SPECIAL: Final = (
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "a private network"),
    ("100.64.0.0/10", "a provider's shared network"),
    ("127.0.0.0/8", "this machine"),
    ("168.63.129.16/32", "a cloud's own service"),  # public by number, answered by the host machine
    ("169.254.0.0/16", "the local link"),
    ("172.16.0.0/12", "a private network"),
    ("192.0.0.0/24", "protocol assignments"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "relays that are no more"),
    ("192.168.0.0/16", "a private network"),
    ("198.18.0.0/15", "benchmarks"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/128", "this network"),
    ("::1/128", "this machine"),
    ("64:ff9b:1::/48", "a local translation"),
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

_ALLOCATED: Final = ipaddress.IPv6Network("2000::/3")
"""Everything that IPv6 has given out for global use; what lies elsewhere is nobody's yet."""

# (prefix, bits below the embedded IPv4 address): RFC 4291 2.5.5, RFC 2765, RFC 6052, RFC 3056.
_CARRIERS: Final = (("::ffff:0:0/96", 0), ("::ffff:0:0:0/96", 0), ("64:ff9b::/96", 0), ("2002::/16", 80))


def parsed(text: str) -> Address | None:
    """Return an address as text writes it, or None; odd numbers, zones and octal forms are none."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def is_loopback(address: Address) -> bool:
    """Say whether an address is this machine itself: 127.0.0.0/8 or ::1, not wrapped in anything."""
    return address in ipaddress.ip_network("127.0.0.0/8" if address.version == 4 else "::1/128")


def objection(address: Address) -> str | None:
    """Return what an address belongs to if it is not the public internet, or None if it is."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            return "the local link"
        inner = carried(address)
        if inner is not None:
            found = objection(inner)
            return found and f"{inner} inside it, {found}"
    found = _block(address)
    if found is None and isinstance(address, ipaddress.IPv6Address) and address not in _ALLOCATED:
        return "a range that is not given out"
    return found


def carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that packets to an IPv6 address end up at, if it carries one."""
    for network, shift in _carriers():
        if address in network:
            return ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF)
    # ISATAP (RFC 5214): the interface part names the IPv4 address of a tunnel's end.
    if int(address) >> 32 & 0xFDFFFFFF == 0x00005EFE:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _block(address: Address) -> str | None:
    return next(
        (name for network, name in _table() if network.version == address.version and address in network),
        None,
    )


@cache
def _table() -> tuple[tuple[Network, str], ...]:
    return tuple((ipaddress.ip_network(text), name) for text, name in _SPECIAL)


@cache
def _carriers() -> tuple[tuple[ipaddress.IPv6Network, int], ...]:
    return tuple((ipaddress.IPv6Network(text), shift) for text, shift in _CARRIERS)


def blocks() -> Iterator[tuple[str, str]]:
    """Yield every special block and what it is for: for tests and for people."""
    yield from _SPECIAL
