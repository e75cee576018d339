; (Type name, Type... name)
(formal_parameters
  (formal_parameter
    type: (_) @annotation
    name: (identifier) @name) @parameter.normal)

(formal_parameters
  (spread_parameter
    [
      (type_identifier)
      (scoped_type_identifier)
      (generic_type)
      (array_type)
      (integral_type)
      (floating_point_type)
      (boolean_type)
    ] @annotation
    (variable_declarator
      name: (identifier) @name)) @parameter.rest)

; Type name = value;
(field_declaration
  type: (_) @annotation
  declarator: (variable_declarator
    name: (identifier) @target
    value: (_) @value)) @binding.assign

(field_declaration
  type: (_) @annotation
  declarator: (variable_declarator
    name: (identifier) @target
    !value)) @binding.annotate

(constant_declaration
  type: (_) @annotation
  declarator: (variable_declarator
    name: (identifier) @target)) @binding.annotate

(local_variable_declaration
  type: (_) @annotation
  declarator: (variable_declarator
    name: (identifier) @target
    !value)) @binding.annotate

((local_variable_declaration
  type: (_) @annotation
  declarator: (variable_declarator
    name: (identifier) @target
    value: (_) @value)) @binding.assign
  (#not-eq? @annotation "var"))

; var name = value;
((local_variable_declaration
  type: (type_identifier) @_type
  declarator: (variable_declarator
    name: (identifier) @target
    value: (_) @value)) @binding.assign
  (#eq? @_type "var"))

; for (Type name : value)
((enhanced_for_statement
  type: (_) @annotation
  name: (identifier) @target) @binding.annotate
  (#not-eq? @annotation "var"))

((enhanced_for_statement
  type: (type_identifier) @_type
  name: (identifier) @target
  value: (_) @value) @binding.for
  (#eq? @_type "var"))

; try (Type name = value)
((resource
  type: (_) @annotation
  name: (identifier) @target) @binding.annotate
  (#not-eq? @annotation "var"))

((resource
  type: (type_identifier) @_type
  name: (identifier) @target
  value: (_) @value) @binding.assign
  (#eq? @_type "var"))

; catch (Type | Type name)
(catch_formal_parameter
  (catch_type) @annotation
  name: (identifier) @target) @binding.annotate

; value instanceof Type name, case Type name
(instanceof_expression
  right: (_) @annotation
  name: (identifier) @target) @binding.annotate

(type_pattern
  (_) @annotation
  .
  (identifier) @target) @binding.annotate

; enum Name { CONSTANT }: a constant is one of its values
(enum_declaration
  name: (identifier) @annotation
  body: (enum_body
    (enum_constant
      name: (identifier) @target @binding.annotate)))

; target = value
(assignment_expression
  left: (_) @target
  operator: "="
  right: (_) @value) @binding.set

(assignment_expression
  left: (_) @target
  operator: [
    "+="
    "-="
    "*="
    "/="
    "|="
    "&="
  ]
  right: (_) @value) @binding.augment

; (Type name) -> …
(lambda_expression
  parameters: (formal_parameters
    (formal_parameter
      type: (_) @annotation
      name: (identifier) @target))) @binding.local

; (name, name) -> …
(lambda_expression
  parameters: (inferred_parameters
    (identifier) @target)) @binding.local

; name -> …
(lambda_expression
  parameters: (identifier) @target) @binding.local

; return value;
(return_statement
  (_) @value) @binding.return

; <Name extends Type>: what is known of a type parameter
(type_parameter
  (type_identifier) @target
  (type_bound
    .
    (_) @annotation)?) @binding.local
