"""What is found on this machine, and that nothing that answers there can hold, mislead or redirect the search."""

import json
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest

from tests.support.waits import PATIENCE
from workbench.config.known_providers import KEY_VARIABLES, LocalServer
from workbench.config.layers import load_config
from workbench.config.types import Config
from workbench.effects.loopback_http import loopback_get
from workbench.host import model_discovery
from workbench.host.model_discovery import find_keys, find_local_models, find_models, without_known

MODELS = {
    "object": "list",
    "data": [{"id": "text-embedding-3"}, {"id": "qwen3"}, {"id": 7}, "x", {"id": " "}],
}


def http(body, status="200 OK", **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + data


class Loopback:
    """A server on a free port that answers every connection in one way, and counts them."""

    def __init__(self, answer, address="127.0.0.1"):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.socket(family)
        self._listener.bind((address, 0))
        self._listener.listen(8)
        self.port = self._listener.getsockname()[1]
        self.requests, self._answer, self._open = [], answer, []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection):
        try:
            self.requests.append(connection.recv(65_536))
            self._answer(connection)
        except (OSError, threading.BrokenBarrierError):
            pass

    def close(self):
        self._listener.close()
        for connection in self._open:
            connection.close()


@contextmanager
def serving(answer, address="127.0.0.1"):
    server = Loopback(answer, address)
    try:
        yield server
    finally:
        server.close()


def answering(data):
    return lambda connection: connection.sendall(data)


def hanging(connection):
    connection.settimeout(None)
    connection.recv(1)


def dripping(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b" ")
        threading.Event().wait(0.01)


def flooding(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b'{"data": [' + b" " * 65_536)


def server_row(port, **more):
    return LocalServer(**{"name": "local", "label": "Test", "port": port, **more})


def found_at(answer, address="127.0.0.1"):
    with serving(answer, address) as server:
        return find_local_models([server_row(server.port)]), server


def test_a_server_is_found_with_a_model_that_chats():
    (found,), server = found_at(answering(http(MODELS)))
    assert (found.provider, found.kind, found.key_env) == ("local", "openai-compatible", None)
    assert found.base_url == f"http://127.0.0.1:{server.port}/v1"
    assert (found.model, found.models) == ("qwen3", ("text-embedding-3", "qwen3"))
    assert found.source == f"127.0.0.1:{server.port} (Test's usual port), 2 models"
    (request,) = server.requests
    assert request.startswith(b"GET /v1/models HTTP/1.1\r\n") and b"uthorization" not in request


def test_a_list_in_pieces_and_without_a_length_is_read():
    body = json.dumps(MODELS).encode()
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (
        len(body),
        body,
    )
    assert found_at(answering(chunked))[0][0].model == "qwen3"

    def to_the_end(connection):
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + body[:20])
        connection.sendall(body[20:])
        connection.close()

    assert found_at(to_the_end)[0][0].model == "qwen3"


def test_a_server_that_listens_only_for_ipv6_is_found():
    try:
        (found,), server = found_at(answering(http(MODELS)), "::1")
    except OSError:
        pytest.skip("no IPv6 here")
    assert found.base_url == f"http://[::1]:{server.port}/v1"


NO_MODELS = {
    "html": http(b"<html><h1>It works!</h1></html>", **{"Content-Type": "text/html"}),
    "html that says 404": http(b"<html>", "404 Not Found"),
    "a key is wanted": http({"error": "key"}, "401 Unauthorized"),
    "not a list": http({"data": {"id": "x"}}),
    "an empty list": http({"data": []}),
    "a list of nothing usable": http(
        {"data": [{"id": ""}, {"name": "x"}, {"id": "a\nb"}, {"id": "m" * 500}]}
    ),
    "another json": http([1, 2]),
    "no json": http(b"\xff\x00{"),
    "deep json": http(b"[" * 100_000),
    "no http": b"SSH-2.0-OpenSSH_9.9\r\n",
    "nothing": b"",
    "a status alone": b"HTTP/1.1 200 OK\r\n\r\n",
    "many headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5_000 + b"\r\n{}",
    "a wrong length": b"HTTP/1.1 200 OK\r\nContent-Length: -7\r\n\r\n{}",
    "bad pieces": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
}


@pytest.mark.parametrize("answer", NO_MODELS.values(), ids=NO_MODELS)
def test_what_lists_no_models_is_not_found(answer):
    def once(connection):
        connection.sendall(answer)
        connection.close()

    assert found_at(once)[0] == ()


def test_a_redirect_is_not_followed():
    with serving(answering(http(MODELS))) as other:
        target = f"http://127.0.0.1:{other.port}/v1/models"
        moved = http(MODELS, "302 Found", Location=target)
        assert found_at(answering(moved))[0] == ()
        assert other.requests == []


@pytest.mark.parametrize("answer", [hanging, dripping, flooding])
def test_nothing_holds_the_search_longer_than_its_time(answer, monkeypatch):
    """Bad servers end with the time that all have; they are asked side by side with the good one."""
    for seconds in (model_discovery.DISCOVERY_SECONDS, 5.0, 25.0):  # a busy machine may need more
        monkeypatch.setattr(model_discovery, "DISCOVERY_SECONDS", seconds)
        together = threading.Barrier(4)

        def answer_together(connection, how, together=together):
            together.wait()
            how(connection)

        with ExitStack() as stack:
            bad, good = (
                partial(answer_together, how=answer),
                partial(answer_together, how=answering(http(MODELS))),
            )
            servers = [stack.enter_context(serving(how)) for how in (bad, bad, bad, good)]
            stack.callback(together.abort)
            found = find_local_models([server_row(server.port) for server in servers])
        if found:
            break
    assert [one.base_url for one in found] == [f"http://127.0.0.1:{servers[-1].port}/v1"]


def test_an_answer_without_an_end_is_cut(monkeypatch):
    monkeypatch.setattr(model_discovery, "DISCOVERY_SECONDS", 10 * PATIENCE)

    def endless(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b" " * 65_536)

    started = time.monotonic()
    assert found_at(endless)[0] == ()
    assert time.monotonic() - started < PATIENCE, "by its bytes, long before its time"


def test_only_this_machine_is_asked(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert found_at(answering(http(MODELS)))[0] != ()
    with pytest.raises(ValueError, match="not this machine"):
        loopback_get("192.0.2.1", 80, "/", 0.1)


def test_keys_are_found_by_their_variables():
    env = {"OPENAI_API_KEY": "sk-x", "MISTRAL_API_KEY": " ", "GROQ_API_KEY": "", "DEEPSEEK_API_KEY": "y"}
    openai, deepseek = find_keys(env)
    assert (openai.provider, openai.key_env, openai.base_url) == (
        "openai",
        "OPENAI_API_KEY",
        "https://api.openai.com/v1",
    )
    assert openai.source == "OpenAI, OPENAI_API_KEY is set"
    assert deepseek.provider == "deepseek"
    assert "sk-x" not in repr((openai, deepseek))


def test_a_key_is_meant_for_the_address_that_stands_beside_it():
    env = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "https://gateway.example/v1/"}
    (found,) = find_keys(env)
    assert (found.base_url, found.model) == ("https://gateway.example/v1", None)
    assert found.source == "OpenAI at the address of OPENAI_BASE_URL, OPENAI_API_KEY is set"
    assert find_keys({**env, "OPENAI_BASE_URL": "not an address"}) == ()
    assert find_keys({"ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": "https://g.example"})[0].base_url == (
        "https://g.example"
    )


def test_the_table_names_each_thing_once():
    for values in zip(*((row.variable, row.name, row.base_url) for row in KEY_VARIABLES), strict=True):
        assert len(set(values)) == len(values)
    assert len(find_keys({row.variable: "x" for row in KEY_VARIABLES})) == len(KEY_VARIABLES)


def configured(tmp_path, **providers):
    (tmp_path / "config.json").write_text(json.dumps({"providers": providers}))
    return load_config(tmp_path, None, trusted=True, env={}, options={}).config


def test_what_the_configuration_has_is_not_offered_again(tmp_path):
    with serving(answering(http(MODELS))) as server:
        rows = [server_row(server.port)]
        (found,) = find_models(Config(), {}, rows)
        own = {"kind": "openai-compatible", "base_url": f"http://localhost:{server.port}"}
        assert find_models(configured(tmp_path, mine=own), {}, rows) == ()
        other = {"kind": "openai-compatible", "base_url": "http://127.0.0.1:9/v1"}
        (renamed,) = find_models(configured(tmp_path, local=other), {}, rows)
    assert (found.provider, renamed.provider) == ("local", "local-2")
    keyed = {"kind": "openai-compatible", "base_url": "https://h.example", "key_env": "OPENAI_API_KEY"}
    assert without_known(find_keys({"OPENAI_API_KEY": "x"}), configured(tmp_path, mine=keyed)) == ()
