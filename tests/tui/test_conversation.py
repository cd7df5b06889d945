"""The conversation: its arithmetic, its place on the screen while it grows, its keys, hostile words."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pane_host import HOSTILE, Host, Told, session
from workbench.domain.events import (
    CallExecuting,
    CallFinished,
    CallProposed,
    ErrorRaised,
    OutputStreamed,
    PromptSubmitted,
    ReplyCompleted,
    SessionStatusChanged,
    TextStreamed,
    ThinkingStreamed,
    TurnEnded,
    TurnStarted,
)
from workbench.domain.values import GateVerdict
from workbench.render import conversation
from workbench.text.width import cell_width
from workbench.tui.conversation import streaming_text
from workbench.tui.conversation.conversation_pane import ConversationPane
from workbench.tui.conversation.streaming_text import StreamingText, wrap_line
from workbench.tui.pane import (
    ContinueSession,
    ConversationModel,
    CopyText,
    LogWanted,
    OpenDetail,
    PipeWanted,
    RetryModelCall,
    StatusMessage,
)
from workbench.tui.widgets.height_index import HeightIndex
from workbench.views.conversation import Transcript
from workbench.views.conversation_blocks import CallBlock, PromptBlock, TextBlock, ThoughtBlock

# --- wrapping ---------------------------------------------------------------------------------------

LINES = st.text(st.sampled_from("ab漢 é👩-x "), max_size=60)


@given(LINES, st.integers(2, 20))
def test_wrapped_rows_are_the_line_again_and_fit(line, width):
    rows = wrap_line(line, width)
    assert "".join(rows) == line
    assert all(cell_width(row.rstrip()) <= width for row in rows)


@pytest.mark.parametrize(
    ("line", "width", "rows"),
    [
        ("", 5, [""]),
        ("one two three", 7, ["one two ", "three"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("a abcdefgh", 4, ["a ab", "cdef", "gh"]),
        ("漢字漢字", 4, ["漢字", "漢字"]),
        ("  in", 10, ["  in"]),
    ],
)
def test_wrap(line, width, rows):
    assert wrap_line(line, width) == rows


MARKDOWN = st.lists(
    st.sampled_from(
        ["text", "- item", "```py", "```", "", "", "  indented", "~~~", "word " * 12, "1. one", "# head"]
    ),
    max_size=24,
).map("\n".join)


@given(MARKDOWN, st.lists(st.integers(1, 30)))
def test_what_grows_in_pieces_is_what_grows_at_once(text, pieces):
    whole, slow = StreamingText(20), StreamingText(20)
    whole.extend(text)
    at = 0
    for size in [*pieces, len(text)]:
        slow.extend(text[at : at + size])
        at += size
    assert slow.finished == whole.finished
    assert [slow.row(n) for n in range(slow.count)] == [whole.row(n) for n in range(whole.count)]


@given(MARKDOWN)
def test_finished_blocks_hold_whole_fences_and_all_of_the_text(text):
    growing = StreamingText(500)
    growing.extend(text)
    rest = [growing.row(n).rstrip() for n in range(growing.count)]
    said = [line.rstrip() for block in growing.finished for line in block.split("\n")] + rest
    assert [line for line in said if line] == [line.rstrip() for line in text.split("\n") if line.strip()]


def test_a_fence_stays_plain_until_it_is_closed():
    growing = StreamingText(40)
    growing.extend("before\n\n```py\nx = 1\n\ny = 2\n")
    assert (growing.finished, growing.is_in_fence) == (["before"], True)
    assert [growing.row(n) for n in range(growing.count)] == ["```py", "x = 1", "", "y = 2"]
    growing.extend("```\nafter")
    assert growing.finished[1:] == ["```py\nx = 1\n\ny = 2\n```"]
    assert [growing.row(n) for n in range(growing.count)] == ["after"]


@given(st.lists(st.integers(0, 5), max_size=30), st.lists(st.tuples(st.integers(0, 29), st.integers(0, 5))))
def test_heights_are_running_sums(heights, changes):
    sums = HeightIndex()
    sums.replace_from(0, heights)
    for index, height in changes:
        if index < len(heights):
            heights[index] = height
            sums.put(index, height)
            assert sums.top(index) == sum(heights[:index])
    assert sums.total == sum(heights)
    owners = [(index, line) for index, height in enumerate(heights) for line in range(height)]
    assert [sums.at(line) for line in range(sums.total)] == owners


def test_no_line_is_behind_the_last():
    with pytest.raises(IndexError):
        HeightIndex().at(0)


# --- on the screen ------------------------------------------------------------------------------------


class Scene:
    """A conversation pane, the events it was told, and what it shows of them."""

    def __init__(self):
        self.told, self.transcript = Told(), Transcript("s1")
        self.pane = ConversationPane()
        self.seen = 0
        self.is_first = True
        self.status = "processing"

    def show(self):
        fresh, self.seen = self.told.events[self.seen :], len(self.told.events)
        changed = frozenset(self.transcript.apply_all(fresh))
        self.pane.show(
            ConversationModel(
                session=session(self.status),
                transcript=self.transcript,
                changed=None if self.is_first else changed,
                now=self.told.at,
            )
        )
        self.is_first = False

    def turn(
        self, n, text="Nine calls in four files.\n\nOne is dynamic.", thought="let me\nsee\nwhat there is"
    ):
        self.begin(n)
        self.told.add(ThinkingStreamed(block=0, offset=0, text=thought), turn_id=f"t{n}")
        self.told.add(ReplyCompleted(text=text, thinking=thought), turn_id=f"t{n}")
        self.told.add(TurnEnded(outcome="done"), turn_id=f"t{n}")

    def begin(self, n):
        self.told.add(PromptSubmitted(text=f"Question {n}?"), actor="user")
        self.told.add(TurnStarted(provider="p", model="m"), turn_id=f"t{n}")

    def stream(self, n, text, offset=0):
        self.told.add(TextStreamed(block=0, offset=offset, text=text), turn_id=f"t{n}")

    def command(self, n, output="line one\nline two", exit_code=1):
        verdict, about = (
            GateVerdict(outcome="allowed", step="grants", by="R3"),
            {"turn_id": f"t{n}", "call_id": f"c{n}"},
        )
        self.told.add(
            CallProposed(tool="run_in_terminal", verdict=verdict, target="pytest -q", provider_call_id="x"),
            **about,
        )
        self.told.add(CallExecuting(), **about)
        self.told.add(OutputStreamed(offset=0, text=output), **about)
        self.told.add(
            CallFinished(
                state="failed",
                exit_code=exit_code,
                preview=output,
                output_bytes=len(output),
                duration_ms=4100,
            ),
            **about,
        )


def play(scene, act, size=(58, 30)):
    async def run():
        app = Host(scene.pane)
        async with app.run(size) as pilot:
            scene.show()
            await pilot.pause()
            await act(app, pilot)

    asyncio.run(run())


def screen_line(scene, block_id):
    """Return the row of the screen where a block begins, its gap included."""
    view = scene.pane.view
    return view._heights.top(view._index[block_id]) - view.first_line


def test_a_conversation_opens_at_its_end_and_stays_there():
    scene = Scene()
    for n in range(40):
        scene.turn(n)

    async def act(app, pilot):
        assert "One is dynamic." in "\n".join(app.lines()[-4:])
        scene.turn(40, text="The newest word.")
        scene.show()
        await pilot.pause()
        assert "The newest word." in "\n".join(app.lines()[-3:])
        assert scene.pane.view.unread == 0

    play(scene, act)


def without_scrollbar(lines):
    return [line.rstrip().rstrip("│┃").rstrip() for line in lines]


def test_who_reads_above_is_not_moved_and_told_how_much_is_new():
    scene = Scene()
    for n in range(40):
        scene.turn(n)

    async def act(app, pilot):
        scene.pane.view.focus()
        await pilot.press("g", "j", "j", "j", "j")
        before = without_scrollbar(app.lines()[1:])
        scene.turn(40)
        scene.show()
        await pilot.pause()
        assert without_scrollbar(app.lines()[1:]) == before
        assert "↓ 3 new" in app.lines()[0]
        await pilot.press("f")
        await pilot.pause()
        assert "new" not in app.lines()[0]
        assert "Question 40?" in "\n".join(app.lines())

    play(scene, act)


def test_the_wheel_leaves_the_end_and_coming_back_follows_again():
    scene = Scene()
    for n in range(40):
        scene.turn(n)

    async def act(app, pilot):
        view = scene.pane.view
        view.scroll_to_line(view.first_line - 20)
        await pilot.pause()
        assert not view.is_following
        view.scroll_to_line(view.line_count)
        await pilot.pause()
        assert view.is_following

    play(scene, act)


def test_every_line_is_the_same_however_one_comes_to_it():
    """Heights are guessed until a block comes near; the lines read by scrolling are those drawn at once."""
    scene = Scene()
    for n in range(30):
        scene.turn(n, text=("word " * (n % 7) * 9 + "\n\n") * (n % 4 + 1) + "end")

    async def act(app, pilot):
        view = scene.pane.view
        read = []
        view.scroll_to_line(0)
        await pilot.pause()
        while True:
            read += [(view._heights.at(line), view.draw_line(line, 58).text) for line in view.visible_lines]
            if view.is_at_end:
                break
            view.scroll_to_line(view.first_line + view.size.height)
            await pilot.pause()
        shown = dict(read)
        whole = []
        for index in range(len(view.blocks)):
            drawn = view._draw(index)
            whole += [((index, at), drawn.height) for at in range(drawn.height)]
        assert [key for key, _ in whole] == list(shown)

    play(scene, act)


@pytest.mark.parametrize("key", ["space", "enter"])
def test_folding_keeps_the_line_that_is_looked_at(key):
    scene = Scene()
    for n in range(20):
        scene.turn(n, thought="\n".join(f"thought {at}" for at in range(9)))

    async def act(app, pilot):
        view = scene.pane.view
        view.focus()
        await pilot.press("g", *"jjjj")
        thought = next(block for block in view.blocks[4:] if isinstance(block, ThoughtBlock))
        view.put_cursor(thought.id)
        await pilot.pause()
        before = screen_line(scene, thought.id)
        await pilot.press(key)
        await pilot.pause()
        assert "thought 8" in "\n".join(app.lines())
        assert screen_line(scene, thought.id) == before
        await pilot.press(key)
        await pilot.pause()
        assert "thought 8" not in "\n".join(app.lines())
        assert screen_line(scene, thought.id) == before

    play(scene, act)


def test_folding_at_the_end_does_not_jump():
    scene = Scene()
    for n in range(9):
        scene.turn(n, thought="\n".join(f"thought {at}" for at in range(40)))

    async def act(app, pilot):
        view = scene.pane.view
        view.focus()
        thought = [block for block in view.blocks if isinstance(block, ThoughtBlock)][-1]
        view.put_cursor(thought.id)
        await pilot.pause()
        before = screen_line(scene, thought.id)
        await pilot.press("space")
        await pilot.pause()
        assert screen_line(scene, thought.id) == before

    play(scene, act)


def test_what_stands_below_a_change_gets_its_new_gap():
    """A thought that comes after its text stands above it; then no blank line is between them."""
    scene = Scene()
    scene.begin(0)
    scene.stream(0, "It is said.")

    async def act(app, pilot):
        view = scene.pane.view
        scene.told.add(ThinkingStreamed(block=1, offset=0, text="late"), turn_id="t0")
        scene.show()
        app.set_focus(None)
        await pilot.pause()
        shown = app.lines()
        assert [type(block) for block in view.blocks][:3] == [PromptBlock, ThoughtBlock, TextBlock]
        view.show_blocks(scene.transcript.blocks, None)
        await pilot.pause()
        assert app.lines() == shown

    play(scene, act)


def test_output_folds_at_its_call():
    scene = Scene()
    scene.begin(0)
    scene.command(0)

    async def act(app, pilot):
        scene.pane.view.focus()
        call = next(block for block in scene.pane.view.blocks if isinstance(block, CallBlock))
        scene.pane.view.put_cursor(call.id)
        assert "line two" not in "\n".join(app.lines())
        assert scene.pane.label_of("conversation.fold") == "open"
        await pilot.press("space")
        await pilot.pause()
        assert "line two" in "\n".join(app.lines())
        await pilot.press("enter")
        assert app.said(OpenDetail) == [OpenDetail("conversation", "c0")]

    play(scene, act)


STORY = (
    "Here is the **plan**:\n\n- one\n- two\n\n```py\ndef f(x):\n    return x\n\nprint(f(1))\n```\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\nThen `it` ends, with a long last line that has to be wrapped twice at least."
)  # fmt: skip


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_what_was_streamed_ends_as_what_is_final(step):
    streamed, final = Scene(), Scene()
    final.begin(0)
    final.told.add(ReplyCompleted(text=STORY), turn_id="t0")
    final.told.add(TurnEnded(outcome="done"), turn_id="t0")
    shown = []

    async def keep(app, pilot):
        app.set_focus(None)
        await pilot.pause()
        shown.append(app.lines())

    async def act(app, pilot):
        for offset in range(0, len(STORY), step):
            streamed.stream(0, STORY[offset : offset + step], offset)
            streamed.show()
            if offset % 50 == 0:
                await pilot.pause()
        streamed.told.add(ReplyCompleted(text=STORY), turn_id="t0")
        streamed.told.add(TurnEnded(outcome="done"), turn_id="t0")
        streamed.show()
        app.set_focus(None)
        await pilot.pause()
        shown.append(app.lines())

    streamed.begin(0)
    play(streamed, act)
    play(final, keep)
    assert shown[0] == shown[1]


def test_while_it_streams_finished_parts_look_final_and_the_rest_is_plain():
    scene = Scene()
    scene.begin(0)
    scene.stream(0, "A **bold** word.\n\nAnd **more** to co")

    async def act(app, pilot):
        text = "\n".join(app.lines())
        assert "A bold word." in text
        assert "And **more** to co▍" in text

    play(scene, act)


def test_lines_that_are_not_drawn_again_are_the_right_ones():
    scene = Scene()
    scene.turn(0)
    scene.begin(1)

    async def act(app, pilot):
        text, offset = STORY.replace(" ", "  ") * 2, 0
        for size in [1, 2, 3, 5, 8, 13, 21, 34] * 9:
            scene.stream(1, text[offset : offset + size], offset)
            offset += size
            scene.show()
            await pilot.pause()
            shown = app.lines()
            scene.pane.view.invalidate()
            await pilot.pause()
            assert app.lines() == shown

    play(scene, act)


def test_only_the_live_block_is_drawn_again(monkeypatch):
    scene = Scene()
    for n in range(20):
        scene.turn(n)
    scene.begin(20)
    scene.stream(20, "one ")
    drawn = []
    real = conversation.block_lines

    async def act(app, pilot):
        monkeypatch.setattr(
            "workbench.tui.conversation.transcript_view.block_lines",
            lambda block, *rest: drawn.append(block.id) or real(block, *rest),
        )
        for offset in range(4, 400, 4):
            scene.stream(20, "two ", offset)
            scene.show()
        await pilot.pause()
        # What the model does is said anew once a second: ten times in ten seconds.
        assert set(drawn) == {"progress"} and len(drawn) <= 11
        assert "two two" in "\n".join(app.lines())

    play(scene, act)


@pytest.mark.parametrize("head", ["", "```py\n"])
@pytest.mark.parametrize("piece", ["word and word ", "x = compute(y)\n"])
def test_a_piece_costs_the_same_in_a_long_text(head, piece):
    """The work for a piece is counted, not timed: characters that are wrapped again."""
    wrapped = []

    def count(line, width):
        wrapped.append(len(line))
        return wrap_line(line, width)

    def work(length):
        growing = StreamingText(60)
        growing.extend(head + piece * (length // len(piece)))
        wrapped.clear()
        for _ in range(50):
            growing.extend(piece)
            assert growing.count
        return sum(wrapped)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.tui.conversation.streaming_text.wrap_line", count)
        short, long = work(5_000), work(100_000)
    assert long <= short * 1.5 + 500


def test_a_finished_part_is_parsed_once(monkeypatch):
    scene = Scene()
    scene.begin(0)
    parsed = []
    real = streaming_text.markdown.markdown_lines
    monkeypatch.setattr(
        streaming_text.markdown,
        "markdown_lines",
        lambda text, *rest: parsed.append(text) or real(text, *rest),
    )

    async def act(app, pilot):
        text = "".join(f"paragraph {n}\n\n" for n in range(50))
        for offset in range(0, len(text), 11):
            scene.stream(0, text[offset : offset + 11], offset)
            scene.show()
        await pilot.pause()
        assert parsed == [f"paragraph {n}" for n in range(49)]

    play(scene, act)


def test_a_long_conversation_opens_without_drawing_all_of_it(monkeypatch):
    scene = Scene()
    for n in range(400):
        scene.turn(n)
    assert len(scene.told.events) == 2000
    drawn = []
    real = conversation.block_lines
    monkeypatch.setattr(
        "workbench.tui.conversation.transcript_view.block_lines",
        lambda block, *rest: drawn.append(block.id) or real(block, *rest),
    )

    async def act(app, pilot):
        assert len(scene.pane.view.blocks) == 1200
        assert len(drawn) < 60

    play(scene, act)


def test_hostile_words_are_only_words():
    async def said(app, pilot, words):
        scene = Scene()
        await app.put(scene.pane)
        scene.told.add(PromptSubmitted(text=words), actor="user")
        scene.told.add(TurnStarted(provider="p", model="m"), turn_id="t0")
        scene.told.add(ThinkingStreamed(block=0, offset=0, text=words), turn_id="t0")
        scene.stream(0, words + "\n\n" + words)
        scene.show()
        await pilot.pause()
        for _ in range(3):
            lines = app.lines()
            assert not any(
                ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u200b\U000e0041" for c in "".join(lines)
            ), words
            assert all(cell_width(line) == 58 for line in lines), words
            scene.told.add(ReplyCompleted(text=words, thinking=words), turn_id="t0")
            scene.command(0, output=words)
            scene.told.add(ErrorRaised(code="x", message=words, details=words, remedy=words), turn_id="t0")
            scene.show()
            for block in scene.pane.view.blocks:
                scene.transcript.toggle(block.id)
            scene.pane.view.show_blocks(scene.transcript.blocks, {b.id for b in scene.transcript.blocks})
            await pilot.pause()
        assert app.is_running and "pytest -q" in "".join(app.lines()), words

    async def act(app, pilot):
        for words in HOSTILE:
            await said(app, pilot, words)

    play(Scene(), act)


# --- keys -----------------------------------------------------------------------------------------------


def test_n_goes_to_prompts_and_errors():
    scene = Scene()
    for n in range(6):
        scene.turn(n)
    scene.told.add(ErrorRaised(code="x", message="It broke."), turn_id="t5")

    async def act(app, pilot):
        view = scene.pane.view
        view.focus()
        await pilot.press("g")
        found = [view.cursor_block]
        for _ in range(6):
            await pilot.press("n")
            found.append(view.cursor_block)
        assert [type(block).__name__ for block in found] == ["PromptBlock"] * 6 + ["ErrorBlock"]
        await pilot.press("N", "N")
        assert isinstance(view.cursor_block, PromptBlock)
        assert view.cursor_block.text == "Question 4?"

    play(scene, act)


def test_the_cursor_passes_over_folded_output_and_through_long_blocks():
    scene = Scene()
    scene.turn(0, text="\n\n".join(f"paragraph {n}" for n in range(40)))
    scene.begin(1)
    scene.command(1)
    scene.told.add(ReplyCompleted(text="done"), turn_id="t1")

    async def act(app, pilot):
        view = scene.pane.view
        view.focus()
        await pilot.press("g")
        seen = [view.cursor]
        for _ in range(80):
            await pilot.press("j")
            seen.append(view.cursor)
        kinds = list(dict.fromkeys(str(key).partition(":")[0] for key in seen))
        assert kinds == ["prompt", "thought", "text", "call"]
        assert seen.count("text:t0:1") > 30

    play(scene, act)


@pytest.mark.parametrize(
    ("status", "key", "kind"),
    [
        ("paused", "c", ContinueSession),
        ("processing", "c", StatusMessage),
        ("processing", "r", StatusMessage),
    ],
)
def test_keys_that_are_off_say_why(status, key, kind):
    scene = Scene()
    scene.status = status
    scene.turn(0)
    scene.told.add(SessionStatusChanged(status="paused", reason="unattended"))

    async def act(app, pilot):
        scene.pane.view.focus()
        await pilot.press(key)
        assert len(app.said(kind)) == 1
        assert ("paused" in app.lines()[0]) == (status == "paused")
        assert "◆" not in app.lines()[0], "nothing waits for an answer"

    play(scene, act)


def test_an_error_is_answered_by_its_keys():
    scene = Scene()
    scene.begin(0)
    scene.told.add(ErrorRaised(code="gone", message="The model stopped in the middle."), turn_id="t0")

    async def act(app, pilot):
        scene.pane.view.focus()
        assert "r ask again" in "\n".join(app.lines())
        await pilot.press("r")
        assert len(app.said(RetryModelCall)) == 1
        assert scene.pane.why_off("conversation.retry") == ""
        await pilot.press("l")
        assert [message.error for message in app.said(LogWanted)] == [scene.pane.error]

    play(scene, act)


def test_copy_and_pipe_take_the_text_under_the_cursor():
    scene = Scene()
    scene.turn(0, text="One **is** dynamic.")

    async def act(app, pilot):
        scene.pane.view.focus()
        await pilot.press("G", "y", "|")
        assert [one.text for one in app.said(CopyText)] == ["One **is** dynamic."]
        assert [one.text for one in app.said(PipeWanted)] == ["One **is** dynamic."]

    play(scene, act)


def test_a_resize_keeps_the_line():
    scene = Scene()
    for n in range(30):
        scene.turn(n, text="word " * 60)

    async def act(app, pilot):
        view = scene.pane.view
        view.focus()
        await pilot.press("g", *"nnnnnnnnn")
        await pilot.pause()
        cursor = view.cursor
        before = screen_line(scene, cursor)
        await pilot.resize_terminal(90, 30)
        await pilot.pause()
        assert (view.cursor, screen_line(scene, cursor)) == (cursor, before)

    play(scene, act)


def test_another_session_starts_over():
    scene = Scene()
    for n in range(20):
        scene.turn(n)

    async def act(app, pilot):
        other = Scene()
        other.pane = scene.pane
        other.told.add(PromptSubmitted(text="Something else"), actor="user")
        scene.pane.view.focus()
        await pilot.press("g")
        other.show()
        await pilot.pause()
        assert "Something else" in "\n".join(app.lines()[:5])
        assert [type(block) for block in scene.pane.view.blocks] == [PromptBlock]

    play(scene, act)


def test_nothing_said_yet():
    async def act(app, pilot):
        assert "Nothing was said yet." in "\n".join(app.lines())

    play(Scene(), act)


def test_where_the_next_message_begins_a_session_it_says_so():
    scene = Scene()

    async def act(app, pilot):
        scene.pane.show(ConversationModel(session=None, transcript=Transcript(""), changed=None, now=0))
        await pilot.pause()
        text = "\n".join(app.lines())
        assert "A new session." in text and "Write below" in text

    play(scene, act)


def test_the_focus_puts_the_cursor_where_one_looks():
    scene = Scene()
    for n in range(9):
        scene.turn(n)

    async def act(app, pilot):
        before = app.lines()[1:20]
        scene.pane.view.focus()
        await pilot.pause()
        assert scene.pane.view.cursor == "text:t8:1"
        assert app.lines()[1:20] == before

    play(scene, act)


def test_text_of_the_agent_is_markdown_and_is_kept_as_it_came():
    scene = Scene()
    scene.turn(0, text="**x**")
    scene.transcript.apply_all(scene.told.events)
    assert any(isinstance(block, TextBlock) and block.text == "**x**" for block in scene.transcript.blocks)


# --- what goes on now, and turns ------------------------------------------------------------------------


def test_each_second_says_how_long_the_model_reads():
    scene = Scene()
    scene.begin(0)

    async def act(app, pilot):
        assert "● m reads   0 s" in app.lines()[3] and "● turn 1  0:00" in app.lines()[0]
        scene.pane.tick(scene.told.at + 12_300_000)
        await pilot.pause()
        assert "● m reads   12 s" in app.lines()[3] and "● turn 1  0:12" in app.lines()[0]
        scene.told.add(ReplyCompleted(text="Done."), turn_id="t0")
        scene.told.add(TurnEnded(outcome="done"), turn_id="t0")
        scene.show()
        await pilot.pause()
        assert not any("reads" in line for line in app.lines())

    play(scene, act)


def test_a_wide_conversation_keeps_its_measure_and_lists_its_turns():
    scene = Scene()
    for n in range(5):
        scene.turn(n, text="word " * 200)

    async def act(app, pilot):
        assert max(len(line[:119].rstrip()) for line in app.lines()[1:]) <= 100
        assert [line[120:].split()[-3:] for line in app.lines()[1:6]] == [
            [str(n + 1), "Question", f"{n}?"] for n in range(5)
        ]
        scene.pane.view.focus()
        assert scene.pane.turns.in_view.number == 5
        await pilot.press("[", "[", "[")
        await pilot.pause()
        assert scene.pane.turns.in_view.number == 3
        assert app.lines()[1].startswith("▌› Question 2?")
        assert [line[122] for line in app.lines()[1:6]].index("▌") == 2
        await pilot.press("]")
        assert scene.pane.turns.in_view.number == 4
        await pilot.click("#conversation-turns", offset=(8, 0))
        await pilot.pause()
        assert scene.pane.turns.in_view.number == 1
        await pilot.press("f")
        assert scene.pane.turns.in_view.number == 5
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        assert not scene.pane.query("#conversation-turns").first().display

    play(scene, act, size=(160, 30))
