"""Graphs to try: real pipelines as ids and needs, the samples that set the bar, and random ones."""

import random

from hypothesis import strategies as st

from workbench.graph.model import GraphStep, build_graph

WAVE = {
    "debug": "reproduce | hypothesize: reproduce | investigate: hypothesize | fix: investigate",
    "doc-loop": "scan-changes | analyze-consistency: scan-changes | create-issue: analyze-consistency",
    "docs-to-impl": (
        "create-feature-branch | analyze-docs: create-feature-branch | analyze-implementation: create-feature-branch"
        " | identify-mismatches: analyze-docs analyze-implementation | judge-mismatches: identify-mismatches"
        " | specify-issue-1: judge-mismatches | specify-issue-2: judge-mismatches | specify-issue-3: judge-mismatches"
        " | plan-issue-1: specify-issue-1 | plan-issue-2: specify-issue-2 | plan-issue-3: specify-issue-3"
        " | create-proposal-pr: plan-issue-1 plan-issue-2 plan-issue-3 judge-mismatches"
    ),
    "github-issue-enhancer": (
        "scan-issues | plan-enhancements: scan-issues | apply-enhancements: plan-enhancements"
        " | verify-enhancements: apply-enhancements"
    ),
    "issue-research": (
        "fetch-issue | analyze-topics: fetch-issue | research-topics: analyze-topics"
        " | synthesize-report: research-topics | post-comment: synthesize-report"
    ),
    "migrate": "impact-analysis | migration-plan: impact-analysis | implement: migration-plan | review: implement",
    "plan": "explore | breakdown: explore | review: breakdown",
    "prototype": (
        "spec | docs: spec | dummy: docs | implement: dummy | pr-create: implement | pr-review: pr-create"
        " | pr-respond: pr-review | pr-fix: pr-respond | pr-merge: pr-fix"
    ),
    "refactor": "analyze | test-baseline: analyze | refactor: test-baseline | verify: refactor",
    "speckit-flow": "navigate | specify: navigate | plan: specify | implement: plan | review: implement",
    "test-gen": "analyze-coverage | generate-tests: analyze-coverage | verify-coverage: generate-tests",
    "umami": (
        "navigate-umami-access | fetch-current-analytics: navigate-umami-access"
        " | fetch-historical-analytics: navigate-umami-access"
        " | compare-analytics: fetch-current-analytics fetch-historical-analytics"
        " | generate-action-plans: compare-analytics"
        " | review-and-finalize: generate-action-plans compare-analytics"
    ),
    "code-review": (
        "diff-analysis | security-review: diff-analysis | quality-review: diff-analysis"
        " | summary: security-review quality-review"
    ),
    "documentation": (
        "code-analysis | api-reference: code-analysis | getting-started: code-analysis | examples: code-analysis"
        " | architecture-docs: code-analysis | compile-docs: api-reference getting-started examples architecture-docs"
    ),
    "security-audit": (
        "reconnaissance | static-analysis: reconnaissance | config-audit: reconnaissance"
        " | dependency-scan: reconnaissance | remediation-plan: static-analysis config-audit dependency-scan"
        " | ticket-generation: remediation-plan"
    ),
}

BAR = {
    "demo": "plan | api: plan | web: plan | tests: api web | gate: tests | summary: gate",
    "ops-pr-review": (
        "diff-analysis | security-review: diff-analysis | quality-review: diff-analysis | slop-review: diff-analysis"
        " | summary: security-review quality-review slop-review | publish: summary"
    ),
    "audit-issue": (
        "fetch-issue | parallel-evidence: fetch-issue | aggregate-evidence: parallel-evidence"
        " | enumerate-gaps: aggregate-evidence | per-gap-deepdive: enumerate-gaps aggregate-evidence"
        " | aggregate-followups: per-gap-deepdive enumerate-gaps | synthesize: aggregate-followups fetch-issue"
        " | file-each-followup: synthesize aggregate-followups | create-pr: file-each-followup synthesize"
    ),
    "impl-speckit": (
        "specify | clarify: specify | plan: clarify specify | tasks: plan specify | checklist: tasks specify"
        " | analyze: checklist specify | implement: analyze specify | create-pr: implement specify"
    ),
    "stages": (
        "src | build-linux: src | build-mac: src | build-win: src | test-unit: build-linux build-mac build-win"
        " | test-e2e: build-linux build-mac build-win | test-perf: build-linux build-mac build-win"
        " | test-ui: build-linux build-mac build-win | pub-pypi: test-unit test-e2e test-perf test-ui"
        " | pub-npm: test-unit test-e2e test-perf test-ui | notify: pub-pypi pub-npm"
    ),
    "monorepo": (
        "checkout | install: checkout | gate: install"
        " | pkg0-lint: install | pkg0-build: install | pkg0-test: pkg0-build | pkg0-publish: pkg0-lint pkg0-test gate"
        " | pkg1-lint: install | pkg1-build: pkg0-build | pkg1-test: pkg1-build"
        " | pkg1-publish: pkg1-lint pkg1-test gate"
        " | pkg2-lint: install | pkg2-build: pkg1-build | pkg2-test: pkg2-build"
        " | pkg2-publish: pkg2-lint pkg2-test gate | release: pkg0-publish pkg1-publish pkg2-publish"
    ),
}

REAL = {**WAVE, **BAR}


def steps_of(text):
    parts = [part.strip().partition(": ") for part in text.split("|")]
    return [GraphStep(id=name, needs=tuple(needs.split())) for name, _, needs in parts]


def graph_of(text):
    return build_graph(steps_of(text))


def wide(count, reach, most, seed=1):
    """A random graph of `count` steps that need 1 to `most` of the `reach` before them."""
    picked = random.Random(seed)
    steps = [GraphStep(id="s0")]
    for at in range(1, count):
        low = max(0, at - reach)
        needs = sorted({picked.randrange(low, at) for _ in range(picked.randint(1, most))})
        steps.append(GraphStep(id=f"s{at}", needs=tuple(f"s{one}" for one in needs)))
    return build_graph(steps)


def monorepo(packages):
    text = "checkout | install: checkout | gate: install"
    for at in range(packages):
        text += f" | p{at}-lint: install | p{at}-build: {f'p{at - 1}-build' if at else 'install'}"
        text += f" | p{at}-test: p{at}-build | p{at}-publish: p{at}-lint p{at}-test gate"
    return graph_of(text + " | release: " + " ".join(f"p{at}-publish" for at in range(packages)))


@st.composite
def step_lists(draw, most=30):
    count = draw(st.integers(1, most))
    reach = draw(st.sampled_from([1, 2, 4, 100]))
    order = draw(st.permutations(range(count)))
    steps = []
    for at in range(count):
        low = max(0, at - reach)
        needs = draw(st.sets(st.integers(low, at - 1), max_size=4)) if at else set()
        steps.append(GraphStep(id=f"s{at}", needs=tuple(f"s{one}" for one in sorted(needs))))
    return [steps[at] for at in order]


def dags(most=30):
    return step_lists(most).map(build_graph)
