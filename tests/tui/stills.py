"""Still screens: journals made of golden sessions as they stood at a moment, with questions that none of them asks.

Owns what a picture shows; the pictures themselves are `test_stills`.
"""

import asyncio

import pytest

from screenshots.make import SHOP, Recorded, load
from tests.support import boxed_commands, golden
from tests.support.keys import before_key
from tests.support.sizes import IS_CAMPAIGN, rarely
from tests.tui import snapshots
from tests.tui.backend import backend
from tests.tui.screens import counted, pause, settled, work_done
from workbench.backend.rules import LocalRules
from workbench.config.types import NotifySettings, UiSettings
from workbench.domain.events import ActionOpened, ErrorRaised, RuleAdded, TurnEnded
from workbench.domain.values import Actor, Choice
from workbench.effects.clock import ManualClock
from workbench.journal.decisions import add_rule
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp

WORKSPACE = "/workspace/shop"
SIZES = {"wide": (160, 48), "medium": (120, 36), "narrow": (80, 24)}
EVERY_SIZE = ("wide", rarely("medium"), "narrow")
"""For states: the two between which all layouts lie at every commit."""
ONE_SIZE = (rarely("wide"), "medium", rarely("narrow"))
"""For what is the same in every size: colours, signs, density."""
BY_RESIZE = ("wide", "medium", "narrow") if IS_CAMPAIGN else ("wide", "narrow")
"""For states of a pane: one app is resized through them."""


def one_by_one(states, by_resize):
    """Return rows of `parametrize`: states and sizes that an app is opened in, the middle size in the campaign."""
    return [
        pytest.param(
            state, size, id=f"{state}-{size}", marks=[pytest.mark.campaign] if size == "medium" else []
        )
        for size in SIZES
        for state in states
        if size == "medium" or state not in by_resize
    ]


def are_kept_at_each_size(request, app, run_before, name, sizes=("wide", "narrow")):
    """Compare a wide app with the kept screen, and what it shows once it is smaller with that of a smaller one.

    Args:
        request: Of the test.
        app: To be run.
        run_before: Called with the pilot and a size: presses the keys in the wide one, and waits in both.
        name: Of the kept screens, with a place for the size.
        sizes: By their names; the app starts in the first one.
    """
    texts = {}

    async def run():
        async with app.run_test(size=SIZES[sizes[0]]) as pilot:
            for size in sizes:
                await pilot.resize_terminal(*SIZES[size])
                await run_before(pilot, size)
                texts[size] = snapshots.screen_text(app)

    asyncio.run(run())
    return all(snapshots.is_kept(request, name.format(size), text) for size, text in texts.items())


MINUTE = 60_000_000
HOST = Actor(kind="host", pid=4000)
FILES = ("src/shop/router.py", "src/shop/routes/__init__.py", "tests/test_router.py", "docs/routing.md")
ENDS = (
    Choice(key="approve", label="Deploy to staging"),
    Choice(key="later", label="Ask again when the nightly run is green"),
    Choice(key="reject", label="Do not deploy"),
)


class Still(Recorded):
    """Recorded proposals, over the files that the sessions began with."""

    def base_lines(self, action):
        files = {plan.path: golden.FOLDER / "rename-handler" / "project" / plan.path for plan in action.files}
        return {
            name: tuple(file.read_text().split("\n")[:-1]) for name, file in files.items() if file.exists()
        }


def cut(name, holds):
    """Return the events of a golden session up to the first one that `holds` is true of, and that one."""
    found = []
    for event in golden.events(name):
        found.append(event)
        if holds(event.body):
            return found
    raise AssertionError(f"{name} has no such event")


def shop(home):
    return load(SHOP, home)


def of(name):
    return lambda home: golden.load(name, home)


def ended_by_an_error(home):
    """A turn that ended with an error, and nothing since."""
    journal = _empty(home)
    part = cut("provider-errors", lambda body: isinstance(body, TurnEnded) and body.outcome == "error")
    _put(journal, "provider-errors", part)
    assert any(isinstance(event.body, ErrorRaised) for event in part)
    return journal


def asks_for_trust(home):
    """The first minute of a workspace: its only question is whether it is trusted."""
    journal = _empty(home)
    part = cut("trust-question", lambda body: isinstance(body, ActionOpened))
    _put(journal, "trust-question", part)
    return journal


def shelf(home):
    """Many golden sessions in one library."""
    journal = _empty(home)
    for name in sorted(golden.names()):
        if name not in ("hostile-text", "long-session"):
            _put(journal, name, list(golden.events(name)))
    return journal


def ruled(home):
    journal = shop(home)
    for at, (effect, pattern, scope) in enumerate((
        ("allow", "Bash(git diff *)", "always"), ("deny", "Bash(git push *)", "always"),
        ("allow", "Read(docs/**)", "workspace"), ("allow", "Bash(npm ci)", "workspace"),
    )):  # fmt: skip
        tool = pattern.partition("(")[0]
        add_rule(
            journal,
            RuleAdded(
                rule="", effect=effect, origin="user", scope=scope, tool=tool, pattern_kind="glob",
                scope_id=WORKSPACE if scope == "workspace" else None, pattern=pattern,
                description=f"the {at + 1}. rule of this picture", place="outside" if "npm" in pattern else None,
            ),
            Actor(kind="user", pid=1),
        )  # fmt: skip
    return journal


def boxed(home):
    """Commands that ran and commands that ask, inside the sandbox and outside."""
    journal = shop(home)
    boxed_commands.morning(journal, _renaming(journal))
    return journal


def old_rules(home):
    """The question about rules that were saved before there was a sandbox, and nothing else."""
    journal = golden.load("rename-handler", home)
    boxed_commands.asks_about_rules(journal)
    return journal


def _renaming(journal):
    return next(one.id for one in journal.sessions(WORKSPACE) if one.title.startswith("rename"))


def nothing(home):
    return _empty(home)


def gate(home):
    return _asks(
        home, "gate", "deploy to staging?", "Deploy to staging?\nThe tests of 214 steps are green.", ENDS
    )


def question(home):
    prompt = "Two routes have the same path. Which one should win,\nthe older or the longer one?"
    return _asks(home, "question", "which route wins?", prompt, ())


def _asks(home, kind, target, prompt, choices):
    journal = shop(home)
    now, session = journal.now(), journal.sessions(WORKSPACE)[0].id
    body = ActionOpened(
        action_kind=kind, tool=None, target=target, digest="0" * 64, created_at=now, expires_at=now + 4 * MINUTE,
        verb="gate" if kind == "gate" else "ask", prompt=prompt, choices=choices,
        subject={"run": "nightly #41", "step": "deploy"} if kind == "gate" else {},
    )  # fmt: skip
    event = journal.event(body, session, HOST, action_id=journal.clock.new_id())
    journal.append([event], strict=False)
    return journal


def _empty(home):
    home.mkdir(mode=0o700, parents=True)
    (home / "key").write_bytes(golden.KEY)
    (home / "key").chmod(0o600)
    return Journal.open(Home.open(home), ManualClock(1_795_262_400_000_000))


def _put(journal, name, part):
    for data in golden.blobs(name).values():
        journal.blobs.record(data)
    journal.append(part, strict=False)


def compact():
    """Return settings with the tighter density."""
    off = NotifySettings(bell=False, title=False, desktop="off")
    return UiSettings(
        theme="workbench-dark", density="compact", glyphs="unicode", motion="none", keymap={}, notify=off
    )


def app(journal, hand, *, theme="workbench-dark", has_model=True, **more):
    """Return a screen on a still journal; every answer is refused."""
    ruling = LocalRules(journal.home, journal, WORKSPACE)
    made = WorkbenchApp(
        journal,
        backend(
            known_tools=ruling.known_tools,
            asked_calls=ruling.asked_calls,
            all_rules=lambda: journal.rules(active=False),
            branch=lambda: "main",
            list_files=lambda: FILES,
            has_model=lambda: has_model,
        ),
        WORKSPACE,
        home="/workspace",
        source=Still(journal, WORKSPACE),
        monotonic=hand,
        **more,
    )
    made.theme = theme
    return made


async def trouble(pilot):
    """Let the model of a session that is not on show fail, as another process would record it."""
    main = pilot.app.main
    journal, current = pilot.app._journal, main.state.current.id
    other = next(one for one in journal.sessions(WORKSPACE) if one.id != current)
    body = ErrorRaised(
        code="connection_closed", message="The model stopped in the middle of its answer.",
        details="http://127.0.0.1:8080 closed the connection after 1.2 KB. What came is kept.",
    )  # fmt: skip
    journal.append([journal.event(body, other.id, HOST)], strict=False)
    main.look()
    await pilot.pause()


async def begin(app, pilot):
    """Go from the composer, where a screen begins, to what waits."""
    if app.main.state.pending and app.main.composer.has_focus_within:
        await pilot.press("escape")
        await pilot.pause()


async def count(app, pilot):
    """Let the time pass after which a deciding key counts."""
    if app.guarded.pending_id or app.guarded.state.due is not None:
        await counted(app)
        await work_done(app)
        await pilot.pause()


async def play(pilot, keys, hand):
    """Press keys, each after the screen has stood for a while, and end with nothing said by chance."""
    while pilot.app.painter is None:
        await work_done(pilot.app)
        await pilot.pause()
    await begin(pilot.app, pilot)
    for key in (None, *keys):
        if key is not None:
            before_key(pilot.app, key)
            await pilot.press(key)
            await pilot.pause()
            await count(pilot.app, pilot)
        await settled(pilot.app, pilot)
        hand.waits()
    main = pilot.app.main
    main.rule.say("")
    main.presenter.footer()
    await pilot.pause()


def on(words, *keys):
    """Return what puts the queue's cursor on the command with these words, and presses keys there."""

    async def go(pilot):
        main = pilot.app.main
        waiting = [action for action in main.state.pending if words in action.target]
        main.approvals.queue.put_cursor(waiting[0].id)
        await begin(pilot.app, pilot)
        for key in ("2", *keys):
            pause(pilot.app, 1.0)
            await pilot.press(key)
            await count(pilot.app, pilot)
            await settled(pilot.app, pilot)

    return go
