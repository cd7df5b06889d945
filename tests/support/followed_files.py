"""A session file that grows in pieces, read by the follower without a driver."""

import asyncio

from msgspec.structs import replace

from tests.support.fake_agent import FakeAgent
from workbench.domain.codec import body_json
from workbench.host.driver_context import SessionWriter
from workbench.host.supervised_session import require_supervised_session
from workbench.host.transcript_follower import OpenTurn, TranscriptFollower
from workbench.journal.leases import lease_guard, take_lease
from workbench.supervised.tools import SessionTools


class FollowedFile:
    """The file of one agent's session: bytes are added, and looked at."""

    def __init__(self, stage, key, form):
        self.stage, self.path = stage, stage.root / f"{key}.jsonl"
        self.path.write_bytes(b"")
        self.agent = FakeAgent(
            stage.workspace, {"agent": "fake", "session": key, "format": form, "transcript": str(self.path)}
        )
        driver = stage.lock.driver if stage.lock else stage.driver()
        hello, workspace = self.agent.said_hello(), str(stage.workspace)
        self.session_id = require_supervised_session(stage.journal, hello, workspace, driver).id
        guard = lease_guard(take_lease(stage.journal, self.session_id, driver))
        context = stage.context()
        context = replace(context, tools=SessionTools(context.tools), outside_paths="ask")
        self.writer = SessionWriter(context, self.session_id, guard)
        self.turn, self.cursor = OpenTurn(), 0
        self.restart()

    def restart(self):
        """Go on as a new driver does, which knows what is in the journal."""
        self.follower, self.cursor = TranscriptFollower(self.writer, self.writer.context.tools), 0
        self.catch_up()
        self.follower.follow(self.agent.said_hello())

    def catch_up(self):
        events = self.stage.journal.events(self.session_id, after=self.cursor)
        for event in events:
            self.follower.note(event)
            self.cursor = event.position

    async def look(self):
        self.turn = await self.follower.look(self.turn)
        while self.follower.has_more:
            self.turn = await self.follower.look(self.turn)
        self.catch_up()

    def grow(self, *pieces, restarts=()):
        """Add pieces and look at each; a new driver takes over before the pieces numbered in `restarts`."""

        async def work():
            for number, piece in enumerate(pieces):
                if number in restarts:
                    self.restart()
                with self.path.open("ab") as file:
                    file.write(piece)
                await self.look()

        asyncio.run(work())
        return self

    def told(self):
        """Return what the file made: name, time, body, turn and call of each event, without the session's id."""
        events = self.stage.journal.events(self.session_id)
        return [
            str((event.id, event.at, event.kind, body_json(event), event.turn_id, event.call_id)).replace(
                self.session_id, "S"
            )
            for event in events
            if event.id.startswith(f"{self.session_id}.L")
        ]

    def session(self):
        return self.stage.journal.session(self.session_id)
