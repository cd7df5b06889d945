"""How long a question waits: the user's windows by kind and by folder, and those of a workspace."""

import json

import pytest

from workbench.config.layers import load_config
from workbench.config.types import ApprovalSettings
from workbench.config.windows import approval_window_minutes


@pytest.fixture
def minutes(tmp_path):
    """Return what a question of a workspace gets, with these windows of the user and of the workspace."""
    workspace = tmp_path / "code" / "shop"
    workspace.mkdir(parents=True)

    def of(verb, windows, own=(), base=15, *, trusted=False):
        user = {"approvals": {"window_minutes": base, "windows": windows}}
        (tmp_path / "config.json").write_text(json.dumps(user))
        (workspace / ".workbench.json").write_text(json.dumps({"approvals": {"windows": list(own)}}))
        found = load_config(tmp_path, workspace, trusted=trusted, env={}, options={})
        assert not (found.problems or found.ignored)
        return approval_window_minutes(found.config.approvals, verb, str(workspace))

    of.folder, of.code = str(workspace), str(workspace.parent)
    return of


def test_without_a_window_of_its_own_the_general_one_counts(minutes):
    assert minutes("edit", []) == 15
    assert minutes("edit", [{"kind": "command", "minutes": 5}], base=20) == 20


@pytest.mark.parametrize(
    ("verb", "kind"),
    [
        ("read", "read"),
        ("edit", "edit"),
        ("write", "edit"),
        ("run", "command"),
        ("fetch", "fetch"),
        ("gate", "gate"),
    ],
)
def test_each_kind_has_its_own(minutes, verb, kind):
    others = [
        {"kind": name, "minutes": 2} for name in ("read", "edit", "command", "fetch", "gate") if name != kind
    ]
    assert minutes(verb, [*others, {"kind": kind, "minutes": 480}]) == 480


def test_the_most_specific_window_counts(minutes):
    folder, code = minutes.folder, minutes.code
    by_kind, by_folder = {"kind": "edit", "minutes": 5}, {"folder": folder, "minutes": 60}
    assert minutes("edit", [by_folder, by_kind]) == 60
    assert minutes("edit", [{**by_folder, "kind": "edit", "minutes": 90}, by_folder]) == 90
    assert minutes("run", [{**by_folder, "kind": "edit", "minutes": 90}, by_folder]) == 60
    assert minutes("edit", [by_folder, {"folder": code, "kind": "edit", "minutes": 30}]) == 60
    assert minutes("edit", [{"folder": code, "minutes": 30}, by_kind]) == 30
    assert minutes("edit", [by_kind, {**by_kind, "minutes": 7}]) == 7


def test_a_folder_is_not_one_whose_name_begins_alike(minutes):
    assert minutes("edit", [{"folder": minutes.folder[:-1], "minutes": 60}]) == 15
    assert minutes("edit", [{"folder": minutes.folder + "/", "minutes": 60}]) == 60
    assert minutes("edit", [{"folder": minutes.folder + "/below", "minutes": 60}]) == 15


def test_the_home_folder_may_be_written_short(minutes, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert minutes("edit", [{"folder": "~/code", "minutes": 60}]) == 60
    assert minutes("edit", [{"folder": "~", "minutes": 50}]) == 50


@pytest.mark.parametrize("trusted", [True, False])
def test_a_workspace_only_shortens(minutes, trusted):
    users = [{"kind": "edit", "minutes": 60}]
    assert minutes("edit", users, [{"minutes": 5}], trusted=trusted) == 5
    assert minutes("edit", users, [{"minutes": 600}], trusted=trusted) == 60
    assert (
        minutes("edit", [], [{"folder": minutes.folder, "kind": "edit", "minutes": 600}], trusted=trusted)
        == 15
    )
    assert minutes("run", users, [{"kind": "edit", "minutes": 5}], trusted=trusted) == 15


def test_a_gate_waits_for_hours_where_nothing_is_said_of_gates():
    settings = ApprovalSettings(window_minutes=15)
    assert approval_window_minutes(settings, "gate", "/x") == 24 * 60
    assert approval_window_minutes(settings, "edit", "/x") == 15
