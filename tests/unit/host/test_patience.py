"""How long a failed model call is tried again, and in which words."""

import pytest

from tests.support.tables import each_row
from workbench.domain.messages import FailurePart
from workbench.host.model_call import (
    MAX_LOADING_SECONDS,
    MAX_RETRIES,
    MAX_WAIT_SECONDS,
    RetryPolicy,
    is_momentary_failure,
)
from workbench.providers.errors import MODEL_LOADING


def failed(status=429, *, asks=None, code="rate_limited", recoverable=True):
    return FailurePart(code=code, message="no", status=status, retry_after_s=asks, recoverable=recoverable)


@each_row("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_what_passes_by_itself_is_tried_so_often_and_no_more(status):
    patience = RetryPolicy("call")
    waits = [patience.wait(failed(status)) for _ in range(MAX_RETRIES)]
    assert all(wait is not None and wait > 0 for wait in waits)
    assert patience.wait(failed(status)) is None


@pytest.mark.parametrize("status", [None, 400, 401, 403, 404, 413])
def test_what_a_human_must_mend_is_not_tried_again(status):
    assert not is_momentary_failure(failed(status))
    assert RetryPolicy("call").wait(failed(status)) is None


def test_what_cannot_go_on_is_not_tried_again():
    assert RetryPolicy("call").wait(failed(503, recoverable=False)) is None


def test_a_wait_that_is_asked_for_is_kept_to_unless_it_is_too_long():
    assert RetryPolicy("call").wait(failed(asks=7.5)) == 7.5
    assert RetryPolicy("call").wait(failed(asks=MAX_WAIT_SECONDS)) == MAX_WAIT_SECONDS
    patience = RetryPolicy("call")
    assert patience.wait(failed(asks=MAX_WAIT_SECONDS + 1)) is None
    assert patience.last_words(failed(asks=600)) == "It asks to come back in 10 minutes."


def test_own_waits_grow_and_differ_from_call_to_call():
    first, second = RetryPolicy("one"), RetryPolicy("two")
    waits = [first.wait(failed()) for _ in range(MAX_RETRIES)]
    assert waits == sorted(waits)
    assert waits != [second.wait(failed()) for _ in range(MAX_RETRIES)]
    again = RetryPolicy("one")
    assert waits == [again.wait(failed()) for _ in range(MAX_RETRIES)]


def test_a_loading_model_is_waited_for_as_long_as_was_said_and_counts_as_no_try():
    patience, passed = RetryPolicy("call"), 0.0
    while (wait := patience.wait(failed(503, code=MODEL_LOADING))) is not None:
        passed += wait
    assert MAX_LOADING_SECONDS - 10 <= passed <= MAX_LOADING_SECONDS
    assert patience.tries == 0
    assert patience.words(failed(503, code=MODEL_LOADING), 3.0) == "Waiting up to 15 minutes for it."


def test_each_try_is_said_with_its_number():
    patience = RetryPolicy("call")
    wait = patience.wait(failed(asks=12))
    assert patience.words(failed(), wait) == "Trying again in 12 s (try 1 of 3)."
    patience.wait(failed(asks=2))
    assert patience.last_words(failed()) == "2 more tries did not help."
