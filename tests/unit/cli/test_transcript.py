"""A session as a page to read: safe whatever was said, whole, and in Chromium offline with search and links."""

import base64
import hashlib
import json
import re
import tracemalloc
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.browser import CHROMIUM, chromium
from tests.support.stage import Stage, call, exchange, recording, text
from workbench.render.transcript.markup import element_id, prose_html, safe_html

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)><!-- \x1b]0;t\x07 \u202e\u200b \x00"
MARKDOWN = (
    "# Big\n\n**bold** `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```diff\n-old\n+new\n```\n\n[ok](https://example.org/?a=1&b=2) "
    "[bad](javascript:alert(1)) [data](data:text/html,x) ![pic](https://example.org/p.png) <https://example.org> &#x202e;x"
)
EDIT = call("c1", "replace_string_in_file", path="a.txt", old_string="b\n", new_string="B\n")
RUN = call("c2", "run_in_terminal", command=f"echo '{HOSTILE[:40]}'")
ALLOWED_TAGS = {
    "html", "head", "meta", "title", "style", "body", "a", "div", "h1", "h2", "h3", "h4", "h5", "h6", "dl", "dt", "dd", "form",
    "input", "output", "button", "main", "details", "summary", "article", "header", "time", "p", "pre", "code", "b", "small",
    "span", "ul", "ol", "li", "ins", "del", "s", "strong", "em", "blockquote", "hr", "br", "table", "thead", "tbody", "tr", "th",
    "td", "footer", "kbd", "script", "nav",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects the tags, the attributes, and the text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.words, self.inside = set(), [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag in ("script", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if not self.inside:
            self.words.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def assert_is_safe(html, tags=ALLOWED_TAGS):
    reader = read(html)
    assert reader.tags <= tags
    assert not [
        name
        for _, name, _ in reader.attributes
        if name.startswith("on") or name in ("style", "src", "srcset")
    ]
    links = [value for tag, name, value in reader.attributes if name in ("href", "action", "formaction")]
    assert all(re.match(r"(?:#|https?://|mailto:)", link, re.IGNORECASE) for link in links)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]", html)
    return reader


@pytest.fixture
def stage(tmp_path, monkeypatch):
    script = recording(exchange(text(f"{MARKDOWN}\n\n{HOSTILE}"), EDIT, RUN), exchange(text("Done.")))
    found = Stage(tmp_path / "stage", script, files={"a.txt": "a\nb\n"})
    found.begin(f"Please <b>do</b> it {HOSTILE}", title=HOSTILE).drive()
    while waiting := found.waiting():
        for action in waiting:
            found.approve(action)
        found.drive()
    monkeypatch.setenv("WORKBENCH_HOME", str(found.home.path))
    yield found
    found.close()


@pytest.fixture
def page(shell, stage):
    assert shell("sessions", "export", stage.session_id, "--format", "transcript") == 0
    return shell.out


def test_only_its_own_script_and_style_may_run_and_nothing_is_loaded(page):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src &#x27;none&#x27;")
    for tag in ("script", "style"):
        (body,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src &#x27;sha256-{digest}&#x27;" in policy
    assert_is_safe(page)


def test_all_of_the_session_is_there_to_read(page):
    reader = assert_is_safe(page)
    words = "".join(reader.words)
    for part in (
        "Please <b>do</b> it",
        "alert(1)",
        "⟨U+202E⟩",
        "bold",
        "Done.",
        "a.txt",
        "approved by you",
        "echo",
    ):
        assert part in words
    assert "1 file changed, +1 −1" in words
    assert page.count("<h1>") == 1 and "<h3>Big</h3>" in page
    waits = re.findall(r"approved by you.*? after ([^,\n]+)", words)
    assert waits and all(re.fullmatch(r"[\d.]+ m?s", waited) for waited in waits)
    assert "[picture: pic https://example.org/p.png]" in words and "[bad](javascript:alert(1))" in words
    assert re.search(r"<del>-b</del><ins>\+B</ins>", page)
    ids = [value for _, name, value in reader.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    anchors = {
        value[1:]
        for tag, name, value in reader.attributes
        if tag == "a" and name == "href" and value[0] == "#"
    }
    assert anchors <= set(ids)


def test_the_file_list_leads_to_the_call_that_changed_it(page, stage):
    changed = next(event for event in stage.journal.events(stage.session_id) if event.kind == "file.changed")
    anchor = element_id("c", changed.call_id)
    assert f'href="#{anchor}"><code>a.txt</code>' in page and f'<details class="call" id="{anchor}"' in page


def test_the_talk_comes_before_the_outline_which_names_prompts_and_approvals(page, stage):
    talk, outline = page.index('<main id="conversation"'), page.index('<nav id="outline"')
    assert talk < outline
    entries = re.findall(
        r'<li class="(\w+)"><span[^>]*>(.)</span> <a href="#([^"]+)">([^<]+)', page[outline:]
    )
    assert [kind for kind, _, _, _ in entries] == ["said", "asked", "asked"]
    assert entries[0][3].startswith("Please &lt;b&gt;do")
    calls = {element_id("c", call.id) for call in stage.journal.calls(stage.session_id)}
    assert {anchor for _, _, anchor, _ in entries[1:]} <= calls
    assert {sign for _, sign, _, _ in entries[1:]} <= set("✓×")


@pytest.mark.parametrize(("count", "is_open"), [(5, True), (6, False)])
def test_long_lists_of_files_are_folded(shell, tmp_path, monkeypatch, count, is_open):
    calls = [call(f"c{n}", "create_file", path=f"{n}.txt", content="x\n") for n in range(count)]
    script = recording(exchange(*calls), exchange(text("Done.")))
    found = Stage(tmp_path / "stage", script, files={"a.txt": "a\n"})
    found.begin("Do it").drive()
    while waiting := found.waiting():
        for action in waiting:
            found.approve(action)
        found.drive()
    monkeypatch.setenv("WORKBENCH_HOME", str(found.home.path))
    assert shell("sessions", "export", found.session_id, "--format", "transcript") == 0
    (tag,) = re.findall(f'<details id="files"([^>]*)><summary>{count} files changed', shell.out)
    assert (tag.strip() == "open") is is_open
    found.close()


def claude_lines(count):
    for number in range(count):
        yield json.dumps({
            "type": "user", "sessionId": "s", "uuid": f"u{number}", "timestamp": "2026-01-01T10:00:00Z", "cwd": "/w",
            "message": {"role": "user", "content": f"prompt {number} " + "x" * 2_000},
        })  # fmt: skip


def test_sub_agents_questions_and_tokens_of_a_foreign_session(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    about = {"sessionId": "main", "cwd": "/w", "version": "2.0.1", "timestamp": "2026-01-01T10:00:01Z"}
    question = {
        "questions": [{"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}]
    }

    def said(role, content, key, **more):
        return {
            **about,
            "type": role,
            "uuid": key,
            "message": {"role": role, "id": f"m{key}", "model": "claude-x", "content": content, **more},
        }

    usage = {"input_tokens": 1_000, "output_tokens": 50, "cache_read_input_tokens": 4_000}
    rows = [
        said("user", "begin", "u0"),
        said("assistant", [{"type": "tool_use", "id": "q", "name": "AskUserQuestion", "input": question}], "u1", usage=usage),
        {**said("user", [{"type": "tool_result", "tool_use_id": "q", "content": "ok"}], "u2"),
         "toolUseResult": {"answers": {"Which colour?": "blue"}, **question}},
        said("assistant", [{"type": "tool_use", "id": "t", "name": "Task", "input": {"prompt": "look around", "description": "look"}}], "u3"),
        {**said("user", [{"type": "tool_result", "tool_use_id": "t", "content": "seen"}], "u4"), "toolUseResult": {"agentId": "helper"}},
    ]  # fmt: skip
    below = [
        {**said("user", "look around", "h0"), "isSidechain": True, "agentId": "helper"},
        {
            **said("assistant", [{"type": "text", "text": "I looked around"}], "h1"),
            "isSidechain": True,
            "agentId": "helper",
        },
    ]
    (tmp_path / "main" / "subagents").mkdir(parents=True)
    (tmp_path / "main.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "main" / "subagents" / "agent-helper.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in below)
    )
    assert shell("sessions", "import", str(tmp_path / "main.jsonl"), str(tmp_path / "main")) == 0
    listed = shell.json("sessions", "list", "--all", "--json")
    rows = listed["sessions"] if isinstance(listed, dict) else listed
    main = next(row["id"] for row in rows if not row.get("parent_id"))
    assert shell("sessions", "export", main, "--format", "transcript") == 0
    page = shell.out
    assert_is_safe(page)
    words = "".join(read(page).words)
    assert "Which colour?" in words and "blue ✓" in words and "approved by you" in words
    assert "5k tokens in (4k from the cache), 50 out" in words
    task, child = page.index("look</code>"), page.index('<details class="child"')
    # Below its task and inside of it.
    assert task < child < page.index("I looked around") < page.index("</main>")
    assert page.count("I looked around") == 1


def test_a_long_session_is_written_as_it_is_read(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    log = tmp_path / "long.jsonl"
    log.write_text("\n".join(claude_lines(6_000)))
    assert shell("sessions", "import", str(log)) == 0
    listed = shell.json("sessions", "list", "--all", "--json")
    rows = listed["sessions"] if isinstance(listed, dict) else listed
    target = tmp_path / "page.html"
    tracemalloc.start()
    try:
        assert (
            shell("sessions", "export", rows[0]["id"], "--format", "transcript", "--output", str(target)) == 0
        )
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert target.stat().st_size > 12_000_000
    assert most < 10_000_000


INLINE = {"p", "div", "a", "code", "pre", "em", "strong", "s", "ul", "ol", "li", "blockquote", "hr", "br", "table", "thead", "tbody",
          "tr", "th", "td", "h1", "h2", "h3", "h4", "h5", "h6", "ins", "del"}  # fmt: skip
PIECES = st.sampled_from([
    "<script>", "</div>", "<!--", "-->", "]]>", "&#x202e;", "&lt;", "[a](", "javascript:x", "http://e.org", ")", "![", "](", "```", "~~~",
    "\n", "\n\n", "| a |", "|---|", "**", "_", "`", ">", "- ", "    ", "#", "\x1b[31m", "\u202e", "\x00", '"', "'", "<a href='javascript:x'>",
    "<http://e.org>", "<javascript:x>", "&colon;", "\\", "diff", "+x", "-y", "[x]: javascript:alert(1)", "[x]", "é", "\ud800",
])  # fmt: skip


@example("[a]()")  # its empty address never comes to the check of addresses
@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES | st.text(max_size=5), max_size=25).map("".join))
def test_no_markdown_makes_anything_but_text(words):
    assert_is_safe(prose_html(words), INLINE)


@given(st.text())
def test_text_is_text(words):
    assert read(safe_html(words)).tags == set()


LONG = ["[" * 60_000, "*a " * 30_000, "> " * 5_000 + "x", "`" * 50_001, "<" * 60_000, "a_" * 50_000]


@pytest.mark.parametrize("words", LONG, ids=lambda words: words[:2])
def test_long_markdown_ends(words):
    assert_is_safe(prose_html(words), INLINE)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.campaign
def test_in_a_browser_it_opens_offline_finds_and_goes_to_links(page, stage, tmp_path):
    target = tmp_path / "page.html"
    target.write_text(page, encoding="utf-8")
    url = target.as_uri()
    anchor = re.findall(r'<article class="message reply" id="([^"]+)"', page)[-1]
    with chromium(tmp_path) as tab:
        tab.open(url, height=300)
        assert tab.value("alert.toString().includes('native')")
        tab.press("/")
        tab.type("old_string")
        tab.wait("document.getElementById('count').textContent !== ''")
        hits = int(tab.value("document.getElementById('count').textContent").split()[0])
        assert hits >= 1
        assert tab.value("document.querySelectorAll('details.call[open]').length") == 0
        tab.press("Enter")
        assert tab.value("document.getElementById('count').textContent") == f"1 of {hits}"
        box = "[...CSS.highlights.get('here')][0].getBoundingClientRect()"
        assert tab.value(f"({box}.top >= 0) && ({box}.bottom <= innerHeight) && ({box}.width > 0)")
        tab.press("Enter", shift=True)
        assert tab.value("document.getElementById('count').textContent") == f"{hits} of {hits}"
        tab.value(
            "document.getElementById('find').value = 'nothing like this'; document.getElementById('next').click()"
        )
        assert tab.value("document.getElementById('count').textContent") == "not found"
        tab.value(f"location.hash = '{anchor}'")
        tab.wait(f"Math.abs(document.getElementById('{anchor}').getBoundingClientRect().top) < innerHeight")
        tab.value("document.querySelector('a.anchor').click()")
        tab.wait("document.getElementById('said').textContent !== ''")
        paper = "getComputedStyle(document.body).backgroundColor"
        assert tab.value(paper) == "rgb(255, 255, 255)"
        tab.value("for (let i = 0; i < 2; i++) document.getElementById('theme').click()")
        assert tab.value(paper) == "rgb(20, 23, 28)"
        assert tab.requests == [url]
        assert tab.complaints == []


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.campaign
def test_it_reads_without_scripts_in_the_dark_and_on_a_small_screen(page, tmp_path):
    target = tmp_path / "page.html"
    target.write_text(page, encoding="utf-8")
    with chromium(tmp_path) as tab:
        tab.open(target.as_uri(), width=420, dark=True, scripts=False)
        assert tab.value("document.getElementById('bar').hidden")
        assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
        assert tab.value("document.documentElement.scrollWidth <= innerWidth")
        assert "Done." in tab.value("document.body.innerText")
        assert tab.complaints == []
