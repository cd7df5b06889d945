"""Place 9: who is set up, who answers, what it took; a test, a model for this session, the set-up page."""

import json
import re
import threading

import pytest
from msgspec.structs import replace
from textual.widgets import Input

from tests.support.stage import Stage, exchange, recording, text
from tests.support.waits import PATIENCE, until_true
from tests.tui import stills
from tests.tui.backend import backend
from tests.tui.screens import FILES, Hand, counted, play, staged
from workbench.effects.clock import ManualClock
from workbench.tui.app import WorkbenchApp
from workbench.tui.backend import BackendError
from workbench.views.provider_form import SETUP_TEXT, ProviderFields
from workbench.views.providers import (
    FoundModel,
    OfferedModel,
    ProviderReport,
    ProviderRow,
    ProviderStatus,
    ProviderUsage,
)

ROWS = (
    ProviderRow(
        name="local", kind="openai-compatible", base_url="http://127.0.0.1:8080/v1", model="qwen3-8b",
        is_default=True,
    ),
    ProviderRow(name="ollama", kind="ollama", base_url="http://localhost:11434", model="qwen3-coder:30b"),
    ProviderRow(
        name="claude", kind="anthropic", base_url="https://api.anthropic.com", model="a-large-model",
        key="variable", key_name="ANTHROPIC_API_KEY", is_key_here=True, is_key_in_background=True,
    ),
    ProviderRow(
        name="azure", kind="azure-openai", base_url="https://shop.openai.azure.com", model="deployment-1",
        key="command", key_name="az account get-access-token",
    ),
    ProviderRow(name="replay", kind="recorded", base_url="", model="", has_server=False),
)  # fmt: skip
WELL = {
    "local": ProviderStatus(provider="local", models=(OfferedModel(id="qwen3-8b", context=32_768),)),
    "ollama": ProviderStatus(provider="ollama", models=(
        OfferedModel(id="qwen3-coder:30b", context=262_144, abilities=("tools", "thinking"), is_loaded=True),
        OfferedModel(id="nomic-embed-text:latest", context=2_048, abilities=("embedding",)),
    )),
    "claude": ProviderStatus(provider="claude", models=(
        OfferedModel(id="a-large-model", context=200_000), OfferedModel(id="a-small-model", context=200_000),
    )),
    "azure": ProviderStatus(provider="azure", models=(OfferedModel(id="deployment-1"),)),
}  # fmt: skip
WHY = {
    "local": "nothing answers at http://127.0.0.1:8080/v1. Start the server, or correct base_url of "
    "providers.local.",
    "ollama": "localhost did not start to answer within 5 s.",
    "claude": "api.anthropic.com does not take the key in $ANTHROPIC_API_KEY: invalid x-api-key. Check the key "
    "in $ANTHROPIC_API_KEY, then workbench host restart, and continue.",
    "azure": "key_command gave no key. Run it in a shell to see why.",
}
USED = {
    "local": ProviderUsage(sessions=12, input_tokens=1_204_331, output_tokens=88_120),
    "claude": ProviderUsage(sessions=1, input_tokens=52_100, output_tokens=9_004, cost=0.29),
}
REPORT = ProviderReport(
    provider="local", base_url="http://127.0.0.1:8080/v1", model="qwen3-8b", answers=True, streams=True,
    calls_tools=True, counts_tokens=True, thinks=True, context=32_768, seconds=1.25,
)  # fmt: skip
FOUND = FoundModel(
    provider="llama-cpp", kind="openai-compatible", base_url="http://127.0.0.1:8080/v1", model="qwen3-8b",
    source="127.0.0.1:8080 (llama.cpp's usual port), 1 model",
)  # fmt: skip


def answers(name, trial):
    return WELL[name]


def broken(name, trial):
    return ProviderStatus(provider=name, why_not=WHY[name])


SHOWN = {
    "none": {"search": lambda: (FOUND,)},
    "well": {"rows": lambda: ROWS, "status": answers, "usage": lambda: USED},
    "broken": {"rows": lambda: ROWS, "status": broken, "usage": lambda: USED},
}


@pytest.mark.parametrize("state", SHOWN)
def test_place_nine(tmp_path, request, state):
    """None set up, all well, all broken."""
    journal, hand = stills.of("rename-handler")(tmp_path / "home"), Hand()
    app = WorkbenchApp(
        journal, backend(**SHOWN[state]), stills.WORKSPACE, home="/workspace",
        source=stills.Still(journal, stills.WORKSPACE), monotonic=hand,
    )  # fmt: skip
    app.theme = "workbench-dark"

    async def before(pilot, size):
        await stills.play(
            pilot, ("escape", "9", "j" if state == "broken" else "k") if size == "wide" else (), hand
        )

    assert stills.are_kept_at_each_size(
        request, app, before, f"test_place_nine[{state}-{{}}]", stills.BY_RESIZE
    )
    journal.close()


# --- what its keys do -----------------------------------------------------------------------------------


@pytest.fixture
def fresh(tmp_path):
    return Stage(tmp_path, recording(exchange(text("Hello."))), clock=ManualClock(), files=FILES)


def show(stage, body, **services):
    play(stage, body, goes_to_queue=False, **{"rows": lambda: ROWS, "status": answers, **services})


async def seen(shown, holds):
    """Wait for something that a thread shows; `settle` would wait for the thread."""
    await until_true(holds, shown.pilot.pause, lambda: f"{shown.app.screen}\n{shown.text}")


def test_a_number_leads_there_and_on_to_another_place(fresh):
    async def body(shown):
        await shown.press("escape", "9")
        assert "Models and providers" in shown.text
        await shown.press("3")
        assert "Models and providers" not in shown.text and shown.main.place == 3

    show(fresh, body)


def test_a_test_counts_its_seconds_says_what_the_model_can_and_is_stopped_by_esc(fresh):
    gate, trials = threading.Event(), []

    def test(name, trial):
        trials.append(trial)
        trial.progress("Asking qwen3-8b for two short replies; it may have to be loaded first.", gate.set)
        gate.wait(PATIENCE)
        return REPORT

    async def body(shown):
        await shown.press("escape", "9")
        await shown.pilot.press("t")
        await counted(shown.app)
        await seen(shown, lambda: "two short replies" in shown.text)
        assert "0 s  Asking qwen3-8b" in shown.text and "esc stops it" in shown.text
        await shown.pilot.press("escape")
        await shown.settle()
        assert trials[0].is_cancelled and "The test was stopped." in shown.text
        await shown.press("t")
        assert "Tested in 1.2 s: qwen3-8b streams, calls tools" in shown.text and len(trials) == 2
        await shown.press("escape")
        assert "Models and providers" not in shown.text

    show(fresh, body, test=test)


def test_what_a_test_found_wrong_is_said_with_its_remedy(fresh):
    async def body(shown):
        await shown.press("escape", "9", "t")
        assert "qwen3-8b called no tool" in shown.text
        await shown.press("j", "t")
        assert "Nobody was asked." in shown.text
        await shown.press("G", *"jjjj", "t")
        assert "There is no provider here that could be tested." in shown.text

    def test(name, trial):
        if name != "local":
            raise BackendError("Nobody was asked.")
        return ProviderReport(
            provider=name, base_url="", model="qwen3-8b", problems=("qwen3-8b called no tool.",)
        )

    show(fresh, body, test=test)


def test_a_model_of_the_provider_is_chosen_for_this_session(tmp_path):
    chosen = []

    async def body(shown):
        await shown.press("escape", "9", "j", "m")
        assert shown.main.composer.text == "/model ollama/qwen3-coder:30b"
        await shown.press("enter")
        assert chosen == ["ollama/qwen3-coder:30b"]

    show(
        staged(tmp_path),
        body,
        available_models=lambda key: ((), ""),
        set_model=lambda key, words: chosen.append(words) or "",
    )


def test_it_opens_while_a_server_stalls_and_leaves_without_waiting(fresh):
    gate, asked = threading.Event(), []

    def status(name, trial):
        asked.append(trial)
        trial.progress("Asking.", gate.set)
        gate.wait(PATIENCE)
        return WELL[name]

    async def body(shown):
        await shown.press("escape")
        await shown.pilot.press("9")
        await seen(shown, lambda: "is asked" in shown.text)
        assert not gate.is_set(), "what a server says is waited for"
        await shown.pilot.press("escape")
        await seen(shown, lambda: len(asked) == 4 and all(trial.is_cancelled for trial in asked))
        assert len(asked) == 4 and gate.is_set()

    show(fresh, body, status=status)


# --- what is set up is changed and removed --------------------------------------------------------------

AZURE_FIELDS = ProviderFields(
    name="azure", kind="azure-openai", base_url="https://shop.openai.azure.com", model="deployment-1",
    key_command="az account get-access-token", is_default=False,
)  # fmt: skip
KINDS = {"openai-compatible": "", "azure-openai": "", "anthropic": "https://api.anthropic.com"}


def field_values(shown):
    return {one.id.removeprefix("provider-"): one.value for one in shown.app.screen.query(Input)}


def changing(saved, **more):
    return {
        "form_of": lambda name: AZURE_FIELDS, "change": lambda fields: saved.append(fields) or "Changed azure.",
        "kinds": lambda: KINDS, "names": lambda: [row.name for row in ROWS], "can_undo": lambda: bool(saved),
        **more,
    }  # fmt: skip


def test_a_provider_is_changed_in_the_form_and_keeps_its_name(fresh):
    saved = []

    async def body(shown):
        await shown.press("escape", "9", "j", "j", "j", "e")
        assert "Change azure" in shown.text and "It keeps its name" in shown.text
        before = field_values(shown)
        assert (before["name"], before["key_command"], before["is_default"]) == (
            "azure", AZURE_FIELDS.key_command, "no",
        )  # fmt: skip
        shown.app.screen.query_one("#provider-model").value = "deployment-2"
        for _ in range(8):  # once around: the name is no stop
            await shown.press("tab")
            assert shown.app.focused.id != "provider-name"
        await shown.press("f2")
        assert saved == [replace(AZURE_FIELDS, model="deployment-2")]
        assert (
            "Changed azure. /provider undo takes it back." in shown.text and "Change azure" not in shown.text
        )

    show(fresh, body, **changing(saved))


def test_a_provider_that_was_changed_is_asked_again(fresh):
    rows, asked = list(ROWS[:2]), []

    def status(name, trial):
        asked.append(name)
        return answers(name, trial)

    def change(fields):
        rows[0] = replace(rows[0], base_url=fields.base_url)
        return "Changed local."

    async def body(shown):
        await shown.press("escape", "9")
        assert sorted(asked) == ["local", "ollama"]
        await shown.press("e", "f2")
        assert sorted(asked) == ["local", "local", "ollama"], "nobody else is asked again"

    local = ProviderFields(name="local", base_url="http://127.0.0.1:8081/v1", model="qwen3-8b")
    more = {"rows": lambda: tuple(rows), "status": status, "form_of": lambda name: local}
    show(fresh, body, **changing([], **{**more, "change": change}))


def test_a_change_that_is_left_is_not_kept_for_the_form_that_adds(fresh):
    async def body(shown):
        await shown.press("escape", "9", "j", "j", "j", "e")
        shown.app.screen.query_one("#provider-model").value = "deployment-2"
        await shown.press("escape")
        assert shown.said == "azure was not changed."
        await shown.press("A")
        assert "Add a provider" in shown.text and field_values(shown)["name"] == ""

    show(fresh, body, **changing([]))


def test_why_a_provider_cannot_be_changed_here_is_said(fresh):
    def elsewhere(name):
        raise BackendError(f"{name} is set in /w/.workbench.json. Change it there.")

    async def body(shown):
        await shown.press("escape", "9", "e")
        assert "local is set in /w/.workbench.json. Change it there." in shown.text
        await shown.press(*"jjjjjjj", "e")
        assert "There is no provider here that could be changed." in shown.text

    show(fresh, body, **changing([], form_of=elsewhere))


@pytest.mark.parametrize(
    ("count", "words"), [(0, ""), (1, "1 session asks it"), (2_000, "2,000 sessions ask")]
)
def test_a_provider_is_removed_after_a_question_and_put_back(fresh, count, words):
    removed, undone = [], []

    async def body(shown):
        await shown.press("escape", "9", "j", "D")
        assert "Remove ollama from config.json?" in shown.text and words in shown.text and removed == []
        await shown.press("j", "D")
        assert "Remove claude from config.json?" in shown.text and removed == [], (
            "another row, another question"
        )
        await shown.press("k", "D", "D")
        assert removed == ["ollama"] and "Removed ollama." in shown.text
        await shown.press("u")
        assert undone == [True] and "as it was before" in shown.text

    show(
        fresh, body, asking_sessions=lambda name: count,
        remove=lambda name: removed.append(name) or f"Removed {name}.",
        can_undo=lambda: bool(removed), undo=lambda: undone.append(True) or "config.json is as it was before.",
    )  # fmt: skip


def test_what_stands_elsewhere_is_not_removed_here(fresh):
    rows = (replace(ROWS[0], is_own=False, file="/w/.workbench.json"),)

    async def body(shown):
        await shown.press("escape", "9", "D", "D")
        assert "local is set in /w/.workbench.json. Remove it there." in shown.text
        await shown.press(*"jjj", "D")
        assert "There is no provider here that could be removed." in shown.text

    show(fresh, body, rows=lambda: rows)


# --- the set-up page ------------------------------------------------------------------------------------

SNIPPETS = re.findall(
    r"^    (\{ .*?\} \} \})$", SETUP_TEXT.format(file="config.json"), re.MULTILINE | re.DOTALL
)


def test_the_set_up_page_has_every_kind_that_has_a_server():
    from workbench.config.keys import PROVIDER_KINDS

    kinds = {one["kind"] for snippet in SNIPPETS for one in json.loads(snippet)["providers"].values()}
    assert kinds == {kind.name for kind in PROVIDER_KINDS.values() if kind.has_server}
