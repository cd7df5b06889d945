"""`workbench rules`: adding, listing, taking back and trying rules, as somebody types it."""

import json
import shlex
from pathlib import Path

import pytest

from tests.support.tables import each_row
from workbench.cli.dispatch import dispatch
from workbench.cli.journal_access import open_journal
from workbench.domain.events import TurnEnded, TurnStarted
from workbench.domain.values import Actor
from workbench.host.session_requests import create_session


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("WORKBENCH_AGENT", raising=False)
    monkeypatch.chdir(tmp_path)


def run(capsys, *words):
    code = dispatch(["rules", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_rule_lives_from_adding_to_taking_back(capsys):
    assert "No rule" in run(capsys, "list")[1]
    code, out, _ = run(capsys, "add", "Bash", "Bash(git diff *)", "--glob", "-d", "look at changes")
    assert (code, out) == (
        0,
        f"Added: R1 allows Bash(git diff *) in the folder {Path.cwd()}, for 24 hours.\n",
    )
    code, out, _ = run(
        capsys,
        "add",
        "read_file",
        '"path":"docs/',
        "-d",
        "docs",
        "--scope",
        "workspace",
        "--hours",
        "2",
        "--json",
    )
    assert json.loads(out)["scope"] == "workspace"
    assert json.loads(out)["expires_at"]
    listed = json.loads(run(capsys, "list", "--json")[1])
    assert [(rule["id"], rule["tool_name"], rule["use_count"]) for rule in listed] == [
        ("R1", "Bash", 0),
        ("R2", "read_file", 0),
    ]
    assert "used 0 times" in run(capsys, "list")[1]
    assert run(capsys, "remove", "R1")[:2] == (0, "Revoked: R1 Bash(git diff *)\n")
    assert run(capsys, "remove", "R1")[1].startswith("Revoked before")
    assert [rule["id"] for rule in json.loads(run(capsys, "list", "--json")[1])] == ["R2"]
    assert "revoked" in run(capsys, "list", "--all")[1]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["read_file", ".*", "-d", "x"], "nearly every call"),
        (["read_file", "(", "-d", "x"], "not a valid regular expression"),
        (["read_file", "(a+)+$", "-d", "x"], "could be extremely slow"),
        (["read_file", '"path":"a', "-d", " "], "description: empty"),
        (["nothing", '"path":"a', "-d", "x"], "not registered"),
        (["Bash", "Bash(sudo *)", "--glob", "-d", "x"], "allow nothing"),
        (["read_file", '"path":"a', "-d", "x", "--hours", "nan"], "is not a time ahead"),
        (["read_file", '"path":"a', "-d", "x", "--hours", "-1"], "is not a time ahead"),
        (
            ["read_file", '"path":"a', "-d", "x", "--until", "tomorrow"],
            "--until tomorrow is not a time ahead",
        ),
        (["read_file", '"path":"a', "-d", "x", "--until", "0m"], "--until 0m is not a time ahead"),
    ],
)
def test_a_rule_that_may_not_be_saved_is_refused_with_the_reason(capsys, words, part):
    code, out, err = run(capsys, "add", *words)
    assert code != 0
    assert out == ""
    assert part in err


@each_row(
    ("words", "extent"),
    [
        ([], "in the folder {folder}, for 24 hours"),
        (["--scope", "always"], "in every folder, for 24 hours"),
        (["--until", "10m"], "in the folder {folder}, for 10 minutes"),
        (["--until", "7d"], "in the folder {folder}, for 7 days"),
        (["--hours", "0.5"], "in the folder {folder}, for 30 minutes"),
        (["--until", "revoked"], "in the folder {folder}, until it is revoked"),
        (["--effect", "deny"], "in every folder, until it is revoked"),
        (["--effect", "ask"], "in every folder, until it is revoked"),
        (["--effect", "deny", "--scope", "workspace"], "in the folder {folder}, until it is revoked"),
    ],
)
def test_a_rule_says_where_and_how_long_it_holds(capsys, monkeypatch, tmp_path, words, extent):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "-".join(("home", *words))))
    out = run(capsys, "add", "Bash", "Bash(git diff *)", "--glob", "-d", "look", *words)[1]
    expected = extent.format(folder=Path.cwd())
    assert f"Bash(git diff *) {expected}." in out
    listed = run(capsys, "list")[1]
    assert f"\n     {expected}; by user, used 0 times: look\n" in listed
    assert "Bash  Bash(" not in listed


def test_the_first_example_of_adding_a_rule_is_narrow_and_ends(capsys):
    from workbench.cli.rules import ADD_EXAMPLE

    run(capsys, *shlex.split(ADD_EXAMPLE.splitlines()[0])[2:])
    (rule,) = json.loads(run(capsys, "list", "--json")[1])
    assert (rule["scope"], rule["scope_id"]) == ("workspace", str(Path.cwd()))
    assert rule["expires_at"] is not None


def test_an_unknown_number_is_refused(capsys):
    code, _, err = run(capsys, "remove", "R9")
    assert code == 1
    assert "R9" in err


def test_an_agent_cannot_add_or_remove(capsys, monkeypatch):
    from workbench.effects.process_marks import AGENT_VARIABLE

    run(capsys, "add", "Bash", "Bash(git diff *)", "--glob", "-d", "x")
    monkeypatch.setenv(AGENT_VARIABLE, "1")
    for words in (["add", "Bash", "Bash(git log *)", "--glob", "-d", "x"], ["remove", "R1"]):
        code, _, err = run(capsys, *words)
        assert code == 1
        assert "agents cannot answer for a human" in err
    monkeypatch.delenv(AGENT_VARIABLE)
    assert [rule["id"] for rule in json.loads(run(capsys, "list", "--json")[1])] == ["R1"]


def test_a_backtest_of_nothing_says_so(capsys):
    code, out, _ = run(capsys, "backtest", "Bash", "Bash(git diff *)", "--glob")
    assert (code, out) == (0, "It would have allowed 0 of 0 calls of Bash.\n")
    assert json.loads(run(capsys, "backtest", "read_file", '"path":"a', "--json")[1]) == {
        "calls": 0,
        "matched": [],
    }


def test_a_backtest_counts_the_calls_of_imported_sessions(capsys, tmp_path):
    lines = [
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": "look"}},
        *(
            {"type": "assistant", "uuid": f"a{number}", "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}]}}
            for number, (name, given) in enumerate(
                [("Bash", {"command": "ls -la"}), ("Bash", {"command": "rm x"}), ("Read", {"file_path": "a"})]
            )
        ),
    ]  # fmt: skip
    common = {
        "sessionId": "5e55",
        "cwd": str(tmp_path),
        "timestamp": "2026-01-01T00:00:00Z",
        "version": "2.0.0",
    }
    path = tmp_path / "past.jsonl"
    path.write_text("".join(json.dumps(common | line) + "\n" for line in lines))
    assert dispatch(["sessions", "import", str(path)]) == 0
    capsys.readouterr()
    code, out, _ = run(capsys, "backtest", "Bash", "Bash(ls *)", "--glob")
    assert (code, out.splitlines()[0]) == (0, "It would have allowed 1 of 2 calls of Bash.")
    assert "ls -la" in out


def test_an_unanchored_expression_is_named_when_it_is_added(capsys):
    code, out, err = run(capsys, "add", "create_file", "docs/", "-d", "docs")
    assert (code, "R1" in out) == (0, True)
    assert 'it allows nothing; anchor it as "path":"docs/' in err
    made = json.loads(run(capsys, "add", "run_in_terminal", "git status", "-d", "look", "--json")[1])
    assert "tried from the first word of a command" in made["warnings"][0]


def test_rules_of_before_say_what_asks_now_and_what_else_they_match(capsys):
    from workbench.cli.journal_access import open_journal
    from workbench.domain.events import RuleAdded
    from workbench.domain.values import Actor
    from workbench.journal.decisions import add_rule

    run(capsys, "list")
    with open_journal() as journal:
        for tool, kind, pattern in (
            ("Bash", "glob", "Bash(*)"),
            ("create_file", "glob", "Write(.envrc)"),
            ("create_file", "regex", "docs/"),
            ("Bash", "glob", "Bash(git diff *)"),
        ):
            body = RuleAdded(
                rule="", effect="allow", origin="user", scope="always", tool=tool, pattern_kind=kind,
                pattern=pattern, description="x",
            )  # fmt: skip
            add_rule(journal, body, Actor(kind="user", pid=1, via="cli"))
    listed = json.loads(run(capsys, "list", "--json")[1])
    first, second, third, fourth = (" ".join(rule["warnings"]) for rule in listed)
    assert first.startswith("asks now: Bash(*) would allow everything")
    assert second.startswith("asks now: .envrc: runs by itself")
    assert 'anchor it as "path":"docs/' in third
    assert fourth == ""
    out = run(capsys, "list")[1]
    assert "     ! asks now: Bash(*) would allow everything" in out


def test_a_tool_has_one_name_in_the_list(capsys):
    run(capsys, "add", "Bash", "Bash(git log *)", "--glob", "-d", "x")
    for tool, pattern in (
        ("run_in_terminal", '"command":"git status"'),
        ("create_file", '"path":"docs/a"'),
    ):
        run(capsys, "add", tool, pattern, "-d", "x")
    heads = [line[14:] for line in run(capsys, "list")[1].splitlines() if not line.startswith(" ")]
    assert heads == ["Bash(git log *)", 'Bash "command":"git status"', 'create_file "path":"docs/a"']


def test_a_denial_is_listed_with_what_it_means_and_stops(capsys, tmp_path):
    run(capsys, "add", "Bash", "Bash(git push --force *)", "--glob", "--effect", "deny", "-d", "mine")
    run(capsys, "add", "Bash", "Bash(git diff *)", "--glob", "-d", "look at changes")
    out = run(capsys, "list")[1]
    assert "means git push with --force (also -f, --mirror, +BRANCH), in any order and spelling" in out
    assert "--force-with-lease asks" in out
    assert (
        "such as git push origin main -f  |  git push origin +main  |  git push --mirror origin main" in out
    )
    denied, allowed = json.loads(run(capsys, "list", "--json")[1])
    assert denied["stops"][0] == "git push origin main -f"
    assert "means" not in allowed


def test_denials_of_the_configuration_are_listed_too(capsys, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text(
        '{"approvals": {"deny": ["Bash(rm -rf *)", "Read(.env)"]}}'
    )
    out = run(capsys, "list")[1]
    assert (
        "deny     Bash(rm -rf *)" in out
        and "config.json line 1" in out
        and "rm --recursive --force build" in out
    )
    assert out.count("means") == 1


def test_a_rule_for_the_open_turn_of_a_session(capsys):
    words = ("add", "Bash", "Bash(git diff *)", "--glob", "-d", "look", "--until", "turn")
    code, _, err = run(capsys, *words)
    assert (code, "no turn is open in this folder" in err.casefold()) == (1, True)
    with open_journal() as journal:
        session = create_session(
            journal,
            workspace=str(Path.cwd()),
            provider="recorded",
            model="m",
            actor=Actor(kind="user", via="cli"),
        )
        journal.append(
            [
                journal.event(
                    TurnStarted(provider="recorded", model="m"), session, Actor(kind="host"), turn_id="t-1"
                )
            ],
            strict=False,
        )
    for more in ((), ("--session", session)):
        assert "in the turn t-1, until the turn ends." in run(capsys, *words, *more)[1]
    assert run(capsys, *words, "--scope", "always")[0] == 2
    assert "in the turn t-1, until the turn ends; by user" in run(capsys, "list")[1]
    with open_journal() as journal:
        ended = TurnEnded(outcome="done")
        journal.append([journal.event(ended, session, Actor(kind="host"), turn_id="t-1")], strict=False)
    assert json.loads(run(capsys, "list", "--json")[1]) == []
    out = run(capsys, "list", "--all")[1]
    assert "R1   ended    Bash(git diff *)" in out
    assert "in the turn t-1, over: the turn has ended" in out
    code, _, err = run(capsys, *words, "--session", session)
    assert (code, "no turn of this session is open" in err.casefold()) == (1, True)


def listed_places(capsys):
    return {rule["id"]: rule["where"] for rule in json.loads(run(capsys, "list", "--json")[1])}


def test_a_rule_says_where_its_commands_run(capsys):
    run(capsys, "add", "Bash", "Bash(git diff *)", "--glob", "-d", "look at changes")
    run(capsys, "add", "Bash", "Bash(git push *)", "--glob", "-d", "publish", "--where", "outside")
    run(capsys, "add", "read_file", '"path":"docs/', "-d", "docs")
    assert listed_places(capsys) == {"R1": "inside", "R2": "outside", "R3": None}
    shown = run(capsys, "list")[1]
    assert shown.count("outside the sandbox") == 1
    assert run(capsys, "place", "R1", "R2", "--where", "inside") == (
        0, "R1 Bash(git diff *) inside the sandbox.\nR2 Bash(git push *) inside the sandbox.\n", "",
    )  # fmt: skip
    assert listed_places(capsys) == {"R1": "inside", "R2": "inside", "R3": None}
    run(capsys, "place", "R1", "--where", "outside")
    assert listed_places(capsys)["R1"] == "outside"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (
            ["add", "read_file", '"path":"docs/', "-d", "docs", "--where", "outside"],
            "--where is about commands",
        ),
        (["place", "R1", "--where", "outside"], "R1 allows no commands"),
        (["place", "R9", "--where", "outside"], "There is none"),
    ],
)
def test_only_commands_have_a_place(capsys, words, part):
    run(capsys, "add", "read_file", '"path":"docs/', "-d", "docs")
    code, out, err = run(capsys, *words)
    assert (code != 0, out) == (True, "")
    assert part in err


def test_an_agent_cannot_place_a_rule(capsys, monkeypatch):
    run(capsys, "add", "Bash", "Bash(git diff *)", "--glob", "-d", "look at changes")
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    code, _, err = run(capsys, "place", "R1", "--where", "outside")
    assert code != 0, err
    monkeypatch.delenv("WORKBENCH_AGENT")
    assert listed_places(capsys) == {"R1": "inside"}
