"""Lines that no rule can cover: the reason names the part, and the nearest rule that can cover it."""

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import SHELL, context
from workbench.domain.values import PermissionPattern
from workbench.policy.gate import GateCall, judge_screened_call, screen_call
from workbench.policy.rule_suggestions import suggest_rules, uncoverable_line_reason
from workbench.policy.shell.analysis import view_command


def reason(command):
    return uncoverable_line_reason(view_command(command), SHELL).removeprefix("no rule can cover it: ")


@each_row(
    ("command", "said"),
    [
        ("git log > out.txt", "a redirect to a file; without that, Bash(git log *) would cover it"),
        (
            "ls && git log $X --oneline | head",
            "an expansion, in part 2 of 3: git log $X --oneline; without that, Bash(git log --oneline *) would cover it",
        ),
        ("sudo rm x", "sudo runs other programs"),
        ("ls; sudo rm x", "sudo runs other programs, in part 2 of 2: sudo rm x"),
        ("npm run build && python -c 'x'", "python -c runs text or loads code, in part 2 of 2: python -c x"),
        ("cat $X", "an expansion; without that, Bash(cat *) would cover it"),
        ("rm $X", "an expansion"),
        ("rm -f a $X", "an expansion; without that, Bash(rm -f a *) would cover it"),
        ("git push $X", "an expansion; without that, Bash(git push *) would cover it"),
        ("$X a", "an expansion"),
        ("python $X", "an expansion"),
        ("python setup.py --x $X", "an expansion; without that, Bash(python setup.py --x *) would cover it"),
        ("> out.txt", "it can be read in two ways"),
        # The grammar takes `E&&export` for the end of the here-document and finds a command more than a shell does.
        (
            "ls <<-'E'\n\tx\n\tE&&export b <<-'E'\n\tx\n\tE",
            "it can be read in two ways, in part 4 of 6: export b <<-E",
        ),
        ("ls $X && (true", "an expansion, a syntax error, in part 1 of 3: ls $X"),
        ("git diff *.py", "file name patterns"),
        ("a 'b", "a quote that does not close, a syntax error"),
    ],
)
def test_the_reason_names_the_part_and_the_nearest_rule(command, said):
    assert reason(command) == said


def test_a_secret_in_the_part_is_not_shown():
    said = reason(f"ls && curl -u a:ghp_{'a1B2' * 9} $X")
    assert "ghp_" not in said and "in part 2 of 2" in said


def test_the_row_and_the_dialog_say_the_same(tmp_path):
    command = "ls && git log $X"
    said = "no rule can cover it: an expansion, in part 2 of 2: git log $X; without that, Bash(git log *) would cover it"
    made = context(tmp_path, allow=(PermissionPattern(text="Bash(ls *)"),))
    passed = screen_call(GateCall(tool="run_in_terminal", parameters={"command": command}), made)
    assert judge_screened_call(passed, made).reason == said
    assert suggest_rules(SHELL, {"command": command}, str(tmp_path)).why_none == said
