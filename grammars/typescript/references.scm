; inherits: ecmascript

; A type that is named, wherever types stand and none is declared.
(adding_type_annotation
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(array_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(as_expression
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(conditional_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(constraint
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(constructor_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(default_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(extends_type_clause
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(flow_maybe_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(function_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(generic_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(implements_clause
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(index_signature
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(index_type_query
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(intersection_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(lookup_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(omitting_type_annotation
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(opting_type_annotation
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(optional_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(parenthesized_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(readonly_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(rest_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(satisfies_expression
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(template_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(tuple_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(type_alias_declaration
  value: [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(type_annotation
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(type_arguments
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(type_predicate
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(union_type
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

; [name in Type as Type]
(mapped_type_clause
  type: [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

(mapped_type_clause
  alias: [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

; infer Name extends Type
(infer_type
  (type_identifier)
  .
  [
    (type_identifier)
    (nested_type_identifier)
  ] @reference.type)

; typeof value, in a type
(type_query) @reference.type

; import("module").Type
(member_expression
  object: (call_expression
    function: (import))) @reference.type

; A name in a place where its value goes somewhere else.
(required_parameter
  value: (identifier) @reference.read)

(optional_parameter
  value: (identifier) @reference.read)

(public_field_definition
  value: (identifier) @reference.read)

(enum_assignment
  value: (identifier) @reference.read)

(satisfies_expression
  (identifier) @reference.read)

(as_expression
  (identifier) @reference.read)

(non_null_expression
  (identifier) @reference.read)
