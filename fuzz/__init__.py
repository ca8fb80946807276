"""Fuzzing: odd, damaged and hostile inputs for every parser and reader, see docs/hardening.md."""
