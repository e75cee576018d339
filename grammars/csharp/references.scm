; callee(…), new Type(…), this(…), base(…)
(invocation_expression) @reference.call

(object_creation_expression) @reference.call

; object.Name; callees and targets are left out by the engine
(member_access_expression) @reference.read

; A name in a place where its value goes somewhere else.
(argument
  (identifier) @reference.read)

(assignment_expression
  right: (identifier) @reference.read)

(return_statement
  (identifier) @reference.read)

(binary_expression
  (identifier) @reference.read)

(arrow_expression_clause
  (identifier) @reference.read)

; name++
(postfix_unary_expression
  (identifier) @reference.read)

; name++
(prefix_unary_expression
  (identifier) @reference.read)
