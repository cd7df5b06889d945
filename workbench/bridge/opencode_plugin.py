"""The plugin file by which OpenCode runs the hook's client: OpenCode has no hooks that are commands."""

import json
import re
import shlex
from collections.abc import Sequence
from typing import Final

from workbench.bridge.agents import HookedAgent
from workbench.bridge.hook_command import Otherwise
from workbench.bridge.hook_line import HookLine, parse_hook_line

_WORDS: Final = re.compile(r"^const words = (\[.*\])$", re.MULTILINE)
_EVENT_PLACE: Final = 5
"""Where the event stands in the words of `hook_arguments`."""
_PLUGIN: Final = """\
// Written by `workbench connect opencode`. `workbench connect --remove opencode` deletes this file.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"

const words = WORDS
const events = EVENTS
const denies = DENIES
const gone = "workbench cannot be asked, and was connected with --without-workbench deny."

// Returns what the client answers about an event; nothing where workbench is not there any more.
function ask(event, data) {
  if (!existsSync(words[3])) return Promise.resolve({})
  return new Promise((resolve, reject) => {
    const lost = () => (denies ? reject(new Error(gone)) : resolve({}))
    const command = [...words.slice(1, PLACE), event, ...words.slice(PLACE + 1)]
    const client = spawn(words[0], command, { stdio: ["pipe", "pipe", "pipe"] })
    const output = []
    const errors = []
    client.on("error", lost)
    client.stdin.on("error", () => {})
    client.stdout.on("data", (part) => output.push(part))
    client.stderr.on("data", (part) => errors.push(part))
    client.on("close", (code) => {
      if (code === 2) return reject(new Error(Buffer.concat(errors).toString().trim() || gone))
      try {
        if (code !== 0) return lost()
        resolve(JSON.parse(Buffer.concat(output).toString().trim() || "{}"))
      } catch {
        lost()
      }
    })
    client.stdin.end(JSON.stringify(data))
  })
}

export const Workbench = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const answer = await ask("tool.execute.before", { directory, input, output: { args: output.args } })
    if (answer.decision === "deny") throw new Error(answer.reason || "It was denied.")
    if (!answer.args) return
    for (const name of Object.keys(output.args)) delete output.args[name]
    Object.assign(output.args, answer.args)
  },
  "tool.execute.after": async (input, output) => {
    const answer = await ask("tool.execute.after", { directory, input, output: { output: output.output } }).catch(() => ({}))
    if (answer.note) output.output = `${output.output}\\n\\n${answer.note}`
  },
  event: async ({ event }) => {
    if (!events.includes(event.type)) return
    await ask(event.type, { directory, event: { type: event.type, properties: event.properties } }).catch(() => {})
  },
})
"""  # noqa: E501 -- lines of JavaScript


def plugin_text(agent: HookedAgent, words: Sequence[str], otherwise: Otherwise) -> str:
    """Return the plugin that runs the words of `hook_arguments`, each time with the event of that time."""
    events = [event.name for event in agent.events if not event.name.startswith("tool.")]
    values = {
        "WORDS": json.dumps(list(words)), "EVENTS": json.dumps(events),
        "DENIES": json.dumps(otherwise == "deny"), "PLACE": str(_EVENT_PLACE),
    }  # fmt: skip
    return re.sub(r"\b(WORDS|EVENTS|DENIES|PLACE)\b", lambda match: values[match[1]], _PLUGIN)


def parse_plugin(text: str) -> HookLine | None:
    """Return what a plugin of ours runs; None for any other file."""
    match = _WORDS.search(text)
    try:
        words = json.loads(match[1]) if match else None
    except ValueError:
        return None
    if not isinstance(words, list):
        return None
    return parse_hook_line("exec " + shlex.join(str(word) for word in words))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
