"""Foreign texts made fit to be recorded."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.tables import each_row
from tests.unit.secrets import given_secrets
from workbench.domain.values import Hunk
from workbench.formats import sanitize
from workbench.secrets.rules import SECRET_RULES
from workbench.secrets.scrubber import scrub, scrub_value

WORD = "a1B2c3D4" * 8
SECRETS = [
    *(way.format(given_secrets.LONG) for way in given_secrets.KEYS),
    *(way.format("made-up12") for way in given_secrets.PASSWORDS),
    *given_secrets.SERVICES,
    f"ghp_{WORD}", f"github_pat_{WORD}", f"glpat-{WORD}", f"glsoat-{WORD}", f"xoxb-{WORD}", f"AIza{WORD}",
    f"sk_live_{WORD}", f"npm_{WORD}", f"hf_{WORD}", f"sk-ant-{WORD}", "AKIA" + "A1B2" * 4, "ASIA" + "A1B2" * 4,
    "AROA" + "A1B2" * 4, f"sk-{WORD}", f"eyJ{WORD}.{WORD}.x", "https://me:Hunter22x@host/x",
    f"Authorization: Bearer {WORD}", f"password = '{WORD}'", f"API_KEY={WORD}", f"client_secret: {WORD}",
    f"tool --password {WORD}", f"tool --my-api-key {WORD}", f"curl -u me:{WORD} http://x", f"token={WORD}",
    f"https://{WORD}@host/x", f"pat{WORD[:14]}.{'0a' * 32}", "SK" + "0a1b" * 8, f"$2b$12${WORD}",
    "0a" * 16 + "-us12", f"<api_key>{WORD}</api_key>", f"discord {'MTA0' * 6}.{WORD[:6]}.{WORD[:30]}",
    f"aws_secret_access_key = {WORD[:40]}", f"encryption-key: {WORD}", f"PASSPHRASE={WORD}",
]  # fmt: skip


@each_row("secret", SECRETS)
def test_the_quick_look_misses_nothing_that_scrubbing_finds(secret):
    blank = secret.replace(" ", "\u00a0")
    for text in (secret, blank, secret.upper(), f"before\n{secret} after", json.dumps({"x": secret})):
        if scrub(text).found:
            assert sanitize.may_hold_secret(text)
        assert sanitize.sanitize_text(text) == scrub(text).text
    assert scrub(secret).found


def test_every_tighter_look_belongs_to_a_pattern_and_the_others_are_found_by_their_hints():
    for start in sanitize.NARROWED_PATTERNS:
        assert any(pattern.source.startswith(start) for pattern in SECRET_RULES), start
    for pattern in SECRET_RULES:
        if not any(pattern.source.startswith(start) for start in sanitize.NARROWED_PATTERNS):
            assert all(sanitize.may_hold_secret(f"x {hint} y") for hint in pattern.hints), pattern.kind


@each_row("start", list(sanitize.NARROWED_PATTERNS))
def test_a_tighter_look_misses_nothing_that_its_pattern_matches(start):
    """Of texts that are drawn from the pattern itself, with blanks of any alphabet."""
    (rule,) = (pattern for pattern in SECRET_RULES if pattern.source.startswith(start))
    missed = []

    @settings(max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(rule.regex()))
    def look(text):
        text = text.encode("utf-8", "replace").decode()
        if not sanitize.may_hold_secret(text) and scrub(text).found:
            missed.append(text)

    look()
    assert missed == []


def test_an_ordinary_text_is_not_scrubbed_at_all():
    assert not sanitize.may_hold_secret("global glob -- a path://x, and an apple in a path")


def test_a_secret_over_the_lines_of_a_hunk_goes_from_all_of_them():
    body = [("+", line) for line in ("-----BEGIN PRIVATE KEY-----", WORD, WORD, "-----END PRIVATE KEY-----")]
    hunk = Hunk(index=1, path="a", old_start=0, old_count=0, new_start=1, new_count=5,
                lines=(*body, ("+", "after")))  # fmt: skip
    (clean,) = sanitize.sanitize_hunks((hunk,))
    assert WORD not in repr(clean)
    assert len(clean.lines) == 5


def test_a_cut_text_says_so_and_keeps_no_half_of_a_secret():
    text = "x" * 90 + f" ghp_{WORD}"
    found = sanitize.sanitize_text(text * 2, 100)
    assert "[… cut: " in found
    assert "ghp_" not in found


PLANTED = (*SECRETS[-12:], "plain", "", "token", "a\nb", "password:")
RECORDS = st.recursive(
    st.one_of(st.none(), st.integers(0, 9), st.sampled_from(PLANTED), st.text(max_size=6)),
    lambda below: st.one_of(
        st.lists(below, max_size=4),
        st.dictionaries(
            st.sampled_from(("note", "api_key", "path", PLANTED[0], "secret", "maxTokens", "tokens")),
            below,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=200)
@given(RECORDS)
def test_a_record_that_is_looked_at_as_one_text_is_scrubbed_like_each_of_its_strings(record):
    assert sanitize.sanitize_value(record) == scrub_value(record)[0]


def nested(value, kind, depth):
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    return value


def innermost(value):
    while isinstance(value, list | dict) and value:
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return value


@pytest.mark.parametrize(("kind", "mark"), [(list, "[…]"), (dict, "{…}")])
@pytest.mark.parametrize("bounded", [sanitize.sanitize_value, sanitize.sanitize_record])
def test_what_lies_deeper_than_anybody_reads_is_left_out_and_said(bounded, kind, mark):
    assert innermost(bounded(nested("word", kind, 24))) == "word"
    assert innermost(bounded(nested("word", kind, 25))) == mark


def test_more_items_than_anybody_reads_are_left_out():
    assert len(sanitize.sanitize_value([0] * 50_001)) == 50_000
    assert len(sanitize.sanitize_value({str(number): 0 for number in range(50_001)})) == 50_000
