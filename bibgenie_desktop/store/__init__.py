"""Storage: sessions.sqlite (precious) and library.sqlite (a cache). The only room that knows SQLAlchemy."""
