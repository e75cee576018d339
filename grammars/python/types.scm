; def f(name, name=default, name: annotation, name: annotation = default, *name, **name)
(parameters
  (identifier) @name @parameter.normal)

(parameters
  (default_parameter
    name: (identifier) @name
    value: (_) @default) @parameter.normal)

(parameters
  (typed_default_parameter
    name: (identifier) @name
    type: (_) @annotation
    value: (_) @default) @parameter.normal)

(parameters
  (typed_parameter
    .
    (identifier) @name
    type: (_) @annotation) @parameter.normal)

(parameters
  (typed_parameter
    .
    (list_splat_pattern
      (identifier) @name)
    type: (_) @annotation) @parameter.rest)

(parameters
  (typed_parameter
    .
    (dictionary_splat_pattern
      (identifier) @name)
    type: (_) @annotation) @parameter.keyword_rest)

(parameters
  (list_splat_pattern
    (identifier) @name) @parameter.rest)

(parameters
  (dictionary_splat_pattern
    (identifier) @name) @parameter.keyword_rest)

(parameters
  (positional_separator) @parameter.after_positional)

(parameters
  (keyword_separator) @parameter.before_keyword)

; name = lambda name, name=default, *name, **name: value
(assignment
  right: (lambda
    parameters: (lambda_parameters
      (identifier) @name @parameter.normal)))

(assignment
  right: (lambda
    parameters: (lambda_parameters
      (default_parameter
        name: (identifier) @name
        value: (_) @default) @parameter.normal)))

(assignment
  right: (lambda
    parameters: (lambda_parameters
      (list_splat_pattern
        (identifier) @name) @parameter.rest)))

(assignment
  right: (lambda
    parameters: (lambda_parameters
      (dictionary_splat_pattern
        (identifier) @name) @parameter.keyword_rest)))

; lambda name: value
(lambda
  parameters: (lambda_parameters
    [
      (identifier) @target
      (default_parameter
        name: (identifier) @target)
      (list_splat_pattern
        (identifier) @target)
      (dictionary_splat_pattern
        (identifier) @target)
    ])) @binding.local

; target = value, target: annotation = value
(assignment
  left: (_) @target
  type: (_)? @annotation
  right: (_) @value) @binding.assign

; target: annotation
(assignment
  left: (_) @target
  type: (_) @annotation
  !right) @binding.annotate

; (target := value)
(named_expression
  name: (_) @target
  value: (_) @value) @binding.assign

; target += value
(augmented_assignment
  left: (_) @target
  right: (_) @value) @binding.augment

; for target in value:
(for_statement
  left: (_) @target
  right: (_) @value) @binding.for

; [… for target in value]
(list_comprehension
  (for_in_clause
    left: (_) @target
    right: (_) @value)) @binding.local

(set_comprehension
  (for_in_clause
    left: (_) @target
    right: (_) @value)) @binding.local

(dictionary_comprehension
  (for_in_clause
    left: (_) @target
    right: (_) @value)) @binding.local

(generator_expression
  (for_in_clause
    left: (_) @target
    right: (_) @value)) @binding.local

; with value as target:
(with_item
  value: (as_pattern
    (_) @value
    alias: (as_pattern_target) @target)) @binding.with

; with value:
(with_item
  value: [
    (call)
    (identifier)
    (attribute)
    (subscript)
    (await)
    (parenthesized_expression)
  ] @value) @binding.with

; except value as target:
(except_clause
  value: (as_pattern
    (_) @value
    alias: (as_pattern_target) @target)) @binding.except

; name = lambda: value, outside functions
(module
  (assignment
    right: (lambda
      body: (_) @value @binding.return)))

(class_definition
  body: (block
    (assignment
      right: (lambda
        body: (_) @value @binding.return))))

; return value
(return_statement
  (_) @value) @binding.return

; yield value
((yield
  (_) @value) @binding.yield
  (#not-match? @binding.yield "^yield\\s+from\\s"))

; yield from value
(yield
  "from"
  (_) @value) @binding.yield_from

; del target
(delete_statement
  (identifier) @target) @binding.delete

(delete_statement
  (expression_list
    (identifier) @target)) @binding.delete

; Conditions that tell a type: isinstance(target, value)
(if_statement
  condition: (_) @condition)

(elif_clause
  condition: (_) @condition)

(while_statement
  condition: (_) @condition)

(assert_statement
  .
  (_) @condition)

(conditional_expression
  (_)
  .
  (_) @condition
  .
  (_))

; global name, nonlocal name
(global_statement
  (identifier) @scope.global)

(nonlocal_statement
  (identifier) @scope.nonlocal)
