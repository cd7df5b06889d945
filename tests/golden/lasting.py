"""A golden session that lasts: many turns of everyday work, for scrolling, seeking and folding.

Owns the sentences that it is made of. Nothing in it is drawn by lot.
"""

from tests.golden.scenario import golden
from tests.golden.staging import MINUTE
from tests.golden.words import create, exchange, prompt, read, run, said, thought
from workbench.domain.events import MarkAdded, RuleAdded
from workbench.host import workspace_trust
from workbench.journal.decisions import add_rule

PARTS = ("router", "cart", "login", "app")
SENTENCES = (
    "The module is small enough to be read in one go.",
    "Its names are plain, and every function does one thing.",
    "What is missing is a sentence about what it never does.",
    "A customer never sees any of this, but the next developer does.",
    "I would leave the order of the functions as it is.",
    "Two of them could be one, yet the callers read better this way.",
    "Nothing here depends on the clock, which makes it easy to test.",
    "The empty case is handled by the caller, and that is worth a line.",
)
TURNS = 52


def _text(turn, count):
    return " ".join(SENTENCES[(turn * 3 + at) % len(SENTENCES)] for at in range(count))


def _asked(turn):
    return f"Part {turn + 1}: look at {PARTS[turn % 4]}, note what you find."


def _exchanges():
    for turn in range(TURNS):
        part = PARTS[turn % 4]
        page = f"# {part}, part {turn + 1}\n\n{_text(turn, 3)}\n"
        yield exchange(
            thought(_text(turn + 1, 2), pace=110), said(_text(turn, 4), pace=70), read("r", f"src/shop/{part}.py"),
            tokens=(1500 + 40 * turn, 90), when=prompt(f"Part {turn + 1}:"),
        )  # fmt: skip
        second = run("w", "sh scripts/test.sh login") if turn % 11 == 7 else create("w", _page(turn), page)
        yield exchange(said(_text(turn + 2, 2), pace=70), second, tokens=(1900 + 40 * turn, 120))
        yield exchange(said(f"Part {turn + 1} is done. {_text(turn + 5, 1)}", pace=70), tokens=(2000, 30))


def _page(turn):
    return f"{'notes' if turn % 9 == 4 else 'docs/parts'}/{turn + 1:02}.md"


@golden("long-session", list(_exchanges()))
def long_session(scene):
    workspace_trust.grant_trust(scene.journal, str(scene.workspace), True, scene.user)
    rule = RuleAdded(
        rule="", effect="allow", origin="user", scope="always", tool="create_file", pattern_kind="glob",
        pattern="Write(docs/parts/**)", description="notes about the parts of the shop",
    )  # fmt: skip
    add_rule(scene.journal, rule, scene.user)
    scene.begin("part by part", _asked(0))
    for turn in range(TURNS):
        if turn:
            scene.say(_asked(turn), after=2 * MINUTE)
        yield
        if scene.waiting():
            if turn % 2:
                scene.approve(after=12)
            else:
                scene.reject(after=15, reason="notes belong in docs")
            yield
        if turn % 10 == 9:
            scene.note(MarkAdded(label=f"after part {turn + 1}"))
