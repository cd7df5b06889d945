import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from tests.unit.render.inks import ASCII, DARK, HOSTILE, UNICODE, ansi_ink, changed, is_safe, styles_at
from workbench.domain.values import Hunk
from workbench.render import diff_layout
from workbench.render.diff import Diff, DiffDisplay, split_heads_strip
from workbench.render.diff_layout import widened_hunks
from workbench.render.syntax import SyntaxHighlighter
from workbench.render.theme import LIGHT_COLORS, OWN_THEMES_256, Ink
from workbench.views.file_changes import FileDetail
from workbench.views.hunk_selection import HunkSelection

GAP = "\n" * 7
BEFORE = f'''class Router:
    """Finds the handler."""

    def handle(self, request):
        return 1
{GAP}    def match(self, path):
        for route in self.routes:
            if route.accepts(path):
                return route
{GAP}    def __call__(self, environ):
        response = self.handle(Request(environ))
        return response
'''
AFTER = (
    BEFORE.replace("def handle(self, request):", "def dispatch(self, request: Request) -> Response:\n        self.log()")
    .replace("in self.routes:", "in sorted(self.routes, key=len):")
    .replace("self.handle(Request(environ))", "self.dispatch(Request(environ))\n        if response is None:\n            raise LookupError")
)  # fmt: skip
FILE = changed(BEFORE, AFTER)
TAKEN = HunkSelection.of(FILE.hunks)


def texts(diff, glyphs=UNICODE, ink=DARK, **look):
    made = DiffDisplay(**{"taken": TAKEN, **look})
    strips = [diff.strip(y, ink, glyphs, made) for y in range(len(diff))]
    assert {strip.cell_length for strip in strips} <= {diff.width}
    return [strip.text.rstrip() for strip in strips]


def strip_with(diff, text, ink=DARK, **look):
    made = DiffDisplay(**{"taken": TAKEN, **look})
    return next(found for y in range(len(diff)) if text in (found := diff.strip(y, ink, UNICODE, made)).text)


def test_a_unified_diff():
    assert texts(Diff([FILE], 72), taken=TAKEN.toggle_hunk(2), hunk=2) == [
        "  ■ taken   class Router                                  @@ 1,7 → 1,8",
        "    1   class Router:",
        '    2       """Finds the handler."""',
        "    3",
        "      -     def handle(self, request):",
        "    4 +     def dispatch(self, request: Request) -> Response:",
        "    5 +         self.log()",
        "    6           return 1",
        "    7",
        "    8",
        "▌ □ left    def match                                   @@ 11,7 → 12,7",
        "▌  12",
        "▌  13",
        "▌  14       def match(self, path):",
        "▌  15 -         for route in self.routes:",
        "▌     +         for route in sorted(self.routes, key=len):",
        "▌  16               if route.accepts(path):",
        "▌  17                   return route",
        "▌  18",
        "  ■ taken   def __call__                                @@ 22,5 → 23,7",
        "   23",
        "   24",
        "   25       def __call__(self, environ):",
        "      -         response = self.handle(Request(environ))",
        "   26 +         response = self.dispatch(Request(environ))",
        "   27 +         if response is None:",
        "   28 +             raise LookupError",
        "   29           return response",
    ]


def test_chosen_lines_have_boxes():
    state = TAKEN.toggle_line(3, 3)
    lines = texts(Diff([FILE], 72), taken=state, hunk=3, line=3)
    assert lines[19:][0].startswith("▌ ◧ partly  def __call__   3 of 4 lines")
    assert lines[23:] == [
        "▌■    -         response = self.handle(Request(environ))",
        "▌■ 26 +         response = self.dispatch(Request(environ))",
        "▌□    +         if response is None:",
        "▌■ 27 +             raise LookupError",
        "▌  28           return response",
    ]
    strip = strip_with(Diff([FILE], 72), "if response is None", taken=state, hunk=3, line=3, has_focus=True)
    assert strip.text[1] == "□"
    assert styles_at(strip, "if").bgcolor.name == DARK.tokens.cursor_row
    assert styles_at(strip, "if").color.name == DARK.tokens.muted


def test_side_by_side():
    assert texts(Diff([FILE], 101, layout="split"))[:8] == [
        "  ■ taken   class Router                          │                                    @@ 1,7 → 1,8",
        "    1   class Router:                             │    1   class Router:",
        '    2       """Finds the handler."""              │    2       """Finds the handler."""',
        "    3                                             │    3",
        "    4 -     def handle(self, request):            │    4 +     def dispatch(self, request: Request)",
        "                                                  │               -> Response:",
        "  ╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱ │    5 +         self.log()",
        "    5           return 1                          │    6           return 1",
    ]
    assert (
        split_heads_strip(101, DARK, UNICODE).text.rstrip()
        == " now                                              │ after approval"
    )


def numbers_of(diff, **look):
    """Return the two numbers and the sign of each line, by what stands in its cells."""
    lines = [f"{line:<16}" for line in texts(diff, **look)]
    return [(line[2:6].strip(), line[6:10].strip(), line[11].strip()) for line in lines if "@@" not in line]


def test_from_90_cells_each_line_has_the_number_it_has_now_and_the_one_it_will_have():
    assert texts(Diff([FILE], 90))[10:18] == [
        "  ■ taken   def match                                                     @@ 11,7 → 12,7",
        "    11  12",
        "    12  13",
        "    13  14       def match(self, path):",
        "    14     -         for route in self.routes:",
        "        15 +         for route in sorted(self.routes, key=len):",
        "    15  16               if route.accepts(path):",
        "    16  17                   return route",
    ]
    assert texts(Diff([FILE], 89))[13:16] == [
        "   14       def match(self, path):",
        "      -         for route in self.routes:",
        "   15 +         for route in sorted(self.routes, key=len):",
    ]


def test_what_is_left_out_moves_no_number_of_the_file_as_it_will_be():
    """Who opens the file after the approval finds each line at its number."""
    for state in (
        TAKEN,
        TAKEN.toggle_hunk(1),
        TAKEN.toggle_line(1, 3),
        TAKEN.toggle_line(2, 1).toggle_hunk(3),
    ):
        took = {
            (hunk.index, n) for hunk in FILE.hunks for n in range(1, 9) if state.is_line_taken(hunk.index, n)
        }
        after, before = {}, dict(enumerate(BEFORE.splitlines(), 1))
        diff, drawn = Diff([FILE], 90), texts(Diff([FILE], 90), taken=state)
        for y, line in enumerate(drawn):
            row = diff.row(y)
            if row.kind == "line":
                old, new = line[2:6].strip(), line[6:10].strip()
                after |= {int(new): line[13:]} if new else {}
                assert not old or before[int(old)] == line[13:]
                assert bool(new) == (
                    row.left.sign == " " or (row.left.sign == "+") == ((row.hunk, row.left.change) in took)
                )
        assert list(after) == sorted(after)
        result = applied(FILE, state).splitlines()
        assert {number: result[number - 1] for number in after} == after


def applied(file, state):
    """Return the file after what a selection takes of it."""
    lines, wanted, position = BEFORE.splitlines(), [], 0
    for hunk in file.hunks:
        wanted += lines[position : hunk.old_start - 1]
        change = 0
        for sign, text in hunk.lines:
            change += sign in "+-"
            if sign == " " or state.is_line_taken(hunk.index, change) == (sign == "+"):
                wanted.append(text)
        position = hunk.old_start - 1 + hunk.old_count
    return "\n".join([*wanted, *lines[position:]])


def test_a_left_out_hunk_keeps_its_place_in_its_head():
    heads = [
        line.partition("@@")[2]
        for line in texts(Diff([FILE], 90), taken=TAKEN.toggle_hunk(1))
        if "@@" in line
    ]
    assert heads == [" 1,7 → 1,7", " 11,7 → 11,7", " 22,5 → 22,7"]


def test_changed_numbers_have_the_colour_of_their_sign():
    diff = Diff([FILE], 90)
    colours = {
        text: styles_at(strip_with(diff, text), number).color.name
        for text, number in (("def handle", "4"), ("self.log()", "5"), ("return 1", "6"))
    }
    assert list(colours.values()) == [DARK.tokens.removed, DARK.tokens.added, DARK.tokens.faint]


@pytest.mark.parametrize("tokens", OWN_THEMES_256.values(), ids=list(OWN_THEMES_256))
def test_in_256_colours_only_numbers_signs_and_changed_words_have_tints(tokens):
    strip = strip_with(Diff([FILE], 90), "def dispatch", ink=Ink(tokens=tokens))
    grounds = {text: styles_at(strip, text).bgcolor.name for text in ("   4", "+", "(self", "dispatch")}
    assert list(grounds.values()) == [tokens.added_bg, tokens.added_bg, tokens.background, tokens.added_word]
    assert not styles_at(strip, "dispatch").underline


def test_less_context_and_ascii():
    lines = texts(Diff([FILE], 72, context=1), ASCII, hunk=1)
    assert all(line.isascii() for line in lines)
    assert lines[:6] == [
        "> # taken   class Router                                 @@ 1,7 -> 1,8",
        ">   3",
        ">     -     def handle(self, request):",
        ">   4 +     def dispatch(self, request: Request) -> Response:",
        ">   5 +         self.log()",
        ">   6           return 1",
    ]


def test_what_cannot_be_answered_says_neither_taken_nor_left():
    (head, *_) = texts(Diff([FILE], 72), is_open=False)
    assert head.startswith("  class Router ")


# --- colours ------------------------------------------------------------------------------------


def test_taken_lines_have_tints_and_left_ones_have_not():
    diff = Diff([FILE], 72)
    added, removed, same = (strip_with(diff, text) for text in ("self.log()", "def handle", "return 1"))
    assert styles_at(added, "self.log").bgcolor.name == DARK.tokens.added_bg
    assert {styles_at(removed, text).bgcolor.name for text in ("   ", "-", "self, ")} == {
        DARK.tokens.removed_bg
    }
    assert styles_at(same, "return").bgcolor.name == DARK.tokens.background
    left = strip_with(diff, "self.log()", taken=TAKEN.toggle_hunk(1), painter=SyntaxHighlighter())
    assert {segment.style.bgcolor.name for segment in left} == {DARK.tokens.background}
    assert {segment.style.color.name for segment in left} <= {
        DARK.tokens.muted,
        DARK.tokens.faint,
        DARK.tokens.foreground,
    }
    assert styles_at(left, "self.log").color.name == DARK.tokens.muted
    assert "+" in left.text


def test_changed_words_stand_out():
    strip = strip_with(Diff([FILE], 72), "def dispatch")
    word, rest = styles_at(strip, "dispatch"), styles_at(strip, "(self, ")
    assert (word.bgcolor.name, word.bold) == (DARK.tokens.added_word, True)
    assert (rest.bgcolor.name, rest.bold) == (DARK.tokens.added_bg, None)
    assert styles_at(strip, ": Request").bgcolor.name == DARK.tokens.added_word


@pytest.mark.parametrize(
    "ink", [ansi_ink(), Ink(tokens=LIGHT_COLORS, no_colour=True)], ids=["ansi", "no colour"]
)
def test_without_tints_changed_words_are_underlined(ink):
    strip = strip_with(Diff([FILE], 72), "def dispatch", ink=ink)
    assert styles_at(strip, "dispatch").underline
    assert not styles_at(strip, "(self, ").underline


def test_in_sixteen_colours_lines_have_the_colour_of_their_sign():
    strip = strip_with(Diff([FILE], 72), "self.log()", ink=ansi_ink(), painter=SyntaxHighlighter())
    assert (
        styles_at(strip, "self.log").color.name == "color(2)"
        or styles_at(strip, "self.log").color.number == 2
    )
    assert {segment.style.bgcolor.is_default for segment in strip} == {True}


def test_syntax_colours_come_with_a_painter():
    diff = Diff([FILE], 72)
    assert styles_at(strip_with(diff, "return 1"), "return").color.name == DARK.tokens.foreground
    painted = strip_with(diff, "return 1", painter=SyntaxHighlighter())
    assert styles_at(painted, "return").color.name == DARK.tokens.keyword
    assert styles_at(painted, "1").color.name in (DARK.tokens.number, DARK.tokens.faint)
    assert (
        styles_at(strip_with(diff, '"""Finds', painter=SyntaxHighlighter()), '"""').color.name
        == DARK.tokens.string
    )


def test_hits_are_underlined():
    strip = strip_with(Diff([FILE], 72), "self.log()", find="SELF.l")
    assert styles_at(strip, "self.l").underline
    assert not styles_at(strip, "og()").underline


def test_the_cursors_hunk():
    head = Diff([FILE], 72).strip(0, DARK, UNICODE, DiffDisplay(taken=TAKEN, hunk=1, has_focus=True))
    assert styles_at(head, "class").bgcolor.name == DARK.tokens.cursor_row
    assert styles_at(head, "class").bold
    assert styles_at(head, "▌").color.name == DARK.tokens.info
    blurred = Diff([FILE], 72).strip(0, DARK, UNICODE, DiffDisplay(taken=TAKEN, hunk=1))
    assert styles_at(blurred, "class").bgcolor.name == DARK.tokens.cursor_blur
    other = Diff([FILE], 72).strip(0, DARK, UNICODE, DiffDisplay(taken=TAKEN, hunk=2))
    assert styles_at(other, "class").bgcolor.name == DARK.tokens.panel


# --- places -------------------------------------------------------------------------------------


def test_places():
    diff = Diff([FILE], 72)
    assert [diff.hunk_top(n) for n in (1, 2, 3, 9)] == [0, 10, 19, 0]
    assert [diff.hunk_at(y) for y in (0, 9, 10, 27, 28, -1)] == [1, 1, 2, 3, None, None]
    assert [diff.line_top(3, n) for n in (1, 2, 4, 9)] == [23, 24, 26, 19]
    assert [diff.row(y).changes for y in (3, 4, 5, 24)] == [(), (1,), (2,), (2,)]
    assert [diff.row(y).is_last for y in (8, 9, 10, 18, 27)] == [False, True, False, True, True]
    assert diff.find("SELF.match", 0) is None
    assert [
        diff.find("RESPONSE =", 0),
        diff.find("response =", 23),
        diff.find("response =", 23, step=-1),
    ] == [23, 24, None]
    assert diff.find("", 0) is None
    with pytest.raises(IndexError):
        diff.row(28)
    assert diff.strip(99, DARK, UNICODE, DiffDisplay(taken=TAKEN)).text == " " * 72


def test_several_files():
    second = FileDetail(path="logo.png", change="create", note="binary")
    third = FileDetail(
        path="gone.py",
        change="delete",
        hunks=(
            Hunk(
                index=4,
                path="gone.py",
                old_start=1,
                old_count=1,
                new_start=0,
                new_count=0,
                lines=(("-", "x"),),
            ),
        ),
        removed=1,
    )
    diff = Diff([FILE, second, third], 72)
    lines = texts(diff, taken=HunkSelection(sizes=(3, 2, 4, 1)))
    assert lines[0].split() == ["src/shop/router.py", "+6", "−3"]
    assert [lines[29].split(), lines[30].split(), lines[31].split()] == [
        ["logo.png", "new", "file"],
        ["binary"],
        ["gone.py", "−1", "deleted"],
    ]
    assert lines[33:] == ["      - x"]
    assert diff.row(30).is_last
    assert diff.hunk_at(30) is None


def test_ends_of_files_and_lines():
    lines = texts(Diff([changed("a\r\nb\r\n", "a\r\nc\r\n")], 60))
    assert "CR LF  @@ 1,2 → 1,2" in lines[0]
    assert lines[1:] == ["    1   a", "      - b", "    2 + c"]
    mixed = texts(Diff([changed("a\nb\n", "a\nb\r\n")], 60))
    assert mixed[1:] == ["    1   a", "      - b", "    2 + b⟨U+000D⟩"]
    bare = texts(Diff([changed("a", "b\n")], 60))
    assert bare[1:] == ["      - a", "   \\ no newline at the end of the file", "    1 + b"]
    split = texts(Diff([changed("a", "b\n")], 81, layout="split"))
    assert split[1:] == [
        "    1 - a                               │    1 + b",
        "   \\ no newline at the end of the file  │",
    ]
    other = texts(Diff([changed("a\n", "b")], 81, layout="split"))
    assert other[2].split("│") == [" " * 40, "   \\ no newline at the end of the file"]


def test_long_lines_are_shown_whole():
    file = changed("x" * 100 + "\n", "x" * 100 + "y" * 50 + "\n")
    lines = texts(Diff([file], 39))
    assert lines[1] == "      - " + "x" * 29
    assert "".join(line[8:].strip() for line in lines[5:]) == "x" * 100 + "y" * 50
    assert [line[8:10] for line in lines[6:]] == ["  "] * 5
    assert [line[:8] for line in lines[5:]] == ["    1 + ", *[" " * 8] * 5]
    diff = Diff([file], 39)
    assert [diff.row(y).is_last for y in range(5, 11)] == [False] * 5 + [True]
    assert diff.find("yy", 0) == 5


@each_row("text", HOSTILE)
@each_row("layout", ["unified", "split"])
def test_hostile_lines_are_safe_and_keep_their_width(text, layout):
    lines = ((" ", text), ("-", text), ("+", text + "x"))
    hunk = Hunk(index=1, path=text, old_start=1, old_count=2, new_start=1, new_count=2, lines=lines)
    for width in (12, 40, 90):
        diff = Diff(
            [
                FileDetail(path=text, change="modify", hunks=(hunk,)),
                FileDetail(path=text, change="create", note=text),
            ],
            width,
            layout=layout,
        )
        for y in range(len(diff)):
            strip = diff.strip(
                y,
                DARK,
                UNICODE,
                DiffDisplay(taken=HunkSelection(sizes=(2,)), painter=SyntaxHighlighter(), find=text),
            )
            assert strip.cell_length == width
            assert is_safe(strip.text)


lines_of_text = st.lists(st.text(alphabet="ab\t ", max_size=12), max_size=12).map(
    lambda found: "".join(line + "\n" for line in found)
)


@given(lines_of_text, lines_of_text, st.integers(9, 60), st.sampled_from(["unified", "split"]))
def test_every_changed_line_is_on_a_row(before, after, width, layout):
    file = changed(before, after)
    diff = Diff([file], width, layout=layout)
    shown = {(row.hunk, change) for y in range(len(diff)) for row in [diff.row(y)] for change in row.changes}
    sizes = HunkSelection.of(file.hunks).sizes
    assert shown == {(n, change) for n, size in enumerate(sizes, 1) for change in range(1, size + 1)}
    for hunk, change in shown:
        assert change in diff.row(diff.line_top(hunk, change)).changes
    assert sum(diff.row(y).is_last for y in range(len(diff))) == len(file.hunks)


class CountingHighlighter(SyntaxHighlighter):
    """Counts the lines that it is asked about."""

    count = 0

    def lines(self, path_or_language, lines):
        self.count += len(lines)
        return super().lines(path_or_language, lines)


def test_of_a_big_diff_only_what_is_shown_is_painted():
    before = [f"line {n} = call(one, {n})\n" for n in range(20_000)]
    after = [line.replace("one", "two") if n % 50 == 0 else line for n, line in enumerate(before)]
    file = changed("".join(before), "".join(after), "a.py")
    assert len(file.hunks) == 400
    diff = Diff([file], 100)
    painter = CountingHighlighter()
    look = DiffDisplay(taken=HunkSelection.of(file.hunks), painter=painter)
    first = [diff.strip(y, DARK, UNICODE, look).text for y in range(50)]
    assert 0 < painter.count < 2_000, "fifty rows, each with the lines of its hunk"
    assert len(diff) == 3597
    assert "line 50 = call(two, 50)" in first[11]


# --- parts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "left", "right"),
    [
        ("def handle(self):", "def dispatch(self):", ["handle"], ["dispatch"]),
        ("f(request)", "f(request: Request)", [], [": Request"]),
        ("a = b", "a = b", [], []),
        ("one thing", "quite another", None, None),
        ("x" * 600, "x" * 599 + "y", None, None),
        ("", "x", None, None),
    ],
)
def test_changed_words(old, new, left, right):
    found = diff_layout.changed_word_spans([old], [new])
    cut = [
        [text[a:b] for a, b in marks[0]] if 0 in marks else None
        for text, marks in zip((old, new), found, strict=True)
    ]
    assert cut == [left, right]


def test_lines_are_paired_by_likeness_and_in_order():
    old, new = diff_layout.changed_word_spans(
        ["a.handle(x)", "b.handle(y)"], ["new line here", "a.dispatch(x)", "b.dispatch(y)"]
    )
    assert (sorted(old), sorted(new)) == ([0, 1], [1, 2])
    old, new = diff_layout.changed_word_spans(
        ["b.handle(y)", "a.handle(x)"], ["a.dispatch(x)", "b.dispatch(y)"]
    )
    assert (sorted(old), sorted(new)) == ([0], [1])
    many = ["value = 1"] * 50
    old, new = diff_layout.changed_word_spans(many, [f"value = {n}" for n in range(50)])
    assert len(old) == len(new) == 50


@each_row(
    ("lines", "name"),
    [
        (["class A:", "    def f(self, x):"], "def f"),
        (["    async def go(self):"], "async def go"),
        (["export default function run(a, b) {"], "export default function run"),
        (["pub fn main() {"], "pub fn main"),
        (["func (r *R) Serve() {"], ""),
        (["## Names: and more"], "## Names: and more"),
        (["x = 1", "define y"], ""),
        (["class " + "A" * 100 + ":"], "class " + "A" * 53 + "…"),
        (["def f\x1b(x):"], "def f⟨U+001B⟩"),
        ([], ""),
    ],
)
def test_where_a_hunk_is(lines, name):
    hunk = Hunk(
        index=1,
        path="x",
        old_start=1,
        old_count=9,
        new_start=1,
        new_count=9,
        lines=(*((" ", line) for line in lines), ("+", "def later():")),
    )
    assert diff_layout.hunk_heading(hunk) == name


def test_a_painter_knows_languages_and_limits():
    painter = SyntaxHighlighter()
    assert painter.lines("a/b.py", ["x = None"]) == [[(4, 8, "keyword")]]
    assert painter.lines("python", ['s = """a', 'b"""'])[1] == [(0, 1, "string"), (1, 4, "string")]
    assert painter.lines("a/b.nothing", ["x"]) == ()
    assert painter.lines("b.py", ["x" * 2000]) == ()
    assert painter.lines("b.py", ["x = 1"] * 20_000) == ()
    assert painter.lines("b.py", ["y = 1"]) is painter.lines("b.py", ["y = 1"])


BASE = tuple(f"line {n}" for n in range(1, 41))


def hunk_at(index, first, count, *, added=1):
    """Return a hunk that puts `added` lines in the place of `count`, at the line `first`, without context."""
    lines = [*(("-", BASE[n]) for n in range(first - 1, first - 1 + count)), *((("+", "new"),) * added)]
    start = first if count else first - 1
    return Hunk(
        index=index, path="a", old_start=start, old_count=count, new_start=start if added else first - 1,
        new_count=added, lines=tuple(lines),
    )  # fmt: skip


@given(st.integers(0, 60))
def test_more_context_shows_every_line_of_the_file_at_most_once(more):
    hunks = [hunk_at(1, 4, 1), hunk_at(2, 10, 0), hunk_at(3, 12, 2), hunk_at(4, 39, 1)]
    wide = widened_hunks(hunks, BASE, more)
    old = [text for hunk in wide for sign, text in hunk.lines if sign in " -"]
    assert old == sorted(set(old), key=BASE.index)
    for hunk in wide:
        shown = [text for sign, text in hunk.lines if sign in " -"]
        assert len(shown) == hunk.old_count
        first = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        assert tuple(shown) == BASE[first : first + hunk.old_count]
    assert [[line for line in hunk.lines if line[0] != " "] for hunk in wide] == [
        list(h.lines) for h in hunks
    ]
    if more >= 60:
        assert tuple(old) == BASE


def test_a_diff_with_more_context_numbers_what_it_adds():
    file = FileDetail(path="a", change="modify", hunks=(hunk_at(1, 10, 1),), base=BASE)
    lines = texts(Diff([file], 72, context=5))
    assert [line.split() for line in lines[1:4]] == [
        ["8", "line", "8"],
        ["9", "line", "9"],
        ["-", "line", "10"],
    ]
    assert lines[0].endswith("@@ 8,5 → 8,5")


def test_rows_that_say_what_changes_are_the_ones_to_see():
    hunk = Hunk(
        index=1, path="a.py", old_start=1, old_count=3, new_start=1, new_count=3,
        lines=((" ", "a"), ("-", "b"), ("+", "c" * 100), (" ", "d"), ("\\", "")),
    )  # fmt: skip
    files = [
        FileDetail(path="a.py", change="modify", hunks=(hunk,)),
        FileDetail(path="gone.bin", change="delete", note="deleted, it was empty"),
    ]
    diff = Diff(files, 61)
    said = {y: diff.words(y) for y in sorted(diff.rows_to_see(1) | diff.rows_to_see(0))}
    assert [words for words in said.values() if not words.startswith("+")] == [
        "- b", "\\ no newline at the end of the file", "gone.bin", "deleted, it was empty",
    ]  # fmt: skip
    assert sum(words.startswith("+ ccc") for words in said.values()) == 2
    assert diff.rows_to_see(7) == frozenset()
    assert len(Diff(files, 60, layout="split").rows_to_see(1)) >= 3
