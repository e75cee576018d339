; class Name extends Base implements Interface {…}
(class_declaration
  name: (name) @name
  (base_clause)? @bases
  (class_interface_clause)? @bases
  body: (declaration_list) @body) @definition.class

; interface Name extends Base {…}
(interface_declaration
  name: (name) @name
  (base_clause)? @bases
  body: (declaration_list) @body) @definition.interface

; trait Name {…}
(trait_declaration
  name: (name) @name
  body: (declaration_list) @body) @definition.class

; enum Name {…}
(enum_declaration
  name: (name) @name
  body: (enum_declaration_list) @body) @definition.enum

; use Trait;
(use_declaration
  [
    (name)
    (qualified_name)
  ] @base.here)

; new class(…) extends Base implements Interface {…}
(object_creation_expression
  (anonymous_class
    "class" @name
    (base_clause)? @bases
    (class_interface_clause)? @bases
    body: (declaration_list) @body)) @definition.class @modifier.anonymous

; function name(parameters): Type {…}
(function_definition
  name: (name) @name
  return_type: (_)? @returns
  body: (compound_statement) @body) @definition.function

(method_declaration
  name: (name) @name
  return_type: (_)? @returns
  body: (compound_statement) @body) @definition.method

(method_declaration
  name: (name) @name
  return_type: (_)? @returns
  !body) @definition.method @modifier.abstract

; static abstract private public function …
(method_declaration
  (static_modifier) @modifier.static)

(method_declaration
  (abstract_modifier) @modifier.abstract)

((method_declaration
  (visibility_modifier) @modifier.private)
  (#eq? @modifier.private "private"))

((method_declaration
  (visibility_modifier) @modifier.exported)
  (#eq? @modifier.exported "public"))

; #[Attribute(…)]
(class_declaration
  attributes: (attribute_list
    (attribute_group
      (attribute) @decorator))) @decorated

(method_declaration
  attributes: (attribute_list
    (attribute_group
      (attribute) @decorator))) @decorated

(function_definition
  attributes: (attribute_list
    (attribute_group
      (attribute) @decorator))) @decorated

; /** Documentation. */
((comment) @doc
  .
  [
    (class_declaration)
    (interface_declaration)
    (trait_declaration)
    (enum_declaration)
    (function_definition)
    (method_declaration)
    (property_declaration)
  ] @doc.of)

; /** @var Type $name */ $name = value;
((comment) @doc
  .
  (expression_statement
    (assignment_expression) @doc.of))

; Points where control can go two ways.
[
  (if_statement)
  (for_statement)
  (foreach_statement)
  (while_statement)
  (catch_clause)
  (case_statement)
  (conditional_expression)
] @branch

; Statements that run together.
(compound_statement) @block
