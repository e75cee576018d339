; inherits: cfamily

; type name(other), type name(others[n]); in a function, which looks like a declaration of one
(compound_statement
  (declaration
    type: [
      (type_identifier)
      (qualified_identifier)
      (template_type)
    ] @annotation
    declarator: (function_declarator
      declarator: (identifier) @target
      parameters: (parameter_list
        .
        [
          (parameter_declaration
            type: (type_identifier)
            !declarator)
          (parameter_declaration
            type: (type_identifier)
            declarator: (abstract_array_declarator))
        ]))) @binding.annotate)

; (type &name, type (&name)[n], type name = default)
(parameter_list
  (parameter_declaration
    type: (_) @annotation
    declarator: [
      (reference_declarator
        (identifier) @name)
      (array_declarator
        declarator: (parenthesized_declarator
          (reference_declarator
            (identifier) @name)))
    ]) @parameter.normal)

(parameter_list
  (optional_parameter_declaration
    type: (_) @annotation
    declarator: [
      (identifier) @name
      (pointer_declarator
        declarator: (identifier) @name)
      (reference_declarator
        (identifier) @name)
    ]
    default_value: (_) @default) @parameter.normal)

; class { type &name; }
(field_declaration
  type: (_) @annotation
  declarator: (reference_declarator
    (field_identifier) @target)) @binding.annotate

; type &name = value; auto &name = value;
(declaration
  type: [
    (type_identifier)
    (qualified_identifier)
    (template_type)
  ] @annotation
  declarator: (init_declarator
    declarator: (reference_declarator
      (identifier) @target))) @binding.annotate

; auto name = value; auto [name, other] = value;
(declaration
  type: (placeholder_type_specifier)
  declarator: (init_declarator
    declarator: [
      (identifier) @target
      (structured_binding_declarator) @target
      (pointer_declarator
        declarator: (identifier) @target)
      (reference_declarator
        [
          (identifier)
          (structured_binding_declarator)
        ] @target)
    ]
    value: (_) @value)) @binding.assign

; for (type name : values)
(for_range_loop
  type: [
    (type_identifier)
    (qualified_identifier)
    (template_type)
  ] @annotation
  declarator: [
    (identifier) @target
    (pointer_declarator
      declarator: (identifier) @target)
    (reference_declarator
      (identifier) @target)
  ]) @binding.annotate

; for (auto name : values), for (auto [name, other] : values)
(for_range_loop
  type: (placeholder_type_specifier)
  declarator: [
    (identifier) @target
    (structured_binding_declarator) @target
    (pointer_declarator
      declarator: (identifier) @target)
    (reference_declarator
      [
        (identifier)
        (structured_binding_declarator)
      ] @target)
  ]
  right: (_) @value) @binding.for

; [](type name) {…}
(lambda_expression
  declarator: (_
    parameters: (parameter_list
      (parameter_declaration
        type: (_) @annotation
        declarator: [
          (identifier) @target
          (pointer_declarator
            declarator: (identifier) @target)
          (reference_declarator
            (identifier) @target)
        ])))) @binding.local

; catch (type &name) {…}
(catch_clause
  parameters: (parameter_list
    (parameter_declaration
      type: (_) @annotation
      declarator: [
        (identifier) @target
        (pointer_declarator
          declarator: (identifier) @target)
        (reference_declarator
          (identifier) @target)
      ]))) @binding.local

; namespace name = outer::inner;
(namespace_alias_definition
  name: (namespace_identifier) @target
  [
    (namespace_identifier)
    (nested_namespace_specifier)
  ] @value .) @binding.assign

; (…, ...)
(parameter_list
  "..." @name @parameter.rest)

; template <typename T>: a name for types, inside the declaration
(template_declaration
  parameters: (template_parameter_list
    (type_parameter_declaration
      (type_identifier) @target) @binding.local)) @extent

; (type &): a parameter without a name
(parameter_list
  (parameter_declaration
    type: (_) @annotation
    declarator: (abstract_reference_declarator)) @parameter.normal)
