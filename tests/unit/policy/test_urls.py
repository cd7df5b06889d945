"""Web addresses: what is fetched, what never is, and that what was judged is what is connected to."""

import ipaddress
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.policy import urls
from workbench.policy.urls import (
    MAX_REDIRECTS,
    UrlRefused,
    UrlRules,
    check_url,
    check_url_hops,
    normalized_host,
    parse_url,
    url_objection,
)

DNS = {
    "example.com": ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"],
    "private.example": ["10.0.0.7"],
    "half.example": ["93.184.216.34", "192.168.1.1"],
    "loop.example": ["127.0.0.1"],
    "both.example": ["127.0.0.1", "93.184.216.34"],
    "localhost": ["127.0.0.1", "::1"],
    "empty.example": [],
    "odd.example": ["0177.0.0.1"],
    "xn--bcher-kva.example": ["93.184.216.34"],
    "mapped.example": ["::ffff:10.0.0.1"],
    "zone.example": ["fe80::1%eth0"],
}
LOOPBACK = UrlRules(allow_loopback=True)


def resolve(host):
    return DNS[host]


@each_row(
    "url",
    [
        "https://example.com/",
        "https://example.com",
        "HTTPS://EXAMPLE.COM./a?b=c#d",
        "http://example.com:8080/x",
        "http://example.com:65535/",
        "http://example.com:/",
        "https://example.com/@someone/a:b?next=http://10.0.0.1/",
        "https://example.com?q=1@2",
        "https://ｅｘａｍｐｌｅ.com/",
        "https://example。com/",
        "https://bücher.example/straße?q=ä",
        "http://93.184.216.34/",
        "http://[2606:2800:220:1:248:1893:25c8:1946]:81/",
        "http://[::ffff:93.184.216.34]/",
        "http://[64:ff9b::5db8:d822]/",
    ],
)
def test_public_addresses_pass(url):
    found = check_url(url, resolve)
    assert (found.verdict, bool(found.addresses), found.is_loopback) == ("allow", True, False), found.reason


@each_row(
    ("url", "words"),
    [
        ("", "no scheme"),
        ("example.com", "no scheme"),
        ("ftp://example.com/", "ftp addresses"),
        ("file:///etc/passwd", "file addresses"),
        ("javascript:alert(1)", "javascript addresses"),
        ("http:example.com", "two slashes"),
        ("http:/example.com", "two slashes"),
        ("http:///example.com", "two slashes"),
        ("https://user@example.com/", "names a user"),
        ("https://user:word@example.com/", "names a user"),
        ("https://example.com:80@10.0.0.1/", "names a user"),
        ("https://:443/", "names no host"),
        ("https://example.com:0/", "port 0"),
        ("https://example.com:65536/", "port 65536"),
        ("https://example.com:８０/", "port"),
        ("https://example.com:80:80/", "port"),
        ("https://example.com:-1/", "port"),
        ("https://exam ple.com/", "U\\+0020"),
        ("https://example.com/\r\nHost: x", "U\\+000D"),
        ("https://exam\u200bple.com/", "U\\+200B"),
        ("https://example.com\\@10.0.0.1/", "backslash"),
        ("https://ex%61mple.com/", "cannot be the name"),
        ("https://example..com/", "cannot be the name"),
        ("https://" + "a" * 64 + ".com/", "cannot be the name"),
        ("https://example.com/" + "a" * 9000, "longer than"),
        ("https://[::1/", "brackets"),
        ("https://[::1]x/", "brackets"),
        ("https://[127.0.0.1]/", "brackets"),
        ("https://[fe80::1%25eth0]/", "brackets"),
        ("https://unknown.example/", "has no address"),
        ("https://empty.example/", "has no address"),
        ("https://odd.example/", "no address"),
        ("https://private.example/", "private network"),
        ("https://half.example/", "192.168.1.1"),
        ("https://loop.example/", "this machine"),
        ("https://both.example/", "this machine"),
        ("https://mapped.example/", "private network"),
        ("https://zone.example/", "local link"),
        ("http://localhost/", "this machine"),
        ("http://127.0.0.1/", "this machine"),
        ("http://127.255.255.254/", "this machine"),
        ("http://[::1]/", "this machine"),
        ("http://2130706433/", "unusual way to write"),
        ("http://0x7f000001/", "unusual way to write"),
        ("http://0x7f.0.0.1/", "unusual way to write"),
        ("http://0177.0.0.1/", "unusual way to write"),
        ("http://017700000001/", "unusual way to write"),
        ("http://127.1/", "unusual way to write"),
        ("http://127.0.0.1.5/", "unusual way to write"),
        ("http://１２７.0.0.1/", "this machine"),
        ("http://①②⑦.0.0.1/", "this machine"),
        ("http://127。0。0。1/", "this machine"),
        ("http://127.0.0.1./", "this machine"),
        ("http://169.254.169.254/latest/meta-data/", "local link"),
        ("http://168.63.129.16/", "cloud"),
        ("http://[::ffff:169.254.169.254]/", "local link"),
        ("http://[::ffff:7f00:1]/", "this machine"),
        ("http://[::127.0.0.1]/", "unallocated range"),
        ("http://[2002:a00:1::]/", "private network"),
        ("http://[2001:0:7f00:1::]/", "protocol assignments"),
        ("http://[64:ff9b::a00:1]/", "private network"),
        ("http://[2606:4700::5efe:a00:1]/", "private network"),
        ("http://[fd00:ec2::254]/", "private network"),
        ("http://[4000::1]/", "unallocated range"),
        ("http://0.0.0.0/", "this network"),
        ("http://192.0.0.9/", "protocol assignments"),
    ],
)
def test_everything_else_is_denied_with_a_reason(url, words):
    found = check_url(url, resolve)
    assert (found.verdict, found.addresses, found.place) == ("deny", (), None)
    assert re.search(words, found.reason), found.reason


@each_row(
    ("url", "verdict"),
    [
        ("http://127.0.0.1:8000/", "allow"),
        ("http://127.9.9.9/", "allow"),
        ("http://[::1]/", "allow"),
        ("http://localhost/", "allow"),
        ("http://loop.example/", "allow"),
        ("http://both.example/", "deny"),
        ("http://[::ffff:127.0.0.1]/", "deny"),
        ("http://10.0.0.1/", "deny"),
        ("http://169.254.1.1/", "deny"),
        ("http://0.0.0.0/", "deny"),
        ("http://2130706433/", "deny"),
        ("http://example.com/", "allow"),
    ],
)
def test_loopback_is_reached_only_where_the_configuration_says_so(url, verdict):
    assert check_url(url, resolve, LOOPBACK).verdict == verdict


@each_row(
    ("listed", "url", "verdict"),
    [
        (("example.com",), "https://EXAMPLE.com./", "allow"),
        (("Example.COM.",), "https://example.com/", "allow"),
        (("bücher.example",), "https://xn--bcher-kva.example/", "allow"),
        (("example.com",), "https://www.example.com/", "deny"),
        (("ample.com",), "https://example.com/", "deny"),
        (("private.example",), "https://private.example/", "deny"),
        (("10.0.0.1",), "https://10.0.0.1/", "deny"),
        (("[2606:4700::1]",), "https://[2606:4700:0::1]/", "allow"),
        (("not a host",), "https://example.com/", "deny"),
    ],
)
def test_a_list_of_hosts_is_compared_whole_and_lifts_no_check(listed, url, verdict):
    assert check_url(url, resolve, UrlRules(allowed_hosts=listed)).verdict == verdict


@each_row(
    ("first", "redirects", "rules", "words"),
    [
        ("https://example.com/a/b", ["/c", "d?e", "//example.com/f"], UrlRules(), ""),
        ("https://example.com/", ["http://example.com/"] * MAX_REDIRECTS, UrlRules(), ""),
        ("https://example.com/", ["/"] * (MAX_REDIRECTS + 1), UrlRules(), "more than 5 redirects"),
        ("https://example.com/", ["https://private.example/"], UrlRules(), "redirect 1: private.example"),
        ("https://example.com/", ["/a", "file:///etc/passwd"], UrlRules(), "redirect 2: file"),
        ("https://example.com/", ["http://127.0.0.1/"], LOOPBACK, "from elsewhere"),
        ("http://127.0.0.1/", ["http://localhost/", "/x"], LOOPBACK, ""),
        ("http://127.0.0.1/", ["https://example.com/", "http://127.0.0.1/"], LOOPBACK, "from elsewhere"),
        ("https://example.com/", ["http:other"], UrlRules(), "two slashes"),
        ("https://example.com/", ["//[broken/"], UrlRules(), "cannot be read"),
        ("https://example.com/", ["http://exa\nmple.com/"], UrlRules(), "U\\+000A"),
        (
            "https://example.com/",
            ["https://xn--bcher-kva.example/"],
            UrlRules(allowed_hosts=("example.com",)),
            "not in fetch.allowed_hosts",
        ),
    ],
)
def test_every_hop_is_judged(first, redirects, rules, words):
    found = check_url_hops(first, redirects, resolve, rules)
    assert found.verdict == ("deny" if words else "allow"), found.reason
    if words:
        assert re.search(words, found.reason), found.reason


def test_a_name_is_asked_once_a_hop_and_what_answered_is_what_is_listed():
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    asked = []

    def rebinding(host):
        asked.append(host)
        return next(answers)

    found = check_url("https://rebind.example/", rebinding)
    assert (found.addresses, asked) == (("93.184.216.34",), ["rebind.example"])
    again = check_url("/next", rebinding, UrlRules(), [found])
    assert (again.verdict, asked) == ("deny", ["rebind.example"] * 2)


def test_an_address_asks_no_name_server_and_what_its_text_shows_is_said_before_one_is_asked():
    def never(host):
        raise AssertionError(host)

    assert check_url("http://93.184.216.34/", never).verdict == "allow"
    assert url_objection("https://private.example/") is None
    assert "private network" in (url_objection("http://10.0.0.1/") or "")
    assert url_objection("http://127.0.0.1/", LOOPBACK) is None
    assert "allowed_hosts" in (
        url_objection("https://a.example/", UrlRules(allowed_hosts=("b.example",))) or ""
    )


@pytest.mark.parametrize("error", [OSError("no answer"), LookupError("unknown")])
def test_a_name_server_that_fails_denies(error):
    def failing(host):
        raise error

    assert "has no address" in check_url("https://example.com/", failing).reason


def test_what_is_sent_is_ascii_without_a_fragment():
    place = parse_url("https://bücher.example:444/straße?q=ä b".replace(" ", "%20") + "#teil")
    assert (place.authority, place.target) == (
        "xn--bcher-kva.example:444",
        "/stra%C3%9Fe?q=%C3%A4%20b",
    )
    assert parse_url("http://[::2]:80?x").url == "http://[::2]/?x"


@each_row(("network", "name"), urls.SPECIAL_BLOCKS)
def test_both_ends_of_every_special_block_are_denied(network, name):
    ends = ipaddress.ip_network(network)
    for address in (ends[0], ends[-1]):
        assert urls.non_public_reason(address) is not None, (address, name)


@given(st.ip_addresses())
def test_nothing_passes_that_the_library_calls_private(address):
    """An oracle of another hand: Python's table is older than ours, so it may only be laxer."""
    if urls.non_public_reason(address) is None:
        inner = urls.carried_ipv4(address) if address.version == 6 else None
        judged = inner or address
        assert judged.is_global and not judged.is_multicast
        assert not judged.is_loopback and not judged.is_link_local


@given(st.text(max_size=60))
def test_no_text_crashes_the_check_and_what_passes_reads_the_same_twice(text):
    for url in (text, f"http://{text}/", f"https://example.com{text}"):
        found = check_url(url, lambda host: ["93.184.216.34"])
        if found.verdict == "allow":
            assert found.place is not None
            assert parse_url(found.place.url) == found.place
            assert found.place.url.isascii()


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_as_itself(address):
    for carrier in (f"::ffff:{address}", f"64:ff9b::{address}"):
        assert (urls.non_public_reason(ipaddress.ip_address(carrier)) is None) == (
            urls.non_public_reason(address) is None
        )


def test_a_host_name_that_is_none_is_refused():
    with pytest.raises(UrlRefused):
        normalized_host("a b")
