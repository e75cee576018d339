; inherits: cfamily

; (…, ...)
(parameter_list
  (variadic_parameter) @name @parameter.rest)
