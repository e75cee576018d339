; local Name = {…}: a table that functions are put into
(chunk
  (variable_declaration
    (assignment_statement
      (variable_list
        .
        name: (identifier) @name
        .)
      (expression_list
        .
        value: (table_constructor))) @definition.class @modifier.private))

; function name(parameters) … end
(function_declaration
  name: (identifier) @name
  body: (block)? @body) @definition.function

; function Name.name(parameters) … end, function Name:name(parameters) … end
(function_declaration
  name: [
    (dot_index_expression
      table: (identifier) @owner
      field: (identifier) @name)
    (method_index_expression
      table: (identifier) @owner
      method: (identifier) @name)
  ]
  body: (block)? @body) @definition.method

; Name.name = function(parameters) … end
(assignment_statement
  (variable_list
    .
    name: (dot_index_expression
      table: (identifier) @owner
      field: (identifier) @name)
    .)
  (expression_list
    .
    value: (function_definition
      body: (block)? @body))) @definition.method

; --- Documentation.
((comment) @doc
  .
  [
    (function_declaration)
    (assignment_statement)
  ] @doc.of)

; Points where control can go two ways.
[
  (if_statement)
  (elseif_statement)
  (for_statement)
  (while_statement)
  (repeat_statement)
] @branch

; Statements that run together.
(block) @block
