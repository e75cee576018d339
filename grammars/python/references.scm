; callee(…)
(call) @reference.call

; base[key], left + right, left < right, -operand: the operand's class may define them
(subscript) @reference.implicit

(binary_operator) @reference.implicit

(comparison_operator) @reference.implicit

(unary_operator) @reference.implicit

; object.name; callees and targets are left out by the engine
(attribute) @reference.read

; A name in a place where its value goes somewhere else.
(argument_list
  (identifier) @reference.read)

(keyword_argument
  value: (identifier) @reference.read)

(list_splat
  (identifier) @reference.read)

(dictionary_splat
  (identifier) @reference.read)

(assignment
  right: (identifier) @reference.read)

(named_expression
  value: (identifier) @reference.read)

(default_parameter
  value: (identifier) @reference.read)

(typed_default_parameter
  value: (identifier) @reference.read)

(return_statement
  (identifier) @reference.read)

(yield
  (identifier) @reference.read)

(pair
  (identifier) @reference.read)

(list
  (identifier) @reference.read)

(tuple
  (identifier) @reference.read)

(set
  (identifier) @reference.read)

(expression_list
  (identifier) @reference.read)

(conditional_expression
  (identifier) @reference.read)

(boolean_operator
  (identifier) @reference.read)

(binary_operator
  (identifier) @reference.read)

(comparison_operator
  (identifier) @reference.read)

(subscript
  (identifier) @reference.read)

(interpolation
  (identifier) @reference.read)

(lambda
  body: (identifier) @reference.read)

(for_statement
  right: (identifier) @reference.read)

(for_in_clause
  right: (identifier) @reference.read)

(with_item
  value: (identifier) @reference.read)

; @name
(decorator
  (_) @reference.decorate)

; raise Error, raise Error(…)
(raise_statement
  .
  [
    (identifier)
    (attribute)
  ] @reference.raise)

; except Name:, except (Name, Name) as target:, case Name(…):
(except_clause
  value: (identifier) @reference.type)

(except_clause
  value: (tuple
    (identifier) @reference.type))

(except_clause
  value: (as_pattern
    .
    (identifier) @reference.type))

(except_clause
  value: (as_pattern
    .
    (tuple
      (identifier) @reference.type)))

(class_pattern
  (dotted_name) @reference.type)
