; target = value
(assignment_expression
  left: (_) @target
  right: (_) @value) @binding.set

; target += value
(augmented_assignment_expression
  left: (_) @target
  right: (_) @value) @binding.augment

; for (const target of value)
(for_in_statement
  left: (_) @target
  operator: "of"
  right: (_) @value) @binding.for

; catch (target)
(catch_clause
  parameter: (_) @target) @binding.except

; return value
(return_statement
  (_) @value) @binding.return

; const name = (…) => value
(variable_declarator
  name: (identifier)
  value: (arrow_function
    body: (expression) @value @binding.return))

; { name: (…) => value }
(pair
  value: (arrow_function
    body: (expression) @value @binding.return))

; exports.name = (…) => value
(assignment_expression
  left: (member_expression)
  right: (arrow_function
    body: (expression) @value @binding.return))

; const name = wrap((…) => value)
(variable_declarator
  name: (identifier)
  value: (call_expression
    arguments: (arguments
      .
      (arrow_function
        body: (expression) @value @binding.return))))

; export default (…) => value
(export_statement
  "default"
  value: (arrow_function
    body: (expression) @value @binding.return))

; yield value
(yield_expression
  (_) @value) @binding.yield

; export default value
(export_statement
  "default"
  value: [
    (identifier)
    (member_expression)
    (call_expression)
    (new_expression)
    (object)
    (array)
  ] @value) @binding.export

; Conditions that tell a type: target instanceof value
(if_statement
  condition: (parenthesized_expression) @condition)

(while_statement
  condition: (parenthesized_expression) @condition)

(ternary_expression
  condition: (_) @condition)
