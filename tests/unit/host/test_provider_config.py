"""Providers in the user's config.json as a file: mode, links, other writers, what cannot be written."""

import json
import os
import threading

import pytest
from msgspec.structs import replace

from workbench.config.layers import load_config
from workbench.config.provider_edit import ProviderDraft, ProviderRefused
from workbench.domain.rows import Host
from workbench.effects import files as effect_files
from workbench.effects.file_locks import FileLock
from workbench.host import provider_config
from workbench.host.provider_config import (
    config_with,
    provider_rows,
    put_provider,
    remove_provider,
    set_default,
)
from workbench.journal.home import Home

URL = "http://127.0.0.1:8080/v1"
LOCAL = ProviderDraft(name="local", base_url=URL, model="m")


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "wb-home")


@pytest.fixture
def file(home):
    return home.path / "config.json"


def read(file):
    return json.loads(file.read_text())


def test_a_file_is_made_for_its_owner_alone(home, file):
    assert put_provider(home, LOCAL) == f"Added local in {file}."
    assert file.stat().st_mode & 0o777 == 0o600
    assert read(file)["providers"]["local"]["model"] == "m"


def test_a_file_keeps_its_mode_and_its_byte_order_mark(home, file):
    file.write_bytes('\ufeff{\r\n  "ui": {}\r\n}\r\n'.encode())
    file.chmod(0o640)
    put_provider(home, LOCAL, is_default=True)
    assert file.stat().st_mode & 0o777 == 0o640
    data = file.read_bytes()
    assert data.startswith("\ufeff{\r\n".encode()) and b'"default_provider": "local"\r\n}\r\n' in data
    assert data.count(b"\n") == data.count(b"\r\n")


def test_the_same_again_writes_nothing(home, file):
    put_provider(home, LOCAL)
    before = file.stat()
    assert put_provider(home, LOCAL) == f"local is in {file} already."
    assert file.stat().st_mtime_ns == before.st_mtime_ns and file.stat().st_ino == before.st_ino


def test_another_provider_of_that_name_is_replaced_only_when_that_is_wanted(home, file):
    put_provider(home, LOCAL)
    other = replace(LOCAL, model="n")
    with pytest.raises(ProviderRefused, match="There is a provider local already"):
        put_provider(home, other)
    assert read(file)["providers"]["local"]["model"] == "m"
    assert put_provider(home, other, may_replace=True) == f"Changed local in {file}."
    assert read(file)["providers"]["local"]["model"] == "n"


def test_a_link_is_followed_to_its_file(home, file, tmp_path):
    real = tmp_path / "dotfiles" / "workbench.json"
    real.parent.mkdir()
    real.write_text("{}")
    file.symlink_to(real)
    put_provider(home, LOCAL)
    assert file.is_symlink() and "local" in read(real)["providers"]
    file.unlink()
    file.symlink_to(tmp_path / "gone" / "x.json")
    with pytest.raises(ProviderRefused):
        put_provider(home, LOCAL)


def test_what_cannot_be_written_is_said(home, file):
    file.write_text("{}")
    file.chmod(0o400)
    with pytest.raises(ProviderRefused, match="is read-only"):
        put_provider(home, LOCAL)
    file.chmod(0o600)
    file.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(ProviderRefused, match="not UTF-8"):
        put_provider(home, LOCAL)
    file.write_text('{\n "a": 1,\n}')
    with pytest.raises(ProviderRefused, match="Line 2"):
        put_provider(home, LOCAL)
    assert file.read_text() == '{\n "a": 1,\n}'
    file.unlink()
    file.mkdir()
    with pytest.raises(ProviderRefused, match="not changed"):
        put_provider(home, LOCAL)


def test_a_change_by_an_editor_at_the_same_moment_is_not_lost(home, file, monkeypatch):
    file.write_text("{}")
    stage = effect_files.Root.stage

    def slow(root, rel, data, mode):
        staged = stage(root, rel, data, mode)
        file.write_text('{"ui": {}}')
        return staged

    monkeypatch.setattr(effect_files.Root, "stage", slow)
    with pytest.raises(ProviderRefused, match="at the same moment"):
        put_provider(home, LOCAL)
    assert file.read_text() == '{"ui": {}}'
    assert [path.name for path in home.path.iterdir() if path.name.endswith(".tmp")] == []


def test_writers_at_once_lose_nothing(home, file):
    said, names = [], [f"p{number}" for number in range(8)]
    threads = [
        threading.Thread(target=lambda name=name: said.append(put_provider(home, replace(LOCAL, name=name))))
        for name in [*names, "p0"]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(read(file)["providers"]) == names
    assert len(said) == 9 and sum("already" in line for line in said) == 1


def test_a_writer_that_hangs_is_not_waited_for_long(home, monkeypatch):
    monkeypatch.setattr(provider_config, "_LOCK_SECONDS", 0.05)
    with FileLock(home.run / "config.lock") as lock:
        assert lock.try_acquire()
        with pytest.raises(ProviderRefused, match="Another workbench is changing it"):
            put_provider(home, LOCAL)
    put_provider(home, LOCAL)


def test_removing_and_the_default(home, file):
    put_provider(home, LOCAL)
    assert set_default(home, "local", "n") == "New sessions ask n (local)."
    assert (read(file)["default_provider"], read(file)["providers"]["local"]["model"]) == ("local", "n")
    assert remove_provider(home, "local").endswith("It was the default; there is none now.")
    assert read(file) == {"config_version": 1, "providers": {}}


def loaded(home, **providers):
    (home.path / "config.json").write_text(json.dumps({"providers": providers}))
    return load_config(home.path, None, trusted=True, env={}, options={})


def test_rows_say_where_keys_are(home):
    found = loaded(
        home,
        a={"kind": "ollama"},
        b={"kind": "openai-compatible", "base_url": URL, "key_env": "PATH"},
        c={"kind": "openai-compatible", "base_url": URL, "key_env": "NO_SUCH_KEY"},
        d={"kind": "openai-compatible", "base_url": URL, "key_command": "pass show x"},
    )
    env = {"PATH": "x", "NO_SUCH_KEY": " "}
    rows = {row.name: row for row in provider_rows(found, None, env)}
    assert [row.key_words for row in rows.values()] == [
        "no key",
        "PATH, set",
        "NO_SUCH_KEY, not set",
        "key_command",
    ]
    host = Host(id="h", pid=os.getpid(), workspace="/", driver="host", started_at=0, version="", schema=0)
    behind = {row.name: row.is_key_in_background for row in provider_rows(found, host, env)}
    assert behind == {"a": None, "b": True, "c": False, "d": None}
    rows = provider_rows(found, host, {**env, "NO_SUCH_KEY": "x"})
    assert rows[2].key_words == "NO_SUCH_KEY, not in the background process"


def test_a_draft_is_tested_with_the_headers_of_its_own_address_only(home):
    headers = {"X-Team": "tools"}
    config = loaded(home, local={"kind": "openai-compatible", "base_url": URL, "headers": headers}).config
    assert config_with(config, LOCAL).providers["local"].headers == headers
    elsewhere = replace(LOCAL, base_url="http://127.0.0.1:9/v1")
    assert config_with(config, elsewhere).providers["local"].headers == {}
    assert config.providers["local"].base_url == URL
