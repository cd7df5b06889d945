"""A project with faults, lists of what ruff says of it, and drivers that let a recorded agent work them off."""

import asyncio
import json

from tests.support.stage import USER, call, exchange, no_wait, provider_maker_with_sleep, recording, text
from tests.support.waits import PATIENCE
from workbench.changes.decision import seal_decision
from workbench.domain.events import ActionOpened, PromptSubmitted
from workbench.domain.incidents import IncidentOptions
from workbench.domain.values import Decision, SelectedHunk
from workbench.effects import fault_points
from workbench.effects.files import Root
from workbench.formats.findings.read import read_findings
from workbench.host import incident_requests
from workbench.host.driver_context import open_driver_context
from workbench.host.incident_check import run_checker
from workbench.host.incident_driver import IncidentDriverOptions, drive_incidents
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.incidents.result import processing_result
from workbench.journal.decisions import decide_action
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock

RUFF = "ruff check --isolated --no-cache --select F401,F841,E711 --output-format json"
FAULTS = "import os\nimport sys\n\n\ndef f(x):\n    return x == None\n"
"""Two unused imports and one comparison, each of which a line's change fixes."""
ALLOW_EDITS = {"approvals": {"allow": ["Edit", "Write"]}}


def edit(call_id, old, new, path="a.py"):
    return call(call_id, "replace_string_in_file", path=path, old_string=old, new_string=new)


def asked(about, *parts):
    """Return the exchange that answers a prompt which holds some words."""
    return exchange(*parts, when={"prompt_contains": about})


def told(call_id, *parts):
    """Return the exchange that answers the result of a call."""
    return exchange(*(parts or (text("Done."),)), when={"tool_result": {"id": call_id}})


FIX_OS = (asked("`os` imported", edit("os", "import os\n", "")), told("os"))
FIX_SYS = (asked("`sys` imported", edit("sys", "import sys\n", "")), told("sys"))
FIX_NONE = (asked("Comparison to `None`", edit("none", "x == None", "x is None")), told("none"))


class Lists:
    """One home, one project, and one list after another."""

    def __init__(self, root, *exchanges, files=None, config=ALLOW_EDITS, clock=None):
        self.root = (root / "project").resolve()
        self.root.mkdir(parents=True)
        for name, content in (files or {"a.py": FAULTS}).items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        self.home = Home.open(root / "home")
        if config:
            (self.home.path / "config.json").write_text(json.dumps({"config_version": 1, **config}))
        self.journal = Journal.open(self.home, clock)
        self.recording = root / "recording.json"
        self.record(*exchanges)
        self.drivers = 0
        self.seen = []

    def record(self, *exchanges):
        self.recording.write_text(json.dumps(recording(*exchanges)))

    def context(self, can_ask=True):
        return open_driver_context(
            self.home, self.journal, str(self.root), provider=provider_maker_with_sleep(no_wait),
            pipelines=SessionPipelineStarter, sleep=no_wait, can_ask=can_ask,
        )  # fmt: skip

    # --- lists --------------------------------------------------------------------------------------

    def findings(self, document=None, **options):
        if document is None:
            context = self.context()
            with context.root:
                return asyncio.run(run_checker(context, RUFF)).findings
        with Root(self.root) as root:
            return read_findings(json.dumps(document).encode(), root, **options)

    def make(self, findings=None, *, checker=RUFF, source="ruff", **more):
        return incident_requests.list_incidents(
            self.journal,
            str(self.root),
            findings or self.findings(),
            source=source,
            checker=checker,
            actor=USER,
            **more,
        )

    def ask(self, list_id, *ids, **options):
        listed = [incident.id for incident in incident_requests.listed_incidents(self.journal, list_id)]
        options = IncidentOptions(recording=str(self.recording), **options)
        incident_requests.request_incidents(self.journal, list_id, ids or listed, options, USER)
        return list_id

    def drive(self, list_id, *, parks=True, can_ask=True, seconds=PATIENCE, **more):
        """Drive a list until nothing goes on without a human; return how it stands."""
        self.drivers += 1
        driver = DriverIdentity(host_id=f"d{self.drivers}", pid=self.drivers, driver="run")
        context = self.context(can_ask)
        options = IncidentDriverOptions(
            context=context, driver=driver, parks=parks, on_events=self.seen.extend, **more
        )

        async def go():
            async with asyncio.timeout(seconds):
                return await drive_incidents(options, list_id)

        try:
            with DriverLock(self.journal, driver), context.root:
                return asyncio.run(go())
        finally:
            fault_points.disarm_all_faults()

    def work_off(self, *answers, findings=None, checker=RUFF, ids=(), **options):
        """Make a list, ask for it, and give an answer at each question; return the list's id."""
        list_id = self.ask(self.make(findings, checker=checker), *ids, **options)
        self.go_on(list_id, *answers)
        return list_id

    def go_on(self, list_id, *answers):
        self.drive(list_id)
        for answer in answers:
            answer(self, list_id)
            self.drive(list_id)

    # --- the human --------------------------------------------------------------------------------------

    def waiting(self, list_id):
        sessions = (list_id, *(child.id for child in self.children(list_id)))
        return [a for key in sessions for a in self.journal.actions(key, states=("pending",))]

    def decide(self, list_id, verdict="approve", hunks=None, **more):
        (action,) = self.waiting(list_id)
        opened = self.journal.event_at(action.opened_at).body
        assert isinstance(opened, ActionOpened)
        selection = None if hunks is None else tuple(SelectedHunk(hunk=hunk) for hunk in hunks)
        made = Decision(action_id=action.id, verdict=verdict, selection=selection, **more)
        if action.kind != "finding":
            made = seal_decision(opened, made, self.journal.blobs)
        assert decide_action(self.journal, made, action.digest, USER).ok

    # --- what there is ----------------------------------------------------------------------------------

    def children(self, list_id):
        found = self.journal.sessions(parent_id=list_id, kinds=("step",))
        return sorted(found, key=lambda session: session.created_at)

    def result(self, list_id):
        return processing_result(
            list_id, self.journal.events(list_id), self.journal.events, self.journal.blobs.read
        )

    def outcomes(self, list_id):
        rules = {i.id: i.message for i in incident_requests.listed_incidents(self.journal, list_id)}
        return {rules[row.incident_id]: row.outcome for row in self.result(list_id).incidents}

    def bodies(self, session_id, kind):
        return [event.body for event in self.journal.events(session_id) if isinstance(event.body, kind)]

    def prompts(self, list_id):
        return [
            body.text for child in self.children(list_id) for body in self.bodies(child.id, PromptSubmitted)
        ]

    def status(self, session_id):
        session = self.journal.session(session_id)
        return (session.status, session.reason)

    def read(self, name="a.py"):
        return (self.root / name).read_text()

    def close(self):
        assert index_table_differences(self.journal) == []
        self.journal.close()


def approve(lists, list_id):
    lists.decide(list_id)


def reject(lists, list_id):
    lists.decide(list_id, "reject", reason="leave it")


def choose(choice):
    return lambda lists, list_id: lists.decide(list_id, "approve", choice=choice)


def hunks(*numbers):
    return lambda lists, list_id: lists.decide(list_id, "approve", hunks=numbers)
