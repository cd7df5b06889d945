r"""Words in `$'…'`: bash is the judge of what their escapes mean, and a deny sees what bash makes of them."""

import random
import shutil
import subprocess

import pytest

from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from tests.unit.policy.gate_cases import SHELL
from workbench.domain.values import PermissionPattern
from workbench.policy.permissions import permission_matches
from workbench.policy.shell import analysis
from workbench.policy.shell.analysis import SimpleCommand, view_command
from workbench.policy.shell.parser import UnclearCommand, tokenize
from workbench.policy.shell.scanner import (
    ShellScan,
    decode_ansi_bytes,
    decode_ansi_text,
    decode_ansi_words,
    scan_commands,
)

BASH = shutil.which("bash")
PIECES = [
    *(f"\\{sign}" for sign in map(chr, range(32, 127))), *(f"\\c{sign}" for sign in map(chr, range(32, 127)) if sign not in "'\\"),
    *(f"\\x{code:x}" for code in range(256)), *(f"\\{code:o}" for code in range(512)), *(f"\\u{code:x}" for code in range(1, 300)),
    "\\c\\\\", "\\x{70}", "\\x{0}", "\\x{}", "\\x{17041", "\\x", "\\xg", "\\u", "\\U", "\\ug", "\\u20ac", "\\U1f600", "\\u00000041",
    "\\U0000004142", "\\u0", "\\U0", "\\c\u07c0", "\\\u00e9", "\u00e9", "\\\n", "\n", "\\x411", "\\1011", "\\x{70}}", "\\cc\\c?",
]  # fmt: skip


def said(inners):
    script = "\n".join(f"printf '%s\\0' a$'{inner}'b" for inner in inners)
    done = subprocess.run(
        [BASH, "--norc", "-c", script],
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        env={"LC_ALL": "C.UTF-8"},
    )
    return done.stdout.decode("latin-1").split("\0")[:-1]


def bytewise(text):
    return text.encode().decode("latin-1")


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_every_escape_means_what_bash_makes_of_it():
    some = random.Random(11)
    inners = PIECES + ["".join(some.choice(PIECES) for _ in range(4)) for _ in range(500)]
    inners = [inner for inner in inners if not inner.endswith("\\")]
    for inner, text in zip(inners, said(inners), strict=True):
        assert f"a{decode_ansi_bytes(bytewise(inner))[0]}b" == text, inner


@pytest.mark.parametrize(
    ("inner", "doubt"),
    [("\\0", "a NUL"), ("\\x{100}", "a NUL"), ("\\c@", "a NUL"), ("\\uD800", "not a character"), ("\\U110000", "not a character")],
)  # fmt: skip
def test_what_bash_cuts_off_or_no_encoding_has_is_not_plain(inner, doubt):
    assert doubt in decode_ansi_bytes(inner)[1]
    with pytest.raises(UnclearCommand, match=doubt):
        tokenize(f"ls $'{inner}'")


TWO_MEANINGS = [
    "ls $'a\\' ; evil ; echo \\''", "ls $'\\' | evil | ls $'\\'", "ls a$'x\\'y'", "ls $'\\\\\\' ; evil ; echo \\''", "rm $'\\c/../..'",
]  # fmt: skip


@pytest.mark.parametrize("line", TWO_MEANINGS)
def test_what_a_shell_without_such_quotes_reads_as_commands_is_not_plain(line):
    seen = view_command(line)
    assert not seen.plain
    assert "different ways" in " ".join(seen.reasons)


@pytest.mark.parametrize("line", ["ls $'a b'", "ls $'a\\\\' x", "ls $'\\cA' $'\\x41\\n'"])
def test_other_escapes_stay_plain(line):
    assert view_command(line).plain


def test_a_text_of_any_characters_is_decoded():
    assert decode_ansi_text("é\\x41\\xff") == "éA\ufffd"
    assert decode_ansi_words("a $'\\x41b' '$'\\x42''") == "a Ab 'B'"
    assert decode_ansi_words("a 'b'") == "a 'b'"


HIDDEN = [
    "git $'\\x70ush' origin", "git $'\\160ush'", "git $'\\u0070ush'", "git $'\\U00000070ush'", "git $'\\x{70}ush'", "g$'\\x69't push",
    "git pu$'sh\\0 nothing' origin", "$'git' push", "git $'push' > out", "git $'\\x70ush' $x", "(git $'\\x70ush'; ls)",
    "echo `git $'\\x70ush'`", "sh -c $'git\\x20push'", "eval g$'\\x69't push", "env git $'\\x70ush'", "git $\"push\"", "git $\"pu\"sh",
    "echo \"$(git $'\\x70ush')\"", "echo ${x:-$(git $'\\x70ush')}", "git $'\\x70ush' # " + "x" * 17_000,
    "git $'\\x70ush' $x " + "x" * 17_000, "if ls; then git $'\\x70ush'; fi > y", "$'\\147it' $'\\160\\165\\163\\150'", "ls\n$'git' push",
]  # fmt: skip


EXPANDED = [
    "echo \"$(case a in a) g'i't push;; esac)\"",
    'echo ${x:-$(ls # "x\n$"git" pu\\sh)}',
    "${x:-git push}", "${x-git pu\\sh} a", "${x:=git} push", "g${x:-i}t push", "echo ${x:-${y:-$(git push)}}", "$(echo git push)",
    "$(echo git) push", "`echo git push`", "`printf git` push", "sh -c 'g\\it push'", "sh -c 'g\"i\"t push'", "sh -c \"g\\\nit push\"",
    "eval 'g\\it' push", "eval '${x:-git push}'", "sh -c '$(echo git push)'", "trap 'g\\it push' EXIT", "$(echo nice g\\it push)", "</dev/null echo git push | sh",
    "sh -c '>/dev/null git push'", "${x:-g\\\nit push}", "xargs ${x:-git} push", "sh <<E\n${x:-git push}\nE", "env ${x:-nice git} push",
]  # fmt: skip


@each_row("line", HIDDEN + EXPANDED)
def test_a_deny_sees_what_is_written_in_escapes(line):
    deny = PermissionPattern(text="Bash(git push*)")
    assert permission_matches(deny, SHELL, {"command": line}, {}, view_command(line), purpose="deny")


@pytest.mark.parametrize(
    "line",
    [
        "git $'\\x6cog'",
        "git $'log' $'a\\tb'",
        'echo $"push"',
        "ls $'\\x70'",
        "echo '${x:-git push}'",
        "grep '$(echo git push)' a",
        "git commit -m '`echo git push`'",
    ],
)
def test_a_deny_does_not_see_what_is_not_there(line):
    deny = PermissionPattern(text="Bash(git push*)")
    assert not permission_matches(deny, SHELL, {"command": line}, {}, view_command(line), purpose="deny")


def test_the_words_that_two_readers_agree_on_are_always_tried():
    assert "git push origin" in view_command("git $'\\x70ush' origin").deny_texts


@pytest.mark.parametrize("line", ["sh -c push", "bash -c push x", "bash -ec push", "python -c push"])
def test_a_single_word_behind_an_option_that_takes_code_is_a_command(line):
    assert permission_matches(
        PermissionPattern(text="Bash(push *)"),
        SHELL,
        {"command": line},
        {},
        view_command(line),
        purpose="deny",
    )


def test_a_scan_has_the_decoded_words_and_what_the_stricter_readers_found_besides():
    assert scan_commands("git $'\\x70ush' $x").segments[0].bare == ("git", "push")
    more = analysis._with_agreed_commands(
        ShellScan(segments=(), is_certain=True), [SimpleCommand(words=("git", "push"), written=())]
    )
    assert [segment.words for segment in more.segments] == [("git", "push")]
