"""Secrets are looked for only where they can begin, and taken together only where they are apart."""

import pytest

from tests.unit.secrets import given_secrets as given
from tests.unit.secrets.secret_forms import CONTEXTS, SERVICES, VALUE
from tests.unit.secrets.test_scrub import SECRETS
from workbench.secrets.rules import SECRET_RULES, SecretRule
from workbench.secrets.scrubber import TextScrubber, scrub

FORMS = "\n".join(
    [key for keys in SERVICES.values() for key in keys]
    + [context.format(VALUE) for context in CONTEXTS]
    + [way.format(given.LONG) for way in given.KEYS]
    + [way.format("made-up12") for way in given.PASSWORDS]
    + [text for text, _ in given.WHOLE]
    + [text for _, text, _ in SECRETS]
    + given.SERVICES
)


def taken(text: str, *patterns: SecretRule) -> str:
    scrubber = TextScrubber(text)
    scrubber.take(list(patterns))
    return scrubber.text


@pytest.mark.spec(202)
def test_an_anchor_stands_where_every_match_begins():
    for pattern in SECRET_RULES:
        assert taken(FORMS, pattern) == taken(FORMS, pattern._replace(anchors=())), pattern.source


def test_most_patterns_are_tried_only_where_a_match_can_begin():
    assert sum(not pattern.anchors for pattern in SECRET_RULES) <= 2


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (("a+", "b+"), "⟨secret: k0⟩⟨secret: k1⟩x⟨secret: k0⟩"),
        (("a+bb", "b+"), "⟨secret: k0⟩xaa"),
        (("b+", "a+b+"), "⟨secret: k1⟩xaa"),
        (("ab+", "aa"), "a⟨secret: k0⟩x⟨secret: k1⟩"),
        (("z", "y"), "aabbxaa"),
    ],
)
def test_spans_that_overlap_by_a_part_are_taken_one_kind_after_the_other(sources, expected):
    patterns = [SecretRule(f"k{number}", source, ("x",)) for number, source in enumerate(sources)]
    assert taken("aabbxaa", *patterns) == expected


@pytest.mark.spec(202)
def test_what_changes_its_length_when_folded_is_scrubbed_as_well():
    text = "\u0130" * 3 + f" x ghp_{VALUE}{VALUE} AIza{VALUE}{VALUE} password: hunter2"
    shown = scrub(text).text
    assert (
        shown == "\u0130" * 3 + " x ⟨secret: github-token⟩ ⟨secret: google-key⟩ password: ⟨secret: password⟩"
    )


@pytest.mark.spec(202)
def test_a_flood_of_places_costs_a_plain_search_and_hides_no_key():
    pattern = next(pattern for pattern in SECRET_RULES if pattern.kind == "twitter-token")
    flood, key = "a" * 60_000, "A" * 22 + "made%UpOnly" * 8
    text = f"{flood} {key} {flood}"
    assert TextScrubber(text)._starts(pattern) is None
    assert TextScrubber(key)._starts(pattern) == [0, 1, 2]
    assert scrub(text).text == f"{flood} ⟨secret: twitter-token⟩ {flood}"


@pytest.mark.spec(202)
def test_a_form_is_found_in_a_long_text_as_by_itself():
    filler = "\n".join("lorem ipsum\u2028dolor\u00a0sit" for _ in range(100))
    for form in FORMS.split("\n"):
        assert scrub(f"{filler}\n\n{form}\n\n{filler}").found == scrub(form).found, form
