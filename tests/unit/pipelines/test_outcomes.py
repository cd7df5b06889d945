"""Outcomes: links to what came of a run, found in what its steps left."""

import json

import pytest

from tests.unit.pipelines.projects import command, project
from workbench.cli.pipeline_output import outcome_lines, run_report_json
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.outcomes import NoOutcome, is_web_address, values_at

PR = "https://code.example/org/repo/pull/42"


def step(result, outcomes, *, name="a", artifact=True, more=""):
    text = json.dumps(result) if not isinstance(result, str) else result
    kept = "  output_artifacts: [{name: r, path: .agents/output/r.json}]\n" if artifact else ""
    return (
        f"- id: {name}\n  exec:\n    type: command\n    source: |\n      mkdir -p .agents/output\n"
        f"      cat > .agents/output/r.json <<'END'\n      {text}\n      END\n{kept}  outcomes:\n"
        + "".join(f"    - {line}\n" for line in outcomes)
        + more
    )


def links(here, run, name="a"):
    return [link for s, b in here.bodies(run, "step.changed") if s == name for link in b.links]


def told(here, run, name="a"):
    return here.step(run, name).error_message


ENVIRONMENTS = {
    "envs": [{"name": "one", "url": "https://one.example"}, {"name": "two", "url": "https://two.example"}]
}
FOUND = [
    ({"pr_url": PR}, ["{type: pr, extract_from: .agents/output/r.json, json_path: .pr_url, label: Pull Request}"], [("Pull Request", "address", PR)]),
    ({"pr_url": PR}, ["{type: pr, extract_from: r, json_path: pr_url}"], [("Pull request", "address", PR)]),
    ({"a": [{"u": PR}]}, ["{type: url, extract_from: r, json_path: '.a[0].u'}"], [("Link", "address", PR)]),
    (ENVIRONMENTS, ["{type: deployment, extract_from: r, json_path: '.envs[*].url', json_path_label: .name, label: At}"],
     [("At: one", "address", "https://one.example"), ("At: two", "address", "https://two.example")]),
    (ENVIRONMENTS, ["{type: url, extract_from: r, json_path: '.envs[*].url', json_path_label: '.envs[*].name'}"],
     [("Link: one", "address", "https://one.example"), ("Link: two", "address", "https://two.example")]),
    (ENVIRONMENTS, ["{type: url, extract_from: r, json_path: '.envs[].url', json_path_label: '.envs[].name'}"],
     [("Link: one", "address", "https://one.example"), ("Link: two", "address", "https://two.example")]),
    ({"n": 7, "b": "feat/x"}, ["{type: branch, extract_from: r, json_path: .b}", "{type: number, extract_from: r, json_path: .n}"],
     [("branch", "text", "feat/x"), ("number", "text", "7")]),
    ({}, ["{type: file, extract_from: .agents/output/r.json, label: Report}"], [("Report", "file", ".agents/output/r.json")]),
    ('Here: {"pr_url": "' + PR + '",}', ["{type: pr, extract_from: r, json_path: .pr_url}"], [("Pull request", "address", PR)]),
]  # fmt: skip


@pytest.mark.parametrize(("result", "outcomes", "found"), FOUND, ids=range(len(FOUND)))
@pytest.mark.parametrize("artifact", [True, False])
def test_links_are_found_where_real_files_have_them(runs, result, outcomes, found, artifact):
    here = runs()
    if not artifact:
        outcomes = [
            line.replace("extract_from: r,", "extract_from: .agents/output/r.json,") for line in outcomes
        ]
    row = here.run(step(result, outcomes, artifact=artifact))
    assert row.status == "completed", row.error_message
    assert [(link.label, link.kind, link.target) for link in links(here, row.pipeline_id)] == found
    here.check()


MISSING = [
    ({"pr_url": "javascript:alert(1)"}, "pr", ".pr_url", "is not an http or https address"),
    ({"pr_url": "file:///etc/passwd"}, "url", ".pr_url", "is not an http or https address"),
    ({"pr_url": "https://user:pw@code.example/x"}, "pr", ".pr_url", "is not an http or https address"),
    ({"pr_url": "https://code.example/?token=ghp_" + "a1B2" * 9}, "pr", ".pr_url", "looks like a secret"),
    ({"other": 1}, "pr", ".pr_url", "there is nothing at .pr_url"),
    ({"pr_url": {"a": 1}}, "pr", ".pr_url", "neither a text nor a number"),
    ("no JSON", "pr", ".pr_url", "is not JSON"),
    ({"pr_url": PR}, "pr", "'.pr_url | first'", "there is nothing at .pr_url | first"),
    ({"pr_url": PR}, "pr", "'..pr_url'", "..pr_url is not a path such as"),
]


@pytest.mark.parametrize(("result", "kind", "path", "why"), MISSING)
def test_what_is_no_link_is_said_and_fails_nothing(runs, result, kind, path, why):
    here = runs()
    row = here.run(step(result, [f"{{type: {kind}, extract_from: r, json_path: {path}}}"]))
    assert (row.status, links(here, row.pipeline_id)) == ("completed", [])
    details = " ".join(b.detail for _, b in here.bodies(row.pipeline_id, "step.changed"))
    assert why in details and "ghp_" not in details
    assert not here.step(row.pipeline_id, "a").is_warned


def test_a_file_that_is_not_there_or_outside_is_no_link(runs):
    here = runs()
    outcomes = ["{type: file, extract_from: gone.md}", "{type: artifact, extract_from: ../../x}"]
    row = here.run(step({}, outcomes))
    assert row.status == "completed" and not links(here, row.pipeline_id)


def test_links_are_told_at_the_end_and_a_run_below_hands_its_links_up(runs):
    here = runs()
    one = "{type: pr, extract_from: r, json_path: .u, label: 'PR \x1b[31m'}".replace("\x1b", "\\e")
    here.pipeline(step({"u": PR}, [one.replace("'PR", '"PR').replace("m'", 'm"')]), name="pipelines/below")
    row = here.run("- {id: a, pipeline: below}\n" + command("b", dependencies="[a]"))
    assert row.status == "completed", row.error_message
    (line,) = outcome_lines(here.journal, row.pipeline_id)
    assert line.endswith(PR) and "\x1b" not in line
    report = run_report_json(here.journal, row, ())
    assert [(found["step_id"], found["type"], found["target"]) for found in report["outcomes"]] == [
        ("a", "pr", PR)
    ]


def test_a_later_attempt_replaces_the_links_of_an_earlier_one(runs):
    here = runs()
    outcome = ["{type: pr, extract_from: r, json_path: .u}"]
    steps = step({"u": PR}, outcome) + command(
        "t", "test -e again || { touch again; exit 1; }", workspace="{root: ./}", dependencies="[a]"
    )
    steps += "- id: g\n  type: conditional\n  dependencies: [t]\n  edges: [{target: _complete, condition: outcome=success}, {target: a}]\n"
    row = here.run(steps)
    assert row.status == "completed", row.error_message
    assert len(outcome_lines(here.journal, row.pipeline_id)) == 1


WRONG = [
    ("[{type: pr, extract_from: r}]", "missing_field"),
    ("[{type: pr, json_path: .a}]", "missing_field"),
    ("[{extract_from: r, json_path: .a}]", "missing_field"),
    ("[{type: pr, extract_from: r, json_path: 'a b[x'}]", "wrong_value"),
    ("[{type: pr, extract_from: '{{ gone/r }}', json_path: .a}]", "unresolved_template"),
    ("[{type: [pr], extract_from: r, json_path: .a}]", "wrong_type"),
    ("[{type: pr, extract_from: r, json_path: .a, label: {a: 1}}]", "wrong_type"),
    ("[pr]", "wrong_type"),
    ("pr", "wrong_type"),
    ("[{type: file, extract_from: r}]", None),
]


@pytest.mark.parametrize(("outcomes", "code"), WRONG)
def test_what_is_wrong_with_an_outcome_is_a_warning_and_stops_no_run(tmp_path, outcomes, code):
    report = load_pipeline(project(tmp_path, command("a", outcomes=outcomes))).report
    assert ({problem.code for problem in report.found} or {None}) >= {code}
    assert report.strict().is_ok is (code is None) and report.is_runnable


@pytest.mark.parametrize("outcomes", [outcomes for outcomes, _ in WRONG[:5]])
def test_a_step_with_an_outcome_that_is_wrong_completes(runs, outcomes):
    assert runs().run(command("a", outcomes=outcomes)).status == "completed"


@pytest.mark.parametrize(
    ("text", "is_link"),
    [
        (PR, True), ("http://localhost:8080/x", True), ("https://code.example", True), ("https://", False),
        ("ftp://code.example", False), ("//code.example", False), ("https://code.example/ x", False),
        ("https://code.example/\x1b[31m", False), ("https://c\u043ede.example", False), ("", False),
        ("https://code.example:99999/", False), ("https://code.example/" + "a" * 2_000, False),
        ('https://code.example/"x', False),
    ],
)  # fmt: skip
def test_which_addresses_may_be_shown(text, is_link):
    assert is_web_address(text) is is_link


def test_a_path_goes_through_lists_and_no_further_than_there_is_something():
    assert values_at({"a": {"b": [1, 2]}}, "$.a.b[*]") == [(1, 1), (2, 2)]
    assert values_at({"a": None}, ".a") == values_at([], "[3]") == values_at({"a": "x"}, ".a.b") == []
    with pytest.raises(NoOutcome):
        values_at({}, "..")
