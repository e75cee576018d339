; inherits: ecmascript

; value as Type, value satisfies Type, call<Type>(…)
(as_expression
  [
    (array_type)
    (conditional_type)
    (function_type)
    (generic_type)
    (index_type_query)
    (intersection_type)
    (lookup_type)
    (nested_type_identifier)
    (object_type)
    (parenthesized_type)
    (readonly_type)
    (tuple_type)
    (type_identifier)
    (type_query)
    (union_type)
  ] @reference.type)

(satisfies_expression
  [
    (array_type)
    (conditional_type)
    (function_type)
    (generic_type)
    (index_type_query)
    (intersection_type)
    (lookup_type)
    (nested_type_identifier)
    (object_type)
    (parenthesized_type)
    (readonly_type)
    (tuple_type)
    (type_identifier)
    (type_query)
    (union_type)
  ] @reference.type)

(call_expression
  type_arguments: (type_arguments
    (_) @reference.type))

(new_expression
  type_arguments: (type_arguments
    (_) @reference.type))

(as_expression
  (identifier) @reference.read)

(non_null_expression
  (identifier) @reference.read)
