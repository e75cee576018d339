; (name, name = default, *name, name:, **name, &name)
(method_parameters
  (identifier) @name @parameter.normal)

(method_parameters
  (optional_parameter
    name: (identifier) @name
    value: (_) @default) @parameter.normal)

(method_parameters
  (splat_parameter
    name: (identifier)? @name) @parameter.rest)

(method_parameters
  (keyword_parameter
    name: (identifier) @name
    value: (_)? @default) @parameter.normal)

(method_parameters
  (hash_splat_parameter
    name: (identifier)? @name) @parameter.keyword_rest)

; name = value; @name = value
(assignment
  left: (_) @target
  right: (_) @value) @binding.assign

(operator_assignment
  left: (_) @target
  operator: "||="
  right: (_) @value) @binding.assign

; values.each { |name| … }: one of the values
(call
  receiver: (_) @value
  block: (_
    parameters: (block_parameters
      .
      (identifier) @target
      .)) @extent) @binding.local

; for name in values
(for
  pattern: (_) @target
  value: (in
    (_) @value)) @binding.for

; rescue Error => name
(rescue
  exceptions: (exceptions
    (_) @value)
  variable: (exception_variable
    (identifier) @target)) @binding.except

; return value; the last line
(return
  (argument_list
    (_) @value)) @binding.return

(method
  body: (body_statement
    (_) @value @binding.return
    .))

(method
  body: (body_statement
    (_) @value @binding.return
    .
    [
      (ensure)
      (rescue)
    ]))

(singleton_method
  body: (body_statement
    (_) @value @binding.return
    .))

(singleton_method
  body: (body_statement
    (_) @value @binding.return
    .
    [
      (ensure)
      (rescue)
    ]))

; def name = value
(method
  "="
  body: (_) @value @binding.return)

(singleton_method
  "="
  body: (_) @value @binding.return)

; alias name other
(alias
  name: (identifier) @target
  alias: (identifier) @value) @binding.assign

; alias :name :other
(alias
  name: (simple_symbol) @target
  alias: (simple_symbol) @value) @binding.assign

; alias_method :name, :other
((call
  !receiver
  method: (identifier) @_method
  arguments: (argument_list
    .
    (simple_symbol) @target
    .
    (simple_symbol) @value)) @binding.assign
  (#eq? @_method "alias_method"))
