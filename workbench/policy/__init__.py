"""Who may do what: schemas, paths, permission patterns, rules, hooks, trust, and ONE gate that decides.

Owns the verdict about a tool call and the words for it. It must never have a side effect of its own,
never ask a human, and never let a grant beat a deny. What it cannot read or check counts against the call.
"""
