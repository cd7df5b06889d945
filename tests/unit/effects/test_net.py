"""TLS over a pinned connection: the name is asked for and checked, the address is only connected to."""

import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

from tests.support.waits import PATIENCE
from workbench.effects.web_fetch import FetchDeadline, FetchFailed, FetchRequest, fetch_page


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    key, file = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", str(key), "-out", str(file), "-days", "2", "-subj", "/CN=name.example",
            "-addext", "subjectAltName=DNS:name.example",
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return key, file


@pytest.fixture
def server(certificate):
    key, file = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    names = []
    context.sni_callback = lambda sock, name, ctx: names.append(name)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
                with connection, context.wrap_socket(connection, server_side=True) as secure:
                    secure.recv(65536)
                    secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            except ssl.SSLError:
                continue
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1], file, names
    listener.close()


def ask(host, port):
    return FetchRequest(
        scheme="https", host=host, port=port, authority=f"{host}:{port}", target="/", addresses=("127.0.0.1",),
        headers={},
    )  # fmt: skip


def patience(seconds=PATIENCE):
    return FetchDeadline(until=time.monotonic() + seconds, is_stopped=lambda: False)


def test_the_certificate_is_checked_for_the_name_while_the_address_is_pinned(server):
    port, file, names = server
    context = ssl.create_default_context(cafile=str(file))
    assert fetch_page(ask("name.example", port), patience(), 100, context).body == b"hello"
    with pytest.raises(FetchFailed, match="certificate is not valid"):
        fetch_page(ask("other.example", port), patience(), 100, context)
    assert names == ["name.example", "other.example"]


def test_a_certificate_that_nobody_vouches_for_is_refused(server):
    port, _, _ = server
    with pytest.raises(FetchFailed, match="certificate is not valid"):
        fetch_page(ask("name.example", port), patience(), 100)
