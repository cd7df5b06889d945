"""Lines that hold a patch: which patch it is, where it is applied, and that no other line is plain."""

import pytest

from tests.support.tables import each_row
from workbench.policy.shell import patch_command
from workbench.policy.shell.analysis import view_command
from workbench.policy.shell.patch_command import find_carried_patch, find_patch_command

PATCH = "*** Begin Patch\n*** Add File: a\n+b $x `y` \\\n*** End Patch\n"
PLAIN = "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch\n"


@each_row(
    ("command", "folder"),
    [
        (f"apply_patch <<'EOF'\n{PATCH}EOF", ""),
        (f"apply_patch <<'EOF'\n{PATCH}EOF\n", ""),
        (f'\n  apply_patch << "END_1"\n{PATCH}END_1\n\n', ""),
        (f"applypatch <<'EOF'\n{PATCH}EOF", ""),
        (f"cd a/b && apply_patch <<'EOF'\n{PATCH}EOF", "a/b"),
        (f"cd /w && apply_patch <<'EOF'\n{PATCH}EOF", "/w"),
        (f"cd 'a b' && apply_patch <<'EOF'\n{PATCH}EOF", "a b"),
        (f"cd \"a b\" && apply_patch <<'EOF'\n{PATCH}EOF", "a b"),
    ],
)
def test_a_line_that_is_only_a_patch_has_its_bytes_and_folder(command, folder):
    found = find_patch_command(command)
    assert found is not None
    assert (found.patch, found.folder) == (PATCH.encode(), folder)
    assert not view_command(command).plain


def test_an_unquoted_end_word_is_taken_where_nothing_expands():
    assert find_patch_command(f"apply_patch <<EOF\n{PLAIN}EOF").patch == PLAIN.encode()
    assert find_patch_command(f"apply_patch <<EOF\n{PATCH}EOF") is None


OTHERS = [
    "cd a; apply_patch <<'EOF'\n{}EOF", "cd a || apply_patch <<'EOF'\n{}EOF", "cd a | apply_patch <<'EOF'\n{}EOF",
    "cd a && cd b && apply_patch <<'EOF'\n{}EOF", "pushd a && apply_patch <<'EOF'\n{}EOF", "cd && apply_patch <<'EOF'\n{}EOF",
    "cd a b && apply_patch <<'EOF'\n{}EOF", "cd -P a && apply_patch <<'EOF'\n{}EOF", "cd - && apply_patch <<'EOF'\n{}EOF",
    "cd ~ && apply_patch <<'EOF'\n{}EOF", "cd $HOME && apply_patch <<'EOF'\n{}EOF", "cd \"$HOME\" && apply_patch <<'EOF'\n{}EOF",
    "cd a* && apply_patch <<'EOF'\n{}EOF", "cd a && apply_patch <<'EOF' && rm x\n{}EOF", "cd a && apply_patch <<'EOF' > x\n{}EOF",
    "cd a && apply_patch x <<'EOF'\n{}EOF", "apply_patch x <<'EOF'\n{}EOF", "apply_patch <<'EOF' x\n{}EOF", "X=1 apply_patch <<'EOF'\n{}EOF",
    "apply_patch <<-'EOF'\n{}EOF", "apply_patch 3<<'EOF'\n{}EOF", "apply_patch <<'E O'\n{}E O", "apply_patch <<E\\OF\n{}EOF",
    "(apply_patch <<'EOF'\n{}EOF\n)", "{{ apply_patch <<'EOF'\n{}EOF\n}}", "! apply_patch <<'EOF'\n{}EOF", "apply_patch <<'EOF' | cat\n{}EOF",
    "apply_patch <<'EOF' &\n{}EOF", "apply_patch <<'EOF'\n{}EOF\nrm x", "apply_patch <<'EOF'\n{}EOF\n# x", "rm x\napply_patch <<'EOF'\n{}EOF",
    "apply_patch <<'EOF'\n{}", "apply_patch <<'EOF' <<'EOF'\n{}EOF\n{}EOF", "./apply_patch <<'EOF'\n{}EOF", "env apply_patch <<'EOF'\n{}EOF",
    "apply_patc\\h <<'EOF'\n{}EOF", "apply''_patch <<'EOF'\n{}EOF", "'apply_patch' <<'EOF'\n{}EOF", "bash -c 'apply_patch' <<'EOF'\n{}EOF",
    "apply_patch <<'EOF'\r\n{}EOF", "apply_patch <<<'{}'", "apply_patch '{}'", "apply_patch", "cat x | apply_patch", "apply_patch < x",
    "apply_patch <<'EOF'; apply_patch <<'EOF'\n{}EOF\n{}EOF", "echo apply_patch", "$'apply_patch' x", "apply_patch \ud800",
]  # fmt: skip


@each_row(
    ("command", "has_patch"),
    [
        (f"apply_patch <<'EOF'\n{PATCH}EOF", True),
        ("apply_patch <<'EOF'\n{}EOF".format(PATCH.replace("\n", "\r\n")), True),
        (f"cd a && apply_patch <<'EOF'\n{PATCH}EOF\n".replace("\n", "\r\n"), True),
        ("apply_patch <<'EOF'\n{}EOF".format(PATCH.replace("+b", "+b\rc")), False),
        ("apply_patch <<'EOF'\n{}EOF".format(PATCH.replace("+b", "+b\r\r\n")), False),
        (f"cd a &&\r\napply_patch <<'EOF'\n{PATCH}EOF", False),
        (f"apply_patch <<'EOF'\r\n{PATCH}EOF\r\nrm x\nEOF", False),
    ],
)
def test_the_patch_of_lines_that_end_with_cr_is_that_without_them(command, has_patch):
    found = find_carried_patch(command)
    assert (found is not None) == has_patch
    if found is not None:
        assert found.patch == PATCH.encode() and "\r" not in found.with_patch(PLAIN.encode())
        assert ("\r" not in command) == (find_patch_command(command) is not None), (
            "a shell reads it otherwise"
        )


@each_row("line", OTHERS)
def test_any_other_line_has_no_patch_and_is_never_plain(line):
    command = line.format(PLAIN, PLAIN) if "{}" in line else line
    assert find_patch_command(command) is None
    assert not view_command(command).plain


@each_row(
    "command",
    [
        "apply''_patch x",
        "a\\pply_patch x",
        "'apply'\"_patch\" x",
        "$'apply\\x5fpatch' x",
        "echo ''apply_pa''tch",
        "if true; then apply_''patch; fi",
    ],
)
def test_quotes_within_its_name_do_not_make_a_line_plain(command):
    assert "apply_patch writes the files that its patch names" in view_command(command).reasons


@each_row("command", ["git status", "cat <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF", ""])
def test_a_line_without_the_program_has_no_patch(command):
    assert find_patch_command(command) is None


def test_a_line_is_not_read_beyond_its_limit(monkeypatch):
    line = f"apply_patch <<'EOF'\n{PLAIN}EOF"
    monkeypatch.setattr(patch_command, "MAX_PATCH_LINE", len(line))
    assert find_patch_command(line) is not None
    assert find_patch_command(f"{line}\n") is None


@each_row("command", [f"cd 'ä b' && apply_patch <<'EOF'\n{PATCH}EOF", f"apply_patch <<EOF\n{PLAIN}EOF\n"])
def test_a_line_takes_another_patch(command):
    found = find_patch_command(command)
    other = PLAIN.replace("+b", "+ü\n+EOF ").encode()
    line = found.with_patch(other)
    assert find_patch_command(line).patch == other
    assert line.encode() == command.encode().replace(found.patch, other)


@each_row(
    ("command", "patch"),
    [
        (f"apply_patch <<'EOF'\n{PATCH}EOF", b"x\nEOF\ny"),
        (f"apply_patch <<EOF\n{PLAIN}EOF", b"$x"),
        (f"apply_patch <<'EOF'\n{PATCH}EOF", b"a\rb"),
    ],
)
def test_a_patch_that_would_end_the_line_or_expand_is_an_error(command, patch):
    with pytest.raises(ValueError, match="cannot be a here-document"):
        find_patch_command(command).with_patch(patch)
