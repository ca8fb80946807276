"""Building vocabularies: from public lists of names, and from how texts use them."""
