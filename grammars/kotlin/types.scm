; (name: Type)
(function_value_parameters
  (parameter
    (simple_identifier) @name
    .
    (_) @annotation) @parameter.normal)

; class Name(val name: Type): a field that is a parameter of the constructor
(class_declaration
  (type_identifier)
  (primary_constructor
    (class_parameter
      (simple_identifier) @name
      .
      (_) @annotation) @parameter.normal))

; val name: Type = value
(property_declaration
  (variable_declaration
    (simple_identifier) @target
    .
    (_) @annotation)) @binding.annotate

; val name = value
(property_declaration
  (variable_declaration
    (simple_identifier) @target
    .)
  .
  (_) @value) @binding.assign

; val (name, other) = value
(property_declaration
  (multi_variable_declaration) @target
  .
  (_) @value) @binding.assign

; for (name in values)
(for_statement
  (variable_declaration
    (simple_identifier) @target
    .)
  .
  (_) @value) @binding.for

; for ((name, other) in values)
(for_statement
  (multi_variable_declaration) @target
  .
  (_) @value) @binding.for

; { name -> … }, { name, other -> … }
(lambda_literal
  (lambda_parameters
    (variable_declaration
      (simple_identifier) @target
      .))) @binding.local

; { (name, other) -> … }
(lambda_literal
  (lambda_parameters
    (multi_variable_declaration) @target)) @binding.local

; { name: Type, other: Type -> … }
(lambda_literal
  (lambda_parameters
    (variable_declaration
      (simple_identifier) @target
      .
      (_) @annotation))) @binding.local

; if (name is Type) {…}, when (name) { is Type -> … }
(if_expression
  condition: (_) @condition)

(when_entry
  (when_condition)) @condition

; { it… }, build { member() }
(lambda_literal
  (statements)) @binding.implied

; enum class Name { MEMBER }: a member is one of its values
(class_declaration
  (type_identifier) @annotation
  (enum_class_body
    (enum_entry
      (simple_identifier) @target @binding.annotate)))

; target = value
(assignment
  (directly_assignable_expression) @target
  .
  (_) @value) @binding.set

; return value, = value
(jump_expression
  "return"
  (_) @value) @binding.return

(function_body
  "="
  (_) @value) @binding.return

; <T>: a name for types, inside the declaration
(_
  (type_parameters
    (type_parameter
      .
      (type_identifier) @target) @binding.local)) @extent
