"""Permission rules: the list of them, and the dialog that makes one."""
