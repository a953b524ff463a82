"""The engine: sessions, turns, the library, commands in and events out. No Qt."""
