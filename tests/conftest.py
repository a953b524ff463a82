"""The discipline that all tests are under: see the package `tests.discipline`."""

pytest_plugins = ["tests.discipline"]
