; inherits: cfamily

; new Name(…)
(new_expression) @reference.call

; left = right, left += right, left == right, value[key]: may be operators of a class
(assignment_expression) @reference.implicit

(subscript_expression) @reference.implicit

(binary_expression
  operator: [
    "=="
    "!="
    "<"
    "<="
    ">"
    ">="
    "+"
    "-"
    "*"
    "/"
    "%"
    "&"
    "|"
    "^"
    "<<"
    ">>"
    "&&"
    "||"
  ]) @reference.implicit

; !value, -value, *value, ++value, value--: may be operators of a class
(unary_expression) @reference.implicit

(pointer_expression
  operator: "*") @reference.implicit

(update_expression) @reference.implicit

; if (value), while (value): may convert an object
(condition_clause
  value: [
    (identifier)
    (pointer_expression)
    (field_expression)
    (call_expression)
  ]) @reference.implicit

; return {…};: makes a value of the result type
(return_statement
  (initializer_list) @reference.call)

; Name(…) : Base(…), member(…) {…}
(field_initializer) @reference.call

; Name{…}
(compound_literal_expression) @reference.call

; Name name;
(declaration
  type: [
    (type_identifier)
    (qualified_identifier)
    (template_type)
  ]
  declarator: (identifier)) @reference.call

; NAME(text); outside of functions, which looks like a declaration in parentheses
((declaration
  type: (type_identifier) @_name
  declarator: (parenthesized_declarator)) @reference.call
  (#match? @_name "^[A-Z][A-Z0-9_]+$"))

; Name name(other), Name name(others[n]), which looks like a declaration of a function
(compound_statement
  (declaration
    type: [
      (type_identifier)
      (qualified_identifier)
      (template_type)
    ]
    declarator: (function_declarator
      declarator: (identifier)
      parameters: (parameter_list
        .
        [
          (parameter_declaration
            type: (type_identifier)
            !declarator)
          (parameter_declaration
            type: (type_identifier)
            declarator: (abstract_array_declarator))
        ])) @reference.call))

; Name name(…), Name name{…}: makes a value of the type
(declaration
  type: [
    (type_identifier)
    (qualified_identifier)
    (template_type)
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

; callee<Type>(…), static_cast<Type>(value), std::vector<Type>(…)
(template_function
  arguments: (template_argument_list
    (type_descriptor) @reference.type))

(template_method
  arguments: (template_argument_list
    (type_descriptor) @reference.type))

; alignof(Type), catch (const Type& name), [](…) -> Type {…}
(alignof_expression
  type: (type_descriptor) @reference.type)

(catch_clause
  parameters: (parameter_list
    (parameter_declaration
      type: (_) @reference.type)))

(lambda_declarator
  (trailing_return_type
    (type_descriptor) @reference.type))

(subscript_argument_list
  (identifier) @reference.read)
