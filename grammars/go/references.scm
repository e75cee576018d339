; callee(…), Type[…](value)
(call_expression) @reference.call

(type_conversion_expression
  type: [
    (generic_type)
    (qualified_type)
    (type_identifier)
  ]) @reference.call

; callee[Type](value), handlers[key](value): what stands in the brackets is a type or a value
(type_conversion_expression
  type: (generic_type
    type_arguments: (type_arguments
      (type_elem
        .
        [
          (type_identifier)
          (qualified_type)
        ] @reference.read
        .))))

; Type{…}, pkg.Type{…}: makes a value of the type
(composite_literal
  type: [
    (type_identifier)
    (qualified_type)
    (generic_type)
  ]) @reference.call

; value.Name; callees and targets are left out by the engine
(selector_expression) @reference.read

; A name in a place where its value goes somewhere else.
(argument_list
  (identifier) @reference.read)

(expression_list
  (identifier) @reference.read)

(literal_value
  (literal_element
    (identifier) @reference.read))

(keyed_element
  value: (literal_element
    (identifier) @reference.read))

(binary_expression
  (identifier) @reference.read)

(unary_expression
  operand: (identifier) @reference.read)

(index_expression
  (identifier) @reference.read)

(slice_expression
  (identifier) @reference.read)

(range_clause
  right: (identifier) @reference.read)

(send_statement
  (identifier) @reference.read)

(if_statement
  condition: (identifier) @reference.read)

(expression_switch_statement
  value: (identifier) @reference.read)

; name++
(inc_statement
  (identifier) @reference.read)

; name++
(dec_statement
  (identifier) @reference.read)

; []Type{…}, map[Key]Type{…}, Generic[Type]{…}: types a literal names besides the one it makes
(composite_literal
  type: [
    (array_type)
    (implicit_length_array_type)
    (map_type)
    (slice_type)
  ] @reference.type)

(composite_literal
  type: (generic_type
    type_arguments: (type_arguments
      (type_elem) @reference.type)))

; callee[Type, Type](…), callee[[]Type](value)
(call_expression
  type_arguments: (type_arguments
    (type_elem) @reference.type))

(type_conversion_expression
  type: (generic_type
    type_arguments: (type_arguments
      (type_elem
        [
          (array_type)
          (channel_type)
          (function_type)
          (generic_type)
          (map_type)
          (pointer_type)
          (slice_type)
        ]) @reference.type)))

; []Type(value), map[Key]Type(value); what is called itself is no site of its own
(type_conversion_expression
  type: [
    (array_type
      element: (_) @reference.type)
    (channel_type
      value: (_) @reference.type)
    (pointer_type
      (_) @reference.type)
    (slice_type
      element: (_) @reference.type)
  ])

(type_conversion_expression
  type: (map_type
    key: (_) @reference.type))

(type_conversion_expression
  type: (map_type
    value: (_) @reference.type))

; make([]Type, …), new(Type)
(argument_list
  [
    (array_type)
    (channel_type)
    (function_type)
    (generic_type)
    (map_type)
    (pointer_type)
    (qualified_type)
    (slice_type)
    (type_identifier)
  ] @reference.type)

; value.(Type), case Type:
(type_assertion_expression
  type: (_) @reference.type)

(type_case
  type: (_) @reference.type)

; func(…) Type {…}
(func_literal
  result: (_) @reference.type)
