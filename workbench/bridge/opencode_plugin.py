"""The plugin file by which OpenCode runs the hook's client: OpenCode has no hooks that are commands."""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Final

import msgspec

from workbench.bridge.agents import HookedAgent
from workbench.bridge.hook_command import HookSetup, hook_arguments
from workbench.bridge.hook_line import HookLine, parse_hook_line

_COMMANDS: Final = re.compile(r"^const commands = (\{.*\})$", re.MULTILINE)
_PLUGIN: Final = """\
// Written by `workbench connect opencode`. `workbench connect --remove opencode` deletes this file.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"

const commands = COMMANDS
const denies = DENIES
const gone = "workbench cannot be asked, and was connected with --without-workbench deny."

// Returns what the client answers about an event; nothing if workbench was uninstalled.
function ask(event, data) {
  const [python, ...words] = commands[event]
  if (!existsSync(words[2])) return Promise.resolve({})
  return new Promise((resolve, reject) => {
    const lost = () => (denies ? reject(new Error(gone)) : resolve({}))
    const client = spawn(python, words, { cwd: data.directory, stdio: ["pipe", "pipe", "pipe"] })
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

// Rules by which OpenCode asks its own user, also about what was allowed here.
let permission

export const Workbench = async ({ directory }) => ({
  config: async (config) => {
    permission = config.permission
  },
  "tool.execute.before": async (input, output) => {
    const answer = await ask("tool.execute.before", { directory, input, output: { args: output.args }, permission })
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
    if (!Object.hasOwn(commands, event.type)) return
    await ask(event.type, { directory, event: { type: event.type, properties: event.properties } }).catch(() => {})
  },
})
"""  # noqa: E501 -- lines of JavaScript


def plugin_text(agent: HookedAgent, setup: HookSetup) -> str:
    """Return the plugin that runs the client at each event of an agent."""
    commands = {event.name: hook_arguments(agent, event, setup) for event in agent.events}
    values = {"COMMANDS": json.dumps(commands), "DENIES": json.dumps(setup.otherwise == "deny")}
    return re.sub(r"\b(COMMANDS|DENIES)\b", lambda match: values[match[1]], _PLUGIN)


def parse_plugin(text: str) -> Mapping[str, HookLine]:
    """Return what a plugin of ours runs, by event; nothing for any other file."""
    match = _COMMANDS.search(text)
    try:
        commands = _decoder.decode(match[1]) if match else {}
    except msgspec.DecodeError:
        return {}
    lines = {event: parse_hook_line("exec " + shlex.join(words)) for event, words in commands.items()}
    return {event: line for event, line in lines.items() if line is not None}


_decoder: Final = msgspec.json.Decoder(dict[str, list[str]])
