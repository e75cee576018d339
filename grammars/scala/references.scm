; callee(…), new Name(…)
(call_expression) @reference.call

(instance_expression) @reference.call

; value.name; callees and targets are left out by the engine
(field_expression) @reference.read

; A name in a place where its value goes somewhere else.
(arguments
  (identifier) @reference.read)

; callee[Type], new Name[Type], (value: Type)
(generic_function
  type_arguments: (type_arguments
    (_) @reference.type))

(instance_expression
  (generic_type
    type_arguments: (type_arguments
      (_) @reference.type)))

(ascription_expression
  .
  (_)
  .
  (_) @reference.type)

; case _: Type, case Type(…)
(typed_pattern
  type: (_) @reference.type)

(case_class_pattern
  type: (_) @reference.type)

; (name: Type) => …
(lambda_expression
  parameters: (bindings
    (binding
      type: (_) @reference.type)))
