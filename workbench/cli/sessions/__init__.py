"""Look at sessions as the journal has them; nothing here changes one."""
