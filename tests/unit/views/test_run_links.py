"""What came of a run and what was said of its contracts, as pages and titles show it."""

from tests.unit.views.making import event
from tests.unit.views.test_pipeline import PLANS, RUN, row
from tests.unit.views.test_step_page import page, section
from workbench.domain.events import ArtifactStored, ContractChecked, StepChanged
from workbench.domain.values import RunLink
from workbench.render.glyphs import Glyphs
from workbench.render.pipeline import run_title_facts
from workbench.render.theme import OWN_THEMES_256, Ink
from workbench.views.pipeline import pipeline_run, step_links

PR = RunLink(type="pr", label="Pull Request", kind="address", target="https://code.example/pull/1")
REPORT = RunLink(type="file", label="Report", kind="file", target="out/report.md")


def done(*links, attempt=1):
    return StepChanged(state="completed", attempt=attempt, links=links)


def test_the_links_of_the_last_completed_attempt_count():
    bodies = [done(PR), StepChanged(state="running", attempt=2), done(REPORT, attempt=2)]
    assert step_links([event(body, step="a") for body in bodies]) == (REPORT,)
    items = [event(done(PR), step="a[1]"), event(done(PR, REPORT), step="a[2]")]
    assert step_links(items) == (PR, REPORT)
    assert step_links([event(StepChanged(state="failed", links=(PR,)), step="a")]) == ()


def test_a_run_has_each_link_once():
    assert pipeline_run(RUN, PLANS, [], [], 0, links=[PR, REPORT, PR]).links == (PR, REPORT)


def test_the_page_of_a_step_shows_its_links_before_its_artifacts():
    stored = ArtifactStored(name="r", artifact_kind="file", digest="d", path="r.json")
    lines = section(page("api", stored, done(PR), rows=[row("api", "completed")]), "Artifacts").lines
    assert [line.split("   ")[-1] for line in lines] == ["https://code.example/pull/1", "r.json"]


def test_the_contract_says_what_was_repaired_and_what_a_reviewer_said():
    body = ContractChecked(
        contract="agent_review",
        outcome="passed",
        source="o.json",
        repairs=("trailing comma",),
        summary="pass: Fine.",
    )
    lines = section(page("api", body, rows=[row("api", "completed")]), "Contract").lines
    assert lines[1].endswith("repaired before it was checked: trailing comma") and lines[2] == "  pass: Fine."


def test_the_title_of_a_run_names_an_address_before_a_file():
    run = pipeline_run(RUN, PLANS, [], [], 0, links=[PR, REPORT])
    ink = Ink(tokens=OWN_THEMES_256["workbench-light"])
    assert "code.example/pull/1 +1" in run_title_facts(run, None, 160, ink, Glyphs()).plain
    assert "code.example" not in run_title_facts(run, None, 60, ink, Glyphs()).plain
