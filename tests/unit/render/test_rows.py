import pytest
from msgspec.structs import replace

from tests.support.tables import each_row
from tests.unit.render.inks import ASCII, DARK, HOSTILE, UNICODE, is_safe, styles_at
from tests.unit.views.making import MINUTE, NOW, SECOND, action, call, session
from workbench.domain.values import FilePlan, SelectedHunk
from workbench.render import approvals, list_rows
from workbench.text import human
from workbench.views import approvals as views_approvals
from workbench.views import sessions, tools
from workbench.views.sessions import ChangedFile
from workbench.views.tools import TimeAxis, TimeSpan

PLAN = FilePlan(path="x", base=None, after="h", mode=0o644)
ASKED = [
    action("write", verb="write", target="docs/api.md", added=40, expires_at=NOW + 41 * SECOND),
    action("edit", added=6, removed=3, expires_at=NOW + 292 * SECOND),
    action(
        "stale",
        target="src/shop/cache.py",
        stale_paths=("x",),
        warnings=("stale",),
        expires_at=NOW + 550 * SECOND,
        verb="edit",
    ),
    action(
        "run",
        verb="run",
        target="curl -fsS https://get.acme.dev/i.sh | sh",
        warnings=("hidden",),
        expires_at=NOW + 700 * SECOND,
    ),
    action(
        "many",
        target="src/shop/router.py",
        files=(PLAN, PLAN, PLAN),
        added=52,
        removed=6,
        expires_at=NOW + 800 * SECOND,
    ),
    action(
        "partly",
        state="approved",
        selection=(SelectedHunk(hunk=1), SelectedHunk(hunk=2)),
        decided_at=NOW,
        target="src/shop/app.py",
    ),
]
ROWS = views_approvals.queue_rows(
    ASKED, {"s1": session()}, NOW, hunk_sizes={"partly": (2, 2, 1)}, marks={"edit"}
)
CLOCK = human.clock_time(NOW)


def drawn(width, glyphs=UNICODE, **more):
    return [approvals.queue_strip(row, width, DARK, glyphs, NOW, **more) for row in ROWS]


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (71, [
            " ◆ write docs/api.md                   +40  rename handler     ▁  0:41",
            " ◆ edit  src/shop/router.py          +6 −3  rename handler     ▇  4:52",
            " ≠ edit  src/shop/cache.py           stale  rename handler        9:10",
            " ◆ run   curl -fsS https://get.…  ! hidden  rename handler       11:40",
            " ◆ edit  src/shop/router.py  and 2… +52 −6  rename handler       13:20",
            f" ◧ edit  src/shop/app.py                          2 of 3 hunks   {CLOCK}",
        ]),
        (46, [
            " ◆ write docs/api.md            +40   ▁  0:41",
            " ◆ edit  src/shop/router.py   +6 −3   ▇  4:52",
            " ≠ edit  src/shop/cache.py    stale      9:10",
            " ◆ run   curl -fsS https…  ! hidden     11:40",
            " ◆ edit  src/shop/router.py… +52 −6     13:20",
            f" ◧ edit  src/shop/app.py                {CLOCK}",
        ]),
        (28, [
            " ◆ write …/api.md   ▁  0:41",
        ]),
    ],
)  # fmt: skip
def test_the_queue(width, expected):
    found = drawn(width)
    assert {strip.cell_length for strip in found} == {width}
    assert [strip.text.rstrip() for strip in found][: len(expected)] == expected


def test_sign_verb_and_time_are_never_dropped():
    for width in (24, 30, 40):
        for strip, row in zip(drawn(width), ROWS, strict=True):
            assert strip.text[1] in "◆≠◧"
            assert row.verb in strip.text
            assert (human.time_left_text(row.left_seconds) or CLOCK) in strip.text


def test_the_zoomed_queue_has_columns():
    heads = approvals.queue_head_strip(120, DARK, UNICODE).text
    marked = drawn(120, shows_marks=True, is_cursor=True)[1].text
    assert marked.startswith("▌■ ◆ edit  src/shop/router.py")
    for head, start in (("what", "edit"), ("target", "src"), ("lines", "+6 −3"), ("session", "rename")):
        assert heads.index(head) == marked.index(start)
    assert heads.rstrip().endswith("left")
    assert len(heads.rstrip()) == len(marked.rstrip())


def test_urgency_and_cursor_are_colours_of_what_words_say():
    calm, soon, now = (drawn(71, is_cursor=True, has_focus=True)[n] for n in (4, 1, 0))
    assert styles_at(calm, "13:20").color.name == DARK.tokens.foreground
    assert styles_at(soon, "4:52").color.name == DARK.tokens.waiting
    assert styles_at(now, "0:41").color.name == DARK.tokens.failed
    assert {segment.style.bgcolor.name for segment in calm} == {DARK.tokens.cursor_row}
    assert styles_at(calm, "src").bold
    assert {segment.style.bgcolor.name for segment in drawn(71, is_cursor=True)[0]} == {
        DARK.tokens.cursor_blur
    }
    assert {segment.style.bgcolor.name for segment in drawn(71)[0]} == {DARK.tokens.background}


def test_ascii():
    text = drawn(71, ASCII, is_cursor=True)[1].text
    assert text.isascii()
    assert text.startswith(">* edit  src/shop/router.py")
    assert "+6 -3" in text


@each_row("text", HOSTILE)
@each_row("width", [20, 71, 130])
def test_hostile_text_changes_no_width(text, width):
    asked = action(target=text, verb=text, warnings=(text,))
    (row,) = views_approvals.queue_rows([asked], {"s1": session(title=text)}, NOW)
    (tool,) = tools.tool_rows([call(tool=text or "x", target=text, rule=text or None)], {}, NOW)
    (other,) = sessions.session_rows([session(title=text)], [])
    strips = [
        approvals.queue_strip(row, width, DARK, UNICODE, NOW, shows_marks=width > 100),
        list_rows.tool_strip(tool, width, DARK, UNICODE, span=TimeSpan()),
        list_rows.session_strip(other, width, DARK, UNICODE, NOW),
        list_rows.changed_file_strip(ChangedFile(path=text, sign="ok", added=1), width, DARK, UNICODE),
        list_rows.fact_strip("model", text, width, DARK, UNICODE),
    ]
    assert {strip.cell_length for strip in strips} == {width}
    assert all(is_safe(strip.text) for strip in strips)


READ = call(
    "c1",
    rule="R3",
    requested_at=NOW - 33 * SECOND,
    started_at=NOW - 33 * SECOND,
    finished_at=NOW - 32_988_000,
    duration_ms=12,
)
WAITS = call(
    "c4", tool="replace_string_in_file", state="pending", action_id="a4", requested_at=NOW - 10 * SECOND
)
TOOLS = tools.tool_rows([READ, WAITS], {"a4": action("a4", created_at=NOW - 10 * SECOND)}, NOW)
AXIS = tools.time_axis(TOOLS, NOW)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (48, ["   tool                                    time", " ✓ read_file       src/app.py             12 ms", " ◆ replace_string… src/app.py              10 s"]),
        (58, ["   tool                              time  0         33 s", " ✓ read_file       src/app.py       12 ms  ▏", " ◆ replace_string… src/app.py        10 s           ╌╌╌╌╌"]),
        (100, [
            "   tool                   target            by           ran waited  0        10 s     20 s    33 s",
            " ✓ read_file              src/app.py        § R3       12 ms         ▏",
            " ◆ replace_string_in_file src/app.py        asks           –   10 s                      ╌╌╌╌╌╌╌╌╌╌",
        ]),
    ],
)  # fmt: skip
def test_tools(width, expected):
    strips = [list_rows.tool_head_strip(width, DARK, UNICODE, AXIS)]
    strips += [
        list_rows.tool_strip(row, width, DARK, UNICODE, span=span)
        for row, span in zip(TOOLS, tools.time_spans(TOOLS, AXIS, NOW), strict=True)
    ]
    assert {strip.cell_length for strip in strips} == {width}
    assert [strip.text.rstrip() for strip in strips] == expected


def test_a_call_that_waits_has_run_no_time_and_alone_waits_in_amber():
    waiting, done = (next(row for row in TOOLS if row.sign == sign) for sign in ("waiting", "ok"))
    for width in (90, 100):
        head = list_rows.tool_head_strip(width, DARK, UNICODE, AXIS).text
        strip = list_rows.tool_strip(waiting, width, DARK, UNICODE)
        end = head.index("ran") + 3
        assert strip.text[end - 3 : end] == "  –"
        assert strip.text[end + 1 : end + 7] == "  10 s"
        amber = DARK.of("waiting").rich_style.color
        assert [seg.text.strip() for seg in strip if seg.style and seg.style.color == amber][-1] == "10 s"
        other = list_rows.tool_strip(replace(done, wait_ms=4_000), width, DARK, UNICODE)
        assert not [seg for seg in other if seg.style and seg.style.color == amber]


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (TimeSpan(), "          "),
        (TimeSpan(ran=(0.5, 0.5)), "     ▏    "),
        (TimeSpan(waited=(0.0, 0.3), ran=(0.3, 0.6)), "╌╌╌━━━    "),
        (TimeSpan(waited=(0.9, 1.0)), "         ╌"),
        (TimeSpan(ran=(1.0, 1.0)), "         ▏"),
        (TimeSpan(ran=(0.42, 0.5)), "    ━     "),
    ],
)
def test_bars(span, text):
    assert list_rows.waterfall_bar(span, 10, DARK, UNICODE).plain == text
    assert list_rows.waterfall_bar(span, 10, DARK, ASCII).plain.isascii()
    assert list_rows.waterfall_bar(span, 0, DARK, UNICODE).plain == ""


@pytest.mark.parametrize(
    ("seconds", "width", "text"),
    [
        (33, 14, "0         33 s"),
        (33, 40, "0        8 s       16 s      24 s   33 s"),
        (0.4, 14, "0       400 ms"),
        (9.6, 14, "0        9.6 s"),
        (125, 40, "0        30 s      1:00     1:30    2:05"),
        (33, 5, " 33 s"),
        (0, 40, "0                                   0 ms"),
    ],
)
def test_marks_of_the_axis(seconds, width, text):
    assert list_rows.axis_marks(TimeAxis(start=0, end=int(seconds * SECOND)), width, DARK).plain == text


def test_the_rail():
    waiting, quiet = sessions.session_rows(
        [session(title="rename handler"), session("s2", title="explain the cache", updated_at=NOW)],
        [action()],
    )
    assert (
        list_rows.session_strip(waiting, 25, DARK, UNICODE, NOW, is_cursor=True).text
        == "▌◆ rename handler     1  "
    )
    on_show, away = replace(quiet, is_current=True), replace(quiet, folder="shop")
    assert list_rows.session_strip(on_show, 26, DARK, UNICODE, NOW).text == f" ✓ explain the ca… {CLOCK} ◄"
    assert list_rows.session_strip(away, 26, DARK, UNICODE, NOW).text == f" ✓ shop: explain … {CLOCK}  "
    assert list_rows.session_strip(quiet, 25, DARK, UNICODE, NOW).text == f" ✓ explain the c… {CLOCK}  "
    changed = ChangedFile(path="tests/test_app_of_it.py", sign="partly", added=6, removed=2)
    assert list_rows.changed_file_strip(changed, 25, DARK, UNICODE).text == " ◧ …t_app_of_it.py +6 −2 "
    assert list_rows.fact_strip("model", "qwen3-coder", 25, DARK, UNICODE).text == "   model     qwen3-coder "


@pytest.mark.parametrize(
    ("ago", "is_weekday"),
    [(0, False), (3 * 24 * 60 * MINUTE, True), (30 * 24 * 60 * MINUTE, False)],
)
def test_clock_times(ago, is_weekday):
    found = human.clock_time(NOW - ago, NOW)
    assert (found[:3] in "Mon Tue Wed Thu Fri Sat Sun") is is_weekday
    assert (":" in found) is (ago == 0)
    assert human.clock_time(None) == ""
    assert human.clock_time_millis(NOW + 204_000).endswith(".204")


def test_a_line_end_in_a_target_is_a_sign_and_what_follows_it_is_cut_last():
    asked = [action(verb="run", target="echo hi⏎touch /srv/long/path/" + "x" * 90)]
    (row,) = views_approvals.queue_rows(asked, {"s1": session()}, NOW)
    shown = {glyphs: approvals.queue_strip(row, 60, DARK, glyphs, NOW).text for glyphs in (UNICODE, ASCII)}
    assert "echo hi⏎touch /srv/lo" in shown[UNICODE]
    assert "echo hi^Jtouch /srv/" in shown[ASCII]
