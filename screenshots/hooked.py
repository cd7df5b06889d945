"""Agents with hooks, without their models: for pictures of the queue.

An agent here runs the client of its hook with an input in its own words, waits for what that prints, and does
what it says. The client, the supervisor and the answers are the program's; nothing here decides.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.support.golden import KEY
from tests.support.hook_place import HookPlace
from tests.support.stage import Stage, recording
from tests.support.waits import until_true
from workbench.domain.rows import Action
from workbench.domain.values import JsonObject
from workbench.effects.clock import ManualClock
from workbench.host.agent_socket import AgentSocket
from workbench.host.supervisor import Supervisor
from workbench.text.human import parse_iso_time

_START: Final = parse_iso_time("2026-03-09T09:30:00Z")
_OPENCODE_EVENTS: Final = {"PreToolUse": "tool.execute.before", "PostToolUse": "tool.execute.after"}
_BETWEEN_SECONDS: Final = 3
"""Seconds from one question to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookedCall:
    """A call that an agent wants to make, in its own words."""

    agent: str
    tool: str
    given: JsonObject
    run: Callable[[Path, JsonObject], str]
    """Makes the call in a folder, with the input that was allowed, and returns what it prints."""
    reports_end: bool = True
    """Whether a hook follows the call; of Codex's patches none does."""

    def document(self, folder: Path, given: JsonObject, output: str | None = None) -> JsonObject:
        """Return the input of the agent's hook before the call, or with an output after it."""
        if self.agent == "opencode":
            about: JsonObject = {"tool": self.tool, "sessionID": "ses_1", "callID": "call_0"}
            if output is None:
                return {"directory": str(folder), "input": about, "output": {"args": given}}
            return {"directory": str(folder), "input": {**about, "args": given}, "output": {"output": output}}
        about = {"tool_name": self.tool, "tool_input": given, "tool_use_id": "call_0"}
        ended = {} if output is None else {"tool_response": output}
        facts = {"session_id": "1", "cwd": str(folder), "permission_mode": "default"}
        return {**facts, **about, **ended}


class HookedPlace:
    """A folder `shop` whose agents are supervised in this process, by a clock that is moved by hand."""

    def __init__(self, root: Path, files: Mapping[str, str]) -> None:
        (root / "home").mkdir(mode=0o700)
        (root / "home/key").write_bytes(KEY)
        (root / "home/key").chmod(0o600)
        self.clock = ManualClock(_START)
        self.stage = Stage(root, recording(), clock=self.clock, files=files, folder="shop").trust()
        self.printed: dict[str, str] = {}
        """What the hook before an agent's call printed."""
        self._hooks = HookPlace(self.stage)
        self._working: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def served(self) -> AsyncGenerator[None]:
        """Drive the sessions of the agents while the block runs."""
        stage, stop = self.stage, asyncio.Event()
        supervisor = Supervisor(stage.context(), stage.driver(), lambda: True)
        async with AgentSocket(stage.home, str(stage.workspace), supervisor.join_agent):
            driving = asyncio.create_task(supervisor.run(stop))
            try:
                yield
            finally:
                stop.set()
                await driving
                stage.lock.close()

    async def ask(self, call: HookedCall) -> None:
        """Let an agent begin a call, and wait for its row."""
        self.clock.advance(_BETWEEN_SECONDS)
        before, work = len(self._waiting()), asyncio.create_task(self._make(call))
        self._working.add(work)
        await until_true(lambda: len(self._waiting()) > before or work.done())

    def is_settled(self) -> bool:
        """Return whether each call waits for a human or has ended. Raises what an agent failed with."""
        for work in tuple(self._working):
            if work.done():
                work.result()
                self._working.remove(work)
        journal = self.stage.journal
        calls = [call for session in journal.sessions() for call in journal.calls(session.id)]
        unfinished = [call for call in calls if not call.finished_at]
        return len(unfinished) == len(self._working) == len(self._waiting())

    def _waiting(self) -> list[Action]:
        return [row for row in self.stage.journal.actions(states=("pending",)) if row.call_id]

    async def _make(self, call: HookedCall) -> None:
        folder, given = self.stage.workspace, call.given
        answer = await self._output(call, "PreToolUse", call.document(folder, given))
        self.printed[call.agent] = json.dumps(answer)
        answer = answer.get("hookSpecificOutput", answer)
        if "deny" in (answer.get("permissionDecision"), answer.get("decision")):
            return
        given = answer.get("updatedInput") or answer.get("args") or given
        output = call.run(folder, given)
        if call.reports_end:
            await self._output(call, "PostToolUse", call.document(folder, given, output))

    async def _output(self, call: HookedCall, event: str, document: JsonObject) -> dict[str, Any]:
        """Run the client of a hook; return what it printed."""
        name = _OPENCODE_EVENTS[event] if call.agent == "opencode" else event
        hook = self._hooks.hook(call.agent, name, document)
        code, printed, errors = await asyncio.to_thread(hook.output)
        if code:
            raise RuntimeError(errors)
        return printed or {}
