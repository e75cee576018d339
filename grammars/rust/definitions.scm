; struct Name {…}, struct Name(…);
(struct_item
  name: (type_identifier) @name
  body: (field_declaration_list) @body) @definition.class

(struct_item
  name: (type_identifier) @name
  body: (ordered_field_declaration_list) @body) @definition.class

(struct_item
  name: (type_identifier) @name
  !body) @definition.class

(union_item
  name: (type_identifier) @name
  body: (_) @body) @definition.class

; enum Name {…}
(enum_item
  name: (type_identifier) @name
  body: (enum_variant_list) @body) @definition.enum

; trait Name: Base {…}
(trait_item
  name: (type_identifier) @name
  bounds: (trait_bounds)? @bases
  body: (declaration_list) @body) @definition.interface

; mod name {…}
(mod_item
  name: (identifier) @name
  body: (declaration_list) @body) @definition.class @modifier.namespace

; type Name = other;
(source_file
  (type_item
    name: (type_identifier) @name
    type: (_) @value) @definition.type)

(mod_item
  body: (declaration_list
    (type_item
      name: (type_identifier) @name
      type: (_) @value) @definition.type))

(block
  (type_item
    name: (type_identifier) @name
    type: (_) @value) @definition.type)

; impl … { type Name = other; }: no name of the scope around
(impl_item
  body: (declaration_list
    (type_item
      name: (type_identifier) @name) @definition.type @modifier.associated))

; fn name(parameters) -> result {…}
(source_file
  (function_item
    name: (identifier) @name
    return_type: (_)? @returns
    body: (block) @body) @definition.function)

(mod_item
  body: (declaration_list
    (function_item
      name: (identifier) @name
      return_type: (_)? @returns
      body: (block) @body) @definition.function))

(block
  (function_item
    name: (identifier) @name
    return_type: (_)? @returns
    body: (block) @body) @definition.function)

(trait_item
  body: (declaration_list
    (function_item
      name: (identifier) @name
      return_type: (_)? @returns
      body: (block) @body) @definition.method))

(trait_item
  body: (declaration_list
    (function_signature_item
      name: (identifier) @name
      return_type: (_)? @returns) @definition.method @modifier.abstract))

(foreign_mod_item
  body: (declaration_list
    (function_signature_item
      name: (identifier) @name
      return_type: (_)? @returns) @definition.function))

; impl Type { fn name(…) {…} }
(impl_item
  !trait
  type: [
    (type_identifier) @owner
    (scoped_type_identifier
      name: (type_identifier) @owner)
    (generic_type
      type: [
        (type_identifier) @owner
        (scoped_type_identifier
          name: (type_identifier) @owner)
      ])
    (dynamic_type
      trait: (type_identifier) @owner)
  ]
  body: (declaration_list
    (function_item
      name: (identifier) @name
      return_type: (_)? @returns
      body: (block) @body) @definition.method))

; impl Trait for Type { fn name(…) {…} }: the trait is what the method belongs to besides its type
(impl_item
  trait: (_) @base
  type: [
    (type_identifier) @owner
    (scoped_type_identifier
      name: (type_identifier) @owner)
    (generic_type
      type: [
        (type_identifier) @owner
        (scoped_type_identifier
          name: (type_identifier) @owner)
      ])
    (reference_type
      type: [
        (type_identifier) @owner
        (scoped_type_identifier
          name: (type_identifier) @owner)
        (generic_type
          type: [
            (type_identifier) @owner
            (scoped_type_identifier
              name: (type_identifier) @owner)
          ])
        (dynamic_type
          trait: (type_identifier) @owner)
        (array_type) @owner
        (tuple_type) @owner
        (primitive_type) @owner
      ])
    (dynamic_type
      trait: (type_identifier) @owner)
    (array_type) @owner
    (pointer_type) @owner
    (tuple_type) @owner
    (primitive_type) @owner
  ]
  body: (declaration_list
    (function_item
      name: (identifier) @name
      return_type: (_)? @returns
      body: (block) @body) @definition.method))

; macro_rules! name {…}
(macro_definition
  name: (identifier) @name) @definition.function @body

; mod tests { check! { name: adds, … } }: a macro that makes a test of its name
(mod_item
  name: (identifier) @_mod
  body: (declaration_list
    (macro_invocation
      (token_tree
        .
        (identifier) @_key
        .
        ":"
        .
        (identifier) @name)) @definition.function @body @modifier.generated_test)
  (#match? @_mod "test")
  (#eq? @_key "name"))

; rgtest!(adds, |dir| {…}): the same, by the name of the macro
([
  (source_file
    (expression_statement
      (macro_invocation
        macro: (identifier) @_macro
        (token_tree
          .
          (identifier) @name
          .
          ",")) @definition.function @body @modifier.generated_test))
  (source_file
    (macro_invocation
      macro: (identifier) @_macro
      (token_tree
        .
        (identifier) @name
        .
        ",")) @definition.function @body @modifier.generated_test)
  (declaration_list
    (macro_invocation
      macro: (identifier) @_macro
      (token_tree
        .
        (identifier) @name
        .
        ",")) @definition.function @body @modifier.generated_test)
]
  (#match? @_macro "test")
  (#match? @name "^[a-z_]"))

; pub fn …, but not pub(crate) fn …; async fn …
(function_item
  (visibility_modifier) @modifier.exported
  (#eq? @modifier.exported "pub"))

(function_item
  (function_modifiers
    "async" @modifier.async))

; #[attribute]
; fn …
((attribute_item
  (attribute) @decorator)
  .
  [
    (function_item)
    (struct_item)
    (enum_item)
    (trait_item)
    (mod_item)
  ] @decorated)

((attribute_item
  (attribute) @decorator)
  .
  (attribute_item)
  .
  [
    (function_item)
    (struct_item)
    (enum_item)
    (trait_item)
    (mod_item)
  ] @decorated)

; /// Documentation.
((line_comment) @doc
  .
  (attribute_item)*
  .
  [
    (function_item)
    (function_signature_item)
    (struct_item)
    (enum_item)
    (trait_item)
    (mod_item)
    (type_item)
    (const_item)
    (static_item)
    (macro_definition)
  ] @doc.of
  (#match? @doc "^///"))

; //! Documentation of the file.
((source_file
  .
  (line_comment) @doc)
  (#match? @doc "^//!"))

; Points where control can go two ways.
[
  (if_expression)
  (match_arm)
  (while_expression)
  (for_expression)
  (loop_expression)
  (try_expression)
] @branch

(binary_expression
  operator: [
    "&&"
    "||"
  ]) @branch

; Statements that run together.
[
  (block)
  (match_arm)
] @block
