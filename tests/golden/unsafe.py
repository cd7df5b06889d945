"""Golden sessions with text that nobody should trust: hidden characters, escapes, secrets, foreign events.

Owns their recordings and what the human does. Every secret here is made up, and written in pieces.
"""

import contextlib
import os
from unittest import mock

from tests.golden.scenario import golden
from tests.golden.words import create, edit, exchange, read, result, run, said
from workbench.domain.events import Unknown
from workbench.domain.values import Actor
from workbench.effects.process_marks import AGENT_VARIABLE
from workbench.host.host_locks import InsideAgent, refuse_inside_agents

ESCAPE = "\x1b"
TITLE = f"{ESCAPE}]0;owned\x07"
LINK = f"{ESCAPE}]8;;https://evil.example{ESCAPE}\\click{ESCAPE}]8;;{ESCAPE}\\"
LEGACY = "Liste der Artikel: \xc4pfel, Birnen, Quitten\nStand: M\xe4rz\n".encode("latin-1")


@golden("hostile-text", [
    exchange(
        said(f"Read this: {ESCAPE}[2J{ESCAPE}[1;31mall is well{ESCAPE}[0m [bold red]really[/] "
             f"{LINK} and user\u202efdp.exe, pass\u200bword, \U000e0041\U000e0042."),
        create("c1", "docs/read\u202edm.me", "[@click=app.quit]no markup[/]\nzero\u200bwidth\n"),
        run("c2", "printf '\\033[2J\\033[31mred\\033[0m \\342\\200\\256txt.sh\\r\\b\\n'; : 'fix\u202egnp.exe'"),
        create("c3", "docs/[link=file:///etc]notes.md", f"# Notes\n\n{TITLE}{ESCAPE}[8mhidden{ESCAPE}[0m\n"),
        edit("c4", "docs/legacy.txt", "Quitten", "Quitten, Kirschen"),
        read("c5", "/opt/shop/.env"),
        create("c6", ".workbench.json", '{"config_version": 1}\n'),
        tokens=(930, 310),
    ),
    exchange(said("Some of it was not wanted."), tokens=(1240, 9), expect=result("c5", "refused")),
], files={"docs/legacy.txt": LEGACY})  # fmt: skip
def hostile_text(scene):
    scene.begin(f"read{ESCAPE}[31m me\u202e", f"Look at this: {TITLE}\u202eabc\u202c {LINK}\ta\r\nb")
    yield
    scene.approve(scene.one("legacy"), 9)
    for target in ("read", "notes"):
        scene.reject(scene.one(target), 3, reason=f"names lie\u202e {ESCAPE}[5m")
    _agent_tries_to_answer(scene)
    scene.approve(scene.one("printf"), 9)
    yield
    foreign = {"text": f"{ESCAPE}[31m from a newer version \u202e", "deep": [{"n": 1.5}, None]}
    scene.note(Unknown(original_kind="weather.observed", content=foreign), actor=Actor(kind="system"))


def _agent_tries_to_answer(scene):
    with mock.patch.dict(os.environ, {AGENT_VARIABLE: "1"}), contextlib.suppress(InsideAgent):
        refuse_inside_agents(scene.journal, scene.home, "approvals approve")


GITHUB = "gh" + "p_" + "a1B2" * 9
AWS = "AK" + "IA" + "QX7M2NPL4RTZ8WVK"


@golden("secrets", [
    exchange(
        said(f"I'll use {GITHUB} for the upload and put the other key into a file."),
        create("c1", "deploy.env", f"GITHUB_TOKEN={GITHUB}\nAWS_ACCESS_KEY_ID={AWS}\nREGION=eu-west-1\n"),
        run("c2", f"printf 'uploading with %s\\nregion eu-west-1\\n' {GITHUB}"),
        tokens=(410, 130),
    ),
    exchange(
        said("The region goes into the page."),
        edit("c3", "deploy.env", "REGION=eu-west-1\n", "REGION=eu-central-1\n"), tokens=(520, 45),
        expect=result("c2", "succeeded", "eu-west-1"),
    ),
    exchange(said("Uploaded, and the region is set."), tokens=(610, 10), expect=result("c3", "succeeded")),
])  # fmt: skip
def secrets(scene):
    scene.begin("deploy key", f"Deploy with my token {GITHUB} please.")
    yield
    file, command = scene.waiting()
    scene.approve(file, 13)
    scene.approve(command, 8, reason="the token is for tests only")
    yield
    scene.approve(after=10)
    yield


SECRETS = (GITHUB, AWS)
"""What must not be in any session file."""
