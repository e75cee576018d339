; {% macro name(parameters) %}
(statement_directive
  (macro_statement
    (method) @name)) @definition.function

; Points where control can go two ways.
[
  (if_statement)
  (for_statement)
] @branch
