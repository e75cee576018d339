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

; define_method(:name) { |name| … }
((call
  !receiver
  method: (identifier) @_method
  block: (_
    parameters: (block_parameters
      (identifier) @name @parameter.normal)))
  (#eq? @_method "define_method"))

; name = value; @name = value
(assignment
  left: (_) @target
  right: (_) @value) @binding.assign

(operator_assignment
  left: (_) @target
  operator: "||="
  right: (_) @value) @binding.assign

; values.each { |name| … }, tool.instance_eval { … }, method(&block), block.call(value)
(call
  block: (_) @extent.inside) @binding.implied

(call
  arguments: (argument_list
    (block_argument))
  !block) @binding.implied

(call
  receiver: (identifier)
  arguments: (argument_list)
  !block) @binding.implied

; yield value
(yield) @binding.implied

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

; if value.is_a?(Name), case value when Name
[
  (if)
  (elsif)
  (unless)
  (if_modifier)
  (unless_modifier)
  (conditional)
  (when)
  (in_clause)
] @condition

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

; delegate :name, to: :object, def_delegators :@object, :name
((call
  !receiver
  method: (identifier) @_method
  arguments: (argument_list
    (simple_symbol) @target)) @binding.assign @given
  (#any-of? @_method "delegate" "def_delegators" "def_instance_delegators"))

; def_delegator :@object, :name
((call
  !receiver
  method: (identifier) @_method
  arguments: (argument_list
    .
    (_)
    .
    (simple_symbol)
    .
    (simple_symbol)? @target
    .)) @binding.assign @given
  (#any-of? @_method "def_delegator" "def_instance_delegator"))
