"""THE table of keys (UX section 7). Bindings, footer, help, palette and the users' keymap come from it.

One row a key; the function it calls is `tui.actions.<scope>.<name>`. Keys of places that are not there yet
are not in it.
"""

from typing import Final

from workbench.tui.keymap import Key
from workbench.tui.placekeys import BESIDE, FIND, LIBRARY, STATISTICS
from workbench.tui.rulekeys import ALWAYS, RULES
from workbench.tui.runkeys import COMPARE, LAUNCH

_DECIDE, _HUNKS, _MOVE, _MANY, _ALL = "Decide", "Hunks and lines", "Move", "Many", "Everywhere"

APP: Final = (
    Key(id="app.place-0", keys=("0",), label="sessions", tooltip="sessions", shown="0 … 9", group=_ALL,
        help="places, see the titles"),
    Key(id="app.place-1", keys=("1",), label="conversation", tooltip="conversation", shown="-"),
    Key(id="app.place-2", keys=("2",), label="approvals", tooltip="approvals", shown="-"),
    Key(id="app.place-3", keys=("3",), label="tools", tooltip="tool invocations", shown="-"),
    Key(id="app.place-4", keys=("4",), label="pipeline", tooltip="pipeline", shown="-"),
    Key(id="app.place-5", keys=("5",), label="library", tooltip="library", shown="-"),
    Key(id="app.place-6", keys=("6",), label="rules", tooltip="rules", shown="-"),
    Key(id="app.place-7", keys=("7",), label="statistics", tooltip="statistics", shown="-"),
    Key(id="app.place-8", keys=("8",), label="", tooltip="findings", shown="-", in_palette=False),
    Key(id="app.place-9", keys=("9",), label="", tooltip="providers", shown="-", in_palette=False),
    Key(id="app.pane-next", keys=("tab",), label="next pane", tooltip="next pane", shown="tab"),
    Key(id="app.pane-previous", keys=("shift+tab",), label="previous pane", tooltip="previous pane",
        shown="-"),
    Key(id="app.waiting-first", keys=("ctrl+g",), label="first waiting", tooltip="to the first that waits"),
    Key(id="app.compose", keys=("i",), label="write", tooltip="write a message"),
    Key(id="app.palette", keys=("ctrl+p", ":"), label="commands", tooltip="every command", shown="ctrl+p :",
        in_palette=False),
    Key(id="app.help", keys=("?", "f1"), label="all keys", tooltip="this page", in_palette=False),
    Key(id="app.zoom", keys=("z",), label="zoom", tooltip="pane full size, and back"),
    Key(id="app.session-new", keys=("ctrl+n",), label="new session", tooltip="new session"),
    Key(id="app.agent-stop", keys=("ctrl+c",), label="stop", tooltip="stop the agent"),
    Key(id="app.back", keys=("escape",), label="back", tooltip="back one level", in_palette=False),
    Key(id="app.leave", keys=("q", "ctrl+q"), label="leave", tooltip="leave; agents go on"),
    Key(id="app.redraw", keys=("ctrl+l",), label="redraw", tooltip="draw the screen again"),
)  # fmt: skip

LIST: Final = (
    Key(id="list.row-down", keys=("j", "down"), label="row", tooltip="row down, up", shown="j k", group=_MOVE,
        in_palette=False),
    Key(id="list.row-up", keys=("k", "up"), label="", tooltip="row up", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="list.problem-next", keys=("n",), label="next problem",
        tooltip="next, previous that waits or failed", shown="n N", group=_MOVE, footer=50),
    Key(id="list.problem-previous", keys=("N",), label="", tooltip="previous that waits or failed", shown="-",
        group=_MOVE),
    Key(id="list.row-first", keys=("g", "home"), label="ends", tooltip="first, last", shown="g G",
        group=_MOVE,
        in_palette=False),
    Key(id="list.row-last", keys=("G", "end"), label="", tooltip="last", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="list.half-down", keys=("ctrl+d", "pagedown"), label="half a page",
        tooltip="half a page of the diff",
        shown="ctrl+d u", group=_MOVE, in_palette=False),
    Key(id="list.half-up", keys=("ctrl+u", "pageup"), label="", tooltip="half a page up", shown="-",
        group=_MOVE, in_palette=False),
    Key(id="list.filter", keys=("/",), label="filter", tooltip="filter", group=_MANY, footer=62),
    Key(id="list.order", keys=("o",), label="order", tooltip="next order; title says which", group=_MANY,
        footer=70),
    Key(id="list.open", keys=("enter",), label="open", tooltip="the whole screen for it", group=_MOVE,
        footer=48),
    Key(id="list.copy", keys=("y",), label="copy", tooltip="copy path or command", group=_MANY, footer=72),
    Key(id="list.pipe", keys=("|",), label="pipe", tooltip="what is under the cursor to a command",
        group=_MANY),
)  # fmt: skip

APPROVALS: Final = (
    Key(id="approvals.approve", keys=("a",), label="approve", tooltip="approve what is taken", group=_DECIDE,
        footer=1),
    Key(id="approvals.reject", keys=("r",), label="reject", tooltip="reject", group=_DECIDE, footer=2),
    Key(id="approvals.reject-reason", keys=("R",), label="with reason", tooltip="reject with a reason",
        group=_DECIDE, footer=20, narrow=28),
    Key(id="approvals.always", keys=("A",), label="always…", tooltip="always…  make a rule", group=_DECIDE,
        footer=26),
    Key(id="approvals.extend", keys=("x",), label="extend", tooltip="15 minutes more", group=_DECIDE,
        footer=40),
    Key(id="approvals.edit", keys=("e",), label="edit", tooltip="edit the proposal first", group=_DECIDE,
        footer=24),
    Key(id="approvals.undo", keys=("u",), label="undo", tooltip="undo what was applied", group=_DECIDE,
        footer=42),
    Key(id="approvals.hunk-previous", keys=("h", "left"), label="hunk", tooltip="hunk before, after",
        shown="h l", group=_HUNKS, footer=22),
    Key(id="approvals.hunk-next", keys=("l", "right"), label="", tooltip="hunk after", shown="-",
        group=_HUNKS),
    Key(id="approvals.hunk-toggle", keys=("space",), label="take/leave", tooltip="take or leave it",
        group=_HUNKS, footer=21),
    Key(id="approvals.lines", keys=("v",), label="lines", tooltip="choose lines, then space", group=_HUNKS,
        footer=64),
    Key(id="approvals.hunks-toggle", keys=("T",), label="all", tooltip="take all or leave all", group=_HUNKS),
    Key(id="approvals.file-previous", keys=("[",), label="file", tooltip="file before, after", shown="[ ]",
        group=_HUNKS, footer=66),
    Key(id="approvals.file-next", keys=("]",), label="", tooltip="file after", shown="-", group=_HUNKS),
    Key(id="approvals.layout", keys=("t",), label="split", tooltip="split or unified", group=_HUNKS,
        footer=68),
    Key(id="approvals.context-less", keys=("{",), label="context", tooltip="less, more context", shown="{ }",
        group=_HUNKS),
    Key(id="approvals.context-more", keys=("}",), label="", tooltip="more context", shown="-", group=_HUNKS),
    Key(id="approvals.diff-down", keys=("J",), label="scroll", tooltip="three lines of the diff", shown="J K",
        group=_MOVE, in_palette=False),
    Key(id="approvals.diff-up", keys=("K",), label="", tooltip="three lines up", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="approvals.mark", keys=("m",), label="mark", tooltip="mark this row", group=_MANY, footer=60),
    Key(id="approvals.mark-all", keys=("M",), label="mark all", tooltip="mark all that are shown",
        group=_MANY,
        footer=61),
    Key(id="approvals.decided", keys=("d",), label="decided", tooltip="show or hide decided", group=_MANY),
)  # fmt: skip

LINES: Final = (
    Key(id="lines.line-down", keys=("j", "down"), label="lines", tooltip="line after, before", shown="j k",
        group=_HUNKS, footer=22, is_override=True, in_palette=False),
    Key(id="lines.line-up", keys=("k", "up"), label="", tooltip="line before", shown="-", group=_HUNKS,
        is_override=True, in_palette=False),
    Key(id="lines.line-toggle", keys=("space",), label="take/leave", tooltip="take or leave the line",
        group=_HUNKS, footer=21, is_override=True, in_palette=False),
    Key(id="lines.whole", keys=("escape", "v"), label="whole hunks", tooltip="back to whole hunks",
        group=_HUNKS, footer=23, is_override=True, in_palette=False),
)  # fmt: skip

DIFF: Final = (
    Key(id="diff.scroll-down", keys=("j", "down"), label="scroll", tooltip="line down, up", shown="j k",
        group=_MOVE, footer=23, is_override=True, in_palette=False),
    Key(id="diff.scroll-up", keys=("k", "up"), label="", tooltip="line up", shown="-", group=_MOVE,
        is_override=True, in_palette=False),
    Key(id="diff.find", keys=("/",), label="find", tooltip="find in the diff", group=_MOVE, footer=62,
        is_override=True),
    Key(id="diff.close", keys=("escape", "enter"), label="back", tooltip="back to the list", group=_MOVE,
        footer=30, is_override=True, in_palette=False),
)  # fmt: skip

TRUST: Final = (
    Key(id="trust.trust", keys=("t",), label="trust", tooltip="trust this workspace", group=_DECIDE,
        is_override=True),
    Key(id="trust.trust-and-read", keys=("T",), label="trust, agents may read",
        tooltip="trust it, and let agents read here without asking", group=_DECIDE, footer=4,
        is_override=True),
)  # fmt: skip

ANSWER: Final = (
    Key(id="answer.choose-previous", keys=("h", "left"), label="choice", tooltip="choice before, after",
        shown="h l", group=_DECIDE, footer=22, is_override=True),
    Key(id="answer.choose-next", keys=("l", "right"), label="", tooltip="choice after", shown="-",
        group=_DECIDE, is_override=True),
)  # fmt: skip

CONVERSATION: Final = (
    Key(id="conversation.fold", keys=("space",), label="fold", tooltip="open or fold thought and output",
        group="Read", footer=20),
    Key(id="conversation.follow", keys=("f",), label="follow", tooltip="stay at the end", group="Read",
        footer=22),
    Key(id="conversation.continue-turn", keys=("c",), label="go on", tooltip="go on after a pause",
        group=_DECIDE,
        footer=10),
    Key(id="conversation.retry", keys=("r",), label="ask again", tooltip="after an error: ask again",
        group=_DECIDE, footer=12),
    Key(id="conversation.log", keys=("l",), label="the log", tooltip="after an error: what is known of it",
        group=_DECIDE, footer=14),
    Key(id="conversation.fork", keys=("F",), label="fork",
        tooltip="a session from the block under the cursor, its files or not",
        group="Read"),
)  # fmt: skip

TOOLS: Final = (
    Key(id="tools.failed-only", keys=("f",), label="failed only", tooltip="only what failed", group="Read",
        footer=52),
    Key(id="tools.part-previous", keys=("[",), label="part",
        tooltip="output, parameters, gate, changes, raw", shown="[ ]", group="Read", footer=49),
    Key(id="tools.part-next", keys=("]",), label="", tooltip="part after", shown="-", group="Read"),
)  # fmt: skip

_RUNS = "Runs"

PIPELINE: Final = (
    Key(id="pipeline.answer", keys=("a",), label="answer", tooltip="to the gate's row of the queue",
        group=_DECIDE, footer=1),
    Key(id="pipeline.edge-left", keys=("h", "left"), label="along edges", tooltip="along the edges",
        shown="h l", group=_MOVE, footer=46, in_palette=False),
    Key(id="pipeline.edge-right", keys=("l", "right"), label="", tooltip="along an edge", shown="-",
        group=_MOVE, in_palette=False),
    Key(id="pipeline.edge-down", keys=("j", "down"), label="beside", tooltip="step below, above", shown="j k",
        group=_MOVE, is_override=True, in_palette=False),
    Key(id="pipeline.edge-up", keys=("k", "up"), label="", tooltip="step above", shown="-", group=_MOVE,
        is_override=True, in_palette=False),
    Key(id="pipeline.page-down", keys=("J",), label="page", tooltip="page, or items of an open fold",
        shown="J K", group=_MOVE, in_palette=False),
    Key(id="pipeline.page-up", keys=("K",), label="", tooltip="page up", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="pipeline.fold", keys=("space",), label="fold", tooltip="open or close a matrix or a fold",
        group="Read", footer=51),
    Key(id="pipeline.folds", keys=("T",), label="all folds", tooltip="open or close all folds", group="Read"),
    Key(id="pipeline.follow", keys=("f",), label="follow", tooltip="the cursor, or the log, follows the run",
        group="Read", footer=58),
    Key(id="pipeline.only-way", keys=("w",), label="its way", tooltip="only what this step needs and feeds",
        group="Read", footer=66),
    Key(id="pipeline.implied", keys=("t",), label="implied", tooltip="edges that others imply", group="Read"),
    Key(id="pipeline.kind", keys=("v",), label="drawing", tooltip="band, wrapped, list, cards", group="Read"),
    Key(id="pipeline.overview", keys=("o",), label="overview", tooltip="the whole graph on one row",
        group="Read", is_override=True),
    Key(id="pipeline.zoom-in", keys=("+",), label="zoom", tooltip="more, fewer around the step; overview",
        shown="+ -", group="Read", footer=68),
    Key(id="pipeline.zoom-out", keys=("-",), label="", tooltip="fewer around the step; overview", shown="-",
        group="Read"),
    Key(id="pipeline.part-previous", keys=("[",), label="part",
        tooltip="log, contract, artifacts, attempts, prompt, tools, workspace", shown="[ ]", group="Read",
        footer=56),
    Key(id="pipeline.part-next", keys=("]",), label="", tooltip="part after", shown="-", group="Read"),
    Key(id="pipeline.artifact", keys=("e",), label="artifact", tooltip="open what the step handed on",
        group="Read", footer=59),
    Key(id="pipeline.retry", keys=("R",), label="retry", tooltip="this step again, and what needs it",
        group=_RUNS, footer=52),
    Key(id="pipeline.run-from", keys=("F",), label="from here", tooltip="a new run from here on",
        group=_RUNS, footer=54),
    Key(id="pipeline.launch", keys=("L",), label="start one…",
        tooltip="start a pipeline: input, dry run, grants", group=_RUNS, footer=57),
    Key(id="pipeline.cancel", keys=("X",), label="cancel run", tooltip="end the run", group=_RUNS, footer=60),
    Key(id="pipeline.compare", keys=("C",), label="compare", tooltip="with another run of the pipeline",
        group=_RUNS, footer=62),
    Key(id="pipeline.run-older", keys=("{",), label="runs", tooltip="run before, after", shown="{ }",
        group=_RUNS, footer=64),
    Key(id="pipeline.run-newer", keys=("}",), label="", tooltip="run after", shown="-", group=_RUNS),
)  # fmt: skip

STEP: Final = (
    Key(id="step.scroll-down", keys=("j", "down"), label="scroll", tooltip="line down, up", shown="j k",
        group=_MOVE, footer=23, is_override=True, in_palette=False),
    Key(id="step.scroll-up", keys=("k", "up"), label="", tooltip="line up", shown="-", group=_MOVE,
        is_override=True, in_palette=False),
    Key(id="step.close", keys=("escape", "enter"), label="back", tooltip="back to the graph", group=_MOVE,
        footer=2, is_override=True, in_palette=False),
)  # fmt: skip

RAIL: Final = (
    Key(id="rail.replay", keys=("p",), label="replay", tooltip="see it again, from its beginning",
        group="Read", footer=20),
    Key(id="rail.fork", keys=("F",), label="fork", tooltip="a session from its end, its files or not",
        group="Read", footer=21),
    Key(id="rail.beside", keys=("B",), label="side by side", tooltip="in step beside the one on show",
        group="Read", footer=70),
)  # fmt: skip

_PLAY, _JUMP = "Read", "Move"
REPLAY: Final = (
    Key(id="replay.play", keys=("space",), label="play", tooltip="play, pause", group=_PLAY, footer=1,
        is_override=True),
    Key(id="replay.event-previous", keys=(",",), label="event", tooltip="one event back, on", shown=", .",
        group=_PLAY, footer=2, is_override=True, in_palette=False),
    Key(id="replay.event-next", keys=(".",), label="", tooltip="one event on", shown="-", group=_PLAY,
        is_override=True, in_palette=False),
    Key(id="replay.time-back", keys=("h", "left"), label="10 s", tooltip="10 seconds back, on", shown="h l",
        group=_PLAY, footer=3, is_override=True, in_palette=False),
    Key(id="replay.time-on", keys=("l", "right"), label="", tooltip="10 seconds on", shown="-", group=_PLAY,
        is_override=True, in_palette=False),
    Key(id="replay.minute-back", keys=("H",), label="1 min", tooltip="a minute back, on", shown="H L",
        group=_PLAY, is_override=True, in_palette=False),
    Key(id="replay.minute-on", keys=("L",), label="", tooltip="a minute on", shown="-", group=_PLAY,
        is_override=True, in_palette=False),
    Key(id="replay.slower", keys=("<",), label="speed", tooltip="slower, faster: 0.25 to 64, max",
        shown="< >", group=_PLAY, footer=4, is_override=True, in_palette=False),
    Key(id="replay.faster", keys=(">",), label="", tooltip="faster", shown="-", group=_PLAY,
        is_override=True, in_palette=False),
    Key(id="replay.mark-next", keys=("n",), label="mark", tooltip="next, previous mark", shown="n N",
        group=_JUMP, footer=5, is_override=True),
    Key(id="replay.mark-previous", keys=("N",), label="", tooltip="previous mark", shown="-", group=_JUMP,
        is_override=True),
    Key(id="replay.approval-next", keys=("a",), label="approval", tooltip="next approval", group=_JUMP,
        footer=6, is_override=True),
    Key(id="replay.approval-previous", keys=("A",), label="", tooltip="previous approval", group=_JUMP,
        is_override=True),
    Key(id="replay.edit-next", keys=("e",), label="edit", tooltip="next written file", group=_JUMP, footer=7,
        is_override=True),
    Key(id="replay.edit-previous", keys=("E",), label="", tooltip="previous written file", group=_JUMP,
        is_override=True),
    Key(id="replay.error-next", keys=("x",), label="error", tooltip="next error", group=_JUMP, footer=8,
        is_override=True),
    Key(id="replay.error-previous", keys=("X",), label="", tooltip="previous error", group=_JUMP,
        is_override=True),
    Key(id="replay.prompt-next", keys=("p",), label="prompt", tooltip="next prompt", group=_JUMP, footer=9,
        is_override=True),
    Key(id="replay.prompt-previous", keys=("P",), label="", tooltip="previous prompt", group=_JUMP,
        is_override=True),
    Key(id="replay.step-next", keys=("s",), label="step", tooltip="next, previous step of a pipeline",
        shown="s S", group=_JUMP, is_override=True),
    Key(id="replay.step-previous", keys=("S",), label="", tooltip="previous step", shown="-", group=_JUMP,
        is_override=True),
    Key(id="replay.expiry-next", keys=("c",), label="expiry", tooltip="next, previous that nobody answered",
        shown="c C", group=_JUMP, is_override=True),
    Key(id="replay.expiry-previous", keys=("C",), label="", tooltip="previous that nobody answered",
        shown="-", group=_JUMP, is_override=True),
    Key(id="replay.time", keys=("t",), label="time", tooltip="go to 12:01:31, 35 % or #412", group=_JUMP,
        footer=10, is_override=True),
    Key(id="replay.follow", keys=("f",), label="follow", tooltip="go to the end, and stay there",
        group=_JUMP, footer=11, is_override=True),
    Key(id="replay.fork", keys=("F",), label="fork from here",
        tooltip="a new session from this moment, with or without a copy of its files", group=_PLAY,
        is_override=True),
    Key(id="replay.film", keys=("W",), label="to a file", tooltip="this moment as .svg, a film of all",
        group=_PLAY, is_override=True),
    Key(id="replay.leave", keys=("escape", "q", "ctrl+q"), label="leave", tooltip="leave the replay",
        group=_PLAY, footer=12, is_override=True),
)  # fmt: skip

COMPOSER: Final = (
    Key(id="composer.send", keys=("enter",), label="send", tooltip="send, or queue while the agent works",
        group="Write", footer=1, in_palette=False),
    Key(id="composer.newline", keys=("ctrl+j", "shift+enter"), label="new line", tooltip="new line",
        group="Write", footer=30, in_palette=False),
    Key(id="composer.history-previous", keys=("up",), label="earlier", tooltip="what you said before, after",
        shown="↑ ↓", group="Write", footer=3, in_palette=False),
    Key(id="composer.history-next", keys=("down",), label="", tooltip="what you said after", shown="-",
        group="Write", in_palette=False),
    Key(id="composer.complete", keys=("tab",), label="complete",
        tooltip="complete @file, /command; when empty, next pane", group="Write", footer=32,
        is_override=True, in_palette=False),
    Key(id="composer.editor", keys=("ctrl+o",), label="editor", tooltip="write in $EDITOR", group="Write",
        footer=31, in_palette=False),
    Key(id="composer.leave", keys=("escape",), label="back", tooltip="back to the pane", group="Write",
        footer=2, is_override=True, in_palette=False),
)  # fmt: skip

FIRST: Final = (
    Key(id="first.demo", keys=("d",), label="demo", tooltip="a recorded agent on a copy of an example",
        group="Start", footer=1, is_override=True),
    Key(id="first.providers", keys=("p",), label="providers", tooltip="set up a model", group="Start",
        footer=2),
)  # fmt: skip

DIALOG: Final = (
    Key(id="dialog.ok", keys=("enter",), label="do it", tooltip="do what the dialog says", group=_DECIDE,
        footer=1, in_palette=False),
    Key(id="dialog.earlier", keys=("up",), label="earlier words", tooltip="words given here before",
        shown="↑ ↓", group=_DECIDE, footer=2, in_palette=False),
    Key(id="dialog.later", keys=("down",), label="", tooltip="later words", shown="-", group=_DECIDE,
        in_palette=False),
    Key(id="dialog.leave", keys=("escape",), label="back, nothing is done",
        tooltip="back, nothing is done", group=_DECIDE, footer=3, is_override=True, in_palette=False),
)  # fmt: skip

BATCH: Final = (
    Key(id="batch.approve", keys=("a",), label="approve", tooltip="approve all of them", group=_DECIDE,
        footer=1,
        in_palette=False),
    Key(id="batch.reject", keys=("r",), label="reject…", tooltip="reject all of them", group=_DECIDE,
        footer=2,
        in_palette=False),
    Key(id="batch.row-down", keys=("j", "down"), label="look at each", tooltip="look at each", shown="j k",
        group=_MOVE, footer=3, in_palette=False),
    Key(id="batch.row-up", keys=("k", "up"), label="", tooltip="row before", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="batch.scroll-down", keys=("J",), label="", tooltip="three lines of the diff", shown="J K",
        group=_MOVE, in_palette=False),
    Key(id="batch.scroll-up", keys=("K",), label="", tooltip="three lines up", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="batch.unmark", keys=("m",), label="unmark", tooltip="take the row out", group=_MANY, footer=4,
        in_palette=False),
    Key(id="batch.leave", keys=("escape", "q"), label="back, nothing is done", shown="esc",
        tooltip="back, nothing is done", group=_DECIDE, footer=5, in_palette=False),
)  # fmt: skip

KEYS: Final = (
    *APP, *LIST, *APPROVALS, *LINES, *DIFF, *ANSWER, *TRUST, *CONVERSATION, *TOOLS, *PIPELINE, *STEP,
    *COMPOSER, *FIRST, *DIALOG, *BATCH, *ALWAYS, *RULES, *LAUNCH, *COMPARE, *RAIL, *REPLAY, *LIBRARY,
    *FIND, *STATISTICS, *BESIDE,
)  # fmt: skip

CHAINS: Final = (
    ("approvals", "list", "app"),
    ("lines", "approvals", "app"),
    ("lines", "diff", "approvals", "list", "app"),
    ("diff", "approvals", "list", "app"),
    ("answer", "approvals", "list", "app"),
    ("trust", "answer", "approvals", "list", "app"),
    ("conversation", "list", "app"),
    ("tools", "list", "app"),
    ("pipeline", "list", "app"),
    ("step", "pipeline", "list", "app"),
    ("rail", "list", "app"),
    ("library", "list", "app"),
    ("statistics", "list", "app"),
    *(
        ("beside", "replay", *inner, "list")
        for inner in (("diff", "approvals"), ("conversation",), ("tools",), ("step", "pipeline"))
    ),
    ("find",),
    *(
        ("replay", *inner, "list", "app")
        for inner in (
            ("diff", "approvals"),
            ("trust", "answer", "approvals"),
            ("conversation",),
            ("tools",),
            ("rail",),
            ("step", "pipeline"),
        )
    ),
    ("first", "list", "app"),
    ("composer",),
    ("dialog",),
    ("batch",),
    ("always",),
    ("rules",),
    ("launch",),
    ("compare",),
)
"""In each of these a key has one meaning, but for overrides that are declared."""
