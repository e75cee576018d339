; class Name : Base, Interface {…}
(class_declaration
  name: (identifier) @name
  (base_list)? @bases
  body: (declaration_list) @body) @definition.class

(struct_declaration
  name: (identifier) @name
  (base_list)? @bases
  body: (declaration_list) @body) @definition.class

(record_declaration
  name: (identifier) @name
  (base_list)? @bases
  body: (declaration_list) @body) @definition.class

; record Name(…) : Base;
([
  (class_declaration
    name: (identifier) @name
    (base_list)? @bases
    !body)
  (record_declaration
    name: (identifier) @name
    (base_list)? @bases
    !body)
]) @definition.class

; interface Name : Base {…}
(interface_declaration
  name: (identifier) @name
  (base_list)? @bases
  body: (declaration_list) @body) @definition.interface

; enum Name {…}
(enum_declaration
  name: (identifier) @name
  body: (enum_member_declaration_list) @body) @definition.enum

; delegate Type Name(parameters);
(delegate_declaration
  name: (identifier) @name) @definition.type

; Type Name(parameters) {…}, Type Name(parameters) => …
(method_declaration
  returns: (_) @returns
  name: (identifier) @name
  body: (_) @body) @definition.method

; Type Name(parameters);
(method_declaration
  returns: (_) @returns
  name: (identifier) @name
  !body) @definition.method @modifier.abstract

; Name(parameters) : this(…) {…}
(constructor_declaration
  name: (identifier) @name
  (constructor_initializer) @body
  body: (_) @body) @definition.method

; Name(parameters) {…}
(constructor_declaration
  name: (identifier) @name
  body: (_) @body) @definition.method

; Type Name(parameters) {…} inside a method
(local_function_statement
  type: (_) @returns
  name: (identifier) @name
  body: (_) @body) @definition.function

; Type Name { get {…} }, Type Name => …
(property_declaration
  type: (_) @returns
  name: (identifier) @name
  accessors: (accessor_list
    (accessor_declaration
      body: (_))) @body) @definition.method @modifier.property

(property_declaration
  type: (_) @returns
  name: (identifier) @name
  value: (arrow_expression_clause) @body) @definition.method @modifier.property

; public static abstract …
((method_declaration
  (modifier) @modifier.static)
  (#eq? @modifier.static "static"))

((method_declaration
  (modifier) @modifier.abstract)
  (#eq? @modifier.abstract "abstract"))

((method_declaration
  (modifier) @modifier.private)
  (#eq? @modifier.private "private"))

((method_declaration
  (modifier) @modifier.exported)
  (#eq? @modifier.exported "public"))

((method_declaration
  (modifier) @modifier.async)
  (#eq? @modifier.async "async"))

; Type Interface.Name(parameters): a member of the interface only
(method_declaration
  (explicit_interface_specifier) @modifier.explicit)

; partial class Name
([
  (class_declaration
    (modifier) @modifier.partial)
  (interface_declaration
    (modifier) @modifier.partial)
  (struct_declaration
    (modifier) @modifier.partial)
  (record_declaration
    (modifier) @modifier.partial)
]
  (#eq? @modifier.partial "partial"))

; static Type Name(this Type receiver)
((method_declaration
  parameters: (parameter_list
    .
    (parameter
      (modifier) @modifier.extension)))
  (#eq? @modifier.extension "this"))

; [Attribute]
(class_declaration
  (attribute_list
    (attribute) @decorator)) @decorated

(method_declaration
  (attribute_list
    (attribute) @decorator)) @decorated

; /// Documentation.
((comment) @doc
  .
  [
    (class_declaration)
    (struct_declaration)
    (record_declaration)
    (interface_declaration)
    (enum_declaration)
    (method_declaration)
    (constructor_declaration)
    (property_declaration)
    (field_declaration)
  ] @doc.of)

; Points where control can go two ways.
[
  (if_statement)
  (for_statement)
  (foreach_statement)
  (while_statement)
  (do_statement)
  (catch_clause)
  (switch_section)
  (switch_expression_arm)
  (conditional_expression)
] @branch

; Statements that run together.
(block) @block
