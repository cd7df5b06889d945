"""A pipeline in the repository of a project, our own or a real one: started, watched, failed, mended, resumed, its links."""

import os
import shutil
import sys
import time

import pytest

from tests.support import stand_in_agent
from tests.support.keys import decide
from tests.support.tmux import Tmux
from tests.support.wave_files import NO_PROMPTS, PROJECTS
from workbench.tui.keyboard.rule import SUSPECT_SECONDS

FILE = ".wave/pipelines/issue-research.yaml"
LINKS = """    outcomes:
      - {type: url, extract_from: output/comment-result.json, json_path: .comment.url, label: Comment}
"""
AGENT = """#!{python}
import json, os, sys
prompt = sys.stdin.read()
steps = json.load(open({plan!r}))
step = max(steps, key=lambda step: sum(line in prompt for line in step["lines"]) / len(step["lines"]))
(path, text), = step["files"].items()

def say(**row):
    print(json.dumps({{"session_id": "s", **row}}), flush=True)

def turn(number, *content):
    used = {{"input_tokens": 700, "output_tokens": 60}}
    say(type="assistant", message={{"id": f"m{{number}}", "role": "assistant", "model": "small-2", "content": content, "usage": used}})

def done(call):
    say(type="user", message={{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": call, "content": "ok"}}]}})

say(type="system", subtype="init", model="small-2", cwd=os.getcwd(), tools=[])
turn(1, {{"type": "text", "text": f"I write {{path}}."}},
     {{"type": "tool_use", "id": "t1", "name": "Bash", "input": {{"command": "gh issue view 112"}}}})
if "issue-content" in path:
    open({gate!r}).read()  # goes on when somebody has seen it at work
done("t1")
turn(2, {{"type": "tool_use", "id": "t2", "name": "Write", "input": {{"file_path": path, "content": "…"}}}})
is_broken = os.path.exists({broken!r}) and "comment" in path
os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
open(path, "w").write("{{}}" if is_broken else text)
done("t2")
used = {{"input_tokens": 1400, "output_tokens": 120}}
say(type="result", subtype="success", is_error=False, result="Done.", total_cost_usd=0.0123, usage=used)
"""

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux"),
]


@pytest.fixture(params=PROJECTS)
def window(shop, request):
    project = PROJECTS[request.param]
    shop.pipelines = len(list(project.glob(".wave/pipelines/*.yaml")))
    shutil.copytree(project, shop.project, dirs_exist_ok=True)
    for name in NO_PROMPTS[request.param]:
        (shop.project / f".wave/personas/{name}.md").write_text("You do it.\n")
    tools = stand_in_agent.write_program(shop.root / "bin", shop.project, shop.project / FILE)
    os.mkfifo(shop.root / "gate")
    (shop.root / "broken").touch()
    (tools / "claude").write_text(
        AGENT.format(
            python=sys.executable, plan=str(tools / "plan.json"), gate=str(shop.root / "gate"),
            broken=str(shop.root / "broken"),
        )
    )  # fmt: skip
    shop.path = f"{tools}:{os.environ['PATH']}"
    shop.call("trust", "--yes", ".")
    made = Tmux(shop.argv(), cwd=shop.project, env=shop.env(PATH=shop.path), columns=160, rows=48)
    yield made
    made.close()


@pytest.mark.spec(81, 114)
def test_it_is_started_watched_mended_and_resumed_and_ends_with_its_links(shop, window):
    window.until(f"here  ✓ {shop.pipelines} pipelines")
    window.press("\x1b")
    window.until(f"none runs, {shop.pipelines} found")
    window.press("4")
    window.rest()
    decide(window, "L")
    window.until("Start a pipeline", "What it would do")
    while "▌  issue-research" not in window.text():
        window.press("j")
        window.rest()
    window.press("i")
    window.rest()
    window.press("example/shop 112\r")
    window.until("input   example/shop 112", "fetch-issue", "claude decides by itself")
    time.sleep(SUSPECT_SECONDS)  # enter right behind a letter may be the end of a sentence
    window.press("\r")
    # What its agent does is there before that has ended it, and so is what it said.
    window.until(
        "● fetch-issue", "I write output/issue-content.json.", "shell gh issue view 112", "● 1 running"
    )
    (shop.root / "gate").write_text("go on")
    window.until("4 of 5  failed", "× 1 failed")
    window.press("z")
    window.until("post-comment", "contract × 4 of 4", "$0.10")  # eight calls of $0.0123
    # It is mended: the program, and what was missing in the file.
    (shop.root / "broken").unlink()
    with (shop.project / FILE).open("a") as file:
        file.write(LINKS)
    window.rest()
    decide(window, "R")
    window.until(f"{FILE} changed since this run was started")
    env = shop.env(PATH=shop.path)
    refused = shop.call("pipeline", "resume", "issue-research#1", code=1, env=env)
    assert "--as-it-is for the files as they are now, or --as-it-was" in refused.stderr
    shop.call("trust", "--yes", ".")
    ended = shop.call("pipeline", "resume", "issue-research#1", "--as-it-is", env=env)
    assert "https://example.org/a/b/pull/1" in ended.stdout
    window.until(
        "5 of 5 done  completed", "$0.11", "example.org/a/b/pull/1", "post-comment", gone=("× 1 failed",)
    )
    states = shop.json("pipeline", "status", "issue-research#1")
    assert {step["state"] for step in states["steps"]} == {"completed"}
