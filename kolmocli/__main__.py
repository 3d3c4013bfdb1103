"""`python -m kolmocli`: the command where its script is not on the path."""

import sys

from kolmocli.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
