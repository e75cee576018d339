; object.name(…), name(…), new Type(…), this(…), super(…)
(method_invocation) @reference.call

(object_creation_expression) @reference.call

(explicit_constructor_invocation) @reference.call

; CONSTANT(…): a constant is made by the constructor of its enumeration
(enum_constant) @reference.call

; object.name; callees and targets are left out by the engine
(field_access) @reference.read

; Type::name
(method_reference) @reference.read

; @Annotation before a constant of an enumeration, a parameter or a variable of a body; those before definitions are theirs
(catch_formal_parameter
  (modifiers
    [
      (annotation
        name: (_) @reference.type)
      (marker_annotation
        name: (_) @reference.type)
    ]))

(enum_constant
  (modifiers
    [
      (annotation
        name: (_) @reference.type)
      (marker_annotation
        name: (_) @reference.type)
    ]))

(formal_parameter
  (modifiers
    [
      (annotation
        name: (_) @reference.type)
      (marker_annotation
        name: (_) @reference.type)
    ]))

(local_variable_declaration
  (modifiers
    [
      (annotation
        name: (_) @reference.type)
      (marker_annotation
        name: (_) @reference.type)
    ]))

(resource
  (modifiers
    [
      (annotation
        name: (_) @reference.type)
      (marker_annotation
        name: (_) @reference.type)
    ]))

(spread_parameter
  (modifiers
    [
      (annotation
        name: (_) @reference.type)
      (marker_annotation
        name: (_) @reference.type)
    ]))

; @Annotation Type
(annotated_type
  [
    (annotation
      name: (_) @reference.type)
    (marker_annotation
      name: (_) @reference.type)
  ])

; A name in a place where its value goes somewhere else.
(argument_list
  (identifier) @reference.read)

(method_invocation
  object: (identifier) @reference.read)

(variable_declarator
  value: (identifier) @reference.read)

(assignment_expression
  right: (identifier) @reference.read)

(return_statement
  (identifier) @reference.read)

(binary_expression
  (identifier) @reference.read)

(unary_expression
  (identifier) @reference.read)

(ternary_expression
  (identifier) @reference.read)

(array_access
  (identifier) @reference.read)

(array_initializer
  (identifier) @reference.read)

(enhanced_for_statement
  value: (identifier) @reference.read)

(parenthesized_expression
  (identifier) @reference.read)

(lambda_expression
  body: (identifier) @reference.read)

; name++
(update_expression
  (identifier) @reference.read)

; value instanceof Type, (Type) value, Type.class, new Type[…], case Type(…)
(instanceof_expression
  right: (_) @reference.type)

(cast_expression
  type: (_) @reference.type)

(class_literal
  (_) @reference.type)

(array_creation_expression
  type: (_) @reference.type)

(record_pattern
  .
  [
    (identifier)
    (generic_type)
  ] @reference.type)

; new Name<Type>(…), object.<Type>name(…), Type::new
(object_creation_expression
  type: (generic_type
    (type_arguments
      (_) @reference.type)))

(method_invocation
  type_arguments: (type_arguments
    (_) @reference.type))

(method_reference
  .
  (identifier) @reference.read)
