"""Tools that every room uses and none owns, each written once.

`files` opens and writes files, whole or not at all; `replacement` says how that outlives a crash.
`locks` keeps processes apart, `digests` makes fingerprints, `parallel` runs work on cores or on a
cluster, `progress` shows how far it is, `coordinates` moves points between spaces.
"""
