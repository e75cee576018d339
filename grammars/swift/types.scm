; (label name: Type)
(parameter
  name: (simple_identifier) @name
  name: (_) @annotation) @parameter.normal

; let name: Type = value
(property_declaration
  name: (pattern
    bound_identifier: (simple_identifier) @target)
  (type_annotation
    (_) @annotation)) @binding.annotate

; let name = value
(property_declaration
  name: (pattern
    bound_identifier: (simple_identifier) @target)
  .
  value: (_) @value) @binding.assign

; if let name = value, guard let name = value, while let name = value
([
  (if_statement
    bound_identifier: (simple_identifier) @target
    .
    "="
    .
    (_) @value)
  (guard_statement
    bound_identifier: (simple_identifier) @target
    .
    "="
    .
    (_) @value)
  (while_statement
    bound_identifier: (simple_identifier) @target
    .
    "="
    .
    (_) @value)
] @binding.assign)

; for name in values
(for_statement
  item: (pattern
    bound_identifier: (simple_identifier) @target)
  collection: (_) @value) @binding.for

; enum Name { case member }: a member is one of its values
(class_declaration
  name: (type_identifier) @annotation
  body: (enum_class_body
    (enum_entry
      name: (simple_identifier) @target) @binding.annotate))

; target = value
(assignment
  target: (_) @target
  result: (_) @value) @binding.set

; return value
(control_transfer_statement
  result: (_) @value) @binding.return

; <T>: a name for types, inside the declaration
(_
  (type_parameters
    (type_parameter
      .
      (type_identifier) @target) @binding.local)) @extent
