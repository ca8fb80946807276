"""Where in the brain is this text about? Text in, brain map out."""
