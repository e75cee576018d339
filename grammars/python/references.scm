; callee(…)
(call) @reference.call

; del base[key]
(delete_statement
  (subscript) @reference.removal)

(delete_statement
  (expression_list
    (subscript) @reference.removal))

; del base.name
(delete_statement
  (attribute) @reference.delete)

(delete_statement
  (expression_list
    (attribute) @reference.delete))

; base[key], left + right, left < right, -operand: the operand's class may define them
(subscript) @reference.implicit

(binary_operator) @reference.implicit

(comparison_operator) @reference.implicit

(unary_operator) @reference.implicit

(augmented_assignment) @reference.implicit

; if value:, while value:, not value, value and other, other if value else third, assert value: its class says whether it is true
(_
  condition: [
    (identifier)
    (attribute)
    (call)
    (subscript)
    (await)
  ] @reference.truth)

(if_clause
  [
    (identifier)
    (attribute)
    (call)
    (subscript)
  ] @reference.truth)

(assert_statement
  .
  [
    (identifier)
    (attribute)
    (call)
    (subscript)
    (await)
  ] @reference.truth)

(not_operator
  argument: [
    (identifier)
    (attribute)
    (call)
    (subscript)
    (await)
  ] @reference.truth)

(conditional_expression
  (_)
  .
  [
    (identifier)
    (attribute)
    (call)
    (subscript)
    (await)
  ] @reference.truth
  .
  (_))

(boolean_operator
  left: [
    (identifier)
    (attribute)
    (call)
    (subscript)
    (await)
  ] @reference.truth)

(boolean_operator
  left: (boolean_operator
    right: [
      (identifier)
      (attribute)
      (call)
      (subscript)
      (await)
    ] @reference.truth))

(_
  condition: (boolean_operator
    right: [
      (identifier)
      (attribute)
      (call)
      (subscript)
      (await)
    ] @reference.truth))

; f"{value}", f"{value!s}", f"{value!r}"
(interpolation
  expression: [
    (identifier)
    (attribute)
    (call)
    (subscript)
    (await)
  ] @reference.format
  !type_conversion)

((interpolation
  expression: [
    (identifier)
    (attribute)
    (call)
    (subscript)
    (await)
  ] @reference.text
  type_conversion: (type_conversion) @_conversion)
  (#eq? @_conversion "!s"))

((interpolation
  expression: [
    (identifier)
    (attribute)
    (call)
    (subscript)
    (await)
  ] @reference.repr
  type_conversion: (type_conversion) @_conversion)
  (#any-of? @_conversion "!r" "!a"))

; *value, first, second = value
(list_splat
  (_) @reference.spread)

(assignment
  left: (pattern_list)
  right: [
    (identifier)
    (attribute)
    (call)
    (subscript)
    (await)
  ] @reference.spread)

; await value
(await
  [
    (identifier)
    (attribute)
    (subscript)
  ]) @reference.implicit

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
