; inherits: cfamily

; {.name = value}
(initializer_pair
  value: (identifier) @reference.read)
