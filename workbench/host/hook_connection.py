"""One connection of a hook's client: a header line, the bytes of the hook's input, then one answer.

The answer is a line `hook CODE OUT ERR` and the bytes that the client prints on stdout and stderr, or a line
`elsewhere SIZE` and the folder that the session belongs to. Where neither comes, the client does what its
command line says.
"""

import asyncio
import os
from typing import Final

from msgspec.structs import replace

from workbench.bridge.agents import HookedAgent, HookEvent, hooked_agent
from workbench.bridge.hook_input import HookHeader, HookMessage, HookRefused, decode_header, read_hook
from workbench.bridge.hook_output import LEAVE, HookOutput, blocked, decision_output, note_output
from workbench.effects.unix_sockets import Peer
from workbench.host.agent_link import JoinAgent
from workbench.host.agent_settings_files import own_rules
from workbench.host.supervised_session import SessionElsewhere
from workbench.supervised.messages import (
    Acknowledged,
    AgentEnded,
    Ask,
    CallAnswer,
    CallNote,
    Done,
    MessageRefused,
    TurnDone,
)

INPUT_SECONDS: Final = 30.0
"""Seconds that a client has to send the input of its hook."""
LARGE_BYTES: Final = 1_000_000
"""Bytes of an input from which on it is read in turn with other large ones, and decoded in a thread."""


class HookConnection:
    """One connection of a hook's client, which is answered at most once."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, workspace: str,
        large_inputs: asyncio.Semaphore,
    ) -> None:  # fmt: skip
        self._reader, self._writer = reader, writer
        self._workspace, self._large_inputs = workspace, large_inputs
        self._message: HookMessage | None = None
        self._is_answered = False

    async def serve(self, line: bytes, join: JoinAgent, peer: Peer | None) -> None:
        """Read the input of a hook, and answer it. Raises MessageRefused or SessionNotTaken."""
        agent, event, header = _header(line)
        self._agent, self._event = agent, event
        try:
            message = await asyncio.wait_for(self._read(agent, event, header), INPUT_SECONDS)
        except HookRefused as error:
            is_asked = event.means == "ask"
            self._print(blocked(f"workbench cannot judge this call: {error}") if is_asked else LEAVE)
            return
        if message.is_left:
            self._print(LEAVE)
            return
        try:
            await self._converse(await self._with_own_rules(message), join, peer)
        except SessionElsewhere as error:
            folder = error.workspace.encode("utf-8", "surrogateescape")
            self._writer.write(b"elsewhere %d\n%s" % (len(folder), folder))

    async def _read(self, agent: HookedAgent, event: HookEvent, header: HookHeader) -> HookMessage:
        if header.size < LARGE_BYTES:
            data = await self._reader.readexactly(header.size)
            return read_hook(agent, event, header, data, self._workspace)
        async with self._large_inputs:
            data = await self._reader.readexactly(header.size)
            return await asyncio.to_thread(read_hook, agent, event, header, data, self._workspace)

    async def _with_own_rules(self, message: HookMessage) -> HookMessage:
        """Add the rules by which the agent asks its own user after an allow; not where that answers it."""
        said = message.said
        if not isinstance(said, Ask) or said.own_rules or "all" not in self._event.scopes:
            return message
        rules = await asyncio.to_thread(own_rules, self._agent, self._workspace, os.environ)
        return replace(message, said=replace(said, own_rules=rules)) if rules else message

    async def _converse(self, message: HookMessage, join: JoinAgent, peer: Peer | None) -> None:
        """Pass what the hook says to the link of its session, and wait until the client has the answer."""
        self._message = message
        link = join(message.hello, peer)
        link.put(self, message.hello)
        try:
            await link.wait_for_room()
            match message.said:
                case Ask(nonce=nonce) | Done(nonce=nonce) as said:
                    link.put(self, said)
                    if await self._reader.read(64):  # the client has printed the answer
                        link.put(self, Acknowledged(nonce=nonce))
                case AgentEnded() as said:
                    link.put(self, TurnDone())
                    link.put(self, said)
                    self._print(LEAVE)
                case TurnDone() as said:
                    link.put(self, said)
                    self._print(LEAVE)
                case None:
                    self._print(LEAVE)
        finally:
            link.put(self, None)

    def send(self, answer: CallAnswer | CallNote) -> bool:
        if self._writer.is_closing() or self._is_answered or self._message is None:
            return False
        match answer:
            case CallNote(note=note):
                self._print(note_output(self._agent, self._event, note))
            case CallAnswer():
                self._print(self._decision(self._message, answer))
        return True

    def _decision(self, message: HookMessage, answer: CallAnswer) -> HookOutput:
        try:
            new_input = None if answer.input is None else message.agent_input(answer.input)
        except ValueError as error:
            why = f"What was approved cannot be handed over: {error}."
            answer, new_input = CallAnswer(nonce=answer.nonce, outcome="deny", reason=why), None
        return decision_output(self._agent, self._event, answer, new_input)

    def _print(self, output: HookOutput) -> None:
        self._is_answered = True
        sizes = (output.code, len(output.stdout), len(output.stderr))
        self._writer.write(b"hook %d %d %d\n" % sizes + output.stdout + output.stderr)

    def close(self) -> None:
        self._writer.close()


def _header(line: bytes) -> tuple[HookedAgent, HookEvent, HookHeader]:
    """Return the agent and event that a header names. Raises MessageRefused."""
    try:
        header = decode_header(line)
    except HookRefused as error:
        raise MessageRefused(str(error)) from None
    agent = hooked_agent(header.agent)
    event = agent.event(header.event) if agent is not None else None
    if agent is None or event is None:
        raise MessageRefused("this agent, or this event of it, is not known")
    return agent, event, header
