; (Type $name = default, Type ...$name)
(formal_parameters
  (simple_parameter
    type: (_)? @annotation
    name: (variable_name) @name
    default_value: (_)? @default) @parameter.normal)

(formal_parameters
  (variadic_parameter
    type: (_)? @annotation
    name: (variable_name) @name) @parameter.rest)

; __construct(private Type $name)
(formal_parameters
  (property_promotion_parameter
    type: (_)? @annotation
    name: (variable_name) @name
    default_value: (_)? @default) @parameter.normal)

(class_declaration
  body: (declaration_list
    (method_declaration
      parameters: (formal_parameters
        (property_promotion_parameter
          type: (_) @annotation
          name: (variable_name
            (name) @target)) @binding.annotate))))

; private Type $name = value;
(property_declaration
  type: (_) @annotation
  (property_element
    name: (variable_name
      (name) @target))) @binding.annotate

(property_declaration
  !type
  (property_element
    name: (variable_name
      (name) @target)
    default_value: (_)? @value)) @binding.assign

; const NAME = value;
(const_declaration
  (const_element
    .
    (name) @target
    (_) @value)) @binding.assign

; enum Name { case Member; }: a member is one of its values
(enum_declaration
  name: (name) @annotation
  body: (enum_declaration_list
    (enum_case
      name: (name) @target @binding.annotate)))

; $name = value; $object->name = value;
(assignment_expression
  left: (_) @target
  right: (_) @value) @binding.assign

; foreach ($values as $name), foreach ($values as $key => $name)
(foreach_statement
  .
  (_) @value
  .
  [
    (variable_name) @target
    (pair
      (_)
      (variable_name) @target)
  ]) @binding.for

; catch (Type $name)
(catch_clause
  type: (type_list
    (_) @annotation)
  name: (variable_name) @target) @binding.annotate

; fn(Type $name) => …
(arrow_function
  parameters: (formal_parameters
    (simple_parameter
      type: (_)? @annotation
      name: (variable_name) @target))) @binding.local

(anonymous_function
  parameters: (formal_parameters
    (simple_parameter
      type: (_)? @annotation
      name: (variable_name) @target))) @binding.local

; return value;
(return_statement
  (_) @value) @binding.return

; if ($name instanceof Type) {…}
(if_statement
  condition: (_) @condition)

; $this->assertInstanceOf(Name::class, $name), self::assertTrue($name instanceof Name)
(compound_statement
  (expression_statement
    [
      (member_call_expression
        name: (name) @_asserts)
      (scoped_call_expression
        name: (name) @_asserts)
    ] @condition)
  (#any-of? @_asserts "assertInstanceOf" "assertTrue"))

; assert($name instanceof Name)
(compound_statement
  (expression_statement
    (function_call_expression
      function: [
        (name)
        (qualified_name)
      ] @_asserts) @condition)
  (#any-of? @_asserts "assert" "\\assert"))
