"""A Ruby class that many files declare is one class."""

from __future__ import annotations

MODULE = {f"lib/{name}.rb": f"module Store\nend\n\nclass Store::Kinds\n  def {name}; end\nend\n" for name in ("a", "b", "c", "d")}
PARTS = {f"lib/part{number}.rb": f"class Store::Kinds\n  def part{number}; end\nend\n" for number in range(9)}
USE = {
    "lib/make.rb": "class << Store::Kinds\n  def new(*)\n    super.tap { |kinds| kinds.part1 }\n  end\nend\n",
    "lib/use.rb": "def use\n  kinds = Store::Kinds.new\n  kinds.part3\nend\n",
}


def test_a_call_on_a_class_of_many_files_is_as_likely_as_on_one_of_a_single_file(resolve):
    edges = resolve(MODULE | PARTS | USE).results["lib/use.rb"].edges
    assert [edge.confidence >= 0.8 for edge in edges if edge.rule == "inferred_type" and edge.line == 3] == [True]
