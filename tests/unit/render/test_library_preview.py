"""The preview of a session: its axis, its questions in order, and the end of its talk."""

from random import Random

from workbench.domain.events import Event, PromptSubmitted, ReplyCompleted
from workbench.domain.rows import ActionFact
from workbench.domain.values import Actor
from workbench.render.glyphs import ASCII_GLYPHS, UNICODE_GLYPHS
from workbench.render.library import preview_lines
from workbench.render.theme import own_theme_ink
from workbench.text.width import cell_width
from workbench.views.session_board import activity
from workbench.views.statistics import SessionPreview, answers_in_order, last_talk

HOSTILE = "run \x1b]0;x\x07 \u202egnp \u200b" + "w" * 900
MINUTE = 60_000_000


def said(at, text, *, by_you=False):
    body = PromptSubmitted(text=text) if by_you else ReplyCompleted(text=text)
    return Event(
        id=f"e{at}", session_id="s", sequence_number=at + 1, position=at, at=at * MINUTE,
        actor=Actor(kind="user"), body=body,
    )  # fmt: skip


def preview(events, answers=()):
    return SessionPreview(
        id="s", title="t", sign="ok", word="ready", facts=(), asked=len(answers), unasked=0, waiting=0,
        outcomes=(), calls=0, failed_calls=0, changed=0, files=(), answers=answers,
        activity=activity(events), begun=0, ended=60 * MINUTE, talk=last_talk(events),
    )  # fmt: skip


def drawn(view, width, glyphs=UNICODE_GLYPHS):
    return [line.plain for line in preview_lines(view, width, own_theme_ink("workbench-dark"), glyphs)]


def test_no_line_is_wider_than_the_view_and_nothing_hidden_is_printed():
    random = Random(5)
    events = [said(n, HOSTILE, by_you=n % 2 == 0) for n in range(12)]
    for width in (30, 46, 62, *(random.randint(24, 200) for _ in range(10))):
        for glyphs in (UNICODE_GLYPHS, ASCII_GLYPHS):
            lines = drawn(preview(events, ("ok",) * 300), width, glyphs)
            assert [line for line in lines if cell_width(line) > width] == []
            assert not any(set(line) & {"\x1b", "\x07", "\u202e", "\u200b"} for line in lines)


def test_the_end_of_the_talk_and_the_axis_are_shown():
    lines = drawn(preview([said(0, "Go on.", by_you=True), said(30, "The order stays.")]), 62)
    assert any(line.split() == ["›", "Go", "on."] for line in lines)
    assert any("The order stays." in line for line in lines)
    assert any(line.startswith("  ›───") for line in lines)


def test_questions_have_their_signs_in_the_order_in_which_they_were_asked():
    facts = [
        ActionFact(state=state, is_partly=False, took_ms=1, asked_at=at)
        for at, state in ((3, "expired"), (1, "approved"), (2, "superseded"), (4, "rejected"))
    ]
    assert answers_in_order(facts) == ("ok", "expired", "rejected")
