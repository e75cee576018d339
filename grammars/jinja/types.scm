; {% set name = value %}
(assignment_statement
  (variable) @target
  (_) @value) @binding.assign
