"""From text to term counts and features."""
