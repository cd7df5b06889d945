"""Measure incidents: a large SARIF log read, and what one incident takes beyond the model and the checker.

    python -m benchmarks.incidents [--mb N] [--count N] [--files N]

The log is read in a process of its own: ≤ 400 MB of memory for 100 MB, and progress is told. Incidents are
worked off with a recorded agent in a project of `--files` files; each change is allowed by a pattern, and
ruff runs after it: ≤ 50 ms of time beside the turn and ruff. Exits with 1 if one fails.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workbench.domain.events import IncidentChecked, IncidentEnded, TurnEnded, TurnStarted
from workbench.domain.incidents import IncidentOptions
from workbench.domain.values import Actor
from workbench.effects.files import Root
from workbench.formats.findings.read import read_findings
from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.incident_driver import IncidentDriverOptions, drive_incidents
from workbench.host.incident_requests import (
    list_incidents,
    listed_incidents,
    read_findings_file,
    request_incidents,
)
from workbench.host.session_provider import provider_of
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock

USER = Actor(kind="user", pid=1, via="cli")
MOST_MEMORY, MOST_MS = 400, 50
CHECKER = "ruff check --isolated --no-cache --select F401 --output-format json"


def sarif(path, megabytes):
    """Write a log of some size; return how many results it has."""
    rules = [{"id": f"R{n}", "shortDescription": {"text": f"rule {n}"}} for n in range(200)]
    head = json.dumps({"tool": {"driver": {"name": "lint", "rules": rules}}})
    count = 0
    with path.open("w") as file:
        file.write(f'{{"version": "2.1.0", "runs": [{head[:-1]}, "results": [')
        while file.tell() < megabytes * 1_000_000:
            place = {
                "artifactLocation": {"uri": f"src/m{count % 500}.py"},
                "region": {"startLine": count % 90 + 1},
            }
            result = {
                "ruleId": f"R{count % 200}", "message": {"text": f"finding {count} in a long function"},
                "locations": [{"physicalLocation": place}], "codeFlows": [{"threadFlows": ["step"] * 20}],
            }  # fmt: skip
            file.write(("," if count else "") + json.dumps(result))
            count += 1
        file.write("]}]}")
    return count


def read_here(path, workspace):
    """Read a log and print what it took."""
    told, began = [], time.perf_counter()
    found = read_findings_file(path, workspace, on_progress=lambda done, _: told.append(done))
    took = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"s": took, "MB": memory, "listed": len(found.incidents), "told": len(told)}))


def measure_reading(folder, megabytes):
    """Read a log in a process of its own; return whether it kept its bounds."""
    path, project = folder / "log.sarif", folder / "read"
    project.mkdir()
    (project / "src").mkdir()
    for number in range(500):
        (project / f"src/m{number}.py").write_text("x = 1\n" * 100)
    count = sarif(path, megabytes)
    words = [sys.executable, "-m", "benchmarks.incidents", "--read", str(path), "--in", str(project)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    is_kept = told["MB"] <= MOST_MEMORY * max(1, megabytes / 100) and told["told"] > 0
    print(
        f"SARIF of {megabytes} MB, {count:,} results: {told['s']:.1f} s, {told['MB']:.0f} MB of memory "
        f"(≤ {MOST_MEMORY}), {told['listed']:,} listed, progress told {told['told']} times"
    )
    return is_kept


def project_of(folder, count, files):
    """Make a project with faults, and an agent that fixes one after the other."""
    project = (folder / "project").resolve()
    project.mkdir()
    exchanges = []
    for number in range(files):
        (project / f"m{number}.py").write_text(f"x = {number}\n" * 50)
    for number in range(count):
        path = f"m{number // 4}.py"
        if number % 4 == 0:
            imports = "".join(f"import os{n}\n" for n in range(number, number + 4))
            (project / path).write_text(imports + "x = 1\n" * 50)
        edit = {"path": path, "old_string": f"import os{number}\n", "new_string": ""}
        call = {"id": f"c{number}", "name": "replace_string_in_file", "arguments": edit}
        exchanges += [
            {"when": {"prompt_contains": f"`os{number}` imported"}, "reply": [{"tool_call": call}]},
            {"when": {"tool_result": {"id": f"c{number}"}}, "reply": [{"text": "Done."}]},
        ]  # fmt: skip
    recording = folder / "recording.json"
    recording.write_text(json.dumps({"recording": 1, "model": "m", "exchanges": exchanges}))
    return project, recording


def measure_work(folder, count, files):
    """Work incidents off; return whether each took little beyond model and checker."""
    project, recording = project_of(folder, count, files)
    home = Home.open(folder / "home")
    (home.path / "config.json").write_text(
        json.dumps({"config_version": 1, "approvals": {"allow": ["Edit"]}})
    )
    printed = subprocess.run(["sh", "-c", CHECKER], cwd=project, capture_output=True, check=False).stdout
    with Journal.open(home) as journal, Root(project) as root:
        findings = read_findings(printed, root)
        context = open_driver_context(
            home, journal, str(project), provider=provider_of, pipelines=SessionPipelineStarter
        )
        with DriverLock(journal, driver_identity(journal, str(project), "run")) as lock:
            list_id = list_incidents(
                journal, str(project), findings, source="ruff", actor=USER, checker=CHECKER,
                driver=lock.driver,
            )  # fmt: skip
            ids = [incident.id for incident in listed_incidents(journal, list_id)]
            options = IncidentOptions(recording=str(recording))
            request_incidents(journal, list_id, ids, options, USER)
            began, used = time.perf_counter(), time.process_time()
            work = IncidentDriverOptions(context=context, driver=lock.driver)
            asyncio.run(drive_incidents(work, list_id))
            took, used = time.perf_counter() - began, time.process_time() - used
        events = journal.events(list_id)
        checked = sum(e.body.duration_ms for e in events if isinstance(e.body, IncidentChecked))
        ended = [e.body for e in events if isinstance(e.body, IncidentEnded)]
        turns = sum(turn_ms(journal.events(child.id)) for child in journal.sessions(parent_id=list_id))
    each = (took * 1000 - checked - turns) / max(1, len(ended))
    outcomes = ", ".join(sorted({body.outcome for body in ended}))
    print(
        f"{len(ended)} incidents in {files} files: {each:.1f} ms each beyond turn and checker (≤ {MOST_MS}); "
        f"turn {turns / len(ended):.1f} ms, checker {checked / len(ended):.1f} ms each; "
        f"processor time of all but the checker {used * 1000 / len(ended):.1f} ms; {outcomes}"
    )
    return each <= MOST_MS


def turn_ms(events):
    """Return how long the turns of a session took: the model, the gate, the change."""
    starts = {}
    total = 0.0
    for event in events:
        if isinstance(event.body, TurnStarted):
            starts.setdefault(event.turn_id, event.at)
        elif isinstance(event.body, TurnEnded):
            total += (event.at - starts[event.turn_id]) / 1000
    return total


def main():
    """Measure both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--read")
    parser.add_argument("--in", dest="project")
    options = parser.parse_args()
    if options.read:
        read_here(options.read, options.project)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = [measure_reading(folder, options.mb), measure_work(folder, options.count, options.files)]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
