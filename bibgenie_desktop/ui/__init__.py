"""The window: Qt only. It draws what the engine tells and sends what the person wants; it knows no database."""
