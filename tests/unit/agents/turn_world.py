"""A little world that obeys the turn machine and breaks down at random.

It performs what is due one effect at a time, lets models, commands and humans answer when it likes,
and crashes. What it does is told by a tape of numbers, so a failing history shrinks.
"""

import itertools

from msgspec.structs import replace

from tests.unit.agents import turn_script as t
from workbench.agents.planner import (
    CallModel,
    EndTurn,
    Execute,
    Gate,
    Initialize,
    NoteRepetition,
    Pause,
    RecoverCall,
    Refresh,
    Restack,
    StopCall,
    StopModel,
    Undo,
    Withdraw,
    due_effects,
)
from workbench.agents.reducer import apply_event
from workbench.agents.state import TurnState
from workbench.domain import events
from workbench.domain.fold import MemoryTables

LIMITS = replace(t.LIMITS, max_rounds=2, repeats_noted=2, repeats_paused=2)
AFTER = {
    "done": None,
    "error": None,
    "interrupted": "user",
    "unattended": "unattended",
    "limit": "limit reached",
}


class World:
    def __init__(self, tape):
        self.tape = iter(tape)
        self.events = []
        self.state = TurnState()
        self.tables = MemoryTables()
        self.numbers = itertools.count(1)
        self.epoch = 1
        self.calling = None
        self.running = set()
        self.tell(t.created())
        self.tell(t.lease(1))

    # --- telling -------------------------------------------------------------------------------

    def tell(self, *events):
        for one in t.flat(*events):
            self.events.append(one)
            self.state = apply_event(self.state, one)
            self.tables.fold([one])

    def draw(self, options):
        return options[next(self.tape) % len(options)]

    def new(self, letter):
        return f"{letter}{next(self.numbers)}"

    def due(self):
        return due_effects(self.state, LIMITS)

    # --- what may happen next --------------------------------------------------------------------

    def options(self):
        due = self.due()
        ready = [effect for effect in due if StopModel() not in due or not isinstance(effect, EndTurn)]
        yield from [(self.perform, effect) for effect in ready or due] * 3
        if self.calling:
            yield from [(self.answer, None), (self.answer, None), (self.fail, None)]
        yield from ((self.finish, call) for call in sorted(self.running))
        for action in self.pending():
            yield from ((self.decide, action), (self.decide, action), (self.move_base, action))
        yield (self.disturb, None)
        if not self.state.turn:
            yield (self.prompt, None)

    def pending(self):
        return sorted(key for key, action in self.tables.actions.items() if action.state == "pending")

    def step(self):
        happens, about = self.draw(list(self.options()))
        happens(about)

    # --- the driver --------------------------------------------------------------------------------

    def perform(self, effect):  # noqa: C901 -- one case an effect
        match effect:
            case Initialize():
                self.tell(t.status("initializing"), t.status("ready"))
            case CallModel():
                turn = effect.turn_id or self.new("t")
                self.tell(t.started(effect.round, turn), t.status("processing"))
                self.calling = (turn, effect.round)
            case Gate(call_id=call):
                self.propose(call)
            case Execute(call_id=call):
                self.execute(call)
            case RecoverCall(call_id=call):
                self.tell(t.finished(call, self.draw(["interrupted", "succeeded", "interrupted"])))
            case StopCall(call_id=call):
                self.running.discard(call)
                self.tell(t.finished(call, "cancelled"))
            case StopModel():
                self.calling = None
            case Withdraw(call_id=call):
                self.withdraw(call)
            case Restack(call_id=call):
                self.restack(call)
            case Refresh(action_id=action):
                self.supersede(action, "refreshed")
            case Undo(request_id=request):
                said = self.draw(["allowed", "allowed", "refused"])
                self.tell(t.proposed(self.new("k"), said, "undo", by=request, turn=None))
            case EndTurn(outcome=outcome):
                assert not self.calling, "a turn ended under its model call"
                reason = AFTER[outcome]
                after = t.paused(reason) if reason else t.status("ready")
                self.tell(t.ended(outcome, self.state.turn.id), after)
            case NoteRepetition(call_id=call, times=times):
                self.tell(t.repeated(call, times))
            case Pause(reason=reason):
                self.tell(t.paused(reason))

    def propose(self, call, replaces=None):
        row = self.tables.call(replaces or call)
        on = [base for base in self.open_before(row) if self.draw([True, False])]
        said = "ask" if replaces else self.draw(["ask", "ask", "ask", "allowed", "denied", "refused"])
        self.tell(t.proposed(call, said, row.tool, on, replaces, turn=row.turn_id))
        if said == "ask":
            self.tell(t.opened(self.new("a"), call))

    def open_before(self, row):
        ahead = (c for c in self.turn_calls(row.turn_id) if c.ordinal < row.ordinal)
        return [c.id for c in ahead if c.state in ("pending", "approved", "executing")]

    def turn_calls(self, turn):
        calls = (c for c in self.tables.calls.values() if turn is not None and c.turn_id == turn)
        return sorted((c for c in calls if c.replaced_by is None), key=lambda c: c.ordinal)

    def execute(self, call):
        row = self.tables.call(call)
        if row.turn_id is not None and self.draw([False, False, False, True]):
            self.tell(t.finished(call, "cancelled", detail="stale"))
            self.propose(self.new("c"), replaces=call)
            return
        self.tell(t.executing(call))
        self.running.add(call)

    def withdraw(self, call):
        row = self.tables.call(call)
        action = self.tables.action(row.action_id or "")
        if action is not None and action.state == "pending":
            self.tell(t.event(events.ActionCancelled(why="interrupted"), action_id=action.id, call_id=call))
        self.tell(t.finished(call, "cancelled", detail="interrupted"))

    def restack(self, call):
        row = self.tables.call(call)
        if row.state == "approved":
            self.tell(t.finished(call, "cancelled", detail="stale"))
            self.propose(self.new("c"), replaces=call)
            return
        self.supersede(row.action_id, "restacked")

    def supersede(self, action, why):
        call = self.tables.action(action).call_id
        row, new = self.tables.call(call), self.new("a")
        parts = [t.superseded(action, new, why)]
        if self.draw([True, False]):
            parts.append(t.proposed(call, "ask", row.tool, self.open_before(row), turn=row.turn_id))
        self.tell(parts, t.opened(new, call, supersedes=action))

    # --- models, commands, humans ------------------------------------------------------------------

    def answer(self, _):
        turn, round_ = self.calling
        self.calling = None
        tools = [self.draw(["create_file", "read_file"]) for _ in range(self.draw([0, 1, 2, 3, 4]))]
        calls = [f"{self.new('c')}:{tool}" for tool in tools]
        text = "" if calls else self.draw(["said", ""])
        self.tell(t.reply(*calls, round_=round_, turn=turn, text=text, exchange=len(self.events)))

    def fail(self, _):
        turn, _round = self.calling
        self.calling = None
        self.tell(t.failed_model(len(self.events)), t.ended("error", turn), t.status("ready"))

    def finish(self, call):
        self.running.discard(call)
        state = self.draw(["succeeded", "succeeded", "failed"])
        left = self.draw([(), (), (2,)]) if state == "succeeded" else ()
        self.tell(self.draw([[], [], [t.changed_file(call)], [t.process(call)]]))
        self.tell(t.finished(call, state, hunks_taken=(1,), hunks_left=left))

    def decide(self, action):
        match self.draw(["approve", "approve", "select", "edit", "reject", "expire", "extend"]):
            case "approve":
                self.tell(t.approved("", action=action))
            case "select":
                self.tell(t.approved("", (t.taken(1, 1),), action=action))
            case "edit":
                self.tell(t.approved("", edited={"x": "sealed:1"}, action=action))
            case "reject":
                self.tell(t.event(events.ActionRejected(reason="no"), action_id=action))
            case "expire":
                self.tell(t.event(events.ActionExpired(), action_id=action))
            case "extend":
                new = self.new("a")
                call = self.tables.action(action).call_id
                self.tell(t.superseded(action, new, "extended"), t.opened(new, call, supersedes=action))

    def move_base(self, action):
        self.tell(t.stale(action))
        if self.draw([True, False]):
            self.tell(t.refresh(action))

    def disturb(self, _):
        self.draw([self.go_on, self.prompt, self.interrupt, self.undo, self.crash, self.hand_over])(None)

    def prompt(self, _):
        self.tell(t.prompt(f"p{len(self.events)}"))

    def go_on(self, _):
        self.tell(t.go_on())

    def interrupt(self, _):
        self.tell(t.interrupt())

    def undo(self, _):
        self.tell(t.undo("a0", self.new("u")))

    # --- breaking down -----------------------------------------------------------------------------

    def crash(self, _):
        self.epoch += 1
        self.calling, self.running = None, set()
        self.tell(t.lease(self.epoch))

    def hand_over(self, _):
        if self.calling or self.running:
            return
        self.tell(t.released(self.epoch))
        self.epoch += 1
        self.tell(t.lease(self.epoch))
