"""Figures, tables and pages; the only part of the package that imports matplotlib and jinja2."""
