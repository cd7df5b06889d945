"""Pipeline runs: the graph, a step in full, launching and comparing runs."""
