; inherits: ecmascript

; <Name …>, <Name.Part …/>; names in small letters are elements of the page
([
  (jsx_opening_element
    name: (_) @reference.jsx)
  (jsx_self_closing_element
    name: (_) @reference.jsx)
]
  (#match? @reference.jsx "^[A-Z]|\\."))

(jsx_expression
  (identifier) @reference.read)

; class { name = value }
(field_definition
  value: (identifier) @reference.read)
