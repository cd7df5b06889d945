"""A step in full: what its contract found, what happened in its attempts, what can be done next."""

from msgspec.structs import replace

from tests.support.tables import each_row
from tests.unit.views.making import event
from tests.unit.views.test_pipeline import row, shown
from workbench.domain.events import ArtifactStored, ContractChecked, StepChanged
from workbench.domain.rows import Action
from workbench.views.detail_pages import step_detail
from workbench.views.tools import output_tones


def page(step, *bodies, rows=(), actions=(), is_over=False):
    run, steps = shown(*rows, actions=actions)
    if is_over:
        run = replace(run, finished_at=1)
    events = [event(body, step=step) for body in bodies]
    return step_detail(run, steps[step], events, [], [], lambda _: None)


def section(found, name):
    return next(part for part in found.sections if part.name == name)


def checked(*problems, attempt=1, contract="json_schema"):
    return ContractChecked(
        contract=contract, outcome="failed", source="out.json", problems=problems, attempt=attempt
    )


@each_row(
    ("level", "fact"),
    [
        ("workspace", "runs inside (workspace)"),
        ("read-only", "runs inside (read-only)"),
        ("outside", "runs outside"),
    ],
)
def test_a_step_whose_file_names_a_level_says_where_it_runs(level, fact):
    run, steps = shown(row("api", "completed"))
    found = step_detail(run, replace(steps["api"], sandbox=level), [], [], [], lambda _: None)
    assert found.facts[0] == fact
    assert not [part for part in page("api").facts if "runs" in part]


@each_row(
    ("problem", "expected", "found"),
    [
        ("$.risk: 'some' is not one of ['low', 'high']", "one of ['low', 'high']", "'some'"),
        ("$.pages[3].title: '' is too short", "longer", "''"),
        ("$.n: 'x' is not of type 'integer'", "'integer'", "'x'"),
        ("/links/0: '../a' is not a 'uri'", "'uri'", "'../a'"),
        ("$.n: 3 is less than the minimum of 5", "at least 5", "3"),
        ("$: 'title' is a required property", "'title'", "nothing"),
        ("$.a: it is odd", "it is odd", ""),
    ],
)
def test_a_problem_with_a_value_says_what_was_expected_and_what_was_found(problem, expected, found):
    head, line = section(page("api", checked(problem), rows=[row("api", "failed")]), "Contract").lines[1:3]
    assert head.split() == ["path", "expected", "found"]
    path = problem.partition(": ")[0]
    cells = line.split(maxsplit=2)
    assert cells[:2] == ["×", path]
    assert cells[2].replace(expected, "", 1).strip() == found
    assert line.index(expected) == head.index("expected")


def test_an_earlier_attempt_with_the_same_problems_is_one_line():
    problems = ("$.a: '' is too short", "$.b: '' is too short")
    found = page("api", checked(*problems), checked(*problems, attempt=2), rows=[row("api", "failed")])
    lines = section(found, "Contract").lines
    assert lines[0].startswith("× json_schema   2nd try")
    assert [line for line in lines if "1st try" in line] == [
        "× json_schema   1st try   checked out.json   the same 2 problems"
    ]
    assert sum("too short" in line or "longer" in line for line in lines) == 2


def test_output_of_tests_in_a_contract_is_no_list_of_failures():
    body = checked("it ended with exit code 1", "a.py::test PASSED", "1 failed", contract="test_suite")
    part = section(page("api", body, rows=[row("api", "failed")]), "Contract")
    assert part.lines[1:4] == ("  × it ended with exit code 1", "    a.py::test PASSED", "    1 failed")
    assert part.tones[2] == ((15, 21, "ok"),)


def test_nothing_runs_or_waits_in_the_history_of_what_has_ended():
    states = ("running", "waiting", "running", "completed")
    found = page("api", *(StepChanged(state=state) for state in states), rows=[row("api", "completed")])
    words = [line.split("  ", 2)[2].strip() for line in section(found, "Attempts").lines]
    assert words == ["started", "asked you", "started", "✓ completed"]
    going = page("api", StepChanged(state="running"), rows=[row("api", "running")])
    assert section(going, "Attempts").lines[0].endswith("● running")


def test_signs_have_the_colour_of_what_they_mean():
    rows = [row("tests", "running")]
    rows += [
        row(f"tests[{name}]", state, matrix="tests") for name, state in (("a", "failed"), ("b", "completed"))
    ]
    items = section(page("tests", rows=rows), "Items")
    assert [items.tones[number][0] for number in (0, 1)] == [(0, 1, "failed"), (0, 1, "ok")]


STORED = ArtifactStored(
    name="index", artifact_kind="file", digest="d", path="out/index.json", type="json", size_bytes=1
)
ASKING = Action(
    id="a", session_id="s", kind="gate", state="pending", target="?", digest="d", created_at=0, opened_at=0,
    expires_at=72_000_000,
)  # fmt: skip


@each_row(
    ("step", "rows", "actions", "bodies", "is_over", "keys"),
    [
        ("api", [row("api", "failed")], (), (STORED,), True, "R retry, e open out/index.json, F from here"),
        ("api", [row("api", "failed")], (), (), True, "R retry, F from here"),
        ("api", [row("api", "failed")], (), (STORED,), False, "e open out/index.json"),
        ("api", [row("api", "completed")], (), (STORED,), True, ""),
        ("gate", [row("gate", "waiting", action_id="a")], (ASKING,), (), False, "a answer it here, enter its row"),
        ("api", [row("api", "waiting", action_id="a")], (ASKING,), (), False, "a answer it here, enter its row"),
    ],
)  # fmt: skip
def test_a_page_says_which_keys_go_on_from_there(step, rows, actions, bodies, is_over, keys):
    found = page(step, *bodies, rows=rows, actions=actions, is_over=is_over)
    assert ", ".join(" ".join(pair) for pair in found.keys) == keys
    if actions:
        assert found.title == f"{step} asks you, 1:00 left"


@each_row(
    ("line", "meanings"),
    [
        ("a.py::test_b PASSED  [ 33%]", [("PASSED", "ok")]),
        ("FAILED a.py::test_b - KeyError", [("FAILED", "failed")]),
        ("=== 1 failed, 7 passed, 2 skipped in 3 s ===", [("1 failed", "failed"), ("7 passed", "ok"), ("2 skipped", "muted")]),
        ("0 failed, 3 passed", [("3 passed", "ok")]),
        ("E       assert 1 == 2", [("E       assert 1 == 2", "failed")]),
        ("--- FAIL: TestRouter (0.00s)", [("FAIL", "failed")]),
        ("IS_FAILED = 3", []),
        ("Everything was read.", []),
    ],
)  # fmt: skip
def test_words_of_test_runners_have_their_meaning(line, meanings):
    assert sorted((line[start:end], tone) for start, end, tone in output_tones(line)) == sorted(meanings)
