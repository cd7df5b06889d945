"""Secrets that stand in less usual forms: in base64, behind blanks of other alphabets, behind a prompt, cut off."""

import base64

import pytest

from tests.support.growth import assert_grows_with_length
from tests.support.tables import each_row
from workbench.secrets.scrubber import scrub, scrub_value

RUN = "aB3dE5fG7hI9kL2mN4pQ6rS8tU0v"
HEXED = "0123456789abcdef"
LINES = [f"MIIEpAIBAAKCAQEA{sign * 8}{RUN}{RUN[:12]}" for sign in "qWxZ"]
END = "-----END RSA PRIVATE KEY-----"


def encoded(text):
    return base64.b64encode(text.encode()).decode()


KEYS = [
    *(encoded(f"{beginning}{RUN}{RUN}") for beginning in (
        "ghp_", "ghs_", "gho_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "sk_live_", "rk_live_", "sk_test_",
        "sk-ant-", "sk-proj-", "npm_", "hf_", "SG.",
    )),
    *(encoded(f"-----BEGIN {kind}KEY-----\n{LINES[0]}\n") for kind in (
        "PRIVATE ", "RSA PRIVATE ", "EC PRIVATE ", "OPENSSH PRIVATE ", "ENCRYPTED PRIVATE ",
    )),
    "key-3ax6xnjp29jd6fds4gc373sgvjxteol0", f"AQ.Ab{RUN}{RUN}", f"llx-{RUN}{RUN}",
    f"cpk_{HEXED * 2}.{HEXED * 2}.{RUN}aB3d",
]  # fmt: skip


@pytest.mark.spec(202)
@each_row("key", KEYS, ids=[key[:14] for key in KEYS])
def test_a_key_is_taken_in_whatever_it_stands(key):
    for text in (key, f"found {key} here", f'"{key}"', f"x={key}\n", f"a\\n{key}\\nb"):
        shown = scrub(text).text
        assert key[-20:-2] not in shown
        assert scrub(shown).text == shown


BLANKS = "\u00a0\u1680\u2000\u2009\u200a\u200b\u202f\u205f\u3000\ufeff"


@each_row("blank", BLANKS, ids=[f"U+{ord(blank):04X}" for blank in BLANKS])
@each_row(
    ("way", "secret"),
    [
        ("password{0}={0}hunter2x9", "hunter2x9"), ("DB_PASSWORD{0}={0}letmein9", "letmein9"),
        ('api_key{0}:{0}"aB3dE5fG7hI9kk"', "aB3dE5fG7hI9kk"), ("Authorization:{0}Bearer{0}aB3dE5fG7hI9kk00", "aB3dE5fG"),
        ("the password is{0}hunter2X9", "hunter2X9"), ("--password{0}hunter2x9", "hunter2x9"),
    ],
)  # fmt: skip
def test_blanks_of_other_alphabets_hide_nothing(way, secret, blank):
    assert secret not in scrub(way.format(blank)).text


TYPED = [
    "[sudo] password for x: {}", "[sudo] password for jane.doe: {}\nok", "[sudo: authenticate] Password: {}",
    "Password: {}", "log\nPassword: {}\nmore", "Enter password: {}", "Password for user postgres: {}",
    "Password for 'https://bob@github.com': {}", "Enter passphrase for key '/home/x/.ssh/id_rsa': {}",
    "me@host's password: {}", "Enter PEM pass phrase: {}", "Enter passphrase (empty for no passphrase): {}",
]  # fmt: skip


@each_row("way", TYPED)
@each_row("typed", ["hunter2", "letmein", "correcthorse", "Tr0ub4dor&3"])
def test_what_was_typed_behind_a_prompt_is_taken(way, typed):
    shown = scrub(way.format(typed)).text
    assert typed not in shown
    assert scrub(shown).text == shown


TAILS = [
    "\n".join([*LINES, END]), "\n".join([*LINES, "aB3d==", END, "after"]),
    "\n".join(["  4 lines are kept", *LINES, END]), "\\n".join([*LINES, END]) + "\\n",
    "\r\n".join([*LINES, END]), "".join(f"+{line}\n" for line in [*LINES, END]),
    "".join(f"    {line}\n" for line in [*LINES, END]), "".join(f"> {line}\n" for line in [*LINES, END]),
    "\n".join([LINES[0], "-----END OPENSSH PRIVATE KEY-----"]), "\n".join([*LINES, "-----END PRIVATE KEY-----"]),
    "\n".join([*LINES, END, "text", *LINES, END]),
    "\n".join(f'"{line}\\n" +' for line in [*LINES, END]),
]  # fmt: skip


@each_row("text", TAILS, ids=range(len(TAILS)))
def test_the_tail_of_a_cut_key_is_taken(text):
    shown = scrub(text)
    assert not any(line[:30] in shown.text or line[-30:] in shown.text for line in LINES)
    assert "pem" in shown.found
    assert scrub(shown.text).text == shown.text
    assert LINES[0] not in str(scrub_value({"output": text}))


def test_what_stands_around_a_tail_stays():
    text = "\n".join(["before", *LINES, END, "after"])
    shown = scrub(text).text
    assert shown.startswith("before") and shown.endswith("after")


@each_row("value", ["hunter2", "correct horse", "pa55w0rd!x"])
@each_row("way", ["password: {}", 'password: "{}"', "DB_PASSWORD={}", "  token: {}", "'secret': '{}'"])
def test_a_padded_value_in_base64_is_taken_by_its_name(way, value):
    text = encoded(value)
    padded = text if text.endswith("=") else encoded(value + "x")
    assert padded not in scrub(way.format(padded)).text


HARMLESS = [
    "Password:", "Password: ", "Enter password:", "Enter password: \n", "Password: required", "Password: String",
    "Password: <hidden>", "Enter your password: please", "Password for user postgres:", "Password: string",
    "[sudo] password for x:", "[sudo] password for x: \nSorry, try again.", "Password: incorrect",
    "Enter password: must be at least 8 characters", "Password for 'https://bob@github.com':",
    "-----END CERTIFICATE-----", f"{LINES[0]}\n-----END CERTIFICATE-----", f"{LINES[0]}\n-----END PUBLIC KEY-----",
    END, f"...\n{END}", f"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n{END}", f"if text.endswith('{END}'):", f"a line of prose\n{END}",
    encoded("-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA\n"), encoded("a plain text of no secret at all, long enough"),
    "password: ==", "password == other", "token: a==b", "key-value-pairs-are-thirty-two-xxx", "key-abcdefghijklmnopqrstuvwxyzabcdef",
    "a\u00a0=\u00a0b", "the\u00a0password\u00a0is required", "AQ.About", "co_author",
]  # fmt: skip


@each_row("text", HARMLESS)
def test_what_only_looks_alike_stays(text):
    assert scrub(text).text == text


@each_row(
    "unit",
    [
        f"{RUN}\n", f"{END}\n", f"{LINES[0]}\n{END}\n", "\u00a0", "password\u00a0", "Password: x\n", "Enter password",
        "password for ", "[sudo] password for ", "key-", "n\\", "+", "-----END PRIVATE KEY----", "password:aaaaaa",
    ],
    ids=repr,
)  # fmt: skip
def test_time_grows_with_the_text_and_not_faster(unit):
    scrub(unit)
    assert_grows_with_length(scrub, *((unit * (size // len(unit) + 1))[:size] for size in (20_000, 160_000)))
