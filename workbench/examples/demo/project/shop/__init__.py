"""A shop, as far as a demo needs one."""
