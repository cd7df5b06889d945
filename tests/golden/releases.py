"""Golden runs of pipelines: a release with everything that goes well in the end, and a hotfix that does not.

Owns their manifests, pipelines and recordings, and what the human does.
"""

from tests.golden.scenario import golden_run
from tests.golden.staging import GONE
from tests.golden.words import create, edit, exchange, prompt, read, result, said

MANIFEST = """\
apiVersion: v1
kind: WaveManifest
metadata:
  name: shop
adapters:
  own:
    binary: workbench
    mode: headless
    default_permissions:
      deny: ["Bash(git push*)"]
personas:
  planner:
    adapter: own
    description: Says what a release needs
    system_prompt_file: .workbench/personas/planner.md
    temperature: 0.2
    permissions:
      allowed_tools: [Read, "Write(plan.json)", "Edit(plan.json)"]
  writer:
    adapter: own
    description: Writes for customers
    system_prompt_file: .workbench/personas/writer.md
    permissions:
      allowed_tools: [Read, "Write(docs/**)"]
runtime:
  max_concurrent_workers: 3
  default_timeout_minutes: 10
"""

RELEASE = """\
kind: WavePipeline
metadata:
  name: release
  description: Plan, check side by side, write, ask, publish, sum up
input:
  source: cli
  schema: {type: string, pattern: '^[0-9]+[.][0-9]+$'}
  example: "1.4"
steps:
  - id: plan
    persona: planner
    exec:
      type: prompt
      source: "Plan release {{ input }} of the shop: write plan.json with version, risk and pages."
    output_artifacts:
      - {name: plan, path: plan.json, type: json}
    handover:
      contract:
        type: json_schema
        source: plan.json
        schema:
          type: object
          required: [version, risk, pages]
          properties:
            version: {type: string}
            risk: {enum: [low, high]}
            pages: {type: array, items: {type: string}}
        on_failure: retry
        max_retries: 2

  - id: tests
    dependencies: [plan]
    workspace: {root: ./}
    exec: {type: command, source: "sh scripts/test.sh"}
    output_artifacts:
      - {name: report, source: stdout}
    retry: {max_attempts: 1, on_failure: warn}

  - id: size
    dependencies: [plan]
    workspace: {root: ./}
    exec: {type: command, source: "cat src/shop/*.py | wc -l | tr -d ' '"}
    output_artifacts:
      - {name: lines, source: stdout}

  - id: pages
    dependencies: [plan]
    strategy: {type: matrix, items_source: plan/plan, item_key: pages, max_concurrency: 2}
    exec: {type: command, source: "printf '# %s\\n' {{ item }} > page.md; printf 'wrote the page on %s\\n' {{ item }}"}
    output_artifacts:
      - {name: page, path: page.md, type: markdown}

  - id: notes
    persona: writer
    dependencies: [tests, size, pages]
    workspace: {root: ./}
    memory:
      inject_artifacts:
        - {step: size, artifact: lines, as: lines}
    exec:
      type: prompt
      source: "Write docs/notes.md on release {{ input }}. The code has this many lines: {{ size/lines }}"
    output_artifacts:
      - {name: notes, path: docs/notes.md, type: markdown}
    handover:
      contract: {type: non_empty_file, source: docs/notes.md}

  - id: ship
    name: publish?
    dependencies: [notes]
    gate:
      prompt: "Publish release {{ input }}?"
      timeout: 1h
      choices:
        - {key: "y", label: publish it, target: publish}
        - {key: "h", label: keep it back, target: hold}
        - {key: "n", label: give it up, target: _fail}

  - id: publish
    dependencies: [ship]
    workspace: {root: ./}
    exec: {type: command, source: "mkdir -p dist && echo {{ input }} > dist/version && echo published {{ input }}"}

  - id: hold
    dependencies: [ship]
    exec: {type: command, source: "echo kept back"}

  - id: summary
    persona: writer
    dependencies: [publish]
    exec: {type: prompt, source: "Sum up release {{ input }} in one sentence."}
    output_artifacts:
      - {name: summary, source: stdout}
"""

HOTFIX = """\
kind: WavePipeline
metadata:
  name: hotfix
  description: Build, check, ask
steps:
  - id: build
    workspace: {root: ./}
    exec: {type: command, source: "mkdir -p dist && cat src/shop/*.py > dist/shop.py && echo built"}
    output_artifacts:
      - {name: bundle, path: dist/shop.py}
  - id: check
    dependencies: [build]
    workspace: {root: ./}
    exec: {type: command, source: "wc -c < dist/shop.py | tr -d ' '"}
    handover:
      contract: {type: test_suite, command: "sh scripts/test.sh login", on_failure: halt}
  - id: ask
    dependencies: [check]
    gate: {prompt: "Put the hotfix on the server?"}
  - id: deploy
    dependencies: [ask]
    exec: {type: command, source: "echo deployed"}
"""

PROJECT = {
    "workbench.yaml": MANIFEST,
    ".workbench/pipelines/release.yaml": RELEASE,
    ".workbench/pipelines/hotfix.yaml": HOTFIX,
    ".workbench/personas/planner.md": "You plan releases of a small shop. Be brief.\n",
    ".workbench/personas/writer.md": "You write for customers: plain words, short sentences.\n",
}

FIRST = '{"version": "1.4", "risk": "some", "pages": ["cart"]}\n'
SECOND = '{"version": "1.4", "risk": "low", "pages": ["cart", "login", "returns"]}\n'


@golden_run("release-run", {
    "plan.1": [
        exchange(said("The cart changed most."), create("c1", "plan.json", FIRST), tokens=(420, 61)),
        exchange(said("The plan is there."), tokens=(510, 9)),
    ],
    "plan.2": [
        exchange(said("The risk has to be low or high. I look at what I wrote."), read("c1", "plan.json"),
                 tokens=(560, 33), when=prompt("Attempt 2")),
        exchange(edit("c2", "plan.json", FIRST, SECOND), tokens=(640, 58)),
        exchange(said("Mended, with two more pages."), tokens=(720, 12), expect=result("c2", "succeeded")),
    ],
    "notes": [
        exchange(said("What customers notice: the cart."),
                 create("c1", "docs/notes.md", "# Release 1.4\n\nThe cart forgets nothing any more.\n"),
                 tokens=(480, 47)),
        exchange(said("The notes are written."), tokens=(560, 8), expect=result("c1", "succeeded")),
    ],
    "summary": [exchange(said("Release 1.4 is out: a cart that forgets nothing."), tokens=(390, 14))],
}, files=PROJECT)  # fmt: skip
def release_run(scene):
    scene.trust()
    scene.begin_run("release", input="1.4", grants=("Read", "Write(plan.json)", "Edit(plan.json)"))
    yield
    scene.approve(scene.one("docs/notes.md"), after=21)
    yield
    scene.choose("y", after=33)
    yield


@golden_run("hotfix-run", {}, files=PROJECT)
def hotfix_run(scene):
    scene.trust()
    scene.begin_run("hotfix")
    yield GONE
    scene.dies_at("step.ended", nth=2)
    yield
    scene.resume(after=15)
    yield
    scene.choose("again", after=20)  # how the check ended was lost with its process
    yield
    login = scene.text("src/shop/login.py")
    scene.write("src/shop/login.py", f"{login}\n\nclock = time.time\n")
    scene.resume("check", after=60)
    yield
    scene.cancel("the server is down")
    yield
