@echo off
rem Sets up BibGenie Desktop in this checkout if that is needed, and starts it or its tests, as ./bibgenie does elsewhere:
rem   bibgenie ...         the app: its window, or a command (ask, sessions, ...)
rem   bibgenie test ...    the tests; what follows goes to pytest
setlocal
set "PYTHONHOME="
set "PYTHONPATH="
for %%v in (3.14 3.13 3.12 3.11) do (
    py -%%v -I "%~dp0packaging\environment.py" probe >nul 2>nul && set "python=py -%%v" && goto found
)
python -I "%~dp0packaging\environment.py" probe >nul 2>nul && set "python=python" && goto found
echo bibgenie: Python 3.11 to 3.14 was not found; install one from https://www.python.org/downloads/ and start again >&2
exit /b 1

:found
%python% -I "%~dp0packaging\environment.py" start %*
exit /b %errorlevel%
