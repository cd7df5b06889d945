"""A fake agent as a process: asks over the socket, runs what it is allowed, logs each call before it runs it.

Arguments: the socket, its folder, its log, its plan, and `connection` or `hook`: whether it keeps one
connection or connects for each message. The plan is a list of groups of calls that are asked for at once. An
agent that is started again continues with the first call that its log does not name. It connects again, and asks
again with the same nonce, where the background process has ended. AGENT_DIES is `point:number`.
"""

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from agent_tools import run_tool

MOST_SECONDS = 100.0


class Connection:
    """One connection; greets at once."""

    def __init__(self, place, hello):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(MOST_SECONDS)
        os.chdir(Path(place).parent)
        self._socket.connect(Path(place).name)
        self._lines = self._socket.makefile("rb")
        self.say(hello)

    def say(self, message):
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def answer(self):
        """Return the next answer. Raises ConnectionError at the end of the connection."""
        if self._lines.closed:
            raise ConnectionResetError("this connection was given up")
        line = self._lines.readline()
        if not line.endswith(b"\n"):
            raise ConnectionResetError("the background process has ended")
        return json.loads(line)

    def end(self):
        """End the connection when everything that was said on it has been read."""
        self._socket.shutdown(socket.SHUT_WR)
        self._lines.read()
        self.close()

    def close(self):
        self._lines.close()
        self._socket.close()


class Agent:
    """Works through its plan."""

    def __init__(self, place, folder, log, plan, way):
        self.place, self.folder, self.log = place, Path(folder), Path(log)
        self.plan, self.is_hook = json.loads(Path(plan).read_text()), way == "hook"
        self.deaths = dict(part.split(":") for part in os.environ.get("AGENT_DIES", "").split(",") if part)
        self.kept, self.answers = None, {}
        self.until = time.monotonic() + MOST_SECONDS

    def passes(self, point):
        """Die here if it is asked for."""
        left = int(self.deaths.get(point, 0)) - 1
        self.deaths[point] = left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def write(self, **line):
        with self.log.open("a") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def connect(self):
        """Return a connection of its own, or the one that is kept."""
        if self.kept is not None:
            return self.kept
        hello = {"type": "hello", "agent": "fake", "session": "s-1", "cwd": str(self.folder)}
        while True:
            try:
                made = Connection(self.place, {**hello, "pid": os.getpid()} if self.is_hook else hello)
            except OSError:
                if time.monotonic() > self.until:
                    raise
                time.sleep(0.02)
                continue
            if not self.is_hook:
                self.kept = made
            return made

    def ask(self, call):
        connection = self.connect()
        connection.say({"type": "ask", **call})
        return connection

    def verdict(self, call, connection):
        """Wait for the answer to one question, asked again wherever the connection is lost."""
        while True:
            try:
                if call["nonce"] in self.answers:
                    return self.answers.pop(call["nonce"]), connection
                answer = connection.answer()
                self.answers[answer.get("nonce")] = answer
            except (ConnectionError, BrokenPipeError):
                connection.close()
                self.kept = None
                connection = self.retry(lambda: self.ask(call))

    def retry(self, work):
        while True:
            try:
                return work()
            except (ConnectionError, BrokenPipeError):
                self.kept = None
                if time.monotonic() > self.until:
                    raise

    def group(self, calls):
        asked = [(call, self.retry(lambda call=call: self.ask(call))) for call in calls]
        self.passes("asked")
        for call, connection in asked:
            answer, used = self.verdict(call, connection)
            self.passes("answered")
            if answer["outcome"] == "allow":
                self.run(call, answer.get("input") or call["input"])
            else:
                self.write(nonce=call["nonce"], denied=answer["reason"])
            if self.is_hook:
                used.close()

    def run(self, call, given):
        self.write(nonce=call["nonce"], tool=call["tool"], ran=given)
        self.passes("logged")
        output, is_error = "", False
        try:
            output = run_tool(self.folder, call["tool"], given, lambda: self.passes("half"))
        except (ValueError, OSError, AssertionError) as error:
            output, is_error = str(error), True
        self.passes("ran")
        done = {"type": "done", "tool": call["tool"], "input": given, "call": call.get("call", "")}
        self.retry(lambda: self.tell({**done, "output": output, "is_error": is_error}))
        self.passes("told")

    def tell(self, message):
        connection = self.connect()
        connection.say(message)
        if self.is_hook:
            connection.end()

    def work(self):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        known = {json.loads(line)["nonce"].partition("#")[0] for line in lines}
        start = sum(1 for line in lines if "started" in line)
        self.write(nonce="", started=start)
        for group in self.plan:
            left = [call for call in group if call["nonce"] not in known]
            # A call that was under way when the agent died is another call for it.
            self.group([{**call, "nonce": f"{call['nonce']}#{start}"} for call in left])
        self.retry(lambda: self.tell({"type": "turn_done"}))
        self.retry(lambda: self.tell({"type": "ended"}))


if __name__ == "__main__":
    Agent(*sys.argv[1:6]).work()
