"""Tools that every room uses and none owns, each written once.

`files` opens files, writes them whole or not at all, and makes their checksums; `replacement` says
how that outlives a crash, with locks that keep processes apart. `parallel` runs work on cores or on
a cluster, shows how far it is, and compiles loops.
"""
