"""`python -m topicloom`: the command line."""

import sys

from topicloom.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
