; class Name(parameters) extends Base with Trait {…}, case class Name(parameters)
(class_definition
  name: (identifier) @name
  body: (template_body)? @body) @definition.class

; trait Name {…}
(trait_definition
  name: (identifier) @name
  body: (template_body)? @body) @definition.interface

; object Name {…}
(object_definition
  name: (identifier) @name
  body: (template_body)? @body) @definition.class

; extends Base with Trait
(extends_clause
  [
    (type_identifier)
    (stable_type_identifier)
    (generic_type)
  ] @base.here)

; def name(parameters): Type = …
(function_definition
  name: (identifier) @name
  return_type: (_)? @returns
  body: (_) @body) @definition.function

; def name(parameters): Type
(function_declaration
  name: (identifier) @name
  return_type: (_)? @returns) @definition.function @modifier.abstract

; type Name = Type, type Name
(type_definition
  name: (type_identifier) @name
  type: (_)? @value) @definition.type

; private def …
(function_definition
  (modifiers
    (access_modifier) @modifier.private))

; /** Documentation. */
((block_comment) @doc
  .
  [
    (class_definition)
    (trait_definition)
    (object_definition)
    (function_definition)
    (function_declaration)
  ] @doc.of)

; Points where control can go two ways.
[
  (if_expression)
  (case_clause)
  (for_expression)
  (while_expression)
] @branch

; Statements that run together.
(block) @block
