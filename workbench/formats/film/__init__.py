"""A recording of the screen as frames, and the files it is written as: SVG, asciicast, HTML."""
