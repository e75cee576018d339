; (Type name, Type name = default)
(parameter_list
  (parameter
    type: (_) @annotation
    name: (identifier) @name
    (_)? @default) @parameter.normal)

; (params Type[] name)
(parameter_list
  "params"
  type: (array_type
    type: (_) @annotation)
  name: (identifier) @name @parameter.rest)

; Type name = value;
(variable_declaration
  type: [
    (identifier)
    (qualified_name)
    (generic_name)
    (array_type)
    (nullable_type)
    (predefined_type)
    (tuple_type)
  ] @annotation
  (variable_declarator
    name: (identifier) @target)) @binding.annotate

; var name = value;
(variable_declaration
  type: (implicit_type)
  (variable_declarator
    name: (identifier) @target
    .
    (_) @value)) @binding.assign

; Type Name { get; set; }
(property_declaration
  type: (_) @annotation
  name: (identifier) @target
  accessors: (accessor_list
    (accessor_declaration
      !body))) @binding.annotate

; foreach (Type name in values)
(foreach_statement
  type: [
    (identifier)
    (qualified_name)
    (generic_name)
    (array_type)
    (predefined_type)
  ] @annotation
  left: (identifier) @target) @binding.annotate

(foreach_statement
  type: (implicit_type)
  left: (identifier) @target
  right: (_) @value) @binding.for

; find(out Type name)
(declaration_expression
  type: [
    (identifier)
    (qualified_name)
    (generic_name)
  ] @annotation
  name: (identifier) @target) @binding.annotate

; catch (Type name)
(catch_declaration
  type: (_) @annotation
  name: (identifier) @target) @binding.annotate

; value is Type name, case Type name
(declaration_pattern
  type: (_) @annotation
  name: (identifier) @target) @binding.annotate

; enum Name { Member }: a member is one of its values
(enum_declaration
  name: (identifier) @annotation
  body: (enum_member_declaration_list
    (enum_member_declaration
      name: (identifier) @target @binding.annotate)))

; target = value
(assignment_expression
  left: (_) @target
  right: (_) @value) @binding.set

; (Type name) => …
(lambda_expression
  parameters: (parameter_list
    (parameter
      type: (_) @annotation
      name: (identifier) @target))) @binding.local

; (name, name) => …
(lambda_expression
  parameters: (parameter_list
    (parameter
      !type
      name: (identifier) @target))) @binding.local

; name => …
(lambda_expression
  parameters: (implicit_parameter) @target) @binding.local

; Type Name { set { … value … } }
((accessor_declaration
  body: (_) @extent) @binding.implied)

; return value;
(return_statement
  (_) @value) @binding.return

(method_declaration
  body: (arrow_expression_clause
    (_) @value @binding.return))

; <T>: a name for types, inside the declaration
(_
  (type_parameter_list
    (type_parameter
      name: (identifier) @target) @binding.local)) @extent
