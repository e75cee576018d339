; name arguments
((command
  name: (command_name
    (word) @_name)) @reference.call
  (#match? @_name "^[A-Za-z_]"))
