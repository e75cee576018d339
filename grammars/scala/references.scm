; callee(…), new Name(…)
(call_expression) @reference.call

(instance_expression) @reference.call

; value.name; callees and targets are left out by the engine
(field_expression) @reference.read

; A name in a place where its value goes somewhere else.
(arguments
  (identifier) @reference.read)
