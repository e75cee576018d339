; type name(parameters) {…}, type *name(parameters) {…}
(function_definition
  type: (_) @returns
  declarator: [
    (function_declarator
      declarator: (identifier) @name)
    (pointer_declarator
      declarator: (function_declarator
        declarator: (identifier) @name))
    (pointer_declarator
      declarator: (pointer_declarator
        declarator: (function_declarator
          declarator: (identifier) @name)))
  ]
  body: (compound_statement) @body) @definition.function

; static type name(…): seen by its own file only
((function_definition
  (storage_class_specifier) @modifier.private)
  (#eq? @modifier.private "static"))

; #define NAME(parameters) text
((preproc_function_def
  name: (identifier) @name
  value: (preproc_arg)? @returns) @definition.function @modifier.macro)

; struct name {…}, union name {…}
(struct_specifier
  name: (type_identifier) @name
  body: (field_declaration_list) @body) @definition.class

(union_specifier
  name: (type_identifier) @name
  body: (field_declaration_list) @body) @definition.class

; typedef struct {…} name;
(type_definition
  type: [
    (struct_specifier
      !name
      body: (field_declaration_list) @body)
    (union_specifier
      !name
      body: (field_declaration_list) @body)
  ]
  declarator: (type_identifier) @name) @definition.class

; enum name {…}
(enum_specifier
  name: (type_identifier) @name
  body: (enumerator_list) @body) @definition.enum

; typedef type name;
(type_definition
  type: [
    (type_identifier)
    (primitive_type)
    (sized_type_specifier)
    (struct_specifier
      name: (_))
    (union_specifier
      name: (_))
    (enum_specifier
      name: (_))
  ] @value
  declarator: [
    (type_identifier) @name
    (pointer_declarator
      declarator: (type_identifier) @name)
  ]) @definition.type

; typedef type (*name)(…), typedef type name(…), typedef type name[…]: no value of that type
(type_definition
  declarator: [
    (function_declarator
      declarator: [
        (type_identifier) @name
        (parenthesized_declarator
          (pointer_declarator
            declarator: [
              (type_identifier) @name
              (array_declarator
                declarator: (type_identifier) @name)
            ]))
      ])
    (array_declarator
      declarator: (type_identifier) @name)
  ]) @definition.type

; typedef type first, name, *name: every further one
(type_definition
  type: [
    (type_identifier)
    (primitive_type)
    (sized_type_specifier)
    (struct_specifier
      name: (_))
    (union_specifier
      name: (_))
    (enum_specifier
      name: (_))
  ] @value
  declarator: (_)
  declarator: [
    (type_identifier) @name
    (pointer_declarator
      declarator: (type_identifier) @name)
  ] @definition.type)

; /* Documentation. */
((comment) @doc
  .
  [
    (function_definition)
    (struct_specifier)
    (type_definition)
    (enum_specifier)
    (preproc_function_def)
  ] @doc.of)

; Points where control can go two ways.
[
  (if_statement)
  (for_statement)
  (while_statement)
  (do_statement)
  (case_statement)
  (conditional_expression)
] @branch

(binary_expression
  operator: [
    "&&"
    "||"
  ]) @branch

; Statements that run together.
(compound_statement) @block
