; func (name Type): the receiver is the first parameter
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      name: (identifier)? @name
      type: (_) @annotation) @parameter.normal))

; func f(name Type, name, name Type)
(function_declaration
  parameters: (parameter_list
    (parameter_declaration
      name: (identifier) @name
      type: (_) @annotation) @parameter.normal))

(method_declaration
  parameters: (parameter_list
    (parameter_declaration
      name: (identifier) @name
      type: (_) @annotation) @parameter.normal))

(method_elem
  parameters: (parameter_list
    (parameter_declaration
      name: (identifier) @name
      type: (_) @annotation) @parameter.normal))

; Parameters without names.
(method_elem
  parameters: (parameter_list
    (parameter_declaration
      !name
      type: (_) @annotation) @parameter.normal))

(function_declaration
  parameters: (parameter_list
    (parameter_declaration
      !name
      type: (_) @annotation) @parameter.normal))

(method_declaration
  parameters: (parameter_list
    (parameter_declaration
      !name
      type: (_) @annotation) @parameter.normal))

; func f(name ...Type)
(parameter_list
  (variadic_parameter_declaration
    name: (identifier)? @name
    type: (_) @annotation) @parameter.rest)

; func (…) (name Type): a named result is a variable of the function
(function_declaration
  result: (parameter_list
    (parameter_declaration
      name: (identifier) @target
      type: (_) @annotation))
  body: (block) @binding.local)

(method_declaration
  result: (parameter_list
    (parameter_declaration
      name: (identifier) @target
      type: (_) @annotation))
  body: (block) @binding.local)

; func(name Type) {…}: parameters of a function without a name
(func_literal
  parameters: (parameter_list
    (parameter_declaration
      name: (identifier) @target
      type: (_) @annotation))
  body: (block) @extent.inside) @binding.local

; struct { name Type; name, name Type }
(field_declaration
  name: (field_identifier) @target
  type: (_) @annotation) @binding.annotate

; struct { Embedded }: what is embedded is a field named like its type
(field_declaration
  !name
  type: [
    (type_identifier) @target
    (qualified_type
      name: (type_identifier) @target)
    (generic_type
      type: (type_identifier) @target)
  ] @annotation) @binding.annotate

; var name Type, var name Type = value, var name = value; the blank identifier `_` declares nothing
((var_spec
  name: (identifier) @target
  type: (_) @annotation) @binding.annotate
  (#not-eq? @target "_"))

((var_spec
  .
  name: (identifier) @target
  .
  value: (expression_list) @value) @binding.assign
  (#not-eq? @target "_"))

; const name = value
((const_spec
  .
  name: (identifier) @target
  .
  value: (expression_list) @value) @binding.assign
  (#not-eq? @target "_"))

((const_spec
  name: (identifier) @target
  type: (_) @annotation) @binding.annotate
  (#not-eq? @target "_"))

((const_spec
  .
  name: (identifier) @target
  .) @binding.annotate
  (#not-eq? @target "_"))

; name, name := value
(short_var_declaration
  left: (expression_list) @target
  right: (expression_list) @value) @binding.assign

; name, name = value
(assignment_statement
  left: (expression_list) @target
  operator: "="
  right: (expression_list) @value) @binding.set

(assignment_statement
  left: (expression_list) @target
  operator: [
    "+="
    "-="
    "*="
    "/="
    "|="
    "&="
  ]
  right: (expression_list) @value) @binding.augment

; for name, name := range value
(range_clause
  left: (expression_list) @target
  right: (_) @value) @binding.for

; case name := <-value
(receive_statement
  left: (expression_list) @target
  right: (_) @value) @binding.assign

; return value, value
(return_statement
  (expression_list) @value) @binding.return

; switch name := value.(type) { case Type: … }
(type_switch_statement
  alias: (expression_list
    (identifier))
  (type_case) @condition)

; [Name Constraint]: what is known of a type parameter
((type_parameter_declaration
  name: (identifier) @target
  type: (type_constraint
    .
    (_) @annotation
    .)) @binding.local
  (#not-match? @annotation "^(any|comparable)$"))
