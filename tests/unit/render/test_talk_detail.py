import pytest

from tests.support.tables import each_row
from tests.unit.render.inks import ASCII, DARK, HOSTILE, UNICODE, is_safe, styles_at
from tests.unit.views.making import NOW, action, call
from tests.unit.views.test_detail import made, plan, proposal
from workbench.domain.values import Choice
from workbench.render import action_detail, approvals, cells, conversation
from workbench.text import human
from workbench.views.action_detail import CommandPartRow, CommandParts
from workbench.views.conversation_blocks import (
    CallBlock,
    ErrorBlock,
    NoticeBlock,
    OutputBlock,
    PromptBlock,
    TextBlock,
    ThoughtBlock,
)


def line_of(**more):
    facts = {
        "id": "c",
        "at": 1,
        "call_id": "c",
        "action_id": None,
        "sign": "ok",
        "tool": "read_file",
        "target": "src/shop/app.py",
    }
    return CallBlock(**{**facts, **more})


def shown(block, width=48, glyphs=UNICODE):
    found = conversation.block_lines(block, width, DARK, glyphs)
    assert all(line.cell_length <= width for line in found)
    return [line.plain.rstrip() for line in found]


KEYS = (("r", "ask again"), ("p", "other model"), ("l", "the log"))


@each_row(
    ("block", "lines"),
    [
        (PromptBlock(id="p", at=1, text="rename it\nplease"), [" › rename it", "   please"]),
        (PromptBlock(id="p", at=1, text="then", is_queued=True), [" › then", "   queued"]),
        (TextBlock(id="t", at=1, text="It *is* done.\n\n- one"), ["   It is done.", "", "   • one"]),
        (TextBlock(id="t", at=1, text="It *may", is_open=True), ["   It *may▍"]),
        (TextBlock(id="t", at=1, text="It may", was_cut=True), ["   It may", "   It stopped here; the rest never came."]),
        (ThoughtBlock(id="t", at=1, text="hm", seconds=4.2), ["   ► thought for 4.2 s"]),
        (ThoughtBlock(id="t", at=1, text="hm", seconds=0.3), ["   ► thought for 300 ms"]),
        (ThoughtBlock(id="t", at=1, text="hm"), ["   ► thought"]),
        (ThoughtBlock(id="t", at=1, text="hm", is_open=True, seconds=1.0), ["   ► thinking"]),
        (ThoughtBlock(id="t", at=1, text="hm\nyes", seconds=75, is_folded=False), ["   ▼ thought for 1:15", "     hm", "     yes"]),
        (line_of(right="12 ms", is_by_rule=True), ["   ✓ read_file       src/shop/app.py    § 12 ms"]),
        (line_of(sign="waiting", tool="replace_string_in_file", right="asks you"), ["   ◆ replace_string… src/shop/app.py   asks you"]),
        (
            line_of(sign="partly", right="2 of 3", note="you left hunk 2", note_quote="keep the order, it is tested"),
            ["   ◧ read_file       src/shop/app.py     2 of 3", "     you left hunk 2: “keep the order, it is", "     tested”"],
        ),
        (line_of(tool="x", target="a very/long path/that does not fit in here", right="exit 1"), ["   ✓ x               a very/long path/t… exit 1"]),
        (line_of(tool="x", target="src/very/long/path/that/does/not/fit.py"), ["   ✓ x               src/…/that/does/not/fit.py"]),
        (OutputBlock(id="o", at=1, call_id="c", text="one\ntwo\n", total_bytes=8), []),
        (OutputBlock(id="o", at=1, call_id="c", text="one\ntwo\n", total_bytes=8, is_folded=False), ["     one", "     two"]),
        (OutputBlock(id="o", at=1, call_id="c", text="one", total_bytes=9000, is_folded=False), ["     one", "     8.8 KB in all"]),
        (OutputBlock(id="o", at=1, call_id="c", text="one", total_bytes=9000, is_folded=False, is_open=True), ["     one"]),
        (
            ErrorBlock(id="e", at=1, code="x", message="The model stopped.", details="It closed the connection.", remedy="Ask again.", keys=KEYS),
            [" × The model stopped.", "   It closed the connection.", "   Ask again.", "   r ask again    p other model    l the log"],
        ),
        (NoticeBlock(id="n", at=1, kind="paused", text="Nobody answered.", keys=KEYS[:1]), [" – Nobody answered.", "   r ask again"]),
        (NoticeBlock(id="n", at=1, kind="continued", text="You resumed it."), [" ✓ You resumed it."]),
    ],
)  # fmt: skip
def test_blocks(block, lines):
    assert shown(block) == lines


def test_blocks_in_ascii():
    assert shown(line_of(sign="waiting", right="asks you", is_by_rule=True), 48, ASCII) == [
        "   * read_file       src/shop/app.py S asks you"
    ]
    assert shown(line_of(note="n", note_quote="q"), 48, ASCII)[1] == '     n: "q"'


CALL, OUT, TEXT = line_of(), OutputBlock(id="o", at=1, call_id="c", text=""), TextBlock(id="t", at=1, text="")
FOLDED, OPEN = ThoughtBlock(id="h", at=1, text=""), ThoughtBlock(id="h", at=1, text="", is_folded=False)


@each_row(
    ("block", "previous", "gap"),
    [
        (CALL, None, 0),
        (CALL, CALL, 0),
        (CALL, OUT, 0),
        (OUT, CALL, 0),
        (TEXT, CALL, 1),
        (CALL, TEXT, 1),
        (TEXT, FOLDED, 0),
        (TEXT, OPEN, 1),
    ],
)
def test_gaps(block, previous, gap):
    assert conversation.blank_rows_before(block, previous) == gap
    assert conversation.blank_rows_before(block, previous, is_compact=True) == 0


@each_row("text", HOSTILE)
@each_row("width", [8, 48])
def test_hostile_blocks(text, width):
    blocks = [
        PromptBlock(id="p", at=1, text=text), TextBlock(id="t", at=1, text=text), TextBlock(id="t", at=1, text=text, is_open=True),
        ThoughtBlock(id="h", at=1, text=text, is_folded=False), line_of(tool=text, target=text, note="x", note_quote=text, right=text),
        OutputBlock(id="o", at=1, call_id="c", text=text, is_folded=False), ErrorBlock(id="e", at=1, code="", message=text, details=text, remedy=text),
        NoticeBlock(id="n", at=1, kind="mark", text=text),
    ]  # fmt: skip
    for block in blocks:
        for line in conversation.block_lines(block, width, DARK, UNICODE):
            assert cells.line_strip(line, width).cell_length == width
            if not isinstance(block, CallBlock):
                assert is_safe(line.plain)


# --- details ------------------------------------------------------------------------------------


def body(found, width=60, **more):
    lines = action_detail.body_lines(found, width, DARK, UNICODE, **more)
    assert all(line.cell_length <= width for line in lines)
    return [line.plain.rstrip() for line in lines]


def bars(found, width=60):
    return [line.plain.rstrip() for line in action_detail.status_bar_lines(found, width, DARK, UNICODE)]


def test_a_command_is_shown_whole():
    command = "cd web && make\ngit commit -m 'fix\u202egnp' " + "x" * 60
    found = made(
        action(verb="run"), proposal(parameters={"command": command, "timeout_seconds": 60, "env": "a\nb"})
    )
    assert body(found) == [
        "",
        "   cd web && make",
        "   git commit -m 'fix⟨U+202E⟩gnp' " + "x" * 25,
        "     " + "x" * 35,
        "",
        "   limit    60 s",
        "   env",
        "     a",
        "     b",
        "   runs in  /w",
    ]
    line = next(line for line in action_detail.body_lines(found, 60, DARK, UNICODE) if "U+202E" in line.plain)
    assert (
        styles_at(cells.line_strip(line, 60, DARK.on("background")), "⟨U+202E⟩").bgcolor.name
        == DARK.tokens.failed
    )


LOADER = CommandParts(
    rows=(
        CommandPartRow(text="curl -fsS https://get.acme.dev/i.sh", does="network: get.acme.dev", sign="waiting", says="asks (no rule)"),
        CommandPartRow(text="sh", does="runs what part 1 loads, unseen", sign="risk", says="never by rule", is_risky=True),
    )
)  # fmt: skip
PIPED = "curl -fsS https://get.acme.dev/i.sh | sh"


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (
            110,
            [
                "      part                                 what it does                    says",
                "    1 curl -fsS https://get.acme.dev/i.sh  network: get.acme.dev           ◆ asks (no rule)",
                "    2 sh                                   runs what part 1 loads, unseen  ! never by rule",
            ],
        ),
        (
            90,
            [
                "      part                                 what it does                  says",
                "    1 curl -fsS https://get.acme.dev/i.sh  network: get.acme.dev         ◆ asks (no rule)",
                "    2 sh                                   runs what part 1 loads,       ! never by rule",
                "                                           unseen",
            ],
        ),
        (
            74,
            [
                "    1 curl -fsS https://get.acme.dev/i.sh",
                "        ◆ asks (no rule)  network: get.acme.dev",
                "    2 sh",
                "        ! never by rule  runs what part 1 loads, unseen",
            ],
        ),
    ],
)
def test_the_parts_of_a_command_stand_on_one_line_where_there_is_room(width, expected):
    found = made(action(verb="run"), proposal(parameters={"command": PIPED}), parts=LOADER)
    lines = body(found, width)
    assert lines[3 : 3 + len(expected)] == expected


def test_a_table_of_parts_that_nobody_can_explain_has_no_column_for_it():
    parts = CommandParts(rows=(CommandPartRow(text="make", does="", sign="waiting", says="asks (no rule)"),))
    lines = body(made(action(verb="run"), proposal(parameters={"command": "make"}), parts=parts), 110)
    assert lines[3:5] == ["      part  says", "    1 make  ◆ asks (no rule)"]


def test_a_risky_part_is_underlined_in_the_command():
    found = made(action(verb="run"), proposal(parameters={"command": PIPED}), parts=LOADER)
    strip = cells.line_strip(action_detail.body_lines(found, 110, DARK, UNICODE)[1], 110)
    marked = [segment.text for segment in strip if segment.style and segment.style.underline]
    assert marked == ["sh"]


def test_a_question_with_its_choices():
    choices = (Choice(key="yes", label="Do it"), Choice(key="no", label="Leave it"))
    found = made(
        action(kind="gate", target="deploy?"),
        proposal(prompt="Deploy?\nNow?", choices=choices, subject={"run": "nightly"}),
    )
    assert body(found, choice="yes", choice_keys={"yes": "a", "no": "l a"}) == [
        "", "   Deploy?", "   Now?", "", "   a    ■ Do it", "   l a  □ Leave it", "", "   run  nightly",
    ]  # fmt: skip
    assert approvals.detail_title(found, DARK, UNICODE).plain == "deploy?"


@pytest.mark.parametrize(
    ("row", "more", "lines"),
    [
        (action(), {}, []),
        (
            action(stale_paths=("a",)), {},
            [
                " ≠ stale  The file was changed by something else. What you",
                "          see was made for the old text.",
                "          a makes the new diff and shows it; nothing is",
                "          written until you approve that one.",
            ],
        ),
        (action(state="expired", decided_at=NOW), {}, [f" ◇ expired {human.clock_time(NOW)}  Nobody answered in time. Nothing was", "                  done."]),
        (
            action(state="approved", decided_at=NOW, decided_by="user"), {"call": call(state="failed", error="disk full")},
            [f" ✓ approved {human.clock_time(NOW)}  By you.", " then  × failed: disk full"],
        ),
        (action(warnings=("deletes",)), {}, [" ! deletes  It deletes a file."]),
    ],
)  # fmt: skip
def test_bars(row, more, lines):
    assert bars(made(row, **more)) == lines


@pytest.mark.parametrize(
    ("row", "opened", "title"),
    [
        (action(added=6, removed=3), proposal(files=(plan("a"),)), "src/shop/router.py +6 −3"),
        (action(added=6), proposal(files=(plan("a"), plan("b"))), "src/shop/router.py  2 files +6"),
        (
            action(verb="run", tool="run_in_terminal", warnings=("hidden", "x")),
            proposal(),
            "run_in_terminal ! 2 risks",
        ),
        (action(verb="run", tool=None, warnings=("hidden",)), proposal(), "run ! 1 risk"),
        (action(target="a/" * 40 + "x.py"), proposal(files=(plan("a"),)), "…/a/a"),
    ],
)
def test_titles(row, opened, title):
    found = approvals.detail_title(made(row, opened), DARK, UNICODE).plain
    assert found == title or (title == "…/a/a" and len(found) <= 60 and found.endswith("/a/x.py"))


@each_row("text", HOSTILE)
def test_hostile_details(text):
    opened = proposal(
        parameters={"command": text, text: text},
        prompt=text,
        choices=(Choice(key=text, label=text),),
        subject={text: text},
        cwd=text,
    )
    found = made(
        action(
            verb="run",
            tool=text,
            target=text,
            warnings=(text,),
            state="rejected",
            reason=text,
            decided_by=text,
        ),
        opened,
    )
    lines = [
        *action_detail.body_lines(found, 40, DARK, UNICODE, choice=text),
        *action_detail.status_bar_lines(found, 40, DARK, UNICODE),
        approvals.detail_title(found, DARK, UNICODE),
    ]
    assert all(is_safe(line.plain) for line in lines)
