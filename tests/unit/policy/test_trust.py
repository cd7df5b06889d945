"""The hash of what governs a workspace, and what counts as trust."""

import hashlib
import json
import os

import pytest

from tests.unit.policy.gate_cases import context
from workbench.domain.rows import Trust
from workbench.policy import trust
from workbench.policy.gate import GateCall, screen_call
from workbench.policy.paths import GOVERNING_FILES, GOVERNING_FOLDERS


def write(root, files):
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def by_hand(files):
    lines = [
        path.encode() + b"\0" + hashlib.sha256(data).hexdigest().encode() + b"\n"
        for path, data in files.items()
    ]
    return hashlib.sha256(b"".join(sorted(lines))).hexdigest()


GOVERNING = {
    ".workbench.json": b"{}",
    ".workbench/rules/a.txt": b"a",
    ".wave/personas/x.md": b"persona",
    ".wave/z": b"",
    "workbench.yaml": b"kind: x\n",
    "wave.yaml": b"y",
}


def test_the_hash_of_nothing_is_the_hash_of_nothing(tmp_path):
    write(tmp_path, {"src/a.py": b"x", "sub/.workbench.json": b"{}", ".wavelength": b""})
    assert (
        trust.governing_hash(str(tmp_path))
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
    assert trust.governing_files(str(tmp_path)) == ()


def test_the_hash_of_one_file_as_computed_with_shell_tools(tmp_path):
    write(tmp_path, {".workbench.json": b"{}\n"})
    # printf '.workbench.json\0%s\n' "$(printf '{}\n' | sha256sum | cut -d' ' -f1)" | sha256sum
    assert (
        trust.governing_hash(str(tmp_path))
        == "b4fe35ed625553e1bd77495c2ff3d7634dba189841a3db050bd90540cacec353"
    )


def test_the_hash_covers_every_governing_file(tmp_path):
    write(tmp_path, GOVERNING | {"src/a.py": b"x"})
    assert trust.governing_files(str(tmp_path)) == tuple(sorted(GOVERNING))
    assert trust.governing_hash(str(tmp_path)) == by_hand(GOVERNING)
    for path in GOVERNING:
        before = trust.governing_hash(str(tmp_path))
        (tmp_path / path).write_bytes(b"changed")
        assert trust.governing_hash(str(tmp_path)) != before


def test_a_name_that_moves_changes_the_hash(tmp_path):
    write(tmp_path, {".wave/a": b"x"})
    before = trust.governing_hash(str(tmp_path))
    (tmp_path / ".wave/a").rename(tmp_path / ".wave/b")
    assert trust.governing_hash(str(tmp_path)) != before


def hooks(*commands):
    return json.dumps(
        {"hooks": {"PreToolUse": [{"matcher": "Bash", "command": command} for command in commands]}}
    ).encode()


def test_files_that_hooks_name_are_covered(tmp_path):
    config = hooks(
        "scripts/check.sh src",
        "python3 tools/lint.py --fast; bash 'deep/a b.sh'",
        "/bin/true",
        "../out.sh",
        "none/x",
    )
    named = {"scripts/check.sh": b"1", "tools/lint.py": b"2", "deep/a b.sh": b"3"}
    write(tmp_path, named | {".workbench.json": config, "src/a.py": b"no"})
    assert trust.hook_named_files(str(tmp_path)) == tuple(sorted(named))
    assert trust.governing_hash(str(tmp_path)) == by_hand(named | {".workbench.json": config})


@pytest.mark.parametrize(
    "config",
    [
        b"{",
        b"[]",
        b'{"hooks": 3}',
        b'{"hooks": {"PreToolUse": 3}}',
        b'{"hooks": {"PreToolUse": [3, {"command": 3}]}}',
        b"\xff",
        hooks("it's ./x", "\0"),
    ],
)
def test_a_broken_configuration_is_hashed_and_names_nothing_more(tmp_path, config):
    write(tmp_path, {".workbench.json": config})
    assert trust.governing_hash(str(tmp_path)) == by_hand({".workbench.json": config})


def test_what_cannot_be_hashed_is_refused_with_words(tmp_path, monkeypatch):
    write(tmp_path, {".workbench.json": b"x" * (trust.MAX_GOVERNING_FILE_BYTES + 1)})
    with pytest.raises(trust.TrustRefused, match="larger than"):
        trust.governing_hash(str(tmp_path))
    (tmp_path / ".workbench.json").write_bytes(b"x" * trust.MAX_GOVERNING_FILE_BYTES)
    trust.governing_hash(str(tmp_path))
    monkeypatch.setattr(trust, "MAX_GOVERNING_FILES", 3)
    write(tmp_path, {f".wave/{n}": b"" for n in range(3)})
    with pytest.raises(trust.TrustRefused, match="more than 3 files"):
        trust.governing_hash(str(tmp_path))


@pytest.mark.parametrize("name", [".workbench.json", ".wave/x", ".wave"])
def test_a_pipe_is_refused_and_does_not_hang(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(trust.TrustRefused):
        trust.governing_hash(str(tmp_path))


def test_links_count_as_the_file_they_lead_to_if_that_is_inside(tmp_path):
    write(tmp_path, {"real": b"1", ".wave/a": b"2"})
    (tmp_path / ".wave/link").symlink_to("../real")
    assert trust.governing_hash(str(tmp_path)) == by_hand({".wave/a": b"2", ".wave/link": b"1"})
    (tmp_path / ".wave/folder").symlink_to("..")
    with pytest.raises(trust.TrustRefused, match="not a regular file"):
        trust.governing_hash(str(tmp_path))


def test_a_link_that_leads_out_is_refused(tmp_path):
    root = tmp_path / "w"
    root.mkdir()
    (tmp_path / "secret").write_text("x")
    (root / "wave.yaml").symlink_to(tmp_path / "secret")
    with pytest.raises(trust.TrustRefused, match="outside"):
        trust.governing_hash(str(root))


def test_trust_holds_for_exactly_these_files_until_it_is_revoked():
    row = Trust(workspace="/w", content_hash="h", read_grant=False, decided_at=1, decided_by="user")
    revoked = Trust(
        workspace="/w", content_hash="h", read_grant=False, decided_at=1, decided_by="user", revoked_at=2
    )
    assert [trust.is_trusted(r, h) for r, h in ((row, "h"), (row, "x"), (None, "h"), (revoked, "h"))] == [
        True,
        False,
        False,
        False,
    ]


def test_the_question_offers_three_answers_and_names_files():
    assert [choice.key for choice in trust.TRUST_CHOICES] == ["trust", "trust_and_read", "not_now"]
    said = trust.trust_question("/w\u202e", tuple(f".wave/{n}" for n in range(10)))
    assert ".wave/7 and 2 more" in said
    assert "\u202e" not in said


# --- what trust covers is closed to agents ---------------------------------------------------------


def test_whatever_is_hashed_for_trust_may_not_be_written_by_agents(tmp_path):
    config = hooks("python tools/check.py")
    files = {f"{folder}/deep/x": b"1" for folder in GOVERNING_FOLDERS} | dict.fromkeys(
        GOVERNING_FILES, b"k: 1"
    )
    write(tmp_path, files | {".workbench.json": config, "tools/check.py": b"2"})
    governing = trust.governing_files(str(tmp_path))
    assert set(governing) == set(files) | {"tools/check.py"}
    where = context(tmp_path)
    for path in governing:
        for tool in ("create_file", "replace_string_in_file", "create_directory"):
            refused = screen_call(GateCall(tool=tool, parameters={"path": path}), where)
            assert (refused.outcome, refused.step) == ("refused", "paths"), path


@pytest.mark.parametrize("name", [".agents", ".AGENTS/notes.md", ".agents./x", "sub/../.agents/x"])
def test_the_folder_of_agents_is_refused_however_it_is_spelled(tmp_path, name):
    refused = screen_call(GateCall(tool="create_file", parameters={"path": name}), context(tmp_path))
    assert refused.outcome == "refused"


def test_ten_thousand_governing_files_are_refused_as_a_whole_and_not_trusted_in_part(tmp_path):
    folder = tmp_path / ".agents"
    folder.mkdir()
    for number in range(trust.MAX_GOVERNING_FILES + 1):
        (folder / str(number)).touch()
    for judged in (trust.governing_hash, trust.governing_files):
        with pytest.raises(trust.TrustRefused, match=r"\.agents: more than 2000 files; keep fewer there"):
            judged(str(tmp_path))


# --- what ends with trust --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guards", "content", "says"),
    [
        ("hooks", "h", "its hooks were in force"),
        ("denials", "h", "its denials were in force"),
        ("none", "h", ""),
        (None, "h", "its hooks were in force"),
        (None, trust.EMPTY_GOVERNING_HASH, ""),
    ],
)
def test_the_end_of_trust_closes_what_stood_in_the_way(guards, content, says):
    said = trust.trust_ended_reason(guards, content)
    assert (says in said, bool(said)) == (True, bool(says))


def test_the_question_says_what_the_files_do():
    said = trust.trust_question("/w", ("wave.yaml",), ("Its hooks would run: x.",))
    assert "Files: wave.yaml. Its hooks would run: x. You are asked again" in said


def test_commands_of_manifests_are_named_and_those_of_pipelines_counted(tmp_path):
    manifest = (
        b'personas:\n  a:\n    hooks:\n      PreToolUse:\n        - {matcher: x, command: "./check me"}\n'
    )
    write(tmp_path, {"wave.yaml": manifest, ".wave/pipelines/p.yaml": b"- command: make\n  script: |\n"})
    write(tmp_path, {"workbench.yaml": b"adapters:\n  command: no hook\n"})
    texts = trust.governing_yaml_texts(str(tmp_path))
    assert trust.manifest_commands(texts) == ("./check me",)
    assert trust.count_pipeline_commands(texts) == 3
