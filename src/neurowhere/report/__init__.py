"""Figures, tables and pages; the only part of the package that touches matplotlib."""

from neurowhere.report.comparison import write_report

__all__ = ["write_report"]
