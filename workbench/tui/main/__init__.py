"""The main screen: header, sidebar, panes, composer and footer, and what is opened from it."""
