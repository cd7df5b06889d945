"""Recognize secrets in text and replace them with ⟨secret: kind⟩ before anything is recorded.

`scrubber.scrub` is the entry. `rules` is the table of kinds; `service_keys`, `command_line_rules` and
`code_and_settings_rules` hold its rows, `false_positives` the checks that reject what only looks like one.
"""
