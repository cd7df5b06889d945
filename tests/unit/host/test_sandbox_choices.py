"""What people choose of a session's sandbox: by `/sandbox`, by the command line, and what a fork takes over."""

import pytest
from msgspec.structs import replace

from tests.support.stage import USER, exchange, recording, text
from workbench.domain.values import Actor
from workbench.effects.sandbox import Sandbox
from workbench.host import fork
from workbench.host.session_requests import SessionRefused, sandbox_setting, set_sandbox
from workbench.host.session_sandbox import sandbox_doubt, sandbox_text

FULL = Sandbox(backend="bubblewrap", program="/usr/bin/bwrap")
FILES = Sandbox(backend="landlock", problem="no namespaces")
ROOM = 74
"""Cells for what the screen says in a row of 80."""
NONE = Sandbox(backend="none", problem="bubblewrap is not installed", remedy="install it")


@pytest.fixture
def stage(staged):
    return staged(recording(exchange(text("done")))).begin()


@pytest.mark.parametrize(
    ("word", "chosen", "said"),
    [
        ("read-only", ("read-only", None), "commands inside can write nothing"),
        (" WORKSPACE ", ("workspace", None), "can write in the workspace"),
        ("outside", ("outside", None), "run outside, as you"),
        ("auto", (None, "auto"), "inside run without asking"),
        ("ask", (None, "ask"), "commands that nothing allows ask"),
    ],
)
def test_a_word_changes_the_sandbox_of_a_session_and_settings_takes_it_back(stage, word, chosen, said):
    answer = set_sandbox(stage.journal, stage.session(), word, USER)
    assert said in answer and len(answer) <= ROOM
    assert (stage.session().sandbox_level, stage.session().sandboxed) == chosen
    set_sandbox(stage.journal, stage.session(), "settings", USER)
    assert (stage.session().sandbox_level, stage.session().sandboxed) == (None, None)


@pytest.mark.parametrize(
    ("word", "why"), [("", "Nothing is named."), ("all", "“all” says nothing about the sandbox.")]
)
def test_another_word_is_refused_with_what_to_write(stage, word, why):
    with pytest.raises(SessionRefused) as refused:
        set_sandbox(stage.journal, stage.session(), word, USER)
    assert refused.value.why == why
    assert (
        "Write /sandbox and one of: read-only, workspace, outside, ask, auto, settings."
        in refused.value.remedy
    )
    with pytest.raises(SessionRefused):
        sandbox_setting(word)


@pytest.mark.parametrize("kind", ["agent", "host", "system"])
@pytest.mark.parametrize("word", ["outside", "auto"])
def test_only_a_human_changes_the_sandbox(stage, kind, word):
    with pytest.raises(SessionRefused, match="Let a human do it"):
        set_sandbox(stage.journal, stage.session(), word, Actor(kind=kind))
    assert stage.session().configuration.keys() == {"recording"}


def test_the_sandbox_of_an_agent_that_runs_its_own_commands_cannot_be_changed(stage):
    with pytest.raises(SessionRefused):
        set_sandbox(stage.journal, replace(stage.session(), kind="supervised"), "outside", USER)


@pytest.mark.parametrize(
    ("choice", "setting", "is_kept"),
    [
        ({"sandbox": "outside"}, "workspace", False),
        ({"sandbox": "workspace"}, "workspace", False),
        ({"sandbox": "workspace"}, "read-only", False),
        ({"sandbox": "workspace"}, "outside", True),
        ({"sandbox": "read-only"}, "workspace", True),
        ({"sandbox": "read-only"}, "outside", True),
        ({"sandboxed": "auto"}, "workspace", False),
        ({"sandboxed": "ask"}, "workspace", True),
    ],
)
def test_a_fork_takes_over_what_allows_less_and_nothing_else(stage, choice, setting, is_kept):
    session = replace(stage.session(), configuration=choice)
    assert fork.default_fork_plan(session, setting).configuration == (choice if is_kept else {})


@pytest.mark.parametrize(
    ("word", "level", "sandbox", "said"),
    [
        ("auto", "workspace", FULL, ""),
        (
            "AUTO ",
            "workspace",
            NONE,
            "But there is no sandbox here, so they ask as without it. Bubblewrap is",
        ),
        ("read-only", "read-only", FILES, "But there is no full sandbox here"),
        ("auto", "outside", FULL, "But its level is outside, so they run outside and ask."),
        ("outside", "outside", NONE, ""),
        ("ask", "workspace", NONE, ""),
    ],
)
def test_a_word_that_promises_what_is_not_held_says_so(word, level, sandbox, said):
    doubt = sandbox_doubt(word, level, sandbox)
    assert doubt.startswith(said) and bool(doubt) == bool(said)


def test_what_is_said_of_a_sandbox(stage):
    settings = stage.context().read_settings()
    config = settings.config

    def said(sandbox, session=None, **changed):
        sections = {"sandbox": replace(config.sandbox, **changed)}
        loaded = replace(settings.loaded, config=replace(config, **sections))
        return sandbox_text(session or stage.session(), replace(settings, loaded=loaded), sandbox)

    assert said(FULL) == (
        "Commands run inside the sandbox: they can write only in the workspace, and have no network. Commands that "
        "nothing allows ask; to leave the sandbox is always a question."
    )
    auto = replace(stage.session(), configuration={"sandboxed": "auto", "sandbox": "read-only"})
    assert "they can write nothing" in said(FULL, auto)
    assert "run without asking, unless one is denied" in said(FULL, auto)
    assert said(FULL, level="outside") == "Commands run outside the sandbox, as you."
    assert said(NONE) == (
        "Commands run outside: there is no sandbox here. Bubblewrap is not installed. Install it."
    )
    assert said(NONE, required=True).startswith("Commands inside are refused (sandbox.required).")
    assert said(FILES) == (
        "Commands run inside the sandbox: they can change the contents of files only in the workspace, also in .git, "
        "can read all that you can, and have no network. It is not a full sandbox, so all asks as without it."
    )
    assert "runs its own commands" in said(FULL, replace(stage.session(), kind="supervised"))
