; type Name struct {…}, alone or in a list of types
(type_declaration
  .
  (type_spec
    name: (type_identifier) @name
    type: (struct_type
      (field_declaration_list) @body))
  .) @definition.class

(type_declaration
  "("
  (type_spec
    name: (type_identifier) @name
    type: (struct_type
      (field_declaration_list) @body)) @definition.class)

; struct { Embedded; *pkg.Embedded }: methods of what is embedded are methods of the struct
(field_declaration_list
  (field_declaration
    !name
    type: [
      (type_identifier)
      (qualified_type)
      (generic_type)
    ] @base.here))

; type Name interface {…}
(type_declaration
  .
  (type_spec
    name: (type_identifier) @name
    type: (interface_type) @body)
  .) @definition.interface

(type_declaration
  "("
  (type_spec
    name: (type_identifier) @name
    type: (interface_type) @body) @definition.interface)

(interface_type
  (type_elem
    .
    [
      (type_identifier)
      (qualified_type)
      (generic_type)
    ] @base.here
    .))

; type Name other: a type of its own, which can have methods
(type_declaration
  (type_spec
    name: (type_identifier) @name
    type: [
      (array_type)
      (channel_type)
      (function_type)
      (generic_type)
      (map_type)
      (pointer_type)
      (qualified_type)
      (slice_type)
      (type_identifier)
    ]) @definition.class)

; type Name = other
(type_declaration
  (type_alias
    name: (type_identifier) @name
    type: (_) @value) @definition.type)

; func Name(parameters) result {…}
(function_declaration
  name: (identifier) @name
  result: (_)? @returns
  body: (block) @body) @definition.function

; func (receiver Type) Name(parameters) result {…}
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @owner
        (generic_type
          type: (type_identifier) @owner)
        (pointer_type
          [
            (type_identifier) @owner
            (generic_type
              type: (type_identifier) @owner)
          ])
      ]))
  name: (field_identifier) @name
  result: (_)? @returns
  body: (block) @body) @definition.method

; interface { Name(parameters) result }
(interface_type
  (method_elem
    name: (field_identifier) @name
    result: (_)? @returns) @definition.method @modifier.abstract)

; Names that begin with a capital letter are seen by other packages.
((function_declaration
  name: (identifier) @_name) @modifier.exported
  (#match? @_name "^[A-Z]"))

((method_declaration
  name: (field_identifier) @_name) @modifier.exported
  (#match? @_name "^[A-Z]"))

; // Documentation.
; func …
((comment) @doc
  .
  [
    (function_declaration)
    (method_declaration)
    (type_declaration)
    (type_spec)
    (method_elem)
    (const_declaration)
    (var_declaration)
    (field_declaration)
  ] @doc.of)

; // Package documentation.
; package name
(source_file
  (comment) @doc
  .
  (package_clause))

; Points where control can go two ways.
[
  (if_statement)
  (for_statement)
  (expression_case)
  (type_case)
  (communication_case)
] @branch

(binary_expression
  operator: [
    "&&"
    "||"
  ]) @branch

; Statements that run together.
[
  (block)
  ; A variable of `if x := f(); x > 0 {…}` ends with the statement.
  (if_statement)
  (for_statement)
  (expression_switch_statement)
  (type_switch_statement)
] @block
