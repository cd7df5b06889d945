"""Who may do what: schemas, paths, permission patterns, rules, hooks, trust, and ONE gate that decides."""
