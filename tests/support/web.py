"""A web server on this machine that misbehaves as told: raw bytes, slow, endless, broken off."""

import socket
import threading
import time

from tests.support.waits import PATIENCE


class Web:
    """Answers each path with what a table says: bytes, or a function of (connection, head)."""

    def __init__(self):
        self.pages = {}
        self.seen = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._threads = []
        self._over = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, path="/", host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"

    def page(self, path, body=b"", kind="text/html", status="200 OK", **headers):
        body = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
        lines += [f"Content-Type: {kind}"] if kind else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.pages[path] = ("\r\n".join(lines) + "\r\n\r\n").encode() + body
        return self

    def redirect(self, path, to, status="302 Found"):
        return self.page(path, status=status, Location=to)

    def raw(self, path, *chunks, pause=0.0):
        def send(connection, _):
            for chunk in chunks:
                connection.sendall(chunk)
                self._over.wait(pause)

        self.pages[path] = send
        return self

    def endless(self, path, head, chunk, pause=0.0, seconds=60):
        def send(connection, _):
            connection.sendall(head)
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline and not self._over.wait(pause):
                connection.sendall(chunk)

        self.pages[path] = send
        return self

    def close(self):
        self._over.set()
        self._listener.close()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _accept(self):
        while not self._over.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection):
        with connection:
            head = b""
            try:
                while b"\r\n\r\n" not in head and (part := connection.recv(65536)):
                    head += part
                self._answer(connection, head.decode("latin-1"))
            except OSError:
                return

    def _answer(self, connection, head):
        path = head.split(" ", 2)[1] if " " in head else ""
        self.seen.append((path, head))
        found = self.pages.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        if callable(found):
            found(connection, head)
        else:
            connection.sendall(found)
