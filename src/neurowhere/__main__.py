"""`python -m neurowhere`: the command line, where its script is not on the path."""

from neurowhere.cli import main

if __name__ == "__main__":
    main()
