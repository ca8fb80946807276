"""Tools that every room uses and none owns: files, parallel work, progress, coordinates."""
