"""What a rule would have done with the calls that were asked about, as lines. Calls are untrusted text."""

from typing import Final

from textual.content import Content

from workbench.domain.values import RuleEffect
from workbench.render.cells import hanging_lines, safe_content, shorten_line, styled, wrap_line
from workbench.render.glyphs import Glyphs
from workbench.render.theme import Ink
from workbench.text.human import clock_time, counted
from workbench.views.rule_dialog import Backtest, BacktestRow
from workbench.views.status_icons import StatusName

FIELD_NAME_CELLS: Final = 13
MAX_BACKTEST_BAR_CELLS: Final = 40
_EFFECT_WORDS: Final = {"allow": "allowed", "ask": "asked about", "deny": "denied"}


def named_lines(name: str, below: list[Content], ink: Ink) -> list[Content]:
    """Return lines with a name in front of the first."""
    head = styled(f" {name}".ljust(FIELD_NAME_CELLS), ink.of("muted"))
    return hanging_lines(head, below, FIELD_NAME_CELLS)


def backtest_lines(
    past: Backtest | None, effect: RuleEffect, now: int, width: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    """Return what a rule would have done; `past` is None while calls are being counted."""
    bold, muted = ink.of("foreground", bold=True), ink.of("muted")
    if past is None:
        counting = styled(glyphs.line("  is being counted …"), muted)
        return [Content(" ") + styled("What it would have done", bold) + counting]
    since = f" since {clock_time(past.since, now)}" if past.since is not None else ""
    asked = f"  {counted(past.asks, 'ask')} in {counted(past.sessions, 'session')}{since}"
    lines = [Content(" ") + styled("What it would have done", bold) + styled(asked, muted)]
    if not past.asks:
        return [*lines, Content(" ") + styled("Nothing like this was asked before.", muted)]
    word = _EFFECT_WORDS[effect]
    lines.append(
        styled(f" {word}".ljust(FIELD_NAME_CELLS), muted)
        + styled(f"{past.matched} of {past.asks}", bold)
        + "  "
        + _backtest_bar(past, max(4, min(MAX_BACKTEST_BAR_CELLS, width - FIELD_NAME_CELLS - 16)), ink, glyphs)
    )
    if past.matched:
        room = max(20, width - FIELD_NAME_CELLS - 1)
        lines += named_lines("", wrap_line(_backtest_outcomes(past, ink, glyphs), room), ink)
    rows = [
        _backtest_row(row, now, max(20, width - FIELD_NAME_CELLS - 1), ink, glyphs) for row in past.look_at
    ]
    lines += named_lines("look at", rows, ink)
    still = past.asks - past.matched
    if still and effect == "allow":
        asked = styled(f"{glyphs.of('waiting')} {still}", ink.sign("waiting")) + styled(" of them", muted)
        lines += named_lines("still asked", [asked], ink)
    return lines


def _backtest_bar(past: Backtest, room: int, ink: Ink, glyphs: Glyphs) -> Content:
    full = max(1, round(room * past.matched / max(1, past.asks))) if past.matched else 0
    bad = min(full, max(1, round(full * past.rejected / past.matched))) if past.rejected else 0
    sign = glyphs.of("ran")
    return styled(sign * (full - bad), ink.of("added")) + styled(sign * bad, ink.of("failed"))


def _backtest_outcomes(past: Backtest, ink: Ink, glyphs: Glyphs) -> Content:
    other = past.matched - past.approved - past.rejected - past.expired
    counted: tuple[tuple[StatusName, int, str], ...] = (
        ("ok", past.approved, "were approved"),
        ("rejected", past.rejected, "were rejected"),
        ("expired", past.expired, "expired"),
        ("cancelled", other, "withdrawn or still open"),
    )
    outcomes = [
        styled(f"{glyphs.of(sign)} {count}", ink.sign(sign)) + f" {words}"
        for sign, count, words in counted
        if count
    ]
    return Content("   ").join(outcomes)


def _backtest_row(row: BacktestRow, now: int, room: int, ink: Ink, glyphs: Glyphs) -> Content:
    right = f"  {clock_time(row.when, now)}"
    head = styled(f"{glyphs.of(row.sign)} ", ink.sign(row.sign))
    who = safe_content(f"  {row.session_title}", ink.of("muted"), ink)
    why = safe_content(f"  “{row.why}”", ink.of("muted"), ink) if row.why else Content("")
    text = shorten_line(safe_content(row.text, None, ink), max(8, room * 2 // 5), glyphs)
    return shorten_line(head + text + styled(right, ink.of("faint")) + who + why, room, glyphs)
