"""Commands made of words: what a model is told, what it answers, and the log of it."""
