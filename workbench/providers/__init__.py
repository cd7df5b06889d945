"""Clients of models: chat completions over HTTP, and one that plays a recording.

A provider turns a `ModelRequest` into `ReplyPart`s and knows nothing of sessions, gates or journals.
"""
