"""Documents: text, page labels and quotes of PDFs and EPUBs, read in worker processes.

The only room that knows PyMuPDF and lxml, and only inside the worker process.
"""
