"""What the screen asks for, done on this machine: by the journal, background processes and the system."""
