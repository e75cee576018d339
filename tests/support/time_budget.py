"""A pytest plugin that starts no test after some seconds: `pytest -p time_budget --seconds 4`."""

from __future__ import annotations

import time

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seconds", type=float, default=float("inf"), help="start no test later than this after collection")


class _Budget:
    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if time.monotonic() > self._end:
            pytest.skip("no time left; --all runs it")


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.pluginmanager.register(_Budget(session.config.getoption("--seconds")))
