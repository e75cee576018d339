; def name(parameters) -> returns: body
(function_definition
  name: (identifier) @name
  return_type: (_)? @returns
  body: (block) @body) @definition.function

; name = lambda parameters: value, outside functions
(module
  (assignment
    left: (identifier) @name
    right: (lambda
      body: (_) @body)) @definition.function)

(class_definition
  body: (block
    (assignment
      left: (identifier) @name
      right: (lambda
        body: (_) @body)) @definition.function))

; class Name(bases): body
(class_definition
  name: (identifier) @name
  superclasses: (argument_list)? @bases
  body: (block) @body) @definition.class

; type Name = value, type Name[T] = value
(type_alias_statement
  left: (type
    [
      (identifier) @name
      (generic_type
        .
        (identifier) @name)
    ])
  right: (type) @value) @definition.type

; @decorator
; def …
(decorated_definition
  (decorator
    (_) @decorator)
  definition: (_) @decorated)

; Decorators belong to what they decorate.
(decorated_definition
  definition: (_) @wrapped) @wrapper

; async def …
(function_definition
  "async" @modifier.async
  name: (identifier))

; """Documentation."""
(module
  .
  (comment)*
  .
  (string
    (string_content) @doc))

(function_definition
  body: (block
    .
    (string
      (string_content) @doc)))

(class_definition
  body: (block
    .
    (string
      (string_content) @doc)))

; yield value
(yield) @modifier.generator

; def …:
;     """Documentation."""
;     raise NotImplementedError
((function_definition
  body: (block
    .
    (string)?
    .
    (raise_statement
      .
      [
        (identifier) @_error
        (call
          function: (identifier) @_error)
      ]))) @modifier.abstract
  (#eq? @_error "NotImplementedError"))

; def …:
;     """Documentation."""
;     pass
(function_definition
  body: (block
    .
    (string)?
    .
    [
      (pass_statement)
      (ellipsis)
    ]
    .)) @modifier.empty

; def __getattr__(self, name):
;     …
;     setattr(self, name, value)
((function_definition
  name: (identifier) @_name
  body: (block
    (call
      function: (identifier) @_setter))) @modifier.cached
  (#eq? @_name "__getattr__")
  (#eq? @_setter "setattr"))

; except ImportError:
;     class Name: …
(except_clause
  (block
    [
      (class_definition)
      (function_definition)
    ] @modifier.fallback))

; if __name__ == "__main__":
((if_statement
  condition: (comparison_operator
    .
    (identifier) @_name
    (string))) @modifier.main
  (#eq? @_name "__name__"))

; Points where control can go two ways, for the complexity of the definition around them.
[
  (if_statement)
  (elif_clause)
  (for_statement)
  (while_statement)
  (except_clause)
  (case_clause)
  (conditional_expression)
  (boolean_operator)
  (for_in_clause)
  (if_clause)
  (assert_statement)
] @branch

; Lines that run together once the first of them runs.
(block) @block
