"""The words all rooms speak: nodes, parts, locators, citations, usage, the library's records.

Pure: the standard library alone, no clock, no random, no input or output that is not passed in.
"""
