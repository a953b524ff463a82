"""What every test is held to, and the options of the test suite. Each module is a pytest plugin.

- `coroutines`: `async def test_…` runs with asyncio.run in debug mode; a task left behind fails it.
- `watch`: a test fails that leaves something behind (a thread, a child process, a running timer, a changed
  environment, an unclosed file or socket), that makes Qt warn, or that logs at WARNING or above without announcing it.
- `requirements`: `@pytest.mark.req("C-9")`, `--req` and `--req-table`.
- `lengths`: `--long`, the fixture `loops`, and the profiles of hypothesis.
- `headless`: without PySide6 the tests of the engine run all the same, and those of the window are left out.
"""

pytest_plugins = [
    "tests.discipline.headless",
    "tests.discipline.coroutines",
    "tests.discipline.lengths",
    "tests.discipline.requirements",
    "tests.discipline.watch",
]
