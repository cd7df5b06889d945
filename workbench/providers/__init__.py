"""Clients of models; so far the one that plays a recording.

A provider turns a `ModelRequest` into `ReplyPart`s and knows nothing of sessions, gates or journals.
"""
