"""`workbench check`: ask the guard about cases, one JSON object a line; nothing is done."""
