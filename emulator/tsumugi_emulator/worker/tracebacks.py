"""Where the other modules of this package find ``tsumugi_emulator.tracebacks``."""

from tsumugi_emulator.tracebacks import hold_report, is_machinery, report, summary

__all__ = ["hold_report", "is_machinery", "report", "summary"]
