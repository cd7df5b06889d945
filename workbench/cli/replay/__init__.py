"""`workbench replay`: the command and what it prints without a screen."""
