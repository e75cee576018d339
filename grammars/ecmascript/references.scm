; callee(…), new Callee(…)
[
  (call_expression)
  (new_expression)
] @reference.call

; object.name; callees and targets are left out by the engine
(member_expression) @reference.read

; A name in a place where its value goes somewhere else.
(arguments
  (identifier) @reference.read)

(spread_element
  (identifier) @reference.read)

(variable_declarator
  value: (identifier) @reference.read)

(assignment_expression
  right: (identifier) @reference.read)

(assignment_pattern
  right: (identifier) @reference.read)

(return_statement
  (identifier) @reference.read)

(yield_expression
  (identifier) @reference.read)

(await_expression
  (identifier) @reference.read)

(arrow_function
  body: (identifier) @reference.read)

(pair
  value: (identifier) @reference.read)

(object
  (shorthand_property_identifier) @reference.read)

(array
  (identifier) @reference.read)

(ternary_expression
  (identifier) @reference.read)

(binary_expression
  (identifier) @reference.read)

(unary_expression
  argument: (identifier) @reference.read)

(subscript_expression
  object: (identifier) @reference.read)

(subscript_expression
  index: (identifier) @reference.read)

(template_substitution
  (identifier) @reference.read)

(parenthesized_expression
  (identifier) @reference.read)

(computed_property_name
  (identifier) @reference.read)

(object_assignment_pattern
  right: (identifier) @reference.read)

(augmented_assignment_expression
  right: (identifier) @reference.read)

(sequence_expression
  (identifier) @reference.read)

(throw_statement
  (identifier) @reference.read)

(for_in_statement
  right: (identifier) @reference.read)

(switch_statement
  value: (parenthesized_expression
    (identifier) @reference.read))

(switch_case
  value: (identifier) @reference.read)

(export_statement
  value: (identifier) @reference.read)

; @name
(decorator
  (_) @reference.decorate)

; throw new Error(…)
(throw_statement
  (new_expression
    constructor: (_) @reference.raise))

; name++
(update_expression
  (identifier) @reference.read)
