#!/bin/sh
# Writes the two exact locks from pyproject.toml: run it by hand when a dependency changes, and review the difference.
# Needs uv (https://docs.astral.sh/uv). The locks hold versions, markers and hashes, and name no registry.
set -eu
cd "$(dirname "$0")/.."
compile() {
    uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --no-header \
        --no-emit-index-url --no-emit-find-links --no-annotate "$@"
}
compile --output-file requirements.lock
compile --group dev --constraints requirements.lock --output-file requirements-dev.lock
