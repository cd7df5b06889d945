"""The whole screen on recorded sessions: hostile text in every pane, and live events as good as a file's."""

import asyncio

import pytest

from tests.support import golden
from tests.support.pane_host import HOSTILE
from tests.support.sizes import rarely
from tests.tui import stills
from tests.tui.screens import CONTROL, Hand, work_done
from workbench.domain.events import (
    ActionOpened,
    CallExecuting,
    CallFinished,
    CallProposed,
    ErrorRaised,
    FileChanged,
    MarkAdded,
    OutputStreamed,
    PromptSubmitted,
    ReplyCompleted,
    SessionChanged,
    SessionCreated,
    SessionStatusChanged,
    TurnStarted,
)
from workbench.domain.values import Actor, Choice, FilePlan, GateVerdict, Hunk, ReplyCall
from workbench.journal import decisions
from workbench.text.safe import one_line
from workbench.tui.pane import SessionChosen

USER, HOST, AGENT = Actor(kind="user", pid=1, via="screen"), Actor(kind="host", pid=2), Actor(kind="agent")
WALK = ("0", "1", "2", "j", "enter", "escape", "3", "z", "]", "]", "]", "]", "z", "4", "2", "z", "M", "a", "escape", "?",
        "escape", ":", "escape")  # fmt: skip


def hostile(words):
    """Return a journal in which every text that comes from outside holds the words."""

    def made(home):
        journal = stills.nothing(home)
        new, now = journal.clock.new_id, journal.now()
        session, turn, done, asked, gate = new(), new(), new(), new(), new()
        edit, question = new(), new()
        hunk = Hunk(
            index=1, path=words, old_start=1, old_count=2, new_start=1, new_count=2,
            lines=((" ", words), ("-", words), ("+", words + "x")),
        )  # fmt: skip
        bodies = [
            (SessionCreated(title=words, workspace=stills.WORKSPACE, provider=words, model=words), {}),
            (SessionStatusChanged(status="initializing"), {}),
            (SessionStatusChanged(status="ready"), {}),
            (PromptSubmitted(text=words), {}),
            (TurnStarted(provider=words, model=words, round=1), {"turn_id": turn}),
            (ReplyCompleted(text=words, thinking=words, calls=tuple(
                ReplyCall(call_id=key, provider_call_id=words, tool=words, arguments={words: words})
                for key in (done, asked)
            ), model=words, round=1), {"turn_id": turn}),
            (CallProposed(tool=words, verdict=GateVerdict(outcome="allowed", step="grants", by=words, reason=words),
                          provider_call_id=words, target=words, parameters={words: words}),
             {"turn_id": turn, "call_id": done}),
            (CallExecuting(), {"turn_id": turn, "call_id": done}),
            (OutputStreamed(offset=0, text=words), {"turn_id": turn, "call_id": done}),
            (FileChanged(path=words, change="modify", before=None, after=None, added=1, removed=1), {"turn_id": turn, "call_id": done}),
            (CallFinished(state="failed", preview=words, output_bytes=9, error=words, detail=words),
             {"turn_id": turn, "call_id": done}),
            (CallProposed(tool=words, verdict=GateVerdict(outcome="ask", step="ask", by=words, reason=words),
                          provider_call_id=words, target=words), {"turn_id": turn, "call_id": asked}),
            (ActionOpened(action_kind="tool", tool=words, target=words, digest="0" * 64, created_at=now,
                          expires_at=now + stills.MINUTE, verb="edit", cwd=words, files=(plan(words),),
                          hunks=(hunk,), added=1, removed=1, warnings=(words,)),
             {"turn_id": turn, "call_id": asked, "action_id": edit}),
            (ActionOpened(action_kind="gate", tool=None, target=words, digest="1" * 64, created_at=now,
                          expires_at=None, verb="gate", prompt=words, subject={words: words},
                          choices=(Choice(key=words, label=words),)), {"action_id": gate}),
            (ActionOpened(action_kind="question", tool=None, target=words, digest="2" * 64, created_at=now,
                          expires_at=None, verb="ask", prompt=words), {"action_id": question}),
            (ErrorRaised(code="x", message=words, details=words, remedy=words), {"turn_id": turn}),
            (MarkAdded(label=words), {}),
            (SessionChanged(title=words + "y"), {}),
        ]  # fmt: skip
        journal.append([journal.event(body, session, HOST, **more) for body, more in bodies], strict=False)
        return journal

    return made


def plan(words):
    return FilePlan(path=words, base="0" * 64, after="1" * 64, mode=0o644)


def run(journal, size, body, **more):
    hand = Hand()
    app = stills.app(journal, hand, **more)

    async def running():
        async with app.run_test(size=size) as pilot:
            await body(pilot, hand)

    try:
        asyncio.run(running())
    finally:
        journal.close()


def text_of(app):
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


@pytest.mark.usefixtures("drawn_frames")
@pytest.mark.parametrize("size", [(160, 48), rarely((80, 24))])
@pytest.mark.parametrize("words", [" ".join(HOSTILE[n::4]) for n in range(4)])
def test_hostile_text_is_harmless_in_every_pane(tmp_path, words, size):
    async def body(pilot, hand):
        for key in (None, *WALK):
            if key is not None:
                await pilot.press(key)
            await work_done(pilot.app)
            await pilot.pause()
            hand.waits()
            shown = text_of(pilot.app)
            assert not CONTROL.search(shown.replace("\n", "")), (key, CONTROL.search(shown))
            assert all(
                strip.cell_length == size[0] for strip in pilot.app.screen._compositor.render_strips()
            ), key

    run(hostile(words)(tmp_path / "home"), size, body)


async def settled(pilot, hand):
    """Put every cursor at its first row and show the newest session: those follow the user, not the events."""
    main = pilot.app.main
    newest = next((one for one in main.state.source.sessions(1)), None)
    if newest is not None:
        main.post_message(SessionChosen(newest.id))
    await stills.play(pilot, (), hand)
    main.go_to(2)
    main.approvals.reshow(is_sorted=True)
    for rows in (main.approvals.queue, main.tools.list, main.rail.list):
        rows.put_cursor(next((key for key in rows.ids if not key.startswith("-")), None))
    main.pipeline.graph.go_to_end(is_last=False)
    main.conversation.view.follow()
    await stills.play(pilot, (), hand)


@pytest.mark.parametrize("name", golden.sampled_names())
def test_every_golden_session_is_shown_and_what_came_live_is_what_the_file_shows(tmp_path, monkeypatch, name):
    """A screen that saw every event come, in odd portions, shows what one that was opened at the end shows."""
    # The clock stands at the end already: what expires does so as it was recorded, not by this screen.
    monkeypatch.setattr(decisions, "expire_due_actions", lambda _: [])
    shown = {}

    def look(key):
        async def body(pilot, hand):
            if key == "live":
                rest = events[1:]
                while rest:
                    part, rest = rest[:37], rest[37:]
                    journal.append(part, strict=False)
                    pilot.app.main.look()
                    await pilot.pause()
            await settled(pilot, hand)
            shown[key] = text_of(pilot.app)
            if key == "file":
                title = next(iter(pilot.app.main.state.sessions.values())).title
                assert one_line(title, 200)[:8] in shown[key]
                await stills.play(pilot, ("1", "2", "3", "4", "0"), hand)
                assert pilot.app.main.place == 0

        return body

    events = list(golden.events(name))
    journal = golden.load(name, tmp_path / "file")
    run(journal, (160, 48), look("file"))
    journal = stills.nothing(tmp_path / "live")
    journal.clock.advance((max(event.at for event in events) - journal.now()) / 1_000_000)
    for data in golden.blobs(name).values():
        journal.blobs.record(data)
    journal.append(events[:1], strict=False)
    run(journal, (160, 48), look("live"))
    assert shown["live"] == shown["file"]
