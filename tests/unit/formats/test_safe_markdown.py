"""Bodies of the Markdown export load and run nothing in a viewer; a real parser is the judge."""

import random

import pytest
from markdown_it import MarkdownIt

from workbench.formats.safe_markdown import harmless_markdown, is_harmless_address
from workbench.formats.session_markdown import fenced_text

TAGS = (
    "<img src=http://evil.example/x.png>", "<script>alert(1)</script>", "<!-- x -->", "<b>", "</details>", "<?php x ?>",
    "<a href='javascript:x'>y</a>", "<svg/onload=x>", "<![CDATA[x]]>", "<!DOCTYPE x>", "<javascript:alert(1)>",
    "<iframe\nsrc=x>", '<a title="`">', "<http://page.example>",
)  # fmt: skip
ADDRESSES = (
    "javascript:alert(1)", "JaVaScRiPt:x", "java&#115;cript:x", "javascript&colon;x", "data:text/html,x", "vbscript:x",
    "<javascript:x y>", "\tjavascript:x", "file:///etc/passwd", "http://page.example/a_(b)", "docs/a.md", "#top",
    "//evil.example/x", "mailto:a@b.example", "\\javascript:x", "blob:x", "<java\tscript:x>",
)  # fmt: skip
MARKS = ("`", "``", "```", "~~~", "~~~~", "\\", "\\`", "> ", "- ", "1. ", "    ", "\t", "|", "| a | b |\n|---|---|\n| ",
         "\n", "\n\n", "\n", "# ", "===", "[", "]", "![", "!", "(", ")", ":", "*", "_", "word", " ", "&lt;", "[x]", "[x][]",
         "```html\n", "\n```\n", "    ```", "> ```\n", "$", "<", ">", "'", '"', "[^1]")  # fmt: skip


def parsers():
    for preset, more in (("commonmark", []), ("commonmark", ["table", "strikethrough"])):
        parser = MarkdownIt(preset, {"html": True, "maxNesting": 100}).enable(more)
        parser.validateLink = lambda _: True
        yield parser


def hostile(random_):
    """Return a text of many pieces; most of them try to break out of their block."""
    pieces = []
    for _ in range(random_.randint(3, 40)):
        address = random_.choice(ADDRESSES)
        pieces.append(
            random_.choice(
                (
                    random_.choice(TAGS), random_.choice(MARKS), random_.choice(MARKS), random_.choice(MARKS),
                    f"[y]({address})", f"![z]({address})", f"[x]: {address}\n", f"\n[x]: {address}\n", "[y][x]",
                )
            )
        )  # fmt: skip
    return "".join(pieces)


def harm(text, allowed=()):
    """Return what a viewer would load, run or follow of a text."""
    found = []
    for parser in parsers():
        known = {}
        for token in parser.parse(text, known):
            for each in (token, *(token.children or ())):
                if each.type in ("html_block", "html_inline") and each.content.strip() not in allowed:
                    found.append((each.type, each.content))
                if each.type == "image":
                    found.append((each.type, each.attrs["src"]))
                if each.type == "link_open":
                    href = "".join(c for c in str(each.attrs["href"]).casefold() if c > " ")
                    scheme, colon, _ = href.partition(":")
                    if colon and scheme.isalnum() and scheme not in ("http", "https", "mailto"):
                        found.append(("link", href))
        found += [
            ("definition", value["href"]) for value in known.get("references", {}).values()
            if str(value["href"]).casefold().startswith(("javascript", "data", "vbscript", "file", "blob"))
        ]  # fmt: skip
    return found


@pytest.mark.parametrize("seed", range(16))
def test_nothing_of_a_hostile_body_is_a_tag_a_picture_or_an_unsafe_link(seed):
    random_ = random.Random(seed)
    harmed = 0
    for _ in range(12):
        text = hostile(random_)
        clean = harmless_markdown(text, fenced_text)
        assert harm(clean) == [], text
        harmed += bool(harm(text))
        behind = next(parsers()).parse(f"{clean}\n\nbehind")
        assert (behind[-2].content, behind[-2].level) == ("behind", 1), text
    assert harmed > 3, "texts that harm nobody prove nothing"


@pytest.mark.parametrize("seed", range(8))
def test_bodies_harm_nothing_together_either(seed):
    random_ = random.Random(seed)
    bodies = [hostile(random_) for _ in range(6)]
    outputs = [fenced_text(hostile(random_)) for _ in range(6)]
    whole = "\n\n".join(
        f"## Agent\n\n{harmless_markdown(body, fenced_text)}\n\n{output}"
        for body, output in zip(bodies, outputs, strict=True)
    )
    assert harm(whole) == []
    headings = [
        token for token in next(parsers()).parse(whole) if token.type == "heading_open" and token.level == 0
    ]
    assert len(headings) >= len(bodies)


@pytest.mark.parametrize(
    "text",
    [
        "Plain *words*, a `code <b> span`, `![x](y)`, a < b and [a page](https://page.example/x).",
        "```html\n<img src=http://x>\n![a](b)\n```\n\n    <b>indented</b>\n\n- `<x>`\n- [m](mailto:a@b.example)",
        "> ~~~\n> <b>\n> ~~~\n\n| a | b |\n|---|---|\n| `x` | y |",
        "A \\<b> and \\![x](y) and 1 <2.",
        "[x]: docs/a.md\n\nSee [x] and [here](#top).",
    ],
)
def test_ordinary_markdown_and_code_stay_as_they_are(text):
    assert harmless_markdown(text, fenced_text) == text


def test_what_is_taken_apart_is_still_read_as_words():
    clean = harmless_markdown("![p](http://e.example/x.png) <b>x</b> [y](javascript:z)", fenced_text)
    shown = MarkdownIt("commonmark", {"html": True}).render(clean)
    assert "![p](http://e.example/x.png) &lt;b&gt;x&lt;/b&gt; [y](javascript:z)" in shown


def test_a_fence_that_is_left_open_is_closed_and_a_text_out_of_measure_is_code():
    assert harmless_markdown("a\n\n```sh\nls", fenced_text) == "a\n\n```sh\nls\n```"
    assert harmless_markdown("~~~\n```\n~~~", fenced_text) == "~~~\n```\n~~~"
    deep = "[" * 4_001 + "<b>" + "> " * 500
    for text in (deep, "x" * 200_001, "| `a | <img src=x> ` |\n|---|---|\n| `x | <img src=x> ` |"):
        assert harm(harmless_markdown(text, fenced_text)) == []
    assert harmless_markdown("x" * 200_001, fenced_text).startswith("```\n")


def test_addresses():
    unsafe = ("javascript:x", " java\nscript:x", "DATA:x", "file:///x", "blob:x", "x-y+z.1:x")
    assert [address for address in unsafe if is_harmless_address(address)] == []
    assert all(map(is_harmless_address, ("https://x", "http:x", "mailto:x", "a/b:c", "#a", "", "//x", "1:2")))


def test_the_export_of_a_session_uses_it_for_prompts_and_replies():
    from workbench.domain import events as e
    from workbench.domain.rows import Session
    from workbench.domain.values import Actor
    from workbench.formats.session_markdown import markdown_blocks

    body = (
        "<img src=http://evil.example/x>\n\n![p](http://evil.example/p)\n\n[y](javascript:z)\n\n~~~\n```\n~~~"
    )
    bodies = (e.PromptSubmitted(text=body), e.ReplyCompleted(text=body, thinking="~~~\n<b>"))
    events = [
        e.Event(id=f"e{number}", session_id="s", at=1, actor=Actor(kind="user"), body=each)
        for number, each in enumerate((*bodies, *bodies))
    ]
    session = Session(id="s", kind="chat", status="ready", created_at=1, updated_at=1, workspace="/w")
    whole = "\n\n".join(markdown_blocks(session, events, (), ()))
    assert harm(whole, ("<details><summary>Thought</summary>", "</details>")) == []
    assert whole.count("evil.example/x") == 4, "the words themselves are kept"
