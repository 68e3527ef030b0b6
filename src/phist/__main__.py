"""``python -m phist``: the command line, for launchers that start modules."""

from phist.cli.app import main

if __name__ == "__main__":
    main()
