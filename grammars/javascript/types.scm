; inherits: ecmascript

; function f(name, name = default, ...name, { … })
(formal_parameters
  (identifier) @name @parameter.normal)

(formal_parameters
  (assignment_pattern
    left: (_) @name
    right: (_) @default) @parameter.normal)

(formal_parameters
  (rest_pattern
    (_) @name) @parameter.rest)

(formal_parameters
  [
    (object_pattern)
    (array_pattern)
  ] @name @parameter.normal)

; const target = value; what is required is an import
((variable_declarator
  name: (_) @target
  value: (_) @value) @binding.assign
  (#not-match? @value "^require\\s*\\([^()]*\\)(\\.\\w+)?$"))

; class { target = value }
(field_definition
  property: (_) @target
  value: (_) @value) @binding.assign

; class { name = (…) => value }
(field_definition
  value: (arrow_function
    body: (expression) @value @binding.return))

; A parameter of a function without a name is bound inside that function only.
(arguments
  (arrow_function
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(return_statement
  (arrow_function
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(array
  (arrow_function
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(parenthesized_expression
  (arrow_function
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(arrow_function
  body: (arrow_function
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(assignment_pattern
  right: (arrow_function
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(binary_expression
  (arrow_function
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(ternary_expression
  (arrow_function
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(jsx_expression
  (arrow_function
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(arguments
  (function_expression
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(return_statement
  (function_expression
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(array
  (function_expression
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(parenthesized_expression
  (function_expression
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(arrow_function
  body: (function_expression
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(assignment_pattern
  right: (function_expression
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(binary_expression
  (function_expression
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(ternary_expression
  (function_expression
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(jsx_expression
  (function_expression
    parameters: (formal_parameters
      [
        (identifier)
        (object_pattern)
        (array_pattern)
        (assignment_pattern)
        (rest_pattern)
      ] @target)) @binding.local)

(arguments
  (arrow_function
    parameter: (identifier) @target) @binding.local)

(return_statement
  (arrow_function
    parameter: (identifier) @target) @binding.local)

(array
  (arrow_function
    parameter: (identifier) @target) @binding.local)

(parenthesized_expression
  (arrow_function
    parameter: (identifier) @target) @binding.local)

(arrow_function
  body: (arrow_function
    parameter: (identifier) @target) @binding.local)

(assignment_pattern
  right: (arrow_function
    parameter: (identifier) @target) @binding.local)

(binary_expression
  (arrow_function
    parameter: (identifier) @target) @binding.local)

(ternary_expression
  (arrow_function
    parameter: (identifier) @target) @binding.local)

(jsx_expression
  (arrow_function
    parameter: (identifier) @target) @binding.local)
