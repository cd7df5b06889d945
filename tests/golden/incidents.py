"""A golden list of incidents: fixed, asked about again, a rejected hunk, an expiry, a dismissal, a missing file, a cancel.

Owns the stage of lists, the checker of the shop, the recording, and what the human does.
"""

import asyncio
import json

from msgspec.structs import replace

from tests.golden.scenario import golden
from tests.golden.staging import END, ENVIRONMENT, GONE, Scene
from tests.golden.words import edit, exchange, prompt, result, said
from tests.support.stage import provider_maker_with_sleep
from tests.support.waits import PATIENCE
from workbench.domain.incidents import IncidentOptions
from workbench.effects.files import Root
from workbench.formats.findings.read import read_findings
from workbench.host import incident_requests
from workbench.host.driver_context import open_driver_context
from workbench.host.incident_driver import IncidentDriverOptions, drive_incidents
from workbench.host.steps.pipeline_tool import SessionPipelineStarter

LINT = r"""#!/bin/sh
# Says of each old name in the report and its page what is wrong with it, as S2 incidents.
printf '['
grep -n -o 'old_[a-z]*' src/shop/report.py docs/report.md | {
    comma=''
    while IFS=: read -r file line name; do
        printf '%s\n  {"rule_id": "old-name", "file_path": "%s", "line_number": %s, "severity": "warning",' \
            "$comma" "$file" "$line"
        printf ' "description": "Names that are no longer there", "message": "%s is gone", "category": "names"}' "$name"
        comma=','
    done
}
printf '\n]\n'
"""
REPORT = '''\
"""Sums up the day of the shop."""

import old_json
import old_maths


def total(carts):
    return old_sum(cart.price for cart in carts)


def newest(carts):
    """Return the cart that was changed last."""
    return max(carts, key=lambda cart: cart.changed)


def mean(carts):
    return total(carts) / len(carts)
'''
PAGE = "# Report\n\nold_cart is what the day began with.\nold_shop is where it was sold.\n"
FOUND = [
    ("src/shop/report.py", 3, "old_json"), ("src/shop/report.py", 4, "old_maths"), ("src/shop/report.py", 8, "old_sum"),
    ("docs/report.md", 3, "old_cart"), ("docs/report.md", 4, "old_shop"), ("src/shop/gone.py", 1, "old_gone"),
]  # fmt: skip


def found():
    """Return what the shop's linter wrote yesterday: one of its files is gone since."""
    return json.dumps([
        {
            "id": f"shop-{number}", "rule_id": "old-name", "file_path": path, "line_number": line, "severity": "warning",
            "description": "Names that are no longer there", "message": f"{name} is gone", "category": "names",
        }
        for number, (path, line, name) in enumerate(FOUND, 1)
    ]).encode()  # fmt: skip


class IncidentScene(Scene):
    """One making of a golden list; it is given back whenever it waits for its human."""

    def begin_list(self, *ids, after=0, **options):
        self.passes(after)
        with Root(self.workspace) as root:
            findings = read_findings(found(), root)
        self.session_id = incident_requests.list_incidents(
            self.journal,
            str(self.workspace),
            findings,
            source="found.json",
            actor=self.user,
            checker="sh scripts/lint.sh",
        )
        return self

    def ask(self, *ids, after=4):
        self.passes(after)
        options = IncidentOptions(recording=str(self.recording), max_turns=2)
        incident_requests.request_incidents(self.journal, self.session_id, ids, options, self.user)
        return self

    def dismiss(self, key, reason, after=9):
        self.passes(after)
        incident_requests.dismiss_incidents(self.journal, self.session_id, [key], reason, self.user)
        return self

    def go_on(self, after=30):
        self.passes(after)
        incident_requests.continue_incidents(self.journal, self.session_id, self.user)
        return self

    def cancel(self, reason, after=12):
        self.passes(after)
        incident_requests.cancel_incidents(self.journal, self.session_id, reason, self.user)
        return self

    def waiting(self, target=None):
        children = self.journal.sessions(parent_id=self.session_id, kinds=("step",))
        keys = (self.session_id, *(child.id for child in children))
        every = [action for key in keys for action in self.journal.actions(key, states=("pending",))]
        return [action for action in every if target is None or target in action.target]

    async def _driving(self, driver, turns):
        context = open_driver_context(
            self.home, self.journal, str(self.workspace), provider=provider_maker_with_sleep(self._sleep),
            pipelines=SessionPipelineStarter, sleep=self._sleep,
        )  # fmt: skip
        try:
            context = replace(context, environment={**ENVIRONMENT, "PWD": str(self.workspace)})
            options = IncidentDriverOptions(context=context, driver=driver, parks=True)
            await asyncio.wait_for(drive_incidents(options, self.session_id), PATIENCE)
        finally:
            context.root.close()
        if turns.wish not in (END, GONE):
            turns.wish = next(self._human, END)


@golden("lint-fixes", [
    exchange(said("That module is the standard one now."),
             edit("c1", "src/shop/report.py", "import old_json\n", "import json\n"), tokens=(510, 40), when=prompt("old_json")),
    exchange(said("Done."), tokens=(560, 4), when=result("c1", "succeeded")),
    exchange(said("A letter too many."), edit("c2", "src/shop/report.py", "import old_maths\n", "import old_math\n"),
             tokens=(640, 38), when=prompt("old_maths is gone\n\nPlease analyze")),
    exchange(said("Done."), tokens=(690, 4), when=result("c2", "succeeded")),
    exchange(said("The checker is right: the old one is gone as well."),
             edit("c3", "src/shop/report.py", "import old_math\n", "import math\n"), tokens=(760, 41), when=prompt("still finds")),
    exchange(said("Done."), tokens=(810, 4), when=result("c3", "succeeded")),
    exchange(
        said("Two places at once."),
        edit("c4", "src/shop/report.py", REPORT[REPORT.index("    return old_sum"):],
             REPORT[REPORT.index("    return old_sum"):].replace("old_sum", "sum").replace(
                 "total(carts) / len(carts)", "total(carts) / max(1, len(carts))")),
        tokens=(900, 160), when=prompt("old_sum"),
    ),
    exchange(said("Then the sum stays as it is."), tokens=(990, 9), when=result("c4", "partial")),
    exchange(edit("c5", "docs/report.md", "old_shop", "the shop"), tokens=(430, 30), when=prompt("old_shop")),
    exchange(said("Nobody answered."), tokens=(480, 5), when=result("c5", "expired")),
], files={"scripts/lint.sh": LINT, "src/shop/report.py": REPORT, "docs/report.md": PAGE}, stage=IncidentScene)  # fmt: skip
def lint_fixes(scene):
    scene.begin_list()
    scene.dismiss("shop-4", "it is the name of a book")
    scene.ask(*(f"shop-{number}" for number in range(1, 7)))
    yield
    scene.approve(after=7)
    yield
    scene.approve(after=5)
    yield
    scene.approve(after=9)
    yield
    scene.approve(after=20, hunks=[2], reason="sum has another meaning here")
    yield
    scene.passes(20 * 60)
    yield
    scene.go_on(after=90)
    yield
    scene.ask("shop-5")
    yield
    scene.cancel("the page is written anew next week")
    yield
