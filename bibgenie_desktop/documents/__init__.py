"""Documents: text, page labels and quotes of PDFs and EPUBs, and formulas as SVG, all made in worker processes.

The only room that knows PyMuPDF, lxml and ziamath, and only inside the worker process.
"""
