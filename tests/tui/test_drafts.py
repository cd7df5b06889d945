"""What was written and not sent is not lost: over an end of the screen, a refusal, and what was said before."""

from tests.tui.screens import play, staged
from workbench.tui.backend import BackendError


def test_a_draft_comes_back_and_words_that_could_not_be_sent_do_too(tmp_path):
    def full(_session_id, _text):
        raise BackendError("Nothing was sent. The disk is full.")

    async def body(shown):
        composer = shown.main.composer
        assert composer.text == "left here"
        assert "left here" in shown.text and not composer.input.has_focus
        await shown.press("i", "enter")
        assert (composer.text, shown.said) == ("left here", "Nothing was sent. The disk is full.")
        assert shown.app.draft == "left here"
        await shown.press("ctrl+u", "up", "up")
        assert composer.text == "of today"
        await shown.press("up")
        assert composer.text == "of last week"

    play(
        staged(tmp_path), body,
        draft=lambda: "left here", earlier_prompts=lambda _id: ["of last week", "of today"], submit_prompt=full,
    )  # fmt: skip
