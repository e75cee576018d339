"""Read and write a small file with search weights that a person accepted."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from graphmem.errors import DiskFullError
from graphmem.runtime.files.checksums import read_sealed_json, sealed_json
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.process.limits import unless_refused

T = TypeVar("T")

_log = logging.getLogger(__name__)


class AcceptedFile(Generic[T]):
    """The accepted weights of one kind, in memory and in their file.

    Thread-safe. If the file is missing or broken, the built-in weights are used. A broken file is logged.

    Args:
        file: the JSON file, in an index directory.
        decode: converts the content of the file to the weights. For invalid content it raises ValueError, KeyError, TypeError or
            AttributeError.
        encode: converts the weights to the content of the file.
    """

    def __init__(self, file: Path, decode: Callable[[dict[str, Any]], T], encode: Callable[[T], dict[str, Any]]) -> None:
        self._file = file
        self._encode = encode
        self._lock = threading.Lock()
        self._weights = self._read(decode)

    def weights(self) -> T | None:
        """Return the accepted weights; None while the built-in ones are used."""
        return self._weights

    def change(self, weights: T | None) -> None:
        """Store accepted weights in the file; with None, remove the file.

        Raises:
            DiskFullError: the disk refuses the write; the weights in use do not change.
        """
        with self._lock:
            try:
                if weights is None:
                    self._file.unlink(missing_ok=True)
                else:
                    replace_file(self._file, sealed_json(self._encode(weights), indent=1, sort_keys=True))
            except OSError as error:
                said = (
                    f"{self._file.name} cannot be written: {error.strerror or error}; the weights are unchanged; free the disk and repeat"
                )
                raise DiskFullError(said, path=str(self._file)) from error
            self._weights = weights

    def _read(self, decode: Callable[[dict[str, Any]], T]) -> T | None:
        try:
            return decode(read_sealed_json(self._file.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            unless_refused(error, f"reading {self._file.name}", self._file)
            _log.warning("%s cannot be read, the built-in weights of search are in force: %s", self._file.name, error)
            return None
