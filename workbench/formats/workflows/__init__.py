"""Files of other programs that describe work: recognise them, and read those that become pipelines here."""
