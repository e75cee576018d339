; name(…), table.name(…), object:name(…)
(function_call) @reference.call

; table.name; callees and targets are left out by the engine
(dot_index_expression) @reference.read

; A name in a place where its value goes somewhere else.
(arguments
  (identifier) @reference.read)

(field
  value: (identifier) @reference.read)
