"""networkx as it is installed, indexed once: about 580 files of real code with their tests."""

from __future__ import annotations

import pytest

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from trees import NETWORKX


@pytest.fixture(scope="session")
def networkx_index(tmp_path_factory):
    directory = tmp_path_factory.mktemp("networkx") / "index"
    with GraphMem.open(directory, settings=Settings(embedder="none"), keep_warm=False) as memory:
        memory.index(NETWORKX)
    return directory


@pytest.fixture(scope="session")
def memory(networkx_index):
    with GraphMem.open(networkx_index, settings=Settings(embedder="none")) as opened:
        opened.search("warm")  # waits until the words are open
        yield opened
