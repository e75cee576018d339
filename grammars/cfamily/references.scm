; callee(…)
(call_expression) @reference.call

; value.name, value->name; callees and targets are left out by the engine
(field_expression) @reference.read

; A name in a place where its value goes somewhere else.
(argument_list
  (identifier) @reference.read)

(init_declarator
  value: (identifier) @reference.read)

(assignment_expression
  right: (identifier) @reference.read)

(initializer_list
  (identifier) @reference.read)

(return_statement
  (identifier) @reference.read)

(pointer_expression
  argument: (identifier) @reference.read)

(binary_expression
  (identifier) @reference.read)

(case_statement
  value: (identifier) @reference.read)

; name++
(update_expression
  (identifier) @reference.read)

; (Type) value, sizeof(Type), (Type){…}
(cast_expression
  type: (type_descriptor) @reference.type)

(sizeof_expression
  type: (type_descriptor) @reference.type)

(compound_literal_expression
  type: (_) @reference.type)

(offsetof_expression
  type: (type_descriptor) @reference.type)

; sizeof(name): of a type, or of a variable
(sizeof_expression
  value: (parenthesized_expression
    (identifier) @reference.read))

(array_declarator
  size: (identifier) @reference.read)

(subscript_expression
  (identifier) @reference.read)

(parenthesized_expression
  (identifier) @reference.read)

(conditional_expression
  (identifier) @reference.read)

; #define NAME(parameters) text
(preproc_function_def
  value: (preproc_arg) @reference.implicit)
