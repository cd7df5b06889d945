"""Configuration that changes while a driver works: noticed by its folder, taken over as far as that is safe."""

import asyncio
import itertools
import json
import threading

import pytest

from tests.support.stage import exchange, recording, text
from tests.support.waits import PATIENCE, until, until_true
from workbench.effects import folder_changes
from workbench.host.driver_context import (
    apply_config_changes,
    apply_pending_config_changes,
    following_config_changes,
    sync_config_rules,
)
from workbench.host.workspace_config import ConfigWatch

RULE = {"id": "1", "tool_name": "read_file", "param_pattern": "x", "description": "d"}


def write(stage, **content):
    (stage.home.path / "config.json").write_text(json.dumps({"config_version": 1, **content}))


def test_a_file_is_noticed_when_it_is_made_replaced_and_written_and_others_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_changes, "_REST_STEP_MS", 50)
    looks, file_states = [], folder_changes._file_states
    monkeypatch.setattr(folder_changes, "_file_states", lambda paths: looks.append(1) or file_states(paths))
    path, noticed, ready = tmp_path / "config.json", [], threading.Event()
    watching = ConfigWatch(
        [path, tmp_path / "gone" / "x.json"], lambda: noticed.append(path.read_text()), on_start=ready.set
    )
    try:
        assert ready.wait(PATIENCE)
        numbers = itertools.count()

        def put_another():
            put(path, str(next(numbers)))
            return noticed

        until(put_another)  # the watch begins a moment after its thread says that it does
        put(path, "first")
        until(lambda: noticed[-1] == "first")
        noticed.clear()
        woken = len(looks)
        (tmp_path / "journal.db-wal").write_text("x")
        until(lambda: len(looks) > woken)  # the watch was woken by it
        put(path, "second")
        until(lambda: noticed)
        assert noticed == ["second"]
    finally:
        watching.close()
    path.write_text("again")
    watching._thread.join(PATIENCE)
    assert not watching._thread.is_alive() and noticed == ["second"]


def put(path, text):
    """Put a whole file in the place of another: while it is written it would be another one for a moment."""
    path.with_name("new").write_text(text)
    path.with_name("new").replace(path)


@pytest.mark.spec(47)
def test_a_driver_takes_over_limits_and_lost_rules_but_no_new_grant(staged):
    stage = staged(recording(exchange(text("ok"))), config={"auto_approval_rules": [RULE]})
    context = stage.context()
    sync_config_rules(
        stage.journal, context.read_settings().loaded, context.tools.descriptors(), str(stage.workspace)
    )
    assert len(stage.journal.rules()) == 1
    write(
        stage, limits={"max_turns": 3}, auto_approval_rules=[{**RULE, "id": "2"}], approvals={"allow": ["*"]}
    )
    assert context.read_settings().config.limits.max_turns == 50
    apply_config_changes(context)
    assert context.read_settings().config.limits.max_turns == 3
    assert (context.read_settings().config.approvals.allow, stage.journal.rules()) == ((), [])
    (stage.home.path / "config.json").write_text("{")
    apply_config_changes(context)
    assert context.read_settings().config.limits.max_turns == 3
    context.root.close()


def test_a_loop_that_follows_has_the_new_limit(staged):
    stage = staged(recording(exchange(text("ok"))))
    context = stage.context()

    async def run():
        with following_config_changes(context, delay=0.0):

            async def write_and_wait():
                write(stage, limits={"max_turns": 7})
                await asyncio.sleep(0.1)

            await until_true(lambda: context.read_settings().config.limits.max_turns == 7, write_and_wait)

    asyncio.run(run())
    context.root.close()


def test_a_changed_file_counts_before_the_watch_tells_of_it(staged, monkeypatch):
    """A provider is added and the next question goes to it: nobody waits for a watch in between."""
    monkeypatch.setenv("PLAIN_NAME", "fabricated")
    stage = staged(recording(exchange(text("ok"))))
    context = stage.context()
    assert "PLAIN_NAME" in context.environment
    assert not context.settings.has_changed()
    local = {"kind": "openai-compatible", "base_url": "http://127.0.0.1:1/v1", "key_env": "PLAIN_NAME"}
    write(stage, providers={"local": local})
    assert context.settings.has_changed()
    apply_pending_config_changes(context)
    assert context.read_settings().config.providers["local"].base_url == "http://127.0.0.1:1/v1"
    assert "PLAIN_NAME" not in context.environment, "no command of an agent gets a key"
    readings = context.settings.readings
    apply_pending_config_changes(context)
    assert context.settings.readings == readings, "only a changed file is read again"
    context.root.close()


def test_a_change_before_the_watch_began_is_noticed(staged):
    stage = staged(recording(exchange(text("ok"))))
    context = stage.context()

    async def run():
        write(stage, limits={"max_turns": 7})
        with following_config_changes(context, delay=0.0):
            await until_true(lambda: context.read_settings().config.limits.max_turns == 7)

    asyncio.run(run())
    context.root.close()
