"""Compressed files: read as what is in them, bounded, and what is damaged is told with its line."""

import gzip
import io
import json
import sys
import zipfile
from functools import partial

import pytest

from workbench.formats.assemble import imported_session_id
from workbench.formats.compression import zip_module
from workbench.formats.detect import UnknownFormat, detect_format, open_file

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKS = {"gzip": partial(gzip.compress, mtime=0), "zstd": zstd.compress}


def rollout(count):
    lines = [
        {"timestamp": "2026-02-01T10:00:00Z", "type": "session_meta", "payload": {"id": "r1", "cwd": "/shop"}}
    ]
    for number in range(count):
        said = {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": f"say {number * 7919}"}],
        }
        lines.append(
            {
                "timestamp": f"2026-02-01T10:{number // 60:02}:{number % 60:02}Z",
                "type": "response_item",
                "payload": said,
            }
        )
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def taken(data, name="rollout.jsonl.zst", wanted=None):
    """Return how many events came, the summaries, and the problems of a file without a session."""
    found = open_file(io.BytesIO(data), name, 0, wanted, store=lambda _: None, current_id=lambda key: key)
    events = list(found.events)
    return found, events


@pytest.mark.parametrize("kind", PACKS)
def test_a_packed_session_is_the_session(kind):
    plain, packed = taken(rollout(40)), taken(PACKS[kind](rollout(40)))
    assert packed[0].format == "codex" and packed[1] == plain[1]
    assert packed[0].summaries == plain[0].summaries and packed[0].summaries[
        0
    ].session_id == imported_session_id("codex", "r1")


@pytest.mark.parametrize("kind", PACKS)
@pytest.mark.parametrize("harm", ["cut", "flipped"])
def test_what_is_before_the_damage_is_kept(kind, harm):
    data = bytearray(PACKS[kind](rollout(3_000) + b"".join(b"%x\n" % (n * 99991) for n in range(9_000))))
    if harm == "cut":
        del data[len(data) - 40 :]
    else:
        data[-9] ^= 0xFF
    found, events = taken(bytes(data))
    whys = [one.message for one in found.summaries[0].problems]
    assert len(events) > 500 and any(f"the {kind} file" in why for why in whys), whys[-2:]
    assert next(one.line for one in found.summaries[0].problems if "file" in one.message) > 1_000


@pytest.mark.parametrize("kind", PACKS)
def test_a_bomb_ends_where_no_session_would_be_as_small(kind, monkeypatch):
    monkeypatch.setattr("workbench.formats.compression.ALWAYS_DECOMPRESSED", 1 << 17)
    found, _ = taken(PACKS[kind](rollout(2) + b"\n" * 400_000))
    assert any("over 250 times its size" in one.message for one in found.summaries[0].problems)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (PACKS["zstd"](PACKS["gzip"](rollout(1))), "compressed twice"),
        (PACKS["zstd"](b""), "it is empty"),
        (PACKS["zstd"](rollout(1))[:7], "breaks off"),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 40, "is damaged here"),
        (b"\x1f\x8bnothing of the kind", "is damaged here"),
        (b"BZh91AY&SY", "bunzip2 x unpacks it"),
        (b"\xfd7zXZ\0\0\0", "unxz x unpacks it"),
    ],
)
def test_what_is_none_says_why(data, why):
    with pytest.raises(UnknownFormat, match=why):
        detect_format(io.BytesIO(data), "x")


@pytest.mark.parametrize("harm", [False, True])
def test_entries_of_an_evaluation_may_be_packed_with_zstd(harm):
    module, made = zip_module(), io.BytesIO()
    with module.ZipFile(made, "w", module.ZIP_ZSTANDARD) as archive:
        archive.writestr(
            "header.json",
            json.dumps({"version": 2, "status": "success", "eval": {"task": "t", "model": "openai/m"}}),
        )
        for number in (1, 2):
            said = [{"role": "user", "content": f"question {number}"}]
            archive.writestr(
                f"samples/{number}_epoch_1.json", json.dumps({"id": number, "epoch": 1, "messages": said})
            )
    data = bytearray(made.getvalue())
    if harm:
        at = data.index(b"samples/1_epoch_1.json") + len("samples/1_epoch_1.json")
        data[at : at + 12] = b"\xff" * 12
    found, _ = taken(bytes(data), "log.eval")
    assert [one.title for one in found.summaries] == (["t 2"] if harm else ["t 1", "t 2"])


def test_a_damaged_entry_of_a_common_zip_is_told():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "header.json",
            json.dumps({"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}),
        )
        archive.writestr(
            "samples/1_epoch_1.json",
            json.dumps({"id": 1, "messages": [{"role": "user", "content": "x" * 400}]}),
        )
    data = bytearray(made.getvalue())
    at = data.index(b"samples/1_epoch_1.json") + len("samples/1_epoch_1.json")
    data[at : at + 6] = b"\xff" * 6
    found, events = taken(bytes(data), "log.eval")
    assert not events and "is damaged" in found.strays[0].message
