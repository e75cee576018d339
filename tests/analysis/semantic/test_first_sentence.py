"""The sentence that stands below a module's name on the map."""

from __future__ import annotations

import pytest

from graphmem.analysis.semantic.modules import first_sentence


@pytest.mark.parametrize(
    "notice",
    [
        "Copyright 2014 Manu Martinez-Almeida. All rights reserved.",
        "// Copyright (c) The authors",
        "(c) 2012-2014, Someone else",
        "SPDX-License-Identifier: MIT",
        "Licensed under the Apache License, Version 2.0",
    ],
)
def test_a_notice_of_copyright_does_not_say_what_a_module_is_for(notice):
    assert first_sentence(notice) == ""


def test_what_only_speaks_of_licenses_is_a_description():
    assert first_sentence("Licenses of the packages. Read once.") == "Licenses of the packages."
    assert first_sentence("Copyrights are checked here. Always.") == "Copyrights are checked here."
