"""Pure functions over strings and JSON values: safe display, widths, canonical JSON, located problems, times.

No input or output, no clock, no imports of other packages of this program. Secrets are `workbench.secrets`.
"""
