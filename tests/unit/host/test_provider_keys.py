"""Keys that a command prints: kept for a while, and printed again when they were refused."""

import pytest

from workbench.host.provider_keys import forget_command_key, key_from_command
from workbench.providers.base import KeyMissing


def test_a_commands_key_is_kept_until_its_time_is_over_or_it_was_refused(tmp_path):
    command, folder, clock = "date +key-%N-made-up >> runs; tail -n 1 runs", str(tmp_path), [0.0]

    def key():
        return key_from_command(command, folder, lambda: clock[0])

    first = key()
    clock[0] = 1_800.0
    assert key() == first, "the command ran again within 30 minutes"
    clock[0] = 1_801.0
    second = key()
    assert second != first
    assert forget_command_key(command, folder)
    assert not forget_command_key(command, folder), "there is none to forget"
    assert key() not in (first, second)
    assert len((tmp_path / "runs").read_text().splitlines()) == 3


def test_a_command_without_a_key_is_asked_again(tmp_path):
    command = "cat key"
    with pytest.raises(KeyMissing, match="gave no key"):
        key_from_command(command, str(tmp_path))
    (tmp_path / "key").write_text("made-up-key\n")
    assert key_from_command(command, str(tmp_path)) == "made-up-key"
