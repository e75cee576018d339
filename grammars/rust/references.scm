; callee(…), name!(…)
(call_expression) @reference.call

(macro_invocation) @reference.call

; Name {…}: makes a value of the type
(struct_expression) @reference.call

; name(…) among the tokens of a macro
(token_tree
  (token_tree) @reference.call)

; value.name, path::name and Name among the tokens of a macro, also in `name!(Name {…})`
(token_tree
  [
    "."
    "::"
  ]
  .
  (identifier) @reference.token)

((token_tree
  (identifier) @reference.token)
  (#match? @reference.token "^[A-Z]"))

; left + right, left += right, *value, base[key], value?: the operand's type may say what they do
(binary_expression) @reference.implicit

(compound_assignment_expr) @reference.implicit

(unary_expression) @reference.implicit

(index_expression) @reference.implicit

(try_expression) @reference.implicit

; impl Type {…}, impl Trait for Type {…}
(impl_item
  type: (_) @reference.named)

(impl_item
  trait: (_) @reference.named)

; impl … { type Name = other; }
(impl_item
  body: (declaration_list
    (type_item
      type: (_) @reference.type)))

; value.name, path::name; callees and targets are left out by the engine
(field_expression) @reference.read

(scoped_identifier) @reference.read

; A name in a place where its value goes somewhere else.
(arguments
  (identifier) @reference.read)

(field_initializer
  value: (identifier) @reference.read)

(shorthand_field_initializer
  (identifier) @reference.read)

(let_declaration
  value: (identifier) @reference.read)

(assignment_expression
  right: (identifier) @reference.read)

(reference_expression
  value: (identifier) @reference.read)

(binary_expression
  (identifier) @reference.read)

(unary_expression
  (identifier) @reference.read)

(index_expression
  (identifier) @reference.read)

(array_expression
  (identifier) @reference.read)

(tuple_expression
  (identifier) @reference.read)

(match_expression
  value: (identifier) @reference.read)

(return_expression
  (identifier) @reference.read)

(block
  (identifier) @reference.read
  .)
