; const name = {…}, export const name = {…}: an object literal of a module holds the functions written in it
(program
  (lexical_declaration
    (variable_declarator
      name: (identifier) @name
      value: (object) @body) @definition.variable))

(program
  (export_statement
    declaration: (lexical_declaration
      (variable_declarator
        name: (identifier) @name
        value: (object) @body) @definition.variable)))

; const name = freeze({…}): the only argument of a call holds functions, too
(program
  (lexical_declaration
    (variable_declarator
      name: (identifier) @name
      value: (call_expression
        arguments: (arguments
          .
          (object) @body
          .))) @definition.variable))

(program
  (export_statement
    declaration: (lexical_declaration
      (variable_declarator
        name: (identifier) @name
        value: (call_expression
          arguments: (arguments
            .
            (object) @body
            .))) @definition.variable)))

; getters, setters and static methods are told by their modifiers
(method_definition
  "get" @modifier.property
  name: [
    (property_identifier)
    (private_property_identifier)
  ])

(method_definition
  "set" @modifier.setter
  name: [
    (property_identifier)
    (private_property_identifier)
  ])

(method_definition
  "static" @modifier.static
  name: [
    (property_identifier)
    (private_property_identifier)
  ])

(method_definition
  "async" @modifier.async
  name: [
    (property_identifier)
    (private_property_identifier)
  ])

(method_definition
  "*" @modifier.generator
  name: [
    (property_identifier)
    (private_property_identifier)
  ])

(method_definition
  name: (private_property_identifier) @modifier.private)

; async function name() {…}
(function_declaration
  "async" @modifier.async
  name: (_))

(generator_function_declaration
  "*" @modifier.generator
  name: (_))

(variable_declarator
  name: (identifier)
  value: (arrow_function
    "async" @modifier.async))

(variable_declarator
  name: (identifier)
  value: (function_expression
    "async" @modifier.async))

(pair
  value: [
    (arrow_function
      "async" @modifier.async)
    (function_expression
      "async" @modifier.async)
  ])

(assignment_expression
  left: (member_expression)
  right: [
    (arrow_function
      "async" @modifier.async)
    (function_expression
      "async" @modifier.async)
  ])

; A declaration's keyword, and `export`, belong to what they declare.
(export_statement
  declaration: (lexical_declaration
    (variable_declarator) @wrapped)) @wrapper @modifier.exported

(export_statement
  declaration: (variable_declaration
    (variable_declarator) @wrapped)) @wrapper @modifier.exported

(export_statement
  .
  (decorator)*
  .
  declaration: (_) @wrapped) @wrapper @modifier.exported

(export_statement
  "default" @modifier.default
  declaration: (_) @wrapped) @wrapper

(lexical_declaration
  (variable_declarator) @wrapped) @wrapper

(variable_declaration
  (variable_declarator) @wrapped) @wrapper

; exports.name = function …, and other assignments that define
(expression_statement
  (assignment_expression) @wrapped) @wrapper

; @decorator class …, @decorator method() {…}
(class_declaration
  decorator: (decorator
    (_) @decorator)) @decorated

(export_statement
  decorator: (decorator
    (_) @decorator)
  declaration: (_) @decorated)

; /** Documentation. */ right above
((comment) @doc
  .
  [
    (function_declaration)
    (generator_function_declaration)
    (class_declaration)
  ] @doc.of
  (#match? @doc "^/\\*\\*"))

((comment) @doc
  .
  (export_statement
    declaration: (_) @doc.of)
  (#match? @doc "^/\\*\\*"))

((comment) @doc
  .
  [
    (lexical_declaration
      (variable_declarator) @doc.of)
    (variable_declaration
      (variable_declarator) @doc.of)
    (export_statement
      declaration: (lexical_declaration
        (variable_declarator) @doc.of))
    (expression_statement
      (assignment_expression) @doc.of)
  ]
  (#match? @doc "^/\\*\\*"))

((comment) @doc
  .
  [
    (method_definition)
    (pair)
  ] @doc.of
  (#match? @doc "^/\\*\\*"))

; Points where control can go two ways.
[
  (if_statement)
  (for_statement)
  (for_in_statement)
  (while_statement)
  (do_statement)
  (switch_case)
  (catch_clause)
  (ternary_expression)
] @branch

(binary_expression
  [
    "&&"
    "||"
    "??"
  ]) @branch

; Lines that run together once the first of them runs.
(statement_block) @block

; router.get("/path", guard, (context) => {…}): a route whose handler stands in the call
((call_expression
  function: (member_expression
    object: [
      (identifier) @_router
      (member_expression
        property: (property_identifier) @_router)
    ]
    property: (property_identifier) @verb)
  arguments: (arguments
    .
    (string) @name
    [
      (arrow_function
        body: (_) @signature.end)
      (function_expression
        body: (_) @signature.end)
    ]
    .) @body) @definition.function @modifier.route
  (#any-of? @verb "get" "post" "put" "patch" "delete" "head" "options" "all")
  (#match? @_router "([rR]outer|[aA]pp|^server|^api|^routes|^fastify|^application|^hono)$")
  (#match? @name "^.[/a-z]"))
