"""``python -m andante``: the command line."""

from andante.cli import main

if __name__ == "__main__":
    main()
