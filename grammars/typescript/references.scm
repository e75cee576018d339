; inherits: ecmascript

; value as Type, value satisfies Type, call<Type>(…)
(as_expression
  [
    (type_identifier)
    (nested_type_identifier)
    (generic_type)
  ] @reference.type)

(satisfies_expression
  [
    (type_identifier)
    (nested_type_identifier)
    (generic_type)
  ] @reference.type)

(call_expression
  type_arguments: (type_arguments
    [
      (type_identifier)
      (nested_type_identifier)
      (generic_type)
    ] @reference.type))

(new_expression
  type_arguments: (type_arguments
    [
      (type_identifier)
      (nested_type_identifier)
      (generic_type)
    ] @reference.type))

(as_expression
  (identifier) @reference.read)

(non_null_expression
  (identifier) @reference.read)
