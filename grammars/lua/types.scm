; (name, …)
(function_declaration
  parameters: (parameters
    name: (identifier) @name @parameter.normal))

(function_declaration
  parameters: (parameters
    (vararg_expression) @name @parameter.rest))

; function(name)
(function_definition
  parameters: (parameters
    name: (identifier) @target)) @binding.local

; name = value, local name = value
((assignment_statement
  (variable_list
    .
    name: (_) @target)
  (expression_list
    .
    value: (_) @value)) @binding.assign
  (#not-match? @value "^require\\b"))

; return value
(return_statement
  (expression_list
    .
    (_) @value
    .)) @binding.return
