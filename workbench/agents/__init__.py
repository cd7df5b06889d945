"""The built-in agent as a pure turn machine: fold events with `reducer`, then ask `planner` what is due."""
