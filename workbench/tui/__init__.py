"""The screen: an app that only composes, screens, panes, actions and one table of keys.

It reads the journal, appends decisions to it, and asks for everything else through `services.Services`.
"""
