; class Name extends Base implements Interface {…}
(class_declaration
  name: (identifier) @name
  superclass: (superclass
    (_) @base)?
  interfaces: (super_interfaces
    (type_list) @bases)?
  body: (class_body) @body) @definition.class

; record Name(Type component) implements Interface {…}
(record_declaration
  name: (identifier) @name
  interfaces: (super_interfaces
    (type_list) @bases)?
  body: (class_body) @body) @definition.class

; enum Name implements Interface {…}
(enum_declaration
  name: (identifier) @name
  interfaces: (super_interfaces
    (type_list) @bases)?
  body: (enum_body) @body) @definition.enum

; interface Name extends Base {…}
(interface_declaration
  name: (identifier) @name
  (extends_interfaces
    (type_list) @bases)?
  body: (interface_body) @body) @definition.interface

; @interface Name {…}
(annotation_type_declaration
  name: (identifier) @name
  body: (annotation_type_body) @body) @definition.interface

; new Base(…) {…}: a class without a name
(object_creation_expression
  type: (_) @name @base
  (class_body) @body) @definition.class @modifier.anonymous

; CONSTANT {…}
(enum_constant
  name: (identifier) @name
  body: (class_body) @body) @definition.class @modifier.anonymous

; Type name(parameters) {…}
(method_declaration
  type: (_) @returns
  name: (identifier) @name
  body: (block) @body) @definition.method

; Type name(parameters);
(method_declaration
  type: (_) @returns
  name: (identifier) @name
  !body) @definition.method @modifier.abstract

(annotation_type_element_declaration
  type: (_) @returns
  name: (identifier) @name) @definition.method @modifier.abstract

; Name(parameters) {…}
(constructor_declaration
  name: (identifier) @name
  body: (constructor_body) @body) @definition.method

(compact_constructor_declaration
  name: (identifier) @name
  body: (block) @body) @definition.method

; public static abstract …
(method_declaration
  (modifiers
    "static" @modifier.static))

(method_declaration
  (modifiers
    "abstract" @modifier.abstract))

(class_declaration
  (modifiers
    "abstract" @modifier.abstract))

(method_declaration
  (modifiers
    "private" @modifier.private))

(method_declaration
  (modifiers
    "public" @modifier.exported))

(class_declaration
  (modifiers
    "public" @modifier.exported))

(interface_declaration
  (modifiers
    "public" @modifier.exported))

; @Annotation, @Annotation(…)
(annotation_type_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

(annotation_type_element_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

(class_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

(compact_constructor_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

(constant_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

(constructor_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

(enum_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

(field_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

(interface_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

(method_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

(record_declaration
  (modifiers
    [
      (annotation)
      (marker_annotation)
    ] @decorator)) @decorated

; /** Documentation. */
((block_comment) @doc
  .
  [
    (class_declaration)
    (record_declaration)
    (enum_declaration)
    (interface_declaration)
    (annotation_type_declaration)
    (method_declaration)
    (constructor_declaration)
    (field_declaration)
  ] @doc.of
  (#match? @doc "^/\\*\\*"))

; Points where control can go two ways.
[
  (if_statement)
  (for_statement)
  (enhanced_for_statement)
  (while_statement)
  (do_statement)
  (catch_clause)
  (switch_label)
  (ternary_expression)
] @branch

(binary_expression
  operator: [
    "&&"
    "||"
  ]) @branch

; Statements that run together.
[
  (block)
  (constructor_body)
] @block
