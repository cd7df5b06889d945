"""`workbench rules`: what lets calls pass, or stands in their way, without a question."""
