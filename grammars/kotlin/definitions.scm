; class Name : Base(), Interface {…}, class Name(…)
(class_declaration
  "class"
  (type_identifier) @name
  (class_body) @body) @definition.class

(class_declaration
  "class"
  (type_identifier) @name
  .) @definition.class

(class_declaration
  "class"
  (type_identifier) @name
  (primary_constructor)
  .) @definition.class

(class_declaration
  "class"
  (type_identifier) @name
  (type_parameters)
  .) @definition.class

(class_declaration
  "class"
  (type_identifier) @name
  (delegation_specifier)
  .) @definition.class

; interface Name : Base {…}
(class_declaration
  "interface"
  (type_identifier) @name
  (class_body) @body) @definition.interface

(class_declaration
  "interface"
  (type_identifier) @name
  .) @definition.interface

; enum class Name {…}
(class_declaration
  (type_identifier) @name
  (enum_class_body) @body) @definition.enum

; object Name {…}
(object_declaration
  (type_identifier) @name
  (class_body)? @body) @definition.class

; : Base(arguments), Interface
(delegation_specifier
  [
    (user_type) @base.here
    (constructor_invocation
      (user_type) @base.here)
    (explicit_delegation
      (user_type) @base.here)
  ])

; fun name(parameters): Type {…}
(function_declaration
  !receiver
  (simple_identifier) @name
  (function_value_parameters)
  .
  [
    (user_type)
    (nullable_type)
    (function_type)
    (parenthesized_type)
  ] @returns
  (function_body) @body) @definition.function

(function_declaration
  !receiver
  (simple_identifier) @name
  (function_value_parameters)
  .
  (function_body) @body) @definition.function

; fun name(parameters): Type
(function_declaration
  !receiver
  (simple_identifier) @name
  (function_value_parameters)
  .
  [
    (user_type)
    (nullable_type)
    (function_type)
    (parenthesized_type)
  ] @returns
  .) @definition.function @modifier.abstract

(function_declaration
  !receiver
  (simple_identifier) @name
  (function_value_parameters)
  .) @definition.function @modifier.abstract

; fun Type.name(parameters) {…}
(function_declaration
  receiver: (receiver_type
    (_) @owner)
  (simple_identifier) @name
  (function_value_parameters)
  .
  [
    (user_type)
    (nullable_type)
    (function_type)
    (parenthesized_type)
  ] @returns
  (function_body) @body) @definition.method @modifier.extension

(function_declaration
  receiver: (receiver_type
    (_) @owner)
  (simple_identifier) @name
  (function_value_parameters)
  .
  (function_body) @body) @definition.method @modifier.extension

; fun Type.name(parameters): Type
(function_declaration
  receiver: (receiver_type
    (_) @owner)
  (simple_identifier) @name
  (function_value_parameters)
  .
  [
    (user_type)
    (nullable_type)
    (function_type)
    (parenthesized_type)
  ] @returns
  .) @definition.method @modifier.extension @modifier.abstract

(function_declaration
  receiver: (receiver_type
    (_) @owner)
  (simple_identifier) @name
  (function_value_parameters)
  .) @definition.method @modifier.extension @modifier.abstract

; typealias Name = Type
(type_alias
  (type_identifier) @name
  [
    (user_type)
    (nullable_type)
    (function_type)
    (parenthesized_type)
  ] @value) @definition.type

; private fun …, abstract fun …
(function_declaration
  (modifiers
    (inheritance_modifier
      "abstract" @modifier.abstract)))

; object Name {…}, companion object { fun name() }
(object_declaration
  "object" @modifier.singleton)

(companion_object
  (class_body
    (function_declaration
      "fun" @modifier.singleton)))

(function_declaration
  (modifiers
    (visibility_modifier
      "private" @modifier.private)))

(function_declaration
  (modifiers
    (function_modifier
      "suspend" @modifier.async)))

; @Annotation
(function_declaration
  (modifiers
    (annotation
      (_) @decorator))) @decorated

(class_declaration
  (modifiers
    (annotation
      (_) @decorator))) @decorated

; /** Documentation. */
((multiline_comment) @doc
  .
  [
    (class_declaration)
    (object_declaration)
    (function_declaration)
    (property_declaration)
  ] @doc.of)

((import_list
  (import_header
    (multiline_comment) @doc
    .)
  .)
  .
  [
    (class_declaration)
    (object_declaration)
    (function_declaration)
    (property_declaration)
  ] @doc.of)

; Points where control can go two ways.
[
  (if_expression)
  (when_entry)
  (for_statement)
  (while_statement)
  (catch_block)
  (elvis_expression)
] @branch

; Statements that run together.
[
  (function_body)
  (control_structure_body)
] @block

; get("/path") { … }: a route of Ktor
((call_expression
  .
  (simple_identifier) @verb
  (call_suffix
    (value_arguments
      .
      (value_argument
        (string_literal) @name))
    (annotated_lambda
      (lambda_literal
        (statements) @body)))) @definition.function @modifier.route
  (#any-of? @verb "get" "post" "put" "patch" "delete" "options" "head" "webSocket")
  (#match? @name "^.[/]"))
