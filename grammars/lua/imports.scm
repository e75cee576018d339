; local name = require("path")
((variable_declaration
  (assignment_statement
    (variable_list
      .
      name: (identifier) @import.alias)
    (expression_list
      .
      value: (function_call
        name: (identifier) @_require
        arguments: (arguments
          (string) @import.module))))) @import.kind.require
  (#eq? @_require "require"))
