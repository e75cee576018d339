; inherits: cfamily

; new Name(…)
(new_expression) @reference.call

; Name name(…), Name name{…}: makes a value of the type
(declaration
  type: [
    (type_identifier)
    (qualified_identifier)
  ]
  declarator: (init_declarator
    declarator: (identifier)
    value: [
      (argument_list)
      (initializer_list)
    ])) @reference.call

; Scope::name where its value goes somewhere else.
(argument_list
  (qualified_identifier) @reference.read)

(init_declarator
  value: (qualified_identifier) @reference.read)

(assignment_expression
  right: (qualified_identifier) @reference.read)

(initializer_list
  (qualified_identifier) @reference.read)

(return_statement
  (qualified_identifier) @reference.read)

(binary_expression
  (qualified_identifier) @reference.read)

(case_statement
  value: (qualified_identifier) @reference.read)
