"""The documentation says what the program does: generated pages, links, command lines, settings and keys."""

import json
import os
import re
import shlex
import shutil
import subprocess
from argparse import Namespace
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from markdown_it import MarkdownIt

from docs import make
from docs.generator.tables import anchor
from tests.support.browser import CHROMIUM, chromium
from tests.support.tables import each_row
from workbench.cli import dispatch
from workbench.cli.arguments import command_parser
from workbench.config.layers import load_config
from workbench.config.types import CONFIG_KEYS, KEYS_BY_PATH, SECTION_PATHS, config_key_at
from workbench.tui.keyboard.keymap import printed_key
from workbench.tui.keyboard.table import all_rows

ROOT = make.FOLDER.parent
LANGUAGES = {
    "sh",
    "text",
    "json",
    "yaml",
    "toml",
    "python",
    "diff",
    "ini",
    "js",
    "jsonl",
    "fish",
    "bash",
    "zsh",
    "xml",
}
"""Of fences. A `mermaid` block would load a script from another host."""
ENDINGS = {"md", "json", "jsonl", "yaml", "yml", "py", "toml", "html", "svg", "sock", "txt", "log", "sh"}


@cache
def pages():
    """Return the tokens of each page that a reader finds, by its path in the repository."""
    paths = [
        *(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")),
        *make.FOLDER.rglob("*.md"),
    ]
    parser = MarkdownIt("commonmark").enable("table")
    return {path.relative_to(ROOT): parser.parse(path.read_text(encoding="utf-8")) for path in sorted(paths)}


def inline(tokens):
    """Yield the tokens of text with the line of their block."""
    for token in tokens:
        for child in token.children or ():
            yield (token.map or [0])[0] + 1, child


def fences(language):
    for page, tokens in pages().items():
        for token in tokens:
            if token.type == "fence" and token.info.split()[:1] == [language]:
                yield f"{page}:{token.map[0] + 1}", token.content


def test_the_reference_is_what_the_program_says():
    differing = [
        name
        for name, page in make.PAGES.items()
        if (make.FOLDER / name).read_text(encoding="utf-8") != page()
    ]
    assert differing == [], "python -m docs.make writes them"


# --- links --------------------------------------------------------------------------------------------


@cache
def anchors(page):
    """Return the anchors of a page as GitHub makes them: those of equal headings are numbered."""
    found, counts = set(), {}
    tokens = pages()[page]
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            name = anchor("".join(child.content for child in token.children))
            count = counts[name] = counts.get(name, -1) + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def links():
    for page, tokens in pages().items():
        for line, token in inline(tokens):
            found = {"link_open": token.attrGet("href"), "image": token.attrGet("src")}.get(token.type)
            sources = (
                re.findall(r'(?:src|href)="([^"]+)"', token.content) if token.type == "html_inline" else []
            )
            yield from ((page, line, target) for target in (found, *sources) if target)
        for block in tokens:
            if block.type == "html_block":
                for target in re.findall(r'(?:src|srcset|href)="([^"]+)"', block.content):
                    yield page, block.map[0] + 1, target


def problem_of(page, target):
    """Return what is wrong with a link; empty for one that leads somewhere, or out of the repository."""
    if re.match(r"[a-z]+:", target):
        return ""
    path, _, name = unquote(target).partition("#")
    leads_to = Path(os.path.normpath(page.parent / path)) if path else page
    if not (ROOT / leads_to).exists():
        return "there is no such file"
    if name and (leads_to not in pages() or name not in anchors(leads_to)):
        return "there is no such heading"
    return ""


def test_each_link_leads_to_a_page_and_a_heading():
    wrong = [
        f"{page}:{line}: {target}: {why}"
        for page, line, target in links()
        if (why := problem_of(page, target))
    ]
    assert not wrong, "\n".join(wrong)


@each_row(
    "target, is_right",
    [("docs/reference/keys.md", True), ("docs/reference/keys.md#everywhere", True), ("docs/nowhere.md", False),
     ("docs/reference/keys.md#nowhere", False), ("https://example.org/x", True), ("#nowhere", False)],
)  # fmt: skip
def test_a_wrong_link_is_found(target, is_right):
    assert (problem_of(Path("README.md"), target) == "") == is_right


def test_each_page_is_in_the_navigation_of_the_site_and_each_entry_is_a_page():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    listed = [page for group in nav for entries in group.values() for page in entries]
    written = {str(path.relative_to(make.FOLDER)) for path in make.FOLDER.rglob("*.md")}
    assert sorted(listed) == sorted(written)


# --- command lines ------------------------------------------------------------------------------------


def simple_commands(text):
    """Yield the words of each command in lines of a shell, without assignments and redirections."""
    text = re.sub(r"\\\n\s*", " ", text)
    for line in text.splitlines():
        for inner in re.findall(r"\$\(([^()]+)\)", line):
            yield from simple_commands(inner)
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words, is_target = [], False
        for word in [*lexer, ";"]:
            if set(word) <= set("();<>|&"):
                is_target = word[0] in "<>"
                if not is_target:
                    yield [word for word in words if not re.match(r"[A-Z_]+=", word)]
                    words = []
            elif is_target:
                is_target = False
            else:
                words.append(word)


def refusal(words):
    """Return why the real parser refuses the words behind `workbench`; empty where it does not."""
    names = {name for name in dispatch.COMMANDS if not dispatch.COMMANDS[name].is_hidden}
    if words and words[0] not in names and re.search(r"^[A-Z]+$|[./~]", words[0]):
        words = [dispatch.SCREEN_COMMAND, *words]  # a folder or a file, which does not exist here
    try:
        request = dispatch.parse_invocation(words)
        if not (request.wants_help or request.wants_version):
            if not request.entry.module:
                return "it needs a command"
            command = dispatch.load_command(request.entry)
            parser = command_parser(request.path, "x", command.example, command.configure)
            parser.parse_words(request.rest, Namespace(directory=None))
    except dispatch.UsageError as error:
        return str(error)
    except SystemExit:
        pass  # --help behind a command
    return ""


def test_each_command_line_is_one_of_the_program():
    wrong, count = [], 0
    for place, text in fences("sh"):
        for words in simple_commands(text):
            if words[:1] == ["workbench"]:
                count += 1
                if why := refusal(words[1:]):
                    wrong.append(f"{place}: {shlex.join(words)}: {why}")
    assert not wrong, "\n".join(wrong)
    assert count > 100


@each_row(
    "line, is_right",
    [("workbench run -p TEXT", True), ("cd x && workbench sessions list | head", True), ("workbench DIR", True),
     ("workbench ~/shop --continue", True), ('eval "$(workbench ask --shell-integration bash)"', True),
     ("workbench run --no-such", False), ("workbench sesions", False), ("workbench approvals", False),
     ("git diff | workbench apply - > out", True), ("X=1 workbench run --provider", False),
     ("workbench run --on-approval MODE", False), ("workbench --help", True), ("workbench ask logs ID", True)],
)  # fmt: skip
def test_a_wrong_command_line_is_found(line, is_right):
    found = [refusal(words[1:]) for words in simple_commands(line) if words[:1] == ["workbench"]]
    assert found and all(why == "" for why in found) == is_right, found


def unknown_part(text):
    """Return the command or option of an incomplete command line that does not exist; empty where all do."""
    words, path, entry = text.split()[1:], [], dispatch.CommandEntry(summary="", below=dispatch.COMMANDS)
    while words and words[0] in entry.below:
        path.append(words.pop(0))
        entry = entry.below[path[-1]]
    if not entry.module:
        options = {"--help", "--version", "--continue", "--all", "--plain"}
        is_message = len(words) > 3
        is_wrong = (
            words and re.fullmatch("-*[a-z-]+", words[0]) and words[0] not in options and not is_message
        )
        return words[0] if is_wrong else ""
    command = dispatch.load_command(entry)
    known = command_parser(path, "x", command.example, command.configure)._option_string_actions
    return next((word for word in words if word.startswith("--") and word.partition("=")[0] not in known), "")


def test_each_command_in_the_text_exists():
    wrong = [
        f"{page}:{line}: {token.content}: {part}"
        for page, tokens in pages().items()
        for line, token in inline(tokens)
        if token.type == "code_inline" and token.content.startswith("workbench ")
        if (part := unknown_part(token.content))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_command_in_the_text_that_does_not_exist_is_found():
    assert unknown_part("workbench sesions") and unknown_part("workbench run --nowhere")
    right = (
        "workbench ~/x",
        "workbench run",
        "workbench approvals",
        "workbench run --record",
        "workbench --plain",
    )
    assert [text for text in right if unknown_part(text)] == []


# --- settings and keys --------------------------------------------------------------------------------

SECTIONS = {key.path.partition(".")[0] for key in CONFIG_KEYS if "." in key.path} | {"providers"}
KEY_IDS = {row.id for row in all_rows()}


def is_unknown_setting(text):
    """Return whether a dotted name looks like a setting and is none."""
    if not re.fullmatch(r"[a-z_]+(\.[A-Za-z_0-9-]+)+", text) or text.rpartition(".")[2] in ENDINGS:
        return False
    is_known = (
        text in KEYS_BY_PATH or text in SECTION_PATHS or text in KEY_IDS or config_key_at(text) is not None
    )
    return (
        text.partition(".")[0] in SECTIONS
        and not is_known
        and not re.fullmatch(r"providers\.[A-Za-z]+", text)
    )


def test_each_setting_in_the_text_exists():
    wrong = [
        f"{page}:{line}: {token.content}"
        for page, tokens in pages().items()
        for line, token in inline(tokens)
        if token.type == "code_inline" and is_unknown_setting(token.content)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_setting_that_does_not_exist_is_found():
    assert is_unknown_setting("approvals.window") and is_unknown_setting("providers.NAME.adress")
    right = (
        "approvals.window_minutes",
        "ui.notify",
        "providers.NAME.key_env",
        "sessions.md",
        "app.help",
        "a.b",
    )
    assert [text for text in right if is_unknown_setting(text)] == []


def documents(text):
    """Return a JSON document, or the list of those in lines of JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


def test_each_example_in_json_is_json_and_settings_are_accepted(tmp_path):
    wrong, known = [], {key.path.partition(".")[0] for key in CONFIG_KEYS} | {"providers"}
    for place, text in fences("json"):
        try:
            value = documents(text)
        except ValueError as error:
            wrong.append(f"{place}: {error}")
            continue
        if isinstance(value, dict) and value and value.keys() <= known:
            (tmp_path / "config.json").write_text(json.dumps({"config_version": 1, **value}))
            loaded = load_config(tmp_path, None, trusted=True, env={}, options={})
            wrong += [f"{place}: {problem.message}" for problem in loaded.problems]
    assert not wrong, "\n".join(wrong)


def test_each_key_of_a_table_of_keys_exists():
    rows = all_rows()
    printed = {printed_key(key) for row in rows for key in row.keys} | {
        "enter",
        "space",
        "tab",
        "!",
        "@",
        "/",
        "…",
    }
    printed |= {word for row in rows for word in row.print.split()}
    wrong = []
    for page, tokens in pages().items():
        is_of_keys, column = False, 0
        for token in tokens:
            column = 0 if token.type == "tr_open" else column
            if token.type == "inline" and column == 0 and is_of_keys:
                for code in (child.content for child in token.children if child.type == "code_inline"):
                    wrong += [
                        f"{page}:{token.map[0] + 1}: {key}" for key in code.split() if key not in printed
                    ]
            if token.type == "inline":
                column += 1
            if token.type == "thead_open":
                is_of_keys = False
            if token.type == "inline" and token.content in ("key", "keys"):
                is_of_keys = column == 1
            if token.type == "table_close":
                is_of_keys = False
    assert not wrong, "\n".join(wrong)


def test_each_block_names_its_language():
    found = {
        f"{page}:{token.map[0] + 1}: {token.info or 'none'}"
        for page, tokens in pages().items()
        if page.parts[0] in ("docs", "README.md")
        for token in tokens
        if token.type == "fence" and token.info.split()[:1] not in [[name] for name in LANGUAGES]
    }
    assert found == set()


# --- the manual page and the site ---------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_the_manual_page_has_no_mistakes_and_is_found_by_its_name():
    page = make.FOLDER / "workbench.1"
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8", page], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "workbench - supervise AI agents" in re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)


@pytest.mark.campaign
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_site_is_built_without_a_broken_link_and_loads_nothing_from_elsewhere(tmp_path):
    program = shutil.which("zensical")
    if program is None:
        pytest.skip("needs the extra docs")
    shutil.copytree(make.FOLDER, tmp_path / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    done = subprocess.run(
        [program, "build", "--strict"], cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    assert not [path for path in site.rglob("*") if path.suffix in (".py", ".1", ".pyc")]
    with chromium(tmp_path) as tab:
        for page in ("index.html", "reference/commands.html"):
            tab.open((site / page).as_uri())
            assert tab.value("document.querySelectorAll('nav a').length") > 10
        assert [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:"))] == []
