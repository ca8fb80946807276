"""Clinical language: from a text to what it affirms, and on which side."""
