"""What works with one kind of provider works with each: a run, a recording of it, a probe, a step of a pipeline."""

import json

import pytest

from tests.support.chat_server import Answer, ChatServer, whole
from tests.support.runs import Runs
from tests.unit.providers.wires import calls_of_kind, says_of_kind
from workbench.config.keys import PROVIDER_KINDS
from workbench.journal.home import Home
from workbench.journal.journal import Journal

KINDS = [kind.name for kind in PROVIDER_KINDS.values() if kind.has_server]
MODELS = {"/models": whole({"data": [{"id": "m"}]}), "/api/tags": whole({"models": [{"name": "m"}]})}
UNKNOWN = Answer([], "404 Not Found")
ELSEWHERE = {**MODELS, "/props": UNKNOWN, "/api/show": UNKNOWN}
STEPS = """
  - id: a
    persona: builder
    exec: {type: prompt, source: "make greeting.txt"}
"""


@pytest.fixture
def serving():
    servers = []

    def start(*answers):
        servers.append(ChatServer(*answers, routes=ELSEWHERE))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def settings(kind, server):
    base_url = server.base_url.removesuffix("/v1") if kind in ("ollama", "azure-openai") else server.base_url
    provider = {"kind": kind, "base_url": base_url, "model": "m", "num_ctx": 4096}
    return json.dumps({"providers": {"mine": provider}, "approvals": {"read_only": "auto"}})


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "wb-home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("WORKBENCH_HOME", str(folder))
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_streams_counts_calls_and_is_recorded_and_played_again(shell, serving, home, tmp_path, kind):
    server = serving(calls_of_kind(kind, "list_dir", path="."), says_of_kind(kind, "Nothing there."))
    (home / "config.json").write_text(settings(kind, server))
    kept = tmp_path / "kept.json"
    words = ("run", "-p", "look", "--provider", "mine", "--output-format", "json")
    assert shell(*words, "--record", str(kept)) == 0, shell.err
    told = json.loads(shell.out)
    assert (told["reply"], told["error"]) == ("Nothing there.", None)
    assert told["usage"]["input_tokens"] > 0 and told["usage"]["output_tokens"] > 0
    with Journal.open(Home.open(home)) as journal:
        (session,) = journal.sessions()
        assert [(call.tool, call.state) for call in journal.calls(session.id)] == [("list_dir", "succeeded")]
    assert shell("run", "-p", "look", "--recording", str(kept), "--output-format", "json") == 0, shell.err
    played = json.loads(shell.out)
    assert (played["reply"], played["usage"]) == (told["reply"], told["usage"])


@pytest.mark.parametrize("kind", KINDS)
def test_doctor_says_what_its_model_can_do(shell, serving, home, kind):
    server = serving(says_of_kind(kind, "Hello."), calls_of_kind(kind, "report_ready", ready=True))
    (home / "config.json").write_text(settings(kind, server))
    assert shell("doctor", "--provider", "mine", "--probe", "--json") == 0, shell.out + shell.err
    (found,) = [check for check in json.loads(shell.out)["checks"] if "probe" in check]
    assert [model["id"] for model in found["models"]] == ["m"]
    probe = found["probe"]
    assert (probe["streams"], probe["calls_tools"], probe["counts_tokens"]) == (True, True, True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_a_pipeline_asks_it(tmp_path, serving, kind):
    server = serving(says_of_kind(kind, "Done."))
    (tmp_path / "r").mkdir()
    runs = Runs(tmp_path / "r")
    (runs.home.path / "config.json").write_text(settings(kind, server))
    row = runs.run(STEPS)
    assert (row.status, row.usage.total_tokens > 0) == ("completed", True)
    child = runs.journal.session(runs.step(row.pipeline_id, "a").session_id)
    assert (child.provider, child.model) == ("mine", "m")
    runs.close()
