"""A rule's detail says how its denial is understood."""

from tests.unit.policy.gate_cases import rule
from workbench.policy.denial_senses import sense_facts_by_rule
from workbench.views.rules import rule_rows


def test_the_detail_of_a_denial_has_its_meaning_and_three_commands():
    denied = rule(id="R2", effect="deny", pattern="Bash(git push --force *)")
    senses = sense_facts_by_rule([rule(), denied])
    rows = {
        row.id: row.facts
        for row in rule_rows([rule(), denied], 5, workspace="/", session_id=None, titles={}, senses=senses)
    }
    facts = [fact for fact in rows["R2"] if fact[0] in ("means", "stops")]
    assert facts[0][1].startswith("git push with --force (also -f, --mirror, +BRANCH)")
    assert [text for name, text in facts if name == "stops"] == [
        "git push origin main -f", "git push origin +main", "git push --mirror origin main",
    ]  # fmt: skip
    assert not {"means", "stops"} & {name for name, _ in rows["R1"]}
