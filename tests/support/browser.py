"""Chromium without a window, asked over a pipe (its DevTools protocol): opens a page, presses keys, reads it."""

import fcntl
import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

from tests.support.waits import PATIENCE, until

CHROMIUM = shutil.which("chromium")


class Page:
    """One page: what it asked the network for, what it complained of, and what an expression of it is."""

    def __init__(self, out, back):
        self._out, self._back, self._count, self._rest = out, back, 0, b""
        self.requests, self.complaints = [], []
        self._session = None

    def send(self, method, **given):
        """Ask and return the answer; what happens meanwhile is noted."""
        self._count += 1
        asked = {"id": self._count, "method": method, "params": given}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._out, json.dumps(asked).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._count:
                assert "error" not in told, told
                return told["result"]
            self._note(told)

    def _next(self):
        while b"\0" not in self._rest:
            piece = os.read(self._back, 1 << 20)
            assert piece, "Chromium ended"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, told):
        match told.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(told["params"]["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(told["params"]["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(told["params"]["exceptionDetails"])[:500])
            case "Runtime.consoleAPICalled":
                self.complaints.append(json.dumps(told["params"]["args"])[:500])
            case _:
                pass

    def open(self, url, *, width=1000, height=800, dark=False, scripts=True):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)
        self.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def value(self, expression):
        """Return what an expression is, awaited."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression):
        until(lambda: self.value(expression), lambda: f"never became true: {expression}")

    def press(self, key, *, shift=False):
        more = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=8 if shift else 0, **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.send("Input.insertText", text=text)


@contextmanager
def chromium(folder):
    """Run Chromium with a profile of its own and yield a page; it is ended in the end."""
    to_it, out = os.pipe()
    back, from_it = os.pipe()
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        f"--user-data-dir={folder}", "--remote-debugging-pipe",
    ]  # fmt: skip

    def place():
        # It reads from 3 and writes to 4, which either end may be: both are put out of the way first.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 100) for end in (to_it, from_it)]
        os.dup2(ends[0], 3), os.dup2(ends[1], 4)

    with (Path(folder) / "chromium.log").open("wb") as log:
        child = subprocess.Popen(command, preexec_fn=place, close_fds=False, stdout=log, stderr=log)
    os.close(to_it), os.close(from_it)
    try:
        yield Page(out, back)
    finally:
        os.close(out), os.close(back)
        child.terminate()
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
