"""A chat server on loopback that says exactly what a test wants, byte by byte, and remembers what it was asked.

Each request takes the next answer: pieces of bytes as they go over the wire, with faults between them.
"""

import contextlib
import json
import socket
import struct
import threading
from dataclasses import dataclass, field

from tests.support.waits import PATIENCE

OK = "200 OK"


class Stall:
    """Send nothing more until the other side goes away (or the server ends)."""


class Reset:
    """End the connection by a reset."""


@dataclass
class Answer:
    """One reply: status, headers, and the body in pieces; a piece may be a fault."""

    pieces: list = field(default_factory=list)
    status: str = OK
    headers: dict = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    raw: bytes | None = None
    """Instead of everything else, these bytes."""
    head: bool = True
    """Whether status and headers are sent; without them a stall sends not one byte."""


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


def event(value):
    """One event of a stream with a JSON value."""
    data = value if isinstance(value, str) else json.dumps(value)
    return f"data: {data}\n\n".encode()


def chunk(delta=None, finish=None, **more):
    """One chunk of a chat completion."""
    return {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more,
    }  # fmt: skip


def usage(sent, received):
    return {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
        "usage": {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received},
    }  # fmt: skip


def said(*texts, finish="stop", counts=(5, 2)):
    """A whole stream that says some texts."""
    chunks = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": text}) for text in texts)]
    return Answer([event(one) for one in (*chunks, chunk(finish=finish), usage(*counts), "[DONE]")])


def called(name, arguments, call_id="call_1", text=""):
    """A whole stream that calls one tool, its arguments in two pieces."""
    half = len(arguments) // 2
    first = {"index": 0, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    deltas = [
        {"role": "assistant", "content": text},
        {"tool_calls": [first]},
        {"tool_calls": [{"index": 0, "function": {"arguments": arguments[:half]}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": arguments[half:]}}]},
    ]
    chunks = [*map(chunk, deltas), chunk(finish="tool_calls"), usage(9, 4), "[DONE]"]
    return Answer([event(one) for one in chunks])


def whole(value, status=OK, **headers):
    """A reply in one piece of JSON."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Answer([body], status, {"Content-Type": "application/json", **headers})


def error(status, message, headers=None, **more):
    """An error as OpenAI words it."""
    return whole({"error": {"message": message, **more}}, status, **(headers or {}))


class ChatServer:
    """Answers each request in a thread of its own; `asked` is what came, `gone` counts who hung up."""

    def __init__(self, *answers, otherwise=None, is_rude=False, loaded=None, routes=None):
        self.routes = routes or {}  # answers by the end of a path, which take none of the others
        self.loaded = loaded  # the models that Ollama has in memory; None: the server does not say
        self.is_rude = is_rude  # answers before it has read anything
        self.answers, self.otherwise = list(answers), otherwise
        self.asked = []
        self.gone = threading.Semaphore(0)
        self._over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def port(self):
        return self._socket.getsockname()[1]

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def close(self):
        self._over.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _accept(self):
        while not self._over.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection):
        with connection:
            try:
                asked = _read(connection) if not self.is_rude else Asked("", "", {}, b"")
                if asked is None:
                    return
                if asked.path == "/api/ps":
                    models = [{"name": name, "model": name} for name in self.loaded or ()]
                    found = self.loaded is not None
                    self._say(connection, whole({"models": models}, OK if found else "404 Not Found"))
                    return
                self.asked.append(asked)
                answer = self.answer_to(asked)
                if answer is not None:
                    self._say(connection, answer)
            except OSError:
                self.gone.release()

    def answer_to(self, asked):
        """Return the answer to a request; None: none."""
        path = asked.path.partition("?")[0]
        for end, answer in self.routes.items():
            if path.endswith(end):
                return answer
        return self.answers.pop(0) if self.answers else self.otherwise

    def _say(self, connection, answer):
        if answer.raw is not None:
            connection.sendall(answer.raw)
            return
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        headers = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
        if answer.head:
            connection.sendall(f"HTTP/1.1 {answer.status}\r\n{headers}Connection: close\r\n\r\n".encode())
        for piece in answer.pieces:
            if isinstance(piece, Stall):
                self._stall(connection)
            elif isinstance(piece, Reset):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            elif callable(piece):
                piece()
            else:
                connection.sendall(piece)

    def _stall(self, connection):
        connection.settimeout(0.05)
        while not self._over.is_set():
            try:
                if connection.recv(1) == b"":
                    break
            except TimeoutError:
                continue
        self.gone.release()


def _read(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65_536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65_536)
    method, path, _ = first.split(" ", 2)
    return Asked(method, path, headers, body)
