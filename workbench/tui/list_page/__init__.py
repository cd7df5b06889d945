"""What places with a list share."""
