"""Lists of incidents for tests of place 8: a journal that holds one, as it stands at some moment of the work."""

import msgspec

from tests.tui import stills
from workbench.domain import events as e
from workbench.domain.incidents import Incident, IncidentOptions
from workbench.domain.values import Actor, Choice
from workbench.effects.clock import ManualClock
from workbench.journal.home import Home
from workbench.journal.journal import Journal

USER, HOST = Actor(kind="user"), Actor(kind="host", pid=4000)
LIST = "list-1"
CHECKER = "ruff check --output-format json"


def incident(number, rule="F401", path="src/shop/router.py", **more):
    values = {
        "id": f"i{number}", "fingerprint": f"f{number}", "rule": rule, "path": path, "line": 3 * number,
        "message": "`os` imported but unused", "description": "A module is imported and not used.",
        "category": "lint",
    }  # fmt: skip
    return Incident(**{**values, **more})


SEVERAL = (
    incident(1),
    incident(2, "E711", "src/shop/routes/__init__.py", severity="error",
             message="Comparison to `None` should be `cond is None`"),
    incident(3, "S105", "src/shop/app.py", severity="critical", message="Possible hardcoded password"),
    incident(4, "D103", "docs/conf.py", severity="info", line=0, message="Missing docstring in the module"),
    incident(5, "F841", "tests/test_router.py", message="Local variable `x` is assigned to but never used"),
    incident(6, "E501", "src/shop/app.py", message="Line too long (131 > 110)"),
    incident(7, "F401", "src/gone.py", problem="the file is missing"),
    incident(8, "B006", "src/shop/router.py", severity="error", message="Mutable default argument"),
    incident(9, "UP035", "src/shop/deep/down/below/a_very_long_name_of_a_module.py",
             message="`typing.List` is deprecated, use `list` instead"),
)  # fmt: skip


def journal_with(
    home, incidents=SEVERAL, events=(), workspace=stills.WORKSPACE, checker=CHECKER, list_id=LIST
):
    """Return a journal with a list of incidents and what happened to it."""
    journal = _opened(home)
    add_list(journal, incidents, events, workspace, checker, list_id)
    return journal


def _opened(home):
    if home.exists():
        return Journal.open(Home.open(home), ManualClock(1_795_262_400_000_000))
    return stills.nothing(home)


def add_list(journal, incidents, events=(), workspace=stills.WORKSPACE, checker=CHECKER, list_id=LIST):
    """Put a list into a journal."""
    ref = journal.blobs.record(msgspec.json.encode(incidents))
    created = e.SessionCreated(session_kind="incidents", title=f"findings of {checker}", workspace=workspace)
    listed = e.IncidentsListed(
        source=checker, format="ruff", checker=checker, incidents_ref=ref, count=len(incidents)
    )
    journal.append([journal.event(body, list_id, USER) for body in (created, listed)], strict=False)
    put(journal, events, workspace, list_id)


def put(journal, bodies, workspace=stills.WORKSPACE, list_id=LIST):
    """Append what happens: bodies of the list, or (child session, body, action)."""
    made = []
    for one in bodies:
        if isinstance(one, tuple):
            child, body, action = one
            made.append(journal.event(body, child, HOST, action_id=action))
        else:
            if isinstance(one, e.IncidentStarted) and journal.session(one.child_id) is None:
                begun = e.SessionCreated(
                    session_kind="step", parent_id=list_id, title=f"fix {one.incident}", workspace=workspace
                )
                journal.append([journal.event(begun, one.child_id, HOST)], strict=False)
            made.append(journal.event(one, list_id, HOST))
    journal.append(made, strict=False)


def question(action, child, now, kind="tool", key="i3"):
    """Return what an agent asks, of a change or of what is still found."""
    choices = (
        Choice(key="again", label="Ask the agent again"), Choice(key="keep", label="Keep the change as it is"),
        Choice(key="undo", label="Undo the change"),
    )  # fmt: skip
    body = e.ActionOpened(
        action_kind=kind, tool="replace_string_in_file" if kind == "tool" else None,
        target="src/shop/app.py", digest="0" * 64, created_at=now, expires_at=now + 600_000_000,
        verb="edit" if kind == "tool" else "ask", subject={"incident": key, "list": LIST},
        choices=choices if kind == "finding" else (),
        prompt="S105 is still found at src/shop/app.py:9: Possible hardcoded password" if kind == "finding" else None,
    )  # fmt: skip
    return child, body, action


def running(now):
    """Return the events of a list in the middle of its work."""
    start = e.IncidentStarted
    return [
        e.IncidentsRequested(ids=tuple(f"i{n}" for n in (1, 2, 3, 5, 6, 8, 9)), options=IncidentOptions(
            provider="local", model="qwen3-8b")),
        start(incident="i1", child_id="child-a", line=3),
        e.IncidentChecked(incident="i1", outcome="gone", exit_code=0, duration_ms=180),
        e.IncidentEnded(incident="i1", outcome="fixed", files=("src/shop/router.py",), duration_ms=31_000),
        start(incident="i8", child_id="child-a", line=21),
        e.IncidentChecked(incident="i8", outcome="still there", detail="B006 is still found", line=21),
        start(incident="i8", child_id="child-a", line=21, round=2),
        e.IncidentEnded(incident="i8", outcome="unchanged", detail="B006 is still found", duration_ms=90_000),
        start(incident="i2", child_id="child-b", line=6),
        e.IncidentEnded(incident="i2", outcome="rejected", detail="kept for the old clients", duration_ms=12_000),
        start(incident="i3", child_id="child-c", line=9),
        question("ask-1", "child-c", now),
        start(incident="i5", child_id="child-d", line=15),
        e.IncidentDismissed(fingerprint="f4", reason="the module is generated"),
    ]  # fmt: skip
