"""A small file of each format that describes work for other programs, written in its shape, and files like them."""

GITHUB = """\
name: checks
on:
  push: {branches: [main]}
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: make lint
"""
GITLAB = """\
stages: [build, test]
variables: {GO: "1.25"}
build:
  stage: build
  script: !reference [.shared, script]
unit:
  stage: test
  script:
    - make unit
"""
ARGO = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: shop-}
spec:
  entrypoint: main
  templates:
    - name: main
      container: {image: alpine, command: [echo]}
"""
GOOSE = """\
version: 1.0.0
title: Read the change
description: Read a change and say what is risky
instructions: You are careful.
parameters:
  - {key: branch, input_type: string, requirement: required, description: which}
prompt: Look at {{ branch }}.
"""
N8N = """\
{"name": "orders", "nodes": [{"name": "When", "type": "n8n-nodes-base.cron", "typeVersion": 1,
 "position": [0, 0], "parameters": {}}], "connections": {"When": {"main": [[]]}}, "active": false}
"""
CREW = """\
researcher:
  role: Researcher of {topic}
  goal: Find what is new
  backstory: You read a lot.
"""
CREW_TASKS = """\
research:
  description: Look for news of {topic}
  expected_output: Ten lines
  agent: researcher
"""
TASKFILE = """\
version: '3'
vars: {NAME: shop}
tasks:
  default:
    cmds: [echo {{.NAME}}]
"""
JUSTFILE = """\
set shell := ["bash", "-c"]
name := "shop"

# builds it
build target="all": lint
    cargo build --bin {{name}}

lint:
    cargo clippy
"""
MAKEFILE = """\
BIN = shop
.PHONY: all test
all: $(BIN) test

$(BIN): main.c
\tcc -o $@ main.c

test:
\t./$(BIN) --check
"""
DAGGER = '{"name": "shop", "engineVersion": "v0.18.9", "sdk": {"source": "go"}, "dependencies": []}\n'
SUB_AGENT = """\
---
name: reviewer
description: "Reads changes: finds what is risky"
tools: Read, Grep, Bash(git diff *)
model: sonnet
color: blue
---

You read changes.

Say what is risky.
"""
COMPOSE = """\
services:
  web:
    build: .
    ports: ["8000:8000"]
  db: {image: "postgres:17"}
"""
WORKFLOWS = {
    "github": (".github/workflows/checks.yml", GITHUB), "gitlab": (".gitlab-ci.yml", GITLAB),
    "argo": ("argo.yaml", ARGO), "goose": ("recipe.yaml", GOOSE), "n8n": ("orders.json", N8N),
    "crewai": ("config/agents.yaml", CREW), "taskfile": ("Taskfile.yml", TASKFILE),
    "justfile": ("justfile", JUSTFILE), "makefile": ("Makefile", MAKEFILE), "dagger": ("dagger.json", DAGGER),
    "sub_agent": (".claude/agents/reviewer.md", SUB_AGENT), "compose": ("compose.yaml", COMPOSE),
}  # fmt: skip
OTHERS = {
    "a pipeline": "kind: WavePipeline\nmetadata: {name: a}\nsteps:\n  - id: a\n    exec: {type: command, source: 'true'}\n",
    "an old pipeline": "name: a\nsteps:\n  - id: a\n",
    "a manifest": "kind: WaveManifest\nmetadata: {name: a}\nadapters: {}\npersonas: {}\nruntime: {}\n",
    "a pod": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n",
    "an Argo application": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {}\n",
    "an OpenAPI": "openapi: 3.1.0\ninfo: {title: a, description: b, version: '3'}\npaths: {}\n",
    "a package": '{"name": "a", "version": "3", "scripts": {"test": "true"}, "dependencies": {}}',
    "services of a framework": "services:\n  _defaults: {autowire: true}\n  App\\A: ~\n",
    "a list": "- jobs\n- on\n", "words": "on: the road\njobs: none\nservices: many\n", "nothing": "",
    "Python": "try:\n\timport a\nexcept ImportError:\n\ta = None\n",
    "a page": "---\ntitle: a\ndescription: b\n---\n\nWords.\n",
    "a skill": "---\nname: a\ndescription: b\n---\n\nWords.\n", "front matter alone": "---\nname: a\ntools: Read\n---\n",
    "settings": "version: '3'\ntasks: 4\n", "bytes": "a: \0\n",
    "a tag": "!!python/object/apply:os.system [\"true\"]\n",
}  # fmt: skip
HOSTILE = {
    "deep": "on: x\njobs: " + "[" * 50_000,
    "deep JSON": '{"nodes": ' + "[" * 50_000,
    "aliases": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n" + "".join(
        f"d{n}: &d{n} [*{'c' if n == 0 else f'd{n - 1}'}, *{'c' if n == 0 else f'd{n - 1}'}]\n" for n in range(60)
    ),
    "itself": "jobs: &x {a: *x}\n",
    "hyphens": "---\n" * 100_000,
    "spaces": "a" + " " * 500_000 + "\n" + "a" + "\t" * 200_000,
    "colons": ":" * 500_000,
    "quotes": '"' * 300_001,
    "letters": "a" * 1_000_000,
    "rules": "a b c d e f " * 60_000,
}  # fmt: skip
