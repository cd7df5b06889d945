"""The dialog that makes a rule: what it offers, refuses, counts, saves, and what it never does."""

import pytest

from tests.support import boxed_commands
from tests.support.stage import call, exchange, recording, text
from tests.tui.screens import play, staged
from workbench.domain.values import Decision
from workbench.journal.decisions import decide_action

GIT = [call(f"g{n}", "run_in_terminal", command=f"git diff --stat {name}") for n, name in enumerate("abc")]
UNPLAIN = call("u1", "run_in_terminal", command="cat $(ls) > out.txt\nrm -rf ~/.cache/web")
LINE = call("l1", "run_in_terminal", command="cd web && npm test")


@pytest.fixture
def stage(tmp_path):
    return staged(
        tmp_path, recording(exchange(text("I look."), *GIT, UNPLAIN, LINE), exchange(text("Done.")))
    )


def action_of(stage, target):
    return next(action for action in stage.waiting() if target in action.target)


async def opened(shown, target):
    shown.approvals.queue.put_cursor(action_of(shown.stage, target).id)
    await shown.settle()
    await shown.press("A")


def rules_of(shown):
    return shown.stage.journal.rules(active=False)


def test_a_rule_is_saved_and_the_call_answered_by_hand(stage):
    async def body(shown):
        first, second = action_of(shown.stage, "stat a"), action_of(shown.stage, "stat b")
        await opened(shown, "stat a")
        assert "exactly this" in shown.text and "refused: is too wide" in shown.text
        await shown.press("j", "enter")
        (rule,) = rules_of(shown)
        assert (rule.pattern, rule.effect, rule.scope, rule.origin) == (
            "Bash(git diff --stat *)", "allow", "session", "user"
        )  # fmt: skip
        assert (rule.scope_id, rule.created_from, rule.expires_at) == (first.session_id, first.id, None)
        decided = shown.stage.journal.action(first.id)
        assert decided.state == "approved" and decided.decided_by.startswith("user (screen")
        assert shown.state(second) == "pending"

    play(stage, body)


def test_leaving_saves_nothing(stage):
    async def body(shown):
        await opened(shown, "stat a")
        await shown.press("escape")
        assert (rules_of(shown), len(shown.stage.waiting())) == ([], 5)

    play(stage, body)


def test_keys_typed_ahead_add_no_rule(stage):
    async def body(shown):
        shown.approvals.queue.put_cursor(action_of(shown.stage, "stat a").id)
        await shown.settle()
        await shown.press("A")
        await shown.press("enter", "enter", wait=0.0)
        await shown.wait_for_key()
        assert (rules_of(shown), len(shown.stage.waiting())) == ([], 5)
        await shown.press("enter")
        assert len(rules_of(shown)) == 1

    play(stage, body)


def test_a_refused_candidate_is_not_saved(stage):
    async def body(shown):
        await opened(shown, "stat a")
        await shown.press("j", "j", "j", "enter", "enter")
        assert rules_of(shown) == []
        assert "Not saved: Bash(git *)" in shown.app.screen.said

    play(stage, body)


def test_place_end_and_effect_are_chosen(stage):
    async def body(shown):
        await opened(shown, "stat a")
        await shown.press("l", "tab", "l", "l", "l", "tab", "l", "l", "enter")
        (rule,) = rules_of(shown)
        assert (rule.scope, rule.scope_id, rule.effect) == ("workspace", str(shown.stage.workspace), "deny")
        assert rule.expires_at - rule.created_at == 7 * 86_400 * 1_000_000
        assert shown.stage.journal.actions(states=["rejected"])[0].target.endswith("stat a")

    play(stage, body)


def test_the_past_is_counted(stage):
    a, b = action_of(stage, "stat a"), action_of(stage, "stat b")
    from workbench.domain.values import Actor

    other = Actor(kind="user", pid=77, via="cli")
    decide_action(stage.journal, Decision(action_id=a.id, verdict="approve"), a.digest, other)
    decide_action(stage.journal, Decision(action_id=b.id, verdict="reject"), b.digest, other)

    async def body(shown):
        await opened(shown, "stat c")
        assert "0 of 4" in shown.text
        await shown.press("j")
        assert "2 of 4" in shown.text
        assert "1 were approved" in shown.text and "1 were rejected" in shown.text

    play(stage, body, size=(120, 48))


def test_the_key_is_off_where_no_rule_can_cover_a_command(stage):
    async def body(shown):
        await opened(shown, "cat $(ls)")
        assert "no rule can cover it" in shown.said.lower() or "no rule can cover" in shown.text
        assert shown.app.screen.id != "always-screen"

    play(stage, body)


def test_a_line_of_commands_is_covered_part_by_part(stage):
    async def body(shown):
        await opened(shown, "cd web")
        assert "part 1 of 2" in shown.text and "Bash(cd web)" in shown.text

    play(stage, body)


def test_a_rule_for_a_part_of_a_line_says_that_the_line_still_asks(stage):
    async def body(shown):
        await opened(shown, "cd web")
        shown.hand.waits()
        await shown.press("enter")
        await shown.settle()
        assert (
            "R1 allows Bash(cd web). Lines with other parts still ask"
            in shown.main.notifications.kept[0].text
        )

    play(stage, body)


def test_a_pattern_written_by_hand_is_judged(stage):
    async def body(shown):
        await opened(shown, "stat a")
        await shown.press("e", *["backspace"] * 40, "B", "a", "s", "h", "(", "*", ")", "enter")
        assert "would allow everything" in shown.text
        await shown.press("enter")
        assert rules_of(shown) == []

    play(stage, body)


def test_a_command_is_taken_apart(stage):
    async def body(shown):
        shown.approvals.queue.put_cursor(action_of(shown.stage, "cat $(ls)").id)
        await shown.settle()
        for words in (
            "what it does",
            "deletes ~/.cache/web",
            "never by rule",
            "No rule covers the whole line",
        ):
            assert words in shown.text
        shown.approvals.queue.put_cursor(action_of(shown.stage, "cd web").id)
        await shown.settle()
        assert "goes to web" in shown.text and "asks (no rule)" in shown.text
        await shown.press("A", "enter")
        assert rules_of(shown)[0].pattern == "Bash(cd web)"

    play(stage, body)


def test_what_is_hidden_is_named_and_asked_about_once_more(tmp_path):
    turned = call("h1", "run_in_terminal", command='git commit -am "fix\u202egnp.exe"')
    stage = staged(tmp_path, recording(exchange(text("I commit."), turned), exchange(text("Done."))))

    async def body(shown):
        (action,) = shown.stage.waiting()
        assert "1 right-to-left override" in shown.text and "fixexe.png" in shown.text
        await shown.press("a")
        assert shown.state(action) == "pending" and "once more" in shown.said
        await shown.press("a")
        assert shown.state(action) == "approved"

    play(stage, body)


def test_a_dialog_that_does_not_fit_says_how_far_it_goes(tmp_path):
    long = " && ".join(f"npm run part-{n}" for n in range(30))
    stage = staged(tmp_path, recording(exchange(call("l1", "run_in_terminal", command=long))))

    async def body(shown):
        await opened(shown, "npm run part-0")
        border = shown.text.splitlines()[shown.app.screen.box.region.bottom - 1]
        assert " of " in border and "↓" in border and "narrowest first" in border
        for _ in range(40):
            await shown.press("J")
        border = shown.text.splitlines()[shown.app.screen.box.region.bottom - 1]
        assert "↑" in border and "↓" not in border

    play(stage, body, size=(80, 24))


def test_enter_that_came_too_early_is_answered_in_the_dialog(stage):
    async def body(shown):
        await opened(shown, "stat a")
        shown.app.screen._arming.disarm()
        shown.app.screen.save()
        await shown.settle()
        assert "Too quick" in shown.text and rules_of(shown) == []

    play(stage, body)


@pytest.mark.parametrize(
    ("place", "level", "chosen"),
    [("inside", "workspace", "inside"), ("outside", "workspace", "outside"), ("outside", None, "inside")],
)
def test_a_rule_runs_commands_outside_only_where_its_own_row_leaves_the_sandbox(stage, place, level, chosen):
    session = stage.waiting()[0].session_id
    boxed_commands.asks(stage.journal, session, "make check", place=place, level=level)

    async def body(shown):
        await shown.look()
        await opened(shown, "make check")
        assert shown.app.screen._ruling.rule(0).place == chosen

    play(stage, body)


def test_where_a_rule_runs_commands_is_chosen_and_asked_only_of_what_allows_commands(stage):
    boxed_commands.asks(stage.journal, stage.waiting()[0].session_id, "make check")

    async def body(shown):
        await shown.look()
        await opened(shown, "make check")
        assert "runs        ■ inside the sandbox   □ outside, as you" in shown.text
        await shown.press("tab", "tab", "tab", "l")
        assert "■ outside, as you" in shown.text
        assert "Its commands run as you" in shown.text
        assert shown.app.screen._ruling.rule(0).place == "outside"
        await shown.press("shift+tab", "l", "l")
        assert "outside, as you" not in shown.text
        assert shown.app.screen._ruling.rule(0).place is None

    play(stage, body)


def test_a_rule_about_files_says_nothing_of_the_sandbox(tmp_path):
    async def body(shown):
        await opened(shown, "docs/api.md")
        assert "sandbox" not in shown.text
        assert shown.app.screen._ruling.rule(0).place is None

    play(staged(tmp_path), body)
