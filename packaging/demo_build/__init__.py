"""The parts of the script that builds the demo library: sources, typesetting, the EPUB, the scan, the records."""
