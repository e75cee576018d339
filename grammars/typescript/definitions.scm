; inherits: ecmascript

; class Name<T> extends Base implements Interface {…}
(class_declaration
  name: (type_identifier) @name
  (class_heritage
    (extends_clause
      value: (_) @base)?
    (implements_clause)? @bases)?
  body: (class_body) @body) @definition.class

; abstract class Name …
(abstract_class_declaration
  "abstract" @modifier.abstract
  name: (type_identifier) @name
  (class_heritage
    (extends_clause
      value: (_) @base)?
    (implements_clause)? @bases)?
  body: (class_body) @body) @definition.class

(abstract_class_declaration
  decorator: (decorator
    (_) @decorator)) @decorated

; interface Name extends Base {…}
(interface_declaration
  name: (type_identifier) @name
  (extends_type_clause)? @bases
  body: (interface_body) @body) @definition.interface

; type Name = {…}
(type_alias_declaration
  name: (type_identifier) @name
  value: (object_type) @body) @definition.interface

; type Name = Readonly<{…}>
(type_alias_declaration
  name: (type_identifier) @name
  value: (generic_type
    name: (type_identifier) @_wrapper
    type_arguments: (type_arguments
      .
      (object_type) @body
      .))
  (#any-of? @_wrapper "Readonly" "Required" "Partial")) @definition.interface

; type Name = value
((type_alias_declaration
  name: (type_identifier) @name
  value: [
    (array_type)
    (call_expression)
    (conditional_type)
    (constructor_type)
    (flow_maybe_type)
    (function_type)
    (generic_type)
    (index_type_query)
    (intersection_type)
    (literal_type)
    (lookup_type)
    (member_expression)
    (nested_type_identifier)
    (parenthesized_type)
    (predefined_type)
    (readonly_type)
    (template_literal_type)
    (this_type)
    (tuple_type)
    (type_identifier)
    (type_query)
    (union_type)
  ] @value) @definition.type
  (#not-match? @value "^(Readonly|Required|Partial)\\s*<\\s*\\{"))

; enum Name {…}
(enum_declaration
  name: (identifier) @name
  body: (enum_body) @body) @definition.enum

(enum_body
  name: (property_identifier) @name @definition.variable)

(enum_body
  (enum_assignment
    name: (property_identifier) @name) @definition.variable)

; namespace Name {…}: an object with the members it exports
(internal_module
  name: (identifier) @name
  body: (statement_block) @body) @definition.class @modifier.namespace

; const Name = class extends Base {…}
(variable_declarator
  name: (identifier) @name
  value: (class
    (class_heritage
      (extends_clause
        value: (_) @base)?
      (implements_clause)? @bases)?
    body: (class_body) @body)) @definition.class

; export default class extends Base {…}
(export_statement
  "default" @name @modifier.default @modifier.exported
  value: (class
    !name
    (class_heritage
      (extends_clause
        value: (_) @base)?
      (implements_clause)? @bases)?
    body: (class_body) @body) @definition.class)

; class { name = (…) => … }
(public_field_definition
  name: [
    (property_identifier)
    (private_property_identifier)
  ] @name
  value: [
    (arrow_function
      return_type: (_)? @returns
      body: (_) @body)
    (function_expression
      return_type: (_)? @returns
      body: (_) @body)
  ]) @definition.method

; name(…): Result; in an interface, a class, or a declaration file
(interface_body
  (method_signature
    [
      "get" @modifier.property
      "set" @modifier.setter
    ]?
    name: (property_identifier) @name
    return_type: (_)? @returns) @definition.method)

(type_alias_declaration
  value: (object_type
    (method_signature
      name: (property_identifier) @name
      return_type: (_)? @returns) @definition.method))

(type_alias_declaration
  value: (generic_type
    name: (type_identifier) @_wrapper
    type_arguments: (type_arguments
      .
      (object_type
        (method_signature
          name: (property_identifier) @name
          return_type: (_)? @returns) @definition.method)
      .))
  (#any-of? @_wrapper "Readonly" "Required" "Partial"))

(abstract_method_signature
  "abstract" @modifier.abstract
  name: (property_identifier) @name
  return_type: (_)? @returns) @definition.method

(class_body
  (method_signature
    name: (property_identifier) @name
    return_type: (_)? @returns) @definition.method @modifier.overload)

(function_signature
  name: (identifier) @name
  return_type: (_)? @returns) @definition.function @modifier.overload

; private name, protected name
(method_definition
  (accessibility_modifier) @modifier.private
  (#not-eq? @modifier.private "public"))

(public_field_definition
  "static" @modifier.static
  value: [
    (arrow_function)
    (function_expression)
  ])

(public_field_definition
  value: [
    (arrow_function
      "async" @modifier.async)
    (function_expression
      "async" @modifier.async)
  ])

; @decorator name(…) {…}
(class_body
  decorator: (decorator
    (_) @decorator)
  .
  (decorator)*
  .
  [
    (method_definition)
    (abstract_method_signature)
    (method_signature)
  ] @decorated)

(public_field_definition
  decorator: (decorator
    (_) @decorator)) @decorated

((comment) @doc
  .
  [
    (abstract_class_declaration)
    (interface_declaration)
    (type_alias_declaration)
    (enum_declaration)
    (function_signature)
    (public_field_definition)
    (method_signature)
    (abstract_method_signature)
  ] @doc.of
  (#match? @doc "^/\\*\\*"))

; declare function …, declare class …
(export_statement
  declaration: (ambient_declaration
    (_) @wrapped)) @wrapper @modifier.exported

(ambient_declaration
  (_) @wrapped) @wrapper

; function name(…) {…}
(function_declaration
  name: (identifier) @name
  return_type: (_)? @returns
  body: (statement_block) @body) @definition.function

; function* name(…) {…}
(generator_function_declaration
  name: (identifier) @name
  return_type: (_)? @returns
  body: (statement_block) @body) @definition.function

; const name = (…) => …
(variable_declarator
  name: (identifier) @name
  value: (arrow_function
    return_type: (_)? @returns
    body: (_) @body)) @definition.function

; const name = function (…) {…}
(variable_declarator
  name: (identifier) @name
  value: (function_expression
    return_type: (_)? @returns
    body: (_) @body)) @definition.function

; const name = ((…) => …) as Type
(variable_declarator
  name: (identifier) @name
  value: [
    (as_expression
      (parenthesized_expression
        [
          (arrow_function
            return_type: (_)? @returns
            body: (_) @body)
          (function_expression
            return_type: (_)? @returns
            body: (_) @body)
        ]))
    (satisfies_expression
      (parenthesized_expression
        [
          (arrow_function
            return_type: (_)? @returns
            body: (_) @body)
          (function_expression
            return_type: (_)? @returns
            body: (_) @body)
        ]))
    (parenthesized_expression
      [
        (arrow_function
          return_type: (_)? @returns
          body: (_) @body)
        (function_expression
          return_type: (_)? @returns
          body: (_) @body)
      ])
  ]) @definition.function

(variable_declarator
  name: (identifier) @name
  value: (generator_function
    return_type: (_)? @returns
    body: (_) @body)) @definition.function

; const name = wrap((…) => …): what a wrapper such as memo, forwardRef or useCallback is given
((variable_declarator
  name: (identifier) @name
  value: (call_expression
    function: (_) @_wrap
    arguments: (arguments
      .
      [
        (arrow_function
      return_type: (_)? @returns
          body: (_) @body)
        (function_expression
      return_type: (_)? @returns
          body: (_) @body)
      ]))) @definition.function
  (#match? @_wrap "^([A-Za-z_$]+\\.)?(memo|forwardRef|observer|useCallback|debounce|throttle|memoize|once|promisify|action|defineComponent)$"))

; export default function (…) {…}, export default (…) => …
(export_statement
  "default" @name @modifier.default @modifier.exported
  value: [
    (arrow_function
    return_type: (_)? @returns
      body: (_) @body)
    (function_expression
      !name
    return_type: (_)? @returns
      body: (_) @body)
  ] @definition.function)

; export default function name(…) {…}
(export_statement
  "default" @modifier.default @modifier.exported
  value: (function_expression
    name: (identifier) @name
    return_type: (_)? @returns
    body: (_) @body) @definition.function)

; Name.prototype = { name(…) {…} }, Object.assign(Name.prototype, {…}): members of Name, though written in a literal
((assignment_expression
  left: (member_expression
    object: (identifier) @owner
    property: (property_identifier) @_prototype)
  right: (object
    (method_definition
      name: (property_identifier) @name
      return_type: (_)? @returns
      body: (statement_block) @body) @definition.method))
  (#eq? @_prototype "prototype"))

((assignment_expression
  left: (member_expression
    object: (identifier) @owner
    property: (property_identifier) @_prototype)
  right: (object
    (pair
      key: (property_identifier) @name
      value: (function_expression
        return_type: (_)? @returns
        body: (_) @body)) @definition.method))
  (#eq? @_prototype "prototype"))

((call_expression
  function: (member_expression) @_assign
  arguments: (arguments
    .
    (member_expression
      object: (identifier) @owner
      property: (property_identifier) @_prototype)
    (object
      (method_definition
        name: (property_identifier) @name
        return_type: (_)? @returns
        body: (statement_block) @body) @definition.method)))
  (#eq? @_assign "Object.assign")
  (#eq? @_prototype "prototype"))

((call_expression
  function: (member_expression) @_assign
  arguments: (arguments
    .
    (member_expression
      object: (identifier) @owner
      property: (property_identifier) @_prototype)
    (object
      (pair
        key: (property_identifier) @name
        value: (function_expression
          return_type: (_)? @returns
          body: (_) @body)) @definition.method)))
  (#eq? @_assign "Object.assign")
  (#eq? @_prototype "prototype"))

; name(…) {…} in a class or an object
(class_body
  (method_definition
    name: [
      (property_identifier)
      (private_property_identifier)
    ] @name
    return_type: (_)? @returns
    body: (statement_block) @body) @definition.method)

(object
  (method_definition
    name: [
      (property_identifier)
      (private_property_identifier)
    ] @name
    return_type: (_)? @returns
    body: (statement_block) @body) @definition.method)

; { name: (…) => …, name: function (…) {…} }
(pair
  key: (property_identifier) @name
  value: [
    (arrow_function
    return_type: (_)? @returns
      body: (_) @body)
    (function_expression
    return_type: (_)? @returns
      body: (_) @body)
    (generator_function
    return_type: (_)? @returns
      body: (_) @body)
  ]) @definition.method

; Name.prototype.name = function (…) {…}
((assignment_expression
  left: (member_expression
    object: (member_expression
      object: (identifier) @owner
      property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [
    (function_expression
    return_type: (_)? @returns
      body: (_) @body)
    (arrow_function
    return_type: (_)? @returns
      body: (_) @body)
  ]) @definition.method
  (#eq? @_prototype "prototype"))

; Name.name = function (…) {…}
((assignment_expression
  left: (member_expression
    object: (identifier) @owner
    property: (property_identifier) @name)
  right: [
    (function_expression
    return_type: (_)? @returns
      body: (_) @body)
    (arrow_function
    return_type: (_)? @returns
      body: (_) @body)
  ]) @definition.method
  (#not-match? @owner "^(exports|module|window|global|globalThis|self)$"))

; exports.name = function (…) {…}, module.exports.name = (…) => …
((assignment_expression
  left: (member_expression
    object: (_) @_exports
    property: (property_identifier) @name)
  right: [
    (function_expression
    return_type: (_)? @returns
      body: (_) @body)
    (arrow_function
    return_type: (_)? @returns
      body: (_) @body)
  ]) @definition.function
  (#any-of? @_exports "exports" "module.exports"))

; module.exports = function (…) {…}
((assignment_expression
  left: (member_expression
    object: (identifier) @_module
    property: (property_identifier) @name)
  right: [
    (function_expression
      !name
    return_type: (_)? @returns
      body: (_) @body)
    (arrow_function
    return_type: (_)? @returns
      body: (_) @body)
  ]) @definition.function
  (#eq? @_module "module")
  (#eq? @name "exports"))

((assignment_expression
  left: (member_expression
    object: (identifier) @_module
    property: (property_identifier) @_exports)
  right: (function_expression
    name: (identifier) @name
    return_type: (_)? @returns
    body: (_) @body)) @definition.function
  (#eq? @_module "module")
  (#eq? @_exports "exports"))

; test("title", () => {…}): a test is found by its title
((call_expression
  function: [
    (identifier) @_test
    (member_expression
      object: (identifier) @_test)
  ]
  arguments: (arguments
    .
    (string
      .
      (string_fragment) @name
      .)
    [
      (arrow_function
        body: (statement_block) @body)
      (function_expression
        body: (statement_block) @body)
    ])) @definition.function @modifier.test
  (#any-of? @_test "it" "test" "specify" "describe" "context" "suite"))
