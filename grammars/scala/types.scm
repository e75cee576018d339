; (name: Type = default)
(parameters
  (parameter
    name: (identifier) @name
    type: (_)? @annotation
    default_value: (_)? @default) @parameter.normal)

; class Name(val name: Type)
(class_parameters
  (class_parameter
    name: (identifier) @name
    type: (_)? @annotation
    default_value: (_)? @default) @parameter.normal)

; val name: Type = value, var name: Type = value
(val_definition
  pattern: (identifier) @target
  type: (_) @annotation) @binding.annotate

(var_definition
  pattern: (identifier) @target
  type: (_) @annotation) @binding.annotate

(val_declaration
  name: (identifier) @target
  type: (_) @annotation) @binding.annotate

; val name = value, var name = value
(val_definition
  pattern: (identifier) @target
  !type
  value: (_) @value) @binding.assign

(var_definition
  pattern: (identifier) @target
  !type
  value: (_) @value) @binding.assign

; for (name <- values)
(enumerator
  (identifier) @target
  .
  (_) @value) @binding.for

; values.map(name => …): one of the values
(call_expression
  function: (field_expression
    value: (_) @value)
  arguments: (arguments
    (lambda_expression
      parameters: (identifier) @target) @extent)) @binding.local

; name = value
(assignment_expression
  left: (_) @target
  right: (_) @value) @binding.set

; case name: Type
(typed_pattern
  pattern: (identifier) @target
  type: (_) @annotation) @binding.annotate

; [T]: a name for types, inside the declaration
(_
  (type_parameters
    name: (identifier) @target @binding.local)) @extent
