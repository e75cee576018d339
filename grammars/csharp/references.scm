; callee(…), new Type(…), this(…), base(…)
(invocation_expression) @reference.call

(object_creation_expression) @reference.call

(constructor_initializer) @reference.call

; object.Name; callees and targets are left out by the engine
(member_access_expression) @reference.read

; A name in a place where its value goes somewhere else.
(argument
  (identifier) @reference.read)

(assignment_expression
  right: (identifier) @reference.read)

(return_statement
  (identifier) @reference.read)

(binary_expression
  (identifier) @reference.read)

(arrow_expression_clause
  (identifier) @reference.read)

; name++
(postfix_unary_expression
  (identifier) @reference.read)

; name++
(prefix_unary_expression
  (identifier) @reference.read)

; value as Type, (Type) value, typeof(Type), new Type[…], default(Type), sizeof(Type)
(as_expression
  right: (_) @reference.type)

(cast_expression
  type: (_) @reference.type)

(typeof_expression
  type: (_) @reference.type)

(array_creation_expression
  type: (_) @reference.type)

(default_expression
  type: (_) @reference.type)

(sizeof_expression
  type: (_) @reference.type)

; value is Type, case Type: the name of a type, or of a constant
(constant_pattern
  (identifier) @reference.read)

(constant_pattern
  (generic_name) @reference.type)

(recursive_pattern
  type: (_) @reference.type)

; new Name<Type>(…), Name<Type>(…), object.Name<Type>(…)
(object_creation_expression
  type: (generic_name
    (type_argument_list
      (_) @reference.type)))

(invocation_expression
  function: (generic_name
    (type_argument_list
      (_) @reference.type)))

(member_access_expression
  name: (generic_name
    (type_argument_list
      (_) @reference.type)))
