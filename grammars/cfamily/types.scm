; (type name, type *name, type name[])
(parameter_list
  (parameter_declaration
    type: (_) @annotation
    declarator: [
      (identifier) @name
      (pointer_declarator
        declarator: (identifier) @name)
      (pointer_declarator
        declarator: (pointer_declarator
          declarator: (identifier) @name))
      (array_declarator
        declarator: (identifier) @name)
    ]) @parameter.normal)

; (type (*name)(…)): a function
(parameter_list
  (parameter_declaration
    declarator: (function_declarator
      declarator: (parenthesized_declarator
        (pointer_declarator
          declarator: (identifier) @name)))) @parameter.normal)

; type name; type *name = value;
(declaration
  type: (_) @annotation
  declarator: [
    (identifier) @target
    (pointer_declarator
      declarator: (identifier) @target)
    (array_declarator
      declarator: (identifier) @target)
    (init_declarator
      declarator: [
        (identifier) @target
        (pointer_declarator
          declarator: (identifier) @target)
        (array_declarator
          declarator: (identifier) @target)
      ])
  ]) @binding.annotate

; type (*name)(…) = value;
(declaration
  declarator: (init_declarator
    declarator: (function_declarator
      declarator: (parenthesized_declarator
        (pointer_declarator
          declarator: (identifier) @target)))
    value: (_) @value)) @binding.assign

; struct { type name; type *name; }
(field_declaration
  type: (_) @annotation
  declarator: [
    (field_identifier) @target
    (pointer_declarator
      declarator: (field_identifier) @target)
    (pointer_declarator
      declarator: (pointer_declarator
        declarator: (field_identifier) @target))
    (array_declarator
      declarator: (field_identifier) @target)
  ]) @binding.annotate

; enum { NAME }
(enumerator
  name: (identifier) @target) @binding.annotate

; target = value
(assignment_expression
  left: (_) @target
  operator: "="
  right: (_) @value) @binding.set

; return value;
(return_statement
  (_) @value) @binding.return

; #define NAME value; one without a value guards a header
(preproc_def
  name: (identifier) @target
  value: (preproc_arg) @value) @binding.assign

; (type, type *): parameters without names
(parameter_list
  (parameter_declaration
    type: (_) @annotation
    declarator: (abstract_pointer_declarator)) @parameter.normal)

((parameter_list
  (parameter_declaration
    type: (_) @annotation
    !declarator) @parameter.normal)
  (#not-eq? @annotation "void"))
