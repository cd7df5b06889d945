"""Build tools of a folder: eight parsers as a table, each with a broken and a hostile file, and two oracles."""

import json
import random
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.growth import bounded_work
from tests.support.sizes import IS_CAMPAIGN
from tests.support.tables import each_row
from workbench.ask.build_tools import (
    MOST_BUILD_FILE_BYTES,
    MOST_COMMANDS,
    PARSERS,
    BuildCommand,
    BuildTool,
    parse_build_file,
    read_build_tools,
)

MAKEFILE = """\
# Compile everything.
all: build test
CC ?= gcc
BINARY := app
FLAGS = -O2 : not-a-rule
override define TEXT
hidden: inside of a define
endef

build: $(BINARY) ## Build the program
$(BINARY): main.c
\t$(CC) -o $@ main.c
debug: CFLAGS = -g
debug: build

# A comment that stands alone

test lint:: build
\t@echo "not: a target"
%.o: %.c
\tcc -c $<
.c.o:
\tcc -c $<
ifeq ($(OS),Windows)
windows:
\techo
$(error No: $(shell echo (see) a b: c) is there. Other: none)
endif
-include local.mk
export PATH := bin:/usr/bin
release: ; @echo x=y
objects: objects/%: src/%
long: one \\
  two
\t@true
.PHONY: all test lint
"""
JUSTFILE = """\
set shell := ["bash", "-c"]
version := '1.0'
banner := '''
text: that is no recipe
'''
alias b := build

# Build it
build:
    cargo build

# Deploy it somewhere
@deploy env target="a:b" +flags='': build
    echo {{env}}: not a recipe

_hidden:
    true

[private]
secretly:
    true

[group('x'), doc("Say hello")]
hello name:
    echo {{name}}
"""
TASKFILE = """\
version: '3'
tasks:
  build:
    desc: Build it
    cmds: [go build ./...]
  test: go test ./...
  many:
    - first
    - second
  long:
    summary: |
      First line
      Second line
  hidden:
    internal: true
    cmds: [true]
"""
PYPROJECT = """\
[project]
name = "x"
[project.scripts]
shop = "shop.cli:main"
[tool.poe.tasks]
lint = "ruff check ."
fix = { cmd = "ruff --fix", help = "Fix what can be fixed" }
_base = "hidden"
[tool.hatch.envs.default.scripts]
cov = ["pytest --cov", "coverage report"]
"""
COMPOSE = """\
x-base: &base
  restart: always
services:
  web:
    <<: *base
    build: ./web
  db:
    image: postgres:17
  job:
    build:
      context: ./job
  bare: {}
"""
READ = [
    (
        "Makefile", MAKEFILE, "make", "make build",
        [("all", "Compile everything."), ("build", "Build the program"), ("app", ""), ("debug", ""), ("test", ""),
         ("lint", ""), ("windows", ""), ("release", ""), ("objects", ""), ("long", "")],
    ),
    (
        "package.json", '{"scripts": {"dev": "vite", "a b": "x", "n": 1}}', "npm", "npm run 'a b'",
        [("dev", "vite"), ("a b", "x")],
    ),
    (
        "package.json", '{"packageManager": "pnpm@9.1.0", "scripts": {"dev": "vite"}}', "pnpm", "pnpm run dev",
        [("dev", "vite")],
    ),
    (
        "mise.toml", '[tasks]\nfmt = "ruff format"\n[tasks."ci:all"]\nrun = ["a", "b"]\n'
        '[tasks.docs]\ndescription = "Make the documentation"\nrun = "mkdocs"\n[tasks.x]\nhide = true\nrun = "y"',
        "mise", "mise run ci:all", [("fmt", "ruff format"), ("ci:all", "a"), ("docs", "Make the documentation")],
    ),
    (
        "justfile", JUSTFILE, "just", "just deploy",
        [("build", "Build it"), ("deploy", "Deploy it somewhere (takes env target=\"a:b\" +flags='')"),
         ("hello", "Say hello (takes name)")],
    ),
    (
        "Taskfile.yml", TASKFILE, "task", "task build",
        [("build", "Build it"), ("test", "go test ./..."), ("many", "first"), ("long", "First line")],
    ),
    (
        "Cargo.toml", '[package]\nname = "x"\n[[bin]]\nname = "shop"\n[[example]]\nname = "tour"\n', "cargo",
        "cargo run --bin shop",
        [("build", "compile it"), ("test", "run its tests"), ("check", "find errors without making a program"),
         ("run --bin shop", ""), ("run --example tour", "")],
    ),
    (
        "pyproject.toml", PYPROJECT, "python", "poe lint",
        [("shop", "shop.cli:main"), ("poe lint", "ruff check ."), ("poe fix", "Fix what can be fixed"),
         ("hatch run cov", "pytest --cov")],
    ),
    (
        "docker-compose.yml", COMPOSE, "docker compose", "docker compose up db",
        [("web", "built from ./web"), ("db", "postgres:17"), ("job", "built from ./job"), ("bare", "")],
    ),
]  # fmt: skip


@pytest.mark.spec(182, 183)
@each_row("file, text, name, typed, commands", READ, ids=lambda value: str(value)[:20])
def test_each_file_gives_its_tool_and_commands(file, text, name, typed, commands):
    tool = parse_build_file(file, text.encode())
    assert tool is not None
    assert (tool.name, tool.file) == (name, file)
    assert [(command.name, command.description) for command in tool.commands] == commands
    assert typed in [tool.typed(command) for command in tool.commands]


BROKEN = [
    ("package.json", b'{"scripts": '), ("package.json", b"[1]"), ("package.json", b"\xff\xfe{}"),
    ("mise.toml", b"[tasks\n"), ("Cargo.toml", b"[package]\nname = "), ("pyproject.toml", b"\xff"),
    ("Taskfile.yml", b"tasks: [a: b: c"), ("docker-compose.yml", b"services: !!python/object:os.system {}"),
    ("Makefile", b"\x00\xff\x00 no rule at all"), ("justfile", b"\xff\xfe\x00"),
]  # fmt: skip
EMPTY = [
    ("package.json", b'{"name": "x"}'), ("mise.toml", b"[tools]\nnode = 'lts'"), ("Cargo.toml", b"[profile.dev]"),
    ("pyproject.toml", b"[tool.ruff]"), ("Taskfile.yml", b"version: '3'"), ("docker-compose.yml", b"volumes: {}"),
    ("Makefile", b"include other.mk\nX = 1\n"), ("justfile", b"set dotenv-load\n"), ("Makefile", b""),
]  # fmt: skip


@pytest.mark.spec(182)
@each_row("file, data", [*BROKEN, *EMPTY])
def test_what_is_broken_or_offers_nothing_is_left_out_silently(file, data):
    assert parse_build_file(file, data) is None


BOMB = b"a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)
)
HOSTILE = [
    ("Makefile", b"x" * 50_000_000), ("Makefile", b"a\\\n" * 5_000_000), ("Makefile", b"$(A)" * 1_000_000 + b": x"),
    ("Makefile", (b"(" * 4_000 + b")" * 4_000 + b": x\n") * 40),
    ("Makefile", b"a: b\n" * 1_000_000), ("Makefile", b"define x\n" * 100_000),
    ("justfile", b"a" * 1_000_000), ("justfile", b"a \"'`" * 200_000), ("justfile", b"a b c d\n" * 200_000),
    ("package.json", b'{"scripts":' * 100_000), ("package.json", b"[" * 1_000_000),
    ("mise.toml", b"a=" + b"[" * 100_000), ("mise.toml", b"a." * 200_000 + b"b=1"),
    ("Cargo.toml", b"[" + b"a." * 200_000 + b"b]\n"), ("pyproject.toml", b"x = " + b"9" * 400_000),
    ("Taskfile.yml", BOMB), ("docker-compose.yml", b"services: " + b"[" * 100_000),
    ("Taskfile.yml", b"tasks: {" + b"a: {" * 50_000), ("docker-compose.yml", b"- &a\n" * 300_000),
]  # fmt: skip


@pytest.mark.spec(182)
def test_hostile_files_end_and_give_nothing_endless():
    with bounded_work():  # quadratic in any of them is hours
        tools = [parse_build_file(file, data) for file, data in HOSTILE]
    assert all(tool is None or len(tool.commands) <= MOST_COMMANDS for tool in tools)


@given(st.sampled_from([file for parser in PARSERS for file in parser.files]), st.binary(max_size=300) | st.text(
    alphabet="abc:=[]{}\"'\\\n\t #.$()%&*-", max_size=200).map(str.encode))  # fmt: skip
def test_any_bytes_are_a_tool_or_nothing(file, data):
    tool = parse_build_file(file, data)
    assert tool is None or (tool.file == file and tool.commands)


@pytest.mark.spec(182)
def test_what_a_makefile_includes_from_its_folder_counts():
    files = {
        "Makefile": b"include mk/a.mk ../out.mk /etc/x.mk $(X).mk\n-include b.mk gone.mk\nall: ## All of it\n",
        "mk/a.mk": b"release: ## Make a release\n", "b.mk": b"lint:\n", "../out.mk": b"out:\n", "/etc/x.mk": b"x:\n",
    }  # fmt: skip
    (tool,) = read_build_tools(lambda name, most: files.get(name))
    assert [(command.name, command.description) for command in tool.commands] == [
        ("all", "All of it"), ("release", "Make a release"), ("lint", ""),
    ]  # fmt: skip


@pytest.mark.spec(183)
def test_names_and_descriptions_are_bounded_and_visible_and_hold_no_secret():
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    scripts = {
        "a\nb": "x",
        "b\u202e": "x",
        "n" * 500: "x",
        "l" * 201: "x",
        "w" * 200: "x",
        "": "x",
        "ok": "y" * 5000,
        "push": f"curl -H 'token {key}'",
    }
    tool = parse_build_file("package.json", json.dumps({"scripts": scripts}).encode())
    assert [command.name for command in tool.commands] == ["w" * 200, "ok", "push"]
    assert all(len(command.description) <= 200 for command in tool.commands)
    assert key not in tool.commands[2].description


@pytest.mark.spec(183)
def test_of_too_many_targets_those_that_are_meant_to_be_run_come_first():
    files = "".join(f"obj/{n}.o: src/{n}.c\n" for n in range(MOST_COMMANDS * 2))
    tool = parse_build_file("Makefile", f"{files}deploy: all\n.PHONY: deploy\n".encode())
    assert len(tool.commands) == MOST_COMMANDS
    assert tool.commands[0].name == "deploy"


def test_a_name_that_a_shell_would_read_is_quoted():
    tool = BuildTool(name="npm", file="package.json", usage="npm run {}", commands=())
    assert tool.typed(BuildCommand(name="x; rm -rf ~")) == "npm run 'x; rm -rf ~'"


@pytest.mark.spec(183)
def test_of_several_names_of_one_tool_the_first_counts_and_all_tools_are_listed():
    files = {
        "GNUmakefile": b"gnu:\n", "Makefile": b"plain:\n", "package.json": b'{"scripts": {"t": "x"}}',
        "Cargo.toml": b"broken", "compose.yaml": b"services: {db: {image: x}}",
    }  # fmt: skip
    asked = []

    def read(name, most):
        asked.append(most)
        return files.get(name)

    tools = read_build_tools(read)
    assert [(tool.name, tool.file) for tool in tools] == [
        ("make", "GNUmakefile"), ("npm", "package.json"), ("docker compose", "compose.yaml"),
    ]  # fmt: skip
    assert set(asked) == {MOST_BUILD_FILE_BYTES}
    assert len(PARSERS) == 8


def targets_of_make(folder, text):
    """Return what make itself takes for targets, or None where it does not read the file."""
    (folder / "Makefile").write_text(text)
    done = subprocess.run(
        ["make", "-pRrq", "-f", "Makefile", ":"], cwd=folder, capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "OS": "Windows"},
    )  # fmt: skip
    if "***" in done.stderr and "No rule to make target ':'" not in done.stderr:
        return None
    lines = done.stdout.partition("# Files")[2].partition("# files hash-table stats")[0].split("\n")
    rules = {
        rule[1]
        for before, line in zip(["", *lines], lines, strict=False)
        if before != "# Not a target:" and (rule := re.match(r"([^#\t:=%.][^#\t:=%]*):(?:[^=]|$)", line))
    }
    return rules - {"Makefile", "local.mk"}


def names_in(text):
    tool = parse_build_file("Makefile", text.encode())
    return {command.name for command in tool.commands} if tool else set()


needs_make = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")


@needs_make
@pytest.mark.spec(182)
def test_make_itself_knows_the_same_targets(tmp_path):
    text = re.sub(r"\$\(error .*\n", "", MAKEFILE).replace("windows:", "other:")
    assert targets_of_make(tmp_path, text) == names_in(text)


def random_line(some):
    names = " ".join(
        some.choice(["all", "test", "a-b", "x.y", "dir/z", "_q"]) for _ in range(some.choice([1, 1, 2]))
    )
    recipe = some.choice(["", "\t@echo a: b\n", "\t@echo x \\\n\ty: z\n"])
    value = some.choice(["x", "a: b", "one two", ""])
    needs = some.choice(["", " ", " dep", " dep dep2 ## said", " # note", " ; @true"])
    return some.choice([
        f"{names}:{needs}\n{recipe}", f"{names}:{needs}\n{recipe}", f"{names}:: dep\n{recipe}", f"{names} &: dep\n\t@true\n",
        f"V{some.randrange(2)} {some.choice([':=', '=', '?=', '+=', '::='])} {value}\n", f"$(V{some.randrange(2)}): dep\n",
        "%.a: %.c\n\t@true\n", f".PHONY: {names}\n", f"{names}: {some.choice(['X = 1', 'export Y := 2'])}\n", "\n",
        "define D\nnot: rule\nendef\n", "# a comment: here\n", "export E := a:b\n", ".SUFFIXES:\n",
    ])  # fmt: skip


@needs_make
@pytest.mark.spec(182)
def test_of_any_makefile_make_itself_knows_the_same_targets(tmp_path):
    some, compared = random.Random(182), 0
    for _ in range(1_000 if IS_CAMPAIGN else 40):
        text = "".join(random_line(some) for _ in range(some.randrange(1, 9)))
        known, ours = targets_of_make(tmp_path, text), names_in(text)
        # Make counts names that are only declared phony, or only have a variable of their own; there is nothing to run.
        declared = re.findall(r"^\.PHONY:(.*)|^([^:#\t\n]+): (?:X|export)", text, re.MULTILINE)
        idle = {name for pair in declared for part in pair for name in part.split()}
        if known is not None:
            compared += 1
            assert ours <= known and known - ours <= idle, text
    assert compared > 20


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
@pytest.mark.spec(182)
def test_npm_itself_knows_the_same_scripts(tmp_path):
    text = '{"name": "x", "scripts": {"dev": "vite --port 1", "a:b": "echo \\"x\\"", "pre dev": "é"}}'
    (tmp_path / "package.json").write_text(text)
    done = subprocess.run(
        ["npm", "pkg", "get", "scripts"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    tool = parse_build_file("package.json", text.encode())
    assert json.loads(done.stdout) == {command.name: command.description for command in tool.commands}
