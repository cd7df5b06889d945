"""Another provider is asked when one is overloaded, only where the settings name it, and it is said."""

import pytest

from tests.support.chat_server import ChatServer, error, said
from tests.support.stage import USER, Stage, exchange, recording, text
from workbench.domain import events
from workbench.domain.messages import asked_models


def stage_with(tmp_path, first, second, **more):
    def settings(server, **extra):
        return {"kind": "openai-compatible", "base_url": server.base_url, "model": "m", **extra}

    config = {"default_provider": "first", "providers": {
        "first": settings(first, **more), "second": settings(second, **{"model": "other", "fallback": "first"}),
    }}  # fmt: skip
    stage = Stage(tmp_path, recording(exchange(text("unused"))), config=config).trust()
    stage.begin()
    body = events.SessionChanged(provider="first", model="m")
    stage.journal.append([stage.journal.event(body, stage.session_id, USER)])
    return stage


def overloaded():
    return ChatServer(otherwise=error("529 Overloaded", "Overloaded", type="overloaded_error"))


def test_an_overloaded_provider_hands_over_to_the_one_that_the_settings_name(tmp_path):
    with overloaded() as first, ChatServer(said("Hello.")) as second:
        stage = stage_with(tmp_path, first, second, fallback="second")
        assert stage.drive().last_outcome == "done"
        assert len(first.asked) == 4 and len(second.asked) == 1, "three more tries first"
        session = stage.session()
        assert (session.provider, session.model) == ("second", "other")
        last = stage.bodies(events.ErrorRaised)[-1]
        assert "other (second) is asked instead, as the settings say" in last.details
        asked = asked_models(stage.journal.events(stage.session_id))
        assert list(asked.values()) == [("second", "other")]
        stage.close()


@pytest.mark.parametrize("status", ["529 Overloaded", "400 Bad Request", "401 Unauthorized"])
def test_without_a_setting_and_for_other_failures_nobody_else_is_asked(tmp_path, status):
    with ChatServer(otherwise=error(status, "no")) as first, ChatServer(said("Hello.")) as second:
        more = {} if status.startswith("529") else {"fallback": "second"}
        stage = stage_with(tmp_path, first, second, **more)
        assert stage.drive().last_outcome == "error"
        assert second.asked == [] and stage.session().provider == "first"
        stage.close()


def test_where_all_are_overloaded_it_ends_and_nobody_is_asked_in_a_circle(tmp_path):
    with overloaded() as first, overloaded() as second:
        stage = stage_with(tmp_path, first, second, fallback="second")
        assert stage.drive().last_outcome == "error"
        assert (len(first.asked), len(second.asked)) == (4, 4)
        stage.close()
