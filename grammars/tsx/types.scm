; inherits: typescript

; A parameter of a function without a name is bound inside that function only.
(jsx_expression
  (arrow_function
    parameters: (formal_parameters
      (required_parameter
        pattern: (_) @target
        type: (_)? @annotation))) @binding.local)

(jsx_expression
  (arrow_function
    parameter: (identifier) @target) @binding.local)
