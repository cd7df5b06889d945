"""How a session goes on: which model is meant, what is asked about from here on, what is marked."""

import json

import pytest

from tests.support.stage import USER, call, exchange, recording, text
from tests.support.tables import each_row
from workbench.domain import events
from workbench.domain.messages import FailurePart
from workbench.host import model_selection, session_requests
from workbench.host.fork import default_fork_plan
from workbench.host.session_requests import SessionRefused
from workbench.host.workspace_config import WorkspaceSettings
from workbench.providers.base import ModelsNotListed

PROVIDERS = {
    "local": {"kind": "openai-compatible", "base_url": "http://127.0.0.1:8081/v1"},
    "far": {"kind": "openai-compatible", "base_url": "http://127.0.0.1:8082/v1", "model": "vendor/big"},
    "mute": {"kind": "openai-compatible", "base_url": "http://127.0.0.1:8083/v1"},
    "tape": {"kind": "recorded"},
}
HAS = {"local": ("qwen3-coder", "gpt-oss", "vendor/small"), "far": ("vendor/huge",)}


def listing(endpoint, seconds):
    assert 0 < seconds <= 5
    if endpoint.name not in HAS:
        raise ModelsNotListed(FailurePart(code="network", message="nothing answers", remedy="start it"))
    return HAS[endpoint.name]


@pytest.fixture
def stage(staged):
    reading = exchange(call("c1", "read_file", path="a.txt"))
    return staged(recording(reading, exchange(text("ok"))), files={"a.txt": "hello\n"})


def config_of(stage, **more):
    path = stage.home.path / "config.json"
    path.write_text(
        json.dumps({"config_version": 1, "providers": PROVIDERS, "default_provider": "local", **more})
    )
    return WorkspaceSettings(stage.home, str(stage.workspace), {}).loaded(trusted=True).config


def asked(stage, provider="local", model="qwen3-coder", **more):
    made = session_requests.create_session(
        stage.journal, workspace=str(stage.workspace), provider=provider, model=model, actor=USER, **more
    )  # fmt: skip
    return stage.journal.session(made)


# --- models ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "provider", "model", "note"),
    [
        ("gpt-oss", "local", "gpt-oss", ""),
        ("local/gpt-oss", "local", "gpt-oss", ""),
        ("vendor/small", "local", "vendor/small", ""),
        ("far/vendor/huge", "far", "vendor/huge", ""),
        ("far/vendor/big", "far", "vendor/big", ""),
        (" gpt-oss ", "local", "gpt-oss", ""),
        ("mute/anything", "mute", "anything", "nothing answers."),
    ],
)
def test_which_model_is_meant(stage, words, provider, model, note):
    found = model_selection.model_named(config_of(stage), asked(stage), words, listing)
    assert (found.provider, found.model, found.note) == (provider, model, note)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("gpt-os", "local has no model “gpt-os”. It has gpt-oss, qwen3-coder, vendor/small."),
        ("zzz", "It has qwen3-coder, gpt-oss, vendor/small."),
        ("far/gpt-oss", "far has no model “gpt-oss”."),
        ("tape/gpt", "local has no model “tape/gpt”."),
        ("two words", "not a name of a model"),
        ("a\x1b[31mb", "not a name of a model"),
        ("x" * 201, "not a name of a model"),
        ("", "not a name of a model"),
    ],
)
def test_a_model_that_is_not_there_is_refused_with_those_that_are(stage, words, why):
    with pytest.raises(SessionRefused) as refused:
        model_selection.model_named(config_of(stage), asked(stage), words, listing)
    assert why in str(refused.value)
    assert refused.value.what == "The model was not changed."


@each_row(
    ("provider", "wanted", "settings", "provider_name", "model", "note"),
    [
        (None, "gpt-oss", {}, "local", "gpt-oss", ""),
        (None, "far/vendor/huge", {}, "far", "vendor/huge", ""),
        ("far", "vendor/huge", {}, "far", "vendor/huge", ""),
        (None, "vendor/small", {}, "local", "vendor/small", ""),
        (None, "far/vendor/big", {}, "far", "vendor/big", ""),
        (None, "mute/any", {}, "mute", "any", "“any” was not checked: mute does not list its models"),
        (None, None, {"default_provider": None, "default_model": "far/own"}, "far", "own", ""),
        (None, None, {"default_model": "vendor/small"}, "local", "vendor/small", ""),
        (None, "mute/any", {"ask": {"model": "mute/any"}}, "mute", "any", ""),
    ],
)
def test_a_new_session_asks_the_model_that_is_named(
    stage, provider, wanted, settings, provider_name, model, note
):
    preference = model_selection.ModelPreference(provider=provider, model=wanted)
    found = model_selection.select_model(config_of(stage, **settings), preference, listing)
    assert (found.provider, found.model) == (provider_name, model)
    assert found.note.startswith(note) and bool(found.note) == bool(note)


@each_row(
    ("provider", "wanted", "why"),
    [
        (None, "gpt-os", "local has no model “gpt-os”. It has gpt-oss, qwen3-coder, vendor/small."),
        (None, "far/gpt-oss", "far has no model “gpt-oss”. It has vendor/huge."),
        ("far", "small", "far has no model “small”. It has vendor/huge."),
    ],
)
def test_a_model_that_is_not_listed_starts_no_session(stage, provider, wanted, why):
    preference = model_selection.ModelPreference(provider=provider, model=wanted)
    with pytest.raises(model_selection.NoModelSelected) as refused:
        model_selection.select_model(config_of(stage), preference, listing)
    assert why in str(refused.value)
    assert refused.value.is_misuse


def test_names_of_models_that_a_list_writes_otherwise_are_found(stage):
    config = config_of(stage)

    def names(endpoint, seconds):
        return ("local/auto", "tiny:latest")

    for wanted, model in (("local/auto", "local/auto"), ("tiny", "tiny:latest")):
        chosen = model_selection.select_model(config, model_selection.ModelPreference(model=wanted), names)
        assert (chosen.provider, chosen.model) == ("local", model)
        assert model_selection.model_named(config, None, wanted, names).model == model


def test_a_server_named_by_its_address_and_a_batch_of_incidents_are_not_asked_for_a_list(stage):
    def never(endpoint, seconds):
        raise AssertionError("a list was asked for")

    at = model_selection.ModelPreference(base_url="http://127.0.0.1:1/v1", model="local/x")
    assert model_selection.select_model(config_of(stage), at, never).model == "local/x"
    batch = model_selection.ModelPreference(model="local/x")
    chosen = model_selection.select_model(config_of(stage), batch, never, checks_model=False)
    assert (chosen.provider, chosen.model) == ("local", "x")


def test_without_a_provider_nothing_is_chosen(stage):
    config = config_of(stage, providers={}, default_provider="")
    with pytest.raises(SessionRefused, match="No provider that can be asked"):
        model_selection.model_named(config, None, "any", listing)


def test_what_is_offered_begins_with_the_sessions_own_and_names_who_is_silent(stage):
    found = model_selection.available_models(config_of(stage), asked(stage, "far", "vendor/old"), listing)
    names = [f"{one.provider}/{one.model}" for one in found.models]
    assert names == [
        "far/vendor/old", "far/vendor/big", "far/vendor/huge",
        "local/qwen3-coder", "local/gpt-oss", "local/vendor/small",
    ]  # fmt: skip
    assert dict(found.silent) == {"mute": "nothing answers."}


def test_another_model_answers_from_here_on(stage):
    config, session = config_of(stage), asked(stage, configuration={"endpoint": {"key_env": "OLD"}})
    said = model_selection.change_model(stage.journal, config, session, "gpt-oss", USER, listing)
    assert said == "From its next question on it asks gpt-oss (local)."
    now = stage.journal.session(session.id)
    assert (now.provider, now.model, now.configuration) == (
        "local",
        "gpt-oss",
        {"endpoint": {"key_env": "OLD"}},
    )
    assert (
        model_selection.change_model(stage.journal, config, now, "gpt-oss", USER, listing)
        == "It asks gpt-oss already."
    )
    model_selection.change_model(stage.journal, config, now, "far/vendor/huge", USER, listing)
    now = stage.journal.session(session.id)
    # The key that was named for one server does not go to another.
    assert (now.provider, now.model, now.configuration) == ("far", "vendor/huge", {})
    changes = [
        one.body for one in stage.journal.events(session.id) if isinstance(one.body, events.SessionChanged)
    ]
    assert [(one.provider, one.model) for one in changes] == [("local", "gpt-oss"), ("far", "vendor/huge")]


def test_who_takes_no_other_model(stage):
    config = config_of(stage)
    stage.begin()
    with pytest.raises(SessionRefused, match="plays a recording"):
        model_selection.change_model(stage.journal, config, stage.session(), "gpt-oss", USER, listing)
    ended = asked(stage)
    session_requests.end_session(stage.journal, ended, USER)
    for act in (
        lambda one: model_selection.change_model(stage.journal, config, one, "gpt-oss", USER, listing),
        lambda one: session_requests.set_approval_mode(stage.journal, one, "every", USER),
        lambda one: session_requests.add_bookmark(stage.journal, one, "x", USER),
    ):
        with pytest.raises(SessionRefused, match="The session is terminated"):
            act(stage.journal.session(ended.id))


# --- what is asked about -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "is_trusted", "asks"),
    [
        (None, False, True),
        (None, True, False),
        ("every", True, True),
        ("reads", False, False),
        ("settings", True, False),
        ("settings", False, True),
    ],
)
def test_what_a_session_asks_about(stage, mode, is_trusted, asks):
    if is_trusted:
        stage.trust()
    stage.begin()
    if mode == "settings":
        session_requests.set_approval_mode(stage.journal, stage.session(), "reads", USER)
    if mode:
        session_requests.set_approval_mode(stage.journal, stage.session(), mode, USER)
    stage.drive()
    assert bool(stage.waiting()) is asks
    if mode == "reads":
        verdict = stage.bodies(events.CallProposed)[0].verdict
        assert (verdict.by, verdict.reason) == (
            "session",
            "reading is allowed without asking in this session",
        )


def test_a_mode_that_is_not_there_is_refused_with_those_that_are(stage):
    stage.begin()
    before = stage.kinds()
    for word in ("", "yolo", "EVERY THING"):
        with pytest.raises(SessionRefused, match="every, reads, settings"):
            session_requests.set_approval_mode(stage.journal, stage.session(), word, USER)
    assert stage.kinds() == before
    assert session_requests.set_approval_mode(stage.journal, stage.session(), " Reads ", USER).startswith(
        "This session: asks before all except reads."
    )


def test_what_was_let_pass_holds_for_one_session(stage):
    stage.begin()
    session_requests.set_approval_mode(stage.journal, stage.session(), "reads", USER)
    assert stage.session().reads == "reads"
    assert "reads" not in default_fork_plan(stage.session()).configuration
    session_requests.set_approval_mode(stage.journal, stage.session(), "every", USER)
    assert default_fork_plan(stage.session()).configuration["reads"] == "every"
    session_requests.set_approval_mode(stage.journal, stage.session(), "settings", USER)
    assert stage.session().reads is None
    assert "reads" not in stage.session().configuration


# --- marks ------------------------------------------------------------------------------------------------


def test_a_mark_has_its_words_in_one_line(stage):
    stage.begin()
    assert session_requests.add_bookmark(
        stage.journal, stage.session(), " before\nthe \x1b[31mrename ", USER
    ).startswith("Marked: before")
    assert (
        session_requests.add_bookmark(stage.journal, stage.session(), "", USER)
        == "Marked. In its replay m goes there."
    )
    session_requests.add_bookmark(stage.journal, stage.session(), "x" * 500, USER)
    first, second, third = stage.bodies(events.MarkAdded)
    assert "\x1b" not in first.label
    assert "\n" not in first.label
    assert (second.label, len(third.label) <= session_requests.MAX_BOOKMARK_LENGTH) == ("", True)
