; callee(…)
(call_expression) @reference.call

; left name right: a function that is written between its receiver and its argument; `to` makes a pair
((infix_expression
  (_)
  .
  (simple_identifier) @_name
  .
  (_)) @reference.call
  (#not-eq? @_name "to"))

; : Base(…), constructor(…) : this(…)
(delegation_specifier
  (constructor_invocation) @reference.call)

(constructor_delegation_call) @reference.call

; receiver.name; callees and targets are left out by the engine
(navigation_expression) @reference.read

; receiver.name = value
(assignment
  (directly_assignable_expression
    (navigation_suffix)) @reference.write)

; A name in a place where its value goes somewhere else.
(value_argument
  (simple_identifier) @reference.read
  .)

(callable_reference) @reference.read

; value is Type, value as Type, is Type -> …
(check_expression
  [
    (nullable_type)
    (user_type)
  ] @reference.type)

(as_expression
  [
    (nullable_type)
    (user_type)
  ] @reference.type)

(type_test
  (_) @reference.type)

; catch (name: Type)
(catch_block
  [
    (nullable_type)
    (user_type)
  ] @reference.type)

; Type::class, Type::name
(callable_reference
  (type_identifier) @reference.type)

; ::Name
(callable_reference
  .
  (simple_identifier) @reference.read
  .)

; callee<Type>(…)
(call_suffix
  (type_arguments
    (type_projection) @reference.type))

; { name: Type -> … }, for (name: Type in …), object : Type {…}
(lambda_parameters
  (variable_declaration
    [
      (nullable_type)
      (user_type)
    ] @reference.type))

(for_statement
  (variable_declaration
    [
      (nullable_type)
      (user_type)
    ] @reference.type))

(object_literal
  (delegation_specifier
    [
      (user_type)
      (constructor_invocation
        (user_type))
    ] @reference.type))
