; receiver.name(…), name(…)
(call) @reference.call

; Space::Name
(scope_resolution) @reference.read

; A name in a place where its value goes somewhere else; a line of its own is a call without arguments.
(argument_list
  [
    (identifier)
    (constant)
  ] @reference.read)

(assignment
  right: [
    (identifier)
    (constant)
  ] @reference.read)

(body_statement
  (identifier) @reference.read)
