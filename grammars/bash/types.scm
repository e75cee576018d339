; NAME=value
(program
  (variable_assignment
    name: (variable_name) @target
    value: (_) @value) @binding.assign)
