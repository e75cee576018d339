; inherits: ecmascript

; function f(name: annotation, name?: annotation, name = default, ...name)
(formal_parameters
  [
    (required_parameter
      pattern: [
        (identifier)
        (object_pattern)
        (array_pattern)
      ] @name
      type: (_)? @annotation
      value: (_)? @default)
    (optional_parameter
      pattern: [
        (identifier)
        (object_pattern)
        (array_pattern)
      ] @name
      type: (_)? @annotation
      value: (_)? @default)
  ] @parameter.normal)

(formal_parameters
  (required_parameter
    pattern: (rest_pattern
      (_) @name)
    type: (_)? @annotation) @parameter.rest)

; function f(this: annotation)
(formal_parameters
  (required_parameter
    pattern: (this) @target
    type: (_) @annotation) @binding.annotate)

; constructor(private target: annotation)
(formal_parameters
  [
    (required_parameter
      (accessibility_modifier)
      pattern: (identifier) @target
      type: (_)? @annotation)
    (optional_parameter
      (accessibility_modifier)
      pattern: (identifier) @target
      type: (_)? @annotation)
  ] @binding.annotate)

(formal_parameters
  [
    (required_parameter
      .
      "readonly"
      pattern: (identifier) @target
      type: (_)? @annotation)
    (optional_parameter
      .
      "readonly"
      pattern: (identifier) @target
      type: (_)? @annotation)
  ] @binding.annotate)

; class Name<target extends annotation>: a name for types, inside the declaration
(_
  type_parameters: (type_parameters
    (type_parameter
      name: (type_identifier) @target
      constraint: (_)? @annotation) @binding.local)) @extent

; infer target, [target in keyof Type]: inside the type
(infer_type
  .
  (type_identifier) @target) @binding.local

(mapped_type_clause
  name: (type_identifier) @target) @binding.local

; const target: annotation = value; what is required is an import
((variable_declarator
  name: (_) @target
  type: (_)? @annotation
  value: (_) @value) @binding.assign
  (#not-match? @value "^require\\s*\\([^()]*\\)(\\.\\w+)?$"))

; const name: annotation = (…) => …: what types the function's parameters
(variable_declarator
  name: (identifier)
  type: (_) @annotation
  value: [
    (arrow_function)
    (function_expression)
  ] @target) @binding.annotate

; let target: annotation
(variable_declarator
  name: (_) @target
  type: (_) @annotation
  !value) @binding.annotate

; class { target: annotation = value }
(public_field_definition
  name: (_) @target
  type: (_)? @annotation
  value: (_) @value) @binding.assign

(public_field_definition
  name: (_) @target
  type: (_) @annotation
  !value) @binding.annotate

; interface { target: annotation }
(interface_body
  (property_signature
    name: (property_identifier) @target
    type: (_) @annotation) @binding.annotate)

(type_alias_declaration
  value: (object_type
    (property_signature
      name: (property_identifier) @target
      type: (_) @annotation) @binding.annotate))

(type_alias_declaration
  value: (generic_type
    name: (type_identifier) @_wrapper
    type_arguments: (type_arguments
      .
      (object_type
        (property_signature
          name: (property_identifier) @target
          type: (_) @annotation) @binding.annotate)
      .))
  (#any-of? @_wrapper "Readonly" "Required" "Partial"))

; interface { (…): Result }, a member without a name
(interface_body
  (call_signature
    parameters: (_) @target) @annotation @binding.annotate)

(type_alias_declaration
  value: (object_type
    (call_signature
      parameters: (_) @target) @annotation @binding.annotate))

; export = value
(export_statement
  "="
  (_) @value) @binding.export

; class { name = (…) => value }
(public_field_definition
  value: (arrow_function
    body: (expression) @value @binding.return))

; const name = ((…) => value) as Type
(variable_declarator
  name: (identifier)
  value: (_
    (parenthesized_expression
      (arrow_function
        body: (expression) @value @binding.return))))

; A parameter of a function without a name is bound inside that function only.
(arguments
  (arrow_function
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(return_statement
  (arrow_function
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(array
  (arrow_function
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(parenthesized_expression
  (arrow_function
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(arrow_function
  body: (arrow_function
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(assignment_pattern
  right: (arrow_function
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(binary_expression
  (arrow_function
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(ternary_expression
  (arrow_function
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(arguments
  (function_expression
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(return_statement
  (function_expression
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(array
  (function_expression
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(parenthesized_expression
  (function_expression
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(arrow_function
  body: (function_expression
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(assignment_pattern
  right: (function_expression
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(binary_expression
  (function_expression
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(ternary_expression
  (function_expression
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

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
