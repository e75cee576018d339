"""`python -m graphmem`."""

from graphmem.cli.main import run

if __name__ == "__main__":
    run()
