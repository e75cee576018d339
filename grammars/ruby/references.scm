; receiver.name(…), name(…)
(call) @reference.call

; Space::Name
(scope_resolution) @reference.read

; name: a call without arguments, if it is no local variable
(identifier) @reference.call

; super
(super) @reference.call

; A name in a place where its value goes somewhere else
(argument_list
  (constant) @reference.read)

(assignment
  right: (constant) @reference.read)

; items.map(&:name)
(block_argument
  (simple_symbol)) @reference.call

; left + right: a method of the left side
(binary
  operator: [
    "+" "-" "*" "/" "%" "**"
    "<<" ">>" "&" "|" "^"
    "==" "!=" "===" "=~" "!~"
    "<=>" "<" "<=" ">" ">="
  ]) @reference.implicit

; object[key]
(element_reference) @reference.implicit

; "#{value}"
(interpolation
  (_) @reference.text)
