"""The catalogue of tools as data; nothing here runs one."""
