; callee(…)
(call_expression) @reference.call

; receiver.name; callees and targets are left out by the engine
(navigation_expression) @reference.read

; A name in a place where its value goes somewhere else.
(value_argument
  value: (simple_identifier) @reference.read)

; value is Type, value as Type, case is Type, case let name as Type, catch is Type
(check_expression
  [
    (array_type)
    (dictionary_type)
    (optional_type)
    (user_type)
  ] @reference.type)

(as_expression
  [
    (array_type)
    (dictionary_type)
    (optional_type)
    (user_type)
  ] @reference.type)

(pattern
  name: (user_type) @reference.type)

; Name<Type>(…), [Type](), [Key: Type]()
(constructor_expression
  constructed_type: (user_type
    (type_arguments
      (_) @reference.type)))

(call_expression
  (array_literal
    element: (simple_identifier) @reference.read))

(call_expression
  (dictionary_literal
    value: (simple_identifier) @reference.read))

; { (name: Type) -> Type in … }
(lambda_parameter
  (user_type) @reference.type)

(lambda_function_type
  (user_type) @reference.type)
