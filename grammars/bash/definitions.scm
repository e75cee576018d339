; name() {…}, function name {…}
(function_definition
  name: (word) @name
  body: (_) @body) @definition.function

; # Documentation.
((comment) @doc
  .
  (function_definition) @doc.of)

; Points where control can go two ways.
[
  (if_statement)
  (elif_clause)
  (for_statement)
  (while_statement)
  (case_item)
] @branch

; Statements that run together.
(compound_statement) @block
