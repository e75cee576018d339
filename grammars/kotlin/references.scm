; callee(…)
(call_expression) @reference.call

; receiver.name; callees and targets are left out by the engine
(navigation_expression) @reference.read

; A name in a place where its value goes somewhere else.
(value_argument
  (simple_identifier) @reference.read)

(callable_reference) @reference.read
