"""Every constraint, and what is said about a value that breaks it."""

import json
from pathlib import Path

import pytest

from tests.support.tables import each_row
from workbench.cli.config import problem_json
from workbench.config.layers import load_config
from workbench.config.types import LoadedConfig
from workbench.text.problems import Problem


def read(home: Path, value: object) -> LoadedConfig:
    text = value if isinstance(value, str) else json.dumps(value)
    (home / "config.json").write_text(text)
    return load_config(home, None, trusted=False, env={}, options={})


def at(path: str, value: object) -> dict[str, object]:
    for name in reversed(path.split(".")):
        value = {name: value}
    assert isinstance(value, dict)
    return value


BOUNDS = [
    ("api_timeout_seconds", [5, 300], [4, 301, 30.0, True, "30"]),
    ("max_session_messages", [10, 1000], [9, 1001, 10.5]),
    ("approvals.window_minutes", [0.001, 1440], [0, -1, 1440.1, "soon", True]),
    (
        "approvals.windows",
        [[], [{"minutes": 1440}], [{"minutes": 0.5, "kind": "gate", "folder": "~/x"}]],
        [
            [{}],
            [{"kind": "edit"}],
            [{"minutes": 0}],
            [{"minutes": 1441}],
            [{"minutes": 1, "kind": "trust"}],
            [{"minutes": 1, "folder": "shop"}],
            [{"minutes": 1, "folder": ""}],
            [{"minutes": 1, "when": 1}],
            {},
        ],
    ),
    ("limits.command_seconds", [1, 86_400], [0, 86_401]),
    ("limits.max_turns", [1, 10_000], [0, 10_001, True]),
    ("limits.repeats_noted", [0, 1_000], [-1, 1_001]),
    ("limits.repeats_paused", [0, 1_000], [-1, 1_001]),
    ("pipelines.max_concurrent_workers", [1, 64], [0, 65]),
    ("pipelines.max_workspace_steps", [1, 256], [0, 257]),
    ("pipelines.max_home_steps", [1, 256], [0, 257]),
    ("retention.sealed_days", [0, 36_500], [-1, 36_501]),
    ("sessions.watch", [True, False], ["yes", 1]),
    ("sessions.leave_out", [[], ["codex", "~/private/*"]], ["codex", [3], [""]]),
    ("sessions.keep_imported_days", [0, 36_500], [-1, 36_501]),
    ("output_format", ["human", "json"], ["xml", "yaml", "text", "JSON", "", 1]),
    ("default_model", ["m", None], ["", " ", 5, "a\nb", "a\u202eb", "x" * 4097]),
    ("approvals.read_only", ["ask", "auto"], ["yes"]),
    ("approvals.sandboxed", ["ask", "auto"], ["yes", True]),
    (
        "approvals.allow",
        [["Read"], [{"pattern": "Bash(x)", "where": "outside"}, "Read"]],
        [
            "Read",
            [3],
            [{"pattern": ""}],
            [{"where": "outside"}],
            [{"pattern": "x", "where": "up"}],
            [{"text": "x"}],
        ],
    ),
    ("sandbox.level", ["read-only", "workspace", "outside"], ["all", None, 1]),
    ("sandbox.visible", [[], ["~/x", "/srv/x"]], ["~/x", ["x"], [""]]),
    ("sandbox.backend", ["auto", "landlock", "none"], ["bubblewrap"]),
    ("approvals.on_expiry", ["pause", "continue"], ["deny"]),
    ("approvals.require_seen", [True, False], ["true", 1]),
    ("approvals.single_press", ["off", "edits"], ["all", True]),
    ("ui.motion", ["normal", "none"], ["slow"]),
    ("ui.glyphs", ["auto", "unicode", "ascii"], ["emoji"]),
    ("ui.notify.desktop", ["off", "away", "always"], [True]),
    ("ui.keymap", [{}, {"queue.approve": "a"}], [{"a": 1}, {"": "a"}, ["a"]]),
    ("approvals.deny", [[], ["Bash(git push*)"]], ["x", [3], [""], ["a\u200bb"]]),
    (
        "fetch.allowed_hosts",
        [["a.example", "b_c.example", "[::1]"]],
        [["a b"], ["*.b.example"], ["http://a"]],
    ),
    (
        "hooks.PreToolUse",
        [[], [{"matcher": "*", "command": "x"}]],
        [[{"matcher": "*"}], [{"command": "x"}], {}],
    ),
    (
        "hooks.PostToolUse",
        [[{"matcher": "*", "command": "x"}]],
        [[{"matcher": "*", "command": "x", "when": 1}]],
    ),
    ("providers.p.kind", ["recorded", "ollama", "anthropic"], ["claude", "azure", "chatbot", None]),
    (
        "providers.ollama.base_url",
        ["http://h", "https://h:8080/v1", "http://[::1]:1"],
        ["h:11434", "ftp://h", "http://"],
    ),
    (
        "providers.ollama.base_url",
        ["http://127.0.0.1"],
        ["http://h:99999", "http://u:p@h", "http://h?a=b", "http://a b"],
    ),
    ("providers.ollama.key_env", ["OPENAI_API_KEY"], ["a b", "sk-fake", "1A"]),
    ("providers.ollama.num_ctx", [256, 32_768], [255, 1.5]),
    ("providers.ollama.thinking_tokens", [0, 4_096], [-1, True, "many"]),
    ("providers.ollama.api_version", ["2024-10-21", "preview"], ["", "a b", "x?y=1"]),
    ("providers.ollama.headers", [{"X-Team": "a"}], [{"X Team": "a"}, {"X": "a\r\nB: c"}]),
    (
        "providers.ollama.prices",
        [{"input_per_million": 0, "output_per_million": 2.5}],
        [{"input_per_million": 1}],
    ),
    (
        "prices",
        [{}, {"m": {"input_per_million": 1, "output_per_million": 2, "cache_read_per_million": 0}}],
        [
            {"m": 1},
            {"m": {"input_per_million": 1}},
            {"m": {"input_per_million": -1, "output_per_million": 1}},
        ],
    ),
    ("limits.tokens.session", [0, 5_000_000], [-1, 1.5, "many"]),
    ("limits.cost.day", [0, 0.5, 25], [-0.1, "much"]),
]
GOOD = [(path, value) for path, values, _ in BOUNDS for value in values]
BAD = [(path, value) for path, _, values in BOUNDS for value in values]


@pytest.mark.spec(40, 41, 42, 43)
@each_row(("path", "value"), GOOD)
def test_accepted(tmp_path: Path, path: str, value: object):
    result = read(tmp_path, at(path, value))
    assert result.problems == ()


@pytest.mark.spec(39, 40, 41, 42, 43, 90)
@each_row(("path", "value"), BAD)
def test_refused_and_named(tmp_path: Path, path: str, value: object):
    result = read(tmp_path, at(path, value))
    assert path in result.problems[0].key or result.problems[0].key == path.rsplit(".", 1)[0]
    assert result.problems[0].line == 1 or path == "providers.p.kind"
    is_strict = path.startswith(("approvals.deny", "hooks.", "sessions.leave_out"))
    assert result.is_usable is not is_strict


def test_a_bad_value_leaves_the_default_and_says_so(tmp_path: Path):
    result = read(tmp_path, '{"approvals": {\n  "window_minutes": "soon"}}')
    assert result.config.approvals.window_minutes == 15
    assert result.problems == (
        Problem(
            file=str(tmp_path / "config.json"),
            line=2,
            column=21,
            key="approvals.window_minutes",
            message='"approvals.window_minutes" must be a number of minutes greater than 0, at most 1440, is "soon".',
            remedy="The default (15) is used.",
            severity="warning",
            fatal=False,
        ),
    )
    place = f"{tmp_path / 'config.json'} line 2"
    assert str(result.problems[0]).startswith(f'{place}: "approvals.window_minutes" must be')


def test_a_bad_variable_leaves_what_the_file_says(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"limits": {"max_turns": 7}}')
    result = load_config(
        tmp_path, None, trusted=False, env={"WORKBENCH_LIMITS_MAX_TURNS": "many"}, options={}
    )
    (problem,) = result.problems
    assert result.config.limits.max_turns == 7
    assert (problem.file, problem.line) == ("WORKBENCH_LIMITS_MAX_TURNS", 0)
    assert problem.remedy == f"The value of {tmp_path / 'config.json'} line 1 is used."


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("default_modle", "default_model"),
        ("approvals.denny", "approvals.deny"),
        ("aprovals", "approvals"),
        ("window_minutes", "approvals.window_minutes"),
        ("limits.window_minute", "approvals.window_minutes"),
        ("ui.notify.bel", "ui.notify.bell"),
        ("providers.p.base_urll", "base_url"),
        ("hooks.PreToolUsed", "hooks.PreToolUse"),
        ("provider", "providers"),
    ],
)
def test_an_unknown_key_is_fatal_and_names_the_nearest(tmp_path: Path, path: str, nearest: str):
    result = read(tmp_path, json.dumps(at(path, 1), indent=1))
    problem = result.problems[0]
    assert (problem.key, problem.line, problem.fatal) == (path, path.count(".") + 2, True)
    assert problem.remedy == f"The nearest known key is {nearest}."


def test_a_key_like_nothing_has_a_remedy_too(tmp_path: Path):
    (problem,) = read(tmp_path, {"zzzzqqqq": 1}).problems
    assert problem.remedy == "workbench config show lists every key."


@pytest.mark.parametrize("name", ["api_key", "token"])
def test_a_key_in_a_file_is_refused_and_never_repeated(tmp_path: Path, name: str):
    problem = read(tmp_path, {"providers": {"ollama": {name: "FAKE-key-0000"}}}).problems[0]
    assert problem.fatal
    assert "key_env" in problem.remedy
    assert "FAKE" not in str(problem)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("key_env", "FAKE secret words"),
        ("headers", {"X": ["FAKE"]}),
        ("model", ["ghp_FAKEfakeFAKEfakeFAKEfakeFAKEfake0000"]),
        ("base_url", "http://u:FAKEpass@host"),
    ],
)
def test_complaints_do_not_repeat_secrets(tmp_path: Path, field: str, value: object):
    result = read(tmp_path, {"providers": {"ollama": {field: value}}})
    assert result.problems
    assert "FAKE" not in " ".join(map(str, result.problems))


def test_all_problems_are_listed_at_once(tmp_path: Path):
    result = read(
        tmp_path,
        {"output_format": "xml", "api_timeout_seconds": 1, "limits": 3, "ui": {"theme": ""}, "providers": []},
    )
    assert [problem.key for problem in result.problems] == [
        "output_format",
        "api_timeout_seconds",
        "limits",
        "ui.theme",
        "providers",
    ]


@pytest.mark.parametrize(
    ("section", "is_usable"), [("approvals", False), ("hooks", False), ("limits", True), ("ui", True)]
)
def test_a_section_that_is_no_object(tmp_path: Path, section: str, is_usable: bool):
    result = read(tmp_path, {section: []})
    assert [problem.key for problem in result.problems] == [section]
    assert result.is_usable is is_usable


@pytest.mark.spec(52)
@pytest.mark.parametrize(
    "change",
    [
        {"description": ""},
        {"id": ""},
        {"tool_name": 3},
        {"param_pattern": None},
        {"use_count": -1},
        {"created_at": "x"},
    ],
)
def test_a_rule_that_is_incomplete_is_not_used(tmp_path: Path, change: dict[str, object]):
    rule: dict[str, object] = {"id": "1", "tool_name": "t", "param_pattern": "p", "description": "d"}
    result = read(tmp_path, {"auto_approval_rules": [rule | change]})
    (problem,) = result.problems
    assert result.config.auto_approval_rules == ()
    assert f'"auto_approval_rules[0].{next(iter(change))}" must be' in problem.message
    assert problem.remedy == "None is used."


def test_a_rule_id_that_is_there_twice_counts_once(tmp_path: Path):
    rule = {"id": "1", "tool_name": "t", "param_pattern": "p", "description": "d"}
    result = read(tmp_path, {"auto_approval_rules": [rule, rule | {"description": "other"}]})
    assert [one.description for one in result.config.auto_approval_rules] == ["d"]
    assert [problem.message for problem in result.problems] == [
        "The rule 1 is there twice; the second is not used."
    ]


@pytest.mark.spec(90)
@pytest.mark.parametrize("missing", ["matcher", "command"])
def test_a_hook_without_one_of_both_is_fatal(tmp_path: Path, missing: str):
    hook = {"matcher": "*", "command": "x"}
    del hook[missing]
    (problem,) = read(tmp_path, {"hooks": {"PreToolUse": [hook]}}).problems
    assert problem.fatal
    assert f'"{missing}"' in problem.message


@pytest.mark.parametrize(
    ("name", "fields", "reason"),
    [
        ("p", {"model": "m"}, "it has no kind."),
        ("p", {"kind": "openai-compatible"}, "it has no base_url."),
        ("openai-compatible", {"model": "m"}, "it has no base_url."),
        ("ollama", {"key_env": "A", "key_command": "b"}, "it has both key_env and key_command."),
    ],
)
def test_a_provider_whose_fields_do_not_go_together_is_left_out(
    tmp_path: Path, name: str, fields: dict[str, object], reason: str
):
    result = read(tmp_path, {"providers": {name: fields}})
    assert result.config.providers == {}
    assert [problem.message for problem in result.problems] == [
        f"The provider {name} cannot be used: {reason}"
    ]


@pytest.mark.parametrize("name", ["", "a.b", "a b", "-a", "x" * 65])
def test_a_provider_has_a_plain_name(tmp_path: Path, name: str):
    result = read(tmp_path, {"providers": {name: {"kind": "ollama"}}})
    assert result.config.providers == {}
    assert len(result.problems) == 1


def test_a_default_provider_that_does_not_exist_is_named(tmp_path: Path):
    (problem,) = read(tmp_path, {"default_provider": "nope", "providers": {"ollama": {}}}).problems
    assert (problem.key, problem.remedy) == ("default_provider", "There are: ollama.")


def test_no_file_of_any_shape_raises(tmp_path: Path):
    shapes: list[object] = [None, True, 5, "x", [], {}, [[]], {"a": {"b": []}}]
    names = [
        "approvals",
        "approvals.deny",
        "hooks.PreToolUse",
        "providers",
        "providers.p",
        "ui.keymap",
        "ui.notify",
    ]
    for path in [
        *names,
        "providers.p.prices",
        "providers.p.headers",
        "auto_approval_rules",
        "config_version",
    ]:
        for shape in shapes:
            assert read(tmp_path, at(path, shape)).config.config_version == 1


def test_an_unknown_key_is_reported_at_the_key_and_cut(tmp_path: Path):
    result = read(tmp_path, '{"%s":\n  5}' % ("x" * 200))
    (problem,) = result.problems
    assert (problem.line, problem.column, problem.fatal) == (1, 2, True)
    assert problem.key == "x" * 79 + "…"


def test_a_problem_without_a_line_has_none_in_json(tmp_path: Path):
    result = read(tmp_path, '{"default_provider": "gone"}')
    assert [(p.severity, p.fatal) for p in result.problems] == [("warning", False)] and result.is_usable
    assert [problem_json(p)["line"] for p in result.problems] == [1]
    wrong = load_config(tmp_path, None, trusted=False, env={"WORKBENCH_LIMITS_MAX_TURNS": "x"}, options={})
    assert problem_json(wrong.problems[0])["line"] is None
