"""fetch_webpage against a real server that misbehaves: bounds, redirects, robots.txt, pinned connections."""

import gzip
import socket
import threading
import time
import zlib

import pytest

from tests.support.waits import PATIENCE
from tests.support.web import Web
from workbench.effects import web_fetch
from workbench.effects.files import Root
from workbench.policy.urls import UrlRules
from workbench.tools import fetch_webpage
from workbench.tools.base import CallContext, ToolLimits, ToolRefused
from workbench.tools.fetch_webpage import FetchWebpage

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


@pytest.fixture
def web():
    server = Web()
    yield server
    server.close()


@pytest.fixture
def fetch(tmp_path):
    def fetching(url, rules=UrlRules(allow_loopback=True), limits=ToolLimits(), **more):  # noqa: B008 -- frozen
        with Root(tmp_path) as root:
            return FetchWebpage().read(
                {"url": url}, CallContext(root=root, limits=limits, urls=rules, **more)
            )

    return fetching


PAGE = """<!DOCTYPE html><html><head><title>A &amp; B</title><script>alert(1)</script><style>x{}</style></head>
<body><h1>Head</h1><p>Words with a <a href="/next">link</a>.</p><ul><li>one<li>two</ul>
<table><tr><td>1</td><td>2</td></tr></table><pre>  code
    more</pre></body></html>"""


def test_a_page_becomes_text(web, fetch):
    web.page("/", PAGE)
    found = fetch(web.url())
    assert found.error == ""
    assert "# A & B" in found.text and "[link](/next)" in found.text and "* one" in found.text
    assert "    more" in found.text and "1  2" in found.text
    assert "alert" not in found.text and "x{}" not in found.text
    assert found.metadata == {"url": web.url(), "status": 200, "bytes": len(PAGE.encode())}
    head = web.seen[-1][1]
    assert f"Host: 127.0.0.1:{web.port}" in head and "User-Agent: workbench/" in head
    assert "cookie" not in head.lower() and "authorization" not in head.lower()


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/json", "application/atom+xml; charset=utf-8", None]
)
def test_other_text_comes_as_it_is(web, fetch, kind):
    web.page("/x", '{"é": 1}', kind=kind)
    assert '{"é": 1}' in fetch(web.url("/x")).text


@pytest.mark.parametrize(
    ("kind", "body"),
    [("image/png", b"\x89PNG"), ("application/zip", b"PK"), (None, b"\0\1"), ("te xt", b"x")],
)
def test_what_is_no_text_is_not_read(web, fetch, kind, body):
    web.page("/x", body, kind=kind)
    with pytest.raises(ToolRefused, match="only text and web pages are read"):
        fetch(web.url("/x"))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("grün".encode("latin-1"), "text/plain; charset=ISO-8859-1"),
        ("<meta charset='windows-1252'><p>grün".encode("cp1252"), "text/html"),
        ("\ufeffgrün".encode(), "text/plain"),
        ("grün".encode("utf-16"), 'text/plain; charset="utf-16"'),
        ("grün".encode(), "text/plain; charset=zlib"),
        ("grün".encode(), "text/plain; charset=punycode"),
        ("<?xml version='1.0' encoding='latin-1'?><p>grün".encode(), "application/xhtml+xml"),
    ],
)
def test_the_character_set_is_that_of_the_answer_the_page_or_utf_8(web, fetch, body, kind):
    web.page("/x", body, kind=kind)
    assert "grün" in fetch(web.url("/x")).text


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data)[2:-4]),
        ("identity", bytes),
    ],
)
def test_compressed_answers_are_read(web, fetch, encoding, pack):
    web.page("/x", pack(b"words " * 1000), kind="text/plain", Content_Encoding=encoding)
    assert fetch(web.url("/x")).metadata["bytes"] == 6000


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "zstd"])
def test_an_encoding_that_was_not_asked_for_is_refused(web, fetch, encoding):
    web.page("/x", b"x", Content_Encoding=encoding)
    with pytest.raises(ToolRefused, match="not asked for"):
        fetch(web.url("/x"))


def test_a_bomb_does_not_go_off(web, fetch):
    bomb = gzip.compress(b"\x20" * 300_000_000)
    web.page("/x", bomb, kind="text/plain", Content_Encoding="gzip")
    begun = time.monotonic()
    found = fetch(web.url("/x"))
    assert (found.metadata["bytes"], found.metadata["truncated"]) == (fetch_webpage.MAX_PAGE_BYTES, True)
    assert time.monotonic() - begun < PATIENCE


def test_an_endless_answer_is_cut_at_its_limit(web, fetch):
    web.endless("/x", HEAD + b"\r\n", b"x" * 65536)
    found = fetch(web.url("/x"))
    assert found.metadata["bytes"] == fetch_webpage.MAX_PAGE_BYTES
    assert len(found.text.encode()) <= ToolLimits().context_file_bytes
    assert "cut: " in found.text


@pytest.mark.parametrize(
    "chunks",
    [
        (HEAD + b"Content-Length: 5\r\n\r\n", b"he", b"l", b"lo"),
        (HEAD, b"Transfer-Encoding: chunked\r\n\r\n", b"2\r", b"\nhe\r\n", b"3\r\nllo\r\n0\r", b"\n\r\n"),
        (*(bytes([byte]) for byte in HEAD + b"Content-Length: 5\r\n\r\nhello"),),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + HEAD + b"\r\n", b"hello"),
    ],
)
def test_an_answer_may_come_in_any_pieces(web, fetch, chunks):
    web.raw("/x", *chunks, pause=0.001)
    assert "hello" in fetch(web.url("/x")).text


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"garbage\r\n\r\n", "broke off or is not HTTP"),
        (HEAD + b"Content-Length: 50\r\n\r\nshort", "broke off"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "broke off"),
        (b"", "broke off"),
        (HEAD + b"X: " + b"y" * 200_000 + b"\r\n\r\n", "broke off"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"x" * 100, mtime=0)[:-12], "too early"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\nnot gzip at all", "broke off"),
    ],
    ids=["garbage", "short", "chunk", "nothing", "head", "cut", "no-gzip"],
)
def test_an_answer_that_is_none_is_said(web, fetch, raw, words):
    web.raw("/x", raw)
    with pytest.raises(ToolRefused, match=words):
        fetch(web.url("/x"))


@pytest.mark.parametrize("head", [b"", HEAD, HEAD + b"\r\n"])
def test_a_slow_server_is_given_up(web, fetch, monkeypatch, head):
    monkeypatch.setattr(fetch_webpage, "MAX_FETCH_SECONDS", 0.5)
    web.endless("/x", head, b"x", pause=0.05)
    begun = time.monotonic()
    with pytest.raises(ToolRefused, match="took too long"):
        fetch(web.url("/x"))
    assert time.monotonic() - begun < PATIENCE


def test_a_call_that_is_stopped_ends_at_once(web, fetch):
    stop = threading.Event()
    web.endless("/x", HEAD + b"\r\n", b"", pause=0.05)
    web.pages["/robots.txt"] = lambda connection, head: stop.set()
    begun = time.monotonic()
    with pytest.raises(ToolRefused, match=r"it was stopped|broke off"):
        fetch(web.url("/x"), is_stopped=stop.is_set)
    assert time.monotonic() - begun < PATIENCE


def test_nobody_listens(web, fetch):
    web.close()
    with pytest.raises(ToolRefused, match="no connection"):
        fetch(web.url("/x"))


def test_a_status_that_is_no_success_is_an_error_with_its_text(web, fetch):
    web.page("/x", "gone away", kind="text/plain", status="410 Gone")
    found = fetch(web.url("/x"))
    assert "answered 410" in found.error and "gone away" in found.text


# --- redirects -------------------------------------------------------------------------------------


def test_redirects_are_followed_and_said(web, fetch):
    web.redirect("/a", "/b").redirect("/b", "c?d=1", "308 Permanent Redirect").page("/c?d=1", "<p>here")
    found = fetch(web.url("/a"))
    assert "here" in found.text and "after 2 redirects" in found.text
    assert found.metadata["url"] == web.url("/c?d=1")


def test_an_endless_redirect_ends(web, fetch):
    web.redirect("/a", "/a")
    with pytest.raises(ToolRefused, match="more than 5 redirects"):
        fetch(web.url("/a"))
    assert [path for path, _ in web.seen].count("/a") == 6


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://169.254.169.254/latest/", "the local link"),
        ("http://10.0.0.1/", "private network"),
        ("file:///etc/passwd", "file addresses"),
        ("http://0x7f000001/", "unusual way to write"),
        ("http://private.example/", "private.example leads to 192.168.0.1"),
        ("http://user:word@127.0.0.1/", "names a user"),
    ],
)
def test_a_redirect_is_judged_like_the_first_address(web, fetch, location, words):
    web.redirect("/a", location)
    with pytest.raises(ToolRefused, match=words):
        fetch(web.url("/a"), lookup=lambda host, patience: ("192.168.0.1",))


def test_a_redirect_that_may_not_be_followed_is_not(web, fetch):
    web.redirect("/a", "/b").page("/b", "secret")
    with pytest.raises(ToolRefused, match="a redirect leads here, and it is denied"):
        fetch(web.url("/a"), may_follow=lambda url: "it is denied")
    assert "/b" not in [path for path, _ in web.seen]


# --- where it connects -----------------------------------------------------------------------------


def test_this_machine_is_reached_only_if_the_configuration_says_so(web, fetch):
    web.page("/", "x")
    with pytest.raises(ToolRefused, match="this machine"):
        fetch(web.url(), UrlRules())
    assert web.seen == []


def test_a_name_is_looked_up_once_a_hop_and_the_connection_goes_where_that_said(web, fetch, monkeypatch):
    web.page("/x", "words", kind="text/plain")
    asked = []
    real = socket.getaddrinfo

    def only_numbers(host, *more, **named):
        assert host == "127.0.0.1", f"{host} was looked up again"
        return real(host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", only_numbers)

    def rebinding(host, patience):
        asked.append(host)
        return ("127.0.0.1",) if len(asked) == 1 else ("10.0.0.1",)

    found = fetch(web.url("/x", "pinned.example"), lookup=rebinding)
    assert (asked, "words" in found.text) == (["pinned.example"], True)
    assert f"Host: pinned.example:{web.port}" in web.seen[-1][1]


def test_the_next_hop_is_looked_up_anew_and_a_name_that_moved_inside_is_refused(web, fetch):
    web.redirect("/x", "/y").page("/y", "words")
    answers = iter([("127.0.0.1",), ("192.168.1.1",)])
    with pytest.raises(ToolRefused, match=r"192.168.1.1: a private network"):
        fetch(web.url("/x", "pinned.example"), lookup=lambda host, patience: next(answers))


def test_the_second_address_of_a_name_is_tried(web, fetch):
    web.page("/x", "words", kind="text/plain")
    found = fetch(web.url("/x", "two.example"), lookup=lambda host, patience: ("127.0.0.99", "127.0.0.1"))
    assert "words" in found.text


def test_tls_is_begun_with_the_name_and_not_with_the_address():
    import httpcore

    from workbench.effects.web_fetch import PinnedBackend

    class Stream(httpcore.NetworkStream):
        def start_tls(self, ssl_context, server_hostname=None, timeout=None):
            raise httpcore.ConnectError(f"tls with {server_hostname}")

        def close(self):
            pass

    class Backend:
        def connect_tcp(self, host, port, timeout):
            assert host == "192.0.2.7"
            return Stream()

    pinned = PinnedBackend(("192.0.2.7",), lambda: 1.0, 1.0, 0.1)
    pinned._backend = Backend()
    with (
        httpcore.ConnectionPool(network_backend=pinned) as pool,
        pytest.raises(httpcore.ConnectError, match=r"tls with name.example"),
    ):
        pool.request("GET", "https://name.example/")


def test_a_slow_name_server_is_given_up(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *more, **named: release.wait(PATIENCE) and [])
    with pytest.raises(web_fetch.FetchFailed, match="took too long"):
        web_fetch.resolve_host(
            "slow.example", web_fetch.FetchDeadline(until=time.monotonic() + 0.3, is_stopped=lambda: False)
        )
    release.set()


def test_proxy_variables_are_not_obeyed(web, fetch, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    web.page("/x", "words", kind="text/plain")
    assert "words" in fetch(web.url("/x")).text


# --- robots.txt -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("robots", "path", "is_fetched"),
    [
        ("User-agent: *\nDisallow: /private\n", "/private/x", False),
        ("User-agent: *\nDisallow: /private\n", "/public", True),
        ("User-agent: workbench\nDisallow: /\n\nUser-agent: *\nAllow: /\n", "/x", False),
        ("User-agent: other\nDisallow: /\n", "/x", True),
        ("", "/x", True),
    ],
)
def test_robots_txt_is_respected(web, fetch, robots, path, is_fetched):
    web.page("/robots.txt", robots, kind="text/plain").page(path, "words", kind="text/plain")
    if is_fetched:
        assert "words" in fetch(web.url(path)).text
    else:
        with pytest.raises(ToolRefused, match=r"robots.txt asks programs to stay away"):
            fetch(web.url(path))
        assert path not in [seen for seen, _ in web.seen]


def test_a_site_that_cannot_say_is_not_fetched(web, fetch):
    web.page("/robots.txt", status="503 Busy").page("/x", "words")
    with pytest.raises(ToolRefused, match="cannot be had at present"):
        fetch(web.url("/x"))


def test_robots_txt_is_asked_for_once_and_may_itself_be_elsewhere(web, fetch):
    web.redirect("/robots.txt", "/r").page("/r", "User-agent: *\nDisallow: /b\n", kind="text/plain")
    web.redirect("/a", "/b").page("/b", "x")
    with pytest.raises(ToolRefused, match="stay away"):
        fetch(web.url("/a"))
    assert [path for path, _ in web.seen] == ["/robots.txt", "/r", "/a"]


# --- hostile pages ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + "x",
        "<a " + " ".join(f"a{n}=1" for n in range(100_000)) + ">x</a>",
        "<" * 500_000,
        "<!--" * 100_000,
        "<table><tr><td>" * 3_000 + "x",
        "\0" * 1000,
        "",
        "<title>" * 50_000,
        "<?xml " * 50_000,
    ],
    ids=["deep", "attributes", "angles", "comments", "tables", "nul", "empty", "titles", "declarations"],
)
def test_a_hostile_page_costs_no_more_than_its_size(web, fetch, html):
    web.page("/x", html)
    begun = time.monotonic()
    found = fetch(web.url("/x"))
    assert found.text.startswith("[http")
    assert time.monotonic() - begun < PATIENCE
