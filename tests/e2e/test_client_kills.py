"""The client of a real agent's hook is killed at drawn moments: a call is answered at most once, and runs at most once."""

import random
import threading
from collections import Counter

import pytest

from tests.support.agent_place import AgentPlace
from tests.support.real_agents import AGENTS, program
from tests.support.sizes import size
from tests.support.waits import PATIENCE, until

pytestmark = pytest.mark.campaign

SEED, KILLS = 20_261_130, size("WORKBENCH_CLIENT_KILLS", 8, 8)
MOMENTS = ("started", "asked", "answered")
MOST_DELAY = 0.04
"""Seconds between a moment and the kill, at most: a client needs about as long to connect."""


class ClientKiller:
    """Kills the first client that is seen after the model has said a call."""

    def __init__(self, place, chance):
        self._place, self._chance, self._threads = place, chance, []

    def saying(self, replies):
        """Return replies of which the last one has the client of its call killed."""
        *before, call = replies

        def say(_asked):
            self._threads.append(threading.Thread(target=self._kill, args=(self._delay(),)))
            self._threads[-1].start()
            return call

        return [*before, say]

    def _kill(self, delay):
        until(self._place.clients)
        self.after(delay)

    def _delay(self):
        return self._chance.uniform(0, MOST_DELAY)

    def after(self, delay=None):
        """Kill the clients that run after a delay; a drawn one by default."""
        threading.Event().wait(self._delay() if delay is None else delay)
        self._place.kill_clients()

    def join(self):
        for thread in self._threads:
            thread.join(PATIENCE)


@pytest.fixture(params=AGENTS, ids=[make.id for make in AGENTS])
def placed_agent(tmp_path, installed, request):
    program(request.param.id)
    place = AgentPlace(tmp_path / "place", installed, files={})
    yield place, place.add(request.param)
    place.close()


def test_a_call_is_answered_at_most_once_when_its_client_is_killed(placed_agent):
    place, agent = placed_agent
    chance = random.Random(f"{SEED} {agent.id}")
    killer = ClientKiller(place, chance)
    moments = [*MOMENTS, *(chance.choice(MOMENTS) for _ in range(KILLS - len(MOMENTS)))]
    chance.shuffle(moments)
    replies = [agent.shell(f"echo {number} >> ran.log") for number in range(KILLS)]
    said = [killer.saying(reply) if moment == "started" else reply
            for reply, moment in zip(replies, moments, strict=True)]  # fmt: skip

    def answer(row):
        moment = moments[int(row.target.split()[1])]
        if moment == "asked":
            killer.after()
            return
        place.approve(row)
        if moment == "answered":
            killer.after()

    agent.start(*(part for reply in said for part in reply))
    place.attend(agent, answer)
    killer.join()
    calls = place.settled(agent)
    log = place.workspace / "ran.log"
    ran = Counter(log.read_text().split()) if log.exists() else Counter()
    print(agent.id, moments, dict(ran), Counter(call.state for call in calls))  # with -s: what was drawn
    assert all(times == 1 for times in ran.values()), ran
    assert place.rows_of(agent, "pending") == []
    handed = place.handed(agent)
    assert len(set(handed)) == len(handed)
