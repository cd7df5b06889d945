"""Answer what waits: one module a command, the shared ground in `deciding`, `lookup` and `lines`."""
