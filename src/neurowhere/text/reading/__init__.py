"""How a text is read: levels from tokens to mentions, each a pure function of those before it."""
