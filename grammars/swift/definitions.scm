; class Name: Base {…}, struct Name {…}, actor Name {…}
(class_declaration
  declaration_kind: [
    "class"
    "struct"
    "actor"
  ]
  name: (type_identifier) @name
  body: (class_body) @body) @definition.class

; enum Name {…}
(class_declaration
  name: (type_identifier) @name
  body: (enum_class_body) @body) @definition.enum

; protocol Name: Base {…}
(protocol_declaration
  name: (type_identifier) @name
  body: (protocol_body) @body) @definition.interface

; : Base, Protocol
(class_declaration
  declaration_kind: [
    "class"
    "struct"
    "actor"
    "enum"
  ]
  (inheritance_specifier
    inherits_from: (user_type) @base.here))

(protocol_declaration
  (inheritance_specifier
    inherits_from: (user_type) @base.here))

; func name(parameters) -> Type {…}
(source_file
  (function_declaration
    name: (simple_identifier) @name
    name: (_)? @returns
    body: (function_body) @body) @definition.function)

(statements
  (function_declaration
    name: (simple_identifier) @name
    name: (_)? @returns
    body: (function_body) @body) @definition.function)

(class_declaration
  declaration_kind: [
    "class"
    "struct"
    "actor"
    "enum"
  ]
  body: (_
    (function_declaration
      name: (simple_identifier) @name
      name: (_)? @returns
      body: (function_body) @body) @definition.method))

; init(parameters) {…}
(class_declaration
  declaration_kind: [
    "class"
    "struct"
    "actor"
    "enum"
  ]
  body: (_
    (init_declaration
      "init" @name
      body: (function_body) @body) @definition.method))

; protocol { func name(parameters) }
(protocol_function_declaration
  name: (simple_identifier) @name
  name: (_)? @returns) @definition.method @modifier.abstract

; extension Space.Name<Type> { func name(parameters) {…} }
(class_declaration
  declaration_kind: "extension"
  name: (user_type) @owner
  body: (class_body
    (function_declaration
      name: (simple_identifier) @name
      name: (_)? @returns
      body: (function_body) @body) @definition.method @modifier.extension))

; static, private
(function_declaration
  (modifiers
    (property_modifier) @modifier.static))

((function_declaration
  (modifiers
    (visibility_modifier) @modifier.private))
  (#any-of? @modifier.private "private" "fileprivate"))

((function_declaration
  (modifiers
    (visibility_modifier) @modifier.exported))
  (#any-of? @modifier.exported "public" "open"))

; typealias Name = Type
(typealias_declaration
  .
  (modifiers)?
  .
  name: (type_identifier) @name
  (type_parameters)?
  .
  name: (_) @value) @definition.type

; /// Documentation.
((comment) @doc
  .
  [
    (class_declaration)
    (protocol_declaration)
    (function_declaration)
    (init_declaration)
    (protocol_function_declaration)
  ] @doc.of)

; Points where control can go two ways.
[
  (if_statement)
  (guard_statement)
  (for_statement)
  (while_statement)
  (switch_entry)
  (catch_block)
  (ternary_expression)
] @branch

; Statements that run together.
(statements) @block
