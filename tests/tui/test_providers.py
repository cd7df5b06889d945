"""Setting up a model on the screen: what was found, the list of providers, the form that adds one."""

import threading
from dataclasses import dataclass, field

import pytest
from textual import events
from textual.widgets import Input

from tests.support.sizes import rarely
from tests.support.stage import Stage, exchange, recording, text
from tests.support.waits import PATIENCE, until_true
from tests.tui.screens import FILES, play, staged
from workbench.config.types import UiSettings
from workbench.effects.clock import ManualClock
from workbench.tui.backend import BackendError
from workbench.views.providers import FoundModel, OfferedModel, ProviderReport, ProviderRow

LLAMA = FoundModel(
    provider="llama-cpp", kind="openai-compatible", base_url="http://127.0.0.1:8080/v1", model="qwen3-8b",
    source="llama.cpp at 127.0.0.1:8080, 1 model",
)  # fmt: skip
KEY = FoundModel(
    provider="openai", kind="openai-compatible", base_url="https://api.openai.com/v1", model=None,
    key_env="OPENAI_API_KEY", source="OpenAI, OPENAI_API_KEY is set",
)  # fmt: skip
WELL = ProviderReport(
    provider="local", base_url="http://127.0.0.1:1/v1", models=(OfferedModel(id="big"), OfferedModel(id="small")),
    model="big", answers=True, streams=True, calls_tools=True, seconds=1.25,
)  # fmt: skip
SECRET = "sk-proj-" + "aB3dE5fG7hI9" * 4


@dataclass
class Service:
    """Providers as a test wants them; remembers what was saved."""

    found: tuple = (LLAMA, KEY)
    has_model: bool = False
    refusal: str = ""
    models: object = ("big", "small")
    report: object = WELL
    saved: list = field(default_factory=list)
    undone: int = 0
    looks: int = 0
    trials: list = field(default_factory=list)

    def search(self):
        self.looks += 1
        return self.found() if callable(self.found) else self.found

    def save(self, fields):
        if self.refusal:
            raise BackendError(self.refusal)
        self.saved.append(fields)
        self.has_model = True
        return f"Added {fields.name} in /home/x/config.json. New sessions ask {fields.model} ({fields.name})."

    def undo(self):
        self.undone += 1
        self.saved, self.has_model = [], False
        return "Removed llama-cpp from /home/x/config.json."

    def offered(self, fields):
        if isinstance(self.models, str):
            raise BackendError(self.models)
        return self.models

    def try_provider(self, fields, trial):
        self.trials.append(trial)
        return self.report(trial) if callable(self.report) else self.report

    def rows(self):
        return (
            ProviderRow(name="local", kind="ollama", base_url="http://localhost:11434", model="m", is_default=True),
            ProviderRow(
                name="far", kind="openai-compatible", base_url="https://models.example/v1", model="large",
                key="variable", key_name="FAR_KEY", is_key_here=False,
            ),
        )  # fmt: skip

    def services(self):
        return {
            "search": self.search, "save": self.save, "undo": self.undo, "offered_models": self.offered,
            "try_provider": self.try_provider, "rows": self.rows, "has_model": lambda: self.has_model,
            "names": lambda: ("far", *(one.name for one in self.saved)), "is_set": lambda name: name == "SET",
            "kinds": lambda: {"openai-compatible": "", "ollama": "http://localhost:11434"},
            "make_default": lambda name: f"New sessions ask {name}.",
            "can_undo": lambda: bool(self.saved), "config_file": lambda: "/home/x/config.json",
        }  # fmt: skip


@pytest.fixture
def fresh(tmp_path):
    """A folder in which nothing has happened yet."""
    return Stage(tmp_path, recording(exchange(text("Hello."))), clock=ManualClock(), files=FILES)


def show(stage, body, service=None, **more):
    play(stage, body, goes_to_queue=False, **{**(service or Service()).services(), **more})


async def type_in(shown, words):
    """Type words at once into what has the focus."""
    for letter in words:
        await shown.pilot.press("space" if letter == " " else letter)
    await shown.settle()


def values(shown):
    """Return what stands in the fields of the form."""
    return {field.id.removeprefix("provider-"): field.value for field in shown.app.screen.query(Input)}


# --- the first page -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(120, 36), (46, 10), *map(rarely, ((80, 24), (160, 48)))], ids=str)
def test_one_key_adds_what_was_found_and_the_notice_says_where_and_how_to_undo(fresh, size):
    service = Service()

    async def body(shown):
        assert "m   llama.cpp at 127.0.0.1:8080" in shown.text
        assert "s   OpenAI, OPENAI_API_KEY is set" in shown.text
        await shown.press("m")
        assert [one.name for one in service.saved] == ["llama-cpp"] and service.saved[0].is_default
        assert "/home/x/config.json" in shown.said and "/provider undo" in shown.said
        assert shown.main.composer.has_focus_within and "no model yet" not in shown.text
        await type_in(shown, "/provider undo")
        await shown.press("enter")
        assert service.undone == 1 and "Removed llama-cpp" in shown.said
        assert "no model yet" in shown.text and "m   llama.cpp" in shown.text

    show(fresh, body, service, size=size)


def test_that_the_file_changed_is_not_said_over_what_this_screen_wrote(fresh):
    async def body(shown):
        await shown.press("m")
        shown.app.configure(UiSettings(), "Configuration: providers changed.")
        assert "Added llama-cpp" in shown.said
        shown.hand.waits(6)
        shown.app.configure(UiSettings(), "Configuration: providers changed.")
        assert shown.said == "Configuration: providers changed."

    show(fresh, body)


def test_the_page_says_while_it_looks_and_what_to_do_when_nothing_was_found(fresh):
    gate = threading.Event()

    def slow():
        gate.wait(PATIENCE)
        return ()

    service = Service(found=slow)

    async def look(shown):
        # Not settled: the search is still under way.
        await until_true(lambda: "looking for models" in shown.text, shown.pilot.pause)

    async def body(shown):
        await shown.settle()
        assert "No model answers here" in shown.text and "ollama" in shown.text.casefold()
        gate.clear()
        await shown.pilot.press("r")
        await look(shown)
        gate.set()
        await shown.settle()
        assert "looking for models" not in shown.text and service.looks == 2

    gate.set()
    show(fresh, body, service)


def test_what_has_no_model_yet_opens_the_form_with_the_rest_filled_in(fresh):
    service = Service()

    async def body(shown):
        await shown.press("s")
        assert values(shown) | {"model": ""} == {
            "kind": "openai-compatible", "base_url": "https://api.openai.com/v1", "model": "",
            "key_env": "OPENAI_API_KEY", "key_command": "", "name": "openai", "is_default": "yes",
        }  # fmt: skip
        assert shown.app.focused.id == "provider-model" and service.saved == []
        assert "ctrl+r asks the server which models it has" in shown.text, "no key is sent unasked"

    show(fresh, body, service)


@pytest.mark.parametrize("place", ["0", "2", "3", "4"])
def test_what_was_found_is_taken_from_wherever_the_cursor_is(fresh, place):
    service = Service()

    async def body(shown):
        await shown.press(place, "m")
        assert [one.name for one in service.saved] == ["llama-cpp"]

    show(fresh, body, service)


def test_nothing_is_looked_for_where_there_is_a_model(fresh):
    service = Service(has_model=True)

    async def body(shown):
        assert service.looks == 0 and "llama.cpp at" not in shown.text
        await shown.press("escape", "m")
        assert service.saved == []

    show(fresh, body, service)


def test_a_refusal_is_said_and_leaves_the_page_as_it_was(fresh):
    async def body(shown):
        await shown.press("m")
        assert shown.said == "config.json is read-only." and "m   llama.cpp" in shown.text

    show(fresh, body, Service(refusal="config.json is read-only."))


def test_a_search_that_fails_says_why(fresh):
    def broken():
        raise BackendError("config.json:3: a comma is missing.")

    async def body(shown):
        assert "config.json:3: a comma is missing." in shown.text

    show(fresh, body, Service(found=broken))


# --- the list -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (46, 10), *map(rarely, ((120, 36),))], ids=str)
def test_the_list_has_what_is_set_up_what_was_found_and_the_form(fresh, size):
    service = Service(has_model=True)

    async def body(shown):
        await shown.press("escape", "p")
        assert "Models and providers" in shown.text and "local" in shown.text and "esc back" in shown.text
        if size[1] > 20:
            assert "llama.cpp at 127.0.0.1:8080" in shown.text, (
                "found ones stand here though there is a model"
            )
            assert "FAR_KEY, not set" in shown.text and "add a provider…" in shown.text
        await shown.press("j", "enter")
        assert "New sessions ask far." in shown.text
        await shown.press("A")
        assert "Add a provider" in shown.text

    show(fresh, body, service, size=size)


def test_enter_in_the_list_adds_what_was_found_and_u_undoes_it(fresh):
    service = Service(has_model=True)

    async def body(shown):
        await shown.press("escape", "p", "j", "j", "enter")
        assert [one.name for one in service.saved] == ["llama-cpp"] and "Added llama-cpp" in shown.text
        assert "u undo" in shown.text
        await shown.press("u")
        assert service.undone == 1

    show(fresh, body, service)


async def by_palette(shown):
    await shown.press("escape", ":")
    await type_in(shown, "add a prov")
    await shown.press("enter")


async def by_model(shown):
    await type_in(shown, "/model ")
    assert "add a provider…" in shown.text
    await shown.press("up", "enter")
    await shown.press("enter")


async def by_command(shown):
    await type_in(shown, "/provider add")
    await shown.press("enter")


@pytest.mark.parametrize("way", [by_palette, by_model, by_command], ids=lambda way: way.__name__)
def test_the_form_is_reached_at_any_time(tmp_path, way):
    async def body(shown):
        shown.main.composer.focus_input()
        await way(shown)
        assert "Add a provider" in shown.text and "key variable" in shown.text

    models = {"available_models": lambda key: ((("m1", ""), ("m2", "")), "")}
    show(staged(tmp_path), body, Service(has_model=True), **models)


def test_words_of_a_model_are_not_taken_for_the_form(tmp_path):
    chosen = []

    async def body(shown):
        shown.main.composer.focus_input()
        await type_in(shown, "/model adder")
        await shown.press("enter")
        assert chosen == ["adder"]

    def choose(key, words):
        chosen.append(words)
        return ""

    show(
        staged(tmp_path),
        body,
        Service(has_model=True),
        available_models=lambda key: ((), ""),
        set_model=choose,
    )


# --- the form -----------------------------------------------------------------------------------------


async def open_form(shown):
    await shown.press("p", "A")
    assert shown.app.focused.id == "provider-base_url"


def test_a_local_server_is_asked_for_its_models_and_saved(fresh):
    service = Service()

    async def body(shown):
        await open_form(shown)
        await type_in(shown, "http://127.0.0.1:9999/v1")
        await shown.press("tab", "tab", "tab")
        assert values(shown)["model"] == "big" and values(shown)["name"] == "local"
        await shown.press("down")
        assert values(shown)["model"] == "small"
        await shown.press("f2")
        assert service.saved[0].model == "small" and service.saved[0].base_url == "http://127.0.0.1:9999/v1"
        assert "Added local" in shown.said or "Added local" in shown.text

    show(fresh, body, service)


def test_another_kind_brings_its_usual_address_and_leaves_what_was_written(fresh):
    async def body(shown):
        await open_form(shown)
        await shown.press("shift+tab", "down")
        assert (values(shown)["kind"], values(shown)["base_url"], values(shown)["name"]) == (
            "ollama", "http://localhost:11434", "ollama",
        )  # fmt: skip
        await shown.press("up")
        assert [values(shown)[one] for one in ("kind", "base_url", "name")] == ["openai-compatible", "", ""]
        await shown.press("tab")
        await type_in(shown, "http://mine")
        await shown.press("shift+tab", "down")
        assert values(shown)["base_url"] == "http://mine"

    show(fresh, body)


def test_every_wrong_field_has_its_sentence_and_nothing_typed_is_lost(fresh):
    service = Service()
    wrong = {
        "kind": "telepathy", "base_url": "ftp://x", "key_env": "MY KEY", "key_command": "pass show x",
        "model": "", "name": "far", "is_default": "perhaps",
    }  # fmt: skip

    async def body(shown):
        await open_form(shown)
        for name, words in wrong.items():
            shown.app.screen.query_one(f"#provider-{name}").value = words
        await shown.settle()
        await shown.press("f2")
        for sentence in (
            "Choose one: openai-compatible, ollama.", "An address starts with http:// or https://.",
            "A variable's name has letters, digits and _ only", "Give a variable or a command, not both.",
            "Name the model that is asked.", "There is a provider “far” already.", "Write yes or no.",
            "7 fields have to be changed.",
        ):  # fmt: skip
            assert sentence in shown.text
        assert values(shown) == wrong and service.saved == []

    show(fresh, body, service)


def test_what_the_configuration_refuses_is_said_and_everything_stays(fresh):
    service = Service(refusal="Nothing was changed. /x/config.json:4:2 is not JSON. Fix that line.")

    async def body(shown):
        await open_form(shown)
        await type_in(shown, "http://127.0.0.1:9999/v1")
        await shown.press("tab", "tab", "tab", "f2")
        assert "/x/config.json:4:2 is not JSON" in shown.text
        assert values(shown)["base_url"] == "http://127.0.0.1:9999/v1"
        service.refusal = ""
        await shown.press("f2")
        assert [one.name for one in service.saved] == ["local"]

    show(fresh, body, service)


@pytest.mark.parametrize("field_id", ["key_env", "key_command", "model", "name", "base_url"])
def test_a_pasted_key_never_stands_in_a_field(fresh, field_id):
    async def body(shown):
        await open_form(shown)
        shown.app.screen.query_one(f"#provider-{field_id}").focus()
        await shown.settle()
        shown.app.focused.post_message(events.Paste(SECRET))
        await shown.settle()
        assert SECRET not in "".join(values(shown).values()) and SECRET[:12] not in shown.text
        assert "That looks like a key." in shown.text
        await shown.press("escape")
        assert SECRET[:12] not in str(shown.main.context.providers.fields)
        assert all(SECRET[:12] not in message.text for message in shown.main.notifications.kept)

    show(fresh, body)


def test_a_key_that_is_typed_letter_by_letter_leaves_nothing_behind(fresh):
    async def body(shown):
        await open_form(shown)
        await shown.press("tab")
        for letter in SECRET:
            await shown.pilot.press(letter)
            assert len(values(shown)["key_env"]) <= len("sk")
        await shown.settle()
        assert values(shown)["key_env"] == "" and "That looks like a key." in shown.text
        shown.hand.waits(2)
        await type_in(shown, "SET")
        assert values(shown)["key_env"] == "SET" and "SET is set." in shown.text

    show(fresh, body)


def test_pasted_text_is_bounded_and_what_is_hidden_in_it_is_seen(fresh):
    async def body(shown):
        await open_form(shown)
        shown.app.focused.post_message(events.Paste("http://x\u200b" + "y" * 9_000))
        await shown.settle()
        value = values(shown)["base_url"]
        assert value.startswith("http://x⟨U+200B⟩y") and len(value) < 4_200

    show(fresh, body)


def test_a_variable_that_is_not_set_is_said_beside_it(fresh):
    async def body(shown):
        await open_form(shown)
        await shown.press("tab")
        await type_in(shown, "EMPTY_ONE")
        assert "EMPTY_ONE is not set here" in shown.text

    show(fresh, body)


def test_letters_in_a_field_decide_nothing(fresh):
    service = Service()

    async def body(shown):
        await open_form(shown)
        await type_in(shown, "adpqmstru")
        assert values(shown)["base_url"] == "adpqmstru"
        await shown.press("enter")
        assert shown.app.focused.id == "provider-key_env" and service.saved == []

    show(fresh, body, service)


def test_a_form_that_is_left_is_kept_until_it_is_saved(fresh):
    service = Service()

    async def body(shown):
        await open_form(shown)
        await type_in(shown, "http://127.0.0.1:7/v1")
        await shown.press("escape")
        assert "kept" in shown.said
        await shown.press("A")
        assert values(shown)["base_url"] == "http://127.0.0.1:7/v1"
        shown.app.screen.query_one("#provider-model").focus()
        await shown.settle()
        await shown.press("f2", "A")
        assert values(shown)["base_url"] == "" and len(service.saved) == 1

    show(fresh, body, service)


@pytest.mark.parametrize("size", [(80, 24), (46, 10)], ids=str)
def test_the_form_fits_and_says_how_it_is_left(fresh, size):
    async def body(shown):
        await open_form(shown)
        assert "f2 save" in shown.text and "esc back" in shown.text and "address" in shown.text
        for _ in range(5):
            await shown.press("tab")
        assert "new sessions" in shown.text and "f2 save" in shown.text

    show(fresh, body, size=size)


# --- a trial ------------------------------------------------------------------------------------------


async def ready_to_try(shown):
    await open_form(shown)
    await type_in(shown, "http://127.0.0.1:9999/v1")


def test_a_trial_tells_what_the_model_can_do_and_offers_its_models(fresh):
    async def body(shown):
        await ready_to_try(shown)
        await shown.press("ctrl+r")
        assert "It works: big answers, streams, calls tools, 2 models offered; 1.2 s." in shown.text
        assert values(shown)["model"] == "big"

    show(fresh, body)


def test_a_trial_that_fails_says_why(fresh):
    why = "127.0.0.1 answers a web page instead of JSON. Is the path right? Often it ends in /v1."
    report = ProviderReport(provider="local", base_url="http://127.0.0.1:1", problems=(why,))

    async def body(shown):
        await ready_to_try(shown)
        await shown.press("ctrl+r")
        assert "answers a web page instead of JSON" in shown.text
        assert values(shown)["base_url"] == "http://127.0.0.1:9999/v1"

    show(fresh, body, Service(report=report))


def test_a_trial_counts_seconds_and_esc_stops_it(fresh):
    stopped = threading.Event()

    def slow(trial):
        trial.progress("Asking big for two short replies.", stopped.set)
        stopped.wait(PATIENCE)
        raise BackendError("The trial was stopped.")

    service = Service(report=slow)

    async def until(shown, words):
        await until_true(lambda: words in shown.text, shown.pilot.pause, lambda: f"{words}:\n{shown.text}")

    async def body(shown):
        await ready_to_try(shown)
        shown.hand.waits(1)
        await shown.pilot.press("ctrl+r")
        await until(shown, "0 s  Asking big for two short replies. esc stops it.")
        shown.hand.waits(7)
        await until(shown, "7 s  Asking big")
        await shown.pilot.press("escape")
        await shown.settle()
        assert stopped.is_set() and "Stopped. Nothing was saved." in shown.text
        assert values(shown)["base_url"] == "http://127.0.0.1:9999/v1", "the form stays"

    try:
        show(fresh, body, service)
    finally:
        stopped.set()
