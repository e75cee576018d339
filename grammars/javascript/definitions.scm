; inherits: ecmascript

; class Name extends Base {…}
(class_declaration
  name: (identifier) @name
  (class_heritage
    (_) @base)?
  body: (class_body) @body) @definition.class

; const Name = class extends Base {…}
(variable_declarator
  name: (identifier) @name
  value: (class
    (class_heritage
      (_) @base)?
    body: (class_body) @body)) @definition.class

; export default class extends Base {…}
(export_statement
  "default" @name @modifier.default @modifier.exported
  value: (class
    !name
    (class_heritage
      (_) @base)?
    body: (class_body) @body) @definition.class)

; class { name = (…) => … }
(field_definition
  property: [
    (property_identifier)
    (private_property_identifier)
  ] @name
  value: [
    (arrow_function
      body: (_) @body)
    (function_expression
      body: (_) @body)
  ]) @definition.method

(field_definition
  "static" @modifier.static
  value: [
    (arrow_function)
    (function_expression)
  ])

(field_definition
  value: [
    (arrow_function
      "async" @modifier.async)
    (function_expression
      "async" @modifier.async)
  ])

(field_definition
  decorator: (decorator
    (_) @decorator)) @decorated

(method_definition
  decorator: (decorator
    (_) @decorator)) @decorated

((comment) @doc
  .
  (field_definition) @doc.of
  (#match? @doc "^/\\*\\*"))

; function name(…) {…}
(function_declaration
  name: (identifier) @name
  body: (statement_block) @body) @definition.function

; function* name(…) {…}
(generator_function_declaration
  name: (identifier) @name
  body: (statement_block) @body) @definition.function

; const name = (…) => …
(variable_declarator
  name: (identifier) @name
  value: (arrow_function
    body: (_) @body)) @definition.function

; const name = function (…) {…}
(variable_declarator
  name: (identifier) @name
  value: (function_expression
    body: (_) @body)) @definition.function

(variable_declarator
  name: (identifier) @name
  value: (generator_function
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
          body: (_) @body)
        (function_expression
          body: (_) @body)
      ]))) @definition.function
  (#match? @_wrap "^([A-Za-z_$]+\\.)?(memo|forwardRef|observer|useCallback|debounce|throttle|memoize|once|promisify|action|defineComponent)$"))

; export default function (…) {…}, export default (…) => …
(export_statement
  "default" @name @modifier.default @modifier.exported
  value: [
    (arrow_function
      body: (_) @body)
    (function_expression
      !name
      body: (_) @body)
  ] @definition.function)

; export default function name(…) {…}
(export_statement
  "default" @modifier.default @modifier.exported
  value: (function_expression
    name: (identifier) @name
    body: (_) @body) @definition.function)

; Name.prototype = { name(…) {…} }, Object.assign(Name.prototype, {…}): members of Name, though written in a literal
((assignment_expression
  left: (member_expression
    object: (identifier) @owner
    property: (property_identifier) @_prototype)
  right: (object
    (method_definition
      name: (property_identifier) @name
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
    body: (statement_block) @body) @definition.method)

(object
  (method_definition
    name: [
      (property_identifier)
      (private_property_identifier)
    ] @name
    body: (statement_block) @body) @definition.method)

; { name: (…) => …, name: function (…) {…} }
(pair
  key: (property_identifier) @name
  value: [
    (arrow_function
      body: (_) @body)
    (function_expression
      body: (_) @body)
    (generator_function
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
      body: (_) @body)
    (arrow_function
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
      body: (_) @body)
    (arrow_function
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
      body: (_) @body)
    (arrow_function
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
      body: (_) @body)
    (arrow_function
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

; /** @typedef {import("./module").Name} Name */: types that documentation defines
((comment) @doc @doc.of
  (#match? @doc "^/\\*\\*[\\s\\S]*@(typedef|callback|template|import)\\b"))

