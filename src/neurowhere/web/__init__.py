"""The page and the HTTP API: requests in, calls to the package, answers out; no science here."""
