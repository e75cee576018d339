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
