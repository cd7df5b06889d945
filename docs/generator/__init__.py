"""Makes the pages of the reference and the manual page from the program itself."""
