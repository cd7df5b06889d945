"""Golden runs of pipelines whose agents are reviewed, judged, and told what others of their thread said.

Owns their manifest, pipelines and recordings.
"""

from tests.golden.scenario import golden_run
from tests.golden.words import create, exchange, prompt, said

MANIFEST = """\
apiVersion: v1
kind: WaveManifest
metadata:
  name: shop
adapters:
  own: {binary: workbench, mode: headless}
personas:
  writer:
    adapter: own
    system_prompt_file: .workbench/personas/writer.md
    permissions: {allowed_tools: [Read, "Write(docs/**)", "Edit(docs/**)"]}
  critic:
    adapter: own
    system_prompt_file: .workbench/personas/critic.md
    permissions: {allowed_tools: [Read]}
runtime: {max_concurrent_workers: 1}
"""

CHANGE = """\
kind: WavePipeline
metadata: {name: change, description: Write a note and have it reviewed}
steps:
  - id: note
    persona: writer
    exec: {type: prompt, source: "Write docs/note.md on the cart."}
    output_artifacts: [{name: note, path: docs/note.md, type: markdown}]
    handover:
      contracts:
        - {type: markdown_spec, source: note}
        - type: agent_review
          persona: critic
          source: note
          criteria_path: .workbench/contracts/note.md
          on_failure: rework
          token_budget: 100
  - id: publish
    persona: writer
    dependencies: [note]
    exec: {type: prompt, source: "Say as JSON where the note is read."}
    output_artifacts: [{name: where, source: stdout}]
    handover:
      contracts:
        - {type: json_schema, source: where, schema: {type: object, required: [page_url]}}
        - {type: llm_judge, source: where, criteria: [It names a page., It is short.], threshold: 0.5}
    outcomes:
      - {type: url, extract_from: where, json_path: .page_url, label: Note}
"""

TALK = """\
kind: WavePipeline
metadata: {name: talk, description: Two steps of one conversation}
skills: [tone]
steps:
  - id: think
    persona: writer
    thread: note
    exec: {type: prompt, source: "Think of a title for a note on the cart."}
  - id: ask
    dependencies: [think]
    gate: {prompt: "Take it?", auto: true, choices: [{key: "y", label: take it, target: write}, {key: "n", label: no, target: _fail}]}
  - id: write
    persona: writer
    thread: note
    dependencies: [ask]
    exec: {type: prompt, source: "Say the title."}
    output_artifacts: [{name: title, source: stdout}]
"""

PROJECT = {
    "workbench.yaml": MANIFEST,
    ".workbench/pipelines/change.yaml": CHANGE,
    ".workbench/pipelines/talk.yaml": TALK,
    ".workbench/personas/writer.md": "You write for customers: plain words, short sentences.\n",
    ".workbench/personas/critic.md": "You read what others wrote and say what is missing.\n",
    ".workbench/contracts/note.md": "The note says what a customer can do now.\n",
    ".workbench/skills/tone/SKILL.md": "---\nname: tone\n---\nNever shout.\n",
}

FIRST = "# The cart\n\nIt was made anew.\n"
SECOND = "# The cart\n\nYou can leave it and come back.\n"


@golden_run("review-run", {
    "note.1": [
        exchange(said("I write the note."), create("c1", "docs/note.md", FIRST), tokens=(300, 40),
                 when=prompt("by these criteria")),
        exchange(said("The note is there."), tokens=(360, 8)),
    ],
    "note.1.review": [
        exchange(said('{"verdict": "fail", "summary": "Nothing for customers.", "confidence": 0.8, "issues": '
                      '[{"severity": "major", "description": "It does not say what one can do."}]}'),
                 tokens=(150, 30), when=prompt("It was made anew.")),
    ],
    "note.2": [
        exchange(said("I say what one can do."), create("c2", "docs/note.md", SECOND), tokens=(400, 44),
                 when=prompt("Nothing for customers.")),
        exchange(said("Now it says so."), tokens=(450, 8)),
    ],
    "note.2.review": [
        exchange(said('Fine.\n```json\n{"verdict": "pass", "summary": "It says what one can do."}\n```'),
                 tokens=(80, 15)),
    ],
    "publish": [
        exchange(said('Here: {"page_url": "https://shop.example/notes/cart",} // done'), tokens=(200, 20),
                 when=prompt("Required: page_url")),
    ],
    "publish.judge": [
        exchange(said('{"criteria_results": [{"criterion": "It names a page.", "pass": true, "reasoning": "It does."}, '
                      '{"criterion": "It is short.", "pass": false, "reasoning": "There are words around it."}], '
                      '"summary": "It names one."}'), tokens=(120, 40)),
    ],
}, files=PROJECT)  # fmt: skip
def review_run(scene):
    scene.trust()
    scene.begin_run("change", grants=("Read", "Write(docs/**)"))
    yield


@golden_run("thread-run", {
    "think": [exchange(said("A cart that waits for you."), tokens=(210, 12), when=prompt("Never shout."))],
    "write": [exchange(said("A cart that waits for you."), tokens=(260, 12),
                       when=prompt("### think\n\nAGENT: A cart that waits for you."))],
}, files=PROJECT)  # fmt: skip
def thread_run(scene):
    scene.trust()
    scene.begin_run("talk")
    yield
