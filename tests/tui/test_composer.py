"""The composer: what is sent and what never is, history, completion, the editor, the words at its sides."""

import asyncio
import threading

import pytest
from textual.events import Paste

from tests.support.pane_host import HOSTILE, Host, session
from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from tests.tui.backend import backend
from tests.tui.screens import work_done
from workbench.tui.backend import BackendError, SuggestedText
from workbench.tui.conversation.completion import (
    ADD_PROVIDER,
    CompletionSources,
    best_file_matches,
    completions_of,
    mistyped_command_hint,
    parse_slash_command,
    word_before_cursor,
)
from workbench.tui.conversation.composer import Composer
from workbench.tui.conversation.prompt_history import PromptHistory
from workbench.tui.pane import (
    BackToPane,
    CommandTyped,
    ComposerModel,
    FirstWaiting,
    NextPane,
    PromptSent,
    QueuedPromptEdited,
    StatusMessage,
    StopAgent,
)

FILES = (
    "src/shop/router.py",
    "src/shop/routes/__init__.py",
    "tests/test_router.py",
    "docs/routing.md",
    "README.md",
)


def play(act, *, services=None, size=(120, 24), **shown):
    async def run():
        composer = Composer(services or backend(list_files=lambda: FILES))
        app = Host(composer)
        async with app.run(size) as pilot:
            composer.show(ComposerModel(**{"session": session(), **shown}))
            composer.focus_input()
            await pilot.pause()
            await act(app, pilot, composer)

    asyncio.run(run())


async def settle(app, pilot):
    await work_done(app)
    await pilot.pause()


# --- sending --------------------------------------------------------------------------------------------


def test_enter_sends_and_the_focus_stays():
    async def act(app, pilot, composer):
        await pilot.press(*"then docs", "enter")
        assert app.said(PromptSent) == [PromptSent("then docs")]
        assert (composer.text, composer.input.has_focus) == ("", True)

    play(act)


def test_ctrl_j_begins_a_line():
    async def act(app, pilot, composer):
        await pilot.press("a", "ctrl+j", "b", "enter")
        assert app.said(PromptSent) == [PromptSent("a\nb")]

    play(act)


def test_an_empty_composer_goes_to_what_waits():
    async def act(app, pilot, composer):
        await pilot.press("space", "enter")
        assert (len(app.said(FirstWaiting)), app.said(PromptSent)) == (1, [])

    play(act)


def test_pasted_text_is_never_sent():
    async def act(app, pilot, composer):
        composer.input.post_message(Paste("rm -rf /\r\nyes\n\x1b[31m\u202e"))
        await pilot.pause()
        assert app.said(PromptSent) == []
        assert composer.text.startswith("rm -rf /\nyes\n")
        assert "\x1b" not in composer.text
        assert "\u202e" not in composer.text

    play(act)


LONG = "".join(f"line {n}\n" for n in range(20_000))
MARK = "[paste 1: 204 KB, 20,000 lines]"


async def paste(pilot, composer, text):
    composer.input.post_message(Paste(text))
    await pilot.pause()


def test_a_long_paste_is_a_mark_until_it_is_sent():
    async def act(app, pilot, composer):
        await pilot.press(*"see ")
        await paste(pilot, composer, LONG)
        await pilot.press(*" x")
        assert composer.text == f"see {MARK} x"
        assert app.said(StatusMessage)[0].text.startswith("Folded; enter sends it whole")
        await pilot.press("enter", "up")
        assert (app.said(PromptSent), composer.text) == ([PromptSent(f"see {LONG} x")], f"see {MARK} x")
        await pilot.press("enter")
        assert len(app.said(PromptSent)) == 2

    play(act)


def test_a_mark_goes_whole_and_a_changed_one_is_not_sent():
    async def act(app, pilot, composer):
        await paste(pilot, composer, LONG)
        await paste(pilot, composer, "short")
        await paste(pilot, composer, LONG)
        assert composer.text == f"{MARK}short{MARK}"
        await pilot.press("backspace")
        assert composer.text == f"{MARK}short"
        await pilot.press("home", "right", "delete", "enter")
        assert app.said(PromptSent) == []
        await pilot.press("ctrl+z", "end", *["backspace"] * 6, *"ok", "enter")
        assert app.said(PromptSent) == [PromptSent("ok")]

    play(act)


def test_what_was_changed_in_a_mark_says_why_nothing_is_sent():
    async def act(app, pilot, composer):
        await paste(pilot, composer, LONG)
        await pilot.press("left", "x", "enter")
        assert app.said(PromptSent) == []
        assert app.said(StatusMessage)[-1].text.startswith(f"Nothing was sent: {MARK} was changed")
        await pilot.press("backspace", "enter")
        assert app.said(PromptSent) == [PromptSent(LONG)]

    play(act)


def test_the_editor_gets_what_a_mark_stands_for():
    opened = []

    def editor(name, data):
        opened.append(data.decode())
        return data if opened[1:] else b"now " + data

    async def act(app, pilot, composer):
        await paste(pilot, composer, LONG)
        await pilot.press("ctrl+o")
        assert (opened, composer.text) == ([LONG], "[paste 2: 204 KB, 20,000 lines]")
        await pilot.press("ctrl+o")
        assert composer.text == "[paste 2: 204 KB, 20,000 lines]"
        await pilot.press("enter")
        assert app.said(PromptSent) == [PromptSent(f"now {LONG}".rstrip())]

    play(act, services=backend(open_editor=editor))


def test_what_was_said_at_length_before_comes_back_folded():
    async def act(app, pilot, composer):
        composer.remember(["short", LONG])
        await pilot.press("up")
        assert composer.text == MARK
        await pilot.press("up", "down", "enter")
        assert app.said(PromptSent) == [PromptSent(LONG)]

    play(act)


def test_more_than_a_message_holds_is_not_pasted(monkeypatch):
    monkeypatch.setattr("workbench.tui.conversation.composer_input.MAX_PASTE_LETTERS", 1_000)

    async def act(app, pilot, composer):
        await paste(pilot, composer, LONG)
        assert composer.text == ""
        assert "Save it as a file" in app.said(StatusMessage)[0].text

    play(act)


def test_tab_goes_on_from_an_empty_field_and_says_that_it_completes():
    async def act(app, pilot, composer):
        await pilot.press("tab")
        assert len(app.said(NextPane)) == 1
        await pilot.press("a", "tab")
        assert (len(app.said(NextPane)), composer.text) == (1, "a")
        assert "Nothing to complete" in app.said(StatusMessage)[0].text

    play(act)


def test_while_the_agent_works_a_message_is_queued_and_it_says_so():
    async def act(app, pilot, composer):
        assert "1 queued" in "\n".join(app.lines())
        await pilot.press(*"more")
        assert "ctrl+j new line" in "\n".join(app.lines())
        await pilot.press("enter")
        assert app.said(PromptSent) == [PromptSent("more")]
        assert app.said(StatusMessage)[0].text.startswith("Queued.")

    play(act, is_working=True, queue=[("q", "later")])


QUEUE = (("q1", "one"), ("q2", "two"))


def edited(app):
    return [(message.prompt_id, message.text) for message in app.said(QueuedPromptEdited)]


@pytest.mark.parametrize("is_working", [True, False])
def test_up_in_an_empty_field_edits_the_last_queued_message(is_working):
    async def act(app, pilot, composer):
        assert "2 queued  ↑ takes it back" in "\n".join(app.lines())
        await pilot.press("up", "!", "enter")
        assert (composer.text, edited(app), app.said(PromptSent)) == ("", [("q2", "two!")], [])

    play(act, is_working=is_working, queue=QUEUE)


def test_up_again_goes_to_the_message_before_until_the_text_was_changed():
    async def act(app, pilot, composer):
        await pilot.press("up", "up")
        assert composer.text == "one"
        await pilot.press("up", "x", "up")
        assert composer.text == "onex"
        await pilot.press("enter")
        assert edited(app) == [("q1", "onex")]

    play(act, queue=QUEUE)


def test_an_emptied_queued_message_is_taken_back():
    async def act(app, pilot, composer):
        await pilot.press("up", "ctrl+u", "enter")
        assert (edited(app), app.said(FirstWaiting)) == ([("q2", "")], [])

    play(act, queue=QUEUE)


@pytest.mark.parametrize("key", ["escape", "enter"])
def test_a_queued_message_that_is_not_changed_stays_as_it_was(key):
    async def act(app, pilot, composer):
        await pilot.press("up", *(("x",) if key == "escape" else ()), key)
        assert (composer.text, edited(app), app.said(PromptSent), app.said(BackToPane)) == ("", [], [], [])
        await pilot.press(*"new", "enter")
        assert app.said(PromptSent) == [PromptSent("new")]

    play(act, queue=QUEUE)


def test_written_text_goes_to_the_history_and_not_to_the_queue():
    async def act(app, pilot, composer):
        composer.history.add("earlier")
        await pilot.press("a", "up")
        assert composer.text == "earlier"

    play(act, queue=QUEUE)


@pytest.mark.parametrize(("typed", "left"), [("", ""), ("x", "twox")])
def test_a_message_that_the_agent_reads_meanwhile_is_edited_no_longer(typed, left):
    async def act(app, pilot, composer):
        await pilot.press("up", *typed)
        composer.show(ComposerModel(session=session()))
        await pilot.pause()
        assert composer.text == left
        assert app.said(StatusMessage)[-1].text.startswith("That message is not queued any more.")
        await pilot.press("!", "enter")
        assert app.said(PromptSent) == ([] if typed else [PromptSent("!")]), "not sent without another word"
        await pilot.press("enter")
        assert (edited(app), app.said(PromptSent)) == ([], [PromptSent(f"{left}!")])

    play(act, queue=QUEUE)


def test_without_a_model_nothing_is_sent_and_nothing_is_lost():
    async def act(app, pilot, composer):
        await pilot.press(*"hello", "enter")
        assert (app.said(PromptSent), composer.text) == ([], "hello")
        assert "model" in app.said(StatusMessage)[0].text

    play(act, has_model=False, **{"session": None})


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("/stop", CommandTyped("stop")),
        ("/stop now", CommandTyped("stop", "now")),
        ("/exit", CommandTyped("quit")),
        ("/q", CommandTyped("quit")),
        ("/unknown to all", PromptSent("/unknown to all")),
        ("no /stop", PromptSent("no /stop")),
    ],
)
def test_commands(typed, sent):
    async def act(app, pilot, composer):
        await pilot.press(*(key if key != " " else "space" for key in typed), "enter")
        assert [*app.said(CommandTyped), *app.said(PromptSent)] == [sent]

    play(act)


def test_escape_goes_back_and_keeps_what_is_written():
    async def act(app, pilot, composer):
        await pilot.press(*"half", "escape")
        assert (len(app.said(BackToPane)), composer.text) == (1, "half")

    play(act)


def test_ctrl_c_stops_the_agent_unless_something_is_selected():
    async def act(app, pilot, composer):
        await pilot.press(*"abc")
        await pilot.press("ctrl+c")
        assert len(app.said(StopAgent)) == 1
        await pilot.press("shift+home", "ctrl+c")
        assert len(app.said(StopAgent)) == 1
        assert app.clipboard == "abc"

    play(act, is_working=True)


def test_ctrl_c_clears_the_text_where_no_agent_works_and_up_brings_it_back():
    async def act(app, pilot, composer):
        await pilot.press(*"abc", "ctrl+c")
        assert (composer.text, app.said(StopAgent)) == ("", [])
        await pilot.press("up")
        assert composer.text == "abc"
        await pilot.press("ctrl+c", "ctrl+c")
        assert app.said(StatusMessage)[-1].text.startswith("No agent works here.")

    play(act)


# --- size and words -------------------------------------------------------------------------------------


def test_it_grows_to_eight_rows():
    heights = []

    async def act(app, pilot, composer):
        for _ in range(10):
            heights.append(composer.size.height)
            await pilot.press("x", "ctrl+j")
            await pilot.pause()

    play(act)
    assert heights == [1, 2, 3, 4, 5, 6, 7, 8, 8, 8]


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ({}, ["Message “rename handler”, @file, /command", "asks before every call"]),
        (
            {"session": session(kind="pipeline")},
            ["A pipeline run reads no messages; ctrl+n starts a session, /command"],
        ),
        ({"session": None}, ["Say what you want done, @file, /command"]),
        ({"mode": "2 marked, a opens the table"}, ["2 marked, a opens the table"]),
    ],
)
def test_what_it_says(shown, words):
    async def act(app, pilot, composer):
        text = "\n".join(app.lines())
        assert all(word in text for word in words)

    play(act, **shown)


def test_a_narrow_screen_says_how_to_write():
    async def act(app, pilot, composer):
        app.set_focus(None)
        await pilot.pause()
        assert "i  to write to “rename handler”" in "\n".join(app.lines())

    play(act, size=(80, 24))


def test_hostile_titles_and_files_are_only_words():
    async def said(app, pilot, words):
        composer = Composer(backend(list_files=lambda: (words.replace("\n", "") + ".py",)))
        await app.put(composer)
        composer.show(ComposerModel(session=session(title=words)))
        composer.focus_input()
        await pilot.pause()
        await pilot.press("@")
        await settle(app, pilot)
        text = "".join(app.lines())
        assert not any(ord(c) < 32 or c in "\u202e\u200b\U000e0041" for c in text), words
        assert app.is_running and ".py" in text, words

    async def act(app, pilot, composer):
        for words in HOSTILE:
            await said(app, pilot, words)

    play(act)


# --- history --------------------------------------------------------------------------------------------


def test_up_and_down_go_through_what_was_said_and_back_to_the_draft():
    async def act(app, pilot, composer):
        await pilot.press(*"one", "enter", *"two", "enter", *"draft")
        seen = []
        for key in ("up", "up", "up", "down", "down", "down"):
            await pilot.press(key)
            seen.append(composer.text)
        assert seen == ["two", "one", "one", "two", "draft", "draft"]

    play(act)


def test_in_the_middle_of_a_text_up_only_moves():
    async def act(app, pilot, composer):
        await pilot.press(*"one", "enter", "a", "ctrl+j", "b", "up")
        assert (composer.text, composer.input.cursor_location[0]) == ("a\nb", 0)
        await pilot.press("up")
        assert composer.text == "one"

    play(act)


def test_words_said_twice_count_once():
    history = PromptHistory()
    for text in ("a", "b", "b", ""):
        history.add(text)
    assert [history.earlier(""), history.earlier(""), history.earlier("")] == ["b", "a", None]


def test_what_was_said_before_stands_before_what_is_written_now():
    history = PromptHistory()
    history.add("cleared")
    history.add("sent")
    history.put_before(["older", "sent"])
    assert [history.earlier("") for _ in range(4)] == ["cleared", "sent", "older", None]


# --- completion -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "first", "found"),
    [
        ("now in @rout", True, ("file", "rout", 7)),
        ("@", False, ("file", "", 0)),
        ("mail@host", True, None),
        ("/st", True, ("command", "st", 0)),
        ("/st", False, None),
        ("a /st", True, None),
        ("@a b", True, None),
        ("/model ", True, ("model", "", 7)),
        ("/model  q/w", True, ("model", "q/w", 8)),
        ("/model q w", True, None),
        ("/model q", False, None),
        ("/mode ev", True, ("mode", "ev", 6)),
        ("/mark ev", True, None),
        ("/tools ", True, ("tools", "", 7)),
        ("/tools read_file gr", True, ("tools", "gr", 17)),
        ("/tools gr", False, None),
    ],
)
def test_the_word_that_is_typed(before, first, found):
    word = word_before_cursor(before, is_first_line=first)
    assert (None if word is None else (word.kind, word.query, word.start)) == found


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (
            "rout",
            ["docs/routing.md", "src/shop/router.py", "src/shop/routes/__init__.py", "tests/test_router.py"],
        ),
        ("test", ["tests/test_router.py"]),
        ("shop/r", ["src/shop/router.py", "src/shop/routes/__init__.py"]),
        ("srcrou", ["src/shop/router.py", "src/shop/routes/__init__.py"]),
        ("zzz", []),
        ("READ", ["README.md"]),
    ],
)
def test_the_best_files(query, names):
    found = best_file_matches(FILES, query)
    assert found[0:1] == names[0:1]
    assert sorted(found) == sorted(names)


@pytest.mark.parametrize(
    ("before", "names"),
    [
        ("/tools ", ["list", "reads", "all", "create_file", "read_file"]),
        ("/tools rea", ["reads", "read_file", "create_file", "create_directory", "context.read"]),
        ("/tools read_file ", []),
        ("/tools read_file gre", ["grep_search"]),
        ("/tools zzz", []),
    ],
)
def test_tools_offered(before, names):
    word = word_before_cursor(before, is_first_line=True)
    found = [name for name, _ in completions_of(word, CompletionSources()).candidates]
    assert found[: len(names)] == names and (bool(found) or not names)


def test_commands_offered():
    assert [
        name
        for name, _ in completions_of(
            word_before_cursor("/s", is_first_line=True), CompletionSources()
        ).candidates
    ] == ["/sandbox", "/stop"]
    assert parse_slash_command("/stop  it all ") == ("stop", "it all")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("/modle qwen", "/mode?"),
        ("/contine", "/continue?"),
        ("/xyzzy", "There are /compact, /continue, /end"),
        ("/stop", ""),
        ("/mode every", ""),
        ("/tmp is full", ""),
        ("/etc/hosts", ""),
        (" /modle qwen", ""),
        ("/modle\nsecond line", ""),
        ("say /modle", ""),
        ("!ls -la", ""),
        (" !ls", ""),
        ("!", ""),
        ("what now!", ""),
    ],
)
def test_a_command_that_is_none_is_not_sent_to_the_agent(text, meant):
    said = mistyped_command_hint(text)
    assert bool(said) is bool(meant)
    assert meant in said


def test_a_mistyped_command_stays_in_the_field():
    async def act(app, pilot, composer):
        await pilot.press(*"/stpo", "enter")
        assert (app.said(PromptSent), composer.text) == ([], "/stpo")
        assert "Did you mean /stop?" in app.said(StatusMessage)[-1].text
        await pilot.press("home", "space", "enter")
        assert app.said(PromptSent) == [PromptSent("/stpo")]

    play(act)


@pytest.mark.spec(186)
@each_row(
    "command, stands",
    [("fd -e go | wc -l", "fd -e go | wc -l"), ("/bin/ls", " /bin/ls"), ("! grep -q x a", " ! grep -q x a"),
     ("echo 'a\n  b'", "echo 'a\n  b'")],
)  # fmt: skip
def test_words_behind_an_exclamation_mark_become_a_command_in_the_field_that_nobody_sent(command, stands):
    asked = []

    def suggest(words):
        asked.append(words)
        return SuggestedText(command=command, said="Counts. Asks first: nothing allows it.")

    async def act(app, pilot, composer):
        composer.input.load_text("!count go files")
        await pilot.press("enter")
        await settle(app, pilot)
        assert (asked, composer.text) == (["count go files"], stands)
        assert "Asks first" in app.said(StatusMessage)[-1].text
        assert app.said(PromptSent) == app.said(CommandTyped) == []

    play(act, services=backend(suggest_command=suggest))


def test_words_of_which_no_command_came_stand_in_the_field_again_and_what_was_written_meanwhile_stays():
    may_end = threading.Event()

    def fail(words):
        may_end.wait(PATIENCE)
        raise BackendError("No command was made. The model is gone.")

    async def act(app, pilot, composer):
        may_end.set()
        await pilot.press(*"!ls", "enter")
        await settle(app, pilot)
        assert composer.text == "!ls" and "The model is gone" in app.said(StatusMessage)[-1].text
        may_end.clear()
        await pilot.press("enter")
        await pilot.press(*"new")
        may_end.set()
        await settle(app, pilot)
        assert composer.text == "new"
        assert app.said(PromptSent) == []

    play(act, services=backend(suggest_command=fail))


MODELS = (("qwen3-coder", "asked now"), ("gpt-oss-120b", "local"), ("gpt-oss", "local"))


def test_models_are_offered_asked_for_once_and_the_one_under_the_cursor_is_taken():
    asked = []

    def models(session_id):
        asked.append(session_id)
        return MODELS, ""

    async def act(app, pilot, composer):
        await pilot.press(*"/model", "enter")
        await settle(app, pilot)
        # A command that wants a word is not sent without one: what there is is shown.
        assert (composer.text, app.said(CommandTyped)) == ("/model ", [])
        offered = [name for name, _ in composer.offers.offer.candidates]
        assert offered == [*(name for name, _ in MODELS), ADD_PROVIDER]
        await pilot.press(*"gpt")
        assert [name for name, _ in composer.offers.offer.candidates] == ["gpt-oss", "gpt-oss-120b"]
        await pilot.press("down", "enter")
        assert app.said(CommandTyped) == [CommandTyped("model", "gpt-oss-120b")]
        assert asked == [session().id]

    play(act, services=backend(available_models=models))


def test_servers_that_are_silent_are_named_and_a_model_can_be_typed_all_the_same():
    def models(session_id):
        raise BackendError("nobody is there")

    async def act(app, pilot, composer):
        await pilot.press(*"/model x")
        await settle(app, pilot)
        assert app.said(StatusMessage)[-1] == StatusMessage("nobody is there", is_error=True)
        await pilot.press("enter")
        assert app.said(CommandTyped) == [CommandTyped("model", "x")]

    play(act, services=backend(available_models=models))


def test_modes_are_offered_and_what_holds_now_stands_beside_the_command():
    async def act(app, pilot, composer):
        await pilot.press(*"/mode")
        rows = dict(composer.offers.offer.candidates)
        assert rows == {"/mode": "asks before every call", "/model": "change the model"}
        await pilot.press("space", "r", "tab", "enter")
        assert app.said(CommandTyped) == [CommandTyped("mode", "reads")]
        await pilot.press(*"/mark a b", "enter")
        assert app.said(CommandTyped)[-1] == CommandTyped("mark", "a b")
        await pilot.press(*"/tools gre", "tab", *"rea", "down", "tab", "enter")
        assert app.said(CommandTyped)[-1] == CommandTyped("tools", "grep_search read_file")
        await pilot.press(*"/tools", "enter", "enter")
        assert app.said(CommandTyped)[-1] == CommandTyped("tools", "list")

    play(act, now={"/mode": "asks before every call", "/model": ""})


def test_a_file_is_completed_from_the_list():
    async def act(app, pilot, composer):
        await pilot.press(*"in", "space", *"@rout")
        await settle(app, pilot)
        text = "\n".join(app.lines())
        assert "Files" in text
        assert "4 of 5   ignored files are left out" in text
        await pilot.press("down", "tab")
        assert composer.text == "in @src/shop/router.py "
        await pilot.pause()
        assert "Files" not in "\n".join(app.lines())
        await pilot.press("enter")
        assert app.said(PromptSent) == [PromptSent("in @src/shop/router.py")]

    play(act, size=(120, 30))


@pytest.mark.parametrize(("most", "is_said"), [(len(FILES), True), (len(FILES) + 1, False)])
def test_a_list_of_files_that_was_cut_says_so(monkeypatch, most, is_said):
    monkeypatch.setattr("workbench.tui.conversation.composer.MAX_LISTED_FILES", most)

    async def act(app, pilot, composer):
        await pilot.press(*"@READ")
        await settle(app, pilot)
        said = [message.text for message in app.said(StatusMessage)]
        assert (f"@ offers the first {most} files of this folder, and no others." in said) == is_said

    play(act)


def test_enter_takes_a_file_before_it_sends():
    async def act(app, pilot, composer):
        await pilot.press(*"@READ")
        await settle(app, pilot)
        await pilot.press("enter")
        assert (composer.text, app.said(PromptSent)) == ("@README.md ", [])

    play(act)


def test_a_command_is_taken_and_done_by_one_enter():
    async def act(app, pilot, composer):
        await pilot.press(*"/st")
        await pilot.pause()
        await pilot.press("enter")
        assert app.said(CommandTyped) == [CommandTyped("stop")]

    play(act)


def test_escape_closes_the_list_first():
    async def act(app, pilot, composer):
        await pilot.press(*"@r")
        await settle(app, pilot)
        await pilot.press("escape")
        assert (composer.offers.offer, app.said(BackToPane)) == (None, [])
        await pilot.press("escape")
        assert len(app.said(BackToPane)) == 1

    play(act)


# --- the editor -----------------------------------------------------------------------------------------


def test_the_editor_gets_and_gives_the_text():
    async def act(app, pilot, composer):
        await pilot.press(*"draft", "ctrl+o")
        assert composer.text == "draft, edited\nmore"
        assert app.said(PromptSent) == []

    play(act, services=backend(open_editor=lambda _name, data: data + b", edited\nmore\n"))


def test_an_editor_that_does_not_start_says_why_and_nothing_is_lost():
    def broken(_name, _data):
        raise BackendError("No editor was started: EDITOR is not set.")

    async def act(app, pilot, composer):
        await pilot.press(*"draft", "ctrl+o")
        assert composer.text == "draft"
        assert app.said(StatusMessage) == [
            StatusMessage("No editor was started: EDITOR is not set.", is_error=True)
        ]

    play(act, services=backend(open_editor=broken))


@pytest.mark.parametrize(
    ("before", "names"),
    [
        ("/sandbox ", ["ask", "auto", "workspace", "read-only", "outside", "settings"]),
        ("/sandbox a", ["ask", "auto"]),
        ("/sandbox OUT", ["outside"]),
        ("/sandbox zzz", []),
    ],
)
def test_what_is_offered_of_the_sandbox(before, names):
    word = word_before_cursor(before, is_first_line=True)
    assert [name for name, _ in completions_of(word, CompletionSources()).candidates] == names
