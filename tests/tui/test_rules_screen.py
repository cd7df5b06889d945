"""Place 6: which rules there are, what is known of them, and how one is taken back."""

import re

import pytest

from tests.support.stage import USER
from tests.tui.screens import play, staged
from workbench.backend.rules import LocalRules
from workbench.domain.events import RuleAdded, RulePlaced
from workbench.domain.rows import Rule
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal.decisions import add_rule
from workbench.tui.rules import rules_screen


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


def with_rules(stage):
    for pattern, scope in (
        ("Bash(git diff *)", "always"),
        ("Bash(true)", "workspace"),
        ("Bash(ls)", "session"),
    ):
        ids = {"workspace": str(stage.workspace), "session": stage.session_id}
        add_rule(
            stage.journal,
            RuleAdded(
                rule="", effect="allow", origin="user", scope=scope, scope_id=ids.get(scope),
                tool="run_in_terminal", pattern_kind="glob", pattern=pattern, description=f"for {pattern}",
            ),
            USER,
        )  # fmt: skip


def in_force(shown):
    return [rule.id for rule in shown.stage.journal.rules()]


def test_rules_are_listed_with_where_and_how_often(stage):
    with_rules(stage)

    async def body(shown):
        await shown.press("6")
        for words in (
            "3 rules",
            "Bash(git diff *)",
            "everywhere",
            "this workspace",
            "this session",
            "never",
        ):
            assert words in shown.text
        await shown.press("b")
        assert re.search("What it would have done  1 ask in 1 session.*\n.*allowed +0 of 1", shown.text)

    play(stage, body, size=(160, 48))


def test_a_rule_is_revoked_by_its_number(stage):
    with_rules(stage)

    async def body(shown):
        await shown.press("6", "D", *"R2", "enter")
        assert "Nothing was revoked" in shown.text and in_force(shown) == ["R1", "R2", "R3"]
        await shown.press("D", *"R3", "enter")
        assert in_force(shown) == ["R1", "R2"] and "R3 is revoked" in shown.text
        assert "2 rules" in shown.text
        await shown.press("d")
        assert "3 rules, with revoked" in shown.text

    play(stage, body)


def test_keys_typed_ahead_revoke_nothing(stage):
    with_rules(stage)

    async def body(shown):
        await shown.press("6", "D", "enter", "D", "y", "enter", "escape", wait=0.0)
        assert in_force(shown) == ["R1", "R2", "R3"]

    play(stage, body)


def test_the_filter_and_the_empty_page(stage):
    async def body(shown):
        await shown.press("6")
        assert "No rules yet" in shown.text
        with_rules(shown.stage)
        await shown.press("escape", "6", "/", *"diff", "enter")
        assert "1 rule" in shown.text and "Bash(ls)" not in shown.text
        await shown.press("/", "x", "x", "enter")
        assert "Nothing matches “diffxx”" in shown.text
        await shown.press("escape", "1")
        assert shown.main.place == 1

    play(stage, body)


def test_a_rule_is_written_edited_and_put_back(stage):
    async def body(shown):
        await shown.press("6", "A", *"Bash", "enter")
        assert in_force(shown) == [] and "Not saved" in shown.text
        await shown.press("A", *"deny Bash(git push *) everywhere", "enter")
        rule = shown.stage.journal.rule("R1")
        assert (rule.effect, rule.scope, rule.pattern) == ("deny", "always", "Bash(git push *)")
        await shown.press("e")
        field = shown.app.screen.query_one("#rules-input")
        assert field.value == "deny Bash(git push *) everywhere"
        field.value = "Bash(git diff *)"
        await shown.press("enter")
        assert in_force(shown) == ["R2"] and shown.stage.journal.rule("R2").scope == "workspace"
        await shown.press("D", *"R2", "enter", "u")
        assert in_force(shown) == ["R3"] and "R3 allows Bash(git diff *)" in shown.text

    play(stage, body, add_rule=LocalRules(stage.home, stage.journal, str(stage.workspace)).add_rule)


@pytest.mark.parametrize("words", ["", "((", "allow", "deny )", "Bash(git diff *) sometimes"])
def test_what_is_no_rule_saves_nothing_and_says_how_one_is_written(words):
    found = rules_screen.parse_rule(words, "/w")
    assert found == rules_screen.RULE_SYNTAX or found.tool == "allow"


def test_the_empty_page_is_in_the_middle_with_rows_as_they_would_be(stage):
    async def body(shown):
        await shown.press("6")
        lines = shown.text.splitlines()
        rows = [n for n, line in enumerate(lines) if "╱╱╱" in line]
        ghost, heading = (
            next(n for n, line in enumerate(lines) if words in line)
            for words in ("Bash(git diff", "No rules yet")
        )
        assert rows[0] < ghost < heading < rows[-1]
        clear = lines[heading]
        assert abs(clear.count("╱") - 2 * len(clear.partition(" ")[0])) <= 1
        await shown.press("7")
        assert shown.main.place == 7

    play(stage, body)


def test_help_names_the_keys_of_the_rules_and_comes_back_to_them(stage):
    with_rules(stage)

    async def body(shown):
        await shown.press("6", "?")
        assert "Keys here: Rules" in shown.text
        assert "revoke the rule" in shown.text
        await shown.press("escape", "j", "d")
        assert "with revoked, expired and ended ones" in shown.text
        assert "? all keys" in shown.text

    play(stage, body)


def test_an_empty_page_offers_only_what_can_be_done_there(stage):
    async def body(shown):
        await shown.press("6")
        header, title, *_, keys = shown.text.splitlines()
        assert header.startswith(" workbench") and title.startswith("─ 6 Rules")
        assert " ".join(keys.split()) == "A add │ esc back │ d past ones ? all keys"
        assert [line for line in shown.text.splitlines() if "enter" in line or "esc" in line] == [keys]

    play(stage, body)


def test_a_narrow_page_keeps_the_keys_for_help_and_the_way_back(stage):
    with_rules(stage)

    async def body(shown):
        await shown.press("6")
        (keys,) = [line.strip() for line in shown.text.splitlines() if "A add" in line]
        assert keys.startswith("D revoke  A add  e edit  s run outside  │ j k rule  esc back")
        assert keys.endswith("? all keys")

    play(stage, body, size=(80, 24))


def test_the_palette_over_the_rules_has_their_commands_first_and_closes_onto_them(stage):
    with_rules(stage)

    async def body(shown):
        def names():
            return [type(screen).__name__ for screen in shown.app.screen_stack]

        await shown.press("6")
        for key in ("colon", "ctrl+p"):
            await shown.press(key)
            assert names() == ["MainScreen", "RulesScreen", "PaletteScreen"]
            assert "Revoke the rule" in shown.text
            await shown.press("escape")
            assert names() == ["MainScreen", "RulesScreen"]
        await shown.press("colon", *"delete rule", "enter")
        assert "Type R3" in shown.text
        await shown.press("escape", "colon", *"pipeline", "enter")
        assert names() == ["MainScreen"] and shown.main.place == 4

    play(stage, body, size=(120, 36))


def test_rules_of_a_run_that_has_ended_are_folded_away(stage):
    for scope_id in ("gone", stage.session_id):
        rule = RuleAdded(
            rule="", effect="allow", origin="user", scope="run", scope_id=scope_id, tool="run_in_terminal",
            pattern_kind="glob", pattern="Bash(ls)", description="granted at the start of a run",
        )  # fmt: skip
        add_rule(stage.journal, rule, USER)

    async def body(shown):
        await shown.press("6")
        assert "1 rule" in shown.text and "the run ends" in shown.text and "no end" not in shown.text
        await shown.press("d")
        assert "2 rules, with revoked, expired and ended ones" in shown.text
        assert "its run ended" in shown.text

    play(stage, body, size=(160, 48))


@pytest.mark.parametrize("size", [(80, 18), (80, 24), (160, 48)])
def test_what_is_known_of_a_rule_is_on_the_screen_or_scrolls(stage, size):
    with_rules(stage)

    async def body(shown):
        await shown.press("6")
        view = shown.app.screen.query_one("#rules-detail")
        seen = set()
        for _ in range(8):
            seen |= set(re.findall("^(?:.*│)? (until|used|made) ", shown.text, re.MULTILINE))
            await shown.press("J")
        assert len(seen) == 3
        has_all = view.line_count <= view.size.height
        assert has_all or f"of {view.line_count}" in shown.text

    play(stage, body, size=size)


def test_a_rule_that_covers_less_than_before_carries_a_mark_and_the_reason(stage):
    from workbench.domain.events import RuleAdded

    body = RuleAdded(
        rule="", effect="allow", origin="user", scope="always", tool="create_file", pattern_kind="glob",
        pattern="Write(.envrc)", description="x",
    )  # fmt: skip
    add_rule(stage.journal, body, USER)

    async def play_it(shown):
        await shown.press("6")
        assert "! Write(.envrc)" in shown.text
        assert "asks now: .envrc: runs by itself" in shown.text

    play(stage, play_it, size=(160, 48))


def placing(stage):
    def place_rule(number, place):
        body = RulePlaced(rule=number, place=place)
        stage.journal.append([stage.journal.event(body, SYSTEM_SESSION, USER)])
        return next(rule for rule in stage.journal.rules() if rule.id == number)

    return {"place_rule": place_rule}


def test_two_presses_run_the_commands_of_a_rule_outside_the_sandbox(stage):
    with_rules(stage)

    async def body(shown):
        await shown.press("6")
        assert "[inside]" in next(line for line in shown.text.split("\n") if "§ R1" in line)
        shown.app.screen._list.put_cursor("R1")
        await shown.press_once("s")
        assert "outside" not in [rule.place for rule in stage.journal.rules()]
        await shown.press("escape")
        await shown.press("s")
        assert [rule.place for rule in stage.journal.rules() if rule.id == "R1"] == ["outside"]
        assert "What R1 allows runs outside the sandbox from now on." in shown.text
        assert "outside" in next(line for line in shown.text.split("\n") if "§ R1" in line)

    play(stage, body, size=(160, 48), **placing(stage))


def test_a_rule_that_allows_no_commands_is_not_placed(stage):
    add_rule(
        stage.journal,
        RuleAdded(
            rule="", effect="allow", origin="user", scope="always", tool="Read", pattern_kind="glob",
            pattern="Read(docs/**)", description="for pages",
        ),
        USER,
    )  # fmt: skip

    async def body(shown):
        await shown.press("6")
        await shown.press("s")
        assert "This rule allows no commands." in shown.text

    play(stage, body, size=(160, 48), **placing(stage))


def test_a_rule_that_is_put_back_runs_its_commands_where_it_did():
    old = Rule(
        id="R1", effect="allow", origin="user", scope="always", tool="Bash", pattern_kind="glob",
        pattern="Bash(make *)", description="", created_at=1, place="outside",
    )  # fmt: skip
    edited = rules_screen.parse_rule("allow Bash(make test) everywhere", "/w", old)
    assert (rules_screen.renewed_rule(old).place, edited.place) == ("outside", "outside")
