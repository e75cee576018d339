; inherits: cfamily

; class Name : Base {…}
(class_specifier
  name: (type_identifier) @name
  body: (field_declaration_list) @body) @definition.class

; class Name : public Base, struct Name : Base
(base_class_clause
  [
    (type_identifier)
    (qualified_identifier)
    (template_type)
  ] @base.here)

; template <…> class Name<…> {…}
(class_specifier
  name: (template_type
    name: (type_identifier) @name)
  body: (field_declaration_list) @body) @definition.class

; class Name { type name(…) {…} }
(function_definition
  type: (_) @returns
  declarator: [
    (function_declarator
      declarator: (field_identifier) @name)
    (reference_declarator
      (function_declarator
        declarator: (field_identifier) @name))
    (pointer_declarator
      declarator: (function_declarator
        declarator: (field_identifier) @name))
  ]
  body: (compound_statement) @body) @definition.method

; class Name { Name(…) {…} }
(field_declaration_list
  (function_definition
    !type
    declarator: (function_declarator
      declarator: (identifier) @name)
    body: (compound_statement) @body) @definition.method)

; class Name { virtual type name(…) = 0; }
(field_declaration
  type: (_) @returns
  declarator: [
    (function_declarator
      declarator: (field_identifier) @name)
    (pointer_declarator
      declarator: (function_declarator
        declarator: (field_identifier) @name))
    (reference_declarator
      (function_declarator
        declarator: (field_identifier) @name))
  ]
  default_value: (number_literal)) @definition.method @modifier.abstract

; type Name::name(…) {…}, type space::Name::name(…) {…}
(function_definition
  type: (_) @returns
  declarator: [
    (function_declarator
      declarator: (qualified_identifier
        scope: (namespace_identifier) @owner
        name: (identifier) @name))
    (reference_declarator
      (function_declarator
        declarator: (qualified_identifier
          scope: (namespace_identifier) @owner
          name: (identifier) @name)))
    (pointer_declarator
      declarator: (function_declarator
        declarator: (qualified_identifier
          scope: (namespace_identifier) @owner
          name: (identifier) @name)))
    (function_declarator
      declarator: (qualified_identifier
        name: (qualified_identifier
          scope: (namespace_identifier) @owner
          name: (identifier) @name)))
    (function_declarator
      declarator: (qualified_identifier
        scope: (template_type
          name: (type_identifier) @owner)
        name: (identifier) @name))
  ]
  body: (compound_statement) @body) @definition.method

; Name::Name(…) {…}
(function_definition
  !type
  declarator: [
    (function_declarator
      declarator: (qualified_identifier
        scope: (namespace_identifier) @owner
        name: (identifier) @name))
    (function_declarator
      declarator: (qualified_identifier
        name: (qualified_identifier
          scope: (namespace_identifier) @owner
          name: (identifier) @name)))
  ]
  body: (compound_statement) @body) @definition.method

; type &name(…) {…}
(function_definition
  type: (_) @returns
  declarator: (reference_declarator
    (function_declarator
      declarator: (identifier) @name))
  body: (compound_statement) @body) @definition.function

; using Name = type;
(alias_declaration
  name: (type_identifier) @name
  type: (_) @value) @definition.type
