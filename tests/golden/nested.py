"""Golden runs of pipelines below others: one that starts another for each item, and one that an agent writes.

Owns their manifest, pipelines and recordings.
"""

from tests.golden.scenario import golden_run
from tests.golden.words import call, exchange, said

MANIFEST = """\
apiVersion: v1
kind: WaveManifest
metadata:
  name: shop
adapters:
  own: {binary: workbench, mode: headless}
personas:
  planner:
    adapter: own
    system_prompt_file: .workbench/personas/planner.md
    permissions: {allowed_tools: [Read, pipeline.run]}
runtime:
  max_concurrent_workers: 1
  meta_pipeline: {max_depth: 2, max_total_steps: 6}
"""

AUDIT = """\
kind: WavePipeline
metadata: {name: audit, description: Look for each page in a pipeline of its own}
steps:
  - id: pages
    exec: {type: command, source: "printf '[\\"cart\\", \\"returns\\"]'"}
    output_artifacts: [{name: list, source: stdout, type: json}]
  - id: each
    dependencies: [pages]
    pipeline: look
    input: "{{ item }}"
    iterate: {over: "{{ pages.output }}", mode: sequential}
  - id: sum
    dependencies: [each]
    exec: {type: command, source: "echo {{ each.output }}"}
"""

LOOK = """\
kind: WavePipeline
metadata: {name: look, description: Look for one page}
steps:
  - id: page
    workspace: {root: ./}
    exec: {type: command, source: "test -f src/shop/{{ input }}.py && echo has a page || exit 1"}
    output_artifacts: [{name: page, source: stdout}]
"""

PLAN = """\
kind: WavePipeline
metadata: {name: plan, description: An agent writes the pipeline that is needed}
steps:
  - id: think
    persona: planner
    exec: {type: prompt, source: "Have {{ input }} checked."}
    output_artifacts: [{name: said, source: stdout}]
  - id: after
    dependencies: [think]
    exec: {type: command, source: "echo {{ think.output }}"}
"""

WRITTEN = """\
kind: WavePipeline
metadata: {name: check}
steps:
  - id: look
    workspace: {root: ./}
    exec: {type: command, source: "test -f src/shop/{{ input }}.py && echo {{ input }} is there"}
    output_artifacts: [{name: report, source: stdout}]
"""

PROJECT = {
    "workbench.yaml": MANIFEST,
    ".workbench/pipelines/audit.yaml": AUDIT,
    ".workbench/pipelines/look.yaml": LOOK,
    ".workbench/pipelines/plan.yaml": PLAN,
    ".workbench/personas/planner.md": "You say what has to be checked and let pipelines check it.\n",
}


@golden_run("nested-run", {}, files=PROJECT)
def nested_run(scene):
    scene.trust()
    scene.begin_run("audit")
    yield
    scene.write("src/shop/returns.py", "def refund(order):\n    return order\n")
    scene.resume(after=60)
    yield


@golden_run("meta-run", {
    "think": [
        exchange(said("No pipeline does that yet, so I write one."),
                 call("c1", "pipeline_run", name="check", definition=WRITTEN, input="login"), tokens=(420, 90)),
        exchange(said("The login was checked: it is there."), tokens=(520, 12)),
    ],
}, files=PROJECT)  # fmt: skip
def meta_run(scene):
    scene.trust()
    scene.begin_run("plan", input="the login")
    yield
    scene.approve(scene.one("check"), after=25)
    yield
