; class Name < Base … end
(class
  name: (constant) @name
  superclass: (superclass
    (_) @base)?
  body: (body_statement) @body) @definition.class

(class
  name: (constant) @name
  superclass: (superclass
    (_) @base)?
  !body) @definition.class

; class Space::Name < Base … end
(class
  name: (scope_resolution
    scope: (_) @owner
    name: (constant) @name)
  superclass: (superclass
    (_) @base)?
  body: (body_statement) @body) @definition.class

(class
  name: (scope_resolution
    scope: (_) @owner
    name: (constant) @name)
  superclass: (superclass
    (_) @base)?
  !body) @definition.class

; class ::Name … end
(class
  name: (scope_resolution
    !scope
    name: (constant) @name)
  superclass: (superclass
    (_) @base)?
  body: (body_statement) @body) @definition.class

; Name = Class.new(Base) do … end, name = Class.new(Base) do … end
((assignment
  left: [
    (constant)
    (identifier)
  ] @name
  right: (call
    receiver: (constant) @_class
    method: (identifier) @_method
    arguments: (argument_list
      .
      [
        (constant)
        (scope_resolution)
      ] @base)?
    block: (_
      body: (_) @body)) @definition.class)
  (#any-of? @_class "Class" "Struct" "Module" "Data")
  (#any-of? @_method "new" "define"))

; Class.new(Base) do … end
((call
  receiver: (constant) @name
  method: (identifier) @_method
  arguments: (argument_list
    .
    [
      (constant)
      (scope_resolution)
    ] @base)?
  block: (_
    body: (_) @body)) @definition.class @modifier.anonymous
  (#any-of? @name "Class" "Struct" "Module")
  (#eq? @_method "new"))

; module Name … end
(module
  name: (constant) @name
  body: (body_statement) @body) @definition.class

(module
  name: (constant) @name
  !body) @definition.class

; module Space::Name … end
(module
  name: (scope_resolution
    scope: (_) @owner
    name: (constant) @name)
  body: (body_statement) @body) @definition.class

(module
  name: (scope_resolution
    scope: (_) @owner
    name: (constant) @name)
  !body) @definition.class

; def self.included(other): other.extend Name, other.send :include, Name
(_
  name: (identifier) @_hook
  body: (body_statement
    (call
      receiver: (identifier)
      method: (identifier) @_method
      arguments: (argument_list
        [
          (constant)
          (scope_resolution)
        ] @base.mixed)))
  (#any-of? @_hook "included" "extended" "prepended")
  (#any-of? @_method "include" "prepend" "extend" "send"))

; include Name
((call
  !receiver
  method: (identifier) @_method
  arguments: (argument_list
    [
      (constant)
      (scope_resolution)
    ] @base.mixed))
  (#any-of? @_method "include" "prepend" "extend"))

; RSpec.configure { |config| config.include Name }
((call
  receiver: (constant) @_library
  method: (identifier) @_configure
  block: (_
    body: (_
      (call
        receiver: (identifier)
        method: (identifier) @_method
        arguments: (argument_list
          .
          [
            (constant)
            (scope_resolution)
          ] @base.mixed)))))
  (#eq? @_library "RSpec")
  (#eq? @_configure "configure")
  (#any-of? @_method "include" "prepend" "extend"))

; class << Name … end: more methods of the class itself
(singleton_class
  value: (constant) @name
  body: (body_statement) @body) @definition.class

(singleton_class
  value: (scope_resolution
    scope: (_) @owner
    name: (constant) @name)
  body: (body_statement) @body) @definition.class

; class << self: def name(parameters) … end
(singleton_class
  body: (body_statement
    (method
      name: (_) @name
      body: (_) @body) @definition.function @modifier.static))

(singleton_class
  body: (body_statement
    (method
      name: (_) @name
      !body) @definition.function @modifier.static))

; class << self: private def name(parameters) … end
(singleton_class
  body: (body_statement
    (call
      arguments: (argument_list
        (method
          name: (_) @name
          body: (_) @body) @definition.function @modifier.static))))

(singleton_class
  body: (body_statement
    (call
      arguments: (argument_list
        (method
          name: (_) @name
          !body) @definition.function @modifier.static))))

; class << self: if … def name(parameters) … end end
(singleton_class
  body: (body_statement
    (_
      [
        (then
          (method
            name: (_) @name
            body: (_) @body) @definition.function @modifier.static)
        (else
          (method
            name: (_) @name
            body: (_) @body) @definition.function @modifier.static)
      ])))

; def name(parameters) … end
(method
  name: (_) @name
  body: (_) @body) @definition.function

(method
  name: (_) @name
  !body) @definition.function

; def self.name(parameters) … end
(singleton_method
  object: (self)
  name: (_) @name
  body: (_) @body) @definition.function @modifier.static

(singleton_method
  object: (self)
  name: (_) @name
  !body) @definition.function @modifier.static

; def Name.name(parameters) … end
(singleton_method
  object: (constant) @owner
  name: (_) @name
  body: (_) @body) @definition.function @modifier.static

(singleton_method
  object: (constant) @owner
  name: (_) @name
  !body) @definition.function @modifier.static

; define_method(:name) do … end
((call
  !receiver
  method: (identifier) @_method
  arguments: (argument_list
    .
    (simple_symbol) @name)
  block: (_
    body: (_) @body)) @definition.function
  (#eq? @_method "define_method"))

; define_singleton_method(:name) do … end
((call
  !receiver
  method: (identifier) @_method
  arguments: (argument_list
    .
    (simple_symbol) @name)
  block: (_
    body: (_) @body)) @definition.function @modifier.static
  (#eq? @_method "define_singleton_method"))

; get "/path" do … end: a route of Sinatra
((call
  !receiver
  method: (identifier) @verb
  arguments: (argument_list
    .
    (string) @name)
  block: (_
    body: (_) @body)) @definition.function @modifier.route
  (#any-of? @verb "get" "post" "put" "patch" "delete" "options" "head")
  (#match? @name "^.[/]"))

; # Documentation.
((comment) @doc
  .
  [
    (class)
    (module)
    (method)
    (singleton_method)
  ] @doc.of)

(body_statement
  (comment) @doc
  .
  (method) @doc.of)

; class Name: # Documentation. def name: the comment is outside the body
(_
  (comment) @doc
  .
  body: (body_statement
    .
    [
      (class)
      (module)
      (method)
      (singleton_method)
    ] @doc.of))

; Points where control can go two ways.
[
  (if)
  (elsif)
  (unless)
  (while)
  (until)
  (when)
  (rescue)
  (conditional)
  (if_modifier)
  (unless_modifier)
] @branch

; Statements that run together.
(body_statement) @block
