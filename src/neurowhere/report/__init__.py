"""Figures, tables and pages; the only part of the package that touches matplotlib."""
