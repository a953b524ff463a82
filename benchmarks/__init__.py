"""Measurements, each run from the checkout: `.venv/bin/python -m benchmarks.bench_ask`. Ratios count, not seconds."""
