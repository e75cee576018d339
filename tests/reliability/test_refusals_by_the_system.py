"""An error that nobody caught and the system caused is a refusal with its cause, at every interface."""

from __future__ import annotations

import errno
import logging

import pyarrow as pa
import pytest
from graphql import GraphQLError

from graphmem.api.execution.failures import shape
from graphmem.errors import ResourceError
from graphmem.runtime.process.limits import refusal_of_any, unless_refused

BY_THE_SYSTEM = (
    (OSError(errno.EMFILE, "Too many open files", "/x/a.py"), "ulimit -n"),
    (RuntimeError("can't start new thread"), "memory"),
    (MemoryError(), "memory"),
    (pa.ArrowException("Unknown error: std::bad_alloc"), "memory"),
    (pa.ArrowMemoryError("malloc of size 640 failed"), "memory"),
    (ImportError("libx.so: failed to map segment from shared object"), "memory"),
    (OSError(errno.EFBIG, "File too large"), "ulimit -f"),
    (OSError(errno.ENOSPC, "No space left on device", "/x/y"), "make room"),
)


@pytest.mark.parametrize(("error", "remedy"), BY_THE_SYSTEM, ids=lambda one: type(one).__name__ if isinstance(one, Exception) else "")
def test_the_api_says_the_cause_and_keeps_no_trace(error, remedy, caplog):
    with caplog.at_level(logging.INFO):
        shaped = shape(GraphQLError("", original_error=error))
    assert shaped.extensions["code"] == "LIMIT"
    assert remedy in shaped.message
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("error", [ValueError("of ours"), pa.ArrowInvalid("of ours"), OSError(errno.EBADF, "of ours")], ids=repr)
def test_a_fault_of_graphmem_stays_a_fault(error):
    assert refusal_of_any(error) is None
    assert shape(GraphQLError("", original_error=error)).extensions["code"] == "INTERNAL"


def test_one_file_that_may_not_be_read_concerns_that_file_alone():
    unless_refused(PermissionError(errno.EACCES, "Permission denied"), "reading a.py", "/x/a.py")
    with pytest.raises(ResourceError, match="descriptors"):
        unless_refused(OSError(errno.EMFILE, "Too many open files"), "reading a.py", "/x/a.py")
