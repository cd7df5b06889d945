"""From views to cells: Textual Content and Strips, and nothing that reacts to anything.

Everything untrusted passes `text.safe` here and becomes `Content(text)`, never markup. Nothing here knows an
app, a screen or a widget; Pygments and markdown-it are imported when they are first needed.
"""
