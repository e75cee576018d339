"""networkx as it is installed, indexed once: about 580 files of real code with their tests."""

from __future__ import annotations

import pytest

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import copied_index
from trees import NETWORKX


@pytest.fixture(scope="session")
def networkx_index(tmp_path_factory):
    return copied_index(tmp_path_factory, "networkx", NETWORKX, Settings(embedder="none"))


@pytest.fixture(scope="session")
def memory(networkx_index):
    with GraphMem.open(networkx_index, settings=Settings(embedder="none")) as opened:
        opened.search("warm")  # waits until the words are open
        yield opened
