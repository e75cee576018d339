; inherits: cfamily

; class Name : Base {…}
(class_specifier
  name: (type_identifier) @name
  body: (field_declaration_list) @body) @definition.class

; class Outer::Name {…}, struct Outer::Name {…}
([
  (class_specifier
    name: (qualified_identifier
      name: [
        (type_identifier) @name
        (template_type
          name: (type_identifier) @name)
        (qualified_identifier
          name: (type_identifier) @name)
      ]) @owner
    body: (field_declaration_list) @body)
  (struct_specifier
    name: (qualified_identifier
      name: [
        (type_identifier) @name
        (qualified_identifier
          name: (type_identifier) @name)
      ]) @owner
    body: (field_declaration_list) @body)
] @definition.class)

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
    (pointer_declarator
      declarator: (pointer_declarator
        declarator: (function_declarator
          declarator: (field_identifier) @name)))
  ]
  body: (compound_statement) @body) @definition.method

; class Name { Name(…) : member(…) {…} }: the initializers run with the body
(field_declaration_list
  (function_definition
    !type
    declarator: (function_declarator
      declarator: (identifier) @name)
    (field_initializer_list) @body
    body: (compound_statement) @body) @definition.method)

; class Name { template <…> Name(…) : member(…) {…} }
(field_declaration_list
  (template_declaration
    (function_definition
      !type
      declarator: (function_declarator
        declarator: (identifier) @name)
      (field_initializer_list) @body
      body: (compound_statement) @body) @definition.method))

(field_declaration_list
  (template_declaration
    (function_definition
      !type
      declarator: (function_declarator
        declarator: (identifier) @name)
      body: (compound_statement) @body) @definition.method))

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
    (pointer_declarator
      declarator: (pointer_declarator
        declarator: (function_declarator
          declarator: (field_identifier) @name)))
    (reference_declarator
      (function_declarator
        declarator: (field_identifier) @name))
  ]
  default_value: (number_literal)) @definition.method @modifier.abstract

; type Name::name(…) {…}, type space::Name::name(…) {…}, type &Name<T>::operator=(…) {…}
(function_definition
  type: (_) @returns
  declarator: [
    (function_declarator
      declarator: [
        (qualified_identifier
          name: [
            (identifier)
            (operator_name)
            (destructor_name)
          ] @name) @owner
        (qualified_identifier
          name: (qualified_identifier
            name: [
              (identifier)
              (operator_name)
              (destructor_name)
            ] @name)) @owner
        (qualified_identifier
          name: (qualified_identifier
            name: (qualified_identifier
              name: [
                (identifier)
                (operator_name)
                (destructor_name)
              ] @name))) @owner
      ])
    (reference_declarator
      (function_declarator
        declarator: [
          (qualified_identifier
            name: [
              (identifier)
              (operator_name)
              (destructor_name)
            ] @name) @owner
          (qualified_identifier
            name: (qualified_identifier
              name: [
                (identifier)
                (operator_name)
                (destructor_name)
              ] @name)) @owner
          (qualified_identifier
            name: (qualified_identifier
              name: (qualified_identifier
                name: [
                  (identifier)
                  (operator_name)
                  (destructor_name)
                ] @name))) @owner
        ]))
    (pointer_declarator
      declarator: (function_declarator
        declarator: [
          (qualified_identifier
            name: [
              (identifier)
              (operator_name)
              (destructor_name)
            ] @name) @owner
          (qualified_identifier
            name: (qualified_identifier
              name: [
                (identifier)
                (operator_name)
                (destructor_name)
              ] @name)) @owner
          (qualified_identifier
            name: (qualified_identifier
              name: (qualified_identifier
                name: [
                  (identifier)
                  (operator_name)
                  (destructor_name)
                ] @name))) @owner
        ]))
  ]
  body: (compound_statement) @body) @definition.method

; type **Name::name(…) {…}
(function_definition
  type: (_) @returns
  declarator: (pointer_declarator
    declarator: (pointer_declarator
      declarator: (function_declarator
        declarator: (qualified_identifier
          name: [
            (identifier) @name
            (qualified_identifier
              name: (identifier) @name)
          ]) @owner)))
  body: (compound_statement) @body) @definition.method

; Name::Name(…) : member(…) {…}
(function_definition
  !type
  declarator: (function_declarator
    declarator: [
      (qualified_identifier
        name: (identifier) @name) @owner
      (qualified_identifier
        name: (qualified_identifier
          name: (identifier) @name)) @owner
      (qualified_identifier
        name: (qualified_identifier
          name: (qualified_identifier
            name: (identifier) @name))) @owner
    ])
  (field_initializer_list) @body
  body: (compound_statement) @body) @definition.method

; Name::Name(…) {…}, Name::~Name() {…}
(function_definition
  !type
  declarator: (function_declarator
    declarator: [
      (qualified_identifier
        name: [
          (identifier)
          (operator_name)
          (destructor_name)
        ] @name) @owner
      (qualified_identifier
        name: (qualified_identifier
          name: [
            (identifier)
            (operator_name)
            (destructor_name)
          ] @name)) @owner
      (qualified_identifier
        name: (qualified_identifier
          name: (qualified_identifier
            name: [
              (identifier)
              (operator_name)
              (destructor_name)
            ] @name))) @owner
    ])
  body: (compound_statement) @body) @definition.method

; class Name { type operator+(…) {…} }, type operator+(…) {…}
(function_definition
  type: (_) @returns
  declarator: [
    (function_declarator
      declarator: (operator_name) @name)
    (reference_declarator
      (function_declarator
        declarator: (operator_name) @name))
    (pointer_declarator
      declarator: (function_declarator
        declarator: (operator_name) @name))
  ]
  body: (compound_statement) @body) @definition.function

; class Name { Name &operator=(…) = default; }
(function_definition
  type: (_) @returns
  declarator: [
    (function_declarator
      declarator: (operator_name) @name)
    (reference_declarator
      (function_declarator
        declarator: (operator_name) @name))
  ]
  (default_method_clause)) @definition.function

; class Name { Name(…) = default; ~Name() {…} }
(field_declaration_list
  (function_definition
    !type
    declarator: (function_declarator
      declarator: [
        (identifier)
        (destructor_name)
      ] @name)
    (default_method_clause)) @definition.method)

(field_declaration_list
  (function_definition
    !type
    declarator: (function_declarator
      declarator: (destructor_name) @name)
    body: (compound_statement) @body) @definition.method)

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

; typedef space::type name, typedef type<…> name;
(type_definition
  type: [
    (qualified_identifier)
    (template_type)
  ] @value
  declarator: [
    (type_identifier) @name
    (pointer_declarator
      declarator: (type_identifier) @name)
  ]) @definition.type

; friend type name(…) {…}: a function beside the class, although it is written inside
(friend_declaration
  (function_definition) @wrapped) @wrapper @modifier.friend

; class Name { operator type() {…} }
(field_declaration_list
  (function_definition
    declarator: (operator_cast
      type: (_) @returns) @name
    body: (compound_statement) @body) @definition.method)

; Name::operator type() {…}
(function_definition
  declarator: (qualified_identifier
    name: (operator_cast
      type: (_) @returns) @name) @owner
  body: (compound_statement) @body) @definition.method

; template <> struct Name<type> {…}
(struct_specifier
  name: (template_type
    name: (type_identifier) @name)
  body: (field_declaration_list) @body) @definition.class

; template <> type Name::name<type>(…) {…}
(function_definition
  type: (_) @returns
  declarator: (function_declarator
    declarator: (qualified_identifier
      name: (template_function
        name: (identifier) @name)) @owner)
  body: (compound_statement) @body) @definition.method
