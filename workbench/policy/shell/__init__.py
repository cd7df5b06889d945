"""Shell commands: reading a line, its simple commands, their risk, and the paths that they may touch."""
