"""Session files of other programs, read and written, and recordings of the screen."""
